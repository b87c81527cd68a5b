"""Plan, run and verify on another engine than the embedded one: the same stages elsewhere."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from anonymizer.algorithms.remarks import remarks
from anonymizer.compile import Table, ident, work
from anonymizer.engines.backend import backend
from anonymizer.engines.base import EngineName, Limits
from anonymizer.engines.capabilities import refuse
from anonymizer.errors import NothingToCheckError, Problem
from anonymizer.execute import Executor, Listener
from anonymizer.job import Job
from anonymizer.pipeline import prepare
from anonymizer.plan import Plan, Step
from anonymizer.policy import Policy
from anonymizer.population import members_at_hand
from anonymizer.release.agreement import refuse_unmet
from anonymizer.release.judge import judge
from anonymizer.release.names import Names
from anonymizer.release.release import Release
from anonymizer.release.shown import refuse_unknown_columns
from anonymizer.seed import Seed
from anonymizer.session import QUERIED, open_session
from anonymizer.verify import Verification, requirements_of, with_paths_of


def plan_on(policy: Policy, database: Any, engine: EngineName) -> Plan:
    """What a run would execute there, in order; work tables are made and dropped."""
    refuse(policy, engine)
    there = backend(engine)
    with there.session(policy, database, secrets.token_hex(8), Limits()) as session:
        session.engine.binds = {"secret": Seed.fresh().secret}
        prepared = prepare(policy, session, Executor(session.engine))
        return prepared.plan(policy)


def plan_from_copy(policy: Policy, database: str | Path | None, engine: EngineName) -> Plan:
    """What a run there would execute, with the counts of a copy of the source that DuckDB reads.

    For scripts, which leave the place of a release to their reader. A table of the schema main
    stands in public on Postgres.
    """
    publish = policy.publish.model_copy(update={"database": None})
    refuse(policy.model_copy(update={"publish": publish}), engine)
    with open_session(policy, database) as session:
        session.engine.binds = {"secret": Seed.fresh().secret}
        # Spark's own sessions plan as the embedded engine does: levels are the driver's work there
        known: EngineName = "postgres" if engine == "postgres" else "duckdb"
        described = replace(session, profile=replace(session.profile, engine=known))
        prepared = prepare(policy, described, Executor(session.engine))
    read, *rest = prepared.read
    assert isinstance(read, Step)
    if policy.source.kind == "query" and engine == "postgres":
        table = QUERIED
    elif engine == "spark":
        table = work("source")
    else:
        name, schema = (*reversed(policy.source.parts), "main")[:2]
        table = Table(name, "public" if schema == "main" else schema)
    source = {"source": table, "relation": ident(table)}
    first = replace(read, parameters={**read.parameters, **source})
    return replace(prepared, read=(first, *rest)).plan(policy)


def run_on(
    policy: Policy,
    database: Any,
    engine: EngineName,
    *,
    seed: Seed,
    limits: Limits | None,
    listener: Listener | None,
) -> Release:
    """Anonymize, verify, and only then publish, all of it on `engine`."""
    refuse(policy, engine)
    began = time.perf_counter()
    run_id = secrets.token_hex(8)
    there = backend(engine)
    with there.session(policy, database, run_id, limits or Limits()) as session:
        session.engine.binds = {"secret": seed.secret}
        executor = Executor(session.engine, listener)
        target = there.target(policy, session, Names.of(policy, run_id))
        target.check(session.engine)
        prepared = prepare(policy, session, executor)
        told = tuple(remarks(policy, executor.notes, prepared.roles.kinds))
        executor.run(prepared.compiled.stages)
        job = Job(
            policy, session, executor, prepared, target.names, seed, began, keeper=None, told=told
        )
        return job.onto(target)


def verify_on(policy: Policy | None, database: Any, engine: EngineName) -> Verification:
    """Judge a release again, on the engine that holds it, from the release alone."""
    with backend(engine).published(policy, database) as found:
        total: Verification | None = None
        for view in found.views(policy):
            manifest = found.manifest(view)
            if policy is not None:
                refuse_unmet(policy, manifest.layout)
            refuse_unknown_columns(found.engine, view, manifest.layout)
            required = requirements_of(policy) if policy is not None else manifest.requirements
            required = with_paths_of(required, manifest.requirements)
            population = members_at_hand(policy, found.engine, manifest.layout)
            judged = judge(found.engine, view, manifest.layout, required, population)
            total = judged if total is None else total + judged
    if total is None:
        raise NothingToCheckError(Problem("--database", "holds no release of this tool"))
    return total
