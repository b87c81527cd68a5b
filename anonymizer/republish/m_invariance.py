"""m-invariant releases (Xiao and Tao 2007): persons who stay keep the same candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anonymizer.algorithms.core.cells import cell_steps
from anonymizer.algorithms.core.compiled import Assembly, Compiled, published_columns
from anonymizer.algorithms.core.encode import CODED, UNITS, coded_stages, domain_steps, units_step
from anonymizer.algorithms.core.partition import MEMBERS, Partitioning, partition_stages
from anonymizer.algorithms.core.protections import protection
from anonymizer.algorithms.core.refine import SCALE, Column, Domain, boxes, possible
from anonymizer.compile import NumberedColumn, Sql, work
from anonymizer.errors import InfeasibleError, Problem, SourceError
from anonymizer.guarantees.frequency import Alpha
from anonymizer.guarantees.requirements import bucket_rule, least_class
from anonymizer.ledger.history import digests_step
from anonymizer.ledger.protected_columns import same_text
from anonymizer.ledger.store import DIGESTS, HISTORY, HISTORY_TEXTS, HISTORY_VALUES, SIGNATURE_SINCE
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.process.text import many
from anonymizer.republish.balance import quotas, regional
from anonymizer.source.profile import (
    Attribute,
    OfAttribute,
    Sensitive,
    TableProfile,
    published_type,
)
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import later_draw
from anonymizer.steps import Compute, Guard, Loop, Row, Stage, Step

# One quasi-identifier while rows are assigned: position in its domain, and extents.


@dataclass(frozen=True, slots=True)
class AttributeColumns(OfAttribute):
    """The names of an attribute's columns in the statements of this package."""

    p = NumberedColumn("p")
    """Position in the domain, 0 to 1; -1 for NULL."""
    w = NumberedColumn("w")
    low = NumberedColumn("low")
    high = NumberedColumn("high")


# The extents of classes in which every row occurs once per value of a signature.
#
# Like `anonymizer.algorithms.core.refine`, with two differences. A counterfeit has no extent: it
# takes the codes of its class, so its columns are NULL (no bits), which unions ignore. And for
# attributes with too many values for words, only one value and several values are distinguished.


@dataclass(frozen=True, slots=True)
class Extents:
    """The columns of all attributes, and the loss of a row over all of them."""

    columns: tuple[Column, ...]
    domains: tuple[Domain, ...]
    exact: tuple[Attribute, ...]
    coarse: tuple[Attribute, ...]

    def loss(self, prefix: str = "") -> Sql:
        """The loss of one row of an extent, in `SCALE`, from columns with this prefix."""
        parts = [str(boxes(self.exact).loss(prefix))] if self.exact else []
        parts += [
            f"case when {prefix}l{a.index} = {prefix}h{a.index} then 0 else {_several(a)} end"
            for a in self.coarse
        ]
        return Sql(" + ".join(parts))


