"""A run as a script in the SQL of an engine, to be executed without this tool."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from anonymizer.compile import ident
from anonymizer.engines.base import Limits
from anonymizer.engines.capabilities import refuse
from anonymizer.engines.registry import chosen_engine, engines, script_of, told_by
from anonymizer.errors import EngineError, PolicyError, Problem
from anonymizer.policy import Policy, single
from anonymizer.policy.checks.names import read_too_long
from anonymizer.policy.paths import column_path
from anonymizer.process.seed import Seed
from anonymizer.run.prepare import prepare, refuse_clashes
from anonymizer.run.verbs import executing, plan
from anonymizer.source.roles import roles
from anonymizer.steps import Plan, Step


def script(
    policy: Policy, database: Any, dialect: str | None, limits: Limits | None = None
) -> tuple[str, str]:
    """The dialect used, and every statement of a run of `policy` in it.

    If the dialect is not that of `database`, the file is taken for a copy of the source table.
    """
    single(policy, "compile")
    _refuse_continued(policy)
    _refuse_keyed(policy)
    _refuse_parts(policy)
    copied = dialect not in (None, "duckdb") and told_by(database) is None
    copied = copied and (database is not None or policy.source.kind == "file")
    engine = chosen_engine(policy, database, dialect)
    if engine == "duckdb":
        from anonymizer.run.rehearsed import rehearsed

        return engine, rehearsed(policy, database, limits)
    of_engine = script_of(engine)
    policy = of_engine.scripted(policy)
    read = (
        plan_from_copy(policy, database, engine, limits)
        if copied
        else plan(policy, database, engine=engine, limits=limits)
    )
    return engine, of_engine.script(read, policy, database)


def _refuse_continued(policy: Policy) -> None:
    """Raise EngineError for a release that continues earlier ones."""
    if policy.continues:
        said = "has no script: the statements read what the ledger remembers of earlier releases"
        raise EngineError.at("republish", said, hint="anonymizer run does it")


def _refuse_parts(policy: Policy) -> None:
    """Raise PolicyError for parts, each of which needs a separate database."""
    if policy.algorithm.must_divide:
        said = "has no script, which has one database only"
        raise PolicyError.at("algorithm.part_size", said, "auto, all", "all, or anonymizer run")


def _refuse_keyed(policy: Policy) -> None:
    """Raise PolicyError for masks that need a key: no script contains one."""
    PolicyError.refuse(
        Problem(
            column_path(name),
            f"is masked by {mask}, which needs a key that a script cannot hold",
            hint="anonymizer run does it",
        )
        for name in policy.masked
        for mask, options in policy.columns[name].masks
        if mask in ("token", "shift", "noise") or getattr(options, "method", None) == "random"
    )


def plan_from_copy(
    policy: Policy, database: str | Path | None, engine: str, limits: Limits | None = None
) -> Plan:
    """What a run on `engine` would execute, with the counts of a copy that DuckDB reads.

    Where the release goes is left to the reader of the script.
    """
    publish = policy.publish.model_copy(update={"database": None})
    refuse(policy.model_copy(update={"publish": publish}), engine)
    with executing(policy, database, "duckdb", seed=Seed.fresh(), limits=limits) as (
        session,
        executor,
    ):
        there = engines()[engine]
        if there.longest_name is not None:
            PolicyError.refuse(read_too_long(policy, there.longest_name))
            refuse_clashes(policy, roles(policy, session.profile), there.longest_name)
        profile = replace(
            session.profile,
            recursive=there.recursive,
            numeric_draws=there.numeric_draws,
            eras=there.eras,
        )
        prepared = prepare(policy, replace(session, profile=profile), executor)
    read, *rest = prepared.read
    assert isinstance(read, Step)
    table = script_of(engine).copied_source(policy)
    source = {"source": table, "relation": ident(table)}
    first = replace(read, parameters={**read.parameters, **source})
    return replace(prepared, read=(first, *rest)).plan(policy)
