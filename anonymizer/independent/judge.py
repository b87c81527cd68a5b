"""Judge a release, of one table or of several: its form, then every guarantee."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

from anonymizer.independent import definitions
from anonymizer.independent import persons as known
from anonymizer.independent.cells import Cell
from anonymizer.independent.definitions import (
    OF_COLUMN,
    judge_among,
    judge_event,
    judge_requirement,
)
from anonymizer.independent.fetch import UnreadableError, read_file
from anonymizer.independent.form import form, gaps
from anonymizer.independent.grid import judge_grid
from anonymizer.independent.layout import CountsForm, Requirement
from anonymizer.independent.manifest import LinkedTable, LinkedTables
from anonymizer.independent.rows import (
    OpenRelease,
    Release,
    Row,
    decode,
    number,
    open_release,
    published_columns,
)
from anonymizer.independent.rules import (
    Check,
    Figure,
    Judgement,
    NotChecked,
    Terms,
    form_check,
)
from anonymizer.independent.tabulation import judge_counts

# Judges the tables of a release together: their keys, known rows of a person, and rules.
#
# Every row of a table belongs to the person that its keys lead to, and to the class of that person.


Numbers: TypeAlias = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Child:
    """A table of rows that belong to persons."""

    table: LinkedTable
    opened: OpenRelease
    release: Release
    keys: Mapping[str, Numbers]
    """The numbers of all rows, by key column."""
    owners: Numbers
    """The person of every row; None if its keys lead to no person."""

    @property
    def link(self) -> str:
        """The column that leads to the parent."""
        return next(iter(self.table.links))

    @property
    def parent(self) -> str:
        """The table that the rows link to."""
        return self.table.links[self.link]

    def cells(self, column: str) -> list[Cell]:
        """The cells of a column in the rows that lead to a person."""
        rows = zip(self.release.rows, self.owners, strict=True)
        return [row.cells[column] for row, who in rows if who is not None]

    def as_persons(self, persons: Release) -> Release:
        """Its rows in the classes of their persons, as if in one wide table."""
        row_of = {row.person: row for row in persons.rows}
        rows = []
        for row, who in zip(self.release.rows, self.owners, strict=True):
            if who is not None:
                own = row_of[who]
                rows.append(replace(row, class_id=own.class_id, person=who, cells=own.cells))
        layout = replace(self.release.layout, class_id="class", person_id="person")
        return replace(self.release, layout=layout, rows=tuple(rows))


def join_tables(opened: OpenRelease, linked: LinkedTables, persons: Numbers) -> tuple[Child, ...]:
    """The tables, parents before the tables that link to them. Raises UnreadableError."""
    owner = {linked.person.table: {key: key for key in persons if key is not None}}
    found = []
    for table in linked.children:
        own, release = _decode_table(opened, table)
        keys = {name: _column(own, name) for name in table.keys}
        ((link, parent),) = table.links.items()
        whose = tuple(None if to is None else owner[parent].get(to) for to in keys[link])
        if table.key is not None:
            owner[table.table] = {
                key: who
                for key, who in zip(keys[table.key], whose, strict=True)
                if key is not None and who is not None
            }
        found.append(Child(table, own, release, keys, whose))
    return tuple(found)


def _decode_table(opened: OpenRelease, table: LinkedTable) -> tuple[OpenRelease, Release]:
    """Decode one table like a release without classes and persons."""
    part = opened.linked.get(table.table)
    if part is None:
        raise UnreadableError("release: lacks a table of its manifest")
    layout = replace(opened.manifest.layout, columns=table.columns, class_id=None, person_id=None)
    missing = sorted(set(table.keys) - set(part.rows.columns))
    if missing:
        raise UnreadableError(f"release: lacks the column {missing[0]!r} of its manifest")
    if set(table.keys) & set(published_columns(layout)):
        raise UnreadableError("manifest.tables: one published column stands for two things")
    manifest = replace(opened.manifest, layout=layout, requirements=(), linked=None)
    own = OpenRelease(manifest, part.rows, {}, part.view, part.frozen)
    return own, decode(own)


def _column(opened: OpenRelease, name: str) -> Numbers:
    place = opened.rows.columns.index(name)
    return tuple(number(row[place]) for row in opened.rows.rows)


def lines(children: Sequence[Child]) -> dict[int, list[known.Line]]:
    """Each person's rows of tables with events, each with the rows above it."""
    held: dict[int, list[known.Line]] = {}
    above: dict[str, dict[int | None, known.Line]] = {}
    for child in children:
        name, key = child.table.table, child.table.key
        own = above.setdefault(name, {})
        links = child.keys[child.link]
        for place, (row, who) in enumerate(zip(child.release.rows, child.owners, strict=True)):
            shown = (name, row.tuple if child.table.events else ())
            line = (*above.get(child.parent, {}).get(links[place], ()), ((name, place), shown))
            if key is not None:
                own[child.keys[key][place]] = line
            if who is not None and child.table.events:
                held.setdefault(who, []).append(line)
    return held


