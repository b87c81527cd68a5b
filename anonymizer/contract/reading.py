"""Validation of a manifest from an untrusted source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from anonymizer.contract.columns import TYPE
from anonymizer.contract.layout import Role

ROLES = frozenset(get_args(Role))
KINDS = frozenset({"numeric", "categorical", "date"})
SCOPES = frozenset({"class", "bucket", "group"})
FLAGS = frozenset({"hierarchy", "list_cells"})
CODES = frozenset({"bottom", "top"})
"""What a column is coded at: numbers, or dates as text."""


def refuse_odd(manifest: Mapping[str, Any]) -> None:
    """Raises for a name that is no text, a type that is not plain, an unknown role.

    A part that is missing or of another kind is a KeyError, TypeError or AttributeError.
    """
    layout, requirements = manifest["layout"], manifest["requirements"]
    names = [layout[name] for name in ("class_id", "person_id", "group_id")]
    texts = [layout["algorithm"], *layout["tables"].values()]
    good = all(name is None or isinstance(name, str) for name in names)
    good = good and all(isinstance(text, str) for text in texts)
    good = good and layout["cells"] in ("text", "typed")
    good = good and all(map(_is_column, layout["columns"])) and all(map(_is_asked, requirements))
    good = good and isinstance(manifest["measures"], Mapping)
    good = good and isinstance(manifest["versions"], Mapping)
    good = good and isinstance(manifest["verification"]["passed"], bool)
    good = good and all(map(_is_check, manifest["verification"]["checks"]))
    if not good:
        raise ValueError("not a manifest")


def _is_column(column: Mapping[str, Any]) -> bool:
    if column["role"] not in ROLES or column["kind"] not in KINDS:
        return False
    if not isinstance(column["column"], str) or not TYPE.match(column["sql_type"]):
        return False
    return all(_is_field(name, value) for name, value in column.items())


def _is_field(name: str, value: Any) -> bool:
    """Whether a column's field is a flag, a code (a number, or the text of a date) or a name."""
    if name in FLAGS:
        return isinstance(value, bool)
    if name in CODES and isinstance(value, int | float):
        return not isinstance(value, bool)
    return value is None or isinstance(value, str)


def _is_asked(requirement: Mapping[str, Any]) -> bool:
    return (
        isinstance(requirement["name"], str)
        and isinstance(requirement["column"], str | None)
        and isinstance(requirement["parameters"], Mapping)
        and requirement["scope"] in SCOPES
    )


def _is_check(check: Mapping[str, Any]) -> bool:
    return (
        isinstance(check["name"], str)
        and isinstance(check["column"], str | None)
        and isinstance(check["sql"], str | None)
        and isinstance(check["passed"], bool)
        and {"required", "achieved"} <= check.keys()
    )
