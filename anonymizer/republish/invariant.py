"""m-invariant releases (Xiao and Tao 2007): persons who stay keep the same set of candidate values.

A class has one row of each value of its signature, at least m of them, so an observer who knows
the quasi-identifiers of everybody gives no value a probability above 1/m; and since a person's
signature is the same in every release, intersecting releases gives nothing more. If there are too
few persons to fill a class, counterfeits are added.
"""

from __future__ import annotations

from collections.abc import Callable

from anonymizer.algorithms.cells import cell_steps
from anonymizer.algorithms.compiled import Assembly, Compiled, published
from anonymizer.algorithms.encode import CODED, UNITS, coded_stages, domain_steps, units_step
from anonymizer.algorithms.partition.partition import MEMBERS, Partitioning, partition_stages
from anonymizer.algorithms.protections import protection
from anonymizer.compile import Sql, work
from anonymizer.errors import InfeasibleError, Problem, SourceError
from anonymizer.ledger.digests import digests_step
from anonymizer.ledger.recognized import same_text
from anonymizer.ledger.tables import DIGESTS, HISTORY, HISTORY_TEXTS, HISTORY_VALUES, SPELLS
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.privacy.alpha import Alpha
from anonymizer.privacy.of_policy.buckets import bucket_rule
from anonymizer.privacy.of_policy.sizes import least_class
from anonymizer.republish.attribute import Placed
from anonymizer.republish.extents import extents
from anonymizer.republish.quotas import quotas, regional
from anonymizer.source.draws import later_draw
from anonymizer.source.profile import Sensitive, TableProfile, published_type
from anonymizer.source.roles import Roles
from anonymizer.steps import Compute, Guard, Loop, Row, Stage, Step

STANDING = work("standing")
KNOWN_VALUES = work("known_values")
QUOTAS = work("quotas")
PLACED = work("placed_rows")
NODES = work("nodes")
REGIONAL = work("regional_quotas")
SEATS = work("seats")
CLASSES = work("seat_classes")
REST = work("seat_rest")
NEAR = work("seat_near")
OFFERS = work("seat_offers")
SWAPS = work("seat_swaps")
ROUNDS = work("seat_rounds")
GROUPS = work("groups")
COUNTERFEITS = work("counterfeits")
MAX_LEVELS = 64
"""Halvings of a bucket; 2^64 rows are more than any table has."""
REGION = 50
"""Least rows of a region, in multiples of m: fewer would lead to more signatures."""
MOST_REGIONS = 256
"""About how many regions large tables have."""
MOST_ORDERS = 9
"""Orders of the classes in which near ones are looked for, of all and inside of their bucket."""
BESIDE = 16
"""Classes after each one, in every order of the classes, with which it swaps rows."""
ROUNDS_OF_SWAPS = 6


def least_signature(policy: Policy) -> int:
    """Fewest values of a signature: m, or more if k or the column's rule requires it."""
    assert policy.republish is not None
    assert policy.republish.m is not None
    protect = policy.columns[policy.sensitive[0]].protect
    rule = bucket_rule(policy.sensitive[0], protect).m if protect is not None else 1
    return max(policy.republish.m, least_class(policy), rule)


