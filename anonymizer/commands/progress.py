"""Progress of a run: a bar on a terminal, and the statements with `--explain`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from anonymizer.commands.output import Output

if TYPE_CHECKING:
    from anonymizer.execute import Event, Listener


@contextmanager
def progress(output: Output, *, explain: bool = False) -> Iterator[Listener]:
    """A listener for the executor; what it shows goes to standard error."""
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
    output.say(f"-- step {event.number} of {event.of}{round_}: {event.step.name}")
    output.say(f"-- {event.step.purpose}")
    output.say(event.step.statement().text.strip() + ";")
    output.say(f"-- rows {rows}, {1000 * event.seconds:.1f} ms\n")


def _counted(event: Event) -> str:
    """The round of a loop, and what the step counted: rows written, or what is still open."""
    said = f", round {event.round}" if event.round is not None else ""
    if event.count is None:
        return said
    is_exit = event.round is not None and event.step.statement().kind == "query"
    return f"{said}, {event.count:,} {'still open' if is_exit else 'rows'}"


@contextmanager
def _bar() -> Iterator[Listener]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn(),
        BarColumn(bar_width=24),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("step 1: read the source", total=None)

        def listen(event: Event) -> None:
            said = f"step {event.number} of {event.of}: {event.stage}{_counted(event)}"
            if event.step.template.startswith("release/"):
                said = "verify, then publish"
            bar.update(task, total=event.of, completed=event.number, description=escape(said))

        yield listen
