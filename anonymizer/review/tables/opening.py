"""Open a release of several tables, alone or with its source tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from anonymizer.compile import Table
from anonymizer.contract.tables import Tables, in_release
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.session import open_session
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Database, Session
from anonymizer.policy import AnyPolicy, Policy, SchemaPolicy
from anonymizer.policy.schema.derived import child_policy, lead_of
from anonymizer.process.seed import Seed
from anonymizer.release.manifest import Manifest
from anonymizer.release.opening import opened, place_of, unchanged_tables
from anonymizer.review.with_source import attached_release
from anonymizer.run.at_table import at_persons
from anonymizer.run.tables import TablesRead, read_tables
from anonymizer.source.masking.keys import bound_values
from anonymizer.verification.tables import Where


@dataclass(frozen=True, slots=True)
class OpenTables:
    """A release that is open for reading, with its source if available."""

    engine: DuckDBEngine
    view: Table
    manifest: Manifest
    tables: Tables
    read: TablesRead | None = None

    @property
    def where(self) -> Where:
        return in_release(self.view)


@contextmanager
def open_tables(
    policy: SchemaPolicy,
    release: Path,
    source: str | Path | None = None,
    limits: Limits | None = None,
    option: str = "--database",
) -> Iterator[OpenTables]:
    """Open the release of `policy` in a file, with the database of its tables if given.

    Raises NothingToCheckError if there is no release, GuaranteeError if it was changed.
    """
    lead = lead_of(policy)
    where = place_of(lead, release, option)
    if source is None and not all(t.source.kind == "file" for t in policy.tables.values()):
        with opened(release, where, limits=limits) as (engine, catalog):
            yield OpenTables(engine, *unchanged_tables(policy, engine, catalog, release))
        return
    with (
        open_source(policy, source, databases=(release,), limits=limits) as session,
        attached_release(session, release, where) as catalog,
    ):
        engine = session.embedded
        found = OpenTables(engine, *unchanged_tables(policy, engine, catalog, release))
        # masked values are not compared here, so any key will do and none has to be available
        session.engine.binds = bound_values(policy, Seed.test(0).secret)
        yield replace(found, read=read_tables(policy, session, Executor(session.engine)))


@contextmanager
def open_source(
    policy: AnyPolicy,
    database: Database,
    *,
    databases: Sequence[Path] = (),
    limits: Limits | None = None,
) -> Iterator[Session]:
    """Open the source of a policy; with several tables, the persons' table, others readable."""
    beside: dict[str, Policy] = {}
    at_first: AbstractContextManager[None] = nullcontext()
    if isinstance(policy, SchemaPolicy):
        beside = {name: child_policy(policy, name) for name in policy.children}
        at_first = at_persons(policy)
    with ExitStack() as stack:
        with at_first:
            session = stack.enter_context(
                open_session(
                    lead_of(policy), database, beside=beside, databases=databases, limits=limits
                )
            )
        yield session
