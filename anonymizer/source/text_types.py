"""Types of the columns of text files, which the whole file decides.

DuckDB guesses types from the first rows, and reads the others by them: a code that begins with zero
becomes a number after 20,000 that do not, and one of 20 digits a double. A date with two digits of
a year may be read in three ways. One pass over the file finds what its type would not keep. A value
that is of no such type at all is left: the engine refuses it with its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anonymizer.compile import Sql, ident, join, lit, sql

TEXT = "VARCHAR"
WHOLE = r" *-?(0|[1-9][0-9]*) *"
REAL = (
    r"(?i) *-?((0|[1-9][0-9]{0,14})(\.[0-9]*)?|\.[0-9]+|(0|[1-9][0-9]*)?\.[0-9]*e[-+]?[0-9]+"
    r"|[0-9]+e[-+][0-9]+) *| *[-+]?(nan|inf|infinity) *"
)
"""Numbers that a double keeps. One like 12E3 is a code: programs write 1.2e4 or 12e+3."""
ZONED = ":[0-9]{2}([.][0-9]+)? *([+-][0-9]{2}(:?[0-9]{2})?|Z) *$|[.][0-9]{7}"
"""A time with a zone, or with more digits of a second than a TIMESTAMP keeps."""
YEAR = "(^|[^0-9])[0-9]{4}([^0-9]|$)"
NUMBERLESS = "(try_cast({c} as double) is null and try_cast({c} as hugeint) is null)"
_WHOLE_TYPE = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)\Z")
_REAL_TYPE = re.compile(r"(FLOAT|DOUBLE)\Z")
_DATE = re.compile(r"DATE\Z|TIMESTAMP")

Ask = Callable[[str], Sequence[tuple[Any, ...]]]


def kept_types(
    columns: Sequence[tuple[str, str]],
    texts: Sql,
    ask: Ask,
    formats: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The columns whose guessed type does not keep all values of the file, with one that does.

    `texts`: the file with all cells as text; `formats`: those of dates, by type.
    """
    dates = {n: _cut_date(n, t, formats or {}) for n, t in columns if _DATE.match(t)}
    whole = {n: _unlike(n, WHOLE, t) for n, t in columns if _WHOLE_TYPE.match(t)}
    real = {n: _unlike(n, REAL, t) for n, t in columns if _REAL_TYPE.match(t)}
    lost = _failing({**dates, **whole, **real}, texts, ask)
    numbers = [n for n in lost if n not in dates]
    long = _failing({n: _unlike(n, WHOLE, "HUGEINT") for n in numbers}, texts, ask)
    codes = _failing({n: _unlike(n, REAL, "DOUBLE") for n in long}, texts, ask)
    strange = _failing({n: sql(NUMBERLESS, c=n) for n in codes}, texts, ask)
    kept = {n: TEXT for n, t in columns if t == "BIGNUM"}
    for name in lost:
        if name in dates or name in codes:
            kept[name] = TEXT
        else:
            kept[name] = "DOUBLE" if name in long else "HUGEINT"
    return {name: sql_type for name, sql_type in kept.items() if name not in strange}


def _cut_date(name: str, sql_type: str, formats: Mapping[str, str]) -> Sql:
    """Whether a cell is a date without four digits for its year, or a time that would be cut."""
    column, read = ident(name), "try_cast({c} as timestamp)"
    if sql_type in formats:
        read = f"coalesce(try_strptime({{c}}, {{f}}), {read})"
    readable = sql(read, c=column, f=lit(formats.get(sql_type)))
    test = "({r} is not null and not regexp_matches({c}, {y}))"
    if sql_type == "TIMESTAMP":
        test = f"({test} or regexp_matches({{c}}, {{z}}))"
    return sql(test, r=readable, c=column, y=lit(YEAR), z=lit(ZONED))


def _unlike(name: str, pattern: str, sql_type: str) -> Sql:
    """Whether a cell has another form, or is too large for a type."""
    return sql(
        "(not regexp_full_match({c}, {p}) or try_cast({c} as {t}) is null)",
        c=ident(name),
        p=lit(pattern),
        t=Sql(sql_type),
    )


def _failing(tests: Mapping[str, Sql], texts: Sql, ask: Ask) -> list[str]:
    """The columns with a cell for which the test is true, in one pass over the file."""
    if not tests:
        return []
    # (NULL, of an empty cell, is none)
    columns = join(sql("coalesce(bool_or({t}), false)", t=test) for test in tests.values())
    (row,) = ask(sql("select {c} from {s}", c=columns, s=texts).text)
    return [name for name, found in zip(tests, row, strict=True) if found]
