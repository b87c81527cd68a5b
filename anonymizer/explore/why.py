"""What costs most in a policy, and what relaxing each demand one step would save, on a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymizer.compile import Sql
from anonymizer.contract.columns import quasi
from anonymizer.errors import AnonymizerError
from anonymizer.explore.bench import Bench, Stop
from anonymizer.explore.details import HIDDEN, cell_text, floor_shown, rare_cells
from anonymizer.explore.edits import Edit, with_edits
from anonymizer.explore.outcome import Outcome, State
from anonymizer.policy import Policy
from anonymizer.review.scratch import Scratch
from anonymizer.run.link import LINK

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
    now: Outcome,
    cells: list[dict[str, Any]],
) -> None:
    """Try every step, and report after each what it saves. `now`: the policy on the same sample."""
    found: list[dict[str, Any]] = []
    wanted = list(steps_of(state.policy))
    shares = costs_of(now)
    for number in range(len(wanted) + 1):
        told({"columns": shares, "cells": cells, "steps": found, "done": number, "of": len(wanted)})
        if number == len(wanted):
            return
        stop.check()
        step = wanted[number]
        try:
            _, policy = with_edits(state.text, step.edits, base, first)
        except AnonymizerError:
            continue  # another part of the policy needs it
        outcome, _ = bench.tried(policy, stop)
        found = sorted((*found, _saved(step, now, outcome)), key=lambda one: -one["saved"])


def costs_of(outcome: Outcome) -> list[dict[str, Any]]:
    """Every quasi-identifier with its loss and its share of the total, the most costly first."""
    losses: dict[str, float] = outcome.figures.get("losses", {})
    total = sum(losses.values())
    listed = sorted(losses.items(), key=lambda item: (-item[1], item[0]))
    return [
        {"column": name, "loss": loss, "share": loss / total if total else 0.0}
        for name, loss in listed
    ]


def _saved(step: Step, now: Outcome, then: Outcome) -> dict[str, Any]:
    loss, before = then.figures.get("loss"), now.figures.get("loss")
    saved = before - loss if loss is not None and before is not None else 0.0
    return {
        "says": step.says,
        "edits": [{"path": list(edit.path), "value": edit.value} for edit in step.edits],
        "loss": loss,
        "risk": then.figures.get("risk"),
        "holds": then.figures.get("holds", False),
        "saved": saved,
        "problem": str(then.problems[0]) if then.problems else None,
    }


def costly_cells(policy: Policy, found: Scratch, column: str | None) -> list[dict[str, Any]]:
    """The published cells of a column that cost most, without rare ones."""
    described = next((c for c in quasi(found.layout) if c.column == column), None)
    if described is None or not found.holds(policy):
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
        floor=floor_shown(policy),
        shown=CELLS,
    )
    hidden = rare_cells(policy, beside, described, [row[0] for row in rows])
    return [
        {"column": column, "cell": HIDDEN if cell in hidden else cell, "rows": n, "share": share}
        for cell, n, share in rows
    ]
