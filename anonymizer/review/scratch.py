"""A run in scratch: anonymized, verified and measured like a release, but not published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from anonymizer.algorithms.compiled import STAGED, staged_values
from anonymizer.compile import Table
from anonymizer.contract.checks import Verification
from anonymizer.contract.layout import Layout, Requirement
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Session
from anonymizer.measure.release import smallest_class
from anonymizer.policy import Policy
from anonymizer.release.judge import Suppression, judge, refuse_unanswered
from anonymizer.release.manifest import Manifest
from anonymizer.review.with_source import Beside
from anonymizer.run.link import linked_writes
from anonymizer.run.original_values import members_read, originals
from anonymizer.run.prepare import Prepared, prepare
from anonymizer.run.source_checks import (
    counterfeits,
    judging,
    policy_requirements,
    release_measures,
    stage_originals,
    suppression,
)
from anonymizer.steps import Stage


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
