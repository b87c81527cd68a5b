"""The main job in Python: plan, run, verify."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from anonymizer import runfolder
from anonymizer.algorithms.remarks import remarks
from anonymizer.clean import remove_leftovers
from anonymizer.compile import Table
from anonymizer.engines.choice import chosen_engine
from anonymizer.engines.duckdb import Limits
from anonymizer.errors import AnonymizerError, EngineError, NothingToCheckError, Problem, no_file
from anonymizer.execute import Executor, Listener
from anonymizer.interrupts import deciding
from anonymizer.job import Job
from anonymizer.ledger import Keeper
from anonymizer.pipeline import prepare
from anonymizer.plan import Plan
from anonymizer.policy import Policy
from anonymizer.population import members_at_hand
from anonymizer.release import objects
from anonymizer.release.agreement import refuse_unmet
from anonymizer.release.file_target import FileTarget, building_of
from anonymizer.release.inplace_target import InPlaceTarget
from anonymizer.release.judge import judge
from anonymizer.release.layout import Requirement
from anonymizer.release.manifest import read_manifest
from anonymizer.release.names import Names
from anonymizer.release.opening import opened, place_of
from anonymizer.release.release import Release
from anonymizer.release.replace_target import ReplaceTarget, refuse_without_consent
from anonymizer.release.shown import refuse_unknown_columns
from anonymizer.seed import Seed
from anonymizer.session import Database, Session, open_session
from anonymizer.verify import Verification, requirements_of, with_paths_of


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


def plan(policy: Policy, database: Database = None, *, engine: str | None = None) -> Plan:
    """What a run would execute, in order. Reads the source into memory; writes nothing.

    Raises the same errors as `run` for what a look at the source shows. `engine`: as for `run`.
    """
    kind = chosen_engine(policy, database, engine)
    if kind != "duckdb":
        from anonymizer.elsewhere import plan_on

        return plan_on(policy, database, kind)
    with _prepared(policy, database, Seed.fresh()) as (session, executor):
        prepared = prepare(policy, session, executor)
        return prepared.plan(policy)


@deciding()
def run(
    policy: Policy,
    database: Database = None,
    *,
    seed: Seed | str | int | None = None,
    limits: Limits | None = None,
    listener: Listener | None = None,
    replace_source: bool = False,
    engine: str | None = None,
) -> Release:
    """Anonymize, verify, and only then publish. Raises on failure and publishes nothing then.

    `database`: the source's file, or an open DuckDB connection, which is used itself; the address
    of a Postgres database (postgresql://...) or a connection of psycopg; a Spark session. `seed`: a
    secret of 64 hexadecimal digits; a number makes a release that is stamped reproducible.
    `replace_source`: agreement to `publish: {replace_source: true}`, which needs one. `engine`:
    duckdb, postgres or spark, before what the policy says and the database tells.
    """
    kind = chosen_engine(policy, database, engine)
    if kind != "duckdb":
        from anonymizer.elsewhere import run_on

        return run_on(policy, database, kind, seed=_seed(seed), limits=limits, listener=listener)
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
        target.check_place()
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
            if target is not None:
                target.check_content(session.embedded)
            else:
                beside = _beside(policy, session, names)
                names = beside.names
                beside.check(session.embedded)
                if keeper is not None:
                    keeper.target = beside.database
            if keeper is not None:
                keeper.begin(session.embedded)
            prepared = prepare(policy, session, executor)
            told = tuple(remarks(policy, executor.notes, prepared.roles.kinds))
            executor.run(prepared.compiled.stages)
            job = Job(policy, session, executor, prepared, names, chosen, began, keeper, told)
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


def verify(
    policy: Policy | None, database: Database = None, *, engine: str | None = None
) -> Verification:
    """Judge a release again, from the release alone.

    With a policy, its requirements are judged on its view; without one, those of every manifest
    there.

    `database`: the file of the release, or an open DuckDB connection to where it stands. Raises
    NothingToCheckError where there is nothing to judge, and GuaranteeError where the release has
    other columns or roles than the policy asks for. `engine`: as for `run`.
    """
    kind = chosen_engine(policy, database, engine)
    if kind != "duckdb":
        from anonymizer.elsewhere import verify_on

        return verify_on(policy, database, kind)

    if database is None:
        if policy is None or policy.publish.database is None:
            hint = "the release stands beside its source: name the database" if policy else None
            raise NothingToCheckError(
                Problem("--database", "names no release to verify", hint=hint)
            )
        database = policy.resolve(policy.publish.database)
    where = "--database"
    if isinstance(database, str | Path):
        path = Path(database)
        where = place_of(policy, path)
        if not path.is_file():
            raise NothingToCheckError(Problem(where, no_file(path), hint="anonymizer run makes it"))
    with opened(database, where) as (found_in, catalog):
        if policy is not None:
            view = Names.of(policy, "").view(catalog)
            views: list[tuple[Table, tuple[Requirement, ...] | None]] = [
                (view, requirements_of(policy))
            ]
        else:
            views = [
                (item.table(catalog), None)
                for item in objects.recorded(found_in, catalog)
                if item.kind == "view"
            ]
        if not views:
            raise NothingToCheckError(Problem("--database", "holds no release of this tool"))
        total: Verification | None = None
        for view, required in views:
            manifest = read_manifest(found_in, view)
            if policy is not None:
                refuse_unmet(policy, manifest.layout)
            refuse_unknown_columns(found_in, view, manifest.layout)
            population = members_at_hand(policy, found_in, manifest.layout)
            requirements = with_paths_of(required or manifest.requirements, manifest.requirements)
            found = judge(found_in, view, manifest.layout, requirements, population)
            total = found if total is None else total + found
    assert total is not None
    return total


__all__ = ["AnonymizerError", "plan", "run", "verify"]
