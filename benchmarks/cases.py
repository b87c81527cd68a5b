"""What is measured of ours: one case is one policy on one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.tables import QI5, QI8, QI9, adult, hierarchy_file


@dataclass(frozen=True, slots=True)
class Case:
    """A policy on Adult with so many rows, and the best figures known of other tools."""

    name: str
    quasi: Sequence[str]
    k: int = 5
    rows: int = 30_162
    protect: Mapping[str, Any] | None = None
    nodes: bool = False
    """True if categories are nodes of hierarchies."""
    grid: bool = False
    """True if bounds lie on a public grid, of 5 years for ages, so that cells are public."""
    algorithm: Mapping[str, Any] = field(default_factory=lambda: {"name": "mondrian"})
    suppression_limit: float = 0.0
    peer: str = ""

    def policy(self, database: Path, source: Path) -> dict[str, Any]:
        """The policy of the case, as it would stand in a file."""
        listed = QI9 if source.parent != adult().parent else _columns(source)
        columns: dict[str, Any] = {name: {"role": "drop"} for name in listed}
        for name in self.quasi:
            columns[name] = {"role": "quasi"}
            if self.nodes or (self.grid and name != "age"):
                columns[name]["hierarchy"] = {"file": str(hierarchy_file(name))}
        if self.grid:
            columns["age"]["bounds"] = {"step": 5}
        if self.protect is not None:
            columns["occupation"] = {"role": "sensitive", "protect": dict(self.protect)}
        return {
            "version": 1,
            "source": {"file": str(source)},
            "columns": columns,
            "privacy": {"k_anonymity": self.k},
            "suppression_limit": self.suppression_limit,
            "algorithm": dict(self.algorithm),
            "publish": {
                "name": "release",
                "database": str(database),
                "bounds": "grid" if self.grid else "tight",
            },
        }


def _columns(source: Path) -> list[str]:
    import duckdb

    return [row[0] for row in duckdb.execute(f"describe from '{source}'").fetchall()]


FULL_DOMAIN = {"name": "full_domain"}
FULLY_REFINED = {"name": "mondrian", "refine": "full"}
CUTS_ONLY = {"name": "mondrian", "refine": 0}
OWN_ATTRIBUTE = {"name": "mondrian", "compare": 1}
"""Cuts by what they save in the attribute that is cut: less work for somewhat more loss."""

CASES = (
    Case("QI5, k=5", QI5, peer="mosaicrown 0.0115 in 14 s"),
    Case("QI9, k=5", QI9, peer="mosaicrown 0.0407 in 50 s"),
    Case("QI5, k=5, public cells", QI5, grid=True, peer="ARX 0.0140; 0.0157 in 0.1 s"),
    Case("QI9, k=5, public cells", QI9, grid=True, peer="ARX 0.0603 in 59 s; 0.0677 in 4.2"),
    Case("QI5, k=5, cuts only", QI5, algorithm=CUTS_ONLY),
    Case("QI5, k=5, refine full", QI5, algorithm=FULLY_REFINED),
    Case("QI9, k=5, cuts only", QI9, algorithm=CUTS_ONLY),
    Case("QI9, k=5, refine full", QI9, algorithm=FULLY_REFINED),
    Case("QI9, k=10, refine full", QI9, k=10, algorithm=FULLY_REFINED),
    Case("QI9, k=5, nodes, refine full", QI9, nodes=True, algorithm=FULLY_REFINED),
    Case("QI8, l=2, refine full", QI8, protect={"l_diversity": 2}, algorithm=FULLY_REFINED),
    Case("QI8, l=5, refine full", QI8, protect={"l_diversity": 5}, algorithm=FULLY_REFINED),
    Case("QI9, k=5, nodes", QI9, nodes=True),
    Case("QI9, k=10", QI9, k=10, peer="ARX 0.094 in 8"),
    Case("QI8, l=2", QI8, protect={"l_diversity": 2}, peer="ARX 0.038 in 1.6"),
    Case("QI8, l=5", QI8, protect={"l_diversity": 5}, peer="ARX 0.062 in 2.3"),
    Case(
        "QI8, t=0.2",
        QI8,
        protect={"t_closeness": 0.2},
        peer="ARX 0.464 with 4,424 rows suppressed, 56",
    ),
    Case(
        "QI9, full domain, 5 %",
        QI9,
        nodes=True,
        algorithm=FULL_DOMAIN,
        suppression_limit=0.05,
        peer="ARX 0.2965 in 1.2",
    ),
    Case("QI9, k=5, 300,000 rows", QI9, rows=300_000),
    Case("QI9, k=5, 1,000,000 rows", QI9, rows=1_000_000),
    Case("QI9, k=5, 3,000,000 rows", QI9, rows=3_000_000),
    Case(
        "QI9, k=5, public cells, 1,000,000 rows",
        QI9,
        rows=1_000_000,
        grid=True,
        peer="ARX 0.0117 in 8.2",
    ),
    Case("QI9, k=5, 1,000,000 rows, compare 1", QI9, rows=1_000_000, algorithm=OWN_ATTRIBUTE),
    Case("QI9, k=5, 3,000,000 rows, compare 1", QI9, rows=3_000_000, algorithm=OWN_ATTRIBUTE),
    Case(
        "QI9, full domain, 5 %, 1,000,000 rows",
        QI9,
        rows=1_000_000,
        nodes=True,
        algorithm=FULL_DOMAIN,
        suppression_limit=0.05,
        peer="ARX 0.0737 in 5.5",
    ),
)
