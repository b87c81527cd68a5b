"""A release and, where it is at hand, its source, side by side: for reports and attacks.

Both are opened read-only on one sandboxed connection; the source is read once, into scratch.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymizer import runfolder
from anonymizer.algorithms.labels import node_label, value_label
from anonymizer.algorithms.prepare import SNAPSHOT, snapshot_step, values_steps
from anonymizer.algorithms.roles import Roles, roles
from anonymizer.compile import Table, ident, lit, work
from anonymizer.engines.duckdb import SOURCE, DuckDBEngine, Limits, own_connection, unopened
from anonymizer.errors import EngineError, NothingToCheckError, Problem, no_file
from anonymizer.execute import Executor
from anonymizer.pipeline import hierarchy_stages
from anonymizer.policy import Policy
from anonymizer.release.agreement import refuse_other
from anonymizer.release.layout import Layout
from anonymizer.release.manifest import Manifest, read_manifest
from anonymizer.release.names import Names
from anonymizer.release.opening import place_of
from anonymizer.release.shown import refuse_unknown_columns
from anonymizer.session import Session, open_session
from anonymizer.verify.originals import Originals

RELEASE = "anon_published"
"""Catalog under which a release is attached beside its source."""
ORIGINALS = work("beside_originals")


@dataclass(frozen=True, slots=True)
class Published:
    """A release that is open for reading."""

    engine: DuckDBEngine
    view: Table
    manifest: Manifest

    @property
    def layout(self) -> Layout:
        return self.manifest.layout

    def run_sql(self, text: str) -> list[tuple[Any, ...]]:
        return self.engine.raw(text, "release")


@dataclass(frozen=True, slots=True)
class Beside(Published):
    """A release with the source that it was made of, as a snapshot in scratch."""

    session: Session
    roles: Roles
    originals: Originals


def release_file(policy: Policy, database: str | Path | None, source: str | Path | None) -> Path:
    """Where the release of a policy is: named, or publish.database, or beside its source."""
    if database is not None:
        path = Path(database)
    elif policy.publish.database is not None:
        path = policy.resolve(policy.publish.database)
    elif source is not None:
        path = Path(source)
    else:
        raise NothingToCheckError(Problem("--database", "names no release"))
    if not path.is_file():
        raise NothingToCheckError(
            Problem("--database", no_file(path), hint="anonymizer run makes it")
        )
    return path.resolve()


@contextmanager
def open_release(policy: Policy, database: Path) -> Iterator[Published]:
    """The release alone. Raises NothingToCheckError where there is none."""
    with own_connection(database, spill=None, where=place_of(policy, database)) as engine:
        view = Names.of(policy, "").view(SOURCE)
        manifest = read_manifest(engine, view)
        refuse_other(policy, manifest.layout)
        refuse_unknown_columns(engine, view, manifest.layout)
        yield Published(engine, view, manifest)


@contextmanager
def open_beside(
    policy: Policy,
    database: Path,
    source: str | Path | None,
    limits: Limits | None = None,
    writable: Sequence[Path] = (),
) -> Iterator[Beside]:
    """The release in `database` with its source (None where the policy names a file).

    Databases in the folders of `writable` can be attached as well.
    """
    folder = runfolder.create(secrets.token_hex(8))
    with ExitStack() as stack:
        stack.callback(folder.remove)
        folders = (folder.path, database.parent, *writable)
        session = stack.enter_context(
            open_session(policy, source, spill=folder.path, writable=folders, limits=limits)
        )
        where = place_of(policy, database)
        catalog = attach_release(session.embedded, database, session.database, RELEASE, where)
        view = Names.of(policy, "").view(catalog)
        manifest = read_manifest(session.engine, view)
        refuse_other(policy, manifest.layout)
        refuse_unknown_columns(session.embedded, view, manifest.layout)
        typed = manifest.layout.cells == "typed"
        columns, originals = _read(policy, session, typed)
        yield Beside(session.embedded, view, manifest, session, columns, originals)


def attach_release(
    engine: DuckDBEngine, database: Path, source: Path | None, name: str, where: str
) -> str:
    """Attach a release read-only, unless it is in the source's own file; returns its catalog."""
    if source is not None and source == database:
        return SOURCE
    try:
        engine.raw(f"attach {lit(str(database))} as {name} (read_only)", where)
    except EngineError as error:
        raise EngineError(unopened(database, where, error.__cause__ or error)) from error
    return name


def _read(policy: Policy, session: Session, typed: bool) -> tuple[Roles, Originals]:
    """Read the source, build the hierarchies, and say where everything stands."""
    # typed cells show labels as they are written in texts; texts are read before comparing
    exact = value_label("value") if typed else "cast(value as varchar)"
    found = roles(policy, session.profile)
    executor = Executor(session.engine)
    executor.run([snapshot_step(policy, session.profile, found, session.source)])
    executor.run([*values_steps(found), *hierarchy_stages(policy, found, session)])
    engine = session.engine
    engine.raw(
        f"create or replace view {ident(ORIGINALS)} as"
        f" select rowid as row_ref, * from {ident(SNAPSHOT)}",
        "source",
    )
    nodes: dict[str, Table] = {}
    for a in found.quasi:
        if policy.columns[a.column].hierarchy is not None and not a.ordered:
            nodes[a.column] = work(f"beside_nodes_{a.index}")
            label = node_label("label", a) if typed else "label"
            engine.raw(
                f"create or replace table {ident(nodes[a.column])} as"
                f" select value, case when level = max(level) over () then '*' else {label} end"
                f" as label from {ident(a.hierarchy)}"
                f" union select value, {exact} from {ident(a.values)}"
                f" union select value, '*' from {ident(a.values)}",
                "source",
            )
    values = {a.column: a.q.text for a in found.quasi}
    values |= {s.column: s.s.text for s in found.sensitive}
    values |= {k.column: k.k.text for k in found.kept}
    flags = {a.column: a.f.text for a in found.flagged}
    person = "person" if policy.person is not None else None
    return found, Originals(ORIGINALS, values, flags, nodes, person)
