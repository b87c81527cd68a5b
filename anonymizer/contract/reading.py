"""Validates a manifest from an untrusted source."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, get_args

from anonymizer.contract.checks import Check
from anonymizer.contract.columns import TYPE
from anonymizer.contract.layout import Role
from anonymizer.contract.reading_masks import is_mask, is_number_or_date
from anonymizer.contract.stated_measures import are_measures, is_figure
from anonymizer.policy.kinds import ANONYMISED, CLASSLESS, KINDS, PSEUDONYMISED
from anonymizer.policy.safe_harbor import KINDS as HARBOR_KINDS
from anonymizer.policy.safe_harbor import LETTER_OF, LETTERS

ROLES = frozenset(get_args(Role))
OF_VALUES = frozenset({"numeric", "categorical", "date"})
SCOPES = frozenset({"class", "bucket", "group"})
FLAGS = frozenset({"hierarchy", "list_cells"})
GENERALIZED = frozenset({"quasi", "semi"})
RUN_ID = re.compile(r"[0-9a-f]{1,64}")
SHA256 = re.compile(r"[0-9a-f]{64}")
FIELDS = {
    *("format", "run_id", "created", "kind", "view", "policy_digest", "algorithm", "versions"),
    *("reproducible", "requirements", "verification", "measures", "layout", "certificate"),
    *("known_attacks", "safe_harbor", "tables", "seal", "files"),
    "carried_from",
}
"""The fields of a manifest. (`export` is not one of them: no seal covers it.)"""
CHECK = frozenset(field.name for field in fields(Check))
FIGURES = ("required", "achieved", "failing")
"""What a check states in addition to its verdict."""
CODES = frozenset({"bottom", "top"})
"""Fields with the codes of a column: numbers, or dates as text."""


def refuse_odd(manifest: Mapping[str, Any]) -> None:
    """Raises ValueError for a name that is not text, a type that is not plain, or an unknown role.

    Raises KeyError, TypeError or AttributeError if a part is missing or has another type.
    """
    layout, requirements = manifest["layout"], manifest["requirements"]
    names = [layout[name] for name in ("class_id", "person_id", "group_id")]
    texts = [layout["algorithm"], *layout["tables"].values()]
    good = _has_head(manifest)
    good = good and all(name is None or isinstance(name, str) for name in names)
    good = good and all(isinstance(text, str) for text in texts)
    good = good and layout["cells"] in ("text", "typed")
    good = good and layout["algorithm"] == manifest["algorithm"]
    good = good and all(is_column(column, layout["cells"]) for column in layout["columns"])
    good = good and all(map(is_asked, requirements))
    good = good and _is_of_kind(manifest) and _is_harbored(manifest)
    good = good and are_measures(manifest["measures"])
    good = good and isinstance(manifest["verification"]["passed"], bool)
    good = good and all(map(_is_check, manifest["verification"]["checks"]))
    if not good:
        raise ValueError("not a manifest")


def _has_head(manifest: Mapping[str, Any]) -> bool:
    """Whether the fields that identify a release have the right types, and there are no others."""
    created = dt.datetime.fromisoformat(manifest["created"]).astimezone(dt.UTC)
    texts = [manifest[name] for name in ("view", "algorithm", "policy_digest", "certificate")]
    versions = manifest["versions"]
    texts += [versions["anonymizer"], *versions.values(), *manifest["known_attacks"]]
    return (
        manifest.keys() <= FIELDS
        and all(isinstance(text, str) for text in texts)
        and isinstance(manifest["known_attacks"], list)
        and isinstance(manifest["reproducible"], bool)
        and created.isoformat(timespec="seconds") == manifest["created"]
        and RUN_ID.fullmatch(manifest["run_id"]) is not None
        and all(map(SHA256.fullmatch, manifest.get("files", {}).values()))
    )


def _is_of_kind(manifest: Mapping[str, Any]) -> bool:
    """Whether the kind of release is known, and is not "anonymised" for a release without classes
    or with persistent tokens.
    """
    kind = manifest.get("kind", ANONYMISED)
    if kind != PSEUDONYMISED and any(map(_lasts, _columns(manifest))):
        return False
    named = {manifest["layout"]["algorithm"], manifest.get("algorithm", CLASSLESS)}
    return kind in KINDS and (CLASSLESS not in named or _is_classless(manifest, kind, named))


def _columns(manifest: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from manifest["layout"]["columns"]
    for table in manifest.get("tables", {}).get("tables", ()):
        yield from table["columns"]


def _lasts(column: Mapping[str, Any]) -> bool:
    return any(mask.get("lasting", False) for mask in column.get("masks", ()))


def _is_classless(manifest: Mapping[str, Any], kind: str, named: set[str]) -> bool:
    """Whether all fields agree with the algorithm that publishes no classes."""
    layout = manifest["layout"]
    return (
        kind == PSEUDONYMISED
        and named == {CLASSLESS}
        and "tables" not in manifest
        and not manifest["requirements"]
        and layout["class_id"] is None
        and layout["group_id"] is None
        and not layout["tables"]
        and all(column["role"] not in ("quasi", "semi") for column in layout["columns"])
        and all(column.get("bucket") is None for column in layout["columns"])
    )


def _is_harbored(manifest: Mapping[str, Any]) -> bool:
    """Whether Safe Harbor is stated consistently in all places and for every column, or nowhere."""
    layout = manifest["layout"]
    year, listed = layout.get("safe_harbor"), manifest.get("safe_harbor")
    kinds = {column["column"]: column.get("safe_harbor") for column in layout["columns"]}
    if year is None or listed is None:
        return year is None and "safe_harbor" not in manifest and not any(kinds.values())
    made = int(manifest["created"][:4])
    if isinstance(year, bool) or not isinstance(year, int) or not made - 1 <= year <= made:
        return False
    held = {
        one["column"]: item["letter"] for item in listed for one in item["columns"] if one["done"]
    }
    return (
        "tables" not in manifest
        and [(item["letter"], item["identifier"]) for item in listed]
        == [(letter, says) for letter, (says, _) in LETTERS.items()]
        and all(item["columns"] or isinstance(item["done"], str) for item in listed)
        and all(kind in HARBOR_KINDS for kind in kinds.values())
        and all(held.get(name) == LETTER_OF.get(kind) for name, kind in kinds.items())
        and not any(
            column["role"] == "semi" or column.get("hierarchy")
            for column in layout["columns"]
            if column["safe_harbor"] != "none"
        )
    )


def is_column(column: Mapping[str, Any], cells: str) -> bool:
    """Whether a column has a role, a kind, a plain type, and fields of the right types. `cells`:
    text or typed.
    """
    if column["role"] not in ROLES or column["kind"] not in OF_VALUES:
        return False
    if not isinstance(column["column"], str) or not TYPE.match(column["sql_type"]):
        return False
    if column["role"] == "keep" and column["kind"] != "categorical":
        return False
    if not all(_is_field(name, value) for name, value in column.items()):
        return False
    return _has_cells(column, cells)


def _has_cells(column: Mapping[str, Any], cells: str) -> bool:
    """Whether it says of its cells what there is to say: nothing, if it is not generalized; bounds,
    nodes or lists, and only one of these, if they are typed.
    """
    bounds, lists = column.get("lo") is not None, bool(column.get("list_cells"))
    nodes = bool(column.get("hierarchy"))
    if column["role"] not in GENERALIZED:
        return not (bounds or lists or nodes)
    if cells == "typed":
        return bounds + lists + nodes == 1
    return not (bounds or lists)


def _is_field(name: str, value: Any) -> bool:
    """Whether a column's field is a flag, a code (a number, or the text of a date) or a name."""
    if name == "masks":
        return isinstance(value, list) and bool(value) and all(map(is_mask, value))
    if name == "weight":
        real = isinstance(value, int | float) and not isinstance(value, bool)
        return real and math.isfinite(value) and value > 0
    if name in FLAGS:
        return isinstance(value, bool)
    if name in CODES:
        return value is None or is_number_or_date(value)
    return value is None or isinstance(value, str)


def is_asked(requirement: Mapping[str, Any]) -> bool:
    """Whether the parts of a requirement have the right types."""
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
        and check.keys() == CHECK
        and all(isinstance(one, Mapping) or is_figure(one) for one in map(check.get, FIGURES))
    )
