"""The main job in Python: plan, run, verify."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer import runfolder
from anonymizer.algorithms.compiled import STAGED, Compiled
from anonymizer.compile import Table
from anonymizer.engines.duckdb import DuckDBEngine, Limits
from anonymizer.errors import AnonymizerError, EngineError, NothingToCheckError, Problem
from anonymizer.execute import Executor, Listener
from anonymizer.pipeline import Prepared, prepare
from anonymizer.plan import Plan
from anonymizer.policy import Policy
from anonymizer.release import objects
from anonymizer.release.file_target import FileTarget, create_schema, create_view
from anonymizer.release.inplace_target import WARNING, InPlaceTarget
from anonymizer.release.judge import fingerprint, judge, refuse_beyond, refuse_unless_passed
from anonymizer.release.layout import Requirement
from anonymizer.release.manifest import (
    Manifest,
    make_manifest,
    manifest_file,
    read_manifest,
    write_manifest,
)
from anonymizer.release.names import Names
from anonymizer.release.release import Release
from anonymizer.release.source_checks import (
    against_source,
    published_paths,
    release_measures,
    suppression,
)
from anonymizer.seed import Seed
from anonymizer.session import Database, Session, open_session
from anonymizer.verify import Verification, requirements_of, with_paths

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@contextmanager
def _prepared(
    policy: Policy,
    database: Database,
    seed: Seed,
    *,
    writable: tuple[Path, ...] = (),
    spill: Path | None = None,
    limits: Limits | None = None,
    listener: Listener | None = None,
) -> Iterator[tuple[Session, Executor]]:
    with open_session(policy, database, spill=spill, writable=writable, limits=limits) as session:
        session.engine.binds = {"secret": seed.secret}
        yield session, Executor(session.engine, listener)


def plan(policy: Policy, database: Database = None) -> Plan:
    """What a run would execute, in order. Reads the source into memory; writes nothing.

    Raises the same errors as `run` for what a look at the source shows.
    """
    with _prepared(policy, database, Seed.fresh()) as (session, executor):
        prepared = prepare(policy, session, executor)
        compiled = prepared.compiled
        title = f"{policy.algorithm.name} over {prepared.rows} rows"
        return Plan(title, (*prepared.read, *compiled.plan(title).stages))


def run(
    policy: Policy,
    database: Database = None,
    *,
    seed: Seed | str | int | None = None,
    limits: Limits | None = None,
    listener: Listener | None = None,
) -> Release:
    """Anonymize, verify, and only then publish. Raises on failure and publishes nothing then.

    `database`: the source's file, or an open DuckDB connection, which is used itself. `seed`: a
    secret of 64 hexadecimal digits; a number makes a release that is stamped reproducible.
    """
    began = time.perf_counter()
    chosen = _seed(seed)
    run_id = secrets.token_hex(8)
    names = Names.of(policy, run_id)
    target = None
    if policy.publish.database is not None:
        target = FileTarget(policy.resolve(policy.publish.database).resolve(), names)
        _refuse_source_as_target(policy, database, target.path)
        target.check()
    folder = runfolder.create(run_id)
    try:
        writable = [folder.path]
        if target is not None:
            writable.append(target.path.parent)
        elif isinstance(database, str | Path):
            writable.append(Path(database).resolve().parent)
        with _prepared(
            policy,
            database,
            chosen,
            spill=folder.path,
            writable=tuple(writable),
            limits=limits,
            listener=listener,
        ) as (session, executor):
            beside = None
            if target is None:
                beside = _beside(session, names)
                beside.check(session.engine)
            prepared = prepare(policy, session, executor)
            executor.run(prepared.compiled.stages)
            job = _Job(policy, session, executor, prepared, names, chosen, began)
            if target is not None:
                return job.into_file(target)
            assert beside is not None
            connection = None if isinstance(database, str | Path) else database
            return job.beside_source(beside, connection)
    finally:
        if target is not None:
            target.discard()
        folder.remove()


def _seed(seed: Seed | str | int | None) -> Seed:
    match seed:
        case Seed():
            return seed
        case str():
            return Seed.of(seed)
        case int():
            return Seed.test(seed)
        case _:
            return Seed.chosen()


def _refuse_source_as_target(policy: Policy, database: Database, target: Path) -> None:
    if isinstance(database, str | Path) and Path(database).resolve() == target:
        raise EngineError(
            Problem(
                "publish.database",
                "is the source database itself",
                hint="name a file of its own, or leave it out to publish beside the source",
            )
        )


def _beside(session: Session, names: Names) -> InPlaceTarget:
    catalog = session.engine.catalog
    if catalog is None:
        raise EngineError(
            Problem(
                "publish.database",
                "is needed: a file source has no database to publish into",
                hint="publish: {database: release.duckdb}",
            )
        )
    return InPlaceTarget(names, catalog, session.database if session.engine.owned else None)


@dataclass(slots=True)
class _Job:
    """The second half of a run: write, judge, publish."""

    policy: Policy
    session: Session
    executor: Executor
    prepared: Prepared
    names: Names
    seed: Seed
    began: float

    @property
    def engine(self) -> DuckDBEngine:
        return self.session.engine

    @property
    def compiled(self) -> Compiled:
        return self.prepared.compiled

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """The policy's guarantees; a hierarchical distance comes with the paths of its values."""
        found = []
        sensitive = {s.column: s for s in self.prepared.roles.sensitive}
        for item in requirements_of(self.policy):
            if item.parameters.get("distance") == "hierarchical" and item.column in sensitive:
                item = with_paths(item, published_paths(self.engine, sensitive[item.column]))
            found.append(item)
        return tuple(found)

    def into_file(self, target: FileTarget) -> Release:
        engine, names = self.engine, self.names
        with target.opened(engine, read_only=False) as catalog:
            create_schema(engine, catalog, names.schema)
            objects.create_record(engine, catalog)
            self.executor.run([self.compiled.assembly.step(names.rows(catalog))])
            create_view(engine, names, catalog)
            objects.record(engine, catalog, names.recorded())
            target.carry_over(engine)
            engine.raw(f"checkpoint {catalog}", "publish.database")
        with target.opened(engine, read_only=True) as catalog:
            verification, measures = self._judged(names.view(catalog))
            judged = fingerprint(engine, names.view(catalog))
        manifest = self._manifest(verification, measures)
        with target.opened(engine, read_only=False) as catalog:
            write_manifest(engine, names, catalog, manifest)
            engine.raw(f"checkpoint {catalog}", "publish.database")
        with target.opened(engine, read_only=True) as catalog:
            # the manifest went in after the judgement: the rows have to be the judged ones still
            if fingerprint(engine, names.view(catalog)) != judged:
                raise EngineError(Problem("publish.database", "changed while it was being built"))
        target.swap()
        manifest_file(target.path, names).write_text(manifest.text() + "\n")
        return self._release(manifest, verification, measures, target.path, None, ())

    def beside_source(
        self, target: InPlaceTarget, connection: DuckDBPyConnection | None
    ) -> Release:
        self.executor.run([self.compiled.assembly.step(STAGED)])
        verification, measures = self._judged(STAGED)
        manifest = self._manifest(verification, measures)
        target.publish(self.engine, STAGED, manifest)
        if target.database is not None:
            file = manifest_file(target.database, self.names)
            file.write_text(manifest.text() + "\n")
        return self._release(
            manifest, verification, measures, target.database, connection, (WARNING,)
        )

    def _judged(self, view: Table) -> tuple[Verification, dict[str, Any]]:
        """Raises GuaranteeError unless everything holds for the rows behind `view`."""
        began = time.perf_counter()
        found = suppression(self.policy, self.engine, view, self.compiled.layout)
        refuse_beyond(found, self.policy.suppression_limit)
        verification = judge(self.engine, view, self.compiled.layout, self.requirements)
        verification += against_source(self.policy, self.engine, self.prepared, view)
        refuse_unless_passed(verification)
        measures = release_measures(self.policy, self.engine, self.prepared, view, found)
        now = time.perf_counter()
        measures["seconds_anonymizing"] = round(began - self.began, 3)
        measures["seconds_judging"] = round(now - began, 3)
        return verification, measures

    def _manifest(self, verification: Verification, measures: dict[str, Any]) -> Manifest:
        from anonymizer import __version__

        return make_manifest(
            policy=self.policy,
            names=self.names,
            layout=self.compiled.layout,
            requirements=self.requirements,
            verification=verification,
            measures=measures,
            versions={"anonymizer": __version__, "duckdb": self.engine.version},
            reproducible=self.seed.reproducible,
        )

    def _release(
        self,
        manifest: Manifest,
        verification: Verification,
        measures: dict[str, Any],
        database: Path | None,
        connection: DuckDBPyConnection | None,
        warnings: tuple[str, ...],
    ) -> Release:
        catalog = self.engine.catalog if connection is not None else None
        return Release(
            run_id=self.names.run_id,
            view=self.names.release,
            database=database,
            verification=verification,
            measures=measures,
            manifest=manifest,
            warnings=warnings,
            _table=self.names.view(catalog),
            _connection=connection,
        )


