"""Output of commands: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from anonymizer.errors import AnonymizerError, Problem
from anonymizer.process.text import figure, json_value, printable

if TYPE_CHECKING:
    from anonymizer.contract.checks import Verification
    from anonymizer.engines.execute import Event, Listener
    from anonymizer.policy import AnyPolicy


ERRORS = (
    "0 fine; 1 it ran and a guarantee does not hold, nothing was published; 2 it could not run;"
    " 130 interrupted; 70 a defect of the tool"
)


def wanted_format(arguments: Sequence[str]) -> str:
    """The requested output format, even if the rest of the command line is invalid."""
    for at, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument == "--format=json":
            return "json"
        if argument == "--format" and arguments[at + 1 : at + 2] == ["json"]:
            return "json"
    return "text"


class OutputError(AnonymizerError):
    """The result of a command cannot be shown (exit code 2)."""


class Output:
    """Text for people or one JSON object for programs, as chosen by `--format`."""

    def __init__(self, form: str = "text", *, quiet: bool = False, debug: bool = False) -> None:
        self.form, self.json = form, form == "json"
        self.quiet = quiet
        self.debug = debug
        self.warnings: list[str] = []

    def result(self, data: Mapping[str, Any], text: Iterable[str] = ()) -> None:
        """Print the result of a command: `data` as JSON, or the lines of `text`. Called once."""
        if self.json:
            _write(sys.stdout, json.dumps(json_value(data), allow_nan=False, indent=2))
        else:
            for line in text:
                _write(sys.stdout, printable(line))

    def done(self, data: Mapping[str, Any], text: Iterable[str] = ()) -> None:
        """Print what a command did: a release, a file, a record. Called once.

        What it did stands, even if standard output cannot be written: that is a warning, because
        with the exit code of a failure a script would do it again.
        """
        with self.warn_on_failure():
            self.result(data, text)

    @contextmanager
    def warn_on_failure(self) -> Iterator[None]:
        """Turn the failure to write standard output into a warning: something else decides."""
        try:
            yield
        except OutputError as error:
            for problem in error.problems:
                self.warn(str(problem))

    def verdict(
        self,
        data: Mapping[str, Any],
        text: Iterable[str],
        problems: Sequence[Problem],
        *,
        holds: bool,
        exit_code: int = 1,
    ) -> None:
        """Print the result of a command; if it does not hold, fail with these problems."""
        if holds:
            self.result(data, text)
        else:
            if not self.json:  # (otherwise it is one JSON object that includes the errors)
                with self.warn_on_failure():
                    self.result(data, text)
            from anonymizer.cli.failures import CommandFailure

            raise CommandFailure(problems, exit_code, data)

    def write(self, text: str) -> None:
        """Print text that is a command's result, without characters that control a terminal."""
        shown = sys.stdout is not None and sys.stdout.isatty()
        text = text.removesuffix("\n")
        _write(sys.stdout, printable(text) if shown else text)

    def say(self, line: str) -> None:
        """Print a line of progress on standard error."""
        if not self.quiet:
            _write(sys.stderr, printable(line))

    def warn(self, message: str) -> None:
        """Print a warning on standard error, even when quiet."""
        self.warnings.append(message)
        _write(sys.stderr, printable(f"warning: {message}"))

    def fail(
        self,
        problems: Sequence[Problem],
        error: BaseException,
        result: Mapping[str, Any] | None = None,
    ) -> None:
        """Print one line per problem on standard error, and one object with `--format json`."""
        if self.debug:
            _write(sys.stderr, "".join(traceback.format_exception(error)).rstrip())
        for problem in problems:
            _write(sys.stderr, printable(str(problem), keep=""))
        if self.json:
            errors = [problem.as_dict() for problem in problems]
            text = json.dumps(
                json_value({**(result or {}), "errors": errors}), allow_nan=False, indent=2
            )
            with suppress(OutputError):  # already reported on standard error, with its exit code
                _write(sys.stdout, text)

    def report_interruption(self, error: BaseException) -> None:
        """Report that the user interrupted the command."""
        hint = "a release is published whole or not at all; run again"
        self.fail([Problem("anonymizer", "interrupted", hint=hint)], error)