def _several(a: Attribute) -> int:
    """Approximate loss of a cell with several values."""
    whole = a.scaled_loss(SCALE)
    return whole if a.height else max(2 * whole // max(a.distinct, 1), 1)


def extents(attributes: Sequence[Attribute]) -> Extents:
    """The extents of rows in these attributes."""
    exact = tuple(a for a in attributes if possible([a]))
    coarse = tuple(a for a in attributes if not possible([a]))
    made = boxes(exact)
    columns = [*map(_of_row, made.columns)]
    for a in coarse:
        columns.append(Column(f"l{a.index}", "least", f"u.{a.c}"))
        columns.append(Column(f"h{a.index}", "greatest", f"u.{a.c}"))
    return Extents(tuple(columns), made.domains, exact, coarse)


def _of_row(column: Column) -> Column:
    """The column for one row; `u` is its tuple, or NULLs for a counterfeit."""
    if column.way == "bits":
        return replace(column, of_unit=f"coalesce({column.of_unit}, 0)")
    return replace(column, way="greatest") if column.way == "kept" else column


# m-invariant releases (Xiao and Tao 2007): persons who stay keep the same set of candidate values.
#
# A class has one row of each value of its signature, at least m of them, so an observer who knows
# the quasi-identifiers of everybody gives no value a probability above 1/m; and since a person's
# signature is the same in every release, intersecting releases gives nothing more. If there are too
# few persons to fill a class, counterfeits are added.


QUOTAS = work("quotas")
REGIONAL = work("regional_quotas")
COUNTERFEITS = work("counterfeits")
MAX_LEVELS = 64
"""Largest number of halvings of a bucket; no table has more than 2^64 rows."""
REGION = 50
"""Fewest rows of a region, in multiples of m; fewer would lead to more signatures."""
MOST_REGIONS = 256
"""Approximate number of regions of large tables."""
MOST_ORDERS = 9
"""Number of orders in which close classes are searched, over all and within their bucket."""
BESIDE = 32
"""Number of following classes, in every order, with which a class swaps rows."""
ROUNDS_OF_SWAPS = 30
"""Most rounds; they end once no swap saves anything."""


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
    # with one row per person, a number for the person would add nothing to the row
    rows = policy.model_copy(update={"person": None})
    (sensitive,) = roles.sensitive
    context = _context(policy, roles, m)
    codes = [Sql(f"min({a.c}) as {a.c}") for a in roles.quasi]
    units = units_step(rows, [Sql("row_id")], codes)
    how, rule_stages = _regions(sensitive, m, profile.rows)
    stages: tuple[Stage, ...] = (
        *domain_steps(roles),
        *coded_stages(policy, roles, numbered=True),
        _one_value_per_person(sensitive, context),
        digests_step(policy, roles, profile),
        *_buckets(sensitive, m, context),
        units,
        _step("persons without a bucket", "without_bucket", context),
        *rule_stages,
        *partition_stages(roles.quasi, how, profile.rows, recursive=profile.recursive),
        *_final_classes(m, context),
        *_swaps(context),
        _step("final groups", "groups", context),
        _step("counterfeits", "forge", context),
        _step("counterfeits as originals", "counterfeits", context),
        units,
        _step("classes", "members", context),
        *cell_steps(roles.quasi, policy.publish.cells),
    )
    layout, columns = published_columns(rows, roles, {})
    return Compiled(stages, Assembly(columns, (Sql("row_id"),)), layout, COUNTERFEITS)


def _context(policy: Policy, roles: Roles, m: int) -> dict[str, Any]:
    """The parameters of all templates of `republish`."""
    (sensitive,) = roles.sensitive
    return {
        "coded": CODED,
        "digests": DIGESTS,
        "history": HISTORY,
        "history_values": HISTORY_VALUES,
        "history_texts": HISTORY_TEXTS,
        "standing": work("standing"),
        "signature_since": SIGNATURE_SINCE,
        "known_values": work("known_values"),
        "quotas": QUOTAS,
        "regional": REGIONAL,
        "placed": work("placed_rows"),
        "nodes": work("nodes"),
        "groups": work("groups"),
        "final_classes": work("final_classes"),
        "classes": work("class_extents"),
        "rest": work("class_rest"),
        "near": work("class_near"),
        "offers": work("class_offers"),
        "swaps": work("class_swaps"),
        "rounds": work("class_rounds"),
        "extents": extents(roles.quasi),
        "orders": _orders(roles),
        "beside": BESIDE,
        "most_rounds": ROUNDS_OF_SWAPS,
        "units": UNITS,
        "members": MEMBERS,
        "counterfeits": COUNTERFEITS,
        "domains": [a.domain for a in roles.quasi],
        "attributes": [AttributeColumns(a) for a in roles.quasi],
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
        "position_draw": later_draw("p.draw", "seat"),
    }


def _step(name: str, template: str, context: dict[str, Any]) -> Step:
    return Step(name, f"republish/{template}", context)


def _refine(name: str, template: str, context: dict[str, Any]) -> Step:
    """A step of the swaps of `refine`, with the tables of this release."""
    return Step(name, f"refine/{template}", context)


def _buckets(sensitive: Sensitive, m: int, context: dict[str, Any]) -> Iterator[Stage]:
    """Buckets by signature: persons who stay, completed with new persons."""
    yield _step("who stays", "standing", context)
    yield _step("since when", "signature_since", context)
    yield _step("values of counterfeits", "known_values", context)
    yield _enough_values(sensitive, m, context)
    yield _signatures_of_m(m, context)
    yield Compute(
        _step("division and balancing", "standing_counts", context),
        quotas(m),
        QUOTAS,
        _counts("bucket", "signature", "value", "taken", "forged"),
    )
    yield _step("rows in their buckets", "placed", context)


def _final_classes(m: int, context: dict[str, Any]) -> Iterator[Stage]:
    """Buckets for the persons of the regions, and the halving of all buckets into classes."""
    yield Compute(
        _step("assignment in regions", "region_counts", context),
        regional(m),
        REGIONAL,
        _counts("bucket", "region", "value", "taken"),
    )
    yield _step("persons in their buckets", "regional", context)
    yield _step("buckets as nodes", "nodes", context)
    yield Loop(
        "partition buckets",
        (_step("halve nodes", "halve", context),),
        until=_step("open nodes", "open_nodes", context),
        at_most=MAX_LEVELS,
    )


def _swaps(context: dict[str, Any]) -> Iterator[Stage]:
    """Let rows with the same value swap classes if that lowers the loss of both."""
    around = (
        _step("extents of classes", "classes", context),
        _step("extents without a row", "rest", context),
    )
    yield _step("rows as extents", "final_classes", context)
    yield from around
    yield _step("near classes", "near", context)
    yield _refine("every class to look at", "every_class", context)
    yield _refine("no offers yet", "no_offers", context)
    yield _refine("no rounds of swaps yet", "no_rounds", context)
    yield Loop(
        "swap rows",
        (
            _step("offers to near classes", "offers", context),
            _refine("swaps", "swaps", context),
            _step("rows after swaps", "swapped", context),
            *around,
            _refine("rounds of swaps", "rounds", context),
        ),
        until=_refine("swaps left", "swaps_left", context),
        at_most=ROUNDS_OF_SWAPS,
    )


def _counts(*names: str) -> tuple[tuple[str, str], ...]:
    """Columns of whole numbers."""
    return tuple((name, "BIGINT") for name in names)


def _orders(roles: Roles) -> list[Sql]:
    """Orders of classes, each of which begins with another attribute."""
    names = [str(a.c) for a in roles.quasi]
    return [Sql(", ".join(names[i:] + names[:i])) for i in range(len(names))][:MOST_ORDERS]


def _regions(sensitive: Sensitive, m: int, rows: int) -> tuple[Partitioning, tuple[Stage, ...]]:
    """Cut the persons without a bucket into regions, and return the stages that this needs.

    In each region, no value has a share above 1/m.
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
        Step("values of new persons", "prepare/reference", context),
        Step("new persons by value", "prepare/sensitive_cells", context),
    )
    rule = protection(sensitive, [Alpha(column=sensitive.column, alpha=1 / m)])
    return Partitioning(
        k=max(REGION * m, rows // MOST_REGIONS), split="loss", strict=True, protections=(rule,)
    ), stages


def _one_value_per_person(sensitive: Sensitive, context: dict[str, Any]) -> Guard:
    def explain(row: Row) -> Problem:
        empty, repeated = row
        if empty:
            return Problem(
                column_path(sensitive.column),
                f"is NULL in {many(empty, 'row')}, and m-invariance needs a value of everybody",
                hint="nulls: suppress, or a value for them in source.query",
            )
        return Problem(
            "person",
            f"{many(repeated, 'row is a further one', 'rows are further ones')} of a person, and"
            " m-invariance takes one of each",
            hint="one row per person in source.query",
        )

    return Guard(_step("one value per person", "unfit", context), explain, SourceError)


def _enough_values(sensitive: Sensitive, m: int, context: dict[str, Any]) -> Guard:
    def explain(row: Row) -> Problem:
        return Problem(
            column_path(sensitive.column),
            f"has {many(row[0], 'different value')}, and a signature needs {m}",
            hint="lower republish.m, k or l",
        )

    return Guard(_step("enough values", "too_few_values", context), explain, InfeasibleError)


def _signatures_of_m(m: int, context: dict[str, Any]) -> Guard:
    def explain(row: Row) -> Problem:
        return Problem(
            "republish.m",
            f"{many(row[0], 'person')} stood in classes of fewer than {m} values before (fewest:"
            f" {row[1]:,}), and a later release cannot undo that",
            hint=f"m, k and l of at most {row[1]}, or a population that was not released before",
        )

    return Guard(_step("earlier signatures", "weak", context), explain, InfeasibleError)
