"""Progress of a run: a bar on a terminal, and the statements with `--explain`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymizer.commands.output import Output

if TYPE_CHECKING:
    from anonymizer.engines.execute import Event, Listener


@contextmanager
def progress(output: Output, *, explain: bool = False) -> Iterator[Listener]:
    """A listener for the executor that shows progress on standard error."""
    if explain:
        yield lambda event: _explain(output, event)
    elif output.quiet or not sys.stderr.isatty():
        yield lambda event: None
    else:
        with _bar() as listener:
            yield listener


def _explain(output: Output, event: Event) -> None:
    rows = "-" if event.count is None else f"{event.count:,}"
    round_ = f", round {event.round}" if event.round is not None else ""
    output.say(f"-- step {_place(event)}{round_}: {event.step.name}")
    output.say(f"-- {event.step.purpose}")
    output.say(event.step.statement().text.strip() + ";")
    output.say(f"-- rows {rows}, {1000 * event.seconds:.1f} ms\n")


def _place(event: Event) -> str:
    """The number of a stage in its phase; phases are named and numbered separately."""
    of = f" of {event.phase}" if event.phase else ""
    return f"{event.number} of {event.of}{of}"


def _counted(event: Event) -> str:
    """The round of a loop, and the step's count: rows written, or what is still open."""
    said = f", round {event.round}" if event.round is not None else ""
    if event.count is None:
        return said
    is_exit = event.round is not None and event.step.statement().kind == "query"
    return f"{said}, {event.count:,} {'still open' if is_exit else 'rows'}"


@dataclass(slots=True)
class Clock:
    """The elapsed time of a phase, and an estimate of the rest from the steps that are left.

    The estimate is shown only while steps are left, and never as zero. Loops and steps of different
    length make it rough, and verification is not a step.
    """

    phase: str | None = None
    began: float = 0.0

    def left(self, event: Event, now: float) -> str:
        """Text for the end of a line; empty if there is no estimate."""
        if event.phase != self.phase:
            self.phase, self.began = event.phase, now - event.seconds
        done = event.number if event.round is None else event.number - 1
        if done < 1 or done >= event.of:
            return ""
        seconds = (now - self.began) / done * (event.of - done)
        whole = max(1, round(seconds))
        return f", {event.phase or 'this'} may take {whole // 60}:{whole % 60:02d} more"


@contextmanager
def _bar() -> Iterator[Listener]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        TextColumn("so far, {task.description}"),
    )
    clock = Clock()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading the source", total=None)

        def listen(event: Event) -> None:
            if event.step.aside:
                return  # it is reported after steps that follow it
            left = clock.left(event, time.perf_counter())
            said = f"step {_place(event)}: {event.stage}{_counted(event)}{left}"
            if event.step.template.startswith("release/"):
                said = "verifying, then publishing"
            bar.update(task, total=event.of, completed=event.number, description=escape(said))

        yield listen
