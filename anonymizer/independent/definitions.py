"""The guarantees of a manifest, each judged by its definition in every group of rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from pydantic import TypeAdapter

from anonymizer.independent import frequencies, persons
from anonymizer.independent.cells import (
    Cell,
    CellError,
    Value,
    ValueFormError,
    read_node,
    read_text_cell,
    read_value,
)
from anonymizer.independent.fetch import Table, UnreadableError
from anonymizer.independent.layout import Column, Layout, Requirement, Text, validate
from anonymizer.independent.rows import Release, Row
from anonymizer.independent.rules import (
    Check,
    Figure,
    Group,
    Record,
    Rule,
    Terms,
    group_by_label,
    lower,
    upper,
)

# The guarantees of a manifest, each judged by its definition in every group of rows.
#
# Guarantees of classes are judged twice: per class number, and (`…_tuples`) per set of rows whose
# published quasi-identifiers are equal, which is what a recipient sees.


Model: TypeAlias = Callable[[Terms, Sequence[Group], str], Rule]
OF_TABLE: dict[str, Model] = {
    "k_anonymity": frequencies.k_anonymity,
    "ir_k": frequencies.k_anonymity,
}
OF_COLUMN: dict[str, Model] = {
    "distinct_l": frequencies.distinct_l,
    "m_unique": frequencies.distinct_l,
    "entropy_l": frequencies.entropy_l,
    "recursive_cl": frequencies.recursive_cl,
    "t_closeness": frequencies.t_closeness,
    "alpha": frequencies.alpha,
    "alpha_k": frequencies.alpha_k,
    "beta_likeness": frequencies.beta_likeness,
    "delta_disclosure": frequencies.delta_disclosure,
    "level_l": frequencies.level_l,
    "ir_kl": persons.ir_kl,
    "ir_alpha_beta": persons.ir_alpha_beta,
    "eir_l": persons.eir_l,
    "eir_alpha_beta": persons.eir_alpha_beta,
}
OF_PERSONS = ("ir_k", "ir_kl", "ir_alpha_beta", "eir_l", "eir_alpha_beta")


def judge_requirement(requirement: Requirement, release: Release) -> Iterator[Check]:
    """Every check of one requirement. Raises UnreadableError if it cannot be judged."""
    layout = release.layout
    model = OF_TABLE.get(requirement.name) or OF_COLUMN.get(requirement.name)
    if model is None:
        raise UnreadableError(f"manifest.requirements: {requirement.name!r} is not known")
    if requirement.name in OF_PERSONS and layout.person_id is None:
        raise UnreadableError(f"{requirement.name}: counts persons, whom the release does not tell")
    column = layout.column(requirement.column)
    if (column is None) != (requirement.name in OF_TABLE):
        raise UnreadableError(f"manifest.requirements: {requirement.name}: names no such column")
    if requirement.scope == "group" and requirement.name == "distinct_l":
        model = frequencies.frequency_l
    for suffix, groups in groupings(requirement, release):
        sql_type = column.sql_type if column is not None else ""
        rule = model(Terms(requirement), groups, sql_type)
        yield _check(f"{requirement.name}{suffix}", requirement, rule, groups)
        # buckets of l distinct values, and m-invariance
        in_bucket = requirement.scope == "bucket" and requirement.name == "distinct_l"
        if not suffix and (in_bucket or requirement.name == "m_unique"):
            own = frequencies.unique(Terms(requirement), groups, sql_type)
            yield _check("bucket_unique", requirement, own, groups)


def judge_among(
    requirement: Requirement, release: Release, left: Mapping[Hashable, Iterable[frozenset[int]]]
) -> Iterator[Check]:
    """Like `judge_requirement`, if only the persons in one of the sets in `left` remain of a class.

    A set of persons without any row is not a group of the column.
    """
    column = release.layout.column(requirement.column)
    model = OF_COLUMN.get(requirement.name)
    if column is None or model is None:
        raise UnreadableError(f"{requirement.name}: cannot be judged of some persons")
    for suffix, groups in groupings(requirement, release):
        rule = model(Terms(requirement), groups, column.sql_type)
        some = (
            Group(group.label, tuple(one for one in group.records if one[0] in persons))
            for group in groups
            for persons in left[group.label]
        )
        among = [group for group in some if group.records]
        yield _check(f"known_{requirement.name}{suffix}", requirement, rule, among)


def groupings(
    requirement: Requirement, release: Release
) -> Iterator[tuple[str, tuple[Group, ...]]]:
    """The groups of the requirement's scope, each with a suffix for the check's name."""
    layout = release.layout
    column = layout.column(requirement.column)
    if requirement.scope == "group":
        if column is None or column.column not in release.separate:
            raise UnreadableError(f"{requirement.name}: the release has no groups to judge")
        rows = enumerate(release.separate[column.column])
        yield "", group_by_label((one.group, (place, one.value)) for place, one in rows)
    elif requirement.scope == "bucket":
        if column is None or column.bucket is None:
            raise UnreadableError(f"{requirement.name}: the release has no buckets to judge")
        yield "", group_by_label(_in_buckets(release, column))
    else:
        if column is not None and (column.role == "semi" or column.column in release.separate):
            raise UnreadableError(f"{requirement.name}: its column has no value in every row")
        if layout.class_id is not None:
            yield (
                "",
                group_by_label((row.class_id, record) for row, record in _records(release, column)),
            )
        elif requirement.name not in OF_TABLE:
            raise UnreadableError(f"{requirement.name}: the release has no classes to judge")
        yield (
            "_tuples",
            group_by_label((row.tuple, record) for row, record in _records(release, column)),
        )


def _records(release: Release, column: Column | None) -> Iterator[tuple[Row, Record]]:
    for row in release.rows:
        value = None if column is None else row.values.get(column.column)
        yield row, (release.unit(row), value)


def _in_buckets(release: Release, column: Column) -> Iterator[tuple[Hashable, Record]]:
    for row in release.rows:
        bucket = row.buckets[column.column]
        if bucket is not None:
            yield bucket, (release.unit(row), row.values[column.column])


def _check(name: str, requirement: Requirement, rule: Rule, groups: Sequence[Group]) -> Check:
    found = [rule.judge(group) for group in groups]
    achieved: dict[str, Figure | None] = {
        figure: worst(one.achieved[figure] for one in found) if found else None
        for figure, worst in rule.worst.items()
    }
    failing = [one for one in found if not one.holds]
    return Check(
        name,
        requirement.column,
        rule.required,
        achieved,
        len(failing),
        sum(one.empty for one in failing),
        rule.reason,
    )


# k-map and delta-presence: published tuples compared with the population they come from.
#
# A member of the population matches a published tuple if every cell admits its value
# (docs/models.md). k-map (Sweeney 2001): at least k members match every tuple. delta-presence
# (Nergiz, Atzori and Clifton 2007): units of the tuple / members that match it is between min and
# max; a member that no tuple admits is in the table with probability 0, which violates a min above
# 0.
#
# The values below a node of a hierarchy are not published: with such a column neither is judged.


PARAMETERS = {"k_map": ("k",), "delta_presence": ("min", "max")}
"""The guarantees, and the parameters of each."""


@dataclass(frozen=True, slots=True)
class Members:
    """The distinct tuples of the population, and the number of members with each."""

    counts: tuple[tuple[tuple[Value | None, ...], int], ...]


def members(table: Table, layout: Layout, person: str | None) -> Members:
    """Tuples of the population's quasi-identifiers; with a person column, persons are counted."""
    places = {name: i for i, name in enumerate(table.columns)}
    wanted = [one.column for one in layout.quasi]
    missing = [name for name in [*wanted, *([person] if person else [])] if name not in places]
    if missing:
        raise UnreadableError(f"--population: has no column {missing[0]!r}")
    found: dict[tuple[Value | None, ...], set[object]] = {}
    for number, row in enumerate(table.rows):
        values: list[Value | None] = []
        for column in layout.quasi:
            text = row[places[column.column]]
            try:
                values.append(None if text is None else read_value(str(text), column.sql_type))
            except ValueFormError:
                said = f"--population: {column.column!r} has values of another type"
                raise UnreadableError(said) from None
        who: object = number
        if person is not None:
            who = row[places[person]]
            if who is None:
                continue
        found.setdefault(tuple(values), set()).add(who)
    return Members(tuple((values, len(who)) for values, who in found.items()))


