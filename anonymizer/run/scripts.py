"""The SQL of a run: a script that DuckDB executes without this tool, or a listing."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from anonymizer.algorithms.core.compiled import STAGED
from anonymizer.compile import Sql, Table, ident, lit, work
from anonymizer.compile.dialect import MARK
from anonymizer.contract.checks import Check, RunSql
from anonymizer.contract.layout import Requirement
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import SOURCE
from anonymizer.engines.duckdb.messages import Rehearsal
from anonymizer.engines.duckdb.script import Counts, Judging, ScriptInput, script_text
from anonymizer.engines.registry import chosen_engine, dialect_of, refuse
from anonymizer.engines.session import Workplace
from anonymizer.errors import EngineError, PolicyError, Problem, TemplateError
from anonymizer.hierarchy.levels import shape_sql
from anonymizer.policy import AnyPolicy, Lgb, Policy
from anonymizer.policy.paths import column_path
from anonymizer.process.secret import Seed
from anonymizer.process.text import many
from anonymizer.release.judge import Suppression, refuse_beyond, unmet
from anonymizer.run.prepare import Prepared, counting, prepare, spanning
from anonymizer.run.release_rows import (
    COMPARED,
    LINK,
    members_read,
    original_statements,
    originals,
    policy_requirements,
    release_writes,
    suppression_counts,
)
from anonymizer.run.verbs import executing, plan
from anonymizer.steps import Row, Step
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
        executor.listener, executor.recorder = rehearsal.heard, rehearsal.record
        executor.solver = None  # a script has only one database
        prepared = prepare(policy, session, executor)
        rest = (*prepared.compiled.stages, *release_writes(prepared, STAGED, work))
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
        return script_text(
            ScriptInput(
                title=f"{policy.algorithm.name} over {many(prepared.rows, 'row')}, compiled to SQL",
                policy=policy,
                roles=prepared.roles,
                database=database if isinstance(database, str | Path) else None,
                search_path=session.embedded.search_path(SOURCE),
                views=session.engine.view_definitions(),
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


# The SQL of a run: a script that DuckDB executes without this tool, or a listing for other engines.


def script(
    policy: AnyPolicy, database: Any, dialect: str | None, limits: Limits | None = None
) -> tuple[str, str]:
    """The dialect used, and every statement of a run of `policy` in it."""
    _refuse_continued(policy.lead)
    PolicyError.refuse(chain.from_iterable(_keyed(one, at) for at, one in policy.singles.items()))
    _refuse_parts(policy.lead)
    engine = chosen_engine(policy.lead, database, dialect)
    if engine == "duckdb" and not policy.several and policy.counts is None:
        return engine, rehearsed(policy.one_table("compile"), database, limits)
    read = plan(policy, database, engine=engine, limits=limits)
    text = read.sql(None if engine == "duckdb" else translated(engine))
    return engine, f"-- {read.title}: to read, not to run\n\n{text}"


def translated(engine: str) -> Callable[[Step], str]:
    """The function that writes a step in the SQL of an engine."""

    def written(step: Step) -> str:
        try:
            made = dialect_of(engine).translate(step.statement(engine).text, pretty=True)
        except TemplateError:
            return f"-- (in DuckDB beside {engine}, in its SQL)\n{step.statement().text};"
        return "\n".join(f"{text};" for text in made).replace(MARK, "anonymizer_work")

    return written


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


def _keyed(policy: Policy, at: str) -> Iterator[Problem]:
    """Masks that need a key: no script contains one."""
    for name in policy.masked:
        for mask, options in policy.columns[name].masks:
            if mask in ("token", "shift", "noise") or getattr(options, "method", None) == "random":
                said = f"is masked by {mask}, which needs a key that a script cannot hold"
                yield Problem(at + column_path(name), said, hint="anonymizer run does it")
