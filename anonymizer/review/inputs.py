"""Open a release with its source, or a run in scratch, for reports and attacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from anonymizer.algorithms.core.compiled import STAGED, staged_values
from anonymizer.compile import Table, ident, lit, render, work
from anonymizer.contract.checks import Verification
from anonymizer.contract.layout import Layout, Originals, Requirement
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import RELEASE, SOURCE, DuckDBEngine, detaching
from anonymizer.engines.duckdb.sandbox import unopened
from anonymizer.engines.duckdb.source import open_session
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Session
from anonymizer.errors import EngineError, NothingToCheckError, no_file
from anonymizer.measure.loss import smallest_class
from anonymizer.policy import Policy
from anonymizer.release.judge import Suppression, judge, refuse_unanswered
from anonymizer.release.manifest import Manifest
from anonymizer.release.opening import opened, place_of, population_files, unchanged
from anonymizer.run.prepare import Prepared, counted, hierarchy_stages, prepare
from anonymizer.run.source_comparison import (
    counterfeits,
    judging,
    linked_writes,
    members_read,
    nodes_step,
    originals,
    policy_requirements,
    release_measures,
    stage_originals,
    suppression,
)
from anonymizer.source.roles import Roles, roles
from anonymizer.source.snapshot import SNAPSHOT, reading_steps, values_steps
from anonymizer.steps import Stage

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

    @property
    def layout(self) -> Layout:
        return self.manifest.layout

    def run_sql(self, text: str) -> list[tuple[Any, ...]]:
        return self.engine.raw(text, "release")

    def select(self, template: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """Render a template, run it, and return its rows."""
        return self.run_sql(render(f"{template}.sql.j2", parameters).text)


@dataclass(frozen=True, slots=True)
class Beside(Published):
    """A release with its source, as a snapshot in scratch."""

    session: Session
    roles: Roles
    originals: Originals


def release_file(
    policy: Policy,
    database: str | Path | None,
    source: str | Path | None,
    where: str = "--database",
) -> Path:
    """The file of a policy's release: as given by the option `where`, or publish.database, or the
    source's database.
    """
    if database is not None:
        path = Path(database)
    elif policy.publish.database is not None:
        where, path = "publish.database", policy.resolve(policy.publish.database)
    elif source is not None:
        path = Path(source)
    else:
        hint = "the policy has no publish.database, so the release is in the source's database"
        raise NothingToCheckError.at(where, "names no release", hint=hint)
    if not path.is_file():
        raise NothingToCheckError.at(where, no_file(path), hint="anonymizer run makes it")
    return path.resolve()


@contextmanager
def open_release(
    policy: Policy, database: Path, limits: Limits | None = None
) -> Iterator[Published]:
    """Open the release alone. Raises NothingToCheckError if there is none."""
    files = population_files(policy)
    with opened(database, place_of(policy, database), files, limits) as (engine, catalog):
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
            view, manifest = unchanged(policy, engine, catalog, database)
            columns, originals = _read(policy, session, view, manifest.layout)
            yield Beside(engine, view, manifest, session, columns, originals)


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
        engine.raw(f"attach {lit(str(database))} as {name} (type duckdb, read_only)", where)
    except EngineError as error:
        raise EngineError(unopened(database, where, error.__cause__ or error)) from error
    with detaching(engine, name, where):
        yield name


def _read(policy: Policy, session: Session, view: Table, layout: Layout) -> tuple[Roles, Originals]:
    """Read the source, build the hierarchies, and return the names of their tables."""
    read = roles(policy, session.profile).unmasked
    executor = Executor(session.engine)
    executor.run(reading_steps(policy, session.profile, read, session.source))
    executor.run([*values_steps(read), *hierarchy_stages(policy, read, session)])
    _, _, profile = counted(policy, session, read)
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
            step = nodes_step(
                a, columns[a.column], nodes[a.column], typed=layout.cells == "typed", data=view
            )
            engine.raw(step.statement().text, "source")
    values = {column: name.text for column, name in found.published}
    flags = {a.column: a.f.text for a in found.flagged}
    person = "person" if policy.person is not None else None
    return found, Originals(ORIGINALS, values, flags, nodes, person)


# A run in scratch: anonymized, verified and measured like a release, but not published.


@dataclass(frozen=True, slots=True)
class Scratch:
    """Results of a run in scratch; its tables exist until the next run in the same scratch."""

    session: Session
    prepared: Prepared
    layout: Layout
    requirements: tuple[Requirement, ...]
    verification: Verification
    suppression: Suppression
    measures: dict[str, Any]
    smallest: int | None
    """Rows of the smallest class, or persons if the policy names a person column."""

    def holds(self, policy: Policy) -> bool:
        """Whether every guarantee and the limit on suppression hold."""
        return self.verification.passed and self.suppression.within(policy.suppression_limit)

    def units(self, policy: Policy) -> int:
        """Published rows, or persons if the policy names a person column."""
        return int(self.measures[unit_of(policy)])

    def beside(self, policy: Policy) -> Beside:
        """The rows as if they were a release that is read together with its source."""
        manifest = Manifest(
            {
                "layout": self.layout.as_dict(),
                "requirements": [asdict(item) for item in self.requirements],
                "measures": self.measures,
            }
        )
        roles = self.prepared.roles
        engine = self.session.embedded
        person = "person" if policy.person is not None else None
        known = replace(originals(roles), person=person)
        return Beside(engine, STAGED, manifest, self.session, roles, known)


def unit_of(policy: Policy) -> str:
    """What a class counts: persons if the policy names a person column, else rows."""
    return "persons" if policy.person is not None else "rows"


def in_scratch(
    policy: Policy,
    session: Session,
    executor: Executor,
    left_out: Callable[[Stage], bool] = lambda stage: False,
) -> Scratch:
    """Run the policy over the source of an open session, in its scratch.

    `left_out`: stages that do not affect any row and are skipped. Raises every error that stops a
    run; guarantees that do not hold are part of the result.
    """
    engine = session.engine
    prepared = prepare(policy, session, executor)
    compiled = prepared.compiled
    stages = [stage for stage in compiled.stages if not left_out(stage)]
    executor.run(stages, "anonymizing")
    tables: dict[str, Table] = {s.table: staged_values(i) for i, s in enumerate(compiled.separated)}
    executor.run(linked_writes(prepared, STAGED, tables.__getitem__), "writing")
    staged = {column: tables[name].name for column, name in compiled.layout.tables.items()}
    layout = replace(compiled.layout, tables=staged)
    requirements = policy_requirements(policy, engine, prepared.roles)
    forged = counterfeits(engine, compiled)
    found = suppression(policy, engine, prepared.roles, STAGED, layout, forged)
    stage_originals(engine, compiled, prepared.roles)
    population = members_read(policy, prepared.roles)
    ask = judging(engine, STAGED, layout)
    verification = judge(engine, STAGED, layout, requirements, population, ask)
    refuse_unanswered(policy, verification)
    measures = release_measures(requirements, engine, prepared, STAGED, layout, found)
    smallest = smallest_class(engine.asking("measures"), STAGED, layout, measures)
    return Scratch(session, prepared, layout, requirements, verification, found, measures, smallest)
