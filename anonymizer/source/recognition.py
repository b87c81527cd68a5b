"""Recognize how a text file or a sheet is meant: encoding, title, unknowns, dates, numbers.

What is recognized is written into a policy (`source.read`), where it is read and changed. Nothing
is guessed where two meanings fit: the draft then names both.
"""

from __future__ import annotations

import codecs
import csv
import gzip
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from anonymizer.compile import Sql, ident, join, lit, sql
from anonymizer.policy.reading import (
    CellType,
    ColumnType,
    DateForm,
    Decimal,
    Reading,
    Thousands,
)
from anonymizer.policy.values import PACKED, FrozenMap, file_format
from anonymizer.process.text import many
from anonymizer.source.cells import REAL, SPACES, YEAR, Ask, known_cells, number_form
from anonymizer.source.conversion import (
    FEWEST_COLUMNS,
    first_lines,
    is_total,
    last_lines,
    sheet_rows,
)
from anonymizer.source.files import DELIMITERS

LOOKED_AT = 200
"""Lines at the beginning from which the form of a file is recognized."""
BLOCK = 1 << 22
"""Bytes that are read at once."""
AT_END = 6
"""Lines at the end that may be no rows."""
_UNKNOWN = """
null none n/a na n.a. nan nil - -- --- – — . ? ?? unknown unk missing not*available not*known
k.a. k.a k.\u202fa. k.*a. ka keine*angabe keine*angaben ohne*angabe unbek. n.b. entfällt
unbekannt fehlt o.a. nicht*bekannt
inconnu inconnue n.c. nc n.d. nd non*renseigné non*renseignée nr
desconocido desconocida s/d s.d. sin*dato sin*datos no*consta
sconosciuto sconosciuta non*disponibile n.d
desconhecido desconhecida não*informado nao*informado s/i ignorado
onbekend n.v.t. nvt okänd ukjent ukendt tuntematon
nieznany nieznana brak brak*danych b.d. bd neznámý neznámé neuvedeno bilinmiyor
неизвестно нет*данных н/д 不明 未知 #n/a #nv #null! #value!
"""
UNKNOWN = frozenset(one.replace("*", " ") for one in _UNKNOWN.split())
"""Spellings of unknown, in lower case."""
DOTTED = " *-?[0-9]{1,3}([.][0-9]{3})* *"
"""Whole numbers, with points between groups of three digits."""
SIGNS: tuple[tuple[Decimal, Thousands], ...] = (
    (",", "."),
    (",", " "),
    (".", ","),
    (".", " "),
    (".", "'"),
)
"""Signs of decimals with those of thousands."""
DAYS = ("%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y.%m.%d")
NAMED = ("%d %b %Y", "%d-%b-%Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%Y%m%d")
CLOCKS = ("%H:%M:%S", "%H:%M")
ISO = "%Y-%m-%d"
"""The form that needs no word."""
OPTIONS: tuple[tuple[CellType, str], ...] = (("date", "dates"), ("time", "times"))
"""The types of dates, with the option of their form."""
DATE_LIKE = r" *[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}( [0-9:]+)? *"
AT_BEGINNING = 1 << 10
"""Bytes at the beginning that show two bytes a letter."""
CONTEXT = 100_000
"""Bytes beside the lines with letters that show what language it is."""
LETTERS = ("windows-1252", "windows-1250", "windows-1251", "mac-roman", "shift-jis", "gb18030")
"""Encodings that are looked for, the most frequent one first."""
ALIASES = {"macroman": "mac-roman", "cp932": "shift-jis", "shift_jis": "shift-jis"}
CLEARLY = 1.15
"""How much more likely than the most frequent encoding another one has to be."""
NEARLY = 0.9
"""Share of the records of the best separator by which another one may be it."""
ALMOST_ALL = 0.95
"""Share of the cells of a column from which the others are likely mistakes."""
FEWEST_DATES = 2
"""Cells by which a column is one of dates."""
WITH_UNIT = r" *[-+]?[0-9][0-9., '\x{00a0}\x{202f}]* ?(%|€|\$|£|CHF|EUR|USD|GBP|Euro|kg|cm|mm|km) *"
"""Numbers with the unit behind them, which are text to the engine."""
TWO_LETTERS = "[A-Z]{2}"
CODES = frozenset({"na", "nc", "nd", "nr", "ka", "bd", "unk"})
"""Spellings of unknown that may be codes, such as that of Namibia."""
SURELY_UNKNOWN = UNKNOWN - CODES - {"none"}
"""Spellings of unknown that are hardly values; "none" may be one, of a column of illnesses."""


