"""The main job in Python: plan, run, verify."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer import runfolder
from anonymizer.algorithms.compiled import STAGED, Compiled, staged_values
from anonymizer.algorithms.remarks import remarks
from anonymizer.clean import remove_leftovers
from anonymizer.compile import Table
from anonymizer.engines.duckdb import DuckDBEngine, Limits
from anonymizer.errors import AnonymizerError, EngineError, NothingToCheckError, Problem
from anonymizer.execute import Executor, Listener
from anonymizer.ledger import Keeper
from anonymizer.pipeline import Prepared, prepare
from anonymizer.plan import Plan, Step
from anonymizer.policy import Policy
from anonymizer.population import members_at_hand
from anonymizer.release import objects, replace_target
from anonymizer.release.file_target import FileTarget, building_of, create_schema, create_view
from anonymizer.release.honesty import PRESENCE, presence_disclosed
from anonymizer.release.inplace_target import WARNING, InPlaceTarget
from anonymizer.release.judge import fingerprint, judge, refuse_beyond, refuse_unless_passed
from anonymizer.release.layout import Layout, Requirement
from anonymizer.release.manifest import (
    Manifest,
    make_manifest,
    manifest_file,
    read_manifest,
    write_manifest,
    write_manifest_file,
)
from anonymizer.release.names import Names
from anonymizer.release.release import Release
from anonymizer.release.replace_target import ReplaceTarget, refuse_without_consent
from anonymizer.release.source_checks import (
    LINK,
    ORIGINALS,
    against_source,
    counterfeits,
    members_read,
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
    replace_source: bool = False,
) -> Release:
    """Anonymize, verify, and only then publish. Raises on failure and publishes nothing then.

    `database`: the source's file, or an open DuckDB connection, which is used itself. `seed`: a
    secret of 64 hexadecimal digits; a number makes a release that is stamped reproducible.
    `replace_source`: agreement to `publish: {replace_source: true}`, which needs one.
    """
    if policy.publish.replace_source:
        refuse_without_consent(replace_source)
    began = time.perf_counter()
    chosen = _seed(seed)
    run_id = secrets.token_hex(8)
    names = Names.of(policy, run_id)
    target = None
    if policy.publish.database is not None:
        target = FileTarget(policy.resolve(policy.publish.database).resolve(), names)
        _refuse_source_as_target(policy, database, target.path)
        target.check()
    keeper = Keeper.of(policy, run_id, names.release, target.path if target is not None else None)
    if keeper is not None:
        keeper.check(database)
    place = target.path if target is not None else _file_of(database)
    if place is not None:
        remove_leftovers(place)
    folder = runfolder.create(run_id, building_of(place, run_id) if place is not None else None)
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
                beside = _beside(policy, session, names)
                names = beside.names
                beside.check(session.engine)
                if keeper is not None:
                    keeper.target = beside.database
            if keeper is not None:
                keeper.begin(session.engine)
            prepared = prepare(policy, session, executor)
            told = tuple(remarks(policy, executor.notes))
            executor.run(prepared.compiled.stages)
            job = _Job(policy, session, executor, prepared, names, chosen, began, keeper, told)
            if target is not None:
                return job.into_file(target)
            assert beside is not None
            connection = None if isinstance(database, str | Path) else database
            return job.beside_source(beside, connection)
    finally:
        if target is not None:
            target.discard()
        folder.remove()


def _file_of(database: Database) -> Path | None:
    return Path(database).resolve() if isinstance(database, str | Path) else None


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


def _beside(policy: Policy, session: Session, names: Names) -> InPlaceTarget:
    catalog = session.engine.catalog
    if catalog is None:
        raise EngineError(
            Problem(
                "publish.database",
                "is needed: a file source has no database to publish into",
                hint="publish: {database: release.duckdb}",
            )
        )
    database = session.database if session.engine.owned else None
    if policy.publish.replace_source:
        source = session.source.table
        assert source is not None
        names = replace(names, schema=source.schema or names.schema, name=source.name)
        return ReplaceTarget(names, catalog, database, source=source)
    return InPlaceTarget(names, catalog, database)


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
    keeper: Keeper | None
    told: tuple[str, ...] = ()
    """Warnings about the source."""

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
        replaced = target.identity()
        with target.opened(engine, read_only=False) as catalog:
            create_schema(engine, catalog, names.schema)
            objects.create_record(engine, catalog)
            self.executor.run(
                self.compiled.writes(names.rows(catalog), lambda t: names.separate(t, catalog))
            )
            create_view(engine, names, catalog)
            objects.record(engine, catalog, names.recorded())
            target.carry_over(engine)
            engine.raw(f"checkpoint {catalog}", "publish.database")
        with target.opened(engine, read_only=True) as catalog:
            verification, measures = self._judged(names.view(catalog), self.compiled.layout)
            judged = [fingerprint(engine, table) for table in names.published(catalog)]
        manifest = self._manifest(verification, measures)
        with target.opened(engine, read_only=False) as catalog:
            write_manifest(engine, names, catalog, manifest)
            engine.raw(f"checkpoint {catalog}", "publish.database")
        with target.opened(engine, read_only=True) as catalog:
            # the manifest went in after the judgement: the rows have to be the judged ones still
            if [fingerprint(engine, table) for table in names.published(catalog)] != judged:
                raise EngineError(Problem("publish.database", "changed while it was being built"))
        self._remember()
        try:
            target.swap(replaced)
        except BaseException:
            if target.building.exists():  # else it stands, whatever came after
                self._withdraw()
            raise
        self._confirm()
        write_manifest_file(manifest_file(target.path, names), manifest, target.building)
        return self._release(manifest, verification, measures, target.path, None, ())

    def _remember(self) -> None:
        """Let the ledger compare and remember; from here on the release counts as published."""
        if self.keeper is None:
            return
        self.keeper.remember(
            self.engine,
            self.prepared.roles,
            self.compiled.layout,
            link=LINK,
            originals=ORIGINALS,
            secret=self.seed.secret,
        )

    def _withdraw(self) -> None:
        if self.keeper is not None:
            self.keeper.withdraw(self.engine)

    def _confirm(self) -> None:
        if self.keeper is not None:
            self.keeper.confirm(self.engine)

    def beside_source(
        self, target: InPlaceTarget, connection: DuckDBPyConnection | None
    ) -> Release:
        tables = {s.table: staged_values(i) for i, s in enumerate(self.compiled.separated)}
        self.executor.run(self.compiled.writes(STAGED, tables.__getitem__))
        layout = self.compiled.layout
        staged = {column: tables[name].name for column, name in layout.tables.items()}
        verification, measures = self._judged(STAGED, replace(layout, tables=staged))
        manifest = self._manifest(verification, measures)
        self._remember()
        warning = WARNING
        try:
            if isinstance(target, ReplaceTarget):
                warning = replace_target.WARNING
                (snapshot,) = (s for s in self.prepared.read[:1] if isinstance(s, Step))
                target.publish_unchanged(self.engine, STAGED, manifest, tables, snapshot)
            else:
                target.publish(self.engine, STAGED, manifest, tables)
        except BaseException:
            self._withdraw()
            raise
        self._confirm()
        if target.database is not None:
            file = manifest_file(target.database, self.names)
            aside = building_of(target.database, self.names.run_id)
            write_manifest_file(file, manifest, aside)
        return self._release(
            manifest, verification, measures, target.database, connection, (warning,)
        )

    def _judged(self, view: Table, layout: Layout) -> tuple[Verification, dict[str, Any]]:
        """Raises GuaranteeError unless everything holds for the rows behind `view`."""
        began = time.perf_counter()
        forged = counterfeits(self.engine, self.compiled)
        found = suppression(self.policy, self.engine, view, layout, forged)
        refuse_beyond(found, self.policy.suppression_limit)
        source = against_source(self.policy, self.engine, self.prepared, view, layout)
        population = members_read(self.policy, self.prepared.roles)
        verification = judge(self.engine, view, layout, self.requirements, population) + source
        refuse_unless_passed(verification)
        measures = release_measures(
            self.requirements, self.engine, self.prepared, view, layout, found
        )
        measures |= self.executor.notes
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
            findings=self._findings(),
        )

    def _findings(self) -> dict[str, Any]:
        return {
            found.name: found.tell(self.engine.execute(found.query.statement(), found.name))
            for found in self.compiled.findings
        }

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
            warnings=(
                *warnings,
                *self.told,
                *((PRESENCE,) if presence_disclosed(self.policy) else ()),
            ),
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
            population = members_at_hand(policy, engine, manifest.layout)
            requirements = required or manifest.requirements
            found = judge(engine, view, manifest.layout, requirements, population)
            total = found if total is None else total + found
    assert total is not None
    return total


__all__ = ["AnonymizerError", "plan", "run", "verify"]
