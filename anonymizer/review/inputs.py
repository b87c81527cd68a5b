"""Open a release with its source, or a run in scratch, for reports and attacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymizer.compile import Table, ident, render, work
from anonymizer.contract.layout import Layout, Originals
from anonymizer.contract.reading import Tables, in_release
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import RELEASE, SOURCE, DuckDBEngine, detaching
from anonymizer.engines.duckdb.sandbox import open_problem
from anonymizer.engines.duckdb.source import open_session
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Session
from anonymizer.errors import EncryptionError, EngineError
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.release.manifest import Manifest
from anonymizer.release.opening import open_for_reading, place_of, population_files, unchanged
from anonymizer.run.prepare import count_source, hierarchy_stages
from anonymizer.run.release_rows import nodes_step
from anonymizer.source.roles import Roles, roles
from anonymizer.source.snapshot import SNAPSHOT, reading_steps, values_steps
from anonymizer.verification.across_tables import Where

# Open a release and, if available, its source together, for reports and attacks.
#
# Both are opened read-only on one sandboxed connection; the source is copied once to scratch.


ORIGINALS = work("beside_originals")


@dataclass(frozen=True, slots=True)
class Published:
    """A release that is open for reading."""

    engine: DuckDBEngine
    view: Table
    manifest: Manifest
    tables: Tables | None
    """The tables of a release of several."""

    @property
    def where(self) -> Where:
        return in_release(self.view)

    @property
    def layout(self) -> Layout:
        return self.manifest.layout

    def run_sql(self, text: str) -> list[tuple[Any, ...]]:
        return self.engine.raw(text, "release")

    def select(self, template: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """Render a template, run it, and return its rows."""
        return self.run_sql(render(f"{template}", parameters).text)


@dataclass(frozen=True, slots=True)
class Beside(Published):
    """A release with its source, as a snapshot in scratch."""

    session: Session
    roles: Roles
    originals: Originals


@contextmanager
def open_release(
    policy: AnyPolicy, database: Path, limits: Limits | None = None, option: str = "--database"
) -> Iterator[Published]:
    """Open the release alone. Raises NothingToCheckError if there is none."""
    files = population_files(policy.lead)
    with open_for_reading(database, place_of(policy, database, option), files, limits) as (
        engine,
        catalog,
    ):
        yield Published(engine, *unchanged(policy, engine, catalog, database))


@contextmanager
def open_beside(
    policy: Policy,
    database: Path,
    source: str | Path | None,
    limits: Limits | None = None,
    further: Sequence[Path] = (),
    option: str = "--database",
) -> Iterator[Beside]:
    """Open the release in `database` with its source (None if the policy names a file).

    The database files in `further` can be attached as well. `option` is the one that may have named
    the release.
    """
    files = (database, *further)
    with open_session(policy, source, databases=files, limits=limits) as session:
        where = place_of(policy, database, option)
        with attached_release(session, database, where) as catalog:
            engine = session.embedded
            found = Published(engine, *unchanged(policy, engine, catalog, database))
            yield beside(policy, found, session)


@contextmanager
def attached_release(
    session: Session, database: Path, where: str, name: str = RELEASE
) -> Iterator[str]:
    """Attach a release read-only for the duration of a block, and yield its catalog.

    A release in the source's own file is attached already.
    """
    if session.database == database:
        yield SOURCE
        return
    engine = session.embedded
    try:
        engine.attach(database, name, "type duckdb, read_only", where)
    except EncryptionError:
        raise
    except EngineError as error:
        raise EngineError(open_problem(database, where, error.__cause__ or error)) from error
    with detaching(engine, name, where):
        yield name


def beside(policy: Policy, release: Published, session: Session) -> Beside:
    """The release with its source: read the rows, and build the hierarchies."""
    layout = release.layout
    read = roles(policy, session.profile).without_masks
    executor = Executor(session.engine)
    executor.run(reading_steps(policy, session.profile, read, session.source))
    executor.run([*values_steps(read), *hierarchy_stages(policy, read, session)])
    _, _, profile = count_source(policy, session, read)
    found = roles(policy, profile)
    engine = session.engine
    engine.raw(
        f"create or replace view {ident(ORIGINALS)} as"
        f" select rowid as row_ref, * from {ident(SNAPSHOT)}",
        "source",
    )
    nodes: dict[str, Table] = {}
    for a in found.quasi:
        if a.height and not a.ordered:
            nodes[a.column] = work(f"beside_nodes_{a.index}")
            columns = {c.column: c for c in layout.columns}
            typed = layout.cells == "typed"
            step = nodes_step(a, columns[a.column], nodes[a.column], typed=typed, data=release.view)
            engine.raw(step.statement().text, "source")
    values = {column: name.text for column, name in found.published}
    flags = {a.column: a.f.text for a in found.flagged}
    person = "person" if policy.person is not None else None
    originals = Originals(ORIGINALS, values, flags, nodes, person)
    return Beside(
        release.engine, release.view, release.manifest, release.tables, session, found, originals
    )


def unit_of(policy: AnyPolicy) -> str:
    """The unit of a class: persons if the policy names a person column, else rows."""
    return "persons" if policy.person is not None else "rows"
