"""Checks of published names: renames, and generated names that clash with source columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING

from anonymizer.errors import Problem
from anonymizer.policy.algorithms import Mondrian
from anonymizer.policy.columns import MASKS, Column
from anonymizer.policy.fields import PublishedName, is_reserved, published_names, renamed
from anonymizer.policy.hierarchies import Cardinality, Conventional, Divisor, Intervals, OnTheFly
from anonymizer.policy.kinds import ENDINGS, kind_of
from anonymizer.policy.paths import closest, column_path, name_text, path_text
from anonymizer.policy.publish import UNENCRYPTED, Publish

if TYPE_CHECKING:
    from anonymizer.policy.fields import PolicyFields
    from anonymizer.policy.publish import Source
    from anonymizer.policy.schema import SchemaFields


# Checks of the release's target, the ledger and `republish`.


SECRET = re.compile(r"password\s*=|://[^/\s:@]*:[^/\s@]+@", re.IGNORECASE)
OWN_SCHEMA = "_anonymizer"
ENGINES_SCHEMAS = ("information_schema", "pg_catalog", "pg_temp", "pg_toast", "temp")
"""Schemas that are reserved by the engines."""
FORMAT = Publish().storage


def place(policy: PolicyFields) -> Iterator[Problem]:
    """The release has a name, and does not overwrite its source."""
    publish, source = policy.publish, policy.source
    if not publish.name:
        said = "is missing: a query has no name of its own"
        yield Problem(
            "publish.name", said, hint=f"publish: {{name: visits_{ENDINGS[kind_of(policy)]}}}"
        )
    yield from target(publish)
    if publish.grant_select is not None and policy.engine != "postgres":
        said = f"is a Postgres grant, and the engine is {policy.engine}"
        yield Problem("publish.grant_select", said, hint="engine: postgres")
    if publish.replace_source:
        yield from _in_place(policy)
    elif publish.database is None and is_source(source, publish, publish.name, policy.engine):
        yield Problem(
            "publish.name",
            "is the name of the source table itself",
            hint="another name or publish.schema, or publish: {replace_source: true}",
        )
    for path, other in (("ledger", policy.ledger), ("source.file", source.file)):
        if other is None or publish.database is None:
            continue
        if PurePath(other) == PurePath(publish.database):
            yield Problem(path, "is the same file as publish.database", hint="another file")


def _in_place(policy: PolicyFields) -> Iterator[Problem]:
    path = "publish.replace_source"
    if policy.source.kind != "table":
        said = f"needs a table as source, and this is a {policy.source.kind}"
        yield Problem(path, said, hint="source: {table: main.visits}")
    if policy.publish.database is not None:
        said = "cannot be combined with publish.database: the release replaces the source table"
        yield Problem(path, said, hint="leave publish.database out")


def target(publish: Publish) -> Iterator[Problem]:
    """The schema and database can hold a release."""
    schema = publish.schema_.casefold()
    if schema == OWN_SCHEMA:
        yield Problem("publish.schema", f"{OWN_SCHEMA} is the tool's own", hint="another schema")
    if schema in ENGINES_SCHEMAS:
        said = f"{publish.schema_} is the engine's own"
        yield Problem("publish.schema", said, hint="another schema")
    if publish.database is not None and SECRET.search(publish.database):
        yield Problem(
            "publish.database",
            "holds a password, and a policy never holds a secret",
            hint="the engine's own password file or environment variable",
        )
    if publish.database is None and publish.storage != FORMAT:
        said = "is the format of a file, and the release goes into none of its own"
        yield Problem("publish.storage", said, hint="publish: {database: release.duckdb}")
    if publish.database is None and publish.encrypted is not None:
        said = "is for a file, and the release goes into none of its own"
        yield Problem("publish.encrypted", said, hint="publish: {database: release.duckdb}")
    if publish.encrypted and publish.storage in UNENCRYPTED:
        said = "is a format of files that are never encrypted"
        yield Problem("publish.storage", said, hint=f"publish: {{storage: {FORMAT}}}")


def is_source(source: Source, publish: Publish, view: str, engine: str) -> bool:
    """Return whether a view of the release would be the source table itself."""
    parts = [part.casefold() for part in source.parts]
    if not parts or parts[-1] != view.casefold():
        return False
    # an unqualified name is resolved in the engine's default schema first
    usual = "public" if engine == "postgres" else "main"
    schema = parts[-2] if len(parts) > 1 else usual
    return schema == publish.schema_.casefold()


def remembering_engine(policy: PolicyFields) -> Iterator[Problem]:
    """The ledger is a DuckDB database, kept by runs on DuckDB and Postgres."""
    if policy.ledger is not None and policy.engine == "spark":
        said = f"is not kept with the engine {policy.engine}"
        yield Problem("ledger", said, hint="engine: duckdb, or leave ledger out")


def remembered(policy: PolicyFields | SchemaFields) -> Iterator[Problem]:
    """Require a ledger for options about earlier releases."""
    if policy.republish is not None and policy.ledger is None:
        said = "needs a ledger that remembers earlier releases"
        # (on Spark there is none)
        hint = "leave republish out" if policy.engine == "spark" else "ledger: private.duckdb"
        yield Problem("republish", said, hint=hint)


NOBODY_KNOWN = "needs a person or a key, to know who stays between releases"
"""What a policy lacks of which each release continues the one before."""


def memory(policy: PolicyFields) -> Iterator[Problem]:
    """Later releases need a ledger, and a key or person."""
    yield from remembered(policy)
    if policy.continues and policy.person is None and policy.key is None:
        yield Problem("republish", NOBODY_KNOWN, hint="person: <column>")


def continued(policy: PolicyFields) -> Iterator[Problem]:
    """Settings that a release that continues earlier ones cannot have."""
    if not policy.continues:
        return
    if policy.publish.replace_source:
        said = "cannot be combined with publish.replace_source: its persons cannot be found again"
        beside = "leave publish.replace_source out"
        here = policy.engine == "duckdb"
        yield Problem(
            "republish", said, hint="publish: {database: release.duckdb}" if here else beside
        )
    if not isinstance(policy.algorithm, Mondrian):
        said = f"is made of classes of its own, not of those of {policy.algorithm.name}"
        yield Problem("republish", said, allowed="algorithm: {name: mondrian}")
    elif not policy.algorithm.strict:
        said = "keeps equal rows together"
        yield Problem("algorithm.strict", said, allowed="true", hint="leave strict out")
    if policy.republish is None or policy.republish.m is not None:
        yield from _invariant(policy)
    elif policy.republish.follow:
        yield from _followed(policy)
    else:
        yield from _appended(policy)


PROTECTS = "republish: {m: 3} protects values"
KEEPS = "republish: {follow: true} keeps the rules of columns"


def protecting(policy: PolicyFields) -> str | None:
    """What protects values in later releases instead of `append_only`, if the policy allows it."""
    if not any(_followed(policy)):
        return KEEPS
    return None if any(_invariant(policy)) else PROTECTS


def _appended(policy: PolicyFields) -> Iterator[Problem]:
    if policy.privacy.k_anonymity is None:
        said = "keeps classes of at least k, and the policy states no k"
        yield Problem("republish.append_only", said, hint="privacy: {k_anonymity: 5}")
    for name in policy.protected:
        said = "cannot be kept while classes only grow"
        yield Problem(
            column_path(name, "protect"), said, hint=protecting(policy) or "leave republish out"
        )


MERGE = frozenset({"l_diversity", "entropy_l", "alpha"})
"""Rules of a column that hold for two groups together if they hold for each."""


def _followed(policy: PolicyFields) -> Iterator[Problem]:
    if policy.privacy.k_anonymity is None:
        said = "keeps classes of at least k, and the policy states no k"
        yield Problem("republish.follow", said, hint="privacy: {k_anonymity: 5}")
    for name in sorted({*policy.privacy.guarantees} - {"k_anonymity", "units"}):
        said = "cannot be kept for those who join or leave by themselves"
        yield Problem(f"privacy.{name}", said, hint="k_anonymity, and rules of columns")
    for name in policy.protected:
        protect = policy.columns[name].protect
        for rule in sorted(protect.model_fields_set - MERGE) if protect is not None else ():
            said = "cannot be kept for those who join or leave by themselves"
            yield Problem(
                column_path(name, "protect", rule), said, allowed=", ".join(sorted(MERGE))
            )


def _invariant(policy: PolicyFields) -> Iterator[Problem]:
    if len(policy.sensitive) != 1:
        said = f"protects one sensitive column, and the policy has {len(policy.sensitive)}"
        yield Problem("republish.m", said, hint="role drop for the others, or a policy for each")
    for name in (n for n, c in policy.columns.items() if c.role in ("keep", *MASKS)):
        said = "cannot be published beside counterfeits, which have no value of their own there"
        yield Problem(column_path(name, "role"), said, allowed="quasi, drop")


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


DATA_MADE = (Conventional, Divisor, Cardinality)
"""Builders whose intervals begin and end with values of the data, unless a domain is given."""


def bounds(policy: PolicyFields) -> Iterator[Problem]:
    """Steps need a grid, and under a grid no interval of a hierarchy ends with a value of a row."""
    nodes = policy.algorithm.name if policy.algorithm.over_levels else None
    for name, column in policy.columns.items():
        yield from bounds_of(name, column, policy.publish.bounds, nodes)


def bounds_of(name: str, column: Column, bounds: str, nodes: str | None) -> Iterator[Problem]:
    """Problems of the bounds of a column. `nodes`: what publishes nodes, if anything does."""
    if bounds != "grid":
        if column.bounds is not None:
            said = "is a step of a grid, and bounds are those of rows"
            yield Problem(column_path(name, "bounds"), said, hint="publish: {bounds: grid}")
        return
    if column.role not in ("quasi", "event") or nodes is None:
        return
    if column.bounds is not None:
        said = f"does not apply to {nodes}, which publishes nodes"
        yield Problem(column_path(name, "bounds"), said, hint="leave it out")
    spec, path = column.hierarchy, column_path(name, "hierarchy")
    if isinstance(spec, DATA_MADE) and spec.domain is None:
        said = "is missing: without it intervals end with values of rows"
        yield Problem(f"{path}.domain", said, hint="domain: [0, 120], or publish.bounds: tight")
    if isinstance(spec, OnTheFly):
        said = "makes intervals that end with values of rows"
        yield Problem(f"{path}.builder", said, hint="builder: intervals with cuts and a top")
    if isinstance(spec, Intervals) and spec.top is None:
        said = "is missing: without it the last interval ends with a value of a row"
        yield Problem(f"{path}.top", said, hint=f"top: {spec.cuts[-1]}")


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
