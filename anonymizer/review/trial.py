"""Trial runs: a policy is run and verified in scratch tables, without publishing."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeAlias

from anonymizer.algorithms.core.compiled import STAGED, staged_values
from anonymizer.compile import Table, ident, work
from anonymizer.contract.checks import Check
from anonymizer.contract.layout import Layout, Requirement
from anonymizer.contract.reading import ReleasedTable
from anonymizer.engines.base import Limits
from anonymizer.engines.execute import Executor, Listener
from anonymizer.engines.session import Database, Session
from anonymizer.errors import AnonymizerError, Problem, SourceError
from anonymizer.guarantees.requirements import requirements_of
from anonymizer.measure.loss import column_losses, smallest_class
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.policy.algorithms import Mondrian
from anonymizer.policy.paths import column_path, table_path
from anonymizer.process.secret import Seed
from anonymizer.publish.target import Target, publisher
from anonymizer.release.across_tables import required_in
from anonymizer.release.judge import (
    judge,
    judge_tables,
    refuse_unanswered,
)
from anonymizer.release.manifest import Manifest
from anonymizer.release.objects import Names
from anonymizer.review.inputs import Beside, unit_of
from anonymizer.review.observers import Observer, observers_of_release, open_source
from anonymizer.run.prepare import Prepared
from anonymizer.run.problem_paths import at_persons
from anonymizer.run.release_rows import (
    counterfeits,
    judging,
    members_read,
    originals,
    policy_requirements,
    release_measures,
    stage_originals,
    suppression,
)
from anonymizer.run.tables import (
    read_tables,
    source_table,
    stage_table_originals,
    tables_measures,
    tables_read,
)
from anonymizer.source.masking.masks import bound_values
from anonymizer.source.snapshot import Relation
from anonymizer.steps import Compute, Note, Row, Stage, Step
from anonymizer.verification.guarantees import TOGETHER

# The guarantees that a policy requires, and what a trial run of it gives.


Named: TypeAlias = tuple[str, str | None]
"""Name and column of a guarantee; with several tables, `table.column`."""


def required_of(policy: AnyPolicy) -> dict[Named, str]:
    """Every guarantee, with its parameters."""
    listed = [(policy.prefix, r) for r in requirements_of(policy.lead)]
    listed += [(f"{name}.", r) for name in policy.tables for r in required_in(policy, name, {})]
    found: dict[Named, str] = {}
    for at, r in listed:
        column = r.column and f"{at}{r.column}"
        found[r.name, column] = _parameters(r)
        if policy.knows.sensitive and column:
            found[f"known_{r.name}", column] = _parameters(r)
    k, knows = policy.privacy.k_anonymity, policy.knows
    if knows.events and policy.events:
        found["known_events", None] = f"k={k}, events={knows.events}"
    if knows.rows:
        found["known_rows", None] = f"k={k}"
    return found


def _parameters(requirement: Requirement) -> str:
    asked = {n: value for n, value in requirement.parameters.items() if n != TOGETHER}
    return ", ".join(f"{name}={value}" for name, value in asked.items())


@dataclass(frozen=True, slots=True)
class Figures:
    """The result of a trial run. Of several tables, the measures are those of the persons."""

    problems: tuple[Problem, ...] = ()
    """The reasons why the policy cannot run; then there are no figures."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The columns of the source, each with its path in a policy; empty if it cannot be read. With
    several tables, each is named with its table."""
    replaces: tuple[str, ...] = ()
    """Objects that a run would replace or drop."""
    rows: int = 0
    """Number of rows it was tried on, if counted."""
    seconds: float = 0.0
    shared: int = 0
    """Statements that an earlier trial on the same bench had already run."""
    holds: bool = False
    """True if every guarantee and the suppression limit hold."""
    limit: float = 0.0
    checks: tuple[Check, ...] = ()
    unit: str = "rows"
    """The unit of counting: rows, or persons if the policy names them."""
    published: int = 0
    suppressed: int = 0
    share: float = 0.0
    """Share of suppressed units."""
    smallest: int | None = None
    """Units of the smallest class."""
    measures: Mapping[str, Any] = field(default_factory=dict)
    losses: Mapping[str, float] = field(default_factory=dict)
    """Mean NCP of each quasi-identifier and of each event column; a suppressed row costs 1."""
    others: Mapping[str, Any] = field(default_factory=dict)
    """Measures of all tables but that of the persons; a suppressed row costs 1."""
    observers: tuple[Observer, ...] = ()
    """For several tables: observers who know some rows of a person."""

    @property
    def runs(self) -> bool:
        return not self.problems

    @property
    def classes(self) -> int | None:
        """None if the algorithm forms no classes."""
        return self.measures.get("classes")

    @property
    def loss(self) -> float | None:
        """NCP per quasi-identifying cell, including suppressed rows."""
        return self.measures.get("ncp")

    @property
    def risk(self) -> float | None:
        """Mean probability of picking the right row (person) in its class."""
        return self.classes / self.published if self.classes and self.published else None

    @property
    def largest_risk(self) -> float | None:
        return 1 / self.smallest if self.classes and self.smallest else None


@dataclass(frozen=True, slots=True)
class Scratch:
    """The rows of a trial over one table; they exist until the next trial on the same bench."""

    session: Session
    prepared: Prepared
    layout: Layout
    requirements: tuple[Requirement, ...]
    measures: dict[str, Any]
    holds: bool

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
        return Beside(engine, STAGED, manifest, None, self.session, roles, known)


BOUND = "bound_"
"""Prefix of the work tables for the lower bound of the loss, which is meaningless on a sample."""


# Samples of a source, and policies for an immediate answer on one.


DRAWN = work("drawn_rows")


def sample_of(policy: Policy, session: Session, rows: int, wanted: int) -> tuple[Session, int]:
    """A session with a sample of about `wanted` rows as its source, and the number of rows.

    A source with no more rows is used as a whole.
    """
    if rows <= wanted:
        return session, rows
    drawn = f"create or replace table {ident(DRAWN)} as {_drawn(policy, session, rows, wanted)}"
    session.engine.raw(drawn, "sample")
    count = session.engine.raw(f"select count(*) from {ident(DRAWN)}", "sample")[0][0]
    return replace(session, source=Relation(ident(DRAWN), DRAWN)), int(count)


def _drawn(policy: Policy, session: Session, rows: int, wanted: int) -> str:
    """Draw about `wanted` rows of the source, with all rows of a person; the same on every call."""
    every = f"select * from {session.source.sql}"
    if policy.person is not None:
        person = f"cast({ident(policy.person)} as varchar)"
        return f"{every} where md5_number_lower({person}) % {rows} < {wanted}"
    return f"{every} using sample reservoir({wanted} rows) repeatable (7)"


def alone(policy: Policy) -> Policy:
    """The policy without references to other releases; the desk does not write to a ledger."""
    return policy.model_copy(update={"ledger": None, "republish": None})


def without_refinement(policy: Policy) -> Policy:
    """The policy for an immediate answer: without refinement where that only lowers the loss.

    If a rule compares classes with the table, refinement stays, because its dealing step finds the
    small classes. So does refinement that the policy requests by name.
    """
    chosen = policy.algorithm
    rules = [column.protect for column in policy.columns.values() if column.protect is not None]
    compared = any(r.t_closeness or r.beta_likeness or r.delta_disclosure for r in rules)
    if not isinstance(chosen, Mondrian) or chosen.must_refine or compared:
        return policy
    return policy.model_copy(update={"algorithm": chosen.model_copy(update={"refine": 0})})


def _of_bound(stage: Stage) -> bool:
    """Return whether a stage serves only the lower bound of the loss."""
    step = stage if isinstance(stage, Step) else stage.query if isinstance(stage, Note) else None
    if step is None:
        return False
    statement = step.statement()
    tables = statement.writes or statement.reads  # (a note writes nothing)
    return any(table[-1].rsplit(".", 1)[-1].startswith(BOUND) for table in tables)


# A bench tries policies one after the other on one source.


Held: TypeAlias = dict[tuple[str, ...], object]
"""What identifies the content of each table; and the notes of these phases."""
READING = ("reading", "checking")
"""The phases of the stages before those that anonymize."""


@dataclass(slots=True)
class SharedExecutor(Executor):
    """Skips a statement if its table already holds the result.

    A table's content is identified by the statement that created it and the contents it read.
    """

    held: Held = field(default_factory=dict)
    left_out: int = 0
    answers: list[tuple[list[str], list[Row]]] = field(default_factory=list)
    """The names and rows of the notes that were computed last."""

    def _step(
        self, step: Step, stage: str, number: int, of: int, round_: int | None = None
    ) -> list[Row]:
        statement = step.statement()
        if statement.kind == "query":
            return Executor._step(self, step, stage, number, of, round_)
        inputs = tuple(sorted((table, self.held.get(table)) for table in statement.reads))
        key = hash((statement.text, repr(inputs)))
        (target,) = statement.writes
        if statement.kind == "create" and self.held.get(target) == key:
            self.left_out += 1
            return []
        before = self.held.pop(target, None)
        rows = Executor._step(self, step, stage, number, of, round_)
        self.held[target] = key if statement.kind == "create" else hash((before, key))
        return rows

    def _note_together(self, notes: Sequence[Note], number: int, of: int) -> None:
        """What is counted before anonymizing hangs on tables that statements made: it is kept."""
        statements = [self._statement(note.query) for note in notes]
        reads = sorted(frozenset().union(*(one.reads for one in statements)))
        inputs = [(table, self.held.get(table)) for table in reads]
        key = (repr(inputs), *(one.text for one in statements))
        answers = self.held.get(key) if self.phase in READING else None
        if answers is None:
            self.answers = []
            Executor._note_together(self, notes, number, of)
            answers = self.held[key] = self.answers
        else:
            assert isinstance(answers, list)
            for names, rows in answers:
                Executor._keep(self, names, rows)

    def _keep(self, names: list[str], rows: list[Row]) -> None:
        self.answers.append((names, rows))
        Executor._keep(self, names, rows)

    def _compute(self, compute: Compute, stage: str, number: int, of: int) -> None:
        made: list[Row] = []

        def noted(rows: list[Row]) -> list[Row]:
            made.extend(compute.function(rows))
            return made

        self.held.pop((ident(compute.target).text,), None)
        Executor._compute(self, replace(compute, function=noted), stage, number, of)
        # a result computed in Python is identified by its content only
        self.held[(ident(compute.target).text,)] = hash((compute.columns, repr(made)))


LONG = 50_000
"""Up to this many rows, statements are short enough that a run is stopped between two of them.

