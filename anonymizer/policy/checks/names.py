"""Checks of published names: renames, and generated names that clash with source columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from anonymizer.errors import Problem
from anonymizer.policy.names import PublishedName, is_reserved, published_names, renamed
from anonymizer.policy.paths import column_path, name_text, path_text
from anonymizer.policy.suggest import closest

if TYPE_CHECKING:
    from anonymizer.policy.fields import PolicyFields


def collisions(policy: PolicyFields) -> Iterator[Problem]:
    """Name clashes that follow from the policy alone."""
    yield from _unknown_renames(policy, {one.name for one in published_names(policy)})
    yield from clashes(policy)
    yield from _msb_tables(policy)


def clashes(policy: PolicyFields, kinds: Mapping[str, str] | None = None) -> Iterator[Problem]:
    """Published columns have distinct names; `kinds` determine the names of typed cells."""
    published = list(published_names(policy, kinds))
    yield from _reserved(policy, published)
    first: dict[str, PublishedName] = {}
    # source columns first, so that the generated name is the one reported as colliding
    for one in sorted((one for one in published if one.certain), key=lambda one: one.generated):
        final = renamed(policy, one)
        other = first.setdefault(final.casefold(), one)
        both_columns = not one.generated and one.name.casefold() == other.name.casefold()
        if other is not one and not both_columns:  # else reported as a duplicate column
            yield _collision(policy, other, one, final)


def too_long(policy: PolicyFields, kinds: Mapping[str, str], longest: int) -> Iterator[Problem]:
    """Published names that an engine would truncate, so that two might become equal."""
    for one in published_names(policy, kinds):
        final = renamed(policy, one)
        if one.certain and len(final.encode()) > longest:
            said = f"{_words(one)} would be published as {name_text(final)}, which is too long"
            hint = f"publish: {{rename: {{{name_text(one.name)}: <shorter name>}}}}"
            yield Problem(_path(policy, one), said, allowed=f"{longest} bytes", hint=hint)


def read_too_long(policy: PolicyFields, longest: int) -> Iterator[Problem]:
    """Names of the source that no table of an engine can have, which would truncate them."""
    hint = "give the table a shorter name, or read it by source.query"
    for part in policy.source.parts if policy.source.kind == "table" else ():
        if len(part.encode()) > longest:
            said = f"{name_text(part)} is too long a name"
            yield Problem("source.table", said, allowed=f"{longest} bytes", hint=hint)
    for name in policy.columns:
        if len(name.encode()) > longest:
            said, hint = "has too long a name", "give the column a shorter one in the source"
            yield Problem(column_path(name), said, allowed=f"{longest} bytes", hint=hint)


def _reserved(policy: PolicyFields, published: list[PublishedName]) -> Iterator[Problem]:
    """Published names that the tool's work tables and statements use for columns."""
    for one in published:
        final = renamed(policy, one)
        if not one.certain or not is_reserved(final):
            continue
        said = f"{_words(one)} would be published as {name_text(final)}, a name of the tool's own"
        hint = f"publish: {{rename: {{{name_text(one.name)}: <new name>}}}}"
        yield Problem(_path(policy, one), said, hint=hint)


def _path(policy: PolicyFields, one: PublishedName) -> str:
    if one.name in policy.publish.rename:
        return path_text(("publish", "rename", one.name))
    return column_path(one.column) if one.column is not None else "publish"


def _collision(
    policy: PolicyFields, column: PublishedName, other: PublishedName, final: str
) -> Problem:
    owner = next((one for one in (column, other) if one.name in policy.publish.rename), None)
    path = column_path(column.column) if column.column is not None else "publish"
    if owner is not None and owner.name != final:
        path = path_text(("publish", "rename", owner.name))
    said = f"{_words(column)} and {_words(other)} would both be published as {name_text(final)}"
    return Problem(path, said, hint=f"publish: {{rename: {{{name_text(other.name)}: <new name>}}}}")


def _words(one: PublishedName) -> str:
    if one.column is None:
        return f"{one.what} {name_text(one.name)}"
    if one.generated:
        return f"{one.what} {name_text(one.column)}, {name_text(one.name)},"
    return f"{one.what} {name_text(one.name)}"


def _unknown_renames(policy: PolicyFields, known: set[str]) -> Iterator[Problem]:
    for name in policy.publish.rename:
        if name not in known:
            hint = closest(name, known) or "rename takes published names to new ones"
            path = path_text(("publish", "rename", name))
            yield Problem(path, "is not the name of a published column", hint=hint)


def _msb_tables(policy: PolicyFields) -> Iterator[Problem]:
    """Tables of sensitive columns are not named like the manifest table."""
    if policy.algorithm.values_in != "group":
        return
    for name in policy.sensitive:
        if name.casefold() == "manifest":
            table = name_text(f"{policy.publish.name}_{name}")
            said = f"the table of this column and the manifest would both be called {table}"
            yield Problem(column_path(name), said, hint="rename the column in a query as source")
