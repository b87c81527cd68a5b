"""The form of a release: classes, buckets, masks, and Safe Harbor."""

from __future__ import annotations

import datetime as dt
import re
import struct
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from anonymizer.independent.cells import FINITE, Ordered, Value, ValueFormError, family, read_value
from anonymizer.independent.layout import KINDS, RESTRICTED, Column, Layout, Mask, limit
from anonymizer.independent.rows import OpenRelease, Release, published_columns
from anonymizer.independent.rules import Check, form_check

# Whether the published values of masked columns have the form that their masks give them.
#
# Only what a release alone shows is judged: the form of tokens, codes, multiples, bounds,
# constants, and identifiers in text (mail, web, IP and MAC addresses, UUIDs, telephone numbers with
# a country, cards and bank accounts with their check digits, social security numbers).


TOKENS = {
    "hex": re.compile(r"[0-9a-f]{64}"),
    "uuid": re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}"),
    "number": re.compile(r"[0-9]{1,18}"),
}


@dataclass(frozen=True, slots=True)
class Cells:
    """The published values of a column, as text, with the unit of each."""

    column: str
    sql_type: str
    values: tuple[str | None, ...]
    units: tuple[object, ...]

    def known_values(self) -> Iterator[str]:
        return (one for one in self.values if one is not None)

    def broken(self, holds: Callable[[str], bool]) -> int:
        """Count the values that do not satisfy the condition."""
        return sum(not holds(one) for one in self.known_values())


def judge_masks(masks: Iterable[Mask], cells: Cells) -> Iterator[Check]:
    """Check the published values of a column for each of its masks."""
    for mask in masks:
        found = _check_mask(mask, cells)
        if found is not None:
            name, broken = found
            yield form_check(name, cells.column, broken)


def _check_mask(mask: Mask, cells: Cells) -> tuple[str, int] | None:
    options = mask.options
    match mask.name:
        case "token":
            form = TOKENS.get(options["format"])
            if form is None:
                return None
            return "mask_form", cells.broken(lambda one: form.fullmatch(one) is not None)
        case "top_code" | "bottom_code":
            top = mask.name == "top_code"
            if "at_least" in options:
                return "mask_group", _missing(cells, options["at_least"], top=top)
            at = _end(options["at"], cells)
            return "mask_beyond", cells.broken(
                lambda one: as_number(one, cells) <= at if top else as_number(one, cells) >= at
            )
        case "round":
            return "mask_rounded", cells.broken(lambda one: _is_multiple(one, options["to"], cells))
        case "noise":
            if "between" not in options:
                return None
            low, high = (_end(end, cells) for end in options["between"])
            return "mask_between", cells.broken(lambda one: low <= as_number(one, cells) <= high)
        case "redact":
            kinds = options.get("patterns") or KINDS
            return "mask_patterns", cells.broken(lambda one: not any(identifiers(one, kinds)))
        case "zip3":
            few = options.get("restricted", RESTRICTED)
            return "mask_zip3", cells.broken(lambda one: is_area(one) and one not in few)
        case "null":
            return "mask_constant", sum(1 for _ in cells.known_values())
        case "constant":
            nulls = sum(one is None for one in cells.values)
            broken = cells.broken(lambda one: _is_constant(one, options["value"], cells))
            return "mask_constant", nulls + broken
    return None


def is_area(text: str) -> bool:
    """Return whether a text is a three-digit area."""
    return re.fullmatch("[0-9]{3}", text) is not None


NOWHERE: Ordered = (99, Fraction(0))
"""Stands for an invalid value; greater than every value."""


def as_number(text: str, cells: Cells) -> Ordered:
    """A value of the column as a number; NOWHERE if it is invalid for the column's type."""
    if family(cells.sql_type) not in ("whole", "decimal", "float", "time"):
        return NOWHERE
    try:
        # DuckDB omits the zero of decimals without whole digits
        value = read_value(re.sub(r"^(-?)\.", r"\g<1>0.", text), cells.sql_type)
    except ValueFormError:
        return NOWHERE
    assert isinstance(value, tuple)
    return (FINITE, _as_real(value[1], cells)) if value[0] == FINITE else value


def _as_real(number: Fraction, cells: Cells) -> Fraction:
    """The nearest number of the column's type, if that is floating-point."""
    if family(cells.sql_type) != "float":
        return number
    try:
        real = float(number)
        if cells.sql_type != "DOUBLE":
            (real,) = struct.unpack("<f", struct.pack("<f", real))
        return Fraction(real)
    except (OverflowError, ValueError):
        return number


