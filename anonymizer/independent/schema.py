"""Judge the tables of a release together: their keys, what may be known of a person, their rules.

Every row of a table belongs to the person that its keys lead to, and to the class of that person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from anonymizer.independent import known
from anonymizer.independent.errors import UnreadableError
from anonymizer.independent.form import form, gaps
from anonymizer.independent.guarantees import judge_requirement
from anonymizer.independent.linked import Linked, LinkedTable
from anonymizer.independent.release import Release, Row, decode, number, published
from anonymizer.independent.result import Check, counted
from anonymizer.independent.rows import Opened
from anonymizer.independent.rules import Figure

Numbers = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class _Child:
    """A table of rows that belong to persons."""

    table: LinkedTable
    opened: Opened
    release: Release
    keys: Mapping[str, Numbers]
    """Column of keys to its number in every row."""
    owners: Numbers
    """The person of every row; None where its keys lead to nobody."""


def judge_tables(opened: Opened, linked: Linked, persons: Release) -> Iterator[Check]:
    """Everything that only a release of several tables promises. Raises UnreadableError."""
    if linked.knows.sensitive:
        raise UnreadableError("manifest.tables.knows.sensitive: is not judged by this reader")
    own = tuple(row.person for row in persons.rows)
    yield counted("references", linked.person.table, _unfit(own))
    yield counted("key_dense", linked.person.table, gaps(own) + _unread(own))
    children = _children(opened, linked, own)
    for child in children:
        yield from _keys(child, children, own)
        table = child.table
        for check in form(child.opened, child.release, table.keys):
            yield _qualified(check, table)
    yield from _known(linked, persons, children)
    for child in children:
        yield from _rules(child, persons)


def _children(opened: Opened, linked: Linked, persons: Numbers) -> tuple[_Child, ...]:
    """The tables, each with the person of every row; parents come before what is linked to them."""
    owner = {linked.person.table: {key: key for key in persons if key is not None}}
    found = []
    for table in linked.children:
        part = opened.linked[table.table]
        layout = replace(
            opened.manifest.layout, columns=table.columns, class_id=None, person_id=None
        )
        manifest = replace(opened.manifest, layout=layout, requirements=(), linked=None)
        own = Opened(manifest, part.rows, {}, part.view, part.frozen)
        missing = sorted(set(table.keys) - set(part.rows.columns))
        if missing:
            raise UnreadableError(f"release: lacks the column {missing[0]!r} of its manifest")
        if set(table.keys) & set(published(layout)):
            raise UnreadableError("manifest.tables: one published column stands for two things")
        release = decode(own)
        keys = {name: _column(own, name) for name in table.keys}
        ((link, parent),) = table.links.items()
        whose = tuple(None if to is None else owner[parent].get(to) for to in keys[link])
        if table.key is not None:
            pairs = zip(keys[table.key], whose, strict=True)
            owner[table.table] = {
                key: who for key, who in pairs if key is not None and who is not None
            }
        found.append(_Child(table, own, release, keys, whose))
    return tuple(found)


def _column(opened: Opened, name: str) -> Numbers:
    place = opened.rows.columns.index(name)
    return tuple(number(row[place]) for row in opened.rows.rows)


def _keys(child: _Child, children: Sequence[_Child], persons: Numbers) -> Iterator[Check]:
    table = child.table
    ((link, parent),) = table.links.items()
    there: set[int | None] = set(persons)
    for one in children:
        if one.table.table == parent and one.table.key is not None:
            there = set(one.keys[one.table.key])
    astray = sum(to is None or to not in there for to in child.keys[link])
    if table.key is None:
        yield counted("references", table.table, astray)
        return
    numbers = child.keys[table.key]
    yield counted("references", table.table, astray + _unfit(numbers))
    if table.key not in table.links:
        yield counted("key_dense", table.table, gaps(numbers) + _unread(numbers))


def _unfit(numbers: Numbers) -> int:
    """Keys that are missing, and those that stand again."""
    return _unread(numbers) + sum(n - 1 for one, n in Counter(numbers).items() if one is not None)


def _unread(numbers: Numbers) -> int:
    return sum(one is None for one in numbers)


def _known(linked: Linked, persons: Release, children: Sequence[_Child]) -> Iterator[Check]:
    """K persons remain, whichever rows are known, and (if asked) the numbers of rows."""
    k, m = linked.k, linked.knows.events
    held: dict[int, Counter[Hashable]] = {}
    counts: dict[int, dict[str, int]] = {}
    for child in children:
        for row, who in zip(child.release.rows, child.owners, strict=True):
            if who is None:
                continue
            if child.table.events:
                held.setdefault(who, Counter())[child.table.table, row.tuple] += 1
            of = counts.setdefault(who, {})
            of[child.table.table] = of.get(child.table.table, 0) + 1
    for suffix, classes in _classes(persons):
        events = [known.fewest([held.get(who, Counter()) for who in some], m) for some in classes]
        yield _least(f"known_events{suffix}", {"k": k, "events": m}, events)
        if linked.knows.rows:
            alike = [
                known.fewest_alike([frozenset(counts.get(who, {}).items()) for who in some])
                for some in classes
            ]
            yield _least(f"known_rows{suffix}", {"k": k}, alike)


def _classes(persons: Release) -> Iterator[tuple[str, list[list[int]]]]:
    """The persons of every class number, and of every set of equal quasi-identifiers."""
    label: Callable[[Row], Hashable]
    for suffix, label in (("", lambda row: row.class_id), ("_tuples", lambda row: row.tuple)):
        found: dict[Hashable, dict[int, None]] = {}
        for row in persons.rows:
            if row.person is not None:
                found.setdefault(label(row), {})[row.person] = None
        yield suffix, [list(some) for some in found.values()]


def _least(name: str, required: Mapping[str, Figure], found: Sequence[int]) -> Check:
    """Whether k persons remain in every class, of which the fewest that may remain are given."""
    failing = sum(one < required["k"] for one in found)
    return Check(name, None, required, {"k": min(found, default=None)}, failing)


def _rules(child: _Child, persons: Release) -> Iterator[Check]:
    """The rules of the table's columns, in the classes of the persons."""
    row_of = {row.person: row for row in persons.rows if row.person is not None}
    rows = []
    for row, who in zip(child.release.rows, child.owners, strict=True):
        if who is not None:
            own = row_of[who]
            rows.append(replace(row, class_id=own.class_id, person=who, cells=own.cells))
    joined = replace(
        child.release,
        layout=replace(child.release.layout, class_id="class", person_id="person"),
        rows=tuple(rows),
    )
    for requirement in child.table.requirements:
        column = joined.layout.column(requirement.column)
        if column is None or column.role != "sensitive":
            raise UnreadableError(f"manifest.tables: {requirement.name}: names no such column")
        for check in judge_requirement(requirement, joined):
            yield _qualified(check, child.table)


def _qualified(check: Check, table: LinkedTable) -> Check:
    """The check with the table's name before the column's."""
    column = table.table if check.column is None else f"{table.table}.{check.column}"
    return replace(check, column=column)
