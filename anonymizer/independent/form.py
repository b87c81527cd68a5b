"""The form of a release: structural checks of classes and buckets, whatever the guarantees.

Each check counts its violations and holds if there are none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator

from anonymizer.independent.layout import Column, Layout
from anonymizer.independent.masked import Cells, judge_masks
from anonymizer.independent.release import Release, Row, published
from anonymizer.independent.result import Check, counted
from anonymizer.independent.rows import Opened
from anonymizer.independent.safe_harbor import judge_safe_harbor
from anonymizer.independent.values import Value

WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
TEXT, EXACT = "VARCHAR", "DECIMAL(38,0)"
IN_FILES = (
    (re.compile("U?HUGEINT"), (EXACT, TEXT)),
    (re.compile("TIMESTAMP_M?S"), ("TIMESTAMP", TEXT)),
    (re.compile("DATE|TIMESTAMP.*"), (TEXT,)),
    (re.compile("TIME WITH TIME ZONE|INTERVAL|BIT|BIGNUM|VARINT|GEOMETRY"), (TEXT,)),
)
"""Types that Parquet does not hold, or not with infinite values, and what a file has instead."""
_SIZES = re.compile(r"\([0-9]+, ?[0-9]+\)")
_TOKEN = re.compile(r'"(?:[^"]|"")*"|[^\s",.();]+|[,.();]')


def form(opened: Opened, release: Release, keys: Collection[str] = ()) -> Iterator[Check]:
    """Every condition of form that the layout has; `keys` are additional columns of numbers."""
    layout = release.layout
    yield counted("columns", None, _columns(opened, layout, keys))
    yield counted("types", None, _types(opened, layout, keys))
    if opened.view is not None:
        yield counted("view", None, 0 if _plain_view(opened) else 1)
    yield from _classes(release)
    yield from _cells(release)
    yield from _buckets(release)
    yield from _groups(release)
    yield from _masks(opened, release)
    yield from judge_safe_harbor(opened, release)
    for name, numbers in _numbers(release):
        yield counted("dense", name, gaps(numbers) + release.numbers.get(name, 0))


def _masks(opened: Opened, release: Release) -> Iterator[Check]:
    """Check that masked values published one by one have the form that their masks give them."""
    for column in release.layout.columns:
        if not column.masks or column.quasi or column.column in release.layout.tables:
            continue
        units = tuple(release.unit(row) for row in release.rows)
        cells = Cells(column.column, column.sql_type, opened.texts(column), units)
        yield from judge_masks(column.masks, cells)


def gaps(numbers: Iterable[int | None]) -> int:
    """How many numbers are missing from, or too many for, 1 to their count."""
    there = {one for one in numbers if one is not None}
    return len(set(range(1, len(there) + 1)) ^ there)


def _columns(opened: Opened, layout: Layout, keys: Collection[str]) -> int:
    """Columns that are not in the layout, and duplicate columns."""
    listed = [(opened.rows.columns, {*published(layout), *keys})]
    for name, table in opened.tables.items():
        column = layout.column(name)
        assert column is not None
        listed.append((table.columns, {str(layout.group_id), str(column.name)}))
    return sum(
        sum(name not in known for name in there) + len(there) - len(set(there))
        for there, known in listed
    )


def _types(opened: Opened, layout: Layout, keys: Collection[str]) -> int:
    """Columns whose type is not that of the layout."""
    wanted: dict[str, tuple[str, ...]] = {}
    for name in (layout.class_id, layout.person_id, layout.group_id, *keys):
        if name is not None:
            wanted[name] = WHOLE
    for column in layout.columns:
        for name, types in _types_of(column):
            wanted[name] = types
    wrong = 0
    for table in (opened.rows, *opened.tables.values()):
        for name, kind in zip(table.columns, table.types, strict=True):
            if kind is not None and name in wanted:
                types = wanted[name] if opened.frozen else tuple(_in_files(wanted[name]))
                wrong += not any(_is_type(kind, one) for one in types)
    return wrong


def _in_files(types: tuple[str, ...]) -> Iterator[str]:
    """The types, and those that a file has for them."""
    for own in types:
        yield own
        member = own.removesuffix("[]")
        for form, others in IN_FILES:
            if form.fullmatch(member):
                yield from (other + own[len(member) :] for other in others)


def _types_of(column: Column) -> Iterator[tuple[str, tuple[str, ...]]]:
    own = column.sql_type
    if column.name is not None:
        kind = "VARCHAR" if column.quasi else own
        yield column.name, (f"{own}[]" if column.list_cells else kind,)
    for name, kind in (
        (column.lo, own),
        (column.hi, own),
        (column.value, own),
        (column.nullable, "BOOLEAN"),
    ):
        if name is not None:
            yield name, (kind,)
    if column.bucket is not None:
        yield column.bucket, WHOLE


def _is_type(kind: str, wanted: str) -> bool:
    """Whether a type is the required one; a decimal without precision may have any."""
    if wanted.removesuffix("[]") == "DECIMAL":
        kind = _SIZES.sub("", kind)
    return _spaceless(kind) == _spaceless(wanted)


def _spaceless(kind: str) -> str:
    return kind.replace(", ", ",")


def _plain_view(opened: Opened) -> bool:
    """Whether the view only lists the columns of its frozen table, each once."""
    assert opened.view is not None
    if opened.frozen is None:
        return False
    tokens = _TOKEN.findall(opened.view.strip())
    if _TOKEN.sub("", opened.view).strip():
        return False
    words = [token.upper() if not token.startswith('"') else token for token in tokens]
    if words[:2] != ["CREATE", "VIEW"] or "AS" not in words:
        return False
    at = words.index("AS")
    name = _path(tokens[2:at])
    if name is None or words[at + 1 : at + 2] != ["SELECT"] or "FROM" not in words[at:]:
        return False
    source = len(words) - 1 - words[::-1].index("FROM")
    listed = tokens[at + 2 : source]
    rest = tokens[source + 1 :]
    if rest and rest[-1] == ";":
        rest = rest[:-1]
    if any(separator != "," for separator in listed[1::2]) or len(listed) % 2 == 0:
        return False
    columns = [_plain(token).lower() for token in listed[::2]]
    table = _path(rest)
    there = [column.lower() for column in opened.rows.columns]
    return (
        sorted(columns) == sorted(there)
        and table is not None
        and (
            table[-2:] == [part.lower() for part in opened.frozen]
            or table == [opened.frozen[1].lower()]
        )
    )


def _path(tokens: list[str]) -> list[str] | None:
    """The parts of a name, or None for anything else."""
    if len(tokens) % 2 == 0 or any(dot != "." for dot in tokens[1::2]):
        return None
    return [_plain(token).lower() for token in tokens[::2]]


def _plain(token: str) -> str:
    return token[1:-1].replace('""', '"') if token.startswith('"') else token


def _classes(release: Release) -> Iterator[Check]:
    layout, rows = release.layout, release.rows
    if layout.person_id is not None:
        yield counted("person_present", None, sum(row.person is None for row in rows))
    if layout.class_id is None:
        return
    yield counted("class_present", None, sum(row.class_id is None for row in rows))
    cells = _several((row.class_id, row.tuple) for row in rows)
    yield counted("class_cells", None, cells)
    if any(column.role == "semi" for column in layout.columns):
        flags = _several((row.class_id, _flags(row)) for row in rows)
        yield counted("class_flags", None, flags)
    if layout.person_id is not None:
        classes = _several((row.person, row.class_id) for row in rows)
        yield counted("person_class", None, classes)


def _flags(row: Row) -> tuple[bool, ...]:
    """Whether each cell is in a bucket."""
    return tuple(cell.form == "bucketed" for cell in row.cells.values())


def _cells(release: Release) -> Iterator[Check]:
    for column in release.layout.quasi:
        cells = [row.cells[column.column] for row in release.rows]
        malformed = sum(cell.form == "malformed" for cell in cells)
        yield counted("cell_form", column.column, malformed)
        sets = column.kind == "categorical" and not (column.hierarchy or column.list_cells)
        if sets:
            yield counted("cell_star", column.column, _unstarred(release, column))
    for column in release.layout.columns:
        if not column.quasi:
            wrong = release.malformed_values.get(column.column, 0)
            yield counted("value_form", column.column, wrong)


def _unstarred(release: Release, column: Column) -> int:
    """Sets that cover all values found in the column: such a set has to be written `*`.

    If `*` occurs, it may cover values that are found nowhere else.
    """
    cells = [row.cells[column.column] for row in release.rows]
    if any(cell.form == "any" for cell in cells):
        return 0
    seen: set[Value | None] = {value for cell in cells for value in cell.values}
    seen |= {row.values[column.column] for row in release.rows if column.column in row.values}
    seen.discard(None)
    return sum(cell.form == "set" and set(cell.values) >= seen for cell in cells)


def _buckets(release: Release) -> Iterator[Check]:
    for column in release.layout.columns:
        if column.bucket is None:
            continue
        wrong = release.contradicting.get(column.column, 0)
        yield counted("cell_or_bucket", column.column, wrong)
        if release.layout.person_id is None:
            continue
        held = Counter((row.buckets[column.column], release.unit(row)) for row in release.rows)
        twice = {number for (number, _), n in held.items() if number is not None and n > 1}
        yield counted("bucket_persons", column.column, len(twice))


def _groups(release: Release) -> Iterator[Check]:
    layout = release.layout
    if layout.group_id is None:
        return
    yield counted("group_present", None, sum(row.group is None for row in release.rows))
    if layout.person_id is not None:
        groups = _several((row.person, row.group) for row in release.rows)
        yield counted("person_group", None, groups)
    members = _distinct((row.group, release.unit(row)) for row in release.rows)
    for name, values in release.separate.items():
        sizes: Counter[Hashable] = Counter(one.group for one in values)
        different = sum(
            group is None or len(members.get(group, ())) != sizes[group]
            for group in {*members, *sizes}
        )
        yield counted("group_sizes", name, different)


def _numbers(release: Release) -> Iterator[tuple[str, Iterable[int | None]]]:
    layout = release.layout
    if layout.class_id is not None:
        yield layout.class_id, (row.class_id for row in release.rows)
    if layout.person_id is not None:
        yield layout.person_id, (row.person for row in release.rows)
    if layout.group_id is not None:
        yield layout.group_id, (row.group for row in release.rows)
    for column in layout.columns:
        if column.bucket is not None:
            yield column.bucket, [row.buckets[column.column] for row in release.rows]


def _distinct(pairs: Iterable[tuple[Hashable, Hashable]]) -> dict[Hashable, set[Hashable]]:
    found: dict[Hashable, set[Hashable]] = {}
    for one, other in pairs:
        found.setdefault(one, set()).add(other)
    return found


def _several(pairs: Iterable[tuple[Hashable, Hashable]]) -> int:
    """How many first elements have more than one second element."""
    return sum(len(found) > 1 for found in _distinct(pairs).values())
