"""Maps Postgres' types to DuckDB's, which profiles and layouts use."""

from __future__ import annotations

import re

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
_SIZED = re.compile(r"(?P<base>[a-z ]+?)\((?P<sizes>[0-9, -]+)\)(?P<rest> .*)?\Z")


def type_name(given: str, *, is_enum: bool = False) -> str:
    """The name of a type (as `format_type` tells it); what DuckDB has not keeps its own."""
    if is_enum:
        return "ENUM()"  # its values are of no interest: it is read as text
    if given.endswith("[]"):
        return type_name(given[:-2]) + "[]"
    if given in _NAMES:
        return _NAMES[given]
    found = _SIZED.match(given)
    if found:
        base = found["base"]
        if base in ("character varying", "character"):
            return "VARCHAR"
        if base == "numeric":
            return f"DECIMAL({found['sizes'].replace(' ', '')})"
        plain = base + (found["rest"] or "")
        if plain in _NAMES:
            return _NAMES[plain]
    return "VARCHAR" if given in ("character varying", "character") else given.upper()
