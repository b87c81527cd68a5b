"""Generalize events until k persons have every set of rows that may be known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.algorithms.core.partition import MEMBERS
from anonymizer.algorithms.core.person_rules import PersonRules
from anonymizer.algorithms.schema.events import (
    AGAINST_SUPPRESSION,
    EVENTS,
    OWNERS,
    STEP_SEQUENCES,
    WHOLE,
    EventColumn,
    event_columns,
    steps_of,
    with_events,
)
from anonymizer.algorithms.schema.rules import (
    FAILING,
    Judged,
    RuledTable,
    failing_steps,
    rule_steps,
)
from anonymizer.compile import Sql, Table, lit, work
from anonymizer.errors import Problem, SourceError
from anonymizer.guarantees.identity import EirL
from anonymizer.policy import SchemaPolicy
from anonymizer.policy.checks.schema import CATEGORIES
from anonymizer.policy.paths import table_path
from anonymizer.source.child import Child
from anonymizer.source.profile import Sensitive
from anonymizer.steps import Loop, Stage, Step

# Raises events class by class, until k persons hold every set of rows that may be known.
#
# One known row: a cell that too few persons have is raised to the next step, or borrows persons
# from the cells below it. Two or three: of every set that too few persons hold, the cell with the
# most steps left is raised in the whole class; before the root, single rows are. If the numbers of
# rows may be known, rows are left out first until enough persons have equal numbers.
#
# If rules of sensitive columns have to hold among the remaining persons, a set whose holders break
# one is treated like a set that too few persons hold.
#
# Source: Terrovitis, Mamoulis, Kalnis (2008), k^m-anonymity, here with several equal rows counted
# as such and with the recoding local to classes.


PLACED = work("placed_rows")
REMOVED = work("removed_rows")

ROUNDS = 1_000_000
"""A bound that is never reached: each round raises or leaves out at least one row."""


def raising_stages(
    children: Sequence[Child],
    *,
    events: int,
    rows: bool,
    least: int,
    ruled: Sequence[RuledTable] = (),
    holding: Sequence[Step] = (),
    merged: Step | None = None,
    joined: bool = True,
) -> tuple[Stage, ...]:
    """Stages that write `placed`, every row of events with its final step, and what is left out.

    `events`: rows that may be known; `rows`: whether their numbers may be known; `least`: persons
    that have to remain; `ruled`: tables whose rules have to hold among these. `holding`: steps that
    merge classes in which the remaining rows break a rule; repeated while `merged` counts some.
    `joined`: whether known rows come with those above them.
    """
    stages = _raising(children, ruled, events=events, rows=rows, least=least, joined=joined)
    if not stages or not holding:
        return stages
    assert merged is not None
    return (Loop("keep the rules of columns", (*stages, *holding), merged, at_most=ROUNDS),)


def _raising(
    children: Sequence[Child],
    ruled: Sequence[RuledTable],
    *,
    events: int,
    rows: bool,
    least: int,
    joined: bool,
) -> tuple[Step | Loop, ...]:
    some = bool(with_events(children))
    if not (some or rows):
        return ()
    shared = shared_context(children, events=events, rows=rows, least=least, joined=joined)
    nothing = Step("nothing left out", "schema/nothing_removed", shared)
    body: tuple[Step | Loop, ...] = (
        *(_even(shared) if rows else ()),
        *(_search(shared, events, steps_of(children), ruled) if some else ()),
        *_unpublished_steps(children, shared, rows=rows),
        *((Step("rows that are left", "schema/rows_left", shared),) if rows else ()),
    )
    names = partial_tables(children, rows=rows)
    judged = [one.child for one in ruled if events and one.child is not None]
    counting = [*with_events(children), *judged]
    if not rows and not any(child.above in names for child in counting):
        return (nothing, *body)
    left = [(child.number, child.remaining) for child in judged if child.above in names]
    until = {**shared, "events": some, "judged": left, "remaining": [table for _, table in left]}
    hanging = Step("rows that do not count", "schema/suppressed_references", until)
    return (nothing, Loop("raise events", body, until=hanging, at_most=ROUNDS))


def partial_tables(children: Sequence[Child], *, rows: bool) -> set[str]:
    """Tables of which rows may be left out."""
    found: set[str] = set()
    for child in children:
        if rows or child.attributes or child.above in found:
            found.add(child.name)
    return found


def shared_context(
    children: Sequence[Child], *, events: int, rows: bool, least: int, joined: bool
) -> Mapping[str, Any]:
    """The parameters that the templates of the search share: its tables and requirements."""
    leading = _leading(children) if events and joined else ()
    shared = [one.number for one in leading if any(other.above == one.name for other in leading)]
    counts = [(child.number, Sql(f"n{child.number}")) for child in children]
    return {
        "owners": OWNERS,
        "members": MEMBERS,
        "step_sequences": STEP_SEQUENCES,
        "removed": REMOVED,
        "event_rows": work("event_rows"),
        "placed": PLACED,
        "value_counts": work("value_counts"),
        "broken": work("broken_sets"),
        "raised_cells": work("raised_cells"),
        "raised_items": work("raised_items"),
        "rows_left": work("rows_left"),
        "tables": [(child.number, child.coded) for child in children],
        "coded": [child.coded for child in children],
        "numbered": counts,
        "counts": [n for _, n in counts],
        "evened": rows,
        "least": least,
        "events": events,
        "suppressed": lit(AGAINST_SUPPRESSION * int(WHOLE.text)),
        "lines": work("lines_of_rows"),
        "leading": _lines(leading, shared),
        "shared": shared,
        "shown": [one.number for one in leading if one.number in shared and one.attributes],
    }


def _leading(children: Sequence[Child]) -> tuple[Child, ...]:
    """The tables with events, and those above them, parents first."""
    needed: set[str] = set()
    for child in reversed(children):
        if child.attributes or child.name in needed:
            needed |= {child.name, child.above}
    return tuple(child for child in children if child.name in needed)


def _lines(leading: Sequence[Child], shared: Sequence[int]) -> list[dict[str, Any]]:
    """How each table hangs on the one above it, and which shared rows its rows have above them."""
    numbers = {one.name: one.number for one in leading}
    places: dict[str, list[int]] = {}
    for one in leading:
        own = [one.number] if one.number in shared else []
        places[one.name] = [*places.get(one.above, []), *own]
    return [
        {
            "number": one.number,
            "coded": one.coded,
            "above": numbers.get(one.above),
            "places": places[one.name],
            "events": bool(one.attributes),
        }
        for one in leading
    ]


def _even(shared: Mapping[str, Any]) -> Iterator[Step | Loop]:
    """Steps that leave out rows until enough persons have equal numbers of rows."""
    left = Step("rows that are left", "schema/rows_left", shared)
    yield left
    yield Loop(
        "even numbers of rows",
        (Step("rows in excess", "schema/excess", shared), left),
        until=Step("persons with rare numbers", "schema/uneven", shared),
        at_most=ROUNDS,
        asked_first=True,
    )


def _search(
    shared: Mapping[str, Any], events: int, last: int, ruled: Sequence[RuledTable]
) -> tuple[Step | Loop, ...]:
    first = Sql("null") if events == 1 else Sql("0")
    own = {**shared, "events": EVENTS, "step": first}
    known = Step("rows of classes", "schema/event_rows", own)
    every = Step("final rows", "schema/placed", {**shared, "all": True})
    places = [
        Step(
            f"place rows, step {step}",
            "schema/place",
            {**shared, "step": step, "lending": step > 0},
        )
        for step in range(last + 1)
    ]
    linked = bool(shared["shared"])
    if events == 0 or (events == 1 and not ruled and not linked):
        return (known, *(places if events else ()), every)
    # if rules compare with the whole table, no class is final before all are
    apart = not any(table.relative for table in ruled)
    settled = Step("final classes", "schema/settled", shared)
    loop = Loop(
        "raise rows",
        (
            *_sets(shared, linked=linked),
            *(rule_steps(ruled, shared) if ruled else ()),
            *((settled,) if apart else ()),
            *_raised(shared, linked=linked),
            Step("raise", "schema/raise", {**shared, "all": not apart}),
        ),
        until=Step("sets left", "schema/still_broken", shared),
        at_most=ROUNDS,
    )
    none_final = Step("no final rows yet", "schema/placed", {**shared, "all": False})
    lines = (Step("rows above rows", "schema/lines", shared),) if linked else ()
    first_places = places if events == 1 else ()
    return (known, *lines, *first_places, none_final, loop, *(() if apart else (every,)))


def _sets(shared: Mapping[str, Any], *, linked: bool) -> tuple[Step, Step]:
    """Steps that list what persons hold, and the sets of it that too few of them do."""
    if linked:
        return (
            Step("rows of persons", "schema/known_rows", shared),
            Step("sets of too few persons", "schema/broken_joined", shared),
        )
    return (
        Step("cells of persons", "schema/value_counts", shared),
        Step("sets of too few persons", "schema/broken", shared),
    )


def _raised(shared: Mapping[str, Any], *, linked: bool) -> tuple[Step, Step]:
    """Steps that choose what is raised, of the sets that too few persons hold."""
    cells, rows = "cells to raise", "rows to raise"
    if linked:
        return (
            Step(cells, "schema/joined_cells", shared),
            Step(rows, "schema/joined_items", shared),
        )
    return Step(cells, "schema/raised_cells", shared), Step(rows, "schema/raised_items", shared)


def _unpublished_steps(
    children: Sequence[Child], shared: Mapping[str, Any], *, rows: bool
) -> tuple[Step, ...]:
    """Steps that list, table by table, the rows that are not published."""
    steps: list[Step] = []
    by_name = {child.name: child for child in children}
    partial = partial_tables(children, rows=rows)
    numbered = []
    for child in children:
        if child.name not in partial:
            continue
        context = {
            **shared,
            "coded": child.coded,
            "above": by_name[child.above].gone if child.above in partial else None,
            "gone": child.gone,
            "number": child.number,
            "events": bool(child.attributes),
        }
        steps.append(Step(f"unpublished rows of {child.name}", "schema/unpublished", context))
        numbered.append((child.number, child.gone))
    every = {"removed": REMOVED, "numbered": numbered, "gone": [table for _, table in numbered]}
    return (*steps, Step("unpublished rows", "schema/removed", every))


# Rules on event columns: EIR l-diversity of the values that generalized cells may stand for.
#
# A choice of values that breaks the rule meets every person with fewer than l values. A cell admits
# the values below its node, so in the worst case it stands for every lower node that the class
# publishes; a person with `*` is met by any value. What holds then holds for the values themselves,
# which is why the cuts of persons are made under the rule on these.


APART = 50_000
"""From here on columns with a rule are numbered, above the sensitive ones of their table."""


@dataclass(frozen=True, slots=True)
class OfEvent(Sensitive):
    """The values of an event column as those of a sensitive one."""

    physical: Sql = Sql("value")

    @property
    def s(self) -> Sql:  # type: ignore[override]  # the column has its own name
        return self.physical


@dataclass(frozen=True, slots=True)
class EventRule:
    """An event column with a rule: its table, its column, and the l of EIR l-diversity."""

    child: Child
    event: EventColumn
    l: int

    @property
    def name(self) -> str:
        return f"{self.child.name}.{self.event.attribute.column}"

    @property
    def path(self) -> str:
        return table_path(self.child.name, "columns", self.event.attribute.column)

    @property
    def admitted(self) -> Table:
        return work(f"admitted_values_{self.event.index}")

    def column(self, physical: Sql) -> OfEvent:
        """The column for the templates of rules, under this name in its table."""
        a = self.event.attribute
        return OfEvent(a.index + APART, a.column, a.sql_type, a.kind, physical=physical)

    def steps(self) -> Iterator[Step]:
        """The steps that list the classes whose published cells do not prove the rule."""
        context = {
            "placed": PLACED,
            "coded": self.child.coded,
            "recoding": self.event.recoding,
            "gone": self.child.gone,
            "admitted": self.admitted,
            "source": self.child.number,
            "code": self.event.c,
            "height": max(self.event.height, 1),
            "steps": [
                (step, levels[self.event.position])
                for step, levels in enumerate(self.child.step_levels)
            ],
        }
        yield Step(f"values of {self.name} at worst", "schema/admitted_values", context)
        yield from failing_steps(
            self.name,
            self.column(Sql("value")),
            (EirL(self.event.attribute.column, self.l),),
            pairs=True,
            remaining=self.admitted,
            judged=self.admitted,
            failing=FAILING,
        )


def event_rules(policy: SchemaPolicy, children: Sequence[Child]) -> tuple[EventRule, ...]:
    """The rules on event columns. Raises SourceError for a column that has no categories."""
    found: list[EventRule] = []
    problems: list[Problem] = []
    for child in children:
        for event in event_columns(child):
            size = policy.reserved.get((child.name, event.attribute.column))
            if size is None:
                continue
            rule = EventRule(child, event, size)
            found.append(rule)
            if event.attribute.ordered:
                hint = "role: sensitive, if nobody can know it of a row; or kind: categorical"
                problems.append(Problem(f"{rule.path}.protect.eir_l", CATEGORIES, hint=hint))
    SourceError.refuse(problems)
    return tuple(found)


def needed_of_cuts(rules: Sequence[EventRule], k: int) -> tuple[PersonRules, tuple[Judged, ...]]:
    """A rule that classes have to satisfy by the values themselves: that of the smallest l."""
    least = EirL("any", min(rule.l for rule in rules))
    judged = tuple(
        (rule.child.kept, "person", rule.column(rule.event.q), rule.path, False) for rule in rules
    )
    return PersonRules(tuple(column for _, _, column, _, _ in judged), (least,), k, k), judged
