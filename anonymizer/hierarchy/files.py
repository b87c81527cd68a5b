"""Hierarchy files: CSV with `;` between levels, without header, one line per value (as ARX)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from anonymizer.errors import Problem, SourceError

SEPARATOR = ";"
QUOTED = re.compile(r'[;"\r\n\ufeff]')


def read(path: Path, where: str) -> tuple[list[list[str]], list[int]]:
    """The rows of a hierarchy file, and the line where each ends. Blank lines are skipped.

    Raises SourceError at `where` if the file is missing, not UTF-8, or not CSV.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise SourceError(Problem(where, f"there is no file {path.name}")) from None
    except OSError:
        raise SourceError(Problem(where, f"the file {path.name} cannot be read")) from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise SourceError(
            Problem(
                where,
                f"the file {path.name} is not UTF-8 (line {line})",
                hint="save it again as UTF-8",
            )
        ) from None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=SEPARATOR, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for row in reader:
            if row:
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error:
        raise SourceError(
            Problem(
                where,
                f"the file {path.name} is not CSV (line {reader.line_num})",
                hint='put a field that holds ; or " in double quotes, and double inner ones',
            )
        ) from None
    return rows, lines


def write(path: Path, rows: Iterable[Sequence[str]]) -> None:
    """Write rows of value and labels as a hierarchy file."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        for row in rows:
            handle.write(SEPARATOR.join(_field(cell) for cell in row) + "\n")


def _field(text: str) -> str:
    """Quote a field that a CSV reader could misread.

    This includes a byte order mark, which at the beginning of a file is not read as text.
    """
    if not QUOTED.search(text):
        return text
    return '"' + text.replace('"', '""') + '"'
