"""Text in another encoding, and sheets, as a copy that the engine can read: CSV in UTF-8."""

from __future__ import annotations

import codecs
import csv
import datetime as dt
import gzip
import itertools
import re
import zipfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from anonymizer.errors import SourceError
from anonymizer.policy.paths import name_text
from anonymizer.policy.reading import ENCODINGS, Reading
from anonymizer.policy.values import PACKED, file_format
from anonymizer.source.files import last_bytes

AT_END = 1 << 16
"""Bytes at the end of a file that are looked at; an even number."""
TOTALS = re.compile(
    r"(?i)\W*(total|totals|sum|sums|grand total|summe|gesamt|gesamtsumme|insgesamt|somme|suma|"
    r"average|mean|count|mittel|mittelwert|durchschnitt|anzahl|moyenne|promedio|gemiddelde|średnia|"
    r"totale|somma|totaal|totalt|i alt|yhteensä|razem|celkem|összesen|toplam|итого|合計|总计)\b"
)
"""The beginning of a line that adds up others."""
SUMS = re.compile(r"[-+]?[0-9][0-9.,' \u00a0\u202f]*( ?[%€$£])?")
"""A number in a line that adds up others."""
OPEN_FORMULA = re.compile(
    rb'<c(?![^>]* t="str")[^>]*><f[^>]*?(/>|>[^<]*</f>)(<v\s*/>|<v></v>)?</c>'
)
"""A cell with a formula and no value; that of an empty text is none."""
FEWEST_COLUMNS = 3
"""Columns of a table in which a line with fewer cells may be a title."""
BLOCK = 1 << 22
"""Bytes that are read at once."""
OF_ONE_BYTE = frozenset(ENCODINGS) - {"utf-8", "utf-16", "utf-16-le", "utf-16-be"}
"""Encodings in which text in UTF-8 is read as other letters."""
EXTRA = "python -m pip install 'sql-anonymizer[excel]'"


def needs_copy(path: Path, read: Reading | None) -> bool:
    """Return whether the engine cannot read a file as it is."""
    if file_format(path.name) == "excel":
        return True
    if read is not None and (read.encoding != "utf-8" or read.skip_last > 0):
        return True
    of_lines = file_format(path.name) == "csv" and path.suffix.lower() != PACKED
    return of_lines and _ends_with_separators(path)


def _ends_with_separators(path: Path) -> bool:
    """Return whether the last line has separators only: it is no row."""
    last = last_bytes(path, AT_END).rstrip(b"\r\n").rpartition(b"\n")[2]
    return bool(last) and not last.strip(b"\r\n \t;,|")


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
    if not _is_sheet(path) and read.encoding in OF_ONE_BYTE and _is_unicode(path):
        said = f"has letters in utf-8, and the policy says {read.encoding}"
        raise SourceError.at("source.read.encoding", said, hint="utf-8, or the other file")
    left_out: list[Any] = []
    with target.open("w", encoding="utf-8", newline="") as handle:
        if _is_sheet(path):
            cells = sheet_rows(path, read.sheet, where, read.decimal)
            rows = _without_last(cells, read.skip_last, left_out)
            csv.writer(handle, lineterminator="\n").writerows(rows)
        else:
            with closing(open_text(path, read.encoding)) as text:
                lines = _lines(text, read.encoding, where)
                handle.writelines(_without_last(lines, read.skip_last, left_out))
    if left_out:
        _refuse_rows(left_out, target, read)


