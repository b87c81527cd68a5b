"""The search: pre-computation, top-down steps, and the escape through tables that do not hold."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from anonymizer.algorithms.lattice.packing import Packing
from anonymizer.algorithms.lattice.recode import TUPLES
from anonymizer.algorithms.privacyfrost.columns import Searched
from anonymizer.algorithms.privacyfrost.rules import Judged, judged_by
from anonymizer.compile import Sql, lit, work
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.policy import Policy, PrivacyFrost
from anonymizer.policy.paths import column_path
from anonymizer.source.roles import Roles
from anonymizer.steps import Guard, Row, Stage, Step

DEPTHS = work("search_depths")
BASE = work("search_base")
START = work("search_start")
TRAIL = work("search_trail")
STATE = work("search_state")

TOTALS = {"basic": Sql("sum"), "eta": Sql("sum"), "log": Sql("max")}
"""The aggregate that combines the columns' merits to a table's score."""


def search_context(
    policy: Policy, roles: Roles, columns: Sequence[Searched], packed: Packing, k: int
) -> dict[str, Any]:
    """The parameters of the search's templates."""
    options = policy.algorithm
    assert isinstance(options, PrivacyFrost)
    keys = [Sql("node"), *(word.g for word in packed.words)]
    rules = judged_by(policy, roles, keys)
    return {
        "attributes": list(columns),
        "words": packed.words,
        "tuples": TUPLES,
        "recodings": [a.climbed.recoding for a in columns],
        "masks": [
            (a.climbed.position, level, *packed.masks(a.climbed.position, level))
            for a in columns
            for level in range(a.height + 1)
        ],
        "depths": DEPTHS,
        "base": BASE,
        "start": START,
        "trail": TRAIL,
        "state": STATE,
        "k": k,
        "margin": k + options.p,
        "score": options.score,
        "d": lit(Decimal(repr(options.d))),
        "total": TOTALS[options.score],
        "weight": Sql("sum(v.distinct_values)" if options.tie_break == "sum" else "0"),
        "weighed": options.tie_break == "sum",
        "judging": False,
        "protections": rules,
        "keys": keys,
        "references": [rule.reference for rule in rules],
        "base_cells": [rule.base_cells for rule in rules],
    }


def search_stages(
    policy: Policy, columns: Sequence[Searched], context: dict[str, Any]
) -> tuple[Stage, ...]:
    """Stages that write `search_state` (the best table) and `search_trail` (the record).

    One statement executes all steps; every step scores and judges all of its tables together.
    Comparisons are exact: decimal scores, integer tie-breakers, and ranks of columns.
    """
    rules: tuple[Judged, ...] = context["protections"]
    return (
        Step("merit of levels", "privacyfrost/levels.sql.j2", context),
        Step("tuples worth looking at", "privacyfrost/base.sql.j2", context),
        *(_base_cells(rule, context) for rule in rules),
        Step("pre-computation", "privacyfrost/start.sql.j2", context),
        _failed(policy, columns, rules, context),
        Step("search", "privacyfrost/search.sql.j2", context),
        Step("best table", "privacyfrost/best.sql.j2", context),
    )


def _base_cells(rule: Judged, context: dict[str, Any]) -> Step:
    own = {**context, "cells": rule.cells, "base_cells": rule.base_cells}
    name = f"{rule.column.column} by tuple"
    return Step(name, "privacyfrost/base_cells.sql.j2", own)


def _failed(
    policy: Policy,
    columns: Sequence[Searched],
    rules: Sequence[Judged],
    context: dict[str, Any],
) -> Guard:
    held = [a.climbed.attribute.column for a in columns if a.floor > 0]
    unit = "persons" if policy.person is not None else "rows"
    names = {rule.column.index: rule.column.column for rule in rules}

    def explain(row: Row) -> Problem:
        smallest, broken = row
        if broken == 0:
            found = f"the smallest has at most {smallest}"
            reason = f"classes of {context['k']} {unit} are asked for, and {found}"
        else:
            reason = f"{column_path(names[broken], 'protect')} does not hold in every class"
        if held:
            path = column_path(held[0], "minimum_level") if len(held) == 1 else "columns"
            where = f"the minimum levels of {', '.join(held)}"
            hint = "lower these levels, weaken the guarantee, or raise presampling_k"
        else:
            path, where = "algorithm", "the roots of all columns"
            hint = "weaken the guarantee, or lower presampling_k"
        return Problem(path, f"failed: no table is safe even at {where}: {reason}", hint=hint)

    query = Step("coarsest table", "privacyfrost/failed.sql.j2", context)
    return Guard(query, explain, GuaranteeError)
