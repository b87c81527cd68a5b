"""A trial run: a policy is run and verified in scratch tables, without publishing."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from anonymizer.algorithms.compiled import STAGED
from anonymizer.compile import work
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.session import relation_of
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Database, Session
from anonymizer.errors import AnonymizerError
from anonymizer.measure.release import column_losses
from anonymizer.policy import AnyPolicy, Policy, SchemaPolicy
from anonymizer.policy.paths import column_path
from anonymizer.policy.schema.derived import child_policy, lead_of
from anonymizer.policy.schema.paths import table_path
from anonymizer.process.seed import Seed
from anonymizer.publish.target import Target, publisher
from anonymizer.release.names import Names
from anonymizer.review.diff.required import Named, required_of
from anonymizer.review.diff.result import Trial, of_whole
from anonymizer.review.diff.tables import trial_of_tables
from anonymizer.review.scratch import Scratch, in_scratch, unit_of
from anonymizer.review.tables.opening import open_source
from anonymizer.run.original_values import originals
from anonymizer.source.masking.keys import bound_values


def trial(
    policy: AnyPolicy,
    database: Database,
    seed: Seed,
    limits: Limits | None = None,
    *,
    below: int | None = None,
) -> Trial:
    """Run the policy over its source in scratch. Reasons why it cannot run are in the result.

    `below`: for several tables, fewer candidates than this are too few; default: the policy's k.
    """
    known = Trial()
    try:
        with open_source(policy, database, limits=limits) as session:
            columns = dict(_columns(policy, session))
            known = Trial(columns=columns, replaces=_replaced(policy, session))
            session.engine.binds = bound_values(policy, seed.secret)
            if isinstance(policy, SchemaPolicy):
                found = trial_of_tables(policy, session, below)
            else:
                found = tried(policy, session)
            return replace(found, columns=known.columns, replaces=known.replaces)
    except AnonymizerError as error:
        return replace(known, problems=error.problems)


def _columns(policy: AnyPolicy, session: Session) -> Iterator[tuple[str, str]]:
    """Name and path of every column of the tables that can be read."""
    if not isinstance(policy, SchemaPolicy):
        yield from ((name, column_path(name)) for name, _ in session.profile.columns)
        return
    for number, table in enumerate((policy.person, *policy.children)):
        profile = session.profile
        if number:
            with suppress(AnonymizerError):
                # (the run itself executes a query once more, into a separate table)
                one, seen = child_policy(policy, table), work(f"seen_{number}")
                _, profile = relation_of(one, session.embedded, seen)
        if not number or profile is not session.profile:
            for name, _ in profile.columns:
                yield f"{table}.{name}", table_path(table, "columns", name)


def _replaced(policy: AnyPolicy, session: Session) -> tuple[str, ...]:
    """The objects that a run would replace, whether or not it is permitted to."""
    target: Target | None = None
    with suppress(AnonymizerError):
        names = Names.of(policy, secrets.token_hex(8))
        target = publisher(session.engine.name).target(lead_of(policy), session, names)
        target.check(session.engine)
    return target.replaces if target is not None else ()


def tried(policy: Policy, session: Session) -> Trial:
    """Run the policy over the source of an open session, in its scratch."""
    found = in_scratch(policy, session, Executor(session.engine))
    engine, measures = found.session.engine, found.measures
    return Trial(
        achieved=guarantees_of(policy, found),
        figures={"rows published": measures["rows"], **whole_of(policy, found)},
        losses=column_losses(
            engine.asking("measures"),
            STAGED,
            found.layout,
            originals(found.prepared.roles),
            suppressed=measures["suppressed"],
        ),
        holds=found.holds(policy),
    )


def whole_of(policy: Policy, found: Scratch) -> dict[str, float | int | None]:
    """The figures of the table that a scratch run divided into classes."""
    share, many = found.suppression.share, found.units(policy)
    return of_whole(unit_of(policy), share, found.measures, many, found.smallest)


def guarantees_of(policy: Policy, found: Scratch) -> dict[Named, tuple[Any, bool]]:
    """Figure and verdict of every guarantee of the policy."""
    named = required_of(policy)
    return {
        (c.name, c.column): (c.achieved, c.passed)
        for c in found.verification.checks
        if (c.name, c.column) in named
    }
