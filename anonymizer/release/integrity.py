"""The integrity of a release: digests of its rows, its objects, and the seal of its manifest."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from itertools import pairwise
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import TypeAdapter, with_config

from anonymizer.compile import Table, ident, lit
from anonymizer.contract.layout import STRICT, column_names, only
from anonymizer.contract.reading import in_release
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.policy.aggregate import WITNESS
from anonymizer.policy.paths import name_text, path_text
from anonymizer.release import objects
from anonymizer.release.across_tables import names_of, released_tables
from anonymizer.release.manifest import CHANGED, Manifest, read_manifest
from anonymizer.release.objects import Names, Runs, refuse_foreign_sql, unused_space

# Digests of published rows, which detect changed, removed and added rows.
#
# SHA-256 over blocks of rows. The encoding of a row is injective: every cell is the number of its
# bytes, a colon and its text; a NULL is `-1:`. If rows have a stored order, the seal covers it;
# otherwise the digests of the rows are sorted.
#
# A text column of few values is sealed as numbers and the list of the numbered values: hashing long
# texts repeatedly took half the time of a seal.


STORED = "duckdb-stored-2"
"""SHA-256 of the blocks' SHA-256, 1024 rows a block, in the order in which DuckDB stores them.
Cells of numbered columns are a number and a semicolon, ahead of the other cells. The SHA-256 of
the values of every numbered column, in binary order, follow those of the blocks."""
SORTED = "duckdb-sorted-1"
"""SHA-256 of the blocks' SHA-256; rows are sorted by their SHA-256, whose first three digits are
the block."""
BLOCK = 1024
AT_ONCE = 512
"""Blocks per statement, which holds the text of all their rows; this bounds the memory."""
SORTED_AT_ONCE = 1 << 19
"""Unordered rows that are sorted in one statement: some 200 MB."""
LINES = "anonymizer_lines"
VALUES_OF = "anonymizer_values_"
"""Prefix of the names of the lists of values."""
FIRST_BYTES = 256
"""Values of the first byte of a digest, by which unordered rows are divided."""
OFTEN, VALUES, NUMBERED = 8, 65_536, 24
"""A column is numbered if its values occur 8 times on average and are at most 65,536; at most 24
columns are."""


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class RowsDigest:
    """The sealed digest of a table's rows."""

    rows: int
    sha256: str
    definition: str
    """Method of the digest: engine, order, and version."""
    numbered: tuple[str, ...] = ()
    """Columns that are sealed as numbers."""


def stored_rows(
    runs: Runs,
    table: Table,
    columns: tuple[tuple[str, str], ...],
    numbered: Collection[str] | None = None,
) -> RowsDigest:
    """The digest of a DuckDB table's rows, in stored order.

    `numbered` are the numbered columns of a seal; by default they are chosen from the rows.
    """
    if any(name.lower() == "rowid" for name, _ in columns):
        return sorted_rows(runs, table, columns)  # a column hides the positions of the rows
    source = ident(table).text
    texts = [name for name, kind in columns if kind == "VARCHAR"] if numbered is None else []
    counts = [f"approx_count_distinct({ident(name).text})" for name in texts]
    # uncommitted rows have numbers with another start
    listed = ", ".join(["min(rowid)", "max(rowid)", "count(*)", *counts])
    first, last, total, *distinct = runs.raw(f"select {listed} from {source}", "seal")[0]
    if numbered is None:
        numbered = _of_few_values(texts, int(total), distinct)
    chosen = [name for name, kind in columns if name in numbered and kind == "VARCHAR"]
    others = [(f"r.{ident(name).text}", kind) for name, kind in columns if name not in chosen]
    starts = range(first or 0, 1 if last is None else last + 1, BLOCK * AT_ONCE)
    lists = {
        f"{VALUES_OF}{i}": f"select value, row_number() over (order by value nulls first) as n"
        f" from (select distinct {ident(name).text} as value from {source})"
        for i, name in enumerate(chosen)
    }
    joins = " ".join(
        f"join {listed} on {listed}.value is not distinct from r.{ident(name).text}"
        for listed, name in zip(lists, chosen, strict=True)
    )
    cells = [f"{listed}.n, ';'" for listed in lists] + [_cell(*cell) for cell in others]
    digests = " || ".join(
        f"(select sha256(coalesce(string_agg(concat({_cell('value', 'VARCHAR')}), ''"
        f" order by n), '')) from {listed})"
        for listed in lists
    )
    digest, rows = sha256(), 0
    with _listed(runs, lists, kept=len(starts) > 1) as with_lists:
        for start in starts:
            text = (
                f"select (r.rowid - {start}) // {BLOCK} as block, r.rowid as place,"
                f" concat({', '.join(cells)}) as line from {source} as r {joins}"
                f" where r.rowid >= {start} and r.rowid < {start + BLOCK * AT_ONCE}"
            )
            at_end = f", {digests}" if lists and start == starts[-1] else ""
            found = runs.raw(
                f"{with_lists} select cast(coalesce(sum(n), 0) as bigint),"
                f" coalesce(string_agg(digest, '' order by block), ''){at_end} from ("
                " select block, count(*) as n,"
                " sha256(array_to_string(list(line order by place), '')) as digest"
                f" from ({text}) group by block)",
                "seal",
            )[0]
            rows += int(found[0])
            digest.update("".join(map(str, found[1:])).encode())
    return RowsDigest(rows, digest.hexdigest(), STORED, tuple(chosen))


