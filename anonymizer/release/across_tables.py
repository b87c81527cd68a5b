"""A release of several tables: its part of the manifest, and its requirements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from anonymizer.compile import Table
from anonymizer.contract.layout import Layout, Requirement
from anonymizer.contract.reading import ReleasedTable, Tables
from anonymizer.errors import NothingToCheckError, Problem
from anonymizer.guarantees.requirements import requirements_of, with_paths
from anonymizer.policy import AnyPolicy, SchemaPolicy
from anonymizer.policy.columns import MASKS
from anonymizer.policy.paths import table_path
from anonymizer.release.agreement import HINT, masks_of
from anonymizer.release.manifest import Manifest
from anonymizer.release.objects import Names
from anonymizer.verification.guarantees import TOGETHER

PUBLISHED = {"event": "quasi", **dict.fromkeys(MASKS, "keep")}
"""The published role of a policy's role, if it is another."""
Paths = Mapping[tuple[str, str], Any]
"""Properties of values or cells that rules of columns use: paths to the root, or `together`."""


def tables_of(policy: SchemaPolicy, layouts: Mapping[str, Layout], paths: Paths) -> Tables:
    """The tables of a release with their layouts, persons first."""
    knows = policy.privacy.knows
    assert policy.privacy.k_anonymity is not None
    listed = [policy.person, *policy.children]
    return Tables(
        policy.person,
        policy.privacy.k_anonymity,
        knows.events if policy.events else 0,
        knows.rows,
        knows.sensitive,
        tuple(
            ReleasedTable(
                name, policy.view(name), layouts[name], tuple(required_in(policy, name, paths))
            )
            for name in listed
        ),
        tuple(_with_paths(requirements_of(policy.lead), policy.person, paths)),
        joined=knows.joined and bool(policy.events and knows.events),
    )


def required_in(policy: AnyPolicy, name: str, paths: Paths) -> Iterator[Requirement]:
    """The requirements for the columns of a table, besides those of the persons' release."""
    if name == policy.person:
        identity = policy.privacy.identity_reserved
        yield from (r for r in requirements_of(policy.whole) if r.name in identity)
    else:
        required = requirements_of(policy.further[name])
        yield from _with_paths((r for r in required if r.column is not None), name, paths)
    for (table, column), size in policy.reserved.items():
        if table == name:
            described = policy.tables[name].columns[column]
            nulls = {"null_as_value": True} if described.null_as_value else {}
            asked: dict[str, Any] = {"l": size, **nulls}
            if described.role == "event":
                asked[TOGETHER] = paths.get((name, column), [])
            yield Requirement("eir_l", column, asked)


def _with_paths(required: Iterable[Requirement], table: str, paths: Paths) -> Iterator[Requirement]:
    for item in required:
        if item.column is not None and item.parameters.get("distance") == "hierarchical":
            item = with_paths(item, paths.get((table, item.column), {}))
        yield item


def asked_of(policy: AnyPolicy, tables: Tables) -> Tables:
    """The tables of a release with the requirements of a policy, which may differ."""
    assert policy.several
    layouts = {one.table: one.layout for one in tables.tables}
    return tables_of(policy, layouts, _paths(tables))


def _paths(tables: Tables) -> Paths:
    return {
        (one.table, item.column): item.parameters[known]
        for one in tables.tables
        for item in (*one.requirements, *(tables.required if one is tables.persons else ()))
        for known in ("paths", TOGETHER)
        if item.column is not None and known in item.parameters
    }


def released_tables(manifest: Manifest) -> Tables | None:
    """The tables of a release of several, else None.

    Raises NothingToCheckError if they cannot be parsed.
    """
    listed = manifest.data.get("tables")
    if listed is None:
        return None
    try:
        tables = Tables.from_dict(listed, manifest.layout, manifest.requirements)
        if tables.as_dict() != listed:
            raise ValueError
    except (AttributeError, KeyError, IndexError, StopIteration, TypeError, ValueError):
        tables = None
    if tables is None:
        raise NothingToCheckError.at(
            "manifest.tables", "cannot be read", hint="it was changed, or is of a later version"
        )
    return tables


def names_of(view: Table, manifest: Manifest) -> Names:
    """The names of all objects of the release of a manifest."""
    tables = released_tables(manifest)
    further = [one.name for one in tables.children] if tables is not None else []
    separate = manifest.layout.tables.values()
    return Names(view.schema or "main", view.name, manifest.run_id, (*separate, *further))


def as_asked(policy: SchemaPolicy, manifest: Manifest) -> bool:
    """Return whether the manifest lists the tables of a policy, with its requirements."""
    tables = released_tables(manifest)
    if tables is None or {one.table for one in tables.tables} != set(policy.tables):
        return False
    return asked_of(policy, tables).as_dict() == tables.as_dict()


def tables_unmet(policy: AnyPolicy, tables: Tables) -> Iterator[Problem]:
    """The tables and columns that the release has otherwise than the policy."""
    released = {one.table: one for one in tables.tables}
    for name in sorted(set(policy.tables) ^ set(released)):
        said = "is not in the release" if name in policy.tables else "is not in the policy"
        yield Problem(table_path(name), said, hint=HINT)
    for name in policy.tables:
        if name not in released:
            continue
        table, one = policy.tables[name], released[name]
        path = table_path(name)
        if one.name != policy.further.get(name, policy.lead).publish.name:
            yield Problem(path, "is published under another name than the policy's", hint=HINT)
        stated = (table.published_key, dict(table.links))
        if (one.layout.key, dict(one.layout.links)) != stated:
            yield Problem(path, "has another key or other links than the policy's", hint=HINT)
        if one is tables.persons:
            continue
        found = {c.column: c.role for c in one.layout.columns}
        asked = {
            column: PUBLISHED.get(described.role, described.role)
            for column, described in table.columns.items()
            if described.role in ("event", "sensitive", "keep", *MASKS)
        }
        for column in sorted({*found, *asked}):
            if found.get(column) != asked.get(column):
                said = "has another role in the release than in the policy"
                yield Problem(table_path(name, "columns", column), said, hint=HINT)
        for shown in one.layout.columns:
            described = table.columns.get(shown.column)
            wanted, made = masks_of(described, shown) if described is not None else ([], [])
            if wanted != made:
                said = "has other masks in the release than in the policy"
                yield Problem(table_path(name, "columns", shown.column), said, hint=HINT)
