"""Maps Spark's types to DuckDB's, as used in profiles and layouts."""

from __future__ import annotations

import re

_NAMES = {
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp_ntz": "TIMESTAMP",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "binary": "BLOB",
}
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)\Z")
_TEXT = re.compile(r"(varchar|char|string)\b.*\Z")


def duckdb_type(name: str) -> str:
    """DuckDB's name of the type whose `simpleString` in Spark is `name`.

    A type without a plain counterpart (a struct, a map, an interval) gets a name that no policy can
    use.
    """
    if name in _NAMES:
        return _NAMES[name]
    found = _DECIMAL.match(name)
    if found:
        return f"DECIMAL({found[1]},{found[2]})"
    if name.startswith("array<"):
        return f"{duckdb_type(name[6:-1])}[]"
    # a text with a length or a collation
    return "VARCHAR" if _TEXT.match(name) else "STRUCT()"
