"""Raising events class by class, until every set of rows that may be known is held by k persons.

One known row: a cell that too few persons have is raised to the next step, or borrows persons from
the cells below it. Two or three: of every set that too few persons hold, the cell with the most
steps left is raised in the whole class; before the root, single rows are.

Source: Terrovitis, Mamoulis, Kalnis (2008), k^m-anonymity, here with several equal rows counted
as such and with the recoding local to classes.
"""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.algorithms.partition.partition import MEMBERS
from anonymizer.algorithms.schema.events import EVENTS, LADDERS, WHOLE, steps_of, with_events
from anonymizer.compile import Sql, lit, work
from anonymizer.source.child import Child
from anonymizer.steps import Loop, Stage, Step

KNOWN = work("known_rows")
PLACED = work("placed_rows")
REMOVED = work("removed_rows")
HELD = work("held_cells")
BROKEN = work("broken_sets")
RAISED_CELLS = work("raised_cells")
RAISED_ITEMS = work("raised_items")

AGAINST_SUPPRESSION = 4
"""How much worse a suppressed cell is taken to be than `*` when cells borrow persons."""


def raising_stages(children: Sequence[Child], *, events: int, least: int) -> tuple[Stage, ...]:
    """Stages that write `placed`: every row of events with its final step.

    `events`: rows that may be known; `least`: persons that have to remain.
    """
    shared = {
        "events_table": EVENTS,
        "members": MEMBERS,
        "ladders": LADDERS,
        "removed": REMOVED,
        "known": KNOWN,
        "placed": PLACED,
        "held": HELD,
        "broken": BROKEN,
        "raised_cells": RAISED_CELLS,
        "raised_items": RAISED_ITEMS,
        "least": least,
        "events": events,
        "suppressed": lit(AGAINST_SUPPRESSION * int(WHOLE.text)),
    }
    nothing = Step("nothing removed", "schema/nothing_removed.sql.j2", {**shared, "events": EVENTS})
    search = _search(shared, events, steps_of(children))
    body: tuple[Step | Loop, ...] = (*search, *gone_steps(children))
    if not any(child.above in _names(children) for child in with_events(children)):
        return (nothing, *body)
    hanging = Step("rows that hang on suppressed ones", "schema/hanging.sql.j2", shared)
    return (nothing, Loop("raise events", body, until=hanging, at_most=10_000))


def _names(children: Sequence[Child]) -> set[str]:
    """Tables of which rows may be suppressed, and those that hang on them."""
    found: set[str] = set()
    for child in children:
        if child.attributes or child.above in found:
            found.add(child.name)
    return found


def _search(shared: dict[str, object], events: int, last: int) -> tuple[Step | Loop, ...]:
    first = Sql("null") if events == 1 else Sql("0")
    own = {**shared, "events": EVENTS, "step": first}
    known = Step("rows of classes", "schema/known.sql.j2", own)
    if events < 2:
        places = [
            Step(
                f"place rows, step {step}",
                "schema/place.sql.j2",
                {**shared, "step": step, "lending": step > 0},
            )
            for step in range(last + 1)
        ]
        every = Step("final rows", "schema/placed.sql.j2", {**shared, "all": True})
        return (known, *(places if events == 1 else ()), every)
    return (
        known,
        Step("no final rows yet", "schema/placed.sql.j2", {**shared, "all": False}),
        Loop(
            "raise rows",
            (
                Step("cells of persons", "schema/held.sql.j2", shared),
                Step("sets of too few persons", "schema/broken.sql.j2", shared),
                Step("final classes", "schema/settled.sql.j2", shared),
                Step("cells to raise", "schema/raised_cells.sql.j2", shared),
                Step("rows to raise", "schema/raised_items.sql.j2", shared),
                Step("raise", "schema/raise.sql.j2", shared),
            ),
            until=Step("sets left", "schema/still_broken.sql.j2", shared),
            at_most=1_000_000,
        ),
    )


def gone_steps(children: Sequence[Child]) -> tuple[Step, ...]:
    """Steps that list, table by table, the rows that are not published."""
    steps: list[Step] = []
    by_name = {child.name: child for child in children}
    partial = _names(children)
    for child in children:
        if child.name not in partial:
            continue
        above = by_name[child.above].gone if child.above in partial else None
        context = {
            "coded": child.coded,
            "placed": PLACED,
            "above": above,
            "gone": child.gone,
            "number": child.number if child.attributes else None,
        }
        steps.append(Step(f"unpublished rows of {child.name}", "schema/gone.sql.j2", context))
    numbered = [(child.number, child.gone) for child in with_events(children)]
    gone = [table for _, table in numbered]
    every = {"removed": REMOVED, "numbered": numbered, "gone": gone}
    return (*steps, Step("unpublished rows", "schema/removed.sql.j2", every))


def has_gone(children: Sequence[Child], child: Child) -> bool:
    """Whether rows of the table may be left out."""
    return child.name in _names(children)
