"""A run as a script in the SQL of an engine, to be executed without this tool."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anonymizer.algorithms.core.compiled import STAGED
from anonymizer.compile import Sql, Table, ident, lit, work
from anonymizer.contract.checks import Check, RunSql
from anonymizer.contract.layout import Requirement
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import SOURCE
from anonymizer.engines.duckdb.messages import Rehearsal
from anonymizer.engines.duckdb.script import Counts, Judging, Scripted, written
from anonymizer.engines.registry import chosen_engine, engines, refuse, script_of, told_by
from anonymizer.engines.session import Workplace
from anonymizer.errors import EngineError, PolicyError, Problem
from anonymizer.hierarchy.levels import shape_sql
from anonymizer.policy import Lgb, Policy, single
from anonymizer.policy.checks.release_options import read_too_long
from anonymizer.policy.paths import column_path
from anonymizer.process.secret import Seed
from anonymizer.process.text import many
from anonymizer.release.judge import Suppression, refuse_beyond, unmet
from anonymizer.run.prepare import Prepared, counting, prepare, refuse_clashes, spanning
from anonymizer.run.source_comparison import (
    COMPARED,
    LINK,
    linked_writes,
    members_read,
    original_statements,
    originals,
    policy_requirements,
    suppression_counts,
)
from anonymizer.run.verbs import executing, plan
from anonymizer.source.roles import roles
from anonymizer.steps import Plan, Row, Step
from anonymizer.verification.questions import Question
from anonymizer.verification.release import verify_release
from anonymizer.verification.source_comparison import verify_against_source

# A DuckDB script of a run, recorded from one execution in scratch that is not published.
#
# The execution shows how many rounds loops take and which rows `Compute` stages return. With
# another secret the number of rounds may differ slightly, so the script has more rounds.


def rehearsed(policy: Policy, database: Any, limits: Limits | None = None) -> str:
    """Execute a run in scratch without publishing, and return it as a script.

    Raises the errors that the run would raise.
    """
    refuse(policy, "duckdb")
    # (with a folder for spilling, as a run has)
    place = Workplace(secrets.token_hex(8), writes=True)
    opening = executing(policy, database, "duckdb", seed=Seed.fresh(), run=place, limits=limits)
    with opening as (session, executor):
        rehearsal = Rehearsal(session.engine)
        executor.listener, executor.recorder = rehearsal.heard, rehearsal.computed
        executor.solver = None  # a script has only one database
        prepared = prepare(policy, session, executor)
        rest = (*prepared.compiled.stages, *linked_writes(prepared, STAGED, work))
        executor.run(rest)
        requirements = policy_requirements(policy, session.engine, prepared.roles)
        judging = [*_judging(policy, prepared, requirements)]
        at_once = session.engine.reads_once
        counted = [counting(policy, prepared.roles, at_once=at_once)]
        if policy.algorithm.clusters_persons:
            counted.append(spanning(prepared.roles))
        if policy.algorithm.over_levels:
            counted.append(shape_sql([a.hierarchy for a in prepared.roles.quasi]))
        counts = [Counts(text, session.engine.raw(text, "counts")) for text in counted]
        return written(
            Scripted(
                title=f"{policy.algorithm.name} over {many(prepared.rows, 'row')}, compiled to SQL",
                policy=policy,
                roles=prepared.roles,
                database=database if isinstance(database, str | Path) else None,
                search_path=session.embedded.search_path(SOURCE),
                views=session.engine.defined(),
                read=prepared.read,
                counts=[item for item in counts if item.found],
                rest=rest,
                judging=judging,
                staged=[ident(t).text for t in _tables(prepared)],
                rehearsal=rehearsal,
            )
        )


def _tables(prepared: Prepared) -> Iterator[Table]:
    yield STAGED
    for separated in prepared.compiled.separated:
        yield work(separated.table)


def _judging(
    policy: Policy, prepared: Prepared, requirements: tuple[Requirement, ...]
) -> Iterator[Judging]:
    """The questions that a run asks about the written rows, in order."""
    compiled, roles = prepared.compiled, prepared.roles
    layout = compiled.layout
    unit, counts = suppression_counts(policy, roles, STAGED, layout)

    def beyond(row: Row) -> None:
        refuse_beyond(Suppression(unit, row[0], row[1]), policy.suppression_limit)

    text = "select " + ", ".join(f"({count})" for count in counts)
    yield Judging("suppression_limit", "rows or persons left out", text, beyond, 2)
    for text in original_statements(compiled, roles):
        yield Judging("originals", "what the release is compared with", text)
    asked = _Asked()
    where = originals(roles)
    verify_release(_some, STAGED, layout, requirements, members_read(policy, roles), asked)
    read = prepared.rows - prepared.profile.left_out
    verify_against_source(
        _some,
        where,
        LINK,
        STAGED,
        layout,
        compared=COMPARED,
        suppressed=Sql(f"({lit(read)} - (select count(*) from {ident(LINK)}))"),
        promoted=isinstance(policy.algorithm, Lgb) and policy.algorithm.small_patterns == "promote",
        ask=asked,
    )
    yield from asked.judging()


class _Asked:
    """Records questions instead of answering them."""

    def __init__(self) -> None:
        self.questions: list[Question] = []

    def __call__(self, questions: Sequence[Question], run_sql: RunSql) -> tuple[Check, ...]:
        del run_sql
        self.questions += questions
        return ()

    def judging(self) -> Iterator[Judging]:
        known: set[str] = set()
        for question in self.questions:
            if question.needs is not None and question.needs not in known:
                known.add(question.needs)
                yield Judging(
                    "compared", "cells beside the originals of their rows", question.needs
                )
            yield _asking(question)


def _asking(question: Question) -> Judging:
    def explain(row: Row) -> Problem | None:
        broken, *figures = row
        if broken == 0:
            return None
        achieved = question.achieves(figures or [broken])
        return unmet(question.name, question.column, question.required, achieved)

    about = f" of {question.column}" if question.column is not None else ""
    text = question.sql(figures=True)
    width = 1 + len(question.achieved)
    return Judging(f"{question.name}{about}", "judged on the release", text, explain, width)


def _some(_: str) -> list[tuple[Any, ...]]:
    """Answer that there are rows, although there are none yet."""
    return [(True,)]


# A run as a script in the SQL of an engine, to be executed without this tool.


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
