"""Files as relations to select from; how CSV files are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from mmap import ACCESS_READ, mmap
from os import SEEK_END
from pathlib import Path
from typing import Any, NamedTuple

from anonymizer.compile import Sql, ident, join, lit, one_file, sql
from anonymizer.errors import AnonymizerError, Problem, SourceError
from anonymizer.policy.reading import SQL_TYPES, Reading
from anonymizer.policy.values import PACKED, file_format
from anonymizer.source.cells import (
    REAL_TYPE,
    TEXT,
    WHOLE_TYPE,
    failing,
    kept_types,
    known_cells,
    number_form,
    own_values,
    plain_numbers,
    refuse_other_cells,
    refuse_other_names,
)

# Names of columns as a source has them, compared with those that the engine gives them.
#
# The engine does not distinguish `Age` and `age`. It renames a column whose name another one has,
# and names one without a name, so that a policy could protect another column than it means. Such a
# source is refused. The error has no names: in a file without a line of names, they are values.


SAME = "give them different names, or leave one out; upper and lower case count as equal"
UNNAMED = "give every column a name, or leave it out"


def refuse_renamed(
    named: Sequence[str | None], seen: Sequence[str], where: str, unnamed: str = UNNAMED
) -> None:
    """Raises SourceError for names that the engine does not keep, except for spaces around them.

    `named`: the names in the source, in its order; `seen`: those that the engine gives, which may
    have more behind them (parts of a path). `unnamed`: a hint for columns without a name.
    """
    bare = [(name or "").strip() for name in named]
    if bare != [name.strip() for name in seen[: len(bare)]]:
        changed = Problem(where, "has names of columns that the engine changes", hint=SAME)
        SourceError.refuse(list(_problems(bare, where, unnamed)) or [changed])


def _problems(bare: Sequence[str], where: str, unnamed: str) -> Iterator[Problem]:
    places: dict[str, list[int]] = {}
    for number, name in enumerate(bare, 1):
        places.setdefault(name.lower(), []).append(number)
    for number in places.pop("", []):
        yield Problem(where, f"has no name for column {number}", hint=unnamed)
    for numbers in places.values():
        if len(numbers) > 1:
            listed = ", ".join(map(str, numbers[:-1]))
            said = f"has the same name for columns {listed} and {numbers[-1]}"
            yield Problem(where, said, hint=SAME)


# CSV files: how they are read, and those that are refused because they are not one table.
#
# DuckDB guesses the dialect of a CSV file. If lines do not fit, it skips those before the first
# that does, or reads a whole line as one cell: rows would be missing without a warning. Such a file
# is refused. If a quote is not closed, or none is among the first lines, it takes quotes for
# letters; then it is told that they are quotes. It takes the first line for a row if it looks like
# one, and renames columns of equal names.


DELIMITERS = (",", ";", "\t", "|")
_ONE_CELL = (
    "columns = {'line': 'VARCHAR'}, header = false, delim = chr(1), quote = '', escape = '',"
    " comment = '', skip = 0, auto_detect = false, strict_mode = false, ignore_errors = true"
)
_NONE = "(empty)"
"""DuckDB's name of the quote in a file without any."""
_QUOTED = "quote = '\"'"
_MEND = "give every line as many cells as the line of column names, or write the file as Parquet"
_UNNAMED = (
    "name it in the first line; a title above the names is left out with source.read: {skip: 1};"
    " pandas leaves out its index with to_csv(..., index=False)"
)
_ENDING = 4096
_PART_OF_LETTER = re.compile(
    rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z"
)
"""The first bytes of a letter in UTF-8, without its last one."""

CsvFilesAsk = Callable[[str, str], Sequence[tuple[Any, ...]]]
"""Runs SQL for a path of the policy or an option, and returns its rows."""


class _Dialect(NamedTuple):
    """The engine's guesses about a CSV file."""

    skipped: int
    named: bool
    """True if its first line has the names of the columns."""
    delimiter: str
    quote: str
    escape: str
    comment: str
    dates: str | None
    times: str | None
    """Formats of dates and times, if the engine says so."""
    columns: list[str]
    types: list[str]


OTHER = {
    b"PK\x03\x04": ("a workbook or an archive", "name a workbook .xlsx; unpack an archive"),
    b"\xd0\xcf\x11\xe0": ("a workbook of an old form", "save it as .xlsx or CSV"),
    b"PAR1": ("a Parquet file", "name it .parquet"),
    b"\xff\xfe": ("text in UTF-16", "source: {read: {encoding: utf-16}}"),
    b"\xfe\xff": ("text in UTF-16", "source: {read: {encoding: utf-16}}"),
}
"""First bytes of files that are no text in UTF-8, what they are, and what to do."""


