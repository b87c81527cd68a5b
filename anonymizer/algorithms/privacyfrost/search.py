"""The search of PrivacyFrost2: tables, suppression, partial domains, and walkers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from anonymizer.algorithms.core.encode import CODED, UNITS
from anonymizer.algorithms.core.partition import MEMBERS
from anonymizer.algorithms.core.protections import column_rules
from anonymizer.algorithms.lattice.judging import (
    EVALUATIONS,
    NODES,
    NodeRules,
    judge_stages,
    lattice_context,
    node_rules,
)
from anonymizer.algorithms.lattice.recode import CLASS_LEVELS, LEVELS, PATHS, TUPLES, Packing
from anonymizer.algorithms.lattice.search import SUBSETS, bound_stages, walk_stages
from anonymizer.algorithms.privacyfrost.priorities import SearchColumn
from anonymizer.compile import Sql, Table, ident, join, lit, work
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.guarantees.rule import all_hold, merge_layers, size_layer
from anonymizer.policy import Policy, PrivacyFrost
from anonymizer.policy.paths import column_path
from anonymizer.source.profile import Sensitive
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import later_draw
from anonymizer.steps import Guard, Loop, Note, Row, Stage, Step

# The rules of sensitive columns over the classes of many tables or parts in one statement.


@dataclass(frozen=True, slots=True)
class RuleResults:
    """The rules of one sensitive column for every group, identified by keys."""

    column: Sensitive
    dense: bool
    sized: bool
    """True if its rules use the size of the group, which is computed before the layers."""
    layers: tuple[tuple[tuple[str, Sql], ...], ...]
    holds: Sql

    @property
    def dear(self) -> bool:
        """True if it is expensive: it compares distributions instead of only counting values."""
        return self.dense or self.sized or bool(self.layers)

    @property
    def number(self) -> Sql:
        return lit(self.column.index)

    def passing_columns(self, stage: int) -> Sql:
        """The candidates that satisfy its rules and those of the columns before it."""
        return Sql(f"passing_columns_{stage}_{self.column.index}")

    @property
    def cells(self) -> Table:
        return self.column.cells

    @property
    def reference(self) -> Table:
        return self.column.reference

    @property
    def base_cells(self) -> Table:
        """Work table of its values in the tuples that the search aggregates."""
        return work(f"base_cells_{self.column.index}")


def sensitive_rules(policy: Policy, roles: Roles, keys: Sequence[Sql]) -> tuple[RuleResults, ...]:
    """The rules of all sensitive columns that have any, over groups identified by `keys`."""
    made = []
    for column in roles.ruled:
        rules = column_rules(policy, column)
        if rules:
            layers = [dict(layer) for layer in merge_layers(rules, join(keys))]
            # for many small groups, joined totals take a third of the time of a window
            (size,) = size_layer(join(keys)).items()
            sized = any(size in layer.items() for layer in layers)
            for layer in layers:
                layer.pop(size[0], None)
            made.append(
                RuleResults(
                    column=column,
                    dense=any(rule.dense for rule in rules),
                    sized=sized,
                    layers=tuple(tuple(layer.items()) for layer in layers if layer),
                    holds=all_hold(rules),
                )
            )
    return tuple(made)


# The search: pre-computation, top-down steps, and the escape through tables that do not hold.


DEPTHS = work("search_depths")
BASE = work("search_base")
START = work("search_start")
TRAIL = work("search_trail")
STATE = work("search_state")

TOTALS = {"basic": Sql("sum"), "eta": Sql("sum"), "log": Sql("max")}
"""The aggregate that combines the columns' merits to a table's score."""


def search_context(
    policy: Policy, roles: Roles, columns: Sequence[SearchColumn], packed: Packing, k: int
) -> dict[str, Any]:
    """The parameters of the search's templates."""
    options = policy.algorithm
    assert isinstance(options, PrivacyFrost)
    keys = [Sql("node"), *(word.g for word in packed.words)]
    rules = sensitive_rules(policy, roles, keys)
    return {
        "attributes": list(columns),
        "words": packed.words,
        "tuples": TUPLES,
        "recodings": [a.lattice_column.recoding for a in columns],
        "masks": [
            (a.lattice_column.position, level, *packed.masks(a.lattice_column.position, level))
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
        "resume": options.resume,
        "judging": False,
        "protections": rules,
        "keys": keys,
        "references": [rule.reference for rule in rules],
        "base_cells": [rule.base_cells for rule in rules],
    }


def search_stages(
    policy: Policy, columns: Sequence[SearchColumn], context: dict[str, Any]
) -> tuple[Stage, ...]:
    """Stages that write `search_state` (the best table) and `search_trail` (the record).

    One statement executes all steps; every step scores and judges all of its tables together.
    Comparisons are exact: decimal scores, integer tie-breakers, and ranks of columns.
    """
    rules: tuple[RuleResults, ...] = context["protections"]
    return (
        Step("merit of levels", "privacyfrost/levels", context),
        Step("tuples worth looking at", "privacyfrost/base", context),
        *(_base_cells(rule, context) for rule in rules),
        Step("pre-computation", "privacyfrost/start", context),
        _no_table_guard(policy, columns, rules, context),
        Step("search", "privacyfrost/search", context),
        Step("best table", "privacyfrost/best", context),
    )


def _base_cells(rule: RuleResults, context: dict[str, Any]) -> Step:
    own = {**context, "cells": rule.cells, "base_cells": rule.base_cells}
    name = f"{rule.column.column} by tuple"
    return Step(name, "privacyfrost/base_cells", own)


def _no_table_guard(
    policy: Policy,
    columns: Sequence[SearchColumn],
    rules: Sequence[RuleResults],
    context: dict[str, Any],
) -> Guard:
    held = [a.lattice_column.attribute.column for a in columns if a.floor > 0]
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

    query = Step("coarsest table", "privacyfrost/failed", context)
    return Guard(query, explain, GuaranteeError)


# The same search if rows may be suppressed: a table holds if failing classes have few rows.
#
# The verdict on one table then says little about another: rules compare classes with the rows that
# are not suppressed, so a table may break a rule of a sensitive column that a finer one satisfies.
# Every table is judged separately; only too many rows in classes smaller than k rule out the finer
# tables as well. The score depends on the published rows: a suppressed row is fully generalized,
# and adds no value to any column. So no table scores more than without suppression, and one that
# does not beat the best even then is not judged.
#
# The recursive statement of the search cannot repeat a judgement until nothing fails, so here its
# steps are separate statements. At the end the suppressed rows are removed, and the table holds for
# the others.


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
) -> tuple[dict[str, Any], tuple[NodeRules, ...], dict[str, Any]]:
    """The parameters of the judging templates, the columns with rules, and the parameters of the
    search.
    """
    columns = node_rules(policy, roles)
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
        Step("merit of levels", "privacyfrost/levels", own),
        Step("values of levels", "privacyfrost/values", own),
    )


