"""Details of a policy's effect: examples, what costs most, and other hierarchies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from anonymizer.compile import Sql, Table, ident, render, work
from anonymizer.contract.checks import RunSql
from anonymizer.contract.layout import PublishedColumn, quasi, with_loss
from anonymizer.engines.session import Database, Session
from anonymizer.errors import AnonymizerError, PolicyError
from anonymizer.explore.edits import Edit, with_edits
from anonymizer.explore.states import State, Stop, figures_of
from anonymizer.hierarchy.levels import HierarchyDrawing
from anonymizer.measure.loss import class_losses_sql
from anonymizer.measure.queries import QueryTables, stage
from anonymizer.policy import Policy
from anonymizer.policy.hierarchies import DATE_LEVELS
from anonymizer.policy.paths import column_path
from anonymizer.release.certificate import known_attacks
from anonymizer.review.assess import Assessment
from anonymizer.review.attack import Attack, attack_beside
from anonymizer.review.hierarchies import Built, built, losses, only_quasi, suggest
from anonymizer.review.inputs import Beside, unit_of
from anonymizer.review.report.content import FLOOR, after, before, floor_of
from anonymizer.review.report.distributions import compared
from anonymizer.review.report.page import size_shares
from anonymizer.review.trial import Bench, Figures, Scratch, alone
from anonymizer.run.release_rows import LINK
from anonymizer.source.profile import kind_of

# Details after a policy's figures: distributions, observers, and examples of published rows.


HIDDEN = "(rare)"


def rare_labels(
    run: RunSql,
    relation: Table | Sql,
    value: Sql,
    labels: Iterable[str | None],
    floor: int,
    *,
    number: bool,
    person: Sql | None = None,
) -> set[str]:
    """The labels that contain a value of fewer than `floor` rows (persons).

    A number must occur as a whole; of texts and dates any part counts, so that rather too many
    labels are hidden than too few.
    """
    wanted = sorted({label for label in labels if label})
    if not wanted:
        return set()
    parameters = {
        "source": relation,
        "relation": ident(relation),
        "value": value,
        "unit": Sql(f"count(distinct {person})") if person is not None else Sql("count(*)"),
        "labels": wanted,
        "floor": floor,
        "number": number,
    }
    return {str(row[0]) for row in run(render("explore/rare_labels", parameters).text)}


SHOWN = 8
"""Number of example rows."""
TARGETS = 2_000
"""Approximate number of rows (persons) that attacks look for."""


def display_floor(policy: Policy) -> int:
    """Fewest rows (persons) of any value on the page, whatever the policy's guarantees."""
    return max(FLOOR, floor_of(policy))


def details_of(
    policy: Policy, found: Scratch, rows: int, check: Callable[[], None]
) -> dict[str, Any]:
    """Collect all details. `check` is called between two parts, and may raise to stop."""
    beside, floor = found.beside(policy), display_floor(policy)
    check()
    # (rows alone, without classes, have no observers who look for a class)
    classed = not beside.layout.classless
    was, now = (before(policy, beside), after(beside)) if classed else (None, None)
    check()
    return {
        "floor": floor,
        "unit": unit_of(policy),
        "sizes": [] if now is None else [
            {"label": label, "before": one, "after": other}
            for label, one, other in size_shares(was, now)
        ],
        "costly_classes": costly_classes(policy, beside, found),
        "distributions": list(_distributions(beside, floor, check)),
        "observers": [] if was is None or now is None else _observers(was, now, beside, rows),
        "known": known_attacks(policy),
        "examples": examples(policy, beside, found),
    }  # fmt: skip


def _distributions(
    beside: Beside, floor: int, check: Callable[[], None]
) -> Iterator[dict[str, Any]]:
    tables = QueryTables(work)
    layout = beside.layout
    staged = stage(beside.run_sql, beside.view, layout, beside.originals, None, tables)
    by_column = {a.column.column: a for a in staged}
    for column in layout.columns:
        check()
        yield asdict(compared(beside, column, by_column.get(column.column), floor))


def _observers(was: Assessment, now: Assessment, beside: Beside, rows: int) -> list[dict[str, Any]]:
    attacked = None
    try:
        share = min(1.0, TARGETS / max(rows, 1))
        _, attacked = attack_beside(beside, max(share, 1e-6))
    except AnonymizerError:
        pass  # a sample may contain none of the targets
    return list(_attack_changes(was, now, attacked))


