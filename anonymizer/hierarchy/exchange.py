"""Export and import of hierarchies: CSV in ARX's layout, and wide tables.

Both contain the value followed by its label on every level, so a hierarchy can be built once,
stored, edited and used by any policy as `hierarchy: {file: …}` or `hierarchy: {table: …}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from anonymizer.compile import Table, work
from anonymizer.errors import Problem
from anonymizer.hierarchy import files
from anonymizer.hierarchy.place import FOLDER
from anonymizer.hierarchy.tree import check_wide, shape_problems
from anonymizer.steps import Step


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
        f"{FOLDER}/export_rows.sql.j2",
        {"hierarchy": work(f"hierarchy_{index}")},
    )
    rows = engine.raw(step.statement().text, step.name)
    files.write(path, ([value, *labels] for value, labels in rows))
    return len(rows)


def export_table(index: int, height: int, target: Table, *, bounds: bool) -> Step:
    """The step that writes `target`: value, level_1 to level_h, and with `bounds` lo_N and hi_N."""
    levels = [
        Columns(level, f"level_{level}", f"lo_{level}", f"hi_{level}")
        for level in range(1, height + 1)
    ]
    return Step(
        f"hierarchy_{index}.export_table",
        f"{FOLDER}/wide_table.sql.j2",
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
