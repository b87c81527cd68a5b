"""Given hierarchies: from a file, or from a table of the source database."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

from anonymizer.compile import Sql, Table
from anonymizer.errors import Problem, SourceError
from anonymizer.hierarchy import files, tree
from anonymizer.hierarchy.listed import covered
from anonymizer.hierarchy.place import Place
from anonymizer.hierarchy.text import from_text
from anonymizer.policy.builders import Taxonomy
from anonymizer.steps import Compute, Row, Stage

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
        *covered(place, listed, option=option, spellings=place.sql_type != "VARCHAR"),
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
    rows, lines = files.read(path, where)
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
