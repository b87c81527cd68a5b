"""A policy run and judged in scratch: what a release under it would be, without one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from anonymizer.algorithms.compiled import STAGED, staged_values
from anonymizer.compile import Table
from anonymizer.engines.duckdb import Limits
from anonymizer.errors import AnonymizerError, Problem
from anonymizer.execute import Executor
from anonymizer.measure.release import column_losses
from anonymizer.pipeline import Prepared, prepare
from anonymizer.policy import Policy
from anonymizer.release.judge import judge
from anonymizer.release.layout import Requirement
from anonymizer.release.link import linked_writes
from anonymizer.release.source_checks import (
    counterfeits,
    members_read,
    originals,
    published_paths,
    release_measures,
    stage_originals,
    suppression,
)
from anonymizer.seed import Seed
from anonymizer.session import Database, Session, open_session
from anonymizer.verify import requirements_of, with_paths


@dataclass(frozen=True, slots=True)
class Trial:
    """What a run of a policy comes to."""

    columns: tuple[str, ...] = ()
    """The columns of its source; none where that cannot be read."""
    problems: tuple[Problem, ...] = ()
    """Why it cannot run; the rest is empty then."""
    achieved: dict[tuple[str, str | None], tuple[Any, bool]] = field(default_factory=dict)
    """Figure and verdict of every guarantee, by its name and column."""
    figures: dict[str, float | int | None] = field(default_factory=dict)
    """Rows, suppression, loss and risk of the whole table."""
    losses: dict[str, float] = field(default_factory=dict)
    """Mean NCP of each quasi-identifying column."""
    holds: bool = False
    """Every guarantee, and the limit on suppression."""

    @property
    def runs(self) -> bool:
        return not self.problems


def trial(policy: Policy, database: Database, seed: Seed, limits: Limits | None = None) -> Trial:
    """Run the policy over its source in scratch. What keeps it from running is in the result."""
    columns: tuple[str, ...] = ()
    try:
        with open_session(policy, database, limits=limits) as session:
            columns = tuple(name for name, _ in session.profile.columns)
            session.engine.binds = {"secret": seed.secret}
            return replace(_tried(policy, session), columns=columns)
    except AnonymizerError as error:
        return Trial(columns=columns, problems=error.problems)


def _tried(policy: Policy, session: Session) -> Trial:
    engine, executor = session.engine, Executor(session.engine)
    prepared = prepare(policy, session, executor)
    compiled = prepared.compiled
    executor.run(compiled.stages)
    tables: dict[str, Table] = {s.table: staged_values(i) for i, s in enumerate(compiled.separated)}
    executor.run(linked_writes(prepared, STAGED, tables.__getitem__))
    staged = {column: tables[name].name for column, name in compiled.layout.tables.items()}
    layout = replace(compiled.layout, tables=staged)
    requirements = _requirements(policy, session, prepared)
    stage_originals(engine, compiled, prepared.roles)
    population = members_read(policy, prepared.roles)
    verification = judge(engine, STAGED, layout, requirements, population)
    found = suppression(policy, engine, STAGED, layout, counterfeits(engine, compiled))
    measures = release_measures(requirements, engine, prepared, STAGED, layout, found)
    named = {(r.name, r.column) for r in requirements}
    units = measures["persons"] if policy.person is not None else measures["rows"]
    smallest, classes = measures["class_min"], measures["classes"]
    return Trial(
        achieved={
            (c.name, c.column): (c.achieved, c.passed)
            for c in verification.checks
            if (c.name, c.column) in named
        },
        figures={
            "rows published": measures["rows"],
            "suppressed (share)": found.share,
            "classes": classes,
            "smallest class (rows)": smallest,
            "loss per cell (NCP)": measures["ncp"],
            "mean risk": classes / units if units else None,
            "largest risk": 1 / smallest if smallest else None,
        },
        losses=column_losses(
            lambda text: engine.raw(text, "measures"),
            STAGED,
            layout,
            originals(prepared.roles),
            suppressed=measures["suppressed"],
        ),
        holds=verification.passed and found.share <= policy.suppression_limit,
    )


def _requirements(policy: Policy, session: Session, prepared: Prepared) -> tuple[Requirement, ...]:
    sensitive = {s.column: s for s in prepared.roles.sensitive}
    return tuple(
        with_paths(item, published_paths(session.engine, sensitive[item.column]))
        if item.parameters.get("distance") == "hierarchical" and item.column in sensitive
        else item
        for item in requirements_of(policy)
    )
