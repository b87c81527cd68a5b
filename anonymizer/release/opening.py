"""A release that stands, opened to be read: its file, or a user's open connection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anonymizer.compile import ident
from anonymizer.engines.duckdb import DuckDBEngine, refuse_transaction, unopened
from anonymizer.errors import EngineError
from anonymizer.policy import Policy
from anonymizer.population import AT_HAND
from anonymizer.session import Database, usual_settings

_CATALOG = "select current_catalog()"


def place_of(policy: Policy | None, database: Path) -> str:
    """Where the file of a release was named: in the policy, or beside it."""
    named = policy.publish.database if policy is not None else None
    if policy is not None and named is not None and _same(policy.resolve(named), database):
        return "publish.database"
    return "--database"


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


@contextmanager
def opened(database: Database, where: str) -> Iterator[tuple[DuckDBEngine, str]]:
    """The engine that reads a release, and the catalog in which it stands.

    A file is opened read-only. A connection is used itself, as it is the only one that sees a
    database in memory, and is left as it was found. Raises EngineError where neither works.
    """
    import duckdb

    assert database is not None
    if isinstance(database, str | Path):
        try:
            connection = duckdb.connect(str(database), read_only=True)
        except duckdb.Error as error:
            raise EngineError(unopened(Path(database), where, error)) from error
        with connection:
            engine = DuckDBEngine(connection, owned=True)
            yield engine, str(engine.raw(_CATALOG, where)[0][0])
        return
    refuse_transaction(database)
    with usual_settings(database):
        engine = DuckDBEngine(database, owned=False)
        try:
            yield engine, str(engine.raw(_CATALOG, where)[0][0])
        finally:
            engine.raw(f"drop table if exists {ident(AT_HAND)}", where)
