"""Maps Postgres' types to DuckDB's, as used in profiles and layouts."""

from __future__ import annotations

import re

from anonymizer.source.profile import other_type

_NAMES = {
    "smallint": "SMALLINT",
    "integer": "INTEGER",
    "bigint": "BIGINT",
    "real": "FLOAT",
    "double precision": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "uuid": "UUID",
    "text": "VARCHAR",
    "name": "VARCHAR",
    '"char"': "VARCHAR",
    "timestamp without time zone": "TIMESTAMP",
    "timestamp with time zone": "TIMESTAMP WITH TIME ZONE",
    "time without time zone": "TIME",
    "numeric": "DECIMAL",
}
AS_TEXT = frozenset(
    {
        "inet",
        "cidr",
        "macaddr",
        "macaddr8",
        "bit",
        "bit varying",
        "bytea",
        "time with time zone",
        "oid",
        "pg_lsn",
    }
)
"""Types that are read as text: two of their values are equal if and only if their texts are."""
MOST_DIGITS = 38
"""Most digits of a DECIMAL."""
_SIZED = re.compile(r"(?P<base>[a-z0-9 ]+?)\((?P<sizes>[0-9, -]+)\)(?P<rest> .*)?\Z")
_ENUM = "ENUM()"  # without its values: it is read as text


def type_name(given: str, *, is_enum: bool = False) -> str:
    """DuckDB's name of a type (given by `format_type`); types unknown to DuckDB keep their name."""
    if is_enum:
        return _ENUM
    if given.endswith("[]"):
        return type_name(given[:-2]) + "[]"
    base, sizes = _parted(given)
    if base in ("character varying", "character"):
        return "VARCHAR"
    if base == "numeric" and sizes:
        return _decimal(sizes)
    return _NAMES.get(base, given.upper())


def read_type(given: str, *, is_enum: bool = False) -> str:
    """The type as which values of a source are read: text, except for arrays and plain types."""
    name = type_name(given, is_enum=is_enum)
    base = _parted(given)[0]
    if base in AS_TEXT:
        return "VARCHAR"
    plain = name == _ENUM or base in _NAMES or base in ("character varying", "character")
    return name if plain or given.endswith("[]") else other_type(given)


def _parted(given: str) -> tuple[str, str]:
    """The name of a type without its sizes, and the sizes."""
    found = _SIZED.match(given)
    return (found["base"] + (found["rest"] or ""), found["sizes"]) if found else (given, "")


def _decimal(sizes: str) -> str:
    """A decimal of these sizes; one without sizes if DuckDB does not support them."""
    precision, scale = (int(size) for size in (*sizes.split(","), "0")[:2])
    fits = 0 <= scale <= precision <= MOST_DIGITS
    return f"DECIMAL({precision},{scale})" if fits else "DECIMAL"