Interrupting a recursive statement can block the engine for ever; larger tables have none."""


@dataclass(slots=True)
class Bench:
    """Tries policies one at a time; statements whose result exists are not rerun."""

    session: Session
    seed: Seed = field(default_factory=lambda: Seed.test(0))
    rows: int = 0
    """Rows of the source or sample, if counted."""
    sampled: bool = False
    """Leave out what only lowers the loss, and the bound of the loss, which says nothing of a
    sample."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    scratch: Scratch | None = None
    """The rows of the last trial, if it could run; with several tables, of the persons."""
    held: Held = field(default_factory=dict)

    @classmethod
    def of(cls, policy: Policy, session: Session, most: int | None = None) -> Bench:
        """Create a bench for the source of an open session, or for a sample of `most` rows."""
        text = f"select count(*) from {session.source.sql}"
        rows = int(session.engine.raw(text, "source")[0][0])
        if rows == 0:
            raise SourceError.at("source", "has no rows", hint="there is nothing to release")
        if most is None or rows <= most:
            return cls(session, rows=rows)
        sample, drawn = sample_of(policy, session, rows, most)
        return cls(sample, rows=drawn, sampled=True)

    def figures(
        self, policy: AnyPolicy, listener: Listener | None = None, *, below: int | None = None
    ) -> Figures:
        """Run the policy over the source, in its scratch. Problems are part of the result.

        `below`: with fewer candidates, an observer has too few; default: the policy's k.
        """
        began, self.scratch = time.perf_counter(), None
        try:
            self.session.engine.binds = bound_values(policy, self.seed.secret)
            asked = without_refinement(policy.lead) if self.sampled else policy
            found = self._tried(asked, listener, below)
        except AnonymizerError as error:
            found = Figures(error.problems)
        return replace(
            found,
            rows=self.rows,
            seconds=time.perf_counter() - began,
            limit=policy.lead.suppression_limit,
        )

    def interrupt(self) -> None:
        """Interrupt the running statement, if it may take long."""
        if self.rows > LONG:
            self.session.engine.interrupt()

    def _tried(self, policy: AnyPolicy, listener: Listener | None, below: int | None) -> Figures:
        engine, lead = self.session.engine, policy.lead
        executor = SharedExecutor(engine, listener, held=self.held)
        read = read_tables(policy, self.session, executor)
        prepared = read.prepared
        compiled, roles = prepared.compiled, prepared.roles
        with at_persons(policy):
            stages = [s for s in compiled.stages if not (self.sampled and _of_bound(s))]
            executor.run(stages, "anonymizing")
        further = [one.table for one in compiled.separated] + [one.name for one in read.tables]
        places = {name: staged_values(number) for number, name in enumerate(further)}
        executor.run([*read.writes(STAGED, places.__getitem__)], "writing")
        staged = {column: places[name].name for column, name in compiled.layout.tables.items()}
        layout = replace(compiled.layout, tables=staged)
        requirements = policy_requirements(lead, engine, roles)
        left_out = suppression(lead, engine, roles, STAGED, layout, counterfeits(engine, compiled))
        stage_originals(engine, compiled, roles)
        population, ask = members_read(lead, roles), judging(engine, STAGED, layout)
        judged = judge(engine, STAGED, layout, requirements, population, ask)
        measures = release_measures(requirements, engine, prepared, STAGED, layout, left_out)
        ask_measures = engine.asking("measures")
        losses = column_losses(
            ask_measures, STAGED, layout, originals(roles), suppressed=measures["suppressed"]
        )
        observers: tuple[Observer, ...] = ()
        others: dict[str, Any] = {}
        if policy.several:
            for one in read.tables:
                stage_table_originals(engine, one)
            tables = tables_read(policy, read, engine)

            def where(one: ReleasedTable) -> Table:
                return places.get(one.name, STAGED)

            judged += judge_tables(engine, tables, where)
            others = tables_measures(engine, read, tables, where, all_rows=True)
            known = replace(tables, k=below or tables.k)
            observers = observers_of_release(engine.asking("observers"), known, where)
            of_tables = {policy.person: losses} | {name: of["ncp"] for name, of in others.items()}
            losses = {f"{name}.{c}": x for name, of in of_tables.items() for c, x in of.items()}
        refuse_unanswered(policy, judged)
        holds = judged.passed and left_out.within(policy.lead.suppression_limit)
        self.scratch = Scratch(self.session, prepared, layout, requirements, measures, holds)
        return Figures(
            shared=executor.left_out,
            holds=holds,
            checks=judged.checks,
            unit=unit_of(policy),
            published=int(measures[unit_of(lead)]),
            suppressed=left_out.suppressed,
            share=left_out.share,
            smallest=smallest_class(ask_measures, STAGED, layout, measures),
            measures=measures,
            losses=losses,
            others=others,
            observers=observers,
        )


