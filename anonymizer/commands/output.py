"""Output of commands: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

from anonymizer.errors import AnonymizerError, Problem
from anonymizer.process.text import plain, printable

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
        self.json = form == "json"
        self.quiet = quiet
        self.debug = debug
        self.warnings: list[str] = []

    def result(self, data: Mapping[str, Any], text: Iterable[str] = ()) -> None:
        """Print the result of a command: `data` as JSON, or the lines of `text`. Called once."""
        if self.json:
            _write(sys.stdout, json.dumps(plain(data), allow_nan=False, indent=2))
        else:
            for line in text:
                _write(sys.stdout, printable(line))

    def done(self, data: Mapping[str, Any], text: Iterable[str] = ()) -> None:
        """Print what a command did: a release, a file, a record. Called once.

        What it did stands, even if standard output cannot be written: that is a warning, because
        with the exit code of a failure a script would do it again.
        """
        with self.outlasted():
            self.result(data, text)

    @contextmanager
    def outlasted(self) -> Iterator[None]:
        """Turn the failure to write standard output into a warning: something else decides."""
        try:
            yield
        except OutputError as error:
            for problem in error.problems:
                self.warn(str(problem))

    def judged(
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
                with self.outlasted():
                    self.result(data, text)
            from anonymizer.commands.failures import Unfulfilled

            raise Unfulfilled(problems, exit_code, data)

    def written(self, text: str) -> None:
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

    def failed(
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
                plain({**(result or {}), "errors": errors}), allow_nan=False, indent=2
            )
            with suppress(OutputError):  # already reported on standard error, with its exit code
                _write(sys.stdout, text)

    def interrupted(self, error: BaseException) -> None:
        """Report that the user interrupted the command."""
        hint = "a release is published whole or not at all; run again"
        self.failed([Problem("anonymizer", "interrupted", hint=hint)], error)


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
