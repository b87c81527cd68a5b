"""Listing and removing the releases of a ledger, outside of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.errors import EngineError, NothingToCheckError, no_file
from anonymizer.ledger.access import attached, is_ledger, settle_down
from anonymizer.ledger.entries import Entry, entries, remove
from anonymizer.ledger.key import key_checks, no_key, read_key
from anonymizer.ledger.listing import is_listed, list_releases, unlisted


def listed(path: str | Path) -> tuple[Entry, ...]:
    """Every release of a ledger, oldest first."""
    with _opened(Path(path), read_only=True) as engine:
        return entries(engine)


def forget_release(path: str | Path, run_id: str) -> Entry:
    """Remove one release with all data about its members, and make the list of releases anew.

    Raises NothingToCheckError if the ledger does not have the run; EngineError if another release
    is missing from it, or its key is not there.
    """
    with _opened(Path(path), read_only=False) as engine:
        found = entries(engine)
        for entry in found:
            if entry.run_id == run_id:
                key = _key(engine, Path(path).resolve(), found)
                with engine.transaction("ledger"):
                    remove(engine, entry)
                    if key is not None:
                        list_releases(engine, key)
                settle_down(engine)
                return entry
    raise NothingToCheckError.at(
        "RUN", "is not in the ledger", hint="anonymizer ledger show LEDGER lists them"
    )


def _key(engine: DuckDBEngine, path: Path, found: tuple[Entry, ...]) -> str | None:
    """The key to make the list with; None for a ledger of before there was a list."""
    key = read_key(path)
    if key is None:
        if is_listed(engine):
            raise EngineError(no_key(path))
        return None
    if any(entry.key_check not in key_checks(key) for entry in found):
        raise EngineError(no_key(path))
    EngineError.refuse(unlisted(engine, found, key))
    return key if is_listed(engine) else None


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
