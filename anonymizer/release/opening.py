"""Opening a published release for reading: from its file, or on a user's open connection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from anonymizer.compile import ident, lit, quote
from anonymizer.engines.duckdb.borrowed import refuse_transaction
from anonymizer.engines.duckdb.connection import SOURCE, DuckDBEngine, afterwards
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.engines.duckdb.session import usual_settings
from anonymizer.engines.session import Database
from anonymizer.errors import EngineError, SourceError
from anonymizer.policy import Policy
from anonymizer.release.population import AT_HAND


def place_of(policy: Policy | None, database: Path, option: str = "--database") -> str:
    """Where the file of a release was named: the path in the policy, or the option."""
    named = policy.publish.database if policy is not None else None
    if policy is not None and named is not None and _same(policy.resolve(named), database):
        return "publish.database"
    return option


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


@contextmanager
def opened(
    database: Database, where: str, files: Sequence[Path] = ()
) -> Iterator[tuple[DuckDBEngine, str]]:
    """The engine that reads a release, and the catalog of the release.

    A file is opened read-only, in the sandbox, where only it and the `files` can be accessed. A
    user's connection is used itself, since no other one sees an in-memory database, and is left
    unchanged. Raises EngineError if neither can be opened.
    """
    assert database is not None
    if isinstance(database, str | Path):
        path = Path(database).resolve()
        with ExitStack() as stack:
            try:
                engine = stack.enter_context(own_connection(path, files=files, where=where))
            except SourceError as error:  # as an error of a release, not of a source
                raise EngineError(error.problems) from error
            yield engine, SOURCE
        return
    refuse_transaction(database)
    with usual_settings(database):
        engine = DuckDBEngine(database, owned=False)
        catalog, schema = engine.raw("select current_catalog(), current_schema()", where)[0]
        # a macro there must not shadow a built-in function
        place = f"{quote(str(catalog))}.{quote(str(schema))}"
        engine.raw(f"set search_path = {lit(f'system.main,{place}')}", where)
        try:
            yield engine, str(catalog)
        finally:
            with afterwards(where):
                engine.raw(f"drop table if exists {ident(AT_HAND)}", where)
