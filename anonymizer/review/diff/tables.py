"""A trial run of a policy of several tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from anonymizer.algorithms.compiled import STAGED, staged_values
from anonymizer.compile import Table
from anonymizer.contract.checks import Verification
from anonymizer.contract.tables import Released
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Session
from anonymizer.measure.release import column_losses
from anonymizer.policy import SchemaPolicy
from anonymizer.policy.schema.derived import lead_of
from anonymizer.release.judge import judge
from anonymizer.release.tables import judge_tables, refuse_tables_unanswered
from anonymizer.review.diff.required import Named, required_of
from anonymizer.review.diff.result import Trial, of_whole
from anonymizer.review.tables.observers import Observer, in_release
from anonymizer.run.source_checks import (
    originals,
    policy_requirements,
    release_measures,
    stage_originals,
    suppression,
)
from anonymizer.run.tables import TablesRead, at_table, read_tables
from anonymizer.run.tables_checks import stage_table_originals, tables_measures, tables_read
from anonymizer.verification.tables import Where


def tried_tables(policy: SchemaPolicy, session: Session, below: int | None = None) -> Trial:
    """Run the policy over the source of an open session, in its scratch.

    `below`: how many candidates are too few; default: the policy's k.
    """
    engine, executor, lead = session.engine, Executor(session.engine), lead_of(policy)
    read = read_tables(policy, session, executor)
    prepared, roles = read.prepared, read.persons.roles
    layout = prepared.compiled.layout
    with at_table(policy.person):
        executor.run(prepared.compiled.stages)
    executor.run([*read.writes()])
    stage_originals(engine, prepared.compiled, roles)
    requirements = policy_requirements(lead, engine, roles)
    alone = judge(engine, STAGED, layout, requirements)
    for one in read.compiled.tables:
        stage_table_originals(engine, one)
    tables, where = tables_read(policy, read, engine), _staged(read)
    together = judge_tables(engine, tables, where)
    refuse_tables_unanswered(policy, alone + together)
    found = suppression(lead, engine, roles, STAGED, layout)
    measures = release_measures(requirements, engine, prepared, STAGED, layout, found)
    others = tables_measures(engine, read, tables, where, all_rows=True)
    left = in_release(engine.asking("observers"), replace(tables, k=below or tables.k), where)
    return Trial(
        achieved=dict(_achieved(policy, alone + together)),
        figures={
            "persons published": found.published,
            "persons suppressed": found.suppressed,
            **of_whole("persons", found.share, measures, found.published),
            **_of_tables(others),
        },
        losses={
            f"{policy.person}.{column}": loss
            for column, loss in column_losses(
                engine.asking("measures"),
                STAGED,
                layout,
                originals(roles),
                suppressed=measures["suppressed"],
            ).items()
        }
        | {
            f"{table}.{column}": loss
            for table, one in others.items()
            for column, loss in one["ncp"].items()
        },
        observers=dict(_told(left, below or tables.k)),
        holds=(alone + together).passed and found.share <= policy.suppression_limit,
    )


def _staged(read: TablesRead) -> Where:
    """Where the tables of a trial are."""
    numbers = {one.child.name: one.child.number for one in read.compiled.tables}

    def where(one: Released) -> Table:
        return staged_values(numbers[one.table]) if one.table in numbers else STAGED

    return where


def _achieved(
    policy: SchemaPolicy, judged: Verification
) -> Iterator[tuple[Named, tuple[Any, bool]]]:
    """Figure and verdict of every guarantee; conditions of form are no guarantees."""
    required = required_of(policy)
    for check in judged.checks:
        column = check.column
        if column is not None and not column.startswith(tuple(f"{t}." for t in policy.children)):
            column = f"{policy.person}.{column}"
        if (check.name, column) in required:
            yield (check.name, column), (check.achieved, check.passed)


def _of_tables(measures: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    found = {}
    for table, one in measures.items():
        found[f"{table}: rows published"] = one["rows"]
        found[f"{table}: rows left out"] = one["suppressed"]
        if "orphans" in one:
            found[f"{table}: rows that reach nobody"] = one["orphans"]
    return found


def _told(left: Iterable[Observer], below: int) -> Iterator[tuple[str, int]]:
    for one in left:
        yield f"{one.knows}: alone", one.alone
        yield f"{one.knows}: fewer than {below} left", one.below
