"""A trial run: a policy is run and verified in scratch tables, without publishing."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from anonymizer.algorithms.core.compiled import STAGED, staged_values
from anonymizer.compile import Table, work
from anonymizer.contract.checks import Verification
from anonymizer.contract.layout import Requirement
from anonymizer.contract.reading import Released
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.source import relation_of
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Database, Session
from anonymizer.errors import AnonymizerError, Problem
from anonymizer.guarantees.requirements import requirements_of
from anonymizer.measure.loss import column_losses
from anonymizer.policy import AnyPolicy, Policy, SchemaPolicy
from anonymizer.policy.paths import column_path, table_path
from anonymizer.policy.schema.derived import child_policy, lead_of
from anonymizer.process.secret import Seed
from anonymizer.publish.target import Target, publisher
from anonymizer.release.across_tables import required_in
from anonymizer.release.judge import Suppression, judge, judge_tables, refuse_tables_unanswered
from anonymizer.release.objects import Names
from anonymizer.review.inputs import Scratch, in_scratch, unit_of
from anonymizer.review.observers import Observer, observers_of_release, open_source
from anonymizer.run.linked_tables import (
    TablesRead,
    read_tables,
    stage_table_originals,
    tables_measures,
    tables_read,
)
from anonymizer.run.problem_paths import at_persons
from anonymizer.run.source_comparison import (
    originals,
    policy_requirements,
    release_measures,
    stage_originals,
    suppression,
)
from anonymizer.source.masking.masks import bound_values
from anonymizer.verification.across_tables import Where
from anonymizer.verification.guarantees import TOGETHER

# The result of a trial run.


Named: TypeAlias = tuple[str, str | None]
"""Name and column of a guarantee; with several tables, `table.column`."""


def required_of(policy: AnyPolicy) -> dict[Named, str]:
    """Every guarantee, with its parameters."""
    if isinstance(policy, SchemaPolicy):
        return dict(_of_tables(policy))
    return {(r.name, r.column): _parameters(r) for r in requirements_of(policy)}


def _of_tables(policy: SchemaPolicy) -> Iterator[tuple[Named, str]]:
    own = requirements_of(lead_of(policy))
    for table in (policy.person, *policy.children):
        for r in (*(own if table == policy.person else ()), *required_in(policy, table, {})):
            column = r.column and f"{table}.{r.column}"
            yield (r.name, column), _parameters(r)
            if policy.privacy.knows.sensitive and column:
                yield (f"known_{r.name}", column), _parameters(r)
    k, knows = policy.privacy.k_anonymity, policy.privacy.knows
    if knows.events and policy.events:
        yield ("known_events", None), f"k={k}, events={knows.events}"
    if knows.rows:
        yield ("known_rows", None), f"k={k}"


def _parameters(requirement: Requirement) -> str:
    asked = {n: value for n, value in requirement.parameters.items() if n != TOGETHER}
    return ", ".join(f"{name}={value}" for name, value in asked.items())


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a trial run."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """The columns of the source, each with its path in a policy; empty if it cannot be read. With
    several tables, each is named with its table."""
    replaces: tuple[str, ...] = ()
    """What a run would replace or drop."""
    problems: tuple[Problem, ...] = ()
    """Why the policy cannot run; all other fields are empty then."""
    achieved: dict[Named, tuple[Any, bool]] = field(default_factory=dict)
    """Achieved figure and verdict of every guarantee, by name and column."""
    figures: dict[str, float | int | None] = field(default_factory=dict)
    """Rows, suppression, loss and risk of the table, or of each of several tables."""
    losses: dict[str, float] = field(default_factory=dict)
    """Mean NCP of each quasi-identifier and of each event column."""
    observers: dict[str, int] = field(default_factory=dict)
    """Persons found by observers who know some of their rows; empty for one table."""
    holds: bool = False
    """Whether every guarantee and the suppression limit hold."""

    @property
    def runs(self) -> bool:
        return not self.problems


def of_whole(
    units: str, share: float, measures: Mapping[str, Any], many: int, smallest: int | None
) -> dict[str, float | int | None]:
    """The figures of the table that is divided into classes.

    `many`: published `units` (rows, or persons); `smallest`: units of the smallest class.
    """
    if "classes" not in measures:  # the algorithm forms no classes
        return {"suppressed (share)": share}
    classes = measures["classes"]
    return {
        "suppressed (share)": share,
        "classes": classes,
        f"smallest class ({units})": smallest,
        "loss per cell (NCP)": measures["ncp"],
        "mean risk": classes / many if many else None,
        "largest risk": 1 / smallest if smallest else None,
    }


# A trial run: a policy is run and verified in scratch tables, without publishing.


@dataclass(frozen=True, slots=True)
class Tried:
    """A release of several tables in scratch: its verification and its figures."""

    verification: Verification
    suppression: Suppression
    """Suppression of persons."""
    measures: Mapping[str, Any]
    """Measures of the persons' table."""
    losses: dict[str, float]
    """Mean NCP of the cells of each of its columns; a suppressed person costs 1."""
    others: dict[str, Any]
    """The same for every other table; a suppressed row costs 1."""
    observers: tuple[Observer, ...]