def numbers_of_rows(children: Sequence[Child]) -> dict[int, Counter[str]]:
    """Count each person's rows in each table, without zeros."""
    found: dict[int, Counter[str]] = {}
    for child in children:
        for who in child.owners:
            if who is not None:
                found.setdefault(who, Counter())[child.table.table] += 1
    return found


def classes(persons: Release) -> Iterator[tuple[str, dict[Hashable, list[int]]]]:
    """The persons of every class number, and (`_tuples`) of equal quasi-identifiers."""
    label: Callable[[Row], Hashable]
    for suffix, label in (("", lambda row: row.class_id), ("_tuples", lambda row: row.tuple)):
        found: dict[Hashable, dict[int, None]] = {}
        for row in persons.rows:
            if row.person is not None:
                found.setdefault(label(row), {})[row.person] = None
        yield suffix, {one: list(some) for one, some in found.items()}


def judge_tables(opened: OpenRelease, linked: LinkedTables, persons: Release) -> Iterator[Check]:
    """All checks specific to a release of several tables. Raises UnreadableError."""
    own = tuple(row.person for row in persons.rows)
    yield form_check("key_dense", linked.person.table, _unfit(own) + gaps(own))
    children = join_tables(opened, linked, own)
    for child in children:
        yield from _keys(child, children, own)
        for check in form(child.opened, child.release, child.table.keys):
            yield _with_table_name(check, child.table)
    left: dict[Hashable, set[frozenset[int]]] = {}
    known_of = lines(children), numbers_of_rows(children)
    for suffix, of_class in classes(persons):
        yield from _check_knowledge(suffix, linked, list(of_class.values()), *known_of)
        if linked.knows.sensitive:
            left |= {
                one: _remaining_sets(linked, some, *known_of) for one, some in of_class.items()
            }
    for requirement in linked.person.requirements:
        yield from judge_requirement(requirement, persons)
    if linked.knows.sensitive:
        for requirement in (*opened.manifest.requirements, *linked.person.requirements):
            if requirement.name in OF_COLUMN:
                yield from judge_among(requirement, persons, left)
    for child in children:
        rows = child.as_persons(persons)
        for requirement in child.table.requirements:
            column = rows.layout.column(requirement.column)
            if column is not None and column.role == "event" and not linked.knows.sensitive:
                cells = child.cells(column.column)
                for check in judge_event(requirement, column, cells, rows):
                    yield _with_table_name(check, child.table)
                continue
            if column is None or column.role != "sensitive":
                raise UnreadableError(f"manifest.tables: {requirement.name}: names no such column")
            for check in judge_requirement(requirement, rows):
                yield _with_table_name(check, child.table)
            if linked.knows.sensitive:
                for check in judge_among(requirement, rows, left):
                    yield _with_table_name(check, child.table)


def _keys(child: Child, children: Sequence[Child], persons: Numbers) -> Iterator[Check]:
    """Check that every link is a key of its parent, and that keys are distinct numbers from 1."""
    table = child.table
    there: set[int | None] = set(persons)
    for one in children:
        if one.table.table == child.parent and one.table.key is not None:
            there = set(one.keys[one.table.key])
    astray = sum(to is None or to not in there for to in child.keys[child.link])
    yield form_check("references", f"{table.table}.{child.link}", astray)
    if table.key is not None:
        numbers = child.keys[table.key]
        # a key that is a link has the numbers of its parent; some may have no row here
        missing = 0 if table.key in table.links else gaps(numbers)
        yield form_check("key_dense", table.table, _unfit(numbers) + missing)


