"""What a statement reads and writes, and which tables decide where it runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from anonymizer.compile import SCRATCH

POPULATION = "population_source"
"""The table of Spark's catalog that a policy names as its population."""
ROWS = frozenset(
    {
        "source",
        POPULATION,
        "read_rows",
        "snapshot",
        "coded",
        "persons",
        "staged",
        "link",
        "originals",
    }
)
"""Work tables that have a row per row (or person) of the source: they leave Spark
only where they are few."""

COLLECTED = frozenset({"snapshot", "coded", "persons"})
"""Those of them on which DuckDB works in a run over few rows: Spark reads the source and writes the
snapshot, and it writes and judges the release."""
COUNTED = frozenset({"staged", "link"})
"""Those whose equal rows are many: Spark counts them once, and questions that ask for nothing else
are answered from the counts."""
PAIRS = "compared"
"""Cells beside original values, with counts: compact in most tables, as long as rows in some."""

USED = re.compile(rf"\b{SCRATCH}\.main\.([a-z_0-9]+)")
WRITES = re.compile(
    rf"\A\s*(?P<how>create or replace table|create or replace view|create table|insert into)\s+"
    rf"{SCRATCH}\.main\.(?P<name>[a-z_0-9]+)\s*(?P<rest>.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_AS = re.compile(r"\Aas\s", re.IGNORECASE)
_ORDER = re.compile(r"\s+order by [\w.]+\s*\Z", re.IGNORECASE)
COUNTS = re.compile(rf"\Aselect count\(\*\) from {SCRATCH}\.main\.([a-z_0-9]+)\Z")


@dataclass(frozen=True, slots=True)
class Route:
    """A text, as far as it decides where it runs."""

    how: str
    """How it writes; empty for a question."""
    target: str | None
    query: str
    used: frozenset[str]
    """Work tables that the query reads."""
    touched: frozenset[str]
    """These, and a table that is appended to, which stays where it is."""
    counts: str | None
    """The table whose rows it counts, and asks for nothing else."""

    @classmethod
    def of(cls, text: str) -> Route:
        found = WRITES.match(text)
        how = found["how"].lower() if found else ""
        target = found["name"] if found else None
        query = found["rest"] if found else text
        used = frozenset(USED.findall(query))
        touched = used | {target} if target is not None and how == "insert into" else used
        counted = COUNTS.match(text)
        return cls(how, target, query, used, touched, counted[1] if counted else None)

    @property
    def rows_written(self) -> str:
        """The query; of a table that is made, without the order that nobody reads.

        Only published rows need one, and a sort is a shuffle.
        """
        if not self.how.startswith("create"):
            return self.query
        query = _AS.sub("", self.query)
        return query if self.target == "staged" else _ORDER.sub("", query)