def _is_unicode(path: Path) -> bool:
    """Return whether all of a text is UTF-8, and some of it is not ASCII."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    strange = False
    with gzip.open(path) if path.suffix.lower() == PACKED else path.open("rb") as handle:
        try:
            while block := handle.read(BLOCK):
                strange |= not decoder.decode(block).isascii()
            decoder.decode(b"", final=True)
        except (UnicodeError, OSError, EOFError):  # (refused when it is read)
            return False
    return strange


def refuse_total(path: Path, read: Reading | None, where: str) -> None:
    """Raise SourceError if the last line that is read adds up others, and the policy does not say
    that it is a row.
    """
    read = read or Reading()
    if file_format(path.name) != "csv" or (
        "skip_last" in read.model_fields_set and not read.skip_last
    ):
        return
    lines = last_lines(path, read.encoding, read.skip_last + 1)
    for line in lines[: len(lines) - read.skip_last]:
        sign = read.delimiter or next((one for one in ";\t|," if one in line), ",")
        row = [cell.strip() for cell in next(csv.reader([line], delimiter=sign), [])]
        if len(row) >= FEWEST_COLUMNS and any(row[1:]) and is_total(row, len(row)):
            said = "has, as its last row, a line that adds up others as it looks"
            more = read.skip_last + 1
            hint = f"source.read: {{skip_last: {more}}}; or if it is a row, skip_last: 0"
            raise SourceError.at(where, said, hint=hint)


def _refuse_rows(left_out: Sequence[Any], copy: Path, read: Reading) -> None:
    """Raise SourceError if a line that is left out after the table looks like a row of it."""
    sign = read.delimiter or ","
    with copy.open(encoding="utf-8", newline="") as text:
        head = next(csv.reader(itertools.islice(text, read.skip, None), delimiter=sign), [])
    above = next(csv.reader(last_lines(copy, "utf-8", 1), delimiter=sign), [])
    for one in left_out:
        row = next(csv.reader([one], delimiter=sign), []) if isinstance(one, str) else one
        row = [cell.strip() for cell in row]
        if sum(map(bool, row)) > len(head) / 2 and not is_total(row, len(head)):
            said = "leaves out a line that looks like a row"
            hint = "only lines after the table, such as a total"
            raise SourceError.at("source.read.skip_last", said, hint=hint)
        if isinstance(one, str) and not is_total(row, len(head)) and _begins_as(row, above):
            said = "leaves out a line that looks like the beginning of a row: was the file cut off?"
            raise SourceError.at("source.read.skip_last", said, hint="copy the file again")


def _begins_as(row: Sequence[str], above: Sequence[str]) -> bool:
    """Return whether cells have the forms of the first ones of the row above; the last may be cut
    off. A word alone shows nothing: it may be a note.
    """
    *whole, last = [*map(_form, row)] or [""]
    forms = [_form(cell.strip()) for cell in above]
    if not last.strip() or len(forms) < len(row):
        return False
    as_above = all(
        "" in (one, form) or one == form for one, form in zip(whole, forms, strict=False)
    )
    digits = [one != "a" for one in (last, forms[len(whole)])]
    return as_above and digits[0] == digits[1] and (bool(whole) or last == forms[0] == "9")


def _form(cell: str) -> str:
    """A cell with a nine for each of its numbers; `a` for words, nothing for an empty one."""
    if not any(map(str.isdigit, cell)):
        return "a" if cell else ""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", cell))


def is_total(row: Sequence[str], cells: int) -> bool:
    """Return whether a row adds up others, or is a note below them: a word for a total and numbers,
    or one cell alone in a row of many.
    """
    filled = [cell for cell in row if cell]
    if len(row) == cells >= FEWEST_COLUMNS and len(filled) == 1:
        return True
    first, *others = filled or [""]
    return bool(TOTALS.match(first)) and all(map(SUMS.fullmatch, others))


def _is_sheet(path: Path) -> bool:
    return file_format(path.name) == "excel"


def open_text(path: Path, encoding: str, errors: str = "strict") -> IO[str]:
    """Open a text file, which may be packed."""
    codec = ENCODINGS[encoding]
    if path.suffix.lower() == PACKED:
        return gzip.open(path, "rt", encoding=codec, errors=errors, newline="")
    return path.open(encoding=codec, errors=errors, newline="")


def _lines(text: IO[str], encoding: str, where: str) -> Iterator[str]:
    try:
        yield from text
    except UnicodeError:
        said = f"is not text in {encoding}"
        hint = f"source.read: {{encoding: …}}, one of {', '.join(ENCODINGS)}"
        raise SourceError.at(where, said, hint=hint) from None
    except (OSError, EOFError):
        said = "cannot be unpacked"
        raise SourceError.at(where, said, hint="write or copy the file again") from None


def _without_last(items: Iterable[Any], number: int, left_out: list[Any]) -> Iterator[Any]:
    """All but the last items that are not empty, which are `left_out`, and what is after them."""
    waiting: deque[Any] = deque()
    filled = 0
    for item in items:
        waiting.append(item)
        filled += _filled(item)
        while filled > number:
            first = waiting.popleft()
            filled -= _filled(first)
            yield first
    left_out += filter(_filled, waiting)


def _filled(item: Any) -> bool:
    """True for a line, or the cells of a row, with anything in it."""
    return bool(item.strip("\r\n \t;,|") if isinstance(item, str) else any(item))


def sheet_rows(
    path: Path, sheet: str | None, where: str, decimal: str = "."
) -> Iterator[Sequence[str]]:
    """The cells of a sheet as text, its numbers with this decimal sign. Raises SourceError if it
    cannot be read.
    """
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
        found = book.get_sheet_by_name(sheet or names[0])
        rows = found.to_python()
    except (python_calamine.CalamineError, IndexError, OSError):
        said = "is no workbook that can be read"
        raise SourceError.at(where, said, hint="write it again, or save it as CSV") from None
    # (a sheet may have empty rows and columns around its table)
    filled = [row for row in rows if any(cell not in ("", None) for cell in row)]
    if not filled and sheet is None and len(names) > 1:
        hint = f"source.read: {{sheet: {name_text(names[1])}}}"
        raise SourceError.at(where, "is a workbook whose first sheet is empty", hint=hint)
    if path.suffix.lower() == ".xlsx" and _has_open_formulas(path):
        said = "has formulas without their values: the program that wrote it has not computed them"
        raise SourceError.at(where, said, hint="open it in a spreadsheet program, and save it")
    return ([_cell(cell, decimal) for cell in row] for row in filled)


def _has_open_formulas(path: Path) -> bool:
    """Return whether a formula of any sheet has no value."""
    with zipfile.ZipFile(path) as parts:
        sheets = (n for n in parts.namelist() if n.startswith("xl/worksheets/sheet"))
        return any(OPEN_FORMULA.search(parts.read(name)) for name in sheets)


def _cell(value: Any, decimal: str) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            whole = value.is_integer() and abs(value) <= 2**53
            return str(int(value)) if whole else repr(value).replace(".", decimal)
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
            return [line.rstrip("\r\n") for line in deque((x for x in text if _filled(x)), number)]
    codec = ENCODINGS[encoding]
    if encoding == "utf-16":
        with path.open("rb") as handle:
            codec = "utf-16-be" if handle.read(2) == codecs.BOM_UTF16_BE else "utf-16-le"
    lines = last_bytes(path, AT_END).decode(codec, "replace").splitlines()
    return [line for line in lines if _filled(line)][-number:]