def judge_population(terms: Terms, release: Release, population: Members) -> Check:
    """Judge every published tuple, and for delta-presence every member."""
    units: dict[tuple[Cell, ...], set[int]] = {}
    for row in release.rows:
        unit = release.unit(row)
        units.setdefault(row.tuple, set()).update(() if unit is None else (unit,))
    matching = {
        cells: sum(n for values, n in population.counts if _admits(cells, values))
        for cells in units
    }
    name = terms.requirement.name
    if name == "k_map":
        k = terms.integer("k")
        failing = sum(n < k for n in matching.values())
        return Check(name, None, {"k": k}, {"k": min(matching.values())}, failing)
    low, high = terms.number("min"), terms.number("max")
    shares: list[Figure] = [
        Fraction(len(who), matching[cells]) if matching[cells] else float("inf")
        for cells, who in units.items()
    ]
    failing = sum(not within(low, share, high) for share in shares)
    least: Figure = min(shares)
    if low:
        absent = sum(
            not any(_admits(cells, values) for cells in units) for values, _ in population.counts
        )
        failing += absent
        least = 0 if absent else least
    achieved = {"min": least, "max": max(shares)}
    return Check(name, None, {"min": low, "max": high}, achieved, failing)


def within(low: Fraction, share: Figure, high: Fraction) -> bool:
    """Return whether a share is within bounds, of which digits beyond the last are cut off."""
    return lower(low) <= share <= upper(high)