def _attack_changes(
    was: Assessment, now: Assessment, attacked: Attack | None
) -> Iterator[dict[str, Any]]:
    """List what observers know or want, the risk before and after, and whether a bound holds."""
    bound = attacked.linking.bound if attacked is not None else None
    holds = None
    if bound is not None and now.risk.prosecutor_max is not None:
        holds = now.risk.prosecutor_max <= bound + 1e-9
    yield _observer(
        "knows all quasi-identifiers of somebody in the table, and looks for the row",
        was.risk.prosecutor_max, now.risk.prosecutor_max, bound, holds,
    )  # fmt: skip
    yield _observer(
        "links everybody at once with a list of names: share that is matched right",
        was.risk.prosecutor_average, now.risk.prosecutor_average, bound, holds,
    )  # fmt: skip
    for one in attacked.inference if attacked is not None else ():
        yield _observer(
            f"knows all quasi-identifiers of somebody, and wants to know {one.column}",
            None, one.most_confident, one.bound, one.holds if one.bound is not None else None,
        )  # fmt: skip
    for known in attacked.known_value if attacked is not None else ():
        chance = 1 / known.fewest_candidates if known.fewest_candidates else None
        yield _observer(
            f"also knows somebody's {known.column}, and looks for the row",
            None, chance, None, None,
        )  # fmt: skip


def _observer(
    who: str, was: float | None, now: float | None, bound: float | None, holds: bool | None
) -> dict[str, Any]:
    return {"who": who, "before": was, "after": now, "promised": bound, "stopped": holds}


def examples(policy: Policy, beside: Beside, found: Scratch) -> dict[str, Any]:
    """Example rows as published, if the policy holds; without rare values."""
    layout = beside.layout
    group = layout.class_id or layout.group_id
    if group is None or not found.holds:
        return {"columns": [], "rows": []}
    columns = [
        column
        for column in layout.columns
        if column.column not in layout.tables
        and (policy.person is None or column.role in ("quasi", "semi"))
    ]
    return _rows_of_classes(policy, beside, columns, group=group, lost=[])


def costly_classes(policy: Policy, beside: Beside, found: Scratch) -> dict[str, Any]:
    """The classes that account for most of the loss: their cells, rows, mean loss, and share."""
    layout = beside.layout
    columns = list(with_loss(layout))
    if layout.class_id is None or not columns or not found.holds:
        return {"columns": [], "rows": []}
    lost = class_losses_sql(layout, beside.view, beside.originals)
    return _rows_of_classes(policy, beside, columns, group=layout.class_id, lost=lost)


def _rows_of_classes(
    policy: Policy,
    beside: Beside,
    columns: Sequence[PublishedColumn],
    *,
    group: str,
    lost: Sequence[Sql],
) -> dict[str, Any]:
    """One row each of some classes, as texts, with `(rare)` for cells that show a rare value."""
    cells = [(cell_text(c), ident(f"c{i}"), ident(f"n{i}")) for i, c in enumerate(columns, 1)]
    found_rows = beside.select(
        "explore/examples",
        data=beside.view,
        group=group,
        cells=cells,
        floor=display_floor(policy),
        shown=SHOWN,
        lost=list(lost),
    )
    rows = [list(row) for row in found_rows]
    for place, column in enumerate(columns):
        hidden = rare_cells(policy, beside, column, [row[place] for row in rows])
        for row in rows:
            row[place] = HIDDEN if row[place] in hidden else row[place]
    return {"columns": [column.column for column in columns], "rows": rows}


def rare_cells(
    policy: Policy, beside: Beside, column: PublishedColumn, cells: Iterable[str | None]
) -> set[str]:
    """The cells of a column that show a value held by few rows (persons) of the source."""
    person = beside.originals.person
    return rare_labels(
        beside.run_sql,
        beside.originals.table,
        ident(beside.originals.values[column.column]),
        cells,
        display_floor(policy),
        number=column.kind == "numeric",
        person=ident(person) if person is not None else None,
    )


def cell_text(column: PublishedColumn) -> Sql:
    """A published cell as one text; separate bounds are written as an interval."""
    if column.lo is not None and column.hi is not None:
        lo, hi = (f"cast({ident(name)} as varchar)" for name in (column.lo, column.hi))
        return Sql(f"case when {lo} = {hi} then {lo} else {lo} || ' – ' || {hi} end")
    return Sql(f"cast({ident(column.name or column.column)} as varchar)")


