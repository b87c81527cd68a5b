"""Errors shown to the user: a path, what is wrong, what is allowed, and a hint.

Every error a user can cause derives from `AnonymizerError` and carries one or more `Problem`s.
No problem ever contains a data value or the engine's own message (which may quote one).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, said so that it can be mended."""

    path: str
    """Where: a path in the policy (`columns.age.role`), an option, or a file."""
    message: str
    allowed: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        extra = [f"allowed: {self.allowed}"] if self.allowed else []
        extra += [f"hint: {self.hint}"] if self.hint else []
        tail = f" ({'; '.join(extra)})" if extra else ""
        return f"{self.path}: {self.message}{tail}"

    def as_dict(self) -> dict[str, str | None]:
        return asdict(self)


def no_file(path: str | Path) -> str:
    """What is wrong with a path that is no file, named as it was given."""
    if is_waited_for(Path(path)):
        return f"{path} is a named pipe, not a file"
    return f"{path} is a folder, not a file" if Path(path).is_dir() else f"there is no file {path}"


def is_waited_for(path: Path) -> bool:
    """Whether a path is a named pipe, which would be waited for if nobody writes to it.

    Those of the shell, as of `<(...)`, have a writer.
    """
    return path.is_fifo() and path.parts[:2] not in (("/", "dev"), ("/", "proc"))


class AnonymizerError(Exception):
    """Base of all errors shown to users. `exit_code` is the one of the command line."""

    exit_code = 2

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))

    def reword(self, change: Callable[[Problem], Problem]) -> None:
        """Say its problems in other words, those of the caller."""
        self.problems = tuple(map(change, self.problems))
        self.args = ("\n".join(map(str, self.problems)),)

    @classmethod
    def at(
        cls, path: str, message: str, allowed: str | None = None, hint: str | None = None
    ) -> Self:
        """The error of one problem."""
        return cls(Problem(path, message, allowed, hint))

    @classmethod
    def refuse(cls, problems: Iterable[Problem]) -> None:
        """Raise it with all of these problems, if there are any."""
        found = tuple(problems)
        if found:
            raise cls(found)


class PolicyError(AnonymizerError):
    """The policy cannot be read, or contradicts itself (exit code 2)."""


class PolicyFormError(PolicyError):
    """A name or a value in the policy is none that its form has, whatever the data are (2)."""


class SourceError(AnonymizerError):
    """The source does not fit the policy: a missing table or column, a nested type (2)."""


class InfeasibleError(AnonymizerError):
    """A count of the source shows that the guarantee cannot be reached (2)."""


class EngineError(AnonymizerError):
    """The engine failed: disk, memory, lock, an interrupted or refused statement (2)."""


class TargetError(AnonymizerError):
    """The place to publish cannot be used: locked, read-only, not ours (2)."""


class GuaranteeError(AnonymizerError):
    """It ran, but a guarantee, bound or limit does not hold; nothing was published (1)."""

    exit_code = 1


class NothingToCheckError(AnonymizerError):
    """There is nothing to verify (2)."""


class TemplateError(RuntimeError):
    """A defect of the tool: a template that renders something other than it declares (70)."""


class RegistryError(AnonymizerError):
    """A bug in the tool: nothing handles something that a policy can require (70)."""

    exit_code = 70
