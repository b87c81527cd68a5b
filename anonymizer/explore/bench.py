"""A session in which one policy after the other is tried, on a source or on a sample of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from anonymizer.engines.execute import Event
from anonymizer.engines.session import Session
from anonymizer.errors import AnonymizerError, SourceError
from anonymizer.explore.outcome import Outcome, failed, outcome_of
from anonymizer.policy import Policy
from anonymizer.policy.algorithms import Mondrian
from anonymizer.process.seed import Seed
from anonymizer.review.sampling import sample_of
from anonymizer.review.scratch import Scratch, in_scratch
from anonymizer.review.sweep.shared import SharedExecutor
from anonymizer.source.masking.keys import bound_values
from anonymizer.steps import Note, Stage, Step

BOUND = "bound_"
"""Prefix of the work tables of the lower bound of the loss, which says nothing on a sample."""
LONG = 50_000
"""Rows up to which a statement is so short that a run is stopped between two of them.

The engine may wait for ever when a recursive statement is interrupted; of larger tables none is.
"""


class Stopped(Exception):
    """Somebody wants something else by now."""


@dataclass(slots=True)
class Stop:
    """Asks a piece of work to end."""

    event: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raises Stopped where it was asked for."""
        if self.event.is_set():
            raise Stopped


def alone(policy: Policy) -> Policy:
    """The policy without what other releases have to do with it: the desk writes no ledger."""
    return policy.model_copy(update={"ledger": None, "republish": None})


def without_refinement(policy: Policy) -> Policy:
    """The policy for an answer at once: cuts alone, where refinement only lowers their loss.

    Where a rule compares classes with the table, small classes are found by dealing, a part of the
    refinement, which stays. So does what the policy asks for by name.
    """
    chosen = policy.algorithm
    rules = [column.protect for column in policy.columns.values() if column.protect is not None]
    compared = any(r.t_closeness or r.beta_likeness or r.delta_disclosure for r in rules)
    if not isinstance(chosen, Mondrian) or chosen.must_refine or compared:
        return policy
    return policy.model_copy(update={"algorithm": chosen.model_copy(update={"refine": 0})})


@dataclass(slots=True)
class Bench:
    """One thread at a time. Statements whose result is there already are not run again."""

    session: Session
    rows: int
    sampled: bool
    lock: threading.Lock = field(default_factory=threading.Lock)
    _shared: SharedExecutor | None = None

    @classmethod
    def of(cls, policy: Policy, session: Session, most: int | None = None) -> Bench:
        """A bench for the source of an open session, or for a sample of `most` rows."""
        text = f"select count(*) from {session.source.sql}"
        rows = int(session.engine.raw(text, "source")[0][0])
        if rows == 0:
            raise SourceError.at("source", "has no rows", hint="there is nothing to release")
        if most is None or rows <= most:
            return cls(session, rows, False)
        sample, drawn = sample_of(policy, session, rows, most)
        return cls(sample, drawn, True)

    def tried(
        self,
        policy: Policy,
        stop: Stop | None = None,
        progress: Callable[[float], None] = lambda share: None,
    ) -> tuple[Outcome, Scratch | None]:
        """Run a policy in scratch; what keeps it from running is in the outcome.

        Raises Stopped where `stop` asks for it. The tables stand until the next call.
        """
        given = alone(policy)
        if self.sampled:
            given = without_refinement(given)
        began = time.perf_counter()

        def heard(event: Event) -> None:
            if stop is not None:
                stop.check()
            progress(_share(event))

        try:
            self.session.engine.binds = bound_values(given, Seed.test(0).secret)
            executor = SharedExecutor(self.session.engine, heard)
            if self._shared is not None:
                executor.held = self._shared.held
            self._shared = executor
            found = in_scratch(
                given, self.session, executor, lambda stage: self.sampled and _of_bound(stage)
            )
        except AnonymizerError as error:
            if stop is not None:
                stop.check()
            return failed(error.problems, self.rows, time.perf_counter() - began), None
        progress(1.0)
        return outcome_of(given, found, self.rows, time.perf_counter() - began), found

    def interrupt(self) -> None:
        """End the statement that runs, where it may take long."""
        if self.rows > LONG:
            self.session.engine.interrupt()


PHASES = {"reading": (0.0, 0.25), "anonymizing": (0.25, 0.55), "writing": (0.8, 0.1)}
"""About where each phase begins, and what it takes; judging is the rest."""


def _share(event: Event) -> float:
    begins, takes = PHASES.get(event.phase, (0.9, 0.0))
    return begins + takes * event.number / max(event.of, 1)


def _of_bound(stage: Stage) -> bool:
    """Whether a stage only serves the lower bound of the loss."""
    step = stage if isinstance(stage, Step) else stage.query if isinstance(stage, Note) else None
    if step is None:
        return False
    statement = step.statement()
    tables = statement.writes or statement.reads  # (a note writes nothing)
    return any(table[-1].rsplit(".", 1)[-1].startswith(BOUND) for table in tables)
