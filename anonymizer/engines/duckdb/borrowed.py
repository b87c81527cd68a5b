"""A user's open connection as the engine of a run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from anonymizer.engines.duckdb.catalogs import refuse_catalogs
from anonymizer.engines.duckdb.connection import DuckDBEngine, scratch
from anonymizer.errors import EngineError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CLOCK = 0.001
"""Seconds in which every clock moves on."""


@contextmanager
def borrowed_connection(connection: DuckDBPyConnection) -> Iterator[DuckDBEngine]:
    """A user's open connection, used itself: its settings stay, the scratch catalog goes."""
    refuse_transaction(connection)
    refuse_catalogs(connection)
    row = connection.execute("select current_catalog(), current_schema()").fetchone()
    assert row is not None
    with scratch(connection):
        yield DuckDBEngine(connection, owned=False, catalog=str(row[0]), schema=str(row[1]))


def refuse_transaction(connection: DuckDBPyConnection) -> None:
    """A connection inside a transaction is refused: a rollback would take the release along.

    Two statements have the same time of transaction only inside one, whatever the default catalog
    is: a number of the transaction exists in DuckDB's own catalogs only. (Beginning another one
    would also show it, but the failure would abort the user's.)
    """
    import duckdb

    def began() -> object:
        asked = "select epoch_us(transaction_timestamp())"
        return connection.execute(asked).fetchone()

    try:
        first = began()
        time.sleep(CLOCK)
        second = began()
    except duckdb.TransactionException:
        first = second = None  # an aborted transaction fails every query
    if first == second:
        raise EngineError.at(
            "connection", "is inside a transaction", hint="commit or roll back before the run"
        )
