"""What an observer of several published tables can tell, from its definition and nothing else.

Plain rows as dictionaries, every choice of rows tried one by one: written to be read, not to be
fast. Nothing of the package is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, Any]
Event: TypeAlias = tuple[str, tuple[Any, ...]]
"""A table, and what one row of it shows in its columns of events."""
Line: TypeAlias = tuple[tuple[str, int, tuple[Any, ...]], ...]
"""Rows, each below the one before: the table, the place in it, and what is shown of events."""


@dataclass(frozen=True)
class Child:
    """How the rows of a table lead to their person."""

    link: str
    parent: str
    key: str | None = None
    events: tuple[str, ...] = ()
    """The published columns of its events; none where no row of it may be known."""


@dataclass(frozen=True)
class Published:
    """Tables as a reader of the release sees them."""

    person: str
    key: str
    rows: Mapping[str, Sequence[Row]]
    children: Mapping[str, Child] = field(default_factory=dict)
    quasi: tuple[str, ...] = ()
    """Published columns of the persons' quasi-identifiers."""

    def persons(self) -> list[Any]:
        """The key of every person."""
        return [row[self.key] for row in self.rows[self.person]]

    def owners(self, table: str) -> list[Any]:
        """The person of every row of a table. KeyError where a key leads nowhere."""
        if table == self.person:
            return self.persons()
        child = self.children[table]
        key = self.key if child.parent == self.person else str(self.children[child.parent].key)
        led = {
            row[key]: who
            for row, who in zip(self.rows[child.parent], self.owners(child.parent), strict=True)
        }
        return [led[row[child.link]] for row in self.rows[table]]

    def events(self) -> dict[Any, list[Event]]:
        """What may be known of each person: all rows of tables with events."""
        held: dict[Any, list[Event]] = {person: [] for person in self.persons()}
        for table, child in self.children.items():
            if child.events:
                for row, who in zip(self.rows[table], self.owners(table), strict=True):
                    held[who].append((table, tuple(row[name] for name in child.events)))
        return held

    def lines(self, table: str) -> list[Line]:
        """Of every row the rows above it, the highest first, and itself."""
        child = self.children[table]
        above: Mapping[Any, Line] = {}
        if child.parent != self.person:
            key = str(self.children[child.parent].key)
            rows = zip(self.rows[child.parent], self.lines(child.parent), strict=True)
            above = {row[key]: line for row, line in rows}
        return [
            (*above.get(row[child.link], ()), (table, place, tuple(row[n] for n in child.events)))
            for place, row in enumerate(self.rows[table])
        ]

    def counts(self) -> dict[Any, tuple[int, ...]]:
        """How many rows each person has, table by table."""
        found = {person: [0] * len(self.children) for person in self.persons()}
        for place, table in enumerate(self.children):
            for who in self.owners(table):
                found[who][place] += 1
        return {person: tuple(numbers) for person, numbers in found.items()}

    def classes(self, *, tuples: bool = False) -> list[list[Any]]:
        """The persons of every class, by its number or by equal quasi-identifiers."""
        found: dict[Hashable, list[Any]] = {}
        for row in self.rows[self.person]:
            label = tuple(row[name] for name in self.quasi) if tuples else row["class_id"]
            found.setdefault(label, []).append(row[self.key])
        return list(found.values())


def choices(rows: Iterable[Event], m: int) -> set[tuple[Event, ...]]:
    """Every choice of at most m of the rows. Of rows that look the same, m make every choice."""
    capped = sorted(
        (event for event, n in Counter(rows).items() for _ in range(min(n, m))), key=repr
    )
    sizes = range(min(m, len(capped)) + 1)
    return {one for size in sizes for one in combinations(capped, size)}


def left_in_class(
    members: Sequence[Any], events: Mapping[Any, Sequence[Event]], m: int
) -> dict[Any, int]:
    """For every person of a class, the fewest that remain after any choice of their rows."""
    having = {person: Counter(events[person]) for person in members}
    remain: dict[tuple[Event, ...], int] = {}
    fewest = {}
    for person in members:
        fewest[person] = len(members)
        for choice in choices(events[person], m):
            if choice not in remain:
                remain[choice] = sum(fits(choice, having[other]) for other in members)
            fewest[person] = min(fewest[person], remain[choice])
    return fewest


def fits(choice: Sequence[Event], having: Mapping[Event, int]) -> bool:
    """Whether somebody with these rows has one of their own, that looks the same, for each."""
    return all(having.get(event, 0) >= choice.count(event) for event in choice)