def refuse_other_form(path: Path, where: str) -> None:
    """A file of another form than its suffix says."""
    with path.open("rb") as handle:
        first = handle.read(4)
    for sign, (form, hint) in OTHER.items():
        if first.startswith(sign):
            raise SourceError.at(where, f"is {form}, not CSV in UTF-8", hint=hint)


def refuse_cut_line(path: Path, where: str) -> None:
    """A text that ends within a letter or a line end, or with the zeros of an unwritten block."""
    ending = last_bytes(path, _ENDING)
    cut = ending.endswith(b"\0\0") or (ending.endswith(b"\r") and b"\r\n" in ending)
    if cut or _PART_OF_LETTER.search(ending):
        hint = "write or copy the file again, as UTF-8"
        raise SourceError.at(where, "ends in the middle of a line: it was cut off", hint=hint)


def last_bytes(path: Path, size: int) -> bytes:
    """The last `size` bytes of a file; all of a shorter one."""
    with path.open("rb") as handle:
        handle.seek(-min(size, path.stat().st_size), SEEK_END)
        return handle.read()


def csv_relation(
    file: str, ask: CsvFilesAsk, where: str, read: Reading | None = None, *, texts: bool = False
) -> Sql:
    """SQL to select from a file. Raises SourceError for a file that is not one table.

    `read`: what the policy says of it; `texts`: all cells are read as text.
    """
    read = read or Reading()
    bare, file = file, file + stated(read)
    seen = _dialect(file, ask, where)
    seen = seen._replace(skipped=max(seen.skipped - read.skip, 0))
    if seen.comment != _NONE and _marked_rows(bare, seen, read.skip, ask, where):
        file = f"{file}, comment = ''"  # (it would leave rows out that begin so)
        seen = _dialect(file, ask, where)
        seen = seen._replace(skipped=max(seen.skipped - read.skip, 0))
    unquoted = seen.quote == _NONE
    if unquoted:
        file, several = f"{file}, {_QUOTED}", len(seen.columns) > 1
        seen = _dialect(file, ask, where)
        seen = seen._replace(skipped=max(seen.skipped - read.skip, 0))
        if several and len(seen.columns) == 1:
            said = 'has a cell that begins with " and does not end with it: was it cut off?'
            raise SourceError.at(where, said, hint="close the quote, or write the file again")
    first = _first_left_out(bare, seen, read.skip, ask, where) if seen.skipped else None
    if first is not None:
        told = _dialect_of_header(file, first, seen.delimiter, ask, where)
        if told is None:
            line = seen.skipped + read.skip
            said = f"has lines before line {line + 1:,} that do not fit those after it"
            hint = f"a title: source.read: {{skip: {line}}}; else {_MEND}; comments begin with #"
            raise SourceError.at(where, said, hint=hint)
        file, seen = told
    if len(seen.columns) == 1 and unquoted and any(s in seen.columns[0] for s in DELIMITERS):
        said = "has lines with different numbers of cells, so that each would be one cell"
        raise SourceError.at(where, said, hint=_MEND)
    empty = _without_names(file, bare, seen, read.skip, ask, where)
    if texts:
        return _shaped(f"read_csv({file}, all_varchar = true)", empty, {})
    types = _types(file, seen, read, ask, where)
    return _shaped(f"read_csv({file}{types})", empty, own_values(read))


def _shaped(reader: str, left_out: Sequence[str], values: Mapping[str, Sql]) -> Sql:
    """What a reader finds, without columns, and with others of their own values."""
    if not left_out and not values:
        return Sql(reader)
    columns = Sql("*")
    if left_out:
        columns = sql("{c} exclude ({e})", c=columns, e=join(map(ident, left_out)))
    if values:
        own = join(sql("{v} as {c}", v=value, c=ident(name)) for name, value in values.items())
        columns = sql("{c} replace ({o})", c=columns, o=own)
    return sql("(select {c} from {r})", c=columns, r=Sql(reader))


def stated(read: Reading) -> str:
    """What a policy says of a text file, as arguments; nothing of cells that are read as text."""
    given: dict[str, Any] = {"delim": read.delimiter, "dateformat": read.dates}
    given |= {"timestampformat": read.times, "thousands": read.thousands}
    given["decimal_separator"] = read.decimal if read.decimal != "." else None
    given["skip"] = read.skip or None
    options = [f"{name} = {lit(value).text}" for name, value in given.items() if value is not None]
    if read.nulls:
        spelled = join(lit(one) for one in dict.fromkeys(("", *read.nulls)))
        options.append(f"nullstr = [{spelled.text}]")
    return "".join(f", {one}" for one in options)


