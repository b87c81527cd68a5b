"""The rules of sensitive columns in algorithms that keep rows whole: references, cells, checks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from anonymizer.algorithms.core.encode import CODED, UNITS
from anonymizer.algorithms.core.partition import Protection
from anonymizer.compile import Sql, ident, lit
from anonymizer.contract.layout import value_text
from anonymizer.errors import InfeasibleError, Problem, SourceError
from anonymizer.guarantees.closeness import TOrdered, TOrderedByRuns
from anonymizer.guarantees.diversity import DistinctL
from anonymizer.guarantees.frequency import Alpha
from anonymizer.guarantees.requirements import (
    BY_NAME,
    bucket_rule,
    of_basis,
    rules_of,
    table_rules_of,
    unit_rules_of,
)
from anonymizer.guarantees.rule import Rule, all_hold, at_most, merge_layers, within
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path, name_text, path_text
from anonymizer.process.text import many
from anonymizer.source.profile import Sensitive, TableProfile, published_type
from anonymizer.source.roles import Roles
from anonymizer.steps import Guard, Row, Stage, Step

_BY_ROWS = ", or raise suppression_limit so that they may be left out"
_BY_PERSONS = "; full_domain and privacyfrost do it, up to suppression_limit"


def protections(
    policy: Policy, roles: Roles, keys: Sequence[Sql], *, alone: bool = True
) -> tuple[tuple[Protection, ...], tuple[Stage, ...]]:
    """The rules that the partitioning has to satisfy per protected column, and their stages.

    `alone`: the table is released without others.
    """
    made: list[Protection] = []
    stages: list[Stage] = []
    person = policy.person is not None
    for column in roles.ruled:
        rules = column_rules(policy, column)
        if not rules:
            continue
        context = {
            "coded": CODED,
            "units": UNITS,
            "reference": column.reference,
            "cells": column.cells,
            "hierarchy": column.hierarchy,
            "levels": column.levels,
            "column": column.s,
            "keys": list(keys),
            "runs": any(isinstance(rule, TOrdered) for rule in rules),
            "count": Sql("count(distinct r.person)" if person else "count(*)"),
        }
        stages += [
            Step(f"values of {column.column}", "prepare/reference", context),
            feasible(
                column,
                rules,
                leaves_out=(_BY_PERSONS if person else _BY_ROWS) if alone else "",
                unit=dict(policy.privacy.units or {}).get(column.column),
            ),
            Step(f"{column.column} by unit", "prepare/sensitive_cells", context),
        ]
        made.append(protection(column, rules))
    return tuple(made), tuple(stages)


def protection(column: Sensitive, rules: Sequence[Rule]) -> Protection:
    """The rules of a column, as the templates of the cuts need them."""
    part = Sql("class_id, attribute, code, single, side")
    rules = [rule.by_runs() if isinstance(rule, TOrdered) else rule for rule in rules]
    return Protection(
        index=column.index,
        cells=column.cells,
        reference=column.reference,
        dense=any(rule.dense for rule in rules),
        runs=any(isinstance(rule, TOrderedByRuns) for rule in rules),
        layers=merge_layers(rules, part),
        holds=all_hold(rules),
        distinct=_distinct(rules),
    )


def column_rules(policy: Policy, column: Sensitive) -> tuple[Rule, ...]:
    """The rules of one column: its own, and those of the table that judge its values."""
    if column.column in policy.privacy.unit_columns:
        return unit_rules_of(column.column, policy.privacy)
    described = policy.columns[column.column]
    rules: tuple[Rule, ...] = ()
    if described.protect is not None:
        closeness = described.protect.t_closeness
        if closeness is not None and closeness.distance == "hierarchical" and not column.height:
            said = "has no hierarchy to measure distances by: the column has no values"
            path = column_path(column.column, "protect", "t_closeness")
            raise SourceError.at(path, said, hint="drop the column")
        rules = rules_of(
            column.column, described.protect, described.null_as_value, height=column.height
        )
    table = table_rules_of(
        column.column,
        policy.privacy,
        described.null_as_value,
        declared=_limited_code(policy, column),
    )
    return rules + of_basis(table, "histogram")


def _limited_code(policy: Policy, column: Sensitive) -> Sql | None:
    """The code of the single value that `alpha_k` limits; NULL if the column does not have it."""
    value = _declared_value(policy, column)
    if value is None:
        return None
    return Sql(f"(select value from {ident(column.reference)} where original = {value})")


def _declared_value(policy: Policy, column: Sensitive) -> Sql | None:
    """The same value, in the type of the column."""
    limited = policy.privacy.alpha_k
    if limited is None or limited.value is None:
        return None
    value = lit(value_text(limited.value))
    return Sql(f"try_cast({value} as {published_type(column.sql_type)})")


def thinning_steps(policy: Policy, profile: TableProfile, roles: Roles) -> Iterator[Step]:
    """Steps that leave out rows of values that are too frequent in the table, as few as possible,
    if suppression_limit allows so many. Persons, and rows with patterns, are not left out here.
    """
    if not policy.suppression_limit or policy.person is not None or roles.flagged:
        return
    assert profile.rows is not None
    read = profile.rows + profile.left_out
    for column in roles.sensitive:
        for share, limited, null_as_value in _shares(policy, column):
            yield Step(
                f"rows of frequent values of {column.column}",
                "prepare/thinned",
                {
                    "coded": CODED,
                    "column": column.s,
                    "limited": limited,
                    "counts": None if null_as_value else Sql(f"{column.s} is not null"),
                    "holds": Sql(within("place", share, "remaining")),
                    "least": read - math.floor(at_most(policy.suppression_limit) * read),
                },
            )


def _shares(policy: Policy, column: Sensitive) -> Iterator[tuple[Fraction, Sql | None, bool]]:
    """The largest shares of values of a column, of which values (None: of all), and whether NULL
    is one of them.
    """
    protect = policy.columns[column.column].protect
    if policy.algorithm.name == "lgb":
        least = bucket_rule(column.column, protect).m if protect is not None else 1
        if least > 1:  # the values in a bucket do not repeat
            yield Fraction(1, least), None, False
        return
    for rule in column_rules(policy, column):
        if isinstance(rule, Alpha):
            value = None if rule.only is None else _declared_value(policy, column)
            limited = None if value is None else Sql(f"{column.s} = {value}")
            yield at_most(rule.alpha), limited, rule.null_as_value


def _distinct(rules: Sequence[Rule]) -> int:
    """The required number of different values, if that is the only rule; else 0."""
    if all(isinstance(rule, DistinctL) and not rule.null_as_value for rule in rules):
        return max(rule.l for rule in rules if isinstance(rule, DistinctL))
    return 0


def _option(rule: Rule) -> str:
    """The policy's key for a rule, which is what one would change."""
    guarantee = BY_NAME.get(rule.name)
    return guarantee.option if guarantee is not None else rule.name


