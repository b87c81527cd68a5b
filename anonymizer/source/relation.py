"""The relation that the rows of a source are read from."""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.compile import Sql, Table, work

QUERIED = work("queried")
"""Table for the rows of `source.query`."""


@dataclass(frozen=True, slots=True)
class Relation:
    """The origin of rows: a table, or SQL (a file function, a user's query)."""

    sql: Sql
    table: Table | None = None