@dataclass(frozen=True, slots=True)
class Recognized:
    """How a file is meant, with a note for each part of it."""

    read: Reading
    notes: tuple[str, ...] = ()
    separator: str | None = None
    """The sign between cells, which is stated where anything is."""
    spoilt: Mapping[str, str] = field(default_factory=dict)
    """Columns that are text for few of their cells, each with what is wrong."""


UNREAD = Recognized(Reading())
"""Nothing was recognized."""


@dataclass(slots=True)
class _Found:
    given: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    separator: str | None = None
    spoilt: dict[str, str] = field(default_factory=dict)

    @property
    def recognized(self) -> Recognized:
        return Recognized(Reading(**self.given), tuple(self.notes), self.separator)

    def spoil(self, name: str, why: str) -> None:
        self.spoilt[name] = f"stays text: {why}"
        self.notes.append(f"{name} {self.spoilt[name]}")

    def add(self, note: str, **given: Any) -> None:
        self.given |= given
        self.notes.append(note)


def recognize_form(path: Path) -> Recognized:
    """What a file shows before its cells are read: encoding, separator, title and total."""
    found = _Found()
    if file_format(path.name) == "excel":
        rows = [*sheet_rows(path, None, "TABLE")]
        _around(found, rows[:LOOKED_AT], rows[-AT_END:], max(map(len, rows), default=0))
        return found.recognized
    encoding = encoding_of(path)
    if encoding != "utf-8":
        found.add(f"its letters may be those of {encoding}: look at them", encoding=encoding)
    lines = first_lines(path, encoding, LOOKED_AT)
    sign, cells = _separator(lines)
    if sign is None:
        return found.recognized
    last = [_rows([line], sign)[0] for line in last_lines(path, encoding, AT_END)]
    _around(found, _rows(lines, sign), last, cells)
    found.separator = sign
    return found.recognized


def _around(
    found: _Found, first: Sequence[Sequence[str]], last: Sequence[Sequence[str]], cells: int
) -> None:
    """The lines around a table of so many columns.

    A title has one cell, or few in many columns. Only a word such as Total shows a total: a line
    with other cells may be a row that was cut off.
    """
    title = 0
    for row in first:
        filled = sum(map(bool, row))
        if filled > cells / 2 or (len(row) == cells and cells < FEWEST_COLUMNS):
            break
        title += 1
    if title >= len(first):
        return
    if title:
        found.add(f"{many(title, 'line')} before that of names: a title", skip=title)
    total = 0
    for row in reversed(last):
        if not is_total(row, cells):
            break
        total += 1
    if total and len(first) > total + title + 1:
        found.add(f"{many(total, 'line')} after the last row: a total", skip_last=total)


def encoding_of(path: Path) -> str:
    """UTF-8, if the file is, or is but for a part that was damaged or cut off; UTF-16, if it has
    zeros as that has; else what its letters look like.
    """
    opened = gzip.open if path.suffix.lower() == PACKED else open
    decoder = codecs.getincrementaldecoder("utf-8")()
    with opened(path, "rb") as handle, suppress(OSError, EOFError):  # (refused when it is read)
        first = handle.read(BLOCK)
        if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        if b"\0" in first[:AT_BEGINNING]:
            return _likely(first, ("utf-16-le", "utf-16-be")) or "utf-8"
        block = first
        try:
            while block:
                if not decoder.decode(block).isascii():
                    return "utf-8"  # (damaged, if the rest is not)
                block = handle.read(BLOCK)
        except UnicodeDecodeError as error:
            if not error.object[: error.start].isascii():
                return "utf-8"
            strange = b"\n".join(line for line in block.split(b"\n") if not line.isascii())
            return _likely(strange + block[:CONTEXT], LETTERS) or "latin-1"
    return "utf-8"


