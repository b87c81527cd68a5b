"""Capabilities of the formats in which rows leave a database, and as what everything else leaves.

A column leaves with its own type, or else with one that holds each of its values exactly, or else
as the text that SQL has for its values. CSV has text only, and lists as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from anonymizer.compile import ident

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Format = Literal["parquet", "arrow", "pandas"]
Columns = Sequence[tuple[str, str]]
"""Names and SQL types, in order."""
Ask = Callable[[str], list[tuple[Any, ...]]]
TEXT = "VARCHAR"


class _Rule(NamedTuple):
    """Types that leave as `to`, or as they are, if `test` holds for each of their values."""

    types: str
    to: str | None = None
    test: str | None = None
    among_nulls: str | None = None
    """A test that a column with NULL has to pass as well."""


_MOMENTS = r"DATE|TIMESTAMP(_NS)?|TIMESTAMP WITH TIME ZONE|TIMESTAMPTZ_NS"
_FINITE = "{x} not in (try_cast('infinity' as {own}), try_cast('-infinity' as {own}))"
_YEARS = (
    f"{_FINITE} and {{x}} between try_cast('0001-01-01' as {{own}})"
    " and try_cast('9999-12-31 23:59:59.999999' as {own})"
)
_SAME = "try_cast(try_cast({x} as {to}) as {own}) is not distinct from {x}"
_WHOLE = r"BOOLEAN|U?(TINYINT|SMALLINT|INTEGER|BIGINT)"
_HUGE = "U?HUGEINT"
_DECIMAL = r"DECIMAL\(.*\)"
_FRAMES = (
    _Rule(rf"{_WHOLE}|VARCHAR|BLOB"),
    _Rule(_MOMENTS.removesuffix("|TIMESTAMPTZ_NS"), test=_YEARS),
    _Rule("TIMESTAMP_M?S", "TIMESTAMP", _YEARS),
    _Rule("TIME", test="{x} < '24:00:00'"),
)
RULES: Mapping[Format, tuple[_Rule, ...]] = {
    "parquet": (
        _Rule(rf"{_WHOLE}|FLOAT|DOUBLE|{_DECIMAL}|VARCHAR|BLOB|TIME(_NS)?|UUID|JSON"),
        _Rule(_MOMENTS, test=_FINITE),
        _Rule("TIMESTAMP_M?S", "TIMESTAMP", _FINITE),
        _Rule(_HUGE, "DECIMAL(38,0)", _SAME),
    ),
    "arrow": (
        *_FRAMES,
        _Rule(rf"FLOAT|DOUBLE|{_DECIMAL}|TIME_NS"),
        _Rule("TIMESTAMPTZ_NS", test=_FINITE),
        _Rule(_HUGE, "DECIMAL(38,0)", _SAME),
    ),
    "pandas": (
        *_FRAMES,
        _Rule("FLOAT|DOUBLE", among_nulls="not isnan({x})"),  # it takes NaN for a missing value
        _Rule(_DECIMAL, "DOUBLE", _SAME),
        _Rule(_HUGE, "BIGINT", _SAME),
        _Rule("UUID"),
    ),
}
"""The types that a format can hold; columns of all others, and those that fail a test, are text."""
_JSON_NUMBERS = re.compile(rf"({_WHOLE}|{_HUGE}|{_DECIMAL})\[\]")


def types_in(form: Format, ask: Ask, relation: str, columns: Columns) -> dict[str, str]:
    """The type as which each column of a relation leaves.

    `ask`: executes a statement. All columns are tested in one.
    """
    found = {name: _rule_of(kind, form) for name, kind in columns}
    tests = {
        name: _test(name, kind, rule)
        for name, kind in columns
        if (rule := found[name]) is not None and (rule.test or rule.among_nulls)
    }
    failed = set()
    if tests:
        (row,) = ask(f"select {', '.join(tests.values())} from {relation}")
        failed = {name for name, passed in zip(tests, row, strict=True) if not passed}
    types = {}
    for name, kind in columns:
        rule, listed = found[name], "[]" if kind.endswith("[]") else ""
        if rule is None or name in failed:
            types[name] = TEXT + listed
        else:
            types[name] = kind if rule.to is None else rule.to + listed
    return types


def in_frame(form: Format, connection: DuckDBPyConnection, relation: str) -> str:
    """A query of the rows of a relation, as a frame can hold them."""

    def ask(text: str) -> list[tuple[Any, ...]]:
        return connection.execute(text).fetchall()

    columns = [(str(name), str(kind)) for name, kind, *_ in ask(f"describe from {relation}")]
    types = types_in(form, ask, relation, columns)
    return f"select {selected(columns, types)} from {relation}"


def selected(columns: Columns, types: Mapping[str, str]) -> str:
    """The columns to select, with the types as which they leave."""
    return ", ".join(
        name.text if types[column] == kind else f"cast({name} as {types[column]}) as {name}"
        for column, kind in columns
        for name in (ident(column),)
    )


def in_csv(column: str, kind: str) -> str:
    """A column as selected for CSV: a list as JSON, whose members are numbers or texts.

    JSON has no infinite numbers and no NaN, and writes other digits of FLOAT than SQL.
    """
    name = ident(column).text
    if not kind.endswith("[]"):
        return f"cast({name} as varchar) as {name}"
    members = name if _JSON_NUMBERS.fullmatch(kind) else f"cast({name} as varchar[])"
    return f"cast(to_json({members}) as varchar) as {name}"


def _rule_of(kind: str, form: Format) -> _Rule | None:
    member = kind.removesuffix("[]")
    return next((one for one in RULES[form] if re.fullmatch(one.types, member)), None)


def _test(column: str, kind: str, rule: _Rule) -> str:
    """An aggregate that tells whether a format holds all values of a column."""
    name, own = ident(column).text, kind.removesuffix("[]")

    def put(test: str, x: str) -> str:
        return f"coalesce({test.format(x=x, own=own, to=rule.to)}, true)"

    if own != kind:
        tests = " and ".join(put(one, "x") for one in (rule.test, rule.among_nulls) if one)
        return f"coalesce(bool_and(len(list_filter({name}, lambda x: not ({tests}))) = 0), true)"
    found = []
    if rule.test:
        found.append(f"coalesce(bool_and({put(rule.test, name)}), true)")
    if rule.among_nulls:
        passed = f"coalesce(bool_and({put(rule.among_nulls, name)}), true)"
        found.append(f"(count(*) = count({name}) or {passed})")
    return " and ".join(found)