def open_streams() -> None:
    """Connect closed standard streams (`>&-`) to the null device.

    Otherwise a file opened later would get their numbers, and whatever is written to them. Python
    has no object for a stream that was closed at its start; here and in libraries there is one.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _write(stream: IO[str] | None, text: str) -> None:
    """Write to a stream; a reader that has gone (`| head`) changes neither effect nor exit code.

    Raises OutputError if standard output cannot be written for another reason, such as a full disk.
    """
    if stream is None:  # it was closed when the process started
        return
    try:
        try:
            stream.write(text + "\n")
        except UnicodeEncodeError:
            coding = getattr(stream, "encoding", None) or "ascii"
            stream.write(text.encode(coding, "backslashreplace").decode(coding) + "\n")
        stream.flush()
    except OSError as error:
        # discard the rest of the buffer, so that the process does not write it at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if stream is sys.stdout and not isinstance(error, BrokenPipeError):
            said = f"cannot be written: {os.strerror(error.errno or 0)}"
            hint = "everything else was done; nothing but this output is lost"
            raise OutputError.at("standard output", said, hint=hint) from error


# Failed checks as problems.


def failed_checks(verification: Verification, policy: AnyPolicy | None = None) -> list[Problem]:
    """The failed checks with their figures; the check's own SQL finds the classes."""
    from anonymizer.release.judge import path_of

    return [
        Problem(
            path_of(check.name, check.column, policy),
            f"{check.name} requires {figure(check.required)}, the release reaches"
            f" {figure(check.achieved)}",
            hint="the check's SQL (--format json) lists the classes that break it",
        )
        for check in verification.failed
    ] or [Problem("privacy", "nothing could be verified")]


# A short listing of a plan's steps: checks, and steps that differ only by column, share a line.


SHOWN = 3
"""Largest number of names on a line."""
FEW = 3
"""A prefix of at most this many words before a colon is not informative."""
CHECKS = "counts that stop a run or cause a warning"


@dataclass(slots=True)
class Line:
    """Steps that share a line."""

    says: str
    numbers: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    repeated: bool = False

    def text(self) -> str:
        again = ", repeated" if self.repeated else ""
        return f"  {_abbreviate(self.names)} ({_ranges(self.numbers)}{again}): {self.says}"


def step_lines(steps: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line per purpose, in order of first occurrence, with the numbers of its steps."""
    found: dict[str, Line] = {}
    for number, step in enumerate(steps, start=1):
        says = CHECKS if step.get("check") else _short(step)
        line = found.setdefault(says, Line(says, repeated="steps" in step))
        line.numbers.append(number)
        line.names.append(str(step["name"]))
    yield from (line.text() for line in found.values())


def _short(step: Mapping[str, Any]) -> str:
    """The first clause of a step's purpose; for a loop, of its repeated step."""
    inner = step.get("steps") or ()
    found = str(inner[0]["purpose"] if inner else step["purpose"])
    found = found.split(". ", maxsplit=1)[0].split(" (", maxsplit=1)[0]
    head, _, rest = found.partition(": ")
    return (rest if rest and len(head.split()) < FEW else head).rstrip(".")


def _ranges(numbers: Sequence[int]) -> str:
    """Ranges of numbers: `1, 3-5, 8`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{r[0]}-{r[-1]}" if len(r) > 1 else str(r[0]) for r in runs)


def _abbreviate(names: Sequence[str]) -> str:
    """`values of age, town and 3 more`: a common beginning is written once."""
    different = list(dict.fromkeys(names))
    start, shared, _ = different[0].rpartition(" of ")
    if not all(name.startswith(start + shared) for name in different):
        start = shared = ""
    ends = [name.removeprefix(start + shared) for name in different]
    more = len(ends) - SHOWN
    listed = ", ".join(ends[:SHOWN]) + (f" and {more} more" if more > 0 else "")
    return start + shared + listed


# Progress of a run: a bar on a terminal, and the statements with `--explain`.


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


def _progress_count(event: Event) -> str:
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

    def remaining_text(self, event: Event, now: float) -> str:
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
            left = clock.remaining_text(event, time.perf_counter())
            said = f"step {_place(event)}: {event.stage}{_progress_count(event)}{left}"
            if event.step.template.startswith("release/"):
                said = "verifying, then publishing"
            bar.update(task, total=event.of, completed=event.number, description=escape(said))

        yield listen
