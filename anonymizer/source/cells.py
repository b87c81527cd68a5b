"""What the cells of text files are: types that keep all values, and cells that are of none.

DuckDB guesses types from the first rows, and reads the others by them: a code that begins with
zero becomes a number after 20,000 that do not, and one of 20 digits a double. A date with two
digits of a year may be read in three ways. One pass over the file finds what its type would not
keep. A value that is of no such type at all is left: the engine refuses it with its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anonymizer.compile import Sql, ident, join, lit, sql
from anonymizer.errors import Problem, SourceError
from anonymizer.policy.paths import closest, name_text
from anonymizer.policy.reading import SQL_TYPES, DateForm, Reading
from anonymizer.process.text import many

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
"""True if some cells of a column of fractions end in a zero that others lack. Programs write all
decimals, or no zero at the end, and 34 and 34.0 alone are one number."""
SPELLINGS = "count(distinct lower(trim({c}))) {f} > count(distinct try_cast({c} as {t})) {f}"
PLAIN = "filter (where regexp_full_match({c}, ' *-?[0-9.]+ *') and try_cast({c} as double) <> 0)"
ZONED = ":[0-9]{2}([.][0-9]+)? *([+-][0-9]{2}(:?[0-9]{2})?|Z) *$|[.][0-9]{7}"
"""A time with a zone, or with more digits of a second than a TIMESTAMP keeps."""
YEAR = "(^|[^0-9])[0-9]{4}([^0-9]|$)"
SPACES = "[ \u00a0\u2009\u202f]"
"""Between groups of three digits; some programs write one that is narrow, or keeps lines whole."""
NUMBERLESS = "(try_cast({c} as double) is null and try_cast({c} as hugeint) is null)"
WHOLE_TYPE = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)\Z")
REAL_TYPE = re.compile(r"(FLOAT|DOUBLE)\Z")
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
    whole = {n: _unlike(n, WHOLE, t) for n, t in columns if WHOLE_TYPE.match(t)}
    real = {n: _unlike(n, REAL, t) for n, t in columns if REAL_TYPE.match(t)}
    lost = failing({**dates, **whole, **real}, texts, ask)
    numbers = [n for n in lost if n not in dates]
    long = failing({n: _unlike(n, WHOLE, "HUGEINT") for n in numbers}, texts, ask)
    codes = failing({n: _unlike(n, REAL, "DOUBLE") for n in long}, texts, ask)
    strange = failing({n: sql(NUMBERLESS, c=n) for n in codes}, texts, ask)
    kept = {n: TEXT for n, t in columns if t == "BIGNUM"}
    for name in lost:
        if name in dates or name in codes:
            kept[name] = TEXT
        else:
            kept[name] = "DOUBLE" if name in long else "HUGEINT"
    read = {**dict(columns), **kept}.items()
    doubtful = {n: t for n, t in read if t == "BOOLEAN" or (written and REAL_TYPE.match(t))}
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
    tests = {n: sql(PLAIN, c=ident(n)) for n in _columns_where(uneven, texts, ask)}
    tests |= {n: Sql("") for n, t in types.items() if t == "BOOLEAN"}
    spelled = {
        n: sql(SPELLINGS, c=ident(n), t=Sql(types[n]), f=counted) for n, counted in tests.items()
    }
    return _columns_where(spelled, texts, ask)


def _cut_date(name: str, sql_type: str, formats: Mapping[str, str]) -> Sql:
    """True if a cell is a date without four digits for its year, or a time that would be cut."""
    column, read = ident(name), "try_cast({c} as timestamp)"
    if sql_type in formats:
        read = f"coalesce(try_strptime({{c}}, {{f}}), {read})"
    readable = sql(read, c=column, f=lit(formats.get(sql_type)))
    test = "({r} is not null and not regexp_matches({c}, {y}))"
    if sql_type == "TIMESTAMP":
        test = f"({test} or regexp_matches({{c}}, {{z}}))"
    return sql(test, r=readable, c=column, y=lit(YEAR), z=lit(ZONED))


def _unlike(name: str, pattern: str, sql_type: str) -> Sql:
    """Return whether a cell has another form, or is too large for a type."""
    return sql(
        "(not regexp_full_match({c}, {p}) or try_cast({c} as {t}) is null)",
        c=ident(name),
        p=lit(pattern),
        t=Sql(sql_type),
    )


def failing(tests: Mapping[str, Sql], texts: Sql, ask: Ask) -> list[str]:
    """The columns with a cell for which the test is true, in one pass over the file."""
    return _columns_where({n: sql("bool_or({t})", t=test) for n, test in tests.items()}, texts, ask)


def _columns_where(tests: Mapping[str, Sql], texts: Sql, ask: Ask) -> list[str]:
    """The columns for which an aggregate is true, in one pass over the file."""
    if not tests:
        return []
    # (NULL, of empty cells, is none)
    columns = join(sql("coalesce({t}, false)", t=test) for test in tests.values())
    (row,) = ask(sql("select {c} from {s}", c=columns, s=texts).text)
    return [name for name, found in zip(tests, row, strict=True) if found]


def number_form(decimal: str, thousands: str | None) -> str:
    """The pattern of numbers with these signs."""
    sign = SPACES if thousands == " " else f"[{thousands}]"
    whole = f"[0-9]{{1,3}}({sign}[0-9]{{3}})+|[0-9]{{1,15}}" if thousands else "[0-9]{1,15}"
    return f" *-?({whole})([{decimal}][0-9]+)? *"


def plain_number(cell: Sql, decimal: str, thousands: str | None) -> Sql:
    """A cell as text; a number in it has a point before its fraction, and no other sign."""
    bare = cell
    if thousands == " ":
        bare = sql("regexp_replace({c}, {s}, '', 'g')", c=cell, s=lit(SPACES))
    elif thousands:
        bare = sql("replace({c}, {t}, '')", c=cell, t=lit(thousands))
    return sql(
        "case when regexp_full_match({c}, {f}) then replace({b}, {d}, '.') else {c} end",
        c=cell,
        f=lit(number_form(decimal, thousands)),
        b=bare,
        d=lit(decimal),
    )


def known_cells(columns: Sequence[str], unknown: Sequence[str]) -> dict[str, Sql]:
    """The cells of columns of text, without spellings of unknown."""
    listed = join(lit(one) for one in unknown)
    return {
        name: sql("case when {c} not in ({l}) then {c} end", c=ident(name), l=listed)
        for name in columns
        if unknown
    }


def plain_numbers(texts: Sql, columns: Sequence[str], read: Reading) -> Sql:
    """The cells as text, with the numbers among them as the engine writes them."""
    if read.decimal == "." and read.thousands is None:
        return texts
    plain = join(
        sql("{e} as {c}", e=plain_number(ident(name), read.decimal, read.thousands), c=ident(name))
        for name in columns
    )
    return sql("(select {p} from {t})", p=plain, t=texts)


def refuse_other_names(read: Reading, columns: Sequence[str]) -> None:
    """Raise SourceError for stated types of columns that the file does not have."""
    SourceError.refuse(
        Problem(
            "source.read.types",
            f"names {name_text(name)}, which is not a column of the file",
            allowed=", ".join(map(name_text, columns)),
            hint=closest(name, columns) or "write its new name there and under columns",
        )
        for name in read.types
        if name not in columns
    )


def refuse_other_cells(read: Reading, texts: Sql, ask: Ask) -> None:
    """Raise SourceError for cells that are none of the type that the policy states: the engine
    rounds, cuts or shortens some of them.
    """
    tests = {
        name: sql("({c} is not null and not ({t}))", c=ident(name), t=_of_type(name, read))
        for name in read.types
        if read.type_of(name) != "text"
    }
    bad = failing(tests, texts, ask)
    problems = []
    for name in bad:
        ((n, first),) = ask(
            f"select count(*), min(number) from (select {tests[name]} as odd,"
            f" row_number() over () as number from {texts}) where odd"
        )
        said = f"is {read.type_of(name)}, and {many(n, 'cell is', 'cells are')} none"
        problems.append(
            Problem(
                f"source.read.types.{name_text(name)}",
                f"{said}: the first in row {first:,} below the names",
                hint="mend it; or name it in source.read.nulls, or another type",
            )
        )
    SourceError.refuse(problems)


def _of_type(name: str, read: Reading) -> Sql:
    """Return whether a cell as text is a value of a type, and keeps all of it."""
    cell, of, form = ident(name), read.type_of(name), read.form_of(name)
    match of:
        case "whole":
            return sql("regexp_full_match({c}, {f})", c=cell, f=lit(WHOLE))
        case "number":
            plain = read.decimal == "." and read.thousands is None
            number = REAL if plain else number_form(read.decimal, read.thousands)
            return sql("regexp_full_match({c}, {f})", c=cell, f=lit(number))
        case "boolean":
            return sql("lower(trim({c})) in ('true', 'false', 't', 'f', '0', '1')", c=cell)
    valid = (
        "try_cast({c} as {t}) is not null"
        if form is None
        else ("try_strptime(trim({c}), {f}) is not null")
    )
    odd = ":" if of == "date" else ZONED
    return sql(
        f"{valid} and regexp_matches({{c}}, {{y}}) and not regexp_matches({{c}}, {{o}})",
        c=cell,
        t=Sql(SQL_TYPES[str(of)]),
        f=lit(form),
        y=lit(YEAR if form is None or "%Y" in form else "[0-9]"),
        o=lit(odd),
    )


def own_values(read: Reading, *, every: bool = False) -> dict[str, Sql]:
    """The values of columns of stated types that the engine does not read from text itself: dates
    in a form of their own, and numbers whose thousands have spaces. `every`: of all such columns.
    """
    found: dict[str, Sql] = {}
    for name, stated in read.types.items():
        of = read.type_of(name)
        spaced = of == "number" and read.thousands == " "
        if of == "text" or not (every or spaced or isinstance(stated, DateForm)):
            continue
        cell, form = ident(name), read.form_of(name)
        if of == "number":
            cell = plain_number(cell, read.decimal, read.thousands)
        elif of in ("date", "time") and form is not None:
            cell = sql("strptime(trim({c}), {f})", c=cell, f=lit(form))
        found[name] = sql("cast({c} as {t})", c=cell, t=Sql(SQL_TYPES[str(of)]))
    return found
