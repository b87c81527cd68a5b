"""A file as a relation to select from.

DuckDB guesses the dialect of a CSV file. If lines do not fit, it skips those before the first that
does, or reads a whole line as one cell: rows would be missing without a warning. Such a file is
refused. If a quote is not closed, or none is among the first lines, it takes quotes for letters;
then it is told that they are quotes. It also reads a JSON list that was cut off after a record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from anonymizer.compile import Sql, lit, one_file
from anonymizer.errors import SourceError
from anonymizer.policy.values import file_format

READERS = {"parquet": "read_parquet", "csv": "read_csv", "json": "read_json"}
"""Table function that reads a file, by format."""
DELIMITERS = (",", ";", "\t", "|")
_ONE_CELL = (
    "columns = {'line': 'VARCHAR'}, header = false, delim = chr(1), quote = '', escape = '',"
    " comment = '', skip = 0, auto_detect = false, strict_mode = false, ignore_errors = true"
)
_LIST = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[")
_NONE = "(empty)"
"""What DuckDB calls the quote of a file without any."""
_QUOTED = "quote = '\"'"
_MEND = "give every line as many cells as the line of column names, or write the file as Parquet"

Ask = Callable[[str, str], Sequence[tuple[Any, ...]]]
"""Runs SQL for a path of the policy or an option, and returns its rows."""


def file_relation(path: Path, ask: Ask, where: str) -> Sql:
    """SQL to select from a file. Raises SourceError for a file that is not one table."""
    form = file_format(path.name) or ""
    file = one_file(path).text
    if form == "csv":
        file = _refuse_torn(file, ask, where)
    elif form == "json":
        _refuse_cut(path, where)
        _refuse_unnamed(file, ask, where)
    return Sql(f"{READERS[form]}({file})")


def _refuse_cut(path: Path, where: str) -> None:
    """A list without its last bracket: the engine reads the records that are left."""
    if not path.stat().st_size:
        return
    with path.open("rb") as handle, mmap(handle.fileno(), 0, access=ACCESS_READ) as text:
        whole = not _LIST.match(text) or not text[text.rfind(b"]") + 1 :].strip()
    if not whole:
        said = "is a list that does not end with ]: it was cut off"
        raise SourceError.at(where, said, hint="write or copy the file again")


def _refuse_unnamed(file: str, ask: Ask, where: str) -> None:
    """Values that are in no object have no names: the engine makes a column `json` of them."""
    if [name for name, *_ in ask(f"describe from read_json({file})", where)] != ["json"]:
        return
    named = "json_type(json) = 'OBJECT' and json_exists(json, '$.json')"
    ((found,),) = ask(f"select count_if({named}) from read_json_objects({file})", where)
    if not found:
        hint = 'write a list of objects, or one in each line: {"age": 34, "zip": "8001"}'
        raise SourceError.at(where, "holds no objects, whose keys name the columns", hint=hint)


def _refuse_torn(file: str, ask: Ask, where: str) -> str:
    """Refuse lines of one cell, and other skipped lines than empty ones and comments.

    Returns the arguments to read the file with.
    """
    bare = file
    skipped, quote, names = _dialect(bare, ask, where)
    if quote == _NONE:
        file, several = f"{bare}, {_QUOTED}", len(names) > 1
        skipped, _, names = _dialect(file, ask, where)
        if several and len(names) == 1:
            said = 'has a cell that begins with " and does not end with it: was it cut off?'
            raise SourceError.at(where, said, hint="close the quote, or write the file again")
    if skipped:
        ((rows,),) = ask(
            "select count(*) from"
            f" (select line from read_csv({bare}, {_ONE_CELL}) limit {lit(int(skipped)).text})"
            " where trim(line) <> '' and not starts_with(ltrim(line), '#')",
            where,
        )
        if rows:
            said = f"has lines before line {int(skipped) + 1} that do not fit those after it"
            raise SourceError.at(where, said, hint=f"{_MEND}; comments begin with #")
    if len(names) == 1 and quote == _NONE and any(sign in names[0] for sign in DELIMITERS):
        said = "has lines with different numbers of cells, so that each would be one cell"
        raise SourceError.at(where, said, hint=_MEND)
    return file


def _dialect(file: str, ask: Ask, where: str) -> tuple[int, str, list[str]]:
    """Skipped lines, the quote and the names of columns, as the engine guesses them."""
    seen = 'select "SkipRows", "Quote", list_transform("Columns", lambda c: c.name)'
    ((skipped, quote, names),) = ask(f"{seen} from sniff_csv({file})", where)
    return skipped, quote, names