@contextmanager
def _listed(runs: Runs, lists: Mapping[str, str], *, kept: bool) -> Iterator[str]:
    """The prefix of a statement that reads the lists. It is empty if they are `kept` in temporary
    tables, for several statements.
    """
    if not lists or not kept:
        named = ", ".join(f"{name} as materialized ({query})" for name, query in lists.items())
        yield f"with {named}" if named else ""
        return
    for name, query in lists.items():
        runs.raw(f"create or replace temp table {name} as {query}", "seal")
    yield ""
    for name in lists:
        runs.raw(f"drop table {name}", "seal")


def _of_few_values(texts: Sequence[str], rows: int, found: Sequence[Any]) -> tuple[str, ...]:
    """Text columns to number: few values, each occurring often. `found`: their distinct values."""
    fit = [(int(n), i) for i, n in enumerate(found) if n <= VALUES and int(n) * OFTEN <= rows]
    return tuple(texts[i] for i in sorted(i for _, i in sorted(fit)[:NUMBERED]))


def sorted_rows(runs: Runs, relation: Table, columns: tuple[tuple[str, str], ...]) -> RowsDigest:
    """The digest of unordered rows, of anything that DuckDB can select from.

    A large relation is read once: its rows' digests are kept in a temporary table, which the engine
    can spill, and sorted part by part.
    """
    read = f"select sha256({row_text(columns)}) as line from {ident(relation)}"
    all_rows = int(runs.raw(f"select count(*) from {ident(relation)}", "seal")[0][0])
    parts = min(max(-(-all_rows // SORTED_AT_ONCE), 1), FIRST_BYTES)
    if parts > 1:
        kept = f"create or replace temp table {LINES} as select unhex(line) as line from ({read})"
        runs.raw(kept, "seal")
    digest, rows = sha256(), 0
    for low, high in pairwise(part * FIRST_BYTES // parts for part in range(parts + 1)):
        if parts > 1:
            read = f"select lower(hex(line)) as line from {LINES} where line >= unhex('{low:02x}')"
            read += f" and line < unhex('{high:02x}')" if high < FIRST_BYTES else ""
        found = runs.raw(
            "select cast(coalesce(sum(n), 0) as bigint),"
            " coalesce(string_agg(digest, '' order by block), '') from ("
            " select substr(line, 1, 3) as block, count(*) as n,"
            " sha256(array_to_string(list(line order by line), '')) as digest"
            f" from ({read}) group by block)",
            "seal",
        )[0]
        rows += int(found[0])
        digest.update(str(found[1]).encode())
    if parts > 1:
        runs.raw(f"drop table {LINES}", "seal")
    return RowsDigest(rows, digest.hexdigest(), SORTED)


def row_text(columns: tuple[tuple[str, str], ...]) -> str:
    """SQL for the text of a row, from names and types of its columns."""
    cells = (_cell(ident(name).text, kind) for name, kind in columns)
    return f"concat({', '.join(cells)})"


def _cell(column: str, kind: str) -> str:
    if kind.endswith("[]"):
        # the text of a list does not show where its members end
        member = _cell("member", kind.removesuffix("[]"))
        column = (
            f"array_to_string(list_transform({column}, lambda member: concat({member})), '')"
            f" || len({column})"
        )
    elif kind == "TIMESTAMP WITH TIME ZONE":
        column = f"epoch_us({column})"  # its text depends on the session's time zone
    text = f"cast({column} as varchar)"
    return f"coalesce(strlen({text}), -1), ':', {text}"


# The seal of a release: its objects, the digests of its rows, and the manifest's own digest.
#
# Changes can be detected with the policy, or with a signature over the digest. The digest alone
# shows that a release agrees with its manifest, but not who made them.


VERSION: Literal[1] = 1
Columns: TypeAlias = tuple[tuple[str, str], ...]
"""Name and type of every column, in order."""
Sign: TypeAlias = Callable[[str], str]
"""Signs a manifest's digest."""


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class SealedObject:
    """One table or view of a release."""

    schema: str
    name: str
    kind: str
    """view, rows, values or manifest; a `view` without definition is a table (replace_source)."""
    columns: Columns
    definition: Annotated[str | None, only(bool)] = None
    """The query of a view."""
    rows: Annotated[RowsDigest | None, only(bool)] = None
    """The digest of a published table, or of the one behind the view."""


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class Seal:
    """The part of a manifest that describes its release's objects."""

    objects: tuple[SealedObject, ...]
    alone: bool
    """True if the release is in a separate file, which holds nothing else."""
    digest: str
    version: Literal[1]


_SEAL = TypeAdapter(Seal)


def sealed(
    manifest: Manifest, objects: Iterable[SealedObject], *, alone: bool, sign: Sign | None = None
) -> Manifest:
    """The manifest with its seal, signed if there is a key."""
    data = json.loads(manifest.text())
    made = Seal(tuple(objects), alone, "", VERSION)
    data["seal"] = _SEAL.dump_python(made, mode="json", exclude_defaults=True)
    digest = data["seal"]["digest"] = manifest_digest(data)
    return Manifest(data, sign(digest) if sign is not None else None)


def manifest_digest(data: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of a manifest without its digest, as JSON without white space, keys sorted.

    An export adds its files to the manifest without changing the digest.
    """
    data = {name: value for name, value in data.items() if name != "export"}
    seal = {name: value for name, value in data["seal"].items() if name != "digest"}
    text = json.dumps({**data, "seal": seal}, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def seal_of(manifest: Manifest) -> Seal:
    """The seal. Raises GuaranteeError if a manifest has no valid one."""
    try:
        seal = _SEAL.validate_json(json.dumps(manifest.data["seal"]))
    except (KeyError, TypeError, ValueError):
        seal = None  # raised below, without the values that this error has
    if seal is None:
        raise GuaranteeError.at(
            "manifest",
            "has no seal that can be read, so that nobody can tell what was judged",
            hint="it was changed, or made by another version: run again",
        )
    return seal


def manifest_problems(view: Table, manifest: Manifest) -> Iterator[Problem]:
    """The signs that a manifest is not the one sealed for the release of this view."""
    if manifest.found is not None and manifest.found.rstrip("\n") != manifest.text():
        yield Problem("manifest", "is not written as this tool writes it", hint=CHANGED)
    if seal_of(manifest).digest != manifest_digest(manifest.data):
        said = "its digest is not that of its content: a field changed"
        yield Problem("manifest", said, hint=CHANGED)
    if manifest.data.get("view") != f"{view.schema}.{view.name}":
        yield Problem("manifest.view", "names another release", hint=CHANGED)


def of_another(manifest: Manifest, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems of another release in the same file, marked as such."""
    shown = name_text(str(manifest.data.get("view")).removeprefix("main."))
    where = f"of {shown}, which is in the same file"
    return tuple(replace(one, message=f"{where}: {one.message}") for one in problems)


def projection(columns: Iterable[str], rows: Table) -> str:
    """The query of a published view: the frozen rows' columns in order."""
    return f"select {', '.join(ident(name).text for name in columns)} from {ident(rows)}"


def manifest_object(
    names: Names, manifest: Manifest | None, *, signed: bool = False
) -> SealedObject:
    """The table of an existing or planned manifest."""
    signed = signed or (manifest is not None and manifest.signature is not None)
    columns = tuple((name, "VARCHAR") for name in ("manifest", "signature")[: 1 + signed])
    return SealedObject(names.schema, names.manifest(None).name, "manifest", columns)


def object_problems(seal: Seal, found: Iterable[SealedObject]) -> Iterator[Problem]:
    """The differences between the sealed objects and those found."""
    now = {(item.schema, item.name): item for item in found}
    then = {(item.schema, item.name): item for item in seal.objects}
    for place in sorted(now.keys() | then.keys()):
        shown = name_text(place[1])
        sealed_one, one = then.get(place), now.get(place)
        if one is None:
            yield Problem("release", f"lacks {shown}", hint=CHANGED)
        elif sealed_one is None:
            yield Problem("release", f"holds {shown}, which no manifest lists", hint=CHANGED)
        elif replace(one, rows=None) != replace(sealed_one, rows=None):
            yield Problem("release", f"{shown} is not defined as it was published", hint=CHANGED)
        elif one.rows is not None:
            yield from rows_problem(sealed_one, one.rows)


def rows_problem(item: SealedObject, found: RowsDigest) -> Iterator[Problem]:
    """The problem of rows that differ from the sealed ones, if they do."""
    if item.rows == found:
        return
    shown = name_text(item.name)
    said = f"the rows of {shown} are not those that were judged: values or their order changed"
    if item.rows is None or item.rows.definition != found.definition:
        said = f"the rows of {shown} are sealed in a way that this version does not know"
    elif item.rows.rows != found.rows:
        said = (
            f"the rows of {shown} are not those that were judged: there are {found.rows},"
            f" and {item.rows.rows} were"
        )
    yield Problem("release", said, hint=CHANGED)


# Checks that a release has exactly the columns that its manifest lists.
#
# Verification judges only these. A column that was added later would be published without being
# verified.


GONE = "it was removed after it was published: run again"


def refuse_unknown_columns(engine: Engine, view: Table, manifest: Manifest) -> None:
    """Raise GuaranteeError (exit code 1) with every missing and every unknown column.

    In a DuckDB database the frozen rows behind the view are checked too, after a check for foreign
    SQL in the objects that will be read.
    """
    found = list(_tables(engine, view, manifest))
    _refuse_missing(engine, [table for table, _ in found])
    refuse_foreign_sql(engine, [table for table, _ in found])
    GuaranteeError.refuse(
        problem for table, names in found for problem in _differing(engine, table, names)
    )


def _tables(engine: Engine, view: Table, manifest: Manifest) -> Iterator[tuple[Table, list[str]]]:
    layout, tables = manifest.layout, released_tables(manifest)
    rows = column_names(layout)
    yield view, rows
    for column in layout.columns:
        if column.column in layout.tables:
            separate = Table(layout.tables[column.column], view.schema, view.catalog)
            yield separate, [name for name in (layout.group_id, column.name) if name is not None]
    if layout.counts is not None and WITNESS in layout.tables:
        witnesses = Table(layout.tables[WITNESS], view.schema, view.catalog)
        yield witnesses, list(layout.counts.witness_columns)
    for one in tables.children if tables is not None else ():
        yield in_release(view)(one), column_names(one.layout)
    if not engine.embedded or view.catalog is None:
        return
    release = f"{view.schema}.{view.name}"
    for item in objects.object_entries(engine, view.catalog):
        if item.kind == "rows" and item.release == release:
            yield item.table(view.catalog), rows


def _refuse_missing(engine: Engine, tables: list[Table]) -> None:
    """Raise GuaranteeError for missing tables and views of a release."""
    if not engine.embedded:
        return
    there = {(t.catalog, str(t.schema).lower(), t.name.lower()) for t in engine.tables("release")}
    GuaranteeError.refuse(
        Problem("release", f"lacks {name_text(table.name)}, which its manifest tells of", hint=GONE)
        for table in tables
        if table.catalog is not None
        and (table.catalog, str(table.schema).lower(), table.name.lower()) not in there
    )


def _differing(engine: Engine, table: Table, names: list[str]) -> Iterator[Problem]:
    found = [name for name, _ in engine.describe(ident(table).text, "release")]
    shown = name_text(table.name)
    for name in found:
        if name not in names:
            said = f"{shown} has a column {name_text(name)} that its manifest does not tell of"
            yield Problem("release", said, hint="it was never verified: remove it, or run again")
    for name in names:
        if name not in found:
            said = f"{shown} lacks the column {name_text(name)} that its manifest tells of"
            yield Problem("release", said, hint="run again")


# Comparing the catalog of a DuckDB database with the catalog of exactly the sealed objects.
#
# The sealed objects are created in an empty database, without rows, and both catalogs are compared;
# the same engine prints the definitions of both. This reveals any default, check, generated column
# or condition in a view, whatever its name.


Entry: TypeAlias = tuple[str, str, str, str]
"""Kind, schema, owning table (or its own name), and name of a catalog entry."""
Catalog: TypeAlias = Mapping[Entry, tuple[Any, ...]]

_TYPE = re.compile(r"[A-Z][A-Z0-9_]*(\(\d+(, ?\d+)?\))?( WITH TIME ZONE)?(\[\])*\Z")
_OF_TABLES = {
    "table": ("duckdb_tables()", "table_name, table_name, sql, comment, tags"),
    "view": ("duckdb_views()", "view_name, view_name, sql, comment, tags"),
    "column": ("duckdb_columns()", "table_name, column_name, data_type, comment, tags"),
    "index": ("duckdb_indexes()", "table_name, index_name, sql, comment, tags"),
    "trigger": ("duckdb_triggers()", "table_name, trigger_name, sql, comment, tags"),
}
"""The parts of tables and views: where each is listed, and by which columns."""
_OTHERS = {
    "function": (
        "duckdb_functions()",
        "function_name, concat(function_name, '(', array_to_string(parameters, ', '), ')'),"
        " macro_definition, comment, tags",
    ),
    "type": ("duckdb_types()", "type_name, type_name, logical_type, comment, tags"),
    "sequence": ("duckdb_sequences()", "sequence_name, sequence_name, sql, comment, tags"),
    "schema": ("duckdb_schemas()", "schema_name, schema_name, sql, comment, tags"),
}
_INTERNAL = {"table", "view", "column", "function", "type"}
"""Kinds of which the engine also lists internal objects."""


def changes(
    engine: DuckDBEngine, catalog: str, sealed: Iterable[SealedObject], *, alone: bool
) -> Iterator[Problem]:
    """The differences; `alone`: the database may hold nothing else."""
    listed = tuple(sealed)
    expected, found = _expected(listed, alone=alone), _catalog(engine, catalog, alone=alone)
    names = {(item.schema, item.name) for item in listed}
    for entry in sorted(expected.keys() | found.keys()):
        kind, schema, owner, name = entry
        if not alone and (schema, owner) not in names:
            continue
        place = [part for part in (schema, owner) if part not in ("main", name)]
        shown = f"{kind} {path_text([*place, name])}"
        if entry not in found:
            said = f"lacks the {shown}"
        elif entry not in expected:
            said = f"holds the {shown}, which no manifest lists"
        elif found[entry] != expected[entry]:
            said = f"the {shown} is not defined as it was published"
        else:
            continue
        yield Problem("release", said, hint=CHANGED)


def _catalog(engine: DuckDBEngine, catalog: str, *, alone: bool) -> Catalog:
    found: dict[Entry, tuple[Any, ...]] = {}
    old = engine.version.startswith("v1.")
    for kind, (source, listed) in (_OF_TABLES | _OTHERS if alone else _OF_TABLES).items():
        if old and kind == "trigger":
            continue  # DuckDB has triggers, and tags of columns, since 2.0
        if old and kind == "column":
            listed = listed.removesuffix(", tags")
        ours = " and not internal" if kind in _INTERNAL else ""
        rows = engine.raw(
            f"select schema_name, {listed} from {source}"
            f" where database_name = {lit(catalog)}{ours}",
            "release",
        )
        for schema, owner, name, *rest in rows:
            found[kind, str(schema), str(owner), str(name)] = tuple(map(_plain, rest))
    if alone:
        said = engine.raw(
            f"select comment from duckdb_databases() where database_name = {lit(catalog)}",
            "release",
        )
        found["database", "main", "comment", "comment"] = tuple(map(_plain, said[0]))
    return found


@cache
def _collation() -> str:
    """This engine's text for the collation "binary", which runs name and which is its default.
    Versions quote it differently.
    """
    import duckdb

    with closing(duckdb.connect(":memory:")) as connection:
        connection.execute('create table t (c varchar collate "binary")')
        printed = connection.execute("select sql from duckdb_tables()").fetchall()[0][0]
    found = re.fullmatch(r".*\(c VARCHAR( COLLATE .*)\);", printed)
    return found[1] if found else ""


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace(_collation(), "")
    return tuple(sorted(value.items())) if isinstance(value, dict) else value


def _expected(listed: tuple[SealedObject, ...], *, alone: bool) -> Catalog:
    """The catalog of an empty database with the sealed objects. Raises GuaranteeError if the listed
    objects cannot be created.
    """
    import duckdb

    with closing(duckdb.connect(":memory:")) as connection:
        engine = DuckDBEngine(connection, owns_connection=True)
        if alone:
            objects.create_record(engine, "memory")
        try:
            for statement in _statements(listed):
                connection.execute(statement)
        except (duckdb.Error, ValueError) as error:
            raise GuaranteeError.at(
                "manifest", "lists objects that cannot be, so that it was changed"
            ) from error
        return _catalog(engine, "memory", alone=alone)


def _statements(listed: tuple[SealedObject, ...]) -> Iterator[str]:
    for schema in sorted({item.schema for item in listed}):
        yield f"create schema if not exists {ident(Table(schema))}"
    for item in sorted(listed, key=lambda item: item.definition is not None):
        table = ident(Table(item.name, item.schema))
        if item.definition is None:
            if not all(_TYPE.match(kind) for _, kind in item.columns):
                raise ValueError
            columns = ", ".join(f"{ident(name)} {kind}" for name, kind in item.columns)
            yield f"create table {table} ({columns})"
            continue
        yield f"create view {table} as {_frozen(item, listed)}"


def _frozen(view: SealedObject, listed: tuple[SealedObject, ...]) -> str:
    """The only query that a view may have. Raises ValueError if another one is listed."""
    for rows in listed:
        names = [name for name, _ in rows.columns]
        query = projection(names, Table(rows.name, rows.schema))
        if rows.kind == "rows" and query == view.definition and rows.columns == view.columns:
            return query
    raise ValueError


# Sealing a release in a DuckDB database, and detecting later changes.


def objects_of(engine: DuckDBEngine, names: Names, catalog: str) -> tuple[SealedObject, ...]:
    """The existing tables and view of a release, without its manifest."""
    found = []
    has_view = names.rows(catalog) in engine.tables("seal")
    for item in names.entries():
        table = item.table(catalog)
        if item.kind == "manifest" or (item.kind == "rows" and not has_view):
            continue
        columns = tuple(engine.describe(ident(table).text, "seal"))
        if item.kind == "view" and has_view:
            query = projection([name for name, _ in columns], names.rows(None))
            found.append(SealedObject(item.schema, item.name, item.kind, columns, query))
        else:
            rows = stored_rows(engine, table, columns)
            found.append(SealedObject(item.schema, item.name, item.kind, columns, rows=rows))
    return tuple(found)


def sealed_in(
    manifest: Manifest,
    names: Names,
    found: tuple[SealedObject, ...],
    *,
    alone: bool,
    sign: Sign | None,
) -> Manifest:
    """The manifest of a release, sealed with the found objects and that of its own."""
    kept = manifest_object(names, None, signed=sign is not None)
    return sealed(manifest, (*found, kept), alone=alone, sign=sign)


def changes_in_database(
    engine: DuckDBEngine, view: Table, manifest: Manifest, *, alone: bool = False
) -> Iterator[Problem]:
    """The differences from the seal: objects and definitions, the record of them, and rows.

    `alone`: the release has to be in a file that holds nothing else, whatever its seal says.
    """
    catalog = view.catalog or str(engine.raw("select current_catalog()", "release")[0][0])
    seal = seal_of(manifest)
    alone = alone or seal.alone
    release = f"{view.schema}.{view.name}"
    found = list(_listed_otherwise(view, manifest))
    listed = {release: (manifest.run_id, seal.objects)}
    if alone:
        for item in objects.object_entries(engine, catalog):
            if item.kind == "view" and item.release not in listed:
                other, changed = _beside(engine, item.table(catalog))
                found += changed
                listed[item.release] = (other.run_id, seal_of(other).objects)
    every = [one for _, made in listed.values() for one in made]
    found += changes(engine, catalog, every, alone=alone)
    found += _record_changes(engine, catalog, listed, alone=alone)
    yield from found
    if not found:  # do not read the rows of a different table
        for one in seal.objects:
            if one.kind in ("view", "rows", "values") and one.definition is None:
                table = Table(one.name, one.schema, catalog)
                numbered = one.rows.numbered if one.rows else None
                yield from rows_problem(one, stored_rows(engine, table, one.columns, numbered))
    if alone:
        yield from unused_space(engine, catalog)


def _listed_otherwise(view: Table, manifest: Manifest) -> Iterator[Problem]:
    """Check that a seal lists exactly the objects of a release with this layout. The author of the
    manifest, who may be anyone, also wrote the seal.
    """
    listed = seal_of(manifest).objects
    names = names_of(view, manifest)
    frozen = any(item.kind == "rows" for item in listed)
    expected = sorted(
        (item.schema, item.name, item.kind, frozen and item.kind == "view", item.kind == "manifest")
        for item in names.entries()
        if frozen or item.kind != "rows"  # otherwise the view is a table that replaces the source
    )
    found = sorted(
        (
            item.schema,
            item.name,
            item.kind,
            item.definition is not None,
            item in (manifest_object(names, None, signed=signed) for signed in (False, True)),
        )
        for item in listed
    )
    if found != expected:
        said = "lists other objects than a release of its layout has"
        yield Problem("manifest.seal", said, hint=CHANGED)


def _beside(engine: DuckDBEngine, view: Table) -> tuple[Manifest, tuple[Problem, ...]]:
    """Another release in the file, which is not judged. Its seal counts only if it belongs to its
    manifest and lists exactly the manifest's objects.
    """
    manifest = read_manifest(engine, view)
    try:
        refuse_unknown_columns(engine, view, manifest)
        problems = [*manifest_problems(view, manifest), *_listed_otherwise(view, manifest)]
    except GuaranteeError as error:
        problems = [*error.problems]
    return manifest, of_another(manifest, problems)


def _record_changes(
    engine: DuckDBEngine,
    catalog: str,
    listed: dict[str, tuple[str, tuple[SealedObject, ...]]],
    *,
    alone: bool,
) -> Iterator[Problem]:
    """Differences in the record of created objects, a table in the file that anyone could edit."""
    expected = sorted(
        (release, item.schema, item.name, item.kind, run_id)
        for release, (run_id, made) in listed.items()
        for item in made
    )
    found = sorted(
        (item.release, item.schema, item.name, item.kind, item.run_id)
        for item in objects.object_entries(engine, catalog)
        if alone or item.release in listed
    )
    if found != expected:
        said = f"{objects.SCHEMA}.objects does not list just the objects of the manifests"
        yield Problem("release", said, hint=CHANGED)