def _end(value: Any, cells: Cells) -> Ordered:
    return FINITE, _as_real(limit(value), cells)


def _missing(cells: Cells, least: int, *, top: bool) -> int:
    """By how many rows (persons) the group at the code is too small."""
    there = [
        (as_number(one, cells), unit)
        for one, unit in zip(cells.values, cells.units, strict=True)
        if one is not None
    ]
    if not there:
        return 0
    code = (max if top else min)(value for value, _ in there)
    return max(0, least - len({unit for value, unit in there if value == code}))


def _is_multiple(text: str, to: Any, cells: Cells) -> bool:
    rank, number = as_number(text, cells)
    if rank != FINITE:
        return (rank, number) != NOWHERE
    if isinstance(to, str):
        return family(cells.sql_type) == "time" and is_first(number, to)
    step = Fraction(to)
    if family(cells.sql_type) != "float":
        return number % step == 0
    # if neighbouring numbers are further apart than multiples, each counts as a multiple
    digits = 50 if cells.sql_type == "DOUBLE" else 22
    if abs(number) >= step * 2**digits:
        return True
    return bool(abs(number - round(number / step) * step) <= abs(number) / 2**digits)


def is_first(seconds: Fraction, unit: str) -> bool:
    """Return whether a moment is the first one of its unit of time, in UTC."""
    if unit == "hour":
        return seconds % 3600 == 0
    if seconds % 86_400 != 0:
        return False
    days = int(seconds // 86_400)
    if unit == "week":
        return (days + 3) % 7 == 0  # 1970-01-01 was a Thursday
    # the calendar repeats after 400 years, which keeps dates in the range of Python
    date = dt.date(2000, 1, 1) + dt.timedelta((days - 10_957) % 146_097)
    first = {"year": (1,), "quarter": (1, 4, 7, 10)}.get(unit, range(1, 13))
    return unit == "day" or (date.day == 1 and date.month in first)


def _is_constant(text: str, value: Any, cells: Cells) -> bool:
    if isinstance(value, bool):
        return text == str(value).lower()
    if isinstance(value, str):
        return text == value
    return as_number(text, cells) == _end(value, cells)


_MAIL = re.compile(r"[^\s@<>,;:\"'()]@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}")
_URL = re.compile(r"(?:https?|ftp)://[^ ]")
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_START, _STOP = r"(?<![0-9A-Za-z])", r"(?![0-9A-Za-z])"
_FORMS = {
    "mail": _MAIL,
    "url": _URL,
    "uuid": re.compile(
        rf"{_START}[0-9a-fA-F]{{8}}(?:-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}{_STOP}"
    ),
    "mac": re.compile(rf"{_START}[0-9a-fA-F]{{2}}(?::[0-9a-fA-F]{{2}}){{5}}{_STOP}"),
    "ip": re.compile(rf"(?<![0-9A-Za-z.]){_OCTET}(?:\.{_OCTET}){{3}}(?![0-9A-Za-z.])"),
    "phone": re.compile(rf"{_START}\+[1-9][0-9 ]{{5,}}[0-9]{_STOP}"),
    "ssn": re.compile(
        r"(?<![0-9A-Za-z-])(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![0-9A-Za-z-])"
    ),
}
_CARD = re.compile(rf"{_START}[3-6][0-9]{{3}}(?:[ -]?[0-9]{{4}}){{3}}{_STOP}")
_ACCOUNT = re.compile(rf"{_START}[A-Z]{{2}}[0-9]{{2}}[A-Z0-9]{{11,30}}{_STOP}")


def identifiers(text: str, kinds: Collection[str]) -> Iterator[str]:
    """The kinds of identifiers in a text."""
    yield from (kind for kind, form in _FORMS.items() if kind in kinds and form.search(text))
    if "card" in kinds and any(_luhn(found[0]) for found in _CARD.finditer(text)):
        yield "card"
    if "iban" in kinds and any(_mod_97(found[0]) for found in _ACCOUNT.finditer(text)):
        yield "iban"


def _luhn(text: str) -> bool:
    digits = [int(sign) for sign in reversed(text) if sign.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _mod_97(text: str) -> bool:
    moved = text[4:] + text[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


# Whether a release contains no more than Safe Harbor allows, 45 CFR 164.514(b)(2)(i).
#
# What a column may contain follows from its declared content in the manifest. For generalized
# cells, bounds and members are judged.


OLDEST = 90
YEAR = 31_556_952
"""Seconds of an average year."""
FORMS = ("mail", "url", "uuid", "mac", "ssn")
"""Identifiers that are recognized by form alone."""
_DAY = re.compile(
    r"(?<![0-9])(?:(?:18|19|20)[0-9]{2}[-/.][01]?[0-9][-/.][0-3]?[0-9]"
    r"|[0-3]?[0-9][-/.][0-3]?[0-9][-/.](?:18|19|20)[0-9]{2})(?![0-9])"
)


def judge_safe_harbor(opened: OpenRelease, release: Release) -> Iterator[Check]:
    """One check per published column, if the layout says that Safe Harbor applies."""
    year = release.layout.safe_harbor
    if year is None:
        return
    for column in release.layout.columns:
        cells = _texts(opened, release, column)
        name, refused = _refusal_check(column, cells, year)
        broken = sum(map(refused, cells.known_values()))
        if column.quasi:
            broken += sum(
                any(refused(one) for one in row.cells[column.column].values) for row in release.rows
            )
        yield form_check(name, column.column, broken)


def _texts(opened: OpenRelease, release: Release, column: Column) -> Cells:
    """The values of a column that is published value by value."""
    values: tuple[str | None, ...] = ()
    if not column.quasi and column.column not in release.layout.tables:
        values = opened.texts(column)
    return Cells(column.column, column.sql_type, values, ())


def _refusal_check(column: Column, cells: Cells, year: int) -> tuple[str, Callable[[Value], bool]]:
    """The name of the check, and the condition for refused values."""
    last = column.masks[-1] if column.masks else None
    emptied = last is not None and last.name in ("null", "constant")

    def number(value: Value) -> Ordered:
        return as_number(value, cells) if isinstance(value, str) else value

    match column.safe_harbor:
        case "none":
            return (
                "safe_harbor_text",
                lambda one: (
                    isinstance(one, str)
                    and (_DAY.search(one) is not None or any(identifiers(one, FORMS)))
                ),
            )
        case "ages" if not emptied:
            return "safe_harbor_age", lambda one: number(one) > (FINITE, OLDEST)
        case "dates" | "birth" if not emptied:
            return "safe_harbor_year", lambda one: not _is_year(number(one), cells, year - OLDEST)
        case "geography" if not emptied:
            few = RESTRICTED if last is None else last.options.get("restricted", RESTRICTED)
            return (
                "safe_harbor_zip3",
                lambda one: not isinstance(one, str) or not is_area(one) or one in few,
            )
    kept = str(last.options.get("value")) if last is not None and last.name == "constant" else None
    shown = {"True": "true", "False": "false"}.get(str(kept), kept)
    return "safe_harbor_nothing", lambda one: one != shown


def _is_year(value: Ordered, cells: Cells, first: int) -> bool:
    rank, number = value
    if value == NOWHERE or rank != FINITE:
        return False
    if family(cells.sql_type) == "whole":
        return first <= number <= 2200
    # (the first day of a year is less than two days from a multiple of the average year)
    return is_first(number, "year") and number >= (first - 1970) * YEAR - 2 * 86_400


# The form of a release: structural checks of classes and buckets, whatever the guarantees.
#
# Each check counts its violations and holds if there are none.


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


def form(opened: OpenRelease, release: Release, keys: Collection[str] = ()) -> Iterator[Check]:
    """Every condition of form that the layout has; `keys` are additional columns of numbers."""
    layout = release.layout
    yield form_check("columns", None, _columns(opened, layout, keys))
    yield form_check("types", None, _types(opened, layout, keys))
    if opened.view is not None:
        yield form_check("view", None, 0 if _plain_view(opened) else 1)
    yield from _classes(release)
    yield from _cells(release)
    yield from _buckets(release)
    yield from _groups(release)
    yield from _masks(opened, release)
    yield from judge_safe_harbor(opened, release)
    for name, numbers in _numbers(release):
        yield form_check("dense", name, gaps(numbers) + release.numbers.get(name, 0))


def _masks(opened: OpenRelease, release: Release) -> Iterator[Check]:
    """Check that masked values published one by one have the form that their masks give them."""
    for column in release.layout.columns:
        if not column.masks or column.quasi or column.column in release.layout.tables:
            continue
        units = tuple(release.unit(row) for row in release.rows)
        cells = Cells(column.column, column.sql_type, opened.texts(column), units)
        yield from judge_masks(column.masks, cells)


def gaps(numbers: Iterable[int | None]) -> int:
    """Count the numbers that are missing from, or too many for, 1 to their count."""
    there = {one for one in numbers if one is not None}
    return len(set(range(1, len(there) + 1)) ^ there)


def _columns(opened: OpenRelease, layout: Layout, keys: Collection[str]) -> int:
    """Columns that are not in the layout, and duplicate columns."""
    listed = [(opened.rows.columns, {*published_columns(layout), *keys})]
    for name, table in opened.tables.items():
        if layout.counts is not None:
            listed.append((table.columns, {*layout.counts.witness_columns}))
            continue
        column = layout.column(name)
        assert column is not None
        listed.append((table.columns, {str(layout.group_id), str(column.name)}))
    return sum(
        sum(name not in known for name in there) + len(there) - len(set(there))
        for there, known in listed
    )


def _types(opened: OpenRelease, layout: Layout, keys: Collection[str]) -> int:
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
    """Return whether a type is the required one; a decimal without precision may have any."""
    if wanted.removesuffix("[]") == "DECIMAL":
        kind = _SIZES.sub("", kind)
    return _spaceless(kind) == _spaceless(wanted)


def _spaceless(kind: str) -> str:
    return kind.replace(", ", ",")


def _plain_view(opened: OpenRelease) -> bool:
    """Return whether the view only lists the columns of its frozen table, each once."""
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
    columns = [_form_plain(token).lower() for token in listed[::2]]
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
    return [_form_plain(token).lower() for token in tokens[::2]]


def _form_plain(token: str) -> str:
    return token[1:-1].replace('""', '"') if token.startswith('"') else token


def _classes(release: Release) -> Iterator[Check]:
    layout, rows = release.layout, release.rows
    if layout.person_id is not None:
        yield form_check("person_present", None, sum(row.person is None for row in rows))
    if layout.class_id is None:
        return
    yield form_check("class_present", None, sum(row.class_id is None for row in rows))
    cells = _several((row.class_id, row.tuple) for row in rows)
    yield form_check("class_cells", None, cells)
    if any(column.role == "semi" for column in layout.columns):
        dealt = (tuple(cell.form == "bucketed" for cell in row.cells.values()) for row in rows)
        flags = _several(zip((row.class_id for row in rows), dealt, strict=True))
        yield form_check("class_flags", None, flags)
    if layout.person_id is not None:
        classes = _several((row.person, row.class_id) for row in rows)
        yield form_check("person_class", None, classes)


def _cells(release: Release) -> Iterator[Check]:
    for column in release.layout.quasi:
        cells = [row.cells[column.column] for row in release.rows]
        malformed = sum(cell.form == "malformed" for cell in cells)
        yield form_check("cell_form", column.column, malformed)
        if column.like is not None:
            both = ((row.cells[column.like], row.cells[column.column]) for row in release.rows)
            yield form_check("cells_alike", column.column, _several(both))
        sets = column.kind == "categorical" and not (column.hierarchy or column.list_cells)
        if sets and column.grid is None:
            yield form_check("cell_star", column.column, _complete_sets(release, column))
    for column in release.layout.columns:
        if not column.quasi:
            wrong = release.malformed_values.get(column.column, 0)
            yield form_check("value_form", column.column, wrong)


def _complete_sets(release: Release, column: Column) -> int:
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
        yield form_check("cell_or_bucket", column.column, wrong)
        if release.layout.person_id is None:
            continue
        held = Counter((row.buckets[column.column], release.unit(row)) for row in release.rows)
        twice = {number for (number, _), n in held.items() if number is not None and n > 1}
        yield form_check("bucket_persons", column.column, len(twice))


def _groups(release: Release) -> Iterator[Check]:
    layout = release.layout
    if layout.group_id is None:
        return
    yield form_check("group_present", None, sum(row.group is None for row in release.rows))
    if layout.person_id is not None:
        groups = _several((row.person, row.group) for row in release.rows)
        yield form_check("person_group", None, groups)
    members = _distinct((row.group, release.unit(row)) for row in release.rows)
    for name, values in release.separate.items():
        sizes: Counter[Hashable] = Counter(one.group for one in values)
        different = sum(
            group is None or len(members.get(group, ())) != sizes[group]
            for group in {*members, *sizes}
        )
        yield form_check("group_sizes", name, different)


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
    """Count the first elements with more than one second element."""
    return sum(len(found) > 1 for found in _distinct(pairs).values())
