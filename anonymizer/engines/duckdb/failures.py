"""Maps DuckDB's errors, by class, to AnonymizerErrors without their messages (may quote values)."""

from __future__ import annotations

import errno
import os
import re

from anonymizer.errors import AnonymizerError, EngineError, StatementError

_UNTOLD = re.compile(r"Invalid Input Error: Error when sniffing file ")
_LINE = re.compile(r"(?:Invalid Input|Conversion) Error: CSV Error on Line: (\d+)\n")
_RECORD = re.compile(
    r"Invalid Input Error: JSON transform error in file .*?, in (?:line|record/value) (\d+): "
    r"(?:(Object .*has duplicate key)|)",
    re.DOTALL,
)

_UNREADABLE = re.compile(
    r"Invalid Input Error: "
    r"(?:No magic bytes found|File .* too small to be a Parquet|Malformed (JSON))"
)
QUERY = "source.query"
_NO_COLUMN = re.compile(
    r"Binder Error: (?:Referenced (?:column|table)|Table) [^\n]* (?:not found|have a column)"
)
_OF_SQL = (
    "ConversionException",
    "OutOfRangeException",
    "InvalidInputException",
    "BinderException",
    "CatalogException",
)
"""Errors of a statement's text or of the values that it reads."""

_AGAIN = (
    "run again, with --threads 1 or another --memory-limit; if it comes back, report it with the"
    " version of DuckDB, and run with another one meanwhile"
)
CRASHES = (RuntimeError, ValueError, IndexError, OverflowError, MemoryError)
"""Python exceptions that the driver raises for engine exceptions without a class of its own, such
as a failed allocation or a list that would be too long."""

_FAILED = "reading or writing failed"
_FILES = "look at free disk space, permissions, and whether another process holds the file"
_KNOWN: tuple[tuple[str, str, str], ...] = (
    (
        "OutOfMemoryException",
        "the memory limit was reached",
        "raise --memory-limit, or free space in the folder for spilled data",
    ),
    (
        "MemoryError",
        "the engine could not get the memory that it asked for",
        "lower --memory-limit below what is free, so that it spills to disk",
    ),
    ("InternalException", "the engine failed with an error of its own", _AGAIN),
    ("FatalException", "the engine failed and closed its database", _AGAIN),
    ("InterruptException", "the statement was interrupted", "run again"),
    (
        "IOException",
        _FAILED,
        _FILES,
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
        "check the conditions of the policy, and the views of the source",
    ),
    (
        "BinderException",
        "an expression does not fit the columns it names",
        "check the types that the conditions of the policy compare",
    ),
    (
        "CatalogException",
        "a table or function does not exist",
        "check the names in the policy; a view has to name the schemas of its tables",
    ),
    ("TransactionException", "a transaction failed", "run again"),
    (
        "PermissionException",
        "the engine refused access",
        "files outside the policy are closed to views and queries, too: name one in source.file,"
        " or make a table of it first",
    ),
)


_TOLD = tuple(
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EACCES", "EMFILE", "EIO")
    if hasattr(errno, name)  # (not all of them on Windows)
)
"""Errors of the operating system that the user can do something about."""


def translate(error: Exception, where: str) -> AnonymizerError:
    """Translate the engine's `error` during `where` to an AnonymizerError without its message."""
    of_file = _csv(str(error)) or _json(str(error)) or _unreadable(str(error))
    if of_file is not None:
        return EngineError.at(where, of_file[0], hint=of_file[1])
    names = [kind.__name__ for kind in type(error).__mro__]
    told = _of_the_system(str(error))
    if told is not None and {*names} & {"IOException", "TransactionException"}:
        # (a commit that finds the disk full fails as a transaction)
        return EngineError.at(where, f"{_FAILED}: {told}", hint=_FILES)
    for name, message, hint in _KNOWN:
        if name in names:
            if _NO_COLUMN.match(str(error)):
                message, hint = "a column does not exist", "check the names in the policy"
            if where == QUERY and name == "InvalidInputException":
                message = "the query fails"
            if where == QUERY and name in _OF_SQL:
                hint = "run the query by itself to see why"
            kind = StatementError if name == "BinderException" else EngineError
            return kind.at(where, message, hint=hint)
    if isinstance(error, CRASHES):
        return EngineError.at(where, "the engine failed with an error of its own", hint=_AGAIN)
    return EngineError.at(
        where, f"the engine reported {names[0]}", hint="--debug shows the engine's words"
    )


def _of_the_system(words: str) -> str | None:
    """The operating system's message about a file, in the engine's words. They end with it or quote
    the error of another thread.
    """
    told = (os.strerror(code) for code in _TOLD)
    return next((text for text in told if re.search(rf": {re.escape(text)}(?:\"|\Z)", words)), None)


def _unreadable(words: str) -> tuple[str, str] | None:
    """The problem and hint for a file whose content does not match its suffix."""
    found = _UNREADABLE.match(words)
    if found is None:
        return None
    form = found[1] or "Parquet"
    return f"a file cannot be read as {form}", f"write it as {form}, or name it by what it is"


def _json(words: str) -> tuple[str, str] | None:
    """Describe an invalid JSON file: the record's number, and none of its values."""
    found = _RECORD.match(words)
    if found is None:
        return None
    said = "names a key twice" if found[2] else "has a value of another type than those before it"
    hint = "mend it, or write the file as Parquet first, with the types it should have"
    return f"record {found[1]} of a JSON file {said}", hint


_CELL = re.compile(
    r"\nError when converting column \"(.*)\"\. Could not convert string .* to '(\w+)'\n", re.DOTALL
)
"""A cell that has another form than the type of its column."""


def _csv(words: str) -> tuple[str, str] | None:
    """Describe an invalid CSV file: the line's number, and none of its values."""
    if _UNTOLD.match(words):
        said = "a CSV file cannot be read: its delimiter, quotes or columns differ between lines"
        title = "leave a title out with source.read: {skip: 1}"
        return said, f"{title}; or mend the file, or write it as Parquet first"
    found = _LINE.match(words)
    if found is None:
        return None
    if "\nInvalid unicode" in words:
        hint = "save the file as UTF-8, or source: {read: {encoding: windows-1252}}"
        return f"line {found[1]} of a CSV file is not UTF-8", hint
    if "\nValue with unterminated quote" in words:
        said = f"a quote in line {found[1]} of a CSV file is not closed"
        return said, "close it; if the file was cut off, write or copy it again"
    cell = _CELL.search(words)
    if cell is not None:
        said = f"line {found[1]} of a CSV file has a cell of {cell[1]} that is no {cell[2]}"
        return (
            said,
            "mend it; or name it in source.read.nulls, or another type in source.read.types",
        )
    said = f"line {found[1]} of a CSV file does not fit the lines before it"
    return (
        said,
        "mend the line; of lines after the table source.read.skip_last leaves out so many; or write"
        " the file as Parquet first, with the types it should have",
    )