def compile_invariant(policy: Policy, profile: TableProfile, roles: Roles) -> Compiled:
    """The stages of an m-invariant release; reads the history tables of scratch."""
    assert profile.rows is not None
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
        "regional": REGIONAL,
        "placed": PLACED,
        "nodes": NODES,
        "groups": GROUPS,
        "seats": SEATS,
        "classes": CLASSES,
        "rest": REST,
        "near": NEAR,
        "offers": OFFERS,
        "swaps": SWAPS,
        "rounds": ROUNDS,
        "extents": extents(roles.quasi),
        "orders": _orders(roles),
        "beside": BESIDE,
        "most_rounds": ROUNDS_OF_SWAPS,
        "units": UNITS,
        "members": MEMBERS,
        "counterfeits": COUNTERFEITS,
        "domains": [a.domain for a in roles.quasi],
        "attributes": attributes,
        "sensitive": sensitive.s,
        "type": Sql(published_type(sensitive.sql_type)),
        "text": same_text(f"cast({sensitive.s} as varchar)", sensitive.sql_type),
        "known_text": same_text("cast(original as varchar)", sensitive.sql_type),
        "m": m,
        "person": policy.person is not None,
        "empty": Sql(f"count(*) - count({sensitive.s})"),
        "repeated": Sql("count(*) - count(distinct person)" if policy.person else "0"),
        "arrival_draw": later_draw("draw", "bucket"),
        "region_draw": later_draw("s.draw", "region"),
        "seat_draw": later_draw("p.draw", "seat"),
    }

    def step(name: str, template: str) -> Step:
        return Step(name, f"republish/{template}.sql.j2", context)

    def shared(name: str, template: str) -> Step:
        return Step(name, f"refine/{template}.sql.j2", context)

    codes = [Sql(f"min({a.c}) as {a.c}") for a in roles.quasi]
    path = column_path(sensitive.column)
    how, rule_stages = _regions(sensitive, m, profile.rows)
    stages: tuple[Stage, ...] = (
        *domain_steps(roles),
        *coded_stages(policy, roles, numbered=True),
        Guard(step("one value per person", "unfit"), _unfit(path), SourceError),
        digests_step(policy, roles, profile),
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
        units_step(rows, [Sql("row_id")], codes),
        step("persons without a bucket", "loose"),
        *rule_stages,
        *partition_stages(
            roles.quasi, how, profile.rows, "auto" if profile.recursive else "driven"
        ),
        Compute(
            step("assignment in regions", "region_counts"),
            regional(m),
            REGIONAL,
            tuple((name, "BIGINT") for name in ("bucket", "region", "value", "taken")),
        ),
        step("persons in their buckets", "regional"),
        step("buckets as nodes", "nodes"),
        Loop(
            "partition buckets",
            (step("halve nodes", "halve"),),
            until=step("open nodes", "open_nodes"),
            at_most=MAX_LEVELS,
        ),
        step("rows as extents", "seats"),
        step("extents of classes", "classes"),
        step("extents without a row", "rest"),
        step("near classes", "near"),
        shared("every class to look at", "every_class"),
        shared("no offers yet", "no_offers"),
        shared("no rounds of swaps yet", "no_rounds"),
        Loop(
            "swap rows",
            (
                step("offers to near classes", "offers"),
                shared("swaps", "swaps"),
                step("rows after swaps", "swapped"),
                step("extents of classes", "classes"),
                step("extents without a row", "rest"),
                shared("rounds of swaps", "rounds"),
            ),
            until=shared("swaps left", "swaps_left"),
            at_most=ROUNDS_OF_SWAPS,
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


def _orders(roles: Roles) -> list[Sql]:
    """Orders of classes, each of which begins with another attribute."""
    names = [str(a.c) for a in roles.quasi]
    return [Sql(", ".join(names[i:] + names[:i])) for i in range(len(names))][:MOST_ORDERS]


def _regions(sensitive: Sensitive, m: int, rows: int) -> tuple[Partitioning, tuple[Stage, ...]]:
    """How the persons without a bucket are cut into regions, in each of which no value has a share
    above 1/m; and the stages that this needs.
    """
    context = {
        "coded": CODED,
        "units": UNITS,
        "reference": sensitive.reference,
        "cells": sensitive.cells,
        "hierarchy": sensitive.hierarchy,
        "levels": sensitive.levels,
        "column": sensitive.s,
        "keys": [Sql("row_id")],
        "runs": False,
        "count": Sql("count(*)"),
    }
    stages = (
        Step("values of new persons", "prepare/reference.sql.j2", context),
        Step("new persons by value", "prepare/sensitive_cells.sql.j2", context),
    )
    rule = protection(sensitive, [Alpha(column=sensitive.column, alpha=1 / m)])
    return Partitioning(
        k=max(REGION * m, rows // MOST_REGIONS), split="loss", strict=True, protections=(rule,)
    ), stages


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
