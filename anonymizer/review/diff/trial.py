"""A trial run: a policy is run and verified in scratch tables, without publishing."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from anonymizer.algorithms.compiled import STAGED, staged_values
from anonymizer.compile import Table
from anonymizer.contract.layout import Requirement
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.session import open_session
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Database, Session
from anonymizer.errors import AnonymizerError, Problem
from anonymizer.measure.release import column_losses
from anonymizer.policy import Policy
from anonymizer.privacy.of_policy.requirements import requirements_of, with_paths
from anonymizer.process.seed import Seed
from anonymizer.publish.target import Target, publisher
from anonymizer.release.judge import judge, refuse_unanswered
from anonymizer.release.names import Names
from anonymizer.run.link import linked_writes
from anonymizer.run.prepare import Prepared, prepare
from anonymizer.run.source_checks import (
    counterfeits,
    members_read,
    originals,
    published_paths,
    release_measures,
    stage_originals,
    suppression,
)


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a trial run."""

    columns: tuple[str, ...] = ()
    """The columns of its source; none where that cannot be read."""
    replaces: tuple[str, ...] = ()
    """What a run would replace or drop."""
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
    known = Trial()
    try:
        with open_session(policy, database, limits=limits) as session:
            columns = tuple(name for name, _ in session.profile.columns)
            known = Trial(columns=columns, replaces=_replaced(policy, session))
            session.engine.binds = {"secret": seed.secret}
            found = tried(policy, session)
            return replace(found, columns=known.columns, replaces=known.replaces)
    except AnonymizerError as error:
        return replace(known, problems=error.problems)


def _replaced(policy: Policy, session: Session) -> tuple[str, ...]:
    """The objects that a run would replace, without checking that it may."""
    target: Target | None = None
    with suppress(AnonymizerError):
        names = Names.of(policy, secrets.token_hex(8))
        target = publisher(session.engine.name).target(policy, session, names)
        target.check(session.engine)
    return target.replaces if target is not None else ()


def tried(policy: Policy, session: Session) -> Trial:
    """Run the policy over the source of an open session, in its scratch."""
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
    refuse_unanswered(policy, verification)
    forged = counterfeits(engine, compiled)
    found = suppression(policy, engine, prepared.roles, STAGED, layout, forged)
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