def verify(policy: Policy | None, database: str | Path | None = None) -> Verification:
    """Judge a release again, from the release alone.

    With a policy, its requirements are judged on its view; without one, those of every manifest in
    `database`. Raises NothingToCheckError where there is nothing to judge.
    """
    import duckdb

    if database is None:
        if policy is None or policy.publish.database is None:
            raise NothingToCheckError(Problem("--database", "names no release to verify"))
        database = policy.resolve(policy.publish.database)
    path = Path(database)
    if not path.is_file():
        raise NothingToCheckError(Problem("--database", f"there is no file {path.name}"))
    with ExitStack() as stack:
        try:
            connection = stack.enter_context(duckdb.connect(str(path), read_only=True))
        except duckdb.Error as error:
            raise EngineError(
                Problem("--database", f"{path.name} cannot be opened as a DuckDB database")
            ) from error
        engine = DuckDBEngine(connection, owned=True)
        catalog = str(engine.raw("select current_catalog()", "verification")[0][0])
        if policy is not None:
            view = Names.of(policy, "").view(catalog)
            views: list[tuple[Table, tuple[Requirement, ...] | None]] = [
                (view, requirements_of(policy))
            ]
        else:
            views = [
                (item.table(catalog), None)
                for item in objects.recorded(engine, catalog)
                if item.kind == "view"
            ]
        if not views:
            raise NothingToCheckError(Problem("--database", "holds no release of this tool"))
        total: Verification | None = None
        for view, required in views:
            manifest = read_manifest(engine, view)
            found = judge(engine, view, manifest.layout, required or manifest.requirements)
            total = found if total is None else total + found
    assert total is not None
    return total


__all__ = ["AnonymizerError", "plan", "run", "verify"]
