"""A file as a relation to select from.

A file is refused if it is not one table, or if it was surely cut off. DuckDB reads a JSON list that
was cut off after a record, and renames columns of equal names. CSV files: `csv_files`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path

from anonymizer.compile import Sql, join, lit, one_file, sql
from anonymizer.errors import SourceError
from anonymizer.policy.values import file_format
from anonymizer.source.csv_files import Ask, csv_arguments, refuse_cut_line
from anonymizer.source.names import refuse_renamed
from anonymizer.source.text_types import TEXT, kept_types

READERS = {"parquet": "read_parquet", "csv": "read_csv", "json": "read_json"}
"""Table function that reads a file, by format."""
_LIST = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[")
_NUMBERED = re.compile(r"(.*)_\d+\Z", re.DOTALL)
"""A name that the engine may have given to a second column of that name."""


def file_relation(path: Path, ask: Ask, where: str) -> Sql:
    """SQL to select from a file. Raises SourceError for a file that is not one table."""
    form = file_format(path.name) or ""
    file = one_file(path).text
    if form == "csv":
        refuse_cut_line(path, where)
        file = csv_arguments(file, ask, where)
    elif form == "json":
        _refuse_cut(path, where)
        _refuse_unnamed(file, ask, where)
        file = _json_arguments(file, ask, where)
    else:
        _refuse_same_names(file, ask, where)
    return Sql(f"{READERS[form]}({file})")


def _refuse_same_names(file: str, ask: Ask, where: str) -> None:
    """Columns of a Parquet file that the engine renames."""
    schema = ask(f"select name, coalesce(num_children, 0) from parquet_schema({file})", where)
    named, below = [], 0
    for name, children in schema[1:]:
        if not below:
            named.append(name)
        below = max(below - 1, 0) + children
    seen = [name for name, *_ in ask(f"describe from read_parquet({file})", where)]
    refuse_renamed(named, seen, where)


def _refuse_cut(path: Path, where: str) -> None:
    """A list without its last bracket: the engine reads the records that are left."""
    if not path.stat().st_size:
        return
    with path.open("rb") as handle, mmap(handle.fileno(), 0, access=ACCESS_READ) as text:
        whole = not _LIST.match(text) or not text[text.rfind(b"]") + 1 :].strip()
    if not whole:
        said = "is a list that does not end with ]: it was cut off"
        raise SourceError.at(where, said, hint="write or copy the file again")


def _json_arguments(file: str, ask: Ask, where: str) -> str:
    """The arguments to read a file with, so that no number loses digits."""
    seen = [(name, str(kind)) for name, kind, *_ in ask(f"describe from read_json({file})", where)]

    def typed(kinds: Mapping[str, str]) -> str:
        columns = join(sql("{n}: {t}", n=lit(n), t=lit(kinds.get(n, t))) for n, t in seen)
        return f"{file}, columns = {{{columns.text}}}"

    texts = Sql(f"read_json({typed({name: TEXT for name, _ in seen})})")
    kept = kept_types(seen, texts, lambda text: ask(text, where), written=False)
    return typed(kept) if kept else file


def _refuse_unnamed(file: str, ask: Ask, where: str) -> None:
    """Values that are in no object have no names: the engine makes a column `json` of them. A key
    that differs from another one in case only is renamed: no object has the new name.
    """
    names = [name for name, *_ in ask(f"describe from read_json({file})", where)]
    folded = {name.lower() for name in names}
    doubtful = [n for n in names if (base := _NUMBERED.match(n)) and base[1].lower() in folded]
    if names == ["json"]:
        doubtful = names
    for name in doubtful:
        key = lit("/" + name.replace("~", "~0").replace("/", "~1")).text
        named = f"json_type(json) = 'OBJECT' and json_exists(json, {key})"
        ((found,),) = ask(f"select count_if({named}) from read_json_objects({file})", where)
        if found:
            continue
        if names == ["json"]:
            hint = 'write a list of objects, or one in each line: {"age": 34, "zip": "8001"}'
            raise SourceError.at(where, "holds no objects, whose keys name the columns", hint=hint)
        said = f"has several keys {name.rpartition('_')[0]}, which differ in upper and lower case"
        raise SourceError.at(where, said, hint="write each key in one way, or rename one of them")