def suppressing_stages(
    judging: dict[str, Any], columns: tuple[NodeRules, ...], own: dict[str, Any]
) -> tuple[Stage, ...]:
    """Stages that write `search_state` and `search_trail`, from tuples and limits."""
    return (
        Step("pre-computation", "privacyfrost/first_tables", own),
        *_judge(judging, columns, own),
        Step("start", "privacyfrost/started", own),
        Step("tables of the start", "privacyfrost/trail", own),
        Step("best table so far", "privacyfrost/standing", own),
        Step("tables that fail", "privacyfrost/first_failures", own),
        Loop(
            "search",
            (
                Step("next tables", "privacyfrost/next_tables", own),
                *_judge(judging, columns, own),
                Step("best of them", "privacyfrost/ordered", own),
                Step("tables considered", "privacyfrost/considered", own),
                Step("more tables that fail", "privacyfrost/more_failures", own),
                Step("go on", "privacyfrost/move", own),
            ),
            until=Step("search goes on", "privacyfrost/searching", own),
            at_most=MOST_STEPS,
            asked_first=True,
        ),
        Step("best table", "privacyfrost/ended", own),
    )


def _judge(
    judging: dict[str, Any], columns: tuple[NodeRules, ...], own: dict[str, Any]
) -> tuple[Step | Loop, ...]:
    return (
        Step("tables to judge", "privacyfrost/batch", own),
        *judge_stages(judging, columns),
        Step("scores of tables", "privacyfrost/scored", own),
    )


