"""Text in another encoding, and sheets, as a copy that the engine can read: CSV in UTF-8."""

from __future__ import annotations

import codecs
import csv
import datetime as dt
import gzip
import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from anonymizer.errors import SourceError
from anonymizer.policy.reading import ENCODINGS, Reading
from anonymizer.policy.values import PACKED, file_format
from anonymizer.source.files import last_bytes

AT_END = 1 << 16
"""Bytes at the end of a file that are looked at; an even number."""
EXTRA = "python -m pip install 'sql-anonymizer[excel]'"


def needs_copy(path: Path, read: Reading | None) -> bool:
    """Return whether the engine cannot read a file as it is."""
    if file_format(path.name) == "excel":
        return True
    return read is not None and (read.encoding != "utf-8" or read.skip_last > 0)


def of_copy(path: Path, read: Reading | None) -> Reading:
    """How the copy of a file is read."""
    found = (read or Reading()).model_copy(
        update={"encoding": "utf-8", "skip_last": 0, "sheet": None}
    )
    return found.model_copy(update={"delimiter": ","}) if _is_sheet(path) else found


def write_copy(path: Path, read: Reading | None, target: Path, where: str) -> None:
    """Write a file as CSV in UTF-8, without the lines after its table. Raises SourceError for text
    in another encoding, and for a sheet that cannot be read.
    """
    read = read or Reading()
    with target.open("w", encoding="utf-8", newline="") as handle:
        if _is_sheet(path):
            rows = sheet_rows(path, read.sheet, where)
            csv.writer(handle, lineterminator="\n").writerows(_without_last(rows, read.skip_last))
            return
        with closing(open_text(path, read.encoding)) as text:
            handle.writelines(_without_last(_lines(text, read.encoding, where), read.skip_last))


def _is_sheet(path: Path) -> bool:
    return file_format(path.name) == "excel"


def open_text(path: Path, encoding: str, errors: str = "strict") -> IO[str]:
    """Open a text file, which may be packed."""
    codec = ENCODINGS[encoding]
    if path.suffix.lower() == PACKED:
        return gzip.open(path, "rt", encoding=codec, errors=errors, newline="")
    return path.open(encoding=codec, errors=errors, newline="")


def _lines(text: IO[str], encoding: str, where: str) -> Iterator[str]:
    number = 0
    try:
        for number, line in enumerate(text, 1):  # noqa: B007
            yield line
    except UnicodeError:
        said = f"is not text in {encoding}, after line {number:,}"
        hint = f"source.read: {{encoding: …}}, one of {', '.join(ENCODINGS)}"
        raise SourceError.at(where, said, hint=hint) from None
    except (OSError, EOFError):
        said = "cannot be unpacked"
        raise SourceError.at(where, said, hint="write or copy the file again") from None


def _without_last(items: Iterable[Any], number: int) -> Iterator[Any]:
    """All but the last items that are not empty, and what is after them."""
    waiting: deque[Any] = deque()
    filled = 0
    for item in items:
        waiting.append(item)
        filled += _filled(item)
        while filled > number:
            first = waiting.popleft()
            filled -= _filled(first)
            yield first


def _filled(item: Any) -> bool:
    """True for a line, or the cells of a row, with anything in it."""
    return bool(item.strip("\r\n \t;,|") if isinstance(item, str) else any(item))


def sheet_rows(path: Path, sheet: str | None, where: str) -> Iterator[Sequence[str]]:
    """The cells of a sheet as text. Raises SourceError if it cannot be read."""
    try:
        import python_calamine
    except ImportError:
        said = "is a sheet, and the library that reads sheets is not installed"
        raise SourceError.at(where, said, hint=EXTRA) from None
    try:
        book = python_calamine.CalamineWorkbook.from_path(str(path))
        names = list(book.sheet_names)
        if sheet is not None and sheet not in names:
            raise SourceError.at(where, "has no sheet of that name", hint="source.read.sheet")
        rows = book.get_sheet_by_name(sheet or names[0]).to_python()
    except (python_calamine.CalamineError, IndexError, OSError):
        said = "is no workbook that can be read"
        raise SourceError.at(where, said, hint="write it again, or save it as CSV") from None
    # (a sheet may have empty rows and columns around its table)
    filled = [row for row in rows if any(cell not in ("", None) for cell in row)]
    return ([_cell(cell) for cell in row] for row in filled)


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
        case dt.datetime():
            whole = value.time() == dt.time()
            return value.date().isoformat() if whole else value.isoformat(sep=" ")
    return str(value)


def first_lines(path: Path, encoding: str, number: int) -> list[str]:
    """The first lines of a text file, without their ends."""
    with closing(open_text(path, encoding, "replace")) as text:
        return [line.rstrip("\r\n") for line in itertools.islice(text, number)]


def last_lines(path: Path, encoding: str, number: int) -> list[str]:
    """The last lines of a text file that have anything in them."""
    if path.suffix.lower() == PACKED:
        with closing(open_text(path, encoding, "replace")) as text:
            return [line.rstrip("\r\n") for line in deque((x for x in text if x.strip()), number)]
    codec = ENCODINGS[encoding]
    if encoding == "utf-16":
        with path.open("rb") as handle:
            codec = "utf-16-be" if handle.read(2) == codecs.BOM_UTF16_BE else "utf-16-le"
    lines = last_bytes(path, AT_END).decode(codec, "replace").splitlines()
    return [line for line in lines if line.strip()][-number:]