def _unfit(numbers: Numbers) -> int:
    """Keys that are missing, not numbers, or duplicates."""
    return sum(n if one is None else n - 1 for one, n in Counter(numbers).items())


def _check_knowledge(
    suffix: str,
    linked: LinkedTables,
    found: Sequence[Sequence[int]],
    held: Mapping[int, Sequence[known.Line]],
    counts: Mapping[int, Counter[str]],
) -> Iterator[Check]:
    """Check that at least k persons remain, whichever rows (or row counts) are known."""
    k, m = linked.k, linked.knows.events
    left = [min(n.bit_count() for n in _known_rows(linked, some, held)) for some in found]
    yield _least(f"known_events{suffix}", {"k": k, "events": m}, left)
    if linked.knows.rows:
        alike = [
            min(Counter(frozenset(counts.get(who, {}).items()) for who in some).values())
            for some in found
        ]
        yield _least(f"known_rows{suffix}", {"k": k}, alike)


def _remaining_sets(
    linked: LinkedTables,
    persons: Sequence[int],
    held: Mapping[int, Sequence[known.Line]],
    counts: Mapping[int, Counter[str]],
) -> set[frozenset[int]]:
    """The sets of remaining persons of a class, for everything that may be known of one of them."""
    found = {
        frozenset(who for place, who in enumerate(persons) if some >> place & 1)
        for some in _known_rows(linked, persons, held)
    }
    if linked.knows.rows:
        alike: dict[Hashable, set[int]] = {}
        for who in persons:
            alike.setdefault(frozenset(counts.get(who, {}).items()), set()).add(who)
        found |= {frozenset(some) for some in alike.values()}
    return found


def _known_rows(
    linked: LinkedTables, persons: Sequence[int], held: Mapping[int, Sequence[known.Line]]
) -> set[known.Persons]:
    """The sets of remaining persons of a class, whichever rows of one of them are known."""
    rows = [held.get(who, ()) for who in persons]
    if linked.knows.joined and any(len(line) > 1 for some in rows for line in some):
        return known.remaining_joined(rows, linked.knows.events)
    single = [Counter(line[-1][1] for line in some) for some in rows]
    return known.remaining(single, linked.knows.events)


def _least(name: str, required: Mapping[str, Figure], found: Sequence[int]) -> Check:
    """True if k persons remain in every class; `found` has the least number for each class."""
    failing = sum(one < required["k"] for one in found)
    return Check(name, None, required, {"k": min(found, default=None)}, failing)


def _with_table_name(check: Check, table: LinkedTable) -> Check:
    """The check with the table's name as a prefix of the column's."""
    column = table.table if check.column is None else f"{table.table}.{check.column}"
    return replace(check, column=column)


# Judge a release: its form, then every guarantee of its manifest.


NEEDED = "needs the population, which is not part of the release"
UNITS = "units"
UNSEEN = "needs the source, which only the run can see"
"""Why the units of a column that is not published are not judged."""


def judge(
    path: str | Path,
    view: str | None = None,
    *,
    population_file: str | Path | None = None,
    population_person: str | None = None,
) -> Judgement:
    """Judge a release file, an export, or a folder with one. Raises UnreadableError."""
    opened = open_release(Path(path), view)
    members = None
    if population_file is not None:
        table = read_file(Path(population_file))
        members = definitions.members(table, opened.manifest.layout, population_person)
    return judge_opened(opened, members)