def _likely(text: bytes, encodings: Sequence[str]) -> str | None:
    """The encoding that a text is in, as its letters look; the first one if another one is hardly
    more likely; None if it is in none.
    """
    import chardet

    found = {
        ALIASES.get(one["encoding"].lower(), one["encoding"].lower()): one["confidence"]
        for one in chardet.detect_all(text, ignore_threshold=True, include_encodings=encodings)
        if one["encoding"] is not None
    }
    likely = max(found, key=lambda name: found[name], default=None)
    plain = encodings[0]
    return plain if plain in found and found[plain] * CLEARLY >= found[str(likely)] else likely


def _separator(lines: Sequence[str]) -> tuple[str | None, int]:
    """The sign by which most records have equally many cells, and how many.

    In numbers with decimal commas two signs may do: then it is that of the first line, which has
    names and no numbers.
    """
    found: list[tuple[int, bool, int, str]] = []
    for sign in DELIMITERS:
        rows = [row for row in _rows(lines, sign) if any(row)]
        counts = Counter(len(row) for row in rows if len(row) > 1)
        if counts:
            cells, n = counts.most_common(1)[0]
            found.append((n, len(rows[0]) == cells, cells, sign))
    if not found:
        return None, 0
    most = max(n for n, *_ in found)
    near = [one for one in found if one[0] >= NEARLY * most]
    _, _, cells, sign = max(near, key=lambda one: (one[1], one[0], one[2]))
    return sign, cells


def _rows(lines: Sequence[str], sign: str) -> list[list[str]]:
    """The cells of records, of which one may have several lines."""
    try:
        rows = list(csv.reader([f"{line}\n" for line in lines], delimiter=sign))
    except csv.Error:  # (a cell that is too long)
        return [[]]
    return [[cell.strip() for cell in row] for row in rows] or [[]]


def recognize_cells(
    read: Reading,
    columns: Sequence[tuple[str, str]],
    texts: Sql,
    ask: Ask,
    *,
    zeros: bool,
) -> Recognized:
    """What cells mean: spellings of unknown, dates and numbers. `columns`: with the type that each
    has without; `texts`: all cells as text; `zeros`: whether digits that begin with zero need a
    type to keep them.
    """
    found = _Found()
    names = [name for name, _ in columns]
    spelled = _unknowns(names, texts, ask)
    if spelled:
        listed = ", ".join(f"{n:,} cells are {spelling}" for spelling, n in spelled.items())
        found.add(f"unknown: {listed}", nulls=tuple(spelled))
    known = texts
    if spelled:
        cells = known_cells(names, tuple(spelled)).items()
        known = sql(
            "(select {c} from {t})",
            c=join(sql("{v} as {n}", v=value, n=ident(name)) for name, value in cells),
            t=texts,
        )
    text_like = [name for name, kind in columns if kind == "VARCHAR"]
    types: dict[str, ColumnType] = {}
    dotted = _dotted([n for n, kind in columns if kind in ("VARCHAR", "DOUBLE")], known, ask)
    types |= _numbers(found, text_like, dotted if zeros else (), known, ask)
    for name, n, all_cells in _nearly_numbers(text_like, known, ask):
        if name not in types:
            plain = sql("regexp_full_match({c}, {f})", c=ident(name), f=lit(REAL))
            found.spoil(name, _other_cells(plain, known, ask, (n, all_cells, "numbers")))
    for name in _of_form(WITH_UNIT, [n for n in text_like if n not in types], known, ask):
        found.spoil(name, "its numbers have a unit behind them: write them without")
    types |= _dates(found, [n for n, _ in columns if n not in types], dict(columns), known, ask)
    if zeros:
        types |= dict.fromkeys(_codes(text_like, types, known, ask), "text")
    else:
        mixed = [name for name, kind in columns if kind == "JSON"]
        types |= dict.fromkeys(_of_form(REAL, mixed, known, ask), "number")
    if types or found.given or read != UNREAD.read:
        # what the engine has found is stated too, so that the next file is read alike or refused
        typed: dict[str, ColumnType] = {"DATE": "date", "TIMESTAMP": "time", "BOOLEAN": "boolean"}
        types = {name: typed[kind] for name, kind in columns if kind in typed} | types
    given = {**found.given, **({"types": FrozenMap(types)} if types else {})}
    return Recognized(
        read.model_copy(update=given), tuple(found.notes), spoilt=FrozenMap(found.spoilt)
    )