def _types(file: str, seen: _Dialect, read: Reading, ask: CsvFilesAsk, where: str) -> str:
    """The argument with the types that the policy states, and with those of columns whose values
    the guessed ones would not keep.
    """
    refuse_other_names(read, seen.columns)
    guessed = dict(zip(seen.columns, seen.types, strict=True))
    texts = Sql(f"read_csv({file}, all_varchar = true)")
    refuse_other_cells(read, texts, lambda text: ask(text, where))
    kept = {name: SQL_TYPES[str(read.type_of(name))] for name in read.types}
    kept |= dict.fromkeys(own_values(read), TEXT)
    if read.decimal != "." or read.thousands is not None:
        # the engine leaves out every sign of thousands, wherever it stands
        form = lit(number_form(read.decimal, read.thousands))
        odd = {
            name: sql("not regexp_full_match({c}, {f})", c=ident(name), f=form)
            for name, sql_type in guessed.items()
            if name not in kept and (WHOLE_TYPE.match(sql_type) or REAL_TYPE.match(sql_type))
        }
        kept |= dict.fromkeys(failing(odd, texts, lambda text: ask(text, where)), TEXT)
    left = [(name, sql_type) for name, sql_type in guessed.items() if name not in kept]
    written = {"DATE": read.dates or seen.dates, "TIMESTAMP": read.times or seen.times}
    formats = {sql_type: form for sql_type, form in written.items() if form}
    plain = plain_numbers(texts, seen.columns, read)
    kept |= kept_types(left, plain, lambda text: ask(text, where), formats)
    types = join(sql("{n}: {t}", n=lit(name), t=lit(t)) for name, t in kept.items())
    return f", types = {{{types.text}}}" if kept else ""


def _marked_rows(file: str, seen: _Dialect, title: int, ask: CsvFilesAsk, where: str) -> bool:
    """Return whether lines after that of names begin with the sign of comments, with other cells
    after it: they are rows, whose first cell begins so.
    """
    found = ask(
        "select 1 from (select line, row_number() over () as number"
        f" from read_csv({file}, {_ONE_CELL}))"
        f" where number > {lit(seen.skipped + title + 1).text}"
        f" and starts_with(ltrim(line), {lit(seen.comment).text})"
        f" and contains(line, {lit(seen.delimiter).text}) limit 1",
        where,
    )
    return bool(found)


def _first_left_out(
    file: str, seen: _Dialect, title: int, ask: CsvFilesAsk, where: str
) -> str | None:
    """The first of the lines that would be skipped after the title, unless all of them are comments
    or empty.
    """
    found = ask(
        "select line from (select line, row_number() over () as number"
        f" from read_csv({file}, {_ONE_CELL}) limit {lit(seen.skipped + title).text})"
        f" where number > {lit(title).text} and trim(line) <> ''"
        " and not starts_with(ltrim(line), '#') order by number limit 1",
        where,
    )
    return str(found[0][0]) if found else None


def _dialect_of_header(
    file: str, first: str, guessed: str, ask: CsvFilesAsk, where: str
) -> tuple[str, _Dialect] | None:
    """The dialect of a file whose first line separates the names of columns by another sign.

    In `0,5;0,25` DuckDB takes the decimal comma for the separator. The first line has no numbers:
    a sign in it by which all lines fit is the separator.
    """
    for sign in DELIMITERS:
        if sign == guessed or sign not in first:
            continue
        tried = f"{file}, delim = {lit(sign).text}"
        with suppress(AnonymizerError):  # (not every line fits)
            seen = _dialect(tried, ask, where)
            if not seen.skipped and len(seen.columns) == first.count(sign) + 1:
                return tried, seen
    return None


def _dialect(file: str, ask: CsvFilesAsk, where: str) -> _Dialect:
    found = (
        'select "SkipRows", "HasHeader", "Delimiter", "Quote", "Escape", "Comment",'
        ' "DateFormat", "TimestampFormat", list_transform("Columns", lambda c: c.name),'
        ' list_transform("Columns", lambda c: c.type)'
    )
    ((skipped, *others),) = ask(f"{found} from sniff_csv({file})", where)
    return _Dialect(int(skipped), *others)


