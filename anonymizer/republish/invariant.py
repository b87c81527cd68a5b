"""m-invariant releases (Xiao and Tao 2007): persons who stay keep the same set of candidate values.

A class has one row of each value of its signature, at least m of them, so an observer who knows
the quasi-identifiers of everybody gives no value a probability above 1/m; and since a person's
signature is the same in every release, intersecting releases gives nothing more. If there are too
few persons to fill a class, counterfeits are added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anonymizer.algorithms.cells import cell_steps
from anonymizer.algorithms.compiled import Assembly, Compiled, published
from anonymizer.algorithms.encode import CODED, UNITS, coded_stages, domain_steps, units_step
from anonymizer.algorithms.partition.partition import MEMBERS
from anonymizer.compile import Sql, work
from anonymizer.errors import InfeasibleError, Problem, SourceError
from anonymizer.ledger.digests import digests_step
from anonymizer.ledger.tables import DIGESTS, HISTORY, HISTORY_TEXTS, HISTORY_VALUES, SPELLS
from anonymizer.policy import Policy
from anonymizer.privacy.of_policy.buckets import bucket_rule
from anonymizer.privacy.of_policy.sizes import least_class
from anonymizer.republish.attribute import Placed
from anonymizer.republish.balance import balance
from anonymizer.source.draws import later_draw
from anonymizer.source.profile import TableProfile, published_type
from anonymizer.source.roles import Roles
from anonymizer.steps import Compute, Guard, Loop, Row, Stage, Step

STANDING = work("standing")
KNOWN_VALUES = work("known_values")
QUOTAS = work("quotas")
PLACED = work("placed_rows")
NODES = work("nodes")
GROUPS = work("groups")
COUNTERFEITS = work("counterfeits")
MAX_LEVELS = 64
"""Halvings of a bucket; 2^64 rows are more than any table has."""


def least_signature(policy: Policy) -> int:
    """Fewest values of a signature: m, or more if k or the column's rule requires it."""
    assert policy.republish is not None
    assert policy.republish.m is not None
    protect = policy.columns[policy.sensitive[0]].protect
    rule = bucket_rule(policy.sensitive[0], protect).m if protect is not None else 1
    return max(policy.republish.m, least_class(policy), rule)


def compile_invariant(policy: Policy, profile: TableProfile, roles: Roles) -> Compiled:
    """The stages of an m-invariant release; reads the history tables of scratch."""
    del profile
    m = least_signature(policy)
    # one row per person: a number for the person would say nothing that the row does not
    rows = policy.model_copy(update={"person": None})
    (sensitive,) = roles.sensitive
    attributes = [Placed(a) for a in roles.quasi]
    context = {
        "coded": CODED,
        "digests": DIGESTS,
        "history": HISTORY,
        "history_values": HISTORY_VALUES,
        "history_texts": HISTORY_TEXTS,
        "standing": STANDING,
        "spells": SPELLS,
        "known_values": KNOWN_VALUES,
        "quotas": QUOTAS,
        "placed": PLACED,
        "nodes": NODES,
        "groups": GROUPS,
        "units": UNITS,
        "members": MEMBERS,
        "counterfeits": COUNTERFEITS,
        "domains": [a.domain for a in roles.quasi],
        "attributes": attributes,
        "sensitive": sensitive.s,
        "type": Sql(published_type(sensitive.sql_type)),
        "m": m,
        "person": policy.person is not None,
        "empty": Sql(f"count(*) - count({sensitive.s})"),
        "repeated": Sql("count(*) - count(distinct person)" if policy.person else "0"),
        "arrival_draw": later_draw("draw", "bucket"),
        "seat_draw": later_draw("p.draw", "seat"),
    }

    def step(name: str, template: str) -> Step:
        return Step(name, f"republish/{template}.sql.j2", context)

    codes = [Sql(f"min({a.c}) as {a.c}") for a in roles.quasi]
    path = f"columns.{sensitive.column}"
    stages: tuple[Stage, ...] = (
        *domain_steps(roles),
        *coded_stages(policy, roles, numbered=True),
        Guard(step("one value per person", "unfit"), _unfit(path), SourceError),
        digests_step(policy, roles),
        step("who stays", "standing"),
        step("since when", "spells"),
        step("values of counterfeits", "known_values"),
        Guard(step("enough values", "too_few_values"), _too_few(path, m), InfeasibleError),
        Guard(step("earlier signatures", "weak"), _weak(m), InfeasibleError),
        Compute(
            step("division and balancing", "standing_counts"),
            quotas(m),
            QUOTAS,
            tuple((name, "BIGINT") for name in ("bucket", "signature", "value", "taken", "forged")),
        ),
        step("rows in their buckets", "placed"),
        step("buckets as nodes", "nodes"),
        Loop(
            "partition buckets",
            (step("halve nodes", "halve"),),
            until=step("open nodes", "open_nodes"),
            at_most=MAX_LEVELS,
        ),
        step("final groups", "groups"),
        step("counterfeits", "forge"),
        step("counterfeits as originals", "counterfeits"),
        units_step(rows, [Sql("row_id")], codes),
        step("classes", "members"),
        *cell_steps(roles.quasi, policy.publish.cells),
    )
    layout, columns = published(rows, roles, {})
    return Compiled(stages, Assembly(columns, (Sql("row_id"),)), layout, COUNTERFEITS)


def quotas(m: int) -> Callable[[Sequence[Row]], list[Row]]:
    """The computation that turns counts into places: rows and counterfeits per bucket and value."""

    def places(rows: Sequence[Row]) -> list[Row]:
        """Divide, balance and assign (m-invariance, Xiao and Tao 2007 §5)."""
        arriving: dict[int, int] = {}
        known: set[int] = set()
        counted: dict[int, dict[int, int]] = {}
        for signature, value, n in rows:
            if signature == -1:
                arriving[value] = n
            elif signature == -2:
                known.add(value)
            else:
                counted.setdefault(signature, {})[value] = n
        ids = {tuple(sorted(counts)): signature for signature, counts in counted.items()}
        staying = {tuple(sorted(counts)): counts for counts in counted.values()}
        made: list[Row] = []
        for number, bucket in enumerate(balance(staying, arriving, known, m), start=1):
            signature = ids.get(bucket.signature, 0)
            made += [
                (number, signature, v, bucket.taken.get(v, 0), bucket.forged.get(v, 0))
                for v in bucket.signature
            ]
        return made

    return places


def _unfit(path: str) -> Callable[[Row], Problem]:
    def explain(row: Row) -> Problem:
        empty, repeated = row
        if empty:
            return Problem(
                path,
                f"is NULL in {empty} rows, and m-invariance needs a value of everybody",
                hint="nulls: suppress, or a value for them in source.query",
            )
        return Problem(
            "person",
            f"{repeated} rows are further rows of a person, and m-invariance takes one of each",
            hint="one row per person in source.query",
        )

    return explain


def _too_few(path: str, m: int) -> Callable[[Row], Problem]:
    return lambda row: Problem(
        path,
        f"has {row[0]} different values, and a signature needs {m}",
        hint="lower republish.m, k or l",
    )


def _weak(m: int) -> Callable[[Row], Problem]:
    return lambda row: Problem(
        "republish.m",
        f"{row[0]} persons stood in classes of fewer than {m} values before (fewest: {row[1]}),"
        " and a later release cannot undo that",
        hint=f"m, k and l of at most {row[1]}, or a population that was not released before",
    )