def _surplus(rule: Rule, most: int, known: int) -> int:
    """The rows with the most frequent value that have to be left out at least, by a rule on its
    share; 0 for other rules.
    """
    if not isinstance(rule, Alpha) or rule.only is not None or (share := at_most(rule.alpha)) >= 1:
        return 0
    return max(0, math.ceil((most - share * known) / (1 - share)))


def too_few_units(column: str, least: int, found: int) -> Problem:
    """The problem of a column with fewer different values than every class needs."""
    return Problem(
        path_text(("privacy", "units", column)),
        f"cannot hold in any class: it takes {least} different values, and the rows have"
        f" {found:,} (a NULL is none)",
        hint=f"units: {{{name_text(column)}: {found}}}" if found > 1 else "leave the unit out",
    )


def feasible(
    column: Sensitive,
    rules: Sequence[Rule],
    where: str = "columns",
    leaves_out: str = "",
    *,
    unit: int | None = None,
) -> Guard:
    """A guard: InfeasibleError if the rules of a column fail for the table as one class.

    `leaves_out`: how the tool itself would leave rows out, to be added to the hint; `unit`: the
    different values that a class needs of a column that is not published.
    """

    def explain(row: Row) -> Problem:
        different, most, known = row
        if unit is not None:
            return too_few_units(column.column, unit, different)
        path = f"{where}.{column.column}.protect"
        if not known:  # no weaker rule would help
            said = "cannot hold in any class: no row has a value"
            return Problem(path, said, hint="role: drop, or leave protect out")
        names = ", ".join(sorted({_option(rule) for rule in rules}))
        found = (
            f"{names} fails for the table as a whole"
            f" ({many(different, 'different value')}, the most frequent in {most:,} of {known:,}"
            " rows)"
        )
        needed = max((_surplus(rule, most, known) for rule in rules), default=0)
        if needed >= most or not needed:
            hint = f"weaken {names}, or protect it by t_closeness"
            return Problem(path, f"cannot hold in every class: {found}", hint=hint)
        hint = f"weaken {names}, or leave these rows out in source.query{leaves_out}"
        return Problem(
            path,
            f"cannot hold in every class: {found}, unless {needed:,} rows or more with that value"
            " are left out",
            hint=hint,
        )

    context = {
        "reference": column.reference,
        "layers": merge_layers(rules, Sql("")),
        "holds": all_hold(rules),
    }
    return Guard(
        Step(f"feasibility of {column.column}", "guards/rule", context),
        explain,
        InfeasibleError,
    )