def _without_names(
    file: str, bare: str, seen: _Dialect, title: int, ask: CsvFilesAsk, where: str
) -> list[str]:
    """The columns without a name or any cell, which separators after the last name make.

    Raises SourceError unless the first line names every other column, each in its own way.
    """
    columns = join(sql("{n}: 'VARCHAR'", n=lit(f"c{i}")) for i, _ in enumerate(seen.columns))
    signs = {"delim": seen.delimiter, "quote": seen.quote, "escape": seen.escape}
    options = "".join(
        f", {name} = {lit('' if sign == _NONE else sign).text}" for name, sign in signs.items()
    )
    first = ask(
        f"from read_csv({bare}, columns = {{{columns.text}}}, auto_detect = false, header = false,"
        f" comment = '', nullstr = '', skip = {lit(seen.skipped + title).text}{options}) limit 1",
        where,
    )
    if not first:
        raise SourceError.at(where, "is empty", hint="write the file again")
    if not seen.named:
        skip = f" after source.read.skip: {title}" if title else ""
        hint = f"its first line{skip} has to name the columns, with names that are no numbers"
        raise SourceError.at(where, "has no line of column names", hint=hint)
    names = dict(zip(seen.columns, first[0], strict=True))
    empty = [column for column, name in names.items() if not (name or "").strip()]
    if empty:
        filled = join(sql("count({c}) > 0", c=ident(column)) for column in empty)
        (row,) = ask(f"select {filled} from read_csv({file}, all_varchar = true)", where)
        empty = [column for column, any_cell in zip(empty, row, strict=True) if not any_cell]
    others = [column for column in names if column not in empty]
    refuse_renamed([names[column] for column in others], others, where, unnamed=_UNNAMED)
    return empty


# A file as a relation to select from.
#
# A file is refused if it is not one table, or if it was surely cut off. DuckDB reads a JSON list
# that was cut off after a record, and renames columns of equal names. CSV files: `csv_files`.


READERS = {"parquet": "read_parquet", "csv": "read_csv", "json": "read_json"}
"""Table function that reads a file, by format."""
_LIST = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[")
_NUMBERED = re.compile(r"(.*)_\d+\Z", re.DOTALL)
"""A name that the engine may have given to a second column of that name."""


def file_relation(
    path: Path, ask: CsvFilesAsk, where: str, read: Reading | None = None, *, texts: bool = False
) -> Sql:
    """SQL to select from a file. Raises SourceError for a file that is not one table. `read`: what
    the policy says of the text in it; `texts`: all cells of such a file as text.
    """
    form = file_format(path.name) or ""
    file = one_file(path).text
    if form == "csv":
        if path.suffix.lower() != PACKED:
            refuse_other_form(path, where)
            refuse_cut_line(path, where)
        return csv_relation(file, ask, where, read, texts=texts)
    if form == "json":
        if path.suffix.lower() != PACKED:
            _refuse_cut(path, where)
        _refuse_unnamed(file, ask, where)
        return _json_relation(file, ask, where, read or Reading(), texts=texts)
    _refuse_same_names(file, ask, where)
    return Sql(f"{READERS[form]}({file})")


def _refuse_same_names(file: str, ask: CsvFilesAsk, where: str) -> None:
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


def _json_relation(file: str, ask: CsvFilesAsk, where: str, read: Reading, *, texts: bool) -> Sql:
    """SQL to select from a file so that no number loses digits."""
    seen = [(name, str(kind)) for name, kind, *_ in ask(f"describe from read_json({file})", where)]
    names = [name for name, _ in seen]

    def typed(kinds: Mapping[str, str]) -> str:
        columns = join(sql("{n}: {t}", n=lit(n), t=lit(kinds.get(n, t))) for n, t in seen)
        return f"read_json({file}, columns = {{{columns.text}}})"

    def asked(text: str) -> Sequence[tuple[Any, ...]]:
        return ask(text, where)

    refuse_other_names(read, names)
    cells = _shaped(typed(dict.fromkeys(names, TEXT)), (), known_cells(names, read.nulls))
    if texts:
        return cells
    refuse_other_cells(read, cells, asked)
    left = [(name, kind) for name, kind in seen if name not in read.types]
    kept = dict.fromkeys(read.types, TEXT) | kept_types(left, cells, asked, written=False)
    of_text = [name for name, kind in seen if kept.get(name, kind) == TEXT]
    reader = typed(kept) if kept else f"read_json({file})"
    known = _shaped(reader, (), known_cells(of_text, read.nulls))
    return _shaped(known.text, (), own_values(read, every=True))


def _refuse_unnamed(file: str, ask: CsvFilesAsk, where: str) -> None:
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