def judge_opened(opened: OpenRelease, members: definitions.Members | None = None) -> Judgement:
    """Judge an opened release. Raises UnreadableError if there is nothing to judge."""
    manifest = opened.manifest
    if manifest.layout.counts is not None:
        return _judge_counts(opened, manifest.layout.counts)
    if not opened.rows.rows:
        raise UnreadableError("release: has no rows")
    if not manifest.requirements and not manifest.classless:
        raise UnreadableError("manifest.requirements: promise nothing")
    ungrouped = manifest.layout.class_id is None and manifest.layout.group_id is None
    if ungrouped and not manifest.classless:
        raise UnreadableError("manifest.layout: has neither classes nor groups")
    release = decode(opened)
    checks = [*form(opened, release), *judge_grid(release)]
    left: list[NotChecked] = []
    for requirement in manifest.requirements:
        if requirement.name in definitions.PARAMETERS:
            found = _of_population(requirement, release, members)
            if isinstance(found, Check):
                checks.append(found)
            else:
                left.append(found)
        elif requirement.name == UNITS:
            left.append(_of_source(requirement, release))
        else:
            checks += judge_requirement(requirement, release)
    if manifest.linked is not None:
        checks += judge_tables(opened, manifest.linked, release)
    if left and len(left) == len(manifest.requirements):
        raise UnreadableError(
            f"release: nothing can be judged ({left[0].reason}; --population FILE names it)"
        )
    told = tuple(checks), tuple(left)
    return Judgement(manifest.view, len(release.rows), *told, kind=manifest.kind)


CONTRIBUTIONS = "needs what everybody contributes, which only the run can see"


def _judge_counts(opened: OpenRelease, counts: CountsForm) -> Judgement:
    """Judge a table of counts, which has no rows if everything is left out."""
    manifest = opened.manifest
    noisy = counts.noise is not None
    lead, beside = ("differential_privacy", ()) if noisy else ("minimum", ("dominance", "groups"))
    required = [one for one in manifest.requirements if one.name not in beside]
    term = required[0].parameters if [one.name for one in required] == [lead] else {}
    minimum, epsilon = term.get("n"), term.get("epsilon")
    judged = type(minimum) is int and minimum >= 2
    if noisy:
        judged = isinstance(epsilon, Decimal) and epsilon > 0 and term.get("per_person") == 1
    ruled = any(one.name == "dominance" for one in manifest.requirements)
    if not judged or manifest.layout.class_id is not None:
        raise UnreadableError("manifest.requirements: are not those of a table of counts")
    if any(one.of == "sum" for one in counts.measures) and not ruled:
        raise UnreadableError("manifest.requirements: have no rule for sums")
    shares = {
        one.column: Terms(one).number("share")
        for one in manifest.requirements
        if one.name == "groups" and one.column is not None
    }
    if not {*shares} <= {d.name for d in counts.by}:
        raise UnreadableError("manifest.requirements: limit a column that is none of groups")
    named = {name for d in counts.by for name in (d.name, d.level)}
    named |= {one.name for one in counts.measures} | {counts.status}
    if named - {None} != {*published_columns(manifest.layout)}:
        raise UnreadableError("manifest.layout: has other columns than its counts")
    release = decode(opened)
    checks = (*form(opened, release), *judge_counts(opened, counts, minimum or 0, epsilon, shares))
    left = (NotChecked("dominance", CONTRIBUTIONS),) if ruled else ()
    return Judgement(manifest.view, len(opened.rows.rows), checks, left, kind=manifest.kind)


def _of_source(requirement: Requirement, release: Release) -> NotChecked:
    """A requirement on a column that the release must not show. Raises UnreadableError."""
    terms = Terms(requirement)
    terms.only("l")
    if requirement.column is None or release.layout.column(requirement.column) is not None:
        raise UnreadableError(f"{UNITS}: names no column, or one that is published")
    if terms.integer("l") < 2:
        raise UnreadableError(f"{UNITS}: asks for no two units")
    return NotChecked(UNITS, f"of {requirement.column} {UNSEEN}")


def _of_population(
    requirement: Requirement, release: Release, members: definitions.Members | None
) -> Check | NotChecked:
    terms = Terms(requirement)
    terms.only(*definitions.PARAMETERS[requirement.name])
    if members is None:
        return NotChecked(requirement.name, NEEDED)
    if any(one.hierarchy for one in release.layout.quasi):
        said = "needs the hierarchies of the columns, which the release does not hold"
        return NotChecked(requirement.name, said)
    return definitions.judge_population(terms, release, members)
