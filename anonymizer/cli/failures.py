"""Map exceptions to exit codes, and to problems that contain no data value."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from anonymizer.errors import AnonymizerError, Problem
from anonymizer.version import __version__

DEFECT = 70
CANNOT = 2

# errors that the engine can raise independently of any statement
_OF_THE_ENGINE = (
    "OutOfMemoryException",
    "InternalException",
    "FatalException",
    "IOException",
    "PermissionException",
)


class UsageError(AnonymizerError):
    """The command line cannot be parsed (exit code 2)."""


class CommandFailure(AnonymizerError):
    """A command that has a result to show but fails.

    `result` goes to standard output together with the errors; `exit_code` is 1 for a guarantee that
    does not hold, 2 for problems that prevent the command from working.
    """

    def __init__(
        self, problems: Iterable[Problem], exit_code: int, result: Mapping[str, Any]
    ) -> None:
        super().__init__(problems)
        self.exit_code = exit_code
        self.result = result


@dataclass(frozen=True, slots=True)
class Failure:
    """The end of an unsuccessful command."""

    exit_code: int
    problems: tuple[Problem, ...]
    result: Mapping[str, Any] | None = None


def failure(error: BaseException) -> Failure:
    """Convert an exception to a failure; an unexpected one is a defect of the tool."""
    match error:
        case CommandFailure():
            return Failure(error.exit_code, error.problems, error.result)
        case AnonymizerError():
            return Failure(error.exit_code, error.problems)
        case click.ClickException():
            return Failure(CANNOT, (_usage(error),))
        case MemoryError():
            hint = "lower --memory-limit, or free memory"
            return Failure(CANNOT, (Problem("memory", "there is not enough", hint=hint),))
        case RuntimeError() if str(error).startswith("Symlink loop"):  # of Path.resolve
            said = "the path of a file is a symbolic link that leads to itself"
            return Failure(CANNOT, (Problem("anonymizer", said, hint="ls -l shows it"),))
        case OSError() if error.errno is not None:
            return Failure(CANNOT, (_system(error),))
    if {kind.__name__ for kind in type(error).__mro__} & set(_OF_THE_ENGINE):
        from anonymizer.engines.duckdb.failures import translate

        assert isinstance(error, Exception)
        return Failure(CANNOT, translate(error, "engine").problems)
    return Failure(DEFECT, (_defect(error),))


def _system(error: OSError) -> Problem:
    """An error of the operating system. File names are shown without their folders."""
    name = error.filename
    path = Path(os.fsdecode(name)).name if isinstance(name, str | bytes | Path) else "output"
    return Problem(path, f"the operating system says: {os.strerror(error.errno or 0)}")


def _defect(error: BaseException) -> Problem:
    """Kind and place of what happened; its words may quote a value and are not shown."""
    package = str(Path(__file__).parents[1])
    ours = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(package)]
    where = ""
    if ours:
        place = Path(ours[-1].filename).relative_to(package).with_suffix("")
        where = f" in {'.'.join(place.parts)}.{ours[-1].name}, line {ours[-1].lineno}"
    return Problem(
        "anonymizer",
        f"a defect of the tool: {type(error).__name__}{where} (version {__version__})",
        hint="please report this line and the command; --debug shows more, which may quote values",
    )


def _usage(error: click.ClickException) -> Problem:
    """A usage error of click, in the tool's format and without the given value."""
    match error:
        case click.NoSuchOption():
            near = ", ".join(error.possibilities or ())
            command = error.ctx.command_path if error.ctx else "anonymizer"
            return Problem(
                error.option_name,
                f"is not an option of {command}",
                hint=f"did you mean {near}?" if near else f"{command} --help lists them",
            )
        case click.MissingParameter():
            name = _parameter(error)
            says = error.ctx.command_path if error.ctx else "anonymizer"
            return Problem(name, "is missing", hint=f"{says} --help")
        case click.BadParameter():
            kind = error.param.type if error.param is not None else None
            if isinstance(kind, click.Choice):
                allowed = ", ".join(map(str, kind.choices))
                return Problem(_parameter(error), "is not one of its values", allowed=allowed)
            if isinstance(kind, click.types.IntParamType):
                low = getattr(kind, "min", None)
                allowed = "a whole number" + (f" from {low}" if low is not None else "")
                return Problem(_parameter(error), "is not a number it takes", allowed=allowed)
            form = "YYYY-MM-DD" if isinstance(kind, click.DateTime) else None
            form = "a number" if isinstance(kind, click.types.FloatParamType) else form
            return Problem(_parameter(error), "cannot be read", allowed=form)
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "anonymizer"
            message = error.format_message().rstrip(".")
            return Problem(command, message[:1].lower() + message[1:], hint=f"{command} --help")
    return Problem("anonymizer", error.format_message())


def _parameter(error: click.BadParameter) -> str:
    """The `--option` or `ARGUMENT` that an error refers to."""
    param = error.param
    if isinstance(error.param_hint, str):
        return error.param_hint
    if param is None:
        return "anonymizer"
    if param.param_type_name == "argument":
        return param.human_readable_name
    return max(param.opts, key=len)
