"""CSV files: how they are read, and those that are refused because they are not one table.

DuckDB guesses the dialect of a CSV file. If lines do not fit, it skips those before the first that
does, or reads a whole line as one cell: rows would be missing without a warning. Such a file is
refused. If a quote is not closed, or none is among the first lines, it takes quotes for letters;
then it is told that they are quotes. It takes the first line for a row if it looks like one, and
renames columns of equal names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from os import SEEK_END
from pathlib import Path
from typing import Any, NamedTuple

from anonymizer.compile import Sql, join, lit, sql
from anonymizer.errors import AnonymizerError, SourceError
from anonymizer.source.names import refuse_renamed
from anonymizer.source.text_types import kept_types

DELIMITERS = (",", ";", "\t", "|")
_ONE_CELL = (
    "columns = {'line': 'VARCHAR'}, header = false, delim = chr(1), quote = '', escape = '',"
    " comment = '', skip = 0, auto_detect = false, strict_mode = false, ignore_errors = true"
)
_NONE = "(empty)"
"""What DuckDB calls the quote of a file without any."""
_QUOTED = "quote = '\"'"
_MEND = "give every line as many cells as the line of column names, or write the file as Parquet"
_UNNAMED = "name it in the first line; pandas leaves out its index with to_csv(..., index=False)"
_ENDING = 4096
_PART_OF_LETTER = re.compile(
    rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z"
)
"""The first bytes of a letter in UTF-8, without its last one."""

Ask = Callable[[str, str], Sequence[tuple[Any, ...]]]
"""Runs SQL for a path of the policy or an option, and returns its rows."""


class _Dialect(NamedTuple):
    """What the engine guesses of a CSV file."""

    skipped: int
    named: bool
    """Whether its first line has the names of the columns."""
    delimiter: str
    quote: str
    escape: str
    dates: str | None
    times: str | None
    """How dates and times are written, if the engine says so."""
    columns: list[str]
    types: list[str]


def refuse_cut_line(path: Path, where: str) -> None:
    """A text that ends within a letter or a line end, or with the zeros of an unwritten block."""
    ending = _last(path, _ENDING)
    cut = ending.endswith(b"\0\0") or (ending.endswith(b"\r") and b"\r\n" in ending)
    if cut or _PART_OF_LETTER.search(ending):
        hint = "write or copy the file again, as UTF-8"
        raise SourceError.at(where, "ends in the middle of a line: it was cut off", hint=hint)


def ends_within_line(path: Path) -> bool:
    """Whether no line end follows the last line of a file, as if it was cut off there."""
    return path.is_file() and _last(path, 1) not in (b"", b"\n", b"\r")


def _last(path: Path, size: int) -> bytes:
    with path.open("rb") as handle:
        handle.seek(-min(size, path.stat().st_size), SEEK_END)
        return handle.read()


def csv_arguments(file: str, ask: Ask, where: str) -> str:
    """The arguments to read a file with. Raises SourceError for a file that is not one table."""
    bare, seen = file, _dialect(file, ask, where)
    unquoted = seen.quote == _NONE
    if unquoted:
        file, several = f"{bare}, {_QUOTED}", len(seen.columns) > 1
        seen = _dialect(file, ask, where)
        if several and len(seen.columns) == 1:
            said = 'has a cell that begins with " and does not end with it: was it cut off?'
            raise SourceError.at(where, said, hint="close the quote, or write the file again")
    first = _first_left_out(bare, seen, ask, where) if seen.skipped else None
    if first is not None:
        told = _told(file, first, seen.delimiter, ask, where)
        if told is None:
            said = f"has lines before line {seen.skipped + 1:,} that do not fit those after it"
            raise SourceError.at(where, said, hint=f"{_MEND}; comments begin with #")
        file, seen = told
    if len(seen.columns) == 1 and unquoted and any(s in seen.columns[0] for s in DELIMITERS):
        said = "has lines with different numbers of cells, so that each would be one cell"
        raise SourceError.at(where, said, hint=_MEND)
    _refuse_other_names(bare, seen, ask, where)
    return file + _types(file, seen, ask, where)


def _types(file: str, seen: _Dialect, ask: Ask, where: str) -> str:
    """The argument with the types of columns whose values the guessed ones would not keep."""
    columns = list(zip(seen.columns, seen.types, strict=True))
    written = {"DATE": seen.dates, "TIMESTAMP": seen.times}
    formats = {sql_type: form for sql_type, form in written.items() if form}
    texts = Sql(f"read_csv({file}, all_varchar = true)")
    kept = kept_types(columns, texts, lambda text: ask(text, where), formats)
    types = join(sql("{n}: {t}", n=lit(name), t=lit(t)) for name, t in kept.items())
    return f", types = {{{types.text}}}" if kept else ""


def _first_left_out(file: str, seen: _Dialect, ask: Ask, where: str) -> str | None:
    """The first of the lines that would be skipped, unless all of them are comments or empty."""
    found = ask(
        "select line from (select line, row_number() over () as number"
        f" from read_csv({file}, {_ONE_CELL}) limit {lit(seen.skipped).text})"
        " where trim(line) <> '' and not starts_with(ltrim(line), '#') order by number limit 1",
        where,
    )
    return str(found[0][0]) if found else None


def _told(file: str, first: str, guessed: str, ask: Ask, where: str) -> tuple[str, _Dialect] | None:
    """How to read a file whose first line separates the names of columns by another sign.

    In `0,5;0,25` DuckDB takes the decimal comma for the separator. The first line has no numbers:
    a sign in it by which all lines fit is the separator.
    """
    for sign in DELIMITERS:
        if sign == guessed or sign not in first:
            continue
        tried = f"{file}, delim = {lit(sign).text}"
        with suppress(AnonymizerError):  # (not every line fits)
            seen = _dialect(tried, ask, where)
            if not seen.skipped and len(seen.columns) == first.count(sign) + 1:
                return tried, seen
    return None


def _dialect(file: str, ask: Ask, where: str) -> _Dialect:
    found = (
        'select "SkipRows", "HasHeader", "Delimiter", "Quote", "Escape",'
        ' "DateFormat", "TimestampFormat", list_transform("Columns", lambda c: c.name),'
        ' list_transform("Columns", lambda c: c.type)'
    )
    ((skipped, *others),) = ask(f"{found} from sniff_csv({file})", where)
    return _Dialect(int(skipped), *others)


def _refuse_other_names(file: str, seen: _Dialect, ask: Ask, where: str) -> None:
    """Raises SourceError unless the first line names every column, each in its own way."""
    columns = join(sql("{n}: 'VARCHAR'", n=lit(f"c{i}")) for i, _ in enumerate(seen.columns))
    signs = {"delim": seen.delimiter, "quote": seen.quote, "escape": seen.escape}
    options = "".join(
        f", {name} = {lit('' if sign == _NONE else sign).text}" for name, sign in signs.items()
    )
    first = ask(
        f"from read_csv({file}, columns = {{{columns.text}}}, auto_detect = false, header = false,"
        f" comment = '', nullstr = '', skip = {lit(seen.skipped).text}{options}) limit 1",
        where,
    )
    if not first:
        raise SourceError.at(where, "is empty", hint="write the file again")
    if not seen.named:
        hint = "its first line has to name the columns, with names that are no numbers"
        raise SourceError.at(where, "has no line of column names", hint=hint)
    refuse_renamed(first[0], seen.columns, where, unnamed=_UNNAMED)