def none_safe(policy: Policy, columns: Sequence[SearchColumn], own: dict[str, Any]) -> Guard:
    """A guard that stops the run if no table holds."""
    held = [a.lattice_column.attribute.column for a in columns if a.floor > 0]
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

    query = Step("a safe table", "privacyfrost/none_safe", own)
    return Guard(query, explain, GuaranteeError)


def leave_out_stages(
    judging: dict[str, Any], columns: tuple[NodeRules, ...], own: dict[str, Any]
) -> tuple[Stage, ...]:
    """Stages that remove the rows that the best table suppresses from `coded`."""
    return (
        Step("the table found", "privacyfrost/chosen", own),
        *judge_stages(judging, columns),
        Step("rows suppressed", "privacyfrost/without", own),
    )


# Partial domains: specializes each class of the best table further if all of its parts hold.


DIVIDED = work("divided_classes")
OPEN = work("open_classes")

RECURSIVE_UP_TO = 1_000_000
"""Number of rows up to which one recursive statement divides classes, with the same result."""
IN_TURN_FROM = 50_000
"""Number of rows from which the columns of a class are judged in turn, the largest gain first. With
rules that compare distributions, this is done for any table. The classes are the same.
"""


def class_stages(
    policy: Policy,
    roles: Roles,
    columns: Sequence[SearchColumn],
    packed: Packing,
    k: int,
    *,
    partial: bool,
    rows: int,
    recursive: bool,
) -> tuple[Stage, ...]:
    """Stages that write `members` and `class_levels`.

    `recursive`: whether the engine can divide the classes in one statement.

    With `partial` every class is specialized separately, all in parallel: a column whose values are
    all under one node takes that node; of the columns that can be divided so that every part holds,
    the one with the most parts, weighted by priority, is divided, until none can.
    """
    keys = [Sql("class_id"), Sql("attribute"), Sql("child")]
    rules = sensitive_rules(policy, roles, keys)
    context: dict[str, Any] = {
        "attributes": list(columns),
        "by_rank": sorted(columns, key=lambda a: a.rank),
        "words": packed.words,
        "tuples": TUPLES,
        "depths": DEPTHS,
        "state": STATE,
        "divided": DIVIDED,
        "members": MEMBERS,
        "class_levels": CLASS_LEVELS,
        "k": k,
        "child": Sql(" + ".join(f"(o.{word.w} & m.{word.m})" for word in packed.words)),
        "protections": rules,
        "keys": keys,
        "references": [rule.reference for rule in rules],
        "cells": [rule.cells for rule in rules],
        "in_turn": bool(rules) and (rows >= IN_TURN_FROM or any(rule.dear for rule in rules)),
        "partial": partial,
    }
    dividing: tuple[Stage, ...] = ()
    levels = sum(len(a.fields) for a in columns)
    if partial and levels:
        at_once = recursive and rows <= RECURSIVE_UP_TO
        dividing = _recursive(context) if at_once else _driven(context, levels + 1)
    return (
        Step("classes", "privacyfrost/classes", context),
        *dividing,
        Step("classes of units", "privacyfrost/members", context),
        Step("levels of classes", "privacyfrost/class_levels", context),
    )


