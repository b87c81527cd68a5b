"""The engine's failures, by class. Its own words are not passed on: they may quote values."""

from __future__ import annotations

from anonymizer.errors import AnonymizerError, EngineError, Problem

_KNOWN: tuple[tuple[str, str, str], ...] = (
    (
        "OutOfMemoryException",
        "the memory limit was reached",
        "raise --memory-limit, or free space in the folder for spilled data",
    ),
    ("InterruptException", "the statement was interrupted", "run again"),
    (
        "IOException",
        "reading or writing failed",
        "look at free disk space, permissions, and whether another process holds the file",
    ),
    (
        "ConversionException",
        "a value of the source does not have the type that was asked for",
        "check the types of the source's columns and the conditions of the policy",
    ),
    (
        "OutOfRangeException",
        "a number is out of range",
        "check the conditions of the policy and very large numbers in the source",
    ),
    (
        "InvalidInputException",
        "a value of the source was refused by the engine",
        "check the conditions of the policy",
    ),
    (
        "BinderException",
        "an expression does not fit the columns it names",
        "check the types that the conditions of the policy compare",
    ),
    ("CatalogException", "a table or function does not exist", "check the names in the policy"),
    ("TransactionException", "a transaction failed", "run again"),
    ("PermissionException", "the engine refused access", "files outside the policy are closed"),
)


def translate(error: Exception, where: str) -> AnonymizerError:
    """The engine's `error` during `where`, as one of ours and without its message."""
    names = [kind.__name__ for kind in type(error).__mro__]
    for name, message, hint in _KNOWN:
        if name in names:
            return EngineError(Problem(where, message, hint=hint))
    return EngineError(
        Problem(where, f"the engine reported {names[0]}", hint="--debug shows the engine's words")
    )
