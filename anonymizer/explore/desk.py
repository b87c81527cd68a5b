"""The desk: the states of a policy, and the results for the current one, piece by piece."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.source import open_session
from anonymizer.engines.execute import Event
from anonymizer.engines.session import Database
from anonymizer.errors import AnonymizerError, PolicyError, TargetError
from anonymizer.explore.choices import refused_choices
from anonymizer.explore.details import (
    candidates,
    costly_cells,
    costs_of,
    details_of,
    raw_rows,
    tree,
    why,
)
from anonymizer.explore.edits import Edit, Target, with_edits
from anonymizer.explore.handover import Handover, approval
from anonymizer.explore.states import History, State, Stop, StopRequested, figures_of, frontier
from anonymizer.policy import AnyPolicy, Policy, load_policy
from anonymizer.policy.values import file_format
from anonymizer.review.comparison import comparison_of
from anonymizer.review.draft.guess import Guess
from anonymizer.review.draft.table_draft import draft
from anonymizer.review.lattice import lattice_table
from anonymizer.review.trial import Bench, alone

AGAIN = 0.1
"""Seconds between two interruptions of a statement that continues."""


@dataclass(slots=True)
class Worker:
    """Runs one piece of work at a time, with a `Stop` that is set when other work arrives."""

    name: str
    interrupt: Callable[[], None]
    on_failure: Callable[[Exception], None]
    _stop: Stop | None = None
    _thread: threading.Thread | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, work: Callable[[Stop], None]) -> None:
        """Stop the current work, and start this."""
        with self._lock:
            before, asked = self._thread, Stop()
            self._ask()
            self._stop = asked
            self._thread = threading.Thread(
                target=self._run, args=(work, asked, before), name=self.name, daemon=True
            )
            self._thread.start()

    def ask(self) -> None:
        """Ask the current work to end, without waiting."""
        with self._lock:
            self._ask()
            self.interrupt()

    def stop(self) -> None:
        """Stop the current work, and wait until it has ended."""
        with self._lock:
            self._ask()
            self._end(self._thread)

    @property
    def busy(self) -> bool:
        """True if work is in progress."""
        thread = self._thread
        return thread is not None and thread.is_alive()

    def _ask(self) -> None:
        if self._stop is not None:
            self._stop.event.set()

    def _end(self, thread: threading.Thread | None) -> None:
        """Interrupt the thread until it ends; interrupts before a statement starts are lost."""
        while thread is not None and thread.is_alive():
            self.interrupt()
            thread.join(AGAIN)

    def _run(
        self, work: Callable[[Stop], None], stop: Stop, before: threading.Thread | None
    ) -> None:
        self._end(before)
        try:
            stop.check()
            work(stop)
        except StopRequested:
            pass
        except Exception as error:
            # an interrupted statement fails like any other
            if not stop.event.is_set():
                self.on_failure(error)


@dataclass(slots=True)
class Desk:
    """The desk's state. Any thread may call it; a change waits only for the sample."""

    title: str
    base: Path
    first: str
    history: History
    target: Target
    database: Database
    sample: Bench
    """Runs each change immediately."""
    side: Bench
    """The same sample for work that can be stopped: distributions, frontier, what costs most."""
    whole: Bench
    reasons: Mapping[str, Mapping[str, str]]
    """Role and reason of every column, as in a draft."""
    handover: Handover
    show_rows: bool = False
    version: int = 0
    """Incremented whenever the page's content changes."""
    progress: float | None = None
    """Progress on the whole table; None if nothing is running."""
    stopped: bool = False
    defects: list[str] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)
    _change: threading.Lock = field(default_factory=threading.Lock)
    workers: tuple[Worker, Worker] = field(init=False)
    index = "index.html"

    def __post_init__(self) -> None:
        self.workers = (
            Worker("whole table", self.whole.interrupt, self._record_failure),
            Worker("sample", self.side.interrupt, self._record_failure),
        )

    @property
    def busy(self) -> bool:
        """True if results for the current state are still being computed."""
        return self._change.locked() or any(worker.busy for worker in self.workers)

    def begin(self) -> None:
        """Try the policy in its initial state."""
        with self._change:
            self._try(self.history.now)

    def change(self, edits: tuple[Edit, ...], label: str) -> None:
        """Add a state. Raises PolicyError, and changes nothing, if the policy would be invalid."""
        with self._change:
            text, policy = with_edits(self.history.now.text, edits, self.base, self.first)
            if text != self.history.now.text:
                with self.lock:
                    before, state = self.history.now, self.history.add(label, text, policy)
                    if policy.digest() == before.policy.digest():
                        state.take_results(before)  # only words have changed
                self._try(state)

    def move(self, by: int) -> None:
        """Undo or redo."""
        with self._change:
            with self.lock:
                before, state = self.history.now, self.history.move(by)
            if state is not before:
                self._try(state)

    def stop(self) -> None:
        """Stop the computation over the whole table."""
        self.workers[0].stop()
        with self.lock:
            self.progress, self.stopped = None, True
            self.version += 1

    def close(self) -> None:
        """Stop all work."""
        for worker in self.workers:
            worker.stop()

    def save(self) -> None:
        """Write the current policy; the desk writes nothing else."""
        with self.lock:
            self.target.save(self.history.now.text)
            self.version += 1

    @property
    def policy(self) -> Policy:
        """The policy of the current state."""
        return self.history.now.policy

    @property
    def saved(self) -> bool:
        """True if the file has the current policy."""
        return self.target.found == self.history.now.text

    def paper(self, form: str, standard: str | None) -> str:
        """Make the report of the release, or the page of a standard; returns its name."""
        return self.handover.make(self.history.now.policy, form, standard)

    def approve(self, given: Mapping[str, Any]) -> str:
        """Record an approval of the saved policy beside its ledger; returns a sentence."""
        return approval(self.history.now.policy, given, saved=self.saved)

    def compare(self, one: object, other: object) -> dict[str, Any]:
        """Compare two states by their results on the same rows."""
        old, new = self.history.find(one), self.history.find(other)
        if old is None or new is None:
            raise PolicyError.at("state", "is not one of the states")
        both = [on for on in ("whole", "sample") if on in old.outcomes and on in new.outcomes]
        if not both:
            raise PolicyError.at("state", "was not tried yet", hint="wait for its figures")
        trials = (state.outcomes[both[0]] for state in (old, new))
        return {"on": both[0], **comparison_of(old.policy, new.policy, *trials).as_dict()}

    def hierarchies(self, column: str) -> list[dict[str, Any]]:
        """Suitable hierarchies for a column."""
        return candidates(self.history.now.policy, self.database, column)

    def tree(self, column: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """The tree of a candidate hierarchy."""
        edit = Edit(("columns", column, "hierarchy"), dict(options))
        _, policy = with_edits(self.history.now.text, (edit,), self.base, self.first)
        return tree(policy, self.database, column, options)

    def lattice(self) -> dict[str, Any]:
        """The front of the policy's lattice, on the whole table, and how many nodes hold.

        Raises PolicyError for a policy without one, and as soon as the policy changes.
        """
        state = self.history.now

        def heard(_: Event) -> None:
            if self.history.now is not state:
                raise PolicyError.at("lattice", "was left, because the policy has changed")

        limits = self.handover.limits
        found = lattice_table(alone(state.policy), self.database, limits=limits, listener=heard)
        return {
            "columns": list(found.columns),
            "measure": found.measure,
            "nodes": len(found.rows),
            "holding": sum(bool(node["holds"]) for node in found.nodes),
            "front": [
                {name: node[name] for name in ("levels", "k", "classes", "ncp", "holds", "optimum")}
                for node in found.front
            ],
        }

    def rows(self) -> dict[str, Any]:
        """Raw rows. Raises PolicyError unless the server was started to show them."""
        if not self.show_rows:
            hint = "start again with --show-rows"
            raise PolicyError.at("rows", "of the source are not shown", hint=hint)
        with self.sample.lock:
            return raw_rows(self.sample.session)

    def _try(self, state: State) -> None:
        """Run the sample immediately; run the rest later, replacing earlier computations."""
        with self.lock:
            self.progress = 0.0 if "whole" not in state.outcomes else None
            self.stopped = False
        for worker in self.workers:
            worker.ask()  # outdated work must not delay the answer
        if "sample" not in state.outcomes:
            with self.sample.lock:
                outcome = figures_of(self.sample, state.policy)
            with self.lock:
                state.outcomes["sample"] = outcome
        with self.lock:
            self.version += 1
        if "whole" not in state.details:
            self.workers[0].start(lambda stop: self._run_on_whole_table(state, stop))
        else:
            self.workers[0].start(lambda stop: None)
        self.workers[1].start(lambda stop: self._side(state, stop))

    def _run_on_whole_table(self, state: State, stop: Stop) -> None:
        outcome = figures_of(self.whole, state.policy, stop, self._set_progress)
        found = self.whole.scratch
        with self.lock:
            stop.check()
            state.outcomes["whole"] = outcome
            self.progress = None
            self.version += 1
        if found is not None:
            details = details_of(state.policy, found, self.whole.rows, stop.check)
            stop.check()
            self._store(state.details, "whole", details)

    def _set_progress(self, share: float) -> None:
        with self.lock:
            if self.progress is not None and share < 1:
                self.progress = share

    def _side(self, state: State, stop: Stop) -> None:
        if state.refused is None:
            types = dict(self.whole.session.profile.own)
            refused = refused_choices(state.policy, types, stop.check)
            self._store_part(state, "refused", refused)
        if state.why is not None and state.why["done"] == state.why["of"]:
            return
        outcome = figures_of(self.side, state.policy, stop)
        found = self.side.scratch
        if found is None:
            return
        costs = costs_of(outcome)
        dearest = costs[0]["column"] if costs and costs[0]["loss"] > 0 else None
        cells = costly_cells(state.policy, found, dearest)
        if "sample" not in state.details:
            details = details_of(state.policy, found, self.side.rows, stop.check)
            stop.check()
            self._store(state.details, "sample", details)
        told = partial(self._store_part, state)
        frontier(state.policy, self.side, stop, partial(told, "frontier"), outcome)
        why(state, self.base, self.first, self.side, stop, partial(told, "why"), outcome, cells)

    def _store_part(
        self, state: State, part: Literal["frontier", "why", "refused"], made: dict[str, Any]
    ) -> None:
        with self.lock:
            setattr(state, part, made)
            self.version += 1

    def _store(self, place: dict[str, dict[str, Any]], name: str, made: dict[str, Any]) -> None:
        with self.lock:
            place[name] = made
            self.version += 1

    def _record_failure(self, error: Exception) -> None:
        """Record a defect of the tool by its type only; its message may quote a value."""
        with self.lock:
            self.progress = None
            self.defects.append(type(error).__name__)
            self.version += 1


# Open the desk for a policy, or for a table whose policy is drafted first.


SAMPLED = 1_000
"""Rows of the sample, which can be tried within half a second."""
SUFFIXES = (".yml", ".yaml")
DEFAULT = "policy.yml"


@dataclass(frozen=True, slots=True)
class DeskInput:
    """The desk's input."""

    text: str
    policy: Policy
    base: Path
    guesses: Mapping[str, Guess]
    target: Path
    title: str


def policy_of(subject: str) -> AnyPolicy | None:
    """The policy of a file; None for what is no policy's file."""
    path = Path(subject)
    if path.suffix.lower() not in SUFFIXES or not path.is_file():
        return None
    return load_policy(path)


def refuse_engine(policy: AnyPolicy, database: Database) -> None:
    """Raise PolicyError for other engines than DuckDB."""
    if policy.engine != "duckdb" or str(database or "").startswith("postgresql:"):
        raise PolicyError.at("engine", "is not offered by explore", allowed="duckdb")


def place_to_save(path: Path, target: str | None) -> Path:
    """The file that a changed policy is saved as. Raises TargetError for another folder, and for
    another file that exists.
    """
    saved = Path(target) if target is not None else path
    if saved.resolve().parent != path.resolve().parent:
        hint = "the paths of the policy start there"
        raise TargetError.at("-o", "is in another folder than the policy", hint=hint)
    if saved != path and saved.exists():
        raise TargetError.at("-o", f"{saved.name} exists", hint="name a new file")
    return saved


def desk_input(
    subject: str, database: str | None, target: str | None, limits: Limits | None = None
) -> DeskInput:
    """Read the policy, or draft one for a table, and determine where it will be saved.

    Raises PolicyError for subjects that the desk does not support, TargetError if it cannot be
    saved at the target.
    """
    if Path(subject).suffix.lower() in SUFFIXES:
        return _of_policy(Path(subject), database, target, limits)
    path = Path(target or DEFAULT)
    if path.exists():
        hint = "open it: anonymizer explore FILE; or name a new one: -o FILE"
        raise TargetError.at("-o", f"{path.name} exists", hint=hint)
    base = path.parent
    if not os.access(base, os.W_OK):
        said = f"{path} is in a folder that cannot be written"
        raise TargetError.at("-o", said, hint="name a file in another folder: -o FILE")
    made = draft(subject, database, base=base, limits=limits)
    policy = Policy.loads(made.text, base).one_table("explore")
    title = Path(subject).name if file_format(subject) else subject
    return DeskInput(made.text, policy, base, made.guesses, path, title)


def _of_policy(
    path: Path, database: str | None, target: str | None, limits: Limits | None
) -> DeskInput:
    policy = Policy.load(path).one_table("explore")
    refuse_engine(policy, database)
    saved = place_to_save(path, target)
    text = path.read_bytes().decode("utf-8-sig")
    source = policy.source
    title = {"table": source.table, "file": Path(source.file or "").name}.get(source.kind)
    guesses = _guesses(policy, database, limits)
    return DeskInput(text, policy, path.parent, guesses, saved, title or "a query")


def _guesses(policy: Policy, database: str | None, limits: Limits | None) -> Mapping[str, Guess]:
    """The guesses of a draft for the same table; none for a query."""
    source = policy.source
    subject = source.table if source.kind == "table" else None
    if source.kind == "file":
        subject = str(policy.source_path)
    if subject is None:
        return {}
    try:
        return draft(subject, database, base=policy.base, limits=limits).guesses
    except AnonymizerError:
        return {}  # only the reasons are missing then


@contextmanager
def open_desk(
    begun: DeskInput,
    database: str | None,
    *,
    show_rows: bool = False,
    limits: Limits | None = None,
    sampled: int = SAMPLED,
) -> Iterator[Desk]:
    """Open the desk with three sessions on the source: two on a sample, one on all rows."""
    policy = alone(begun.policy)
    with ExitStack() as stack:
        benches = [
            Bench.of(policy, stack.enter_context(open_session(policy, database, limits=limits)), n)
            for n in (sampled, sampled, None)
        ]
        state = State(0, "as it was opened", begun.text, begun.policy)
        desk = Desk(
            title=begun.title,
            base=begun.base,
            first=begun.text,
            history=History([state]),
            target=Target.of(begun.target),
            database=database,
            handover=Handover(database, limits),
            sample=benches[0],
            side=benches[1],
            whole=benches[2],
            reasons={
                name: {"role": one.role, "reason": one.reason}
                for name, one in begun.guesses.items()
            },
            show_rows=show_rows,
        )
        stack.callback(desk.close)
        yield desk