def trial(
    policy: AnyPolicy,
    database: Database,
    seed: Seed,
    limits: Limits | None = None,
    *,
    below: int | None = None,
) -> Figures:
    """Try the policy over its source, and tell its columns and what a run would replace.

    `below`: for several tables, fewer candidates than this are too few; default: the policy's k.
    """
    known = Figures()
    try:
        with open_source(policy, database, limits=limits) as session:
            columns = dict(_columns(policy, session))
            known = Figures(columns=columns, replaces=_replaced(policy, session))
            found = Bench(session, seed).figures(policy, below=below)
            return replace(found, columns=known.columns, replaces=known.replaces)
    except AnonymizerError as error:
        return replace(known, problems=error.problems)


def _columns(policy: AnyPolicy, session: Session) -> Iterator[tuple[str, str]]:
    """Name and path of every column of the tables that can be read."""
    if not policy.several:
        yield from ((name, column_path(name)) for name, _ in session.profile.columns)
        return
    for number, table in enumerate((policy.person, *policy.children)):
        with suppress(AnonymizerError):
            for name, _ in source_table(policy, table, session, number).profile.columns:
                yield f"{table}.{name}", table_path(table, "columns", name)


def _replaced(policy: AnyPolicy, session: Session) -> tuple[str, ...]:
    """The objects that a run would replace, whether or not it is permitted to."""
    target: Target | None = None
    with suppress(AnonymizerError):
        names = Names.of(policy, secrets.token_hex(8))
        target = publisher(session.engine.name).target(policy.lead, session, names)
        target.check(session.engine)
    return target.replaces if target is not None else ()