def _unknowns(names: Sequence[str], texts: Sql, ask: Ask) -> dict[str, int]:
    """The spellings of unknown that occur, with their cells; those that may be codes are none where
    a column has many codes.
    """
    listed = join(lit(one) for one in sorted(UNKNOWN))
    each = " union all ".join(
        sql(
            "select {n} as name, {c} as cell, count(*) as n from {t} where {c} is not null"
            " group by 2",
            n=lit(number),
            c=ident(name),
            t=texts,
        ).text
        for number, name in enumerate(names)
    )
    text = (
        f"with cells as ({each}), codes as (select name,"
        f" sum(n) filter (where regexp_full_match(cell, '{TWO_LETTERS}')) > 0.5 * sum(n) as coded"
        " from cells group by 1)"
        " select c.cell, cast(sum(c.n) as bigint), bool_or(k.coded) from cells c join codes k using"
        f" (name) where lower(trim(c.cell)) in ({listed.text}) group by 1 order by 2 desc, 1"
    )
    return {
        str(cell): int(n)
        for cell, n, coded in ask(text)
        if not (coded and cell.strip().lower() in CODES)
    }


def _dotted(names: Sequence[str], texts: Sql, ask: Ask) -> list[str]:
    """The columns of whole numbers below a thousand, and others with a point before three digits:
    these may be thousands, or decimals.
    """
    if not names:
        return []
    counted = [
        sql(
            "count(*) filter (where not regexp_full_match({c}, {f})) = 0"
            " and count(*) filter (where contains({c}, '.')) > 0"
            " and count(*) filter (where not contains({c}, '.')) > 0"
            " and count(*) filter (where starts_with(ltrim({c}, ' -'), '0.')) = 0",
            c=ident(name),
            f=lit(DOTTED),
        )
        for name in names
    ]
    (row,) = ask(sql("select {c} from {t}", c=join(counted), t=texts).text)
    return [name for name, found in zip(names, row, strict=True) if found]


def _numbers(
    found: _Found, names: Sequence[str], dotted: Sequence[str], texts: Sql, ask: Ask
) -> dict[str, ColumnType]:
    """The columns of numbers with a decimal comma, or with signs of thousands: those with the signs
    of most; others stay text, and those that have two meanings. `dotted`: columns whose points may
    be thousands, which a decimal comma in another one shows.
    """
    tests = [test for signs in SIGNS for name in names for test in _number_tests(name, *signs)]
    rows = _counts(tests, names, texts, ask)
    known = dict(zip(names, rows[len(tests) :], strict=True))
    counted = zip(*[iter(rows[: len(tests)])] * 5, strict=True)
    fitting: dict[tuple[Decimal, Thousands], list[str]] = {}
    grouping: set[tuple[Decimal, Thousands]] = set()
    doubtful: dict[str, None] = {}
    for (signs, name), (fit, fractions, threes, groups, several) in zip(
        product(SIGNS, names), counted, strict=True
    ):
        decimal, thousands = signs
        if not known[name] or fit < known[name]:
            continue
        if decimal == "," and fractions * 2 > known[name]:
            unclear = threes == fractions and not (groups and thousands == " ")
        elif decimal == "." and groups:
            unclear = thousands == "," and not fractions and not several
        else:
            continue
        if unclear:
            doubtful[name] = None
            continue
        fitting.setdefault(signs, []).append(name)
        if groups:
            grouping.add(signs)
    surely = {name for fits in fitting.values() for name in fits}
    left = [name for name in dotted if name not in surely]
    if left and any(decimal == "," for decimal, _ in fitting):
        of_comma = {n: None for (d, _), fits in fitting.items() if d == "," for n in fits}
        fitting[",", "."] = [*of_comma, *left]
        grouping.add((",", "."))
        surely.update(left)
        left = []
    for name in left:
        found.notes.append(
            f"{name} may have thousands or decimals after its points: say types: {{{name}:"
            " number}, and for thousands decimal: ',' and thousands: '.' as well"
        )
    for name in doubtful:
        if name not in surely:
            found.notes.append(
                f"{name} may have thousands or decimals after its commas: say which, as decimal:"
                f" ',' or thousands: ',', and types: {{{name}: number}}"
            )
    texts_too: dict[str, ColumnType] = dict.fromkeys(left, "text")
    if not fitting:
        return texts_too
    best = max(fitting, key=lambda signs: (len(fitting[signs]), signs in grouping))
    decimal, thousands = best
    for name in sorted(surely.difference(fitting[best])):
        found.notes.append(f"{name} has numbers with other signs, and stays text")
    said = "a decimal comma" if decimal == "," else f"{thousands!r} between thousands"
    given: dict[str, Any] = {"decimal": ","} if decimal == "," else {}
    given |= {"thousands": thousands} if best in grouping else {}
    found.add(f"numbers with {said}: {', '.join(fitting[best])}", **given)
    return texts_too | dict.fromkeys(fitting[best], "number")