def raw_rows(session: Session) -> dict[str, Any]:
    """Raw rows of the source, if the server was started with permission to show them."""
    source = session.source
    columns = [name for name, _ in session.profile.own]
    named = {"source": source.table, "relation": source.sql}
    parameters = {**named, "columns": columns, "shown": SHOWN}
    rows = session.engine.raw(render("explore/raw_rows", parameters).text, "source")
    return {
        "columns": columns,
        "rows": [[None if value is None else str(value) for value in row] for row in rows],
    }


# What costs most in a policy, and what relaxing each demand one step would save, on a sample.


LIMIT = 0.05
"""One step of the suppression limit."""
WIDER = 1.25
"""Factor of one step of t."""
CELLS = 3


@dataclass(frozen=True, slots=True)
class Step:
    """One demand relaxed by one step."""

    says: str
    edits: tuple[Edit, ...]


def steps_of(policy: Policy) -> Iterator[Step]:
    """Relax each demand by one step: k, the rules of columns, quasi-identifiers, the limit."""
    k = policy.privacy.k_anonymity
    if k is not None and k > 2:
        yield Step(f"k {k - 1} instead of {k}", (Edit(("privacy", "k_anonymity"), k - 1),))
    for name in policy.protected:
        protect = policy.columns[name].protect
        l, t = getattr(protect, "l_diversity", None), getattr(protect, "t_closeness", None)
        at = ("columns", name, "protect")
        if isinstance(l, int) and l > 2:
            yield Step(f"l {l - 1} instead of {l} for {name}", (Edit((*at, "l_diversity"), l - 1),))
        distance = getattr(t, "t", None)
        if isinstance(distance, float) and distance * WIDER <= 1:
            wider = round(distance * WIDER, 4)
            path = (*at, "t_closeness", "t")
            yield Step(f"t {wider} instead of {distance} for {name}", (Edit(path, wider),))
    if len(policy.quasi) > 1:
        for name in policy.quasi:
            if name not in policy.semi_sensitive:
                edit = Edit(("columns", name, "role"), "drop")
                yield Step(f"without {name}", (edit,))
    more = round(policy.suppression_limit + LIMIT, 4)
    if more <= 1:
        yield Step(f"up to {100 * more:g} % left out", (Edit(("suppression_limit",), more),))


def why(
    state: State,
    base: Path,
    first: str,
    bench: Bench,
    stop: Stop,
    told: Callable[[dict[str, Any]], None],
    now: Figures,
    cells: list[dict[str, Any]],
) -> None:
    """Try every step, and report after each what it saves. `now`: the policy on the same sample."""
    found: list[dict[str, Any]] = []
    wanted = list(steps_of(state.policy))
    shares = costs_of(now)
    for number in range(len(wanted) + 1):
        # (steps that are not tried yet have their lines on the page already)
        ahead = [step.says for step in wanted[number:]]
        told({
            "columns": shares, "cells": cells, "steps": found, "ahead": ahead,
            "done": number, "of": len(wanted),
        })  # fmt: skip
        if number == len(wanted):
            return
        stop.check()
        step = wanted[number]
        try:
            _, policy = with_edits(state.text, step.edits, base, first)
        except AnonymizerError:
            continue  # another part of the policy needs it
        outcome = figures_of(bench, policy, stop)
        found = sorted((*found, _saving_step(step, now, outcome)), key=lambda one: -one["saved"])


def costs_of(outcome: Figures) -> list[dict[str, Any]]:
    """Every quasi-identifier with its loss and its share of the total, the most costly first."""
    losses = outcome.losses
    total = sum(losses.values())
    listed = sorted(losses.items(), key=lambda item: (-item[1], item[0]))
    return [
        {"column": name, "loss": loss, "share": loss / total if total else 0.0}
        for name, loss in listed
    ]


def _saving_step(step: Step, now: Figures, then: Figures) -> dict[str, Any]:
    saved = now.loss - then.loss if then.loss is not None and now.loss is not None else 0.0
    return {
        "says": step.says,
        "edits": [{"path": list(edit.path), "value": edit.value} for edit in step.edits],
        "loss": then.loss,
        "risk": then.risk,
        "holds": then.holds,
        "saved": saved,
        "problem": str(then.problems[0]) if then.problems else None,
    }


