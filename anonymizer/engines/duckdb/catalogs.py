"""The catalogs that a run attaches to a user's connection, and the check that they are free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymizer.compile import SCRATCH
from anonymizer.errors import EngineError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

RELEASE = "anon_published"
"""A release attached together with its source, for attacks and reports."""
EARLIER = "anon_earlier"
"""An earlier release attached together with both."""
CATALOGS = (
    SCRATCH,
    "anon_part",
    "anon_release",
    "anon_previous",
    "anon_ledger",
    "anon_vault",
    RELEASE,
    EARLIER,
)
"""Catalogs that are attached to a user's connection, and detached again."""


def refuse_catalogs(connection: DuckDBPyConnection) -> None:
    """Raises EngineError if the connection already has a catalog with one of these names."""
    asked = "select lower(database_name) from duckdb_databases()"
    attached = {name for (name,) in connection.execute(asked).fetchall()}
    for name in CATALOGS:
        if name in attached:
            raise attached_already(name)


def attached_already(name: str) -> EngineError:
    """The error for an attached catalog whose name a run needs."""
    said = f"a catalog named {name} is attached already"
    return EngineError.at("connection", said, hint="another run uses this connection, or detach it")