def tried_tables(policy: SchemaPolicy, session: Session, below: int | None = None) -> Tried:
    """Run the policy over the source of an open session, in its scratch.

    `below`: with fewer candidates, an observer has too few; default: the policy's k.
    """
    engine, executor, lead = session.engine, Executor(session.engine), lead_of(policy)
    read = read_tables(policy, session, executor)
    prepared, roles = read.prepared, read.persons.roles
    layout = prepared.compiled.layout
    with at_persons(policy):
        executor.run(prepared.compiled.stages)
    executor.run([*read.writes()])
    stage_originals(engine, prepared.compiled, roles)
    requirements = policy_requirements(lead, engine, roles)
    judged = judge(engine, STAGED, layout, requirements)
    for one in read.compiled.tables:
        stage_table_originals(engine, one)
    tables, where = tables_read(policy, read, engine), _staged(read)
    judged += judge_tables(engine, tables, where)
    refuse_tables_unanswered(policy, judged)
    found = suppression(lead, engine, roles, STAGED, layout)
    return Tried(
        verification=judged,
        suppression=found,
        measures=release_measures(requirements, engine, prepared, STAGED, layout, found),
        losses=column_losses(
            engine.asking("measures"), STAGED, layout, originals(roles), suppressed=found.suppressed
        ),
        others=tables_measures(engine, read, tables, where, all_rows=True),
        observers=observers_of_release(
            engine.asking("observers"), replace(tables, k=below or tables.k), where
        ),
    )


def trial_of_tables(policy: SchemaPolicy, session: Session, below: int | None = None) -> Trial:
    """Run a policy of several tables and return the result as a trial."""
    found = tried_tables(policy, session, below)
    share, published = found.suppression.share, found.suppression.published
    losses = {policy.person: found.losses} | {t: one["ncp"] for t, one in found.others.items()}
    return Trial(
        achieved=dict(_achieved(policy, found.verification)),
        figures={
            "persons published": published,
            "persons suppressed": found.suppression.suppressed,
            **of_whole("persons", share, found.measures, published, found.measures["class_min"]),
            **_trial_of_tables(found.others),
        },
        losses={
            f"{table}.{column}": loss
            for table, columns in losses.items()
            for column, loss in columns.items()
        },
        observers=dict(_told(found.observers, below or policy.privacy.k_anonymity)),
        holds=found.verification.passed and found.suppression.within(policy.suppression_limit),
    )


def _staged(read: TablesRead) -> Where:
    """The names of the tables of a trial."""
    numbers = {one.child.name: one.child.number for one in read.compiled.tables}

    def where(one: Released) -> Table:
        return staged_values(numbers[one.table]) if one.table in numbers else STAGED

    return where


def _achieved(
    policy: SchemaPolicy, judged: Verification
) -> Iterator[tuple[Named, tuple[Any, bool]]]:
    """Figure and verdict of every guarantee, without the checks of form."""
    required = required_of(policy)
    for check in judged.checks:
        column = check.column
        if column is not None and not column.startswith(tuple(f"{t}." for t in policy.children)):
            column = f"{policy.person}.{column}"
        if (check.name, column) in required:
            yield (check.name, column), (check.achieved, check.passed)


def _trial_of_tables(measures: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    found = {}
    for table, one in measures.items():
        found[f"{table}: rows published"] = one["rows"]
        found[f"{table}: rows left out"] = one["suppressed"]
        if "orphans" in one:
            found[f"{table}: rows that reach nobody"] = one["orphans"]
    return found


def _told(left: Iterable[Observer], below: int | None) -> Iterator[tuple[str, int]]:
    for one in left:
        yield f"{one.knows}: alone", one.alone
        yield f"{one.knows}: fewer than {below} left", one.below


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
