"""Errors shown to the user: a path, what is wrong, what is allowed, and a hint.

Every error a user can cause derives from `AnonymizerError` and carries one or more `Problem`s.
No problem ever contains a data value or the engine's own message (which may quote one).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, described so that the user can correct it."""

    path: str
    """The place: a path in the policy (`columns.age.role`), an option, or a file."""
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
    """The message for a path that is not a file; names the path as given."""
    if is_waited_for(Path(path)):
        return f"{path} is a named pipe, not a file"
    return f"{path} is a folder, not a file" if Path(path).is_dir() else f"there is no file {path}"


def is_waited_for(path: Path) -> bool:
    """Return whether a path is a named pipe, on which reading would block if nobody writes to it.

    Pipes of the shell, as in `<(...)`, have a writer and do not count.
    """
    return path.is_fifo() and path.parts[:2] not in (("/", "dev"), ("/", "proc"))


class AnonymizerError(Exception):
    """Base of all errors shown to users. `exit_code` is the one of the command line."""

    exit_code = 2

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))

    def reword(self, change: Callable[[Problem], Problem]) -> None:
        """Replace its problems by `change`, so that the caller can reword them."""
        self.problems = tuple(map(change, self.problems))
        self.args = ("\n".join(map(str, self.problems)),)

    @classmethod
    def at(
        cls, path: str, message: str, allowed: str | None = None, hint: str | None = None
    ) -> Self:
        """The error for a single problem."""
        return cls(Problem(path, message, allowed, hint))

    @classmethod
    def refuse(cls, problems: Iterable[Problem]) -> None:
        """Raise the error with all of these problems, if there are any."""
        found = tuple(problems)
        if found:
            raise cls(found)


def raise_together(errors: Sequence[AnonymizerError]) -> None:
    """Raise the problems of all these errors as one, of the type of the first, if there are any."""
    if errors:
        raise type(errors[0])([problem for error in errors for problem in error.problems])


class PolicyError(AnonymizerError):
    """The policy cannot be read, or contradicts itself (exit code 2)."""


class PolicyFormError(PolicyError):
    """The policy has a name or value that its schema does not allow, whatever the data are (2)."""


class SourceError(AnonymizerError):
    """The source does not fit the policy: a missing table or column, a nested type (2)."""


class InfeasibleError(AnonymizerError):
    """A count of the source shows that the guarantee cannot be reached (2)."""


class EngineError(AnonymizerError):
    """The engine failed: disk, memory, lock, an interrupted or refused statement (2)."""


class EncryptionError(EngineError):
    """An encrypted database without its key, or where the engine cannot write one (2)."""


class StatementError(EngineError):
    """The engine refuses a statement for what it says: a type, name or operator does not fit (2).

    Where the statement holds nothing of the user's, that is a defect of the tool.
    """


class TargetError(AnonymizerError):
    """The target cannot be used: locked, read-only, or not created by this tool (2)."""


class GuaranteeError(AnonymizerError):
    """The run completed, but a guarantee, bound or limit fails; nothing was published (1)."""

    exit_code = 1


class NothingToCheckError(AnonymizerError):
    """There is nothing to verify (2)."""


class TemplateError(RuntimeError):
    """A defect of the tool: a template that renders something other than it declares (70)."""


class RegistryError(AnonymizerError):
    """A defect of the tool: something that a policy can require is not handled, or not taken by an
    engine (70).
    """

    exit_code = 70
