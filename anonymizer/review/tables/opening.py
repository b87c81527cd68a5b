"""Opening a release of several tables, alone or with the tables it was made of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from anonymizer.compile import Table
from anonymizer.contract.tables import Tables, in_release
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.session import open_session
from anonymizer.engines.execute import Executor
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.policy import SchemaPolicy
from anonymizer.policy.schema.derived import child_policy, lead_of
from anonymizer.release.agreement import HINT, refuse_other
from anonymizer.release.manifest import Manifest, read_manifest
from anonymizer.release.names import Names
from anonymizer.release.opening import opened, place_of
from anonymizer.release.sealing import changes_in_database
from anonymizer.release.tables import refuse_tables_unmet, released_tables
from anonymizer.release.unchanged import refuse_not_as_published
from anonymizer.release.unknown_columns import refuse_unknown_columns
from anonymizer.review.with_source import RELEASE, attach_release
from anonymizer.run.tables import TablesRead, at_table, read_tables
from anonymizer.verification.tables import Where


@dataclass(frozen=True, slots=True)
class OpenTables:
    """A release that is open for reading, and what it was made of where that is at hand."""

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
) -> Iterator[OpenTables]:
    """The release of `policy` in a file, with the database of its tables where that is given.

    Raises NothingToCheckError where there is none, GuaranteeError where it was changed.
    """
    lead = lead_of(policy)
    where = place_of(lead, release)
    if source is None and not all(t.source.kind == "file" for t in policy.tables.values()):
        with opened(release, where) as (engine, catalog):
            yield _unchanged(policy, engine, catalog)
        return
    beside = {name: child_policy(policy, name) for name in policy.children}
    with ExitStack() as stack:
        with at_table(policy.person):
            session = stack.enter_context(
                open_session(lead, source, beside=beside, databases=(release,), limits=limits)
            )
        catalog = attach_release(session.embedded, release, session.database, RELEASE, where)
        found = _unchanged(policy, session.embedded, catalog)
        read = read_tables(policy, session, Executor(session.engine))
        yield OpenTables(found.engine, found.view, found.manifest, found.tables, read)


def _unchanged(policy: SchemaPolicy, engine: DuckDBEngine, catalog: str) -> OpenTables:
    lead = lead_of(policy)
    view = Names.of(lead, "").view(catalog)
    manifest = read_manifest(engine, view)
    refuse_other(lead, manifest.layout)
    tables = released_tables(manifest)
    if tables is None:
        said = "is of several tables, and the release of one"
        raise GuaranteeError(Problem("policy", said, hint=HINT))
    refuse_tables_unmet(policy, tables)
    refuse_unknown_columns(engine, view, manifest.layout, tables)
    alone = policy.publish.database is not None
    changes = changes_in_database(engine, view, manifest, alone=alone)
    refuse_not_as_published(policy, view, manifest, changes)
    return OpenTables(engine, view, manifest, tables)