def _admits(cells: Sequence[Cell], values: Sequence[Value | None]) -> bool:
    return all(cell.admits(value) for cell, value in zip(cells, values, strict=True))


# Rules on event columns, whose cells are generalized: judged in the worst case they allow.
#
# The manifest lists sets of cells that admit one and the same value (`together`). A person with
# some of these cells may have the value of every set with one of them, and a rule has to hold
# whichever it is. Nothing of a cell that admits anything, or of which nothing is listed, is proved;
# nor of a cell whose own text says that it admits what another one does, if they are not listed
# together.


WHERE = "manifest.tables: a rule on an event column"


_TOGETHER = TypeAdapter(list[list[Text]])


def judge_event(
    requirement: Requirement, column: Column, cells: Sequence[Cell], release: Release
) -> Iterator[Check]:
    """Every check of a rule on an event column. Raises UnreadableError if it cannot be judged.

    `release`: the rows in the classes of their persons; `cells`: those of the column, row by row.
    """
    if requirement.name != "eir_l" or set(requirement.parameters) != {"l", "together"}:
        raise UnreadableError(f"{WHERE}: is not eir_l with the cells that admit one value")
    if column.kind != "categorical" or column.list_cells or column.name is None:
        raise UnreadableError(f"{WHERE}: is on cells that are not nodes")
    sets = [
        frozenset(_cell(label, column) for label in one)
        for one in validate(_TOGETHER, requirement.parameters["together"], WHERE)
    ]
    told = _set_numbers(set(cells), column, sets)
    held: dict[int | None, set[Cell]] = {}
    for row, cell in zip(release.rows, cells, strict=True):
        held.setdefault(row.person, set()).add(cell)
    rows = []
    for row in {row.person: row for row in release.rows}.values():
        some = {cell for cell in held[row.person] if cell.form != "null"}
        values = {one for cell in some for one in told[cell]} if some <= told.keys() else set()
        shown: list[str | None] = [*sorted(values)] or [None]
        rows += [replace(row, values={column.column: one}) for one in shown]
    judged = replace(column, role="sensitive", sql_type="VARCHAR", nullable=None)
    layout = replace(release.layout, columns=(judged,))
    plain = replace(requirement, parameters={"l": requirement.parameters["l"]})
    yield from judge_requirement(plain, replace(release, layout=layout, rows=tuple(rows)))


def _cell(label: str, column: Column) -> Cell:
    """The cell that is published as this label."""
    try:
        if column.nullable is not None:
            return read_node(label, "false")
        return read_text_cell(label, "categorical", column.sql_type, column.hierarchy)
    except CellError as error:
        raise UnreadableError(f"{WHERE}: names a cell that {error}") from None


def _set_numbers(
    cells: set[Cell], column: Column, sets: Sequence[frozenset[Cell]]
) -> dict[Cell, set[str]]:
    """The numbers of the sets of every cell that says no more than is listed of it."""
    places: dict[Cell, set[str]] = {}
    for number, one in enumerate(sets):
        for cell in one:
            places.setdefault(cell, set()).add(str(number))
    texts = {cell: _text(cell, column) for cell in cells if cell.form in ("exact", "node")}
    doubtful: set[Cell] = set()
    for cell, other in _overlapping(texts):
        if places.get(cell, set()).isdisjoint(places.get(other, set())):
            doubtful |= {cell, other}
    return {
        cell: places[cell]
        for cell, shown in texts.items()
        if cell in places
        and cell not in doubtful
        and not cell.nullable
        # (a typed node that is written as a set or an interval may overlap others)
        and not str(cell.values[0]).startswith(("{", "["))
    }


def _text(cell: Cell, column: Column) -> str:
    """The text of a node without quotes."""
    (label,) = cell.values
    if column.nullable is None or not isinstance(label, str):
        return str(label)
    try:
        (inner,) = read_text_cell(label, "categorical", "VARCHAR", hierarchy=True).values
    except (CellError, ValueError):
        return label
    return str(inner)


def _overlapping(texts: Mapping[Cell, str]) -> Iterator[tuple[Cell, Cell]]:
    """Cells of which one says by stars at an end of its text that it admits what the other is."""
    for strip, cut in ((str.rstrip, str.startswith), (str.lstrip, str.endswith)):
        stems: dict[str, list[Cell]] = {}
        for cell, shown in texts.items():
            stem = strip(shown, "*")
            if stem and stem != shown:
                stems.setdefault(stem, []).append(cell)
        lengths = sorted({len(stem) for stem in stems})
        for other, shown in texts.items():
            its = strip(shown, "*")
            for length in lengths:
                stem = its[:length] if cut is str.startswith else its[-length:]
                yield from ((one, other) for one in stems.get(stem, ()) if one != other)
