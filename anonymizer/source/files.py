"""A file as a relation to select from.

DuckDB guesses the dialect of a CSV file. If lines do not fit, it skips those before the first that
does, or reads a whole line as one cell: rows would be missing without a warning. Such a file is
refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
_MEND = "give every line as many cells as the line of column names, or write the file as Parquet"

Ask = Callable[[str, str], Sequence[tuple[Any, ...]]]
"""Runs SQL for a path of the policy or an option, and returns its rows."""


def file_relation(path: Path, ask: Ask, where: str) -> Sql:
    """SQL to select from a file. Raises SourceError for a file that is not one table."""
    form = file_format(path.name) or ""
    file = one_file(path).text
    if form == "csv":
        _refuse_torn(file, ask, where)
    elif form == "json":
        _refuse_unnamed(file, ask, where)
    return Sql(f"{READERS[form]}({file})")


def _refuse_unnamed(file: str, ask: Ask, where: str) -> None:
    """Values that are in no object have no names: the engine makes a column `json` of them."""
    if [name for name, *_ in ask(f"describe from read_json({file})", where)] != ["json"]:
        return
    named = "json_type(json) = 'OBJECT' and json_exists(json, '$.json')"
    ((found,),) = ask(f"select count_if({named}) from read_json_objects({file})", where)
    if not found:
        hint = 'write a list of objects, or one in each line: {"age": 34, "zip": "8001"}'
        raise SourceError.at(where, "holds no objects, whose keys name the columns", hint=hint)


def _refuse_torn(file: str, ask: Ask, where: str) -> None:
    """Refuse lines of one cell, and other skipped lines than empty ones and comments."""
    seen = 'select "SkipRows", "Quote", list_transform("Columns", lambda c: c.name)'
    ((skipped, quote, names),) = ask(f"{seen} from sniff_csv({file})", where)
    if skipped:
        ((rows,),) = ask(
            "select count(*) from"
            f" (select line from read_csv({file}, {_ONE_CELL}) limit {lit(int(skipped)).text})"
            " where trim(line) <> '' and not starts_with(ltrim(line), '#')",
            where,
        )
        if rows:
            said = f"has lines before line {int(skipped) + 1} that do not fit those after it"
            raise SourceError.at(where, said, hint=f"{_MEND}; comments begin with #")
    if len(names) == 1 and quote == "(empty)" and any(sign in names[0] for sign in DELIMITERS):
        said = "has lines with different numbers of cells, so that each would be one cell"
        raise SourceError.at(where, said, hint=_MEND)
