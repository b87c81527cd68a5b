"""Run the stages of a plan on an engine, in order; no algorithm and no SQL of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeGuard

from anonymizer.compile import Statement, Table, ident
from anonymizer.engines.base import Engine, Solver
from anonymizer.errors import AnonymizerError, Problem, RegistryError, StatementError
from anonymizer.process import interrupts
from anonymizer.steps import Composed, Compute, Embedded, Guard, Loop, Note, Parts, Row, Stage, Step

# Runs steps in a second session of the engine, beside the steps that follow them in the plan.


Name: TypeAlias = tuple[str, ...]
"""A table, as statements name it."""
Work: TypeAlias = Callable[[Engine], Callable[[], None]]
"""Runs a statement on the engine it is given, in another thread; returns what is left to do with
its result in the thread of the run."""


@dataclass(slots=True)
class Aside:
    """A second session, and what runs there: one statement after the other."""

    engine: Engine
    _pool: ThreadPoolExecutor
    _running: list[Future[Callable[[], None]]] = field(default_factory=list)
    _read: set[Name] = field(default_factory=set)
    _written: set[Name] = field(default_factory=set)
    """Tables that the statements in work read, and those that they write."""

    def begin(self, statement: Statement, work: Work) -> None:
        """Let `work` run after what has begun before."""
        self._read |= statement.reads
        self._written |= statement.writes
        self._running.append(self._pool.submit(work, self.engine))

    def hinders(self, reads: Collection[Name], writes: Collection[Name]) -> bool:
        """Whether what reads and writes these tables has to wait for a statement in work."""
        return not (
            self._written.isdisjoint(reads)
            and self._written.isdisjoint(writes)
            and self._read.isdisjoint(writes)
        )

    def settle(self) -> None:
        """Wait for the statements in work; raises the error of the first that failed."""
        running, self._running = self._running, []
        try:
            with interrupts.statement(self.engine.interrupt):
                wait(running)
            for future in running:
                future.result()()
        except BaseException:
            self._running = running
            raise
        self._read.clear()
        self._written.clear()

    def _end(self) -> None:
        """Interrupt what is still in work, until it has ended.

        An interruption that comes between two statements is forgotten, so there may be several.
        """
        left = {future for future in self._running if not future.cancel()}
        while left:
            self.engine.interrupt()
            _, left = wait(left, timeout=interrupts.AGAIN)


@contextmanager
def aside(engine: Engine) -> Iterator[Aside]:
    """What runs steps in `engine`, a second session; whatever is left at the end is given up."""
    with ThreadPoolExecutor(1, "aside") as pool:
        found = Aside(engine, pool)
        try:
            yield found
        finally:
            found._end()


# Runs the stages of a plan on an engine, in order; no algorithm and no SQL of its own.


@dataclass(frozen=True, slots=True)
class Event:
    """One statement that ran: for progress, `--explain`, and the timing in the measures."""

    stage: str
    step: Step
    number: int
    of: int
    round: int | None
    seconds: float
    count: int | None
    """Rows that it wrote or, for an exit query, what it counted."""
    phase: str = ""
    """What the numbered stages are part of."""


Listener: TypeAlias = Callable[[Event], None]
Recorder: TypeAlias = Callable[[Compute, list[Row], list[Row]], None]
"""Is given what a computation was asked and what it made."""


@dataclass(slots=True)
class Executor:
    """State of one execution: statements rendered once, events handed to the listener."""

    engine: Engine
    listener: Listener | None = None
    recorder: Recorder | None = None
    rounds: dict[str, int] = field(default_factory=dict)
    phase: str = ""
    """What the stages that run now are part of, for the listener."""
    solver: Solver | None = None
    """What solves a table part by part, where that can be done."""
    aside: Aside | None = None
    """What runs steps beside those that follow; None: each in its turn."""
    known: dict[int, Statement] = field(default_factory=dict)
    """Statements by the step that they are rendered from."""
    _kept: list[Step] = field(default_factory=list)
    _notes: dict[str, object] = field(default_factory=dict)

    @property
    def notes(self) -> dict[str, object]:
        """The figures that the stages have told, including those that are still being computed."""
        self._settle()
        return self._notes

    def _settle(self) -> None:
        """Wait for the steps that run beside others."""
        if self.aside is not None:
            self.aside.settle()

    def _wait_for(self, reads: Collection[Name], writes: Collection[Name]) -> None:
        """Wait for them before a statement that reads what they write, or writes what they use."""
        if self.aside is not None and self.aside.hinders(reads, writes):
            self.aside.settle()

    def run(self, stages: Iterable[Stage], phase: str = "") -> None:
        """Run all stages. Adjacent guards report their problems together.

        Stages are numbered anew in every `phase`, whose name is in their events.
        """
        self.phase = phase
        todo = list(stages)
        waiting: list[Problem] = []
        error: type[Exception] = AnonymizerError
        notes: list[Note] = []
        for number, stage in enumerate(todo, start=1):
            if waiting and not isinstance(stage, Guard):
                raise error(waiting)
            if self._joins(stage):
                notes.append(stage)
                if number == len(todo) or not self._joins(todo[number]):
                    self._note_together(notes, number, len(todo))
                    notes = []
            elif isinstance(stage, Guard):
                rows = self._reasons(stage, number, len(todo))
                if rows:
                    waiting += [stage.explain(row) for row in rows]
                    error = stage.error
            else:
                self._stage(stage, number, len(todo))
        if waiting:
            raise error(waiting)

    def _joins(self, stage: Stage) -> TypeGuard[Note]:
        """Return whether a stage is a note that one statement computes with adjacent ones."""
        return isinstance(stage, Note) and not stage.query.aside and self.engine.embedded

    def _note_together(self, notes: Sequence[Note], number: int, of: int) -> None:
        """Keep the figures of adjacent notes: the one row of each, side by side."""
        statements = [self._statement(note.query) for note in notes]
        self._wait_for(frozenset().union(*(one.reads for one in statements)), ())
        began = time.perf_counter()
        listed = ", ".join(f"({one.text}) as note_{i}" for i, one in enumerate(statements))
        rows = self.engine.raw(f"select * from {listed}", notes[0].name)
        if len(rows) != 1:  # one note without a row would hide the figures of the others
            for note in notes:
                self._stage(note, number, of)
            return
        self._keep(self.engine.column_names, rows)
        if self.listener is not None:
            at = (notes[0].name, notes[0].query, number, of, None, time.perf_counter() - began)
            self.listener(Event(*at, None, self.phase))

    def _stage(self, stage: Stage, number: int, of: int) -> None:
        match stage:
            case Step(aside=True) if self.aside is not None:
                self._begin(self.aside, stage, number, of)
            case Note(query=Step(aside=True) as query) if self.aside is not None:
                self._begin(self.aside, query, number, of, self._keep)
            case Step():
                self._step(stage, stage.name, number, of)
            case Note():
                rows = self._step(stage.query, stage.name, number, of)
                self._keep(self.engine.column_names, rows)
            case Compute():
                self._compute(stage, stage.name, number, of)
            case Loop():
                self._loop(stage, number, of)
            case Composed():
                rows = self._step(stage.query, stage.name, number, of)
                self._step(stage.compose(rows), stage.name, number, of)
            case Parts():
                self._parts(stage, number, of)
            case Guard():
                rows = self._reasons(stage, number, of)
                if rows:
                    raise stage.error([stage.explain(row) for row in rows])
            case Embedded():
                self._embedded(stage, number, of)

    def _embedded(self, stage: Embedded, number: int, of: int) -> None:
        """Run stages here, or in an embedded database where the engine needs one for them."""
        with self.engine.lent(stage) as home:
            inside = self
            if home is not None:
                self._settle()
                engine, solver = home
                inside = replace(self, engine=engine, solver=solver, aside=None, known={})
            for inner in stage.stages:
                inside._stage(inner, number, of)

    def _parts(self, stage: Parts, number: int, of: int) -> None:
        self._settle()
        parts = self._step(stage.bounds, stage.name, number, of)
        if self.solver is None or len(parts) <= 1:
            for inner in stage.whole:
                self._stage(inner, number, of)
            return
        self._step(stage.gathered, stage.name, number, of)

        def done(part: Row, seconds: float) -> None:
            if self.listener is not None:
                at = (stage.name, stage.bounds, number, of, int(part[0]), seconds, int(part[-1]))
                self.listener(Event(*at, self.phase))

        self.solver.solve(self.engine, stage, parts, done)

    def _reasons(self, guard: Guard, number: int, of: int) -> list[tuple[object, ...]]:
        if guard.first is not None:
            ((count,),) = self._step(guard.first, guard.name, number, of)
            if count == 0:
                return []
        return self._step(guard.query, guard.name, number, of)

    def _step(
        self, step: Step, stage: str, number: int, of: int, round_: int | None = None
    ) -> list[tuple[object, ...]]:
        statement = self._statement(step)
        self._wait_for(statement.reads, statement.writes)
        began = time.perf_counter()
        with _ours(step, statement, self.engine), self.engine.at_work(laborious=step.laborious):
            rows = self.engine.execute(statement, step.name, step.binds)
        seconds = time.perf_counter() - began
        if self.listener is not None:
            self.listener(
                Event(stage, step, number, of, round_, seconds, _single_count(rows), self.phase)
            )
        return rows

    def _begin(
        self,
        aside: Aside,
        step: Step,
        number: int,
        of: int,
        keep: Callable[[list[str], list[Row]], None] | None = None,
    ) -> None:
        """Begin a step that runs beside those that follow; `keep` is given its names and rows."""
        statement, phase = self._statement(step), self.phase

        def work(engine: Engine) -> Callable[[], None]:
            began = time.perf_counter()
            with _ours(step, statement, engine):
                rows = engine.execute(statement, step.name, step.binds)
            seconds = time.perf_counter() - began
            names = engine.column_names

            def tell() -> None:
                if keep is not None:
                    keep(names, rows)
                if self.listener is not None:
                    at = (step.name, step, number, of, None, seconds, _single_count(rows), phase)
                    self.listener(Event(*at))

            return tell

        aside.begin(statement, work)

    def _statement(self, step: Step) -> Statement:
        """Rendered once, however often a loop runs it."""
        known = self.known.get(id(step))
        if known is None:
            known = self.known[id(step)] = step.statement(self.engine.name)
            self._kept.append(step)  # keeps the step alive, so that its id is not reused
        return known

    def _keep(self, names: list[str], rows: list[Row]) -> None:
        for row in rows:
            self._notes.update(zip(names, row, strict=True))

    def _compute(self, compute: Compute, stage: str, number: int, of: int) -> None:
        rows = self._step(compute.query, stage, number, of)

        reported = 0.0

        def tell(doing: str, done: int, left: int) -> None:
            nonlocal reported
            if self.listener is not None and time.monotonic() - reported > 1:
                reported = time.monotonic()
                step = replace(compute.query, name=doing)
                self.listener(Event(stage, step, number, of, done, 0.0, left, self.phase))

        made = compute.function(rows, *([tell] if compute.long else []))
        if self.recorder is not None:
            self.recorder(compute, rows, made)
        target = ident(compute.target).text
        self._wait_for((), [(target,)])
        columns = ", ".join(f"{ident(name)} {kind}" for name, kind in compute.columns)
        self.engine.raw(f"create or replace table {target} ({columns})", stage)
        if made:
            self.engine.load(target, [name for name, _ in compute.columns], made, stage)

    def _loop(self, loop: Loop, number: int, of: int) -> None:
        if loop.asked_first and self._left(loop, number, of, 0) == 0:
            self.rounds[loop.name] = 0
            return
        for round_ in range(1, loop.at_most + 1):
            for part in loop.body:
                match part:
                    case Compute():
                        self._compute(part, loop.name, number, of)
                    case Loop():
                        self._loop(part, number, of)
                    case Step():
                        self._step(part, loop.name, number, of, round_)
            if self._left(loop, number, of, round_) == 0:
                self.rounds[loop.name] = round_
                return
        raise RuntimeError(f"the loop {loop.name} did not end within {loop.at_most} rounds")

    def _left(self, loop: Loop, number: int, of: int, round_: int) -> object:
        """What the exit query of a loop counts."""
        return self._step(loop.until, loop.name, number, of, round_)[0][0]


@contextmanager
def _ours(step: Step, statement: Statement, engine: Engine) -> Iterator[None]:
    """Report a statement that the engine refuses as a defect of the tool, unless it reads the
    source itself: only these hold conditions of the policy, or views of the source.
    """
    try:
        yield
    except StatementError as error:
        source = step.parameters.get("source")
        if isinstance(source, Table) and (ident(source).text,) in statement.reads:
            raise
        said = f"a defect of the tool: {engine.name} does not take one of its statements"
        hint = "please report this line, the algorithm, and the types of the columns"
        raise RegistryError.at(step.name, said, hint=hint) from error


def _single_count(rows: list[Row]) -> int | None:
    """What a statement wrote or counted, if it answers with one number."""
    single = rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 else None
    return single if isinstance(single, int) else None