def _recursive(context: dict[str, Any]) -> tuple[Stage, ...]:
    own = {**context, "open": Sql("division")}
    return (Step("partial-domain de-generalization", "privacyfrost/partial", own),)


def _driven(context: dict[str, Any], at_most: int) -> tuple[Stage, ...]:
    own = {**context, "open": OPEN}
    return (
        Step("open classes", "privacyfrost/open", own),
        Loop(
            "partial-domain de-generalization",
            (
                Step("divide classes", "privacyfrost/divide", own),
                Step("name parts", "privacyfrost/rename", own),
            ),
            until=Step("undivided", "privacyfrost/undivided", own),
            at_most=at_most,
        ),
    )


# Continues after the search: walkers start from its result within a budget, and bound the score.
#
# They are the walkers of `full_domain`, for which the loss is the difference from the score of the
# original values. With the scores `basic` and `eta` this is a sum over the columns, so the bound of
# `full_domain` applies; suppression only lowers a score. With `log` only one column counts: every
# column alone is tried at every level with all others as coarse as allowed, and no table scores
# more than the best level at which a single column does not require too many suppressed rows.


def anytime_stages(
    judging: dict[str, Any],
    judged: tuple[NodeRules, ...],
    own: dict[str, Any],
    columns: Sequence[SearchColumn],
    packed: Packing,
    *,
    budget: int,
    size: int,
    safe: tuple[Stage, ...],
) -> tuple[Stage, ...]:
    """Stages that rewrite `search_state` with the best table found by judging `budget` nodes.

    `safe` stops the run if no table holds.
    """
    lattice = {
        **judging,
        "units": UNITS,
        "first_draw": later_draw("min(draw)", "walk"),
        "optimum": "lost",
        "measures": [Sql("lost"), Sql("fewer")],
    }
    own = {
        **own,
        "nodes": NODES,
        "levels": LEVELS,
        "evaluations": EVALUATIONS,
        "subsets": SUBSETS,
        # a size that would be too large for an integer is reported approximately
        "size": size if size < 10**37 else float(f"{size:.3g}"),
        "named": [(a.level, ident(f"level.{a.lattice_column.attribute.column}")) for a in columns],
    }
    walked = {**lattice, **{name: own[name] for name in _SEARCHED}, "given": NODES}

    def verdicts(context: dict[str, Any]) -> tuple[Step, ...]:
        return (
            Step("scores of tables", "privacyfrost/scored", {**own, "given": NODES}),
            Step("verdicts", "privacyfrost/walk_verdicts", own),
            Step("remember verdicts", "lattice/add_evaluations", context),
        )

    result = Step("table of the search", "privacyfrost/walk_result")
    walks: tuple[Stage, ...]
    if own["score"] == "log":
        alone = {**walked, "budget": budget}
        walks = (
            Step("the coarsest node", "lattice/walk_root", alone),
            Step(result.name, result.template, alone),
            Step("single columns", "privacyfrost/walk_singles", alone),
            Step("no verdicts yet", "lattice/no_evaluations", alone),
            Step("choose nodes", "lattice/walk_batch", alone),
            *judge_stages(alone, judged),
            *verdicts(alone),
        )
    else:
        for_bound = budget // 2
        walks = (
            *walk_stages(
                walked,
                judged,
                budget - for_bound,
                known=(result,),
                begin="privacyfrost/walk_begin",
                verdicts=verdicts,
            ),
            *bound_stages(lattice, packed, for_bound),
        )
    return (
        Step("levels of the lattice", "privacyfrost/walk_levels", {**own, "levels": LEVELS}),
        *walks,
        Step("best table within the budget", "privacyfrost/walk_best", own),
        *safe,
        Step("record of the budget", "privacyfrost/walk_trail", own),
        Note(Step("levels of the best table", "privacyfrost/walk_measures", own)),
    )


_SEARCHED = ("state", "depths")
"""Tables of the search that the walkers' first steps read."""