def fits_by_matching(
    choice: Sequence[Any],
    rows: Sequence[Any],
    may_be: Callable[[Any, Any], bool] = lambda one, other: bool(one == other),
) -> bool:
    """The same for any relation between a known row and a row: everyone finds a partner."""
    partner: dict[int, int] = {}

    def find(known: int, seen: set[int]) -> bool:
        for place, row in enumerate(rows):
            if place not in seen and may_be(choice[known], row):
                seen.add(place)
                if place not in partner or find(partner[place], seen):
                    partner[place] = known
                    return True
        return False

    return all(find(known, set()) for known in range(len(choice)))


def left_by_events(published: Published, m: int, *, tuples: bool = False) -> dict[Any, int]:
    """For every person, the fewest that remain to somebody who knows at most m of the rows."""
    events = published.events()
    found: dict[Any, int] = {}
    for members in published.classes(tuples=tuples):
        found |= left_in_class(members, events, m)
    return found


def shapes(published: Published, m: int) -> dict[Any, set[Hashable]]:
    """What may be known of each person: at most m rows, with the rows above them, and which of all
    these are one and the same row.
    """
    trees: dict[Any, list[Line]] = {person: [] for person in published.persons()}
    for table, child in published.children.items():
        if child.events:
            lines = zip(published.lines(table), published.owners(table), strict=True)
            for line, who in lines:
                trees[who].append(line)

    def shape(chosen: Sequence[Line]) -> Hashable:
        shown = [[(table, events) for table, _, events in line] for line in chosen]
        nodes = [(table, place) for line in chosen for table, place, _ in line]
        return repr((shown, [nodes.index(node) for node in nodes]))

    return {
        person: {shape(p) for size in range(m + 1) for p in permutations(lines, size)}
        for person, lines in trees.items()
    }


def left_by_linked(published: Published, m: int, *, tuples: bool = False) -> dict[Any, int]:
    """For every person, the fewest of the class that remain to somebody who knows at most m rows
    and how they belong together.
    """
    having = shapes(published, m)
    found: dict[Any, int] = {}
    for members in published.classes(tuples=tuples):
        counts = Counter(one for person in members for one in having[person])
        found |= {person: min(counts[one] for one in having[person]) for person in members}
    return found


def left_by_numbers(published: Published, *, tuples: bool = False) -> dict[Any, int]:
    """For every person, how many of the class have as many rows in each table."""
    counts = published.counts()
    return {
        person: sum(counts[other] == counts[person] for other in members)
        for members in published.classes(tuples=tuples)
        for person in members
    }


def left_by_absence(published: Published) -> dict[Any, int]:
    """For every person, how many of the class have no rows in a table in which they have none: the
    fewest over such tables, or the class.
    """
    counts = published.counts()
    found = {}
    for members in published.classes():
        for person in members:
            empty = [place for place, n in enumerate(counts[person]) if n == 0]
            alike = [sum(counts[other][place] == 0 for other in members) for place in empty]
            found[person] = min([len(members), *alike])
    return found


def below_k(published: Published, m: int, k: int, *, joined: bool) -> set[Any]:
    """The persons of whom somebody who knows at most m rows is left with fewer than k."""
    found = left_by_linked(published, m) if joined else left_by_events(published, m)
    return {person for person, left in found.items() if left < k}


def fewest_values(
    published: Published,
    m: int,
    table: str,
    column: str,
    *,
    tuples: bool = False,
    joined: bool = False,
) -> int | None:
    """The fewest different values that those who remain have in a column, for any choice.

    NULL is no value; where nobody who remains has a row, nothing is said of the column.
    """
    events = published.events()
    having = shapes(published, m) if joined else {}
    own = table == published.person
    owners = published.persons() if own else published.owners(table)
    held: dict[Any, list[Any]] = {}
    for row, who in zip(published.rows[table], owners, strict=True):
        held.setdefault(who, []).append(row[column])
    fewest: int | None = None
    for members in published.classes(tuples=tuples):
        if joined:
            known = {one for person in members for one in having[person]}
            lefts = [[one for one in members if shape in having[one]] for shape in known]
        else:
            chosen = {one for person in members for one in choices(events[person], m)}
            lefts = [
                [one for one in members if fits(choice, Counter(events[one]))] for choice in chosen
            ]
        for left in lefts:
            values = [value for one in left for value in held.get(one, [])]
            if values:
                found = len(set(values) - {None})
                fewest = found if fewest is None else min(fewest, found)
    return fewest


def left_by_all_events(published: Published, *, within_class: bool = True) -> dict[Any, int]:
    """For every person, how many (of the class, or at all) show just the same events."""
    held = {person: Counter(events) for person, events in published.events().items()}
    groups = published.classes() if within_class else [published.persons()]
    return {
        person: sum(held[other] == held[person] for other in members)
        for members in groups
        for person in members
    }
