"""Hierarchies as files: reading, writing, and given hierarchies of a policy."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Protocol

from anonymizer.compile import Sql, Table, work
from anonymizer.errors import Problem, SourceError
from anonymizer.hierarchy import tree
from anonymizer.hierarchy.scale import FOLDER, Place, from_text
from anonymizer.hierarchy.sets import coverage_stages
from anonymizer.hierarchy.tree import check_wide, shape_problems
from anonymizer.policy.hierarchies import Taxonomy
from anonymizer.steps import Compute, Row, Stage, Step

# Hierarchy files: CSV with `;` between levels, without header, one line per value (as ARX).


SEPARATOR = ";"
QUOTED = re.compile(r'[;"\r\n\ufeff]')


def read_rows(path: Path, where: str) -> tuple[list[list[str]], list[int]]:
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


# Export and import of hierarchies: CSV in ARX's layout, and wide tables.
#
# Both contain the value followed by its label on every level, so a hierarchy can be built once,
# stored, edited and used by any policy as `hierarchy: {file: …}` or `hierarchy: {table: …}`.


class Engine(Protocol):
    """The required part of an engine: run a statement, fetch its rows."""

    def raw(self, text: str, where: str) -> list[tuple[Any, ...]]: ...


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of one level's columns in a wide table."""

    level: int
    label: str
    lo: str
    hi: str


def export_csv(engine: Engine, index: int, path: Path) -> int:
    """Write `hierarchy_<index>` as a hierarchy file; returns the number of values."""
    step = Step(
        f"hierarchy_{index}.export",
        f"{FOLDER}/export_rows",
        {"hierarchy": work(f"hierarchy_{index}")},
    )
    rows = engine.raw(step.statement().text, step.name)
    write(path, ([value, *labels] for value, labels in rows))
    return len(rows)


def export_table(index: int, height: int, target: Table, *, bounds: bool) -> Step:
    """The step that writes `target`: value, level_1 to level_h, and with `bounds` lo_N and hi_N."""
    levels = [
        Columns(level, f"level_{level}", f"lo_{level}", f"hi_{level}")
        for level in range(1, height + 1)
    ]
    return Step(
        f"hierarchy_{index}.export_table",
        f"{FOLDER}/wide_table",
        {
            "hierarchy": work(f"hierarchy_{index}"),
            "target": target,
            "levels": levels,
            "bounds": bounds,
        },
    )


def check(
    rows: Sequence[Sequence[str | None]], where: str, *, nested: bool = True
) -> list[Problem]:
    """Reasons why a wide table (value, level 1, ..., level h) is not a hierarchy."""
    found = shape_problems(rows, where)
    wide = [[str(cell) for cell in row] for row in rows]
    return found or check_wide(wide, where, nested=nested)


# Given hierarchies: from a file, or from a table of the source database.


COLUMNS = (
    ("value", "VARCHAR"),
    ("leaf", "BIGINT"),
    ("level", "INTEGER"),
    ("node", "BIGINT"),
    ("label", "VARCHAR"),
    ("leaves", "BIGINT"),
)


def taxonomy(
    place: Place, spec: Taxonomy, base: Path, resolve: Callable[[str], Table] | None
) -> tuple[Stage, ...]:
    """Stages for a taxonomy: a file is read and checked here, a table when the stages run.

    Columns of a table, in order: the value, then its levels. Columns named lo_N or hi_N, as in an
    exported table, are ignored.
    """
    listed = place.table("listed")
    option = "table" if spec.file is None else "file"
    if spec.file is not None:
        reading = _file(place, base / spec.file, listed, nested=spec.nested)
    else:
        reading = _table(place, str(spec.table), resolve, listed, nested=spec.nested)
    return (
        reading,
        # the check of the tree guarantees that its values differ as text
        *coverage_stages(place, listed, option=option, spellings=place.sql_type != "VARCHAR"),
        place.step(
            "listed",
            values=place.values,
            listed=listed,
            hierarchy=place.hierarchy,
            sql_type=Sql(place.sql_type),
            typed=from_text(Sql("value"), place.sql_type),
        ),
    )


def _file(place: Place, path: Path, listed: Table, *, nested: bool) -> Compute:
    where = f"{place.path}.file"
    rows, lines = read_rows(path, where)
    found: list[Row] = [node.row for node in tree.nodes(rows, where, lines, nested=nested)]

    def take(_: list[Row]) -> list[Row]:
        """The rows of the hierarchy's file, checked and numbered."""
        return found

    query = place.step("count_values", values=place.values)
    return Compute(query, take, listed, COLUMNS, given=True)


def _table(
    place: Place,
    name: str,
    resolve: Callable[[str], Table] | None,
    listed: Table,
    *,
    nested: bool,
) -> Compute:
    where = f"{place.path}.table"
    if resolve is None:
        raise SourceError(
            Problem(where, "there is no database to read it from", hint="use file instead")
        )

    def number(rows: list[Row]) -> list[Row]:
        """Check the taxonomy's rows and number its leaves and nodes."""
        wide = [_levels(json.loads(row[0])) for row in rows]
        ordered = sorted(wide, key=_natural)
        return [node.row for node in tree.nodes(ordered, where, nested=nested)]

    return Compute(place.step("read_table", taxonomy=resolve(name)), number, listed, COLUMNS)


def _levels(row: dict[str, str | None]) -> list[str | None]:
    return [
        text
        for name, text in row.items()
        if not (name[:3] in {"lo_", "hi_"} and name[3:].isdigit())
    ]


def _natural(row: Sequence[str | None]) -> tuple[bool, Decimal, list[str]]:
    """Sort key for the rows of a table: numbers by value, text by code points."""
    texts = [text or "" for text in row]
    try:
        number = Decimal(texts[0])
    except InvalidOperation:
        return True, Decimal(0), texts
    return not number.is_finite(), number if number.is_finite() else Decimal(0), texts
