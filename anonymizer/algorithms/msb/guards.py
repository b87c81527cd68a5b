"""Guards of this algorithm: counts over the source that rule out a release."""

from __future__ import annotations

import math
from collections.abc import Sequence

from anonymizer.algorithms.msb.dimensions import Dimension
from anonymizer.algorithms.msb.grouping import Grouping
from anonymizer.compile import Sql
from anonymizer.errors import InfeasibleError, Problem, SourceError
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.privacy.exact import share_at_most
from anonymizer.steps import Guard, Row, Step


def level_guards(dimensions: Sequence[Dimension]) -> tuple[Guard, ...]:
    """Guards that every value in the data has exactly one level."""
    return tuple(
        Guard(
            Step(
                f"one level for every value of {d.column}",
                "msb/guard_levels.sql.j2",
                {"values": d.values, "unlisted": d.default is None},
            ),
            lambda row, d=d: _level_problem(d, row),  # type: ignore[misc]
            SourceError,
        )
        for d in dimensions
        if d.levels
    )


def _level_problem(dimension: Dimension, row: Row) -> Problem:
    twice, without = row
    path = column_path(dimension.column, "protect")
    if twice:
        return Problem(
            f"{path}.levels",
            f"names {twice} values of the data in two levels, written in different ways",
            hint="write each value once, as the column's type prints it",
        )
    return Problem(
        f"{path}.default_level",
        f"is missing: {without} values of the data stand in no level",
        hint="default_level: <the level of all values that are not listed>",
    )


def diversity_guards(policy: Policy, how: Grouping) -> tuple[Guard, ...]:
    """Guards that every column has enough different values, and none that is too frequent."""
    guards = []
    for d in how.dimensions:
        wanted = sorted(
            {level.needed for level in (*d.levels, *([d.default] if d.default else []))}
        )
        context = {
            "values": d.values,
            "whole": math.lcm(*wanted),
            "allowed": share_at_most(policy.suppression_limit),
        }
        guards.append(
            Guard(
                Step(f"diversity of {d.column}", "msb/guard_diversity.sql.j2", context),
                lambda row, d=d: _diversity_problem(d, row, policy, how.unit),  # type: ignore[misc]
                InfeasibleError,
            )
        )
    return tuple(guards)


def enough_rows(how: Grouping) -> Guard:
    """A guard that there are enough rows for some record to begin a group."""

    def explain(row: Row) -> Problem:
        least, records = row
        return Problem(
            "privacy.level_l" if any(d.levels for d in how.dimensions) else _l_path(how),
            f"asks for groups of at least {least} {how.unit}, but there are {records} {how.unit}"
            " with a value in every protected column",
            hint=f"lower l, or release more {how.unit}",
        )

    step = Step("enough rows for a group", "msb/guard_rows.sql.j2", how.context)
    return Guard(step, explain, InfeasibleError)


def _l_path(how: Grouping) -> str:
    return column_path(how.dimensions[0].column, "protect", "l_diversity")


def _diversity_problem(dimension: Dimension, row: Row, policy: Policy, unit: str) -> Problem:
    poor, different, needed, most, known, over = row
    path = column_path(dimension.column, "protect")
    if poor:
        return Problem(
            path,
            f"needs more different values than the {different} of the data: the shares of 1/l"
            " that they may take of a group do not make a whole one",
            hint="lower l, give a value level 0, or drop the column",
        )
    return Problem(
        path,
        f"lets a value take 1/{needed} of the {known} {unit} that have one, but one has {most}:"
        f" at least {over} {unit} would be suppressed, more than suppression_limit"
        f" {policy.suppression_limit:g} allows",
        hint="lower its l or its level, or raise suppression_limit",
    )


def enough_for_classes(how: Grouping, k: int) -> Guard:
    """A guard that k rows (persons) are published, as generalized classes need."""

    def explain(row: Row) -> Problem:
        return Problem(
            "algorithm.generalize.k",
            f"asks for classes of {k} {how.unit}, but {row[0]} {how.unit} are in groups",
            hint=f"lower k, or release more {how.unit}",
        )

    step = Step(
        "enough rows for a class",
        "guards/too_few.sql.j2",
        {"coded": how.records, "count": Sql("count(*)"), "least": k},
    )
    return Guard(step, explain, InfeasibleError)