def costly_cells(policy: Policy, found: Scratch, column: str | None) -> list[dict[str, Any]]:
    """The published cells of a column that cost most, without rare ones."""
    described = next((c for c in quasi(found.layout) if c.column == column), None)
    if described is None or not found.holds:
        return []
    beside = found.beside(policy)
    day = described.kind == "date"
    rows = beside.select(
        "explore/costly_cells",
        link=LINK,
        original=beside.originals.table,
        physical=beside.originals.values[described.column],
        cell=cell_text(described),
        ordered=described.kind != "categorical",
        place=Sql("epoch(cast(value as timestamp))" if day else "cast(value as double)"),
        floor=display_floor(policy),
        shown=CELLS,
    )
    hidden = rare_cells(policy, beside, described, [row[0] for row in rows])
    return [
        {"column": column, "cell": HIDDEN if cell in hidden else cell, "rows": n, "share": share}
        for cell, n, share in rows
    ]


# Candidate hierarchies: suggestions for a column, their trees, and their levels.


LISTS = {"date": "levels", "prefix": "lengths", "suffix": "lengths", "divisor": "divisors"}
"""Builders with a list of levels in the policy, from fine to coarse, and its option."""
MOST = 1_500
"""Largest number of nodes sent to the page; coarse levels take precedence."""


def candidates(policy: Policy, database: Database, column: str) -> list[dict[str, Any]]:
    """Suitable hierarchies for a column, built over the source, without example values."""
    if column not in policy.quasi:
        raise PolicyError.at(column_path(column), "has no role quasi", hint="role: quasi")
    listed = []
    for found in suggest(alone(policy), database, [column]):
        told = found.as_dict()
        levels = [{n: one[n] for n in ("level", "nodes", "loss")} for one in told["levels"]]
        listed.append({**told, "levels": levels})
    return listed


def tree(
    policy: Policy, database: Database, column: str, options: Mapping[str, Any]
) -> dict[str, Any]:
    """The tree of a hierarchy, from the root down, and the options that choose each level.

    Nodes with few rows, or whose label shows a rare value, are sent without their labels.
    """
    with built(only_quasi(policy, {column: dict(options)}), database, [column]) as made:
        shown = made[0].drawing()
        hidden = _hidden_labels(policy, made[0], shown)
    return {
        "column": column,
        "hierarchy": dict(options),
        "nests": shown.nests,
        "levels": [
            {"level": n, "nodes": nodes, "loss": loss, "choose": from_level(options, n)}
            for n, nodes, loss in losses(shown)
        ],
        "nodes": _nodes(shown, display_floor(policy), hidden),
    }


def from_level(options: Mapping[str, Any], level: int) -> dict[str, Any] | None:
    """The hierarchy without the levels below `level`, from 1; None if its builder has no list."""
    name = LISTS.get(str(options.get("builder")))
    steps = options.get(name) if name is not None else None
    if steps is None and options.get("builder") == "date":
        steps = DATE_LEVELS
    if name is None or steps is None or level > len(steps):
        return None
    return {**options, name: list(steps[level - 1 :])}


def _hidden_labels(policy: Policy, made: Built, shown: HierarchyDrawing) -> set[str]:
    """Labels of nodes with few rows, or that show a rare value.

    With persons, all labels are hidden, since the number of persons per node is unknown.
    """
    labels = {node.label for node in shown.nodes}
    if policy.person is not None:
        return labels
    floor = display_floor(policy)
    source = made.session.source
    return {node.label for node in shown.nodes if node.rows < floor} | rare_labels(
        lambda text: made.session.engine.raw(text, "hierarchies"),
        source.table or source.sql,
        ident(made.column),
        labels,
        floor,
        number=kind_of(made.sql_type) == "numeric",
    )


def _nodes(shown: HierarchyDrawing, floor: int, hidden: set[str]) -> list[dict[str, Any]]:
    ordered = sorted(shown.nodes, key=lambda node: (-node.level, node.node))
    return [
        {
            "level": node.level,
            "node": node.node,
            "parent": node.parent,
            "label": None if node.label in hidden else node.label,
            "values": node.values,
            "rows": node.rows if node.rows >= floor else None,
        }
        for node in ordered[:MOST]
    ]
