"""Opening a ledger: attached briefly, under the engine's lock, and detached again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anonymizer.compile import Table, ident, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine, detaching
from anonymizer.engines.duckdb.sandbox import is_database, refuse_odd_logs, unattached
from anonymizer.errors import AnonymizerError, EngineError
from anonymizer.ledger.tables import CATALOG, CREATE, RELEASES, SCHEMA
from anonymizer.release import objects

PATIENCE = 10.0
"""Seconds to wait for another run that has the ledger open."""


@contextmanager
def attached(engine: DuckDBEngine, path: Path, *, read_only: bool = False) -> Iterator[None]:
    """Attach the ledger; create it with mode 0600 if it does not exist.

    Raises EngineError if it is locked, is not a database, or contains releases.
    """
    _attach(engine, path, read_only)
    with detaching(engine, CATALOG, "ledger"):
        if _holds_views(engine):
            raise EngineError.at("ledger", f"{path.name} has a view where a ledger has tables only")
        if not read_only:
            if not is_ledger(engine) and objects.recorded(engine, CATALOG):
                raise EngineError.at(
                    "ledger",
                    "is a database of releases, and a ledger must never be handed out",
                    hint="ledger: a file of its own",
                )
            for text in CREATE:
                engine.raw(text, "ledger")
            path.chmod(0o600)
        yield


def _attach(engine: DuckDBEngine, path: Path, read_only: bool) -> None:
    refuse_odd_logs(path, "ledger")
    mode = f"type duckdb, {'read_only' if read_only else 'read_write'}"
    until = time.monotonic() + PATIENCE
    while True:
        try:
            engine.raw(f"attach {lit(str(path))} as {CATALOG} ({mode})", "ledger")
            return
        except AnonymizerError as error:
            if time.monotonic() > until or not _may_be_locked(path, error):
                said, hint = unattached(path, "close the process that has it open")
                raise EngineError.at("ledger", said, hint=hint) from error
        time.sleep(0.2)


def _may_be_locked(path: Path, error: AnonymizerError) -> bool:
    kinds = [kind.__name__ for kind in type(error.__cause__).__mro__]
    return bool({"IOException", "BinderException"} & set(kinds)) and is_database(path)


def is_ledger(engine: DuckDBEngine) -> bool:
    """Whether the attached database is a ledger."""
    rows = engine.raw(
        "select count(*) from duckdb_tables()"
        f" where database_name = {lit(CATALOG)} and schema_name = {lit(SCHEMA)}"
        f" and table_name = {lit(RELEASES.name)}",
        "ledger",
    )
    return bool(rows[0][0])


def _holds_views(engine: DuckDBEngine) -> bool:
    rows = engine.raw(
        "select count(*) from duckdb_views() where not internal"
        f" and database_name = {lit(CATALOG)} and schema_name = {lit(SCHEMA)}",
        "ledger",
    )
    return bool(rows[0][0])


def settle_down(engine: DuckDBEngine) -> None:
    """Checkpoint the ledger, so that no write-ahead log remains next to its file."""
    engine.raw(f"checkpoint {ident(Table(CATALOG)).text}", "ledger")
