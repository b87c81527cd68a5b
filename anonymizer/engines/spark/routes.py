"""Finds what a statement reads and writes, and names the tables that decide where it runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from anonymizer.compile import SCRATCH

POPULATION = "population_source"
"""Work table of the population, a table of Spark's catalog that the policy names."""
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
"""Work tables with a row per row (or person) of the source; they stay on Spark unless the source is
small."""

COLLECTED = frozenset({"snapshot", "coded", "persons"})
"""Those that DuckDB processes if the source is small: Spark reads the source and writes the
snapshot, and it writes and verifies the release."""
COUNTED = frozenset({"staged", "link"})
"""Those with many equal rows: Spark counts them once, and queries that need only the counts read
these."""
PAIRS = "compared"
"""Pairs of cells and original values, with counts: few in most tables, as many as rows in some."""

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
    """The properties of a statement that decide where it runs."""

    how: str
    """How it writes; empty for a query."""
    target: str | None
    query: str
    used: frozenset[str]
    """Work tables that the query reads."""
    touched: frozenset[str]
    """These, and a table that is appended to, which stays in place."""
    counts: str | None
    """The table whose rows it counts, if it does nothing else."""

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
        """The query, without the ORDER BY of a new table unless it holds published rows.

        Other tables need no order, and a sort is a shuffle.
        """
        if not self.how.startswith("create"):
            return self.query
        query = _AS.sub("", self.query)
        return query if self.target == "staged" else _ORDER.sub("", query)
