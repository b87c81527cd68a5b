"""The content of a policy as plain data: for round trips, for the digest, and its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from anonymizer.policy.values import portable

TITLE = "Policy of sql-anonymizer"
_HEAD = {"$schema": "https://json-schema.org/draft/2020-12/schema"}

PATHS = (("source", "file"), ("publish", "database"), ("ledger",), ("workload", "sql"))
"""Locations of paths, except in hierarchies of columns and populations."""
WORDS = ("context",)
"""Descriptive parts without any effect, which the digest ignores."""


def plain(policy: BaseModel, *, defaults: bool = True) -> dict[str, Any]:
    """A policy as mappings, lists and scalars, with or without defaults."""
    dumped = policy.model_dump(by_alias=True, exclude_none=True, exclude_defaults=not defaults)
    return {key: _lists(value) for key, value in dumped.items()}


def _lists(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _lists(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_lists(inner) for inner in value]
    return value


def canonical(policy: BaseModel) -> dict[str, Any]:
    """The digested content: columns in order (it breaks ties), without local folders and settings
    without effect.
    """
    found = plain(policy, defaults=False)
    for name in WORDS:
        found.pop(name, None)
    for place in PATHS:
        _shorten(found, place)
    for name in found.get("privacy", {}):
        _shorten(found, ("privacy", name, "population", "file"))
    if "tables" in found:
        for table in found["tables"].values():
            _shorten(table, ("source", "file"))
            table["columns"] = _listed(table["columns"])
        found["tables"] = [[name, table] for name, table in found["tables"].items()]
    else:
        found["columns"] = _listed(found["columns"])
    return found


def _listed(columns: dict[str, Any]) -> list[list[Any]]:
    for column in columns.values():
        for place in (("hierarchy", "file"), ("key_file",), ("vault",), ("population",)):
            _shorten(column, place)
    return [[name, column] for name, column in columns.items()]


def _shorten(within: Any, place: tuple[str, ...]) -> None:
    *above, last = place
    for key in above:
        within = within.get(key) if isinstance(within, dict) else None
    if isinstance(within, dict) and isinstance(within.get(last), str):
        within[last] = portable(within[last])


def json_schema(cls: type[BaseModel]) -> dict[str, Any]:
    """The schema with which editors complete and check a policy."""
    return {**_HEAD, **_schema(cls), "title": TITLE}


def either_schema(key: str, where: type[BaseModel], without: type[BaseModel]) -> dict[str, Any]:
    """The schema of two kinds of policies, distinguished by a key that only one has."""
    kinds: dict[str, Any] = {}
    for cls in (without, where):
        schema = _schema(cls)
        kinds |= schema.pop("$defs")
        kinds[cls.__name__] = schema
    return {
        **_HEAD,
        "title": TITLE,
        "type": "object",
        "if": {"required": [key]},
        "then": {"$ref": f"#/$defs/{where.__name__}"},
        "else": {"$ref": f"#/$defs/{without.__name__}"},
        "$defs": kinds,
    }


def _schema(cls: type[BaseModel]) -> dict[str, Any]:
    schema = cls.model_json_schema(by_alias=True, mode="validation")
    # `{file: x}` and `{table: t}` are short for the builder taxonomy
    taxonomy = schema["$defs"]["Taxonomy"]
    taxonomy["required"] = [name for name in taxonomy.get("required", []) if name != "builder"]
    return schema
