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
DECIMALS = "length(regexp_extract({c}, '[.]([0-9]*) *$', 1))"
UNEVEN = (
    "min({d}) <> max({d}) and (bool_or({d} > 1 and {z}) or (min({d}) = 0 and bool_or({d} = 1 and"
    " {z}) and bool_or({d} > 1 or ({d} = 1 and not {z}))))"
)
"""Whether some cells of a column of fractions end in a zero that others lack. Programs write all
decimals, or no zero at the end, and 34 and 34.0 alone are one number."""
SPELLINGS = "count(distinct lower(trim({c}))) {f} > count(distinct try_cast({c} as {t})) {f}"
PLAIN = "filter (where regexp_full_match({c}, ' *-?[0-9.]+ *') and try_cast({c} as double) <> 0)"
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
    *,
    written: bool = True,
) -> dict[str, str]:
    """The columns whose guessed type does not keep all values of the file, with one that does.

    `texts`: the file with all cells as text; `formats`: those of dates, by type. `written`:
    whether numbers are as they were written; those of JSON have no zeros at the end.
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
    read = {**dict(columns), **kept}.items()
    doubtful = {n: t for n, t in read if t == "BOOLEAN" or (written and _REAL_TYPE.match(t))}
    kept |= dict.fromkeys(_spelled_twice(doubtful, texts, ask), TEXT)
    return {name: sql_type for name, sql_type in kept.items() if name not in strange}


def _spelled_twice(types: Mapping[str, str], texts: Sql, ask: Ask) -> list[str]:
    """The columns in which a value is written in two ways, as true and 1, or 250.1 and 250.10."""
    uneven: dict[str, Sql] = {}
    for name in (n for n, t in types.items() if t != "BOOLEAN"):
        decimals = sql(DECIMALS, c=ident(name))
        uneven[name] = sql(
            UNEVEN, d=decimals, z=sql("{c} like '%0'", c=sql("trim({c})", c=ident(name)))
        )
    tests = {n: sql(PLAIN, c=ident(n)) for n in _found(uneven, texts, ask)}
    tests |= {n: Sql("") for n, t in types.items() if t == "BOOLEAN"}
    spelled = {
        n: sql(SPELLINGS, c=ident(n), t=Sql(types[n]), f=counted) for n, counted in tests.items()
    }
    return _found(spelled, texts, ask)


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
    return _found({n: sql("bool_or({t})", t=test) for n, test in tests.items()}, texts, ask)


def _found(tests: Mapping[str, Sql], texts: Sql, ask: Ask) -> list[str]:
    """The columns for which an aggregate is true, in one pass over the file."""
    if not tests:
        return []
    # (NULL, of empty cells, is none)
    columns = join(sql("coalesce({t}, false)", t=test) for test in tests.values())
    (row,) = ask(sql("select {c} from {s}", c=columns, s=texts).text)
    return [name for name, found in zip(tests, row, strict=True) if found]
