"""Listing and removing the releases of a ledger, outside of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.errors import NothingToCheckError, no_file
from anonymizer.ledger.access import attached, is_ledger, settle_down
from anonymizer.ledger.entries import Entry, entries, remove


def listed(path: str | Path) -> tuple[Entry, ...]:
    """Every release of a ledger, oldest first."""
    with _opened(Path(path), read_only=True) as engine:
        return entries(engine)


def forget_release(path: str | Path, run_id: str) -> Entry:
    """Remove one release with all data about its members.

    Raises NothingToCheckError if the ledger does not have the run.
    """
    with _opened(Path(path), read_only=False) as engine:
        for entry in entries(engine):
            if entry.run_id == run_id:
                with engine.transaction("ledger"):
                    remove(engine, entry)
                settle_down(engine)
                return entry
    raise NothingToCheckError.at(
        "RUN", "is not in the ledger", hint="anonymizer ledger show LEDGER lists them"
    )


@contextmanager
def _opened(path: Path, *, read_only: bool) -> Iterator[DuckDBEngine]:
    if not path.is_file():
        raise NothingToCheckError.at("LEDGER", no_file(path))
    path = path.resolve()
    with own_connection(None, databases=[path]) as engine:
        with attached(engine, path, read_only=True):
            if not is_ledger(engine):
                raise NothingToCheckError.at("LEDGER", f"{path.name} is not a ledger")
        with attached(engine, path, read_only=read_only):
            yield engine
