"""The same search if rows may be suppressed: a table holds if failing classes have few rows.

The verdict on one table then says little about another: rules compare classes with the rows that
are not suppressed, so a table may break a rule of a sensitive column that a finer one satisfies.
Every table is judged separately; only too many rows in classes smaller than k rule out the finer
tables as well. The score depends on the published rows: a suppressed row is fully generalized, and
adds no value to any column. So no table scores more than without suppression, and one that does
not beat the best even then is not judged.

The recursive statement of the search cannot repeat a judgement until nothing fails, so here its
steps are separate statements. At the end the suppressed rows are removed, and the table holds for
the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anonymizer.algorithms.encode import CODED
from anonymizer.algorithms.lattice.judging import (
    Judged,
    judge_stages,
    judged_columns,
    lattice_context,
)
from anonymizer.algorithms.lattice.packing import Packing
from anonymizer.algorithms.lattice.recode import PATHS
from anonymizer.algorithms.privacyfrost.columns import Searched
from anonymizer.compile import work
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.source.roles import Roles
from anonymizer.steps import Guard, Loop, Row, Stage, Step

VALUES = work("search_values")
GIVEN = work("search_tables")
SCORED = work("search_scored")
STANDING = work("search_standing")
ORDERED = work("search_ordered")
FAILED = work("search_failed")

MOST_STEPS = 1_000_000
"""A bound that is never reached: every step changes a level, and every table taken is better."""


def judging_context(
    policy: Policy, roles: Roles, packed: Packing, search: dict[str, Any]
) -> tuple[dict[str, Any], tuple[Judged, ...], dict[str, Any]]:
    """The parameters of the judging templates, the columns with rules, and the parameters of the
    search.
    """
    columns = judged_columns(policy, roles)
    judging = lattice_context(policy, roles, packed, columns)
    shared = ("batch", "screened", "classes", "limits", "monotone", "persons", "verdicts")
    own = {
        **search,
        **{name: judging[name] for name in shared},
        "judging": True,
        "values_at": VALUES,
        "paths": PATHS,
        "coded": CODED,
        "given": GIVEN,
        "scored": SCORED,
        "standing": STANDING,
        "ordered": ORDERED,
        "failed": FAILED,
    }
    return judging, columns, own


def value_steps(own: dict[str, Any]) -> tuple[Step, ...]:
    """Steps that write the merit of levels, and the number of units per value at each level."""
    return (
        Step("merit of levels", "privacyfrost/levels.sql.j2", own),
        Step("values of levels", "privacyfrost/values.sql.j2", own),
    )


def suppressing_stages(
    judging: dict[str, Any], columns: tuple[Judged, ...], own: dict[str, Any]
) -> tuple[Stage, ...]:
    """Stages that write `search_state` and `search_trail`, from tuples and limits."""
    return (
        Step("pre-computation", "privacyfrost/first_tables.sql.j2", own),
        *_judge(judging, columns, own),
        Step("start", "privacyfrost/started.sql.j2", own),
        Step("tables of the start", "privacyfrost/trail.sql.j2", own),
        Step("best table so far", "privacyfrost/standing.sql.j2", own),
        Step("tables that fail", "privacyfrost/first_failures.sql.j2", own),
        Loop(
            "search",
            (
                Step("next tables", "privacyfrost/next_tables.sql.j2", own),
                *_judge(judging, columns, own),
                Step("best of them", "privacyfrost/ordered.sql.j2", own),
                Step("tables considered", "privacyfrost/considered.sql.j2", own),
                Step("more tables that fail", "privacyfrost/more_failures.sql.j2", own),
                Step("go on", "privacyfrost/move.sql.j2", own),
            ),
            until=Step("search goes on", "privacyfrost/searching.sql.j2", own),
            at_most=MOST_STEPS,
            asked_first=True,
        ),
        Step("best table", "privacyfrost/ended.sql.j2", own),
    )


def _judge(
    judging: dict[str, Any], columns: tuple[Judged, ...], own: dict[str, Any]
) -> tuple[Step | Loop, ...]:
    return (
        Step("tables to judge", "privacyfrost/batch.sql.j2", own),
        *judge_stages(judging, columns),
        Step("scores of tables", "privacyfrost/scored.sql.j2", own),
    )


def none_safe(policy: Policy, columns: Sequence[Searched], own: dict[str, Any]) -> Guard:
    """A guard that stops the run if no table holds."""
    held = [a.climbed.attribute.column for a in columns if a.floor > 0]
    unit = "persons" if policy.person is not None else "rows"

    def explain(row: Row) -> Problem:
        small, broken, allowed = row
        if allowed < 0:
            return Problem(
                "suppression_limit",
                f"is passed by {-allowed:,} {unit} before the search begins",
                hint="raise suppression_limit, or let NULLs be a value: nulls: own_class",
            )
        if broken == 0:
            reason = f"classes of fewer than {own['k']} {unit} hold at least {small:,} {unit}"
        else:
            reason = "the classes that break a rule of a sensitive column hold too many"
        if held:
            path = column_path(held[0], "minimum_level") if len(held) == 1 else "columns"
            where = f"the minimum levels of {', '.join(held)}"
            hint = "lower these levels, weaken the guarantee, or raise suppression_limit"
        else:
            path, where = "algorithm", "the roots of all columns"
            hint = "weaken the guarantee, or raise suppression_limit"
        said = f"failed: no table is safe even at {where}, with {allowed:,} {unit} to suppress"
        return Problem(path, f"{said} at most: {reason}", hint=hint)

    query = Step("a safe table", "privacyfrost/none_safe.sql.j2", own)
    return Guard(query, explain, GuaranteeError)


def leave_out_stages(
    judging: dict[str, Any], columns: tuple[Judged, ...], own: dict[str, Any]
) -> tuple[Stage, ...]:
    """Stages that remove the rows that the best table suppresses from `coded`."""
    return (
        Step("the table found", "privacyfrost/chosen.sql.j2", own),
        *judge_stages(judging, columns),
        Step("rows suppressed", "privacyfrost/without.sql.j2", own),
    )
