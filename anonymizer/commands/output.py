"""What a command says: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import IO, Any

from anonymizer.errors import Problem

ERRORS = (
    "0 fine; 1 it ran and a guarantee does not hold, nothing was published; 2 it could not run;"
    " 130 interrupted; 70 a defect of the tool"
)


def wanted_format(arguments: Sequence[str]) -> str:
    """The format that a command line asks for, readable even where the rest of it is not."""
    for at, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument == "--format=json":
            return "json"
        if argument == "--format" and arguments[at + 1 : at + 2] == ["json"]:
            return "json"
    return "text"


class Output:
    """Text for people or one JSON object for programs; the choice of `--format`."""

    def __init__(self, form: str = "text", *, quiet: bool = False, debug: bool = False) -> None:
        self.json = form == "json"
        self.quiet = quiet
        self.debug = debug
        self.warnings: list[str] = []

    def result(self, data: Mapping[str, Any], text: Iterable[str] = ()) -> None:
        """The result of a command: `data` as JSON, or the lines of `text`. Called once."""
        if self.json:
            _write(sys.stdout, json.dumps(plain(data), allow_nan=False, indent=2))
        else:
            for line in text:
                _write(sys.stdout, printable(line))

    def say(self, line: str) -> None:
        """A line of progress, on standard error."""
        if not self.quiet:
            _write(sys.stderr, printable(line))

    def warn(self, message: str) -> None:
        """Something that works and that one should know, on standard error even when quiet."""
        self.warnings.append(message)
        _write(sys.stderr, printable(f"warning: {message}"))

    def failed(
        self,
        problems: Sequence[Problem],
        error: BaseException,
        result: Mapping[str, Any] | None = None,
    ) -> None:
        """Every problem in one line on standard error, and as one object with `--format json`."""
        if self.debug:
            _write(sys.stderr, "".join(traceback.format_exception(error)).rstrip())
        for problem in problems:
            _write(sys.stderr, printable(str(problem), keep=""))
        if self.json:
            errors = [problem.as_dict() for problem in problems]
            _write(
                sys.stdout,
                json.dumps(plain({**(result or {}), "errors": errors}), allow_nan=False, indent=2),
            )

    def interrupted(self, error: BaseException) -> None:
        """The command was interrupted by the user."""
        hint = "a release is published whole or not at all; run again"
        self.failed([Problem("anonymizer", "interrupted", hint=hint)], error)


def plain(value: Any) -> Any:
    """A value as JSON has it: no NaN or infinity (they become text), no Decimal, no tuple."""
    match value:
        case bool() | int() | str() | None:
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Decimal():
            return plain(float(value))
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in value]
    return str(value)


def printable(text: str, keep: str = "\n\t") -> str:
    """Text without characters that steer a terminal: names may hold any."""
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode()
        for char in text
    )


def figure(value: Any) -> str:
    """A figure of a check or measure, short."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.4g}" if abs(value) < 1e6 else f"{value:,.0f}"
        case int():
            return f"{value:,}"
        case Mapping():
            return ", ".join(f"{key} {figure(item)}" for key, item in value.items())
        case list() | tuple():
            return f"{len(value)} values"
    return str(value)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], indent: str = "  ") -> list[str]:
    """Rows as lines with aligned columns; numbers to the right."""
    cells = [[printable(cell, keep="") for cell in row] for row in rows]
    lines = [list(head), *cells]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    right = [bool(cells) and all(_is_number(row[i]) for row in cells) for i in range(len(head))]
    return [
        indent
        + "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    ]


def _is_number(cell: str) -> bool:
    return cell.replace(",", "").replace(".", "").replace("-", "").isdigit() or cell == "-"


def _write(stream: IO[str], text: str) -> None:
    """A reader that has gone (`| head`) does not change what a command did, or its exit code."""
    try:
        try:
            stream.write(text + "\n")
        except UnicodeEncodeError:
            coding = getattr(stream, "encoding", None) or "ascii"
            stream.write(text.encode(coding, "backslashreplace").decode(coding) + "\n")
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