def _number_tests(name: str, decimal: Decimal, thousands: Thousands) -> Iterator[Sql]:
    """Whether a cell is a number with these signs, has a fraction, one of three digits, has signs
    of thousands, and several of them.
    """
    between = SPACES if thousands == " " else f"[{thousands}]"
    yield sql("regexp_full_match({c}, {f})", c=ident(name), f=lit(number_form(decimal, thousands)))
    for pattern in (
        f"[{decimal}][0-9]+ *$",
        f"[{decimal}][0-9]{{3}} *$",
        f"[0-9]{between}[0-9]{{3}}",
        f"[0-9]{between}[0-9]{{3}}{between}[0-9]{{3}}",
    ):
        yield sql("regexp_matches({c}, {p})", c=ident(name), p=lit(pattern))


def _counts(tests: Sequence[Sql], names: Sequence[str], texts: Sql, ask: Ask) -> list[int]:
    """The cells for which each test is true, and then those of each column that are not empty."""
    if not names:
        return []
    counted = [sql("count(*) filter (where {t})", t=test) for test in tests]
    counted += [sql("count({c})", c=ident(name)) for name in names]
    (row,) = ask(sql("select {c} from {t}", c=join(counted), t=texts).text)
    return [int(n) for n in row]


def _dates(
    found: _Found, names: Sequence[str], kinds: Mapping[str, str], texts: Sql, ask: Ask
) -> dict[str, ColumnType]:
    """The columns of dates in one form; where two forms fit all cells, none."""
    names = [n for n in names if kinds[n] in ("VARCHAR", "DATE", "TIMESTAMP")]
    days = [ISO, *DAYS, *NAMED]
    forms = [*days, *(f"{day} {clock}" for day in (ISO, *DAYS) for clock in CLOCKS)]
    tests = [_date_test(name, form) for form in forms for name in names]
    rows = _counts(tests, names, texts, ask)
    given = dict(zip(names, rows[len(tests) :], strict=True))
    fitting: dict[str, list[str]] = {}
    nearly: dict[str, tuple[int, str]] = {}
    for (form, name), n in zip(product(forms, names), rows, strict=False):
        if given[name] >= FEWEST_DATES and n == given[name]:
            fitting.setdefault(name, []).append(form)
        elif n >= ALMOST_ALL * given[name] and n > nearly.get(name, (0, ""))[0]:
            nearly[name] = n, form
    for name, (n, form) in nearly.items():
        if name not in fitting:
            other = given[name] - n, given[name], f"dates as {form}"
            found.spoil(name, _other_cells(_date_test(name, form), texts, ask, other))
    types: dict[str, ColumnType] = {}
    mixed = len({fits[0] for fits in fitting.values()}) > 1
    for kind, option in OPTIONS:
        of_kind = {
            name: fits
            for name, every in fitting.items()
            if (fits := [form for form in every if (form not in days) == (kind == "time")])
        }
        if of_kind:
            types |= _of_one_form(found, kind, option, of_kind, kinds, mixed=mixed)
    return types


def _date_test(name: str, form: str) -> Sql:
    """Whether a cell is a date in a form."""
    return sql(
        "(try_strptime(trim({c}), {f}) is not null and regexp_matches({c}, {y}))",
        c=ident(name),
        f=lit(form),
        y=lit(YEAR if form != "%Y%m%d" else "[0-9]{8}"),
    )


def _other_cells(test: Sql, texts: Sql, ask: Ask, counted: tuple[int, int, str]) -> str:
    """What a draft says of a column that stays text for few of its cells, those without `test`."""
    n, known, kind = counted
    ((first,),) = ask(
        f"select min(number) from (select {test} as fits, row_number() over () as number"
        f" from {texts}) where not fits"
    )
    said = many(n, "cell is none", "cells are none")
    where = f"the first in row {first:,} below the names"
    return f"{said} of {known:,}, and all others are {kind}: mend the file ({where})"


def _of_one_form(
    found: _Found,
    kind: CellType,
    option: str,
    fitting: Mapping[str, list[str]],
    kinds: Mapping[str, str],
    *,
    mixed: bool,
) -> dict[str, ColumnType]:
    """The columns of dates, or of times: those in the form of most, and those in one of their own;
    where two forms fit, text.

    `fitting`: the forms that fit all cells of a column. Another column may show which of two forms
    is meant. `mixed`: whether the file has dates in several forms.
    """
    sure = Counter(fits[0] for fits in fitting.values() if len(fits) == 1)
    best = sure.most_common(1)[0][0] if sure else None
    types: dict[str, ColumnType] = {}
    for name, fits in fitting.items():
        if best in fits:
            if str(best).startswith(ISO) and mixed:
                # (the engine would read all dates of the file in the form of others)
                types[name] = DateForm(**{kind: best})
            elif not str(best).startswith(ISO) or kinds[name] == "VARCHAR":
                types[name] = kind
            continue
        if len(fits) > 1:
            types[name] = "text"
            said = f"may be {' or '.join(fits)}: say which, as {option}: '{fits[0]}'"
            found.notes.append(f"{name} {said}, and types: {{{name}: {kind}}}")
        else:
            types[name] = DateForm(**{kind: fits[0]})
    chosen = [name for name, of in types.items() if of == kind]
    if best is not None and not best.startswith(ISO) and chosen:
        found.add(f"{kind}s as {best}: {', '.join(chosen)}", **{option: best})
    return types


def _nearly_numbers(names: Sequence[str], texts: Sql, ask: Ask) -> Iterator[tuple[str, int, int]]:
    """The columns of which few cells are no numbers: how many, and of how many."""
    plain = [sql("regexp_full_match({c}, {f})", c=ident(n), f=lit(REAL)) for n in names]
    rows = _counts(plain, names, texts, ask)
    for name, fit, known in zip(names, rows, rows[len(names) :], strict=False):
        if ALMOST_ALL * known <= fit < known:
            yield name, known - fit, known


def _of_form(pattern: str, names: Sequence[str], texts: Sql, ask: Ask) -> list[str]:
    """The columns whose cells all have a form."""
    tests = [sql("regexp_full_match({c}, {f})", c=ident(n), f=lit(pattern)) for n in names]
    rows = _counts(tests, names, texts, ask)
    known = rows[len(names) :]
    return [name for i, name in enumerate(names) if known[i] and rows[i] == known[i]]


def _codes(names: Sequence[str], types: Collection[str], texts: Sql, ask: Ask) -> list[str]:
    """The columns of digits that begin with zeros, which are no numbers."""
    left = _of_form("[0-9]+", [name for name in names if name not in types], texts, ask)
    zeros = [sql("bool_or(starts_with({c}, '0') and {c} <> '0')", c=ident(n)) for n in left]
    if not left:
        return []
    (row,) = ask(sql("select {z} from {t}", z=join(zeros), t=texts).text)
    return [name for name, found in zip(left, row, strict=True) if found]
