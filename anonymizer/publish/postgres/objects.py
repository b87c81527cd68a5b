"""The objects of a release in a Postgres database: the record, the seal, and the manifest."""

from __future__ import annotations

from dataclasses import replace

from anonymizer.compile import Table, ident
from anonymizer.engines.postgres.connection import PostgresEngine
from anonymizer.engines.postgres.record import entries
from anonymizer.errors import EngineError, NothingToCheckError
from anonymizer.release.manifest import Manifest, no_manifest, parsed
from anonymizer.release.names import Names
from anonymizer.release.objects import Recorded
from anonymizer.release.rows_digest import RowsDigest
from anonymizer.release.seal import SealedObject

WRITTEN_ALIKE = frozenset({"text", "smallint", "integer", "bigint", "boolean", "date"})
"""Types in which equal values have equal texts. (The numerics 1.0 and 1.00 are equal.)"""
SORTED = "postgres-sorted-1"
"""SHA-256 of rows as JSON, sorted; otherwise like DuckDB's digests of unordered rows."""


def recorded(engine: PostgresEngine, *, trusted: bool = True) -> tuple[Recorded, ...]:
    """Every recorded object published in the database, oldest first.

    `trusted`: only from records of roles that may decide what is dropped.
    """
    return tuple(Recorded(*item) for item in entries(engine, trusted=trusted))


def entry(item: Recorded) -> tuple[str, ...]:
    """The record entry of an object."""
    return (item.release, item.schema, item.name, item.kind, item.run_id)


def read_manifest(engine: PostgresEngine, view: Table) -> Manifest:
    """Read a manifest. Raises NothingToCheckError if the release has no readable one."""
    table = ident(Table(f"{view.name}_manifest", view.schema)).text
    if engine.native("select to_regclass(%s)", "manifest", (table,))[0][0] is None:
        raise no_manifest()
    try:
        signed = any(name == "signature" for name, _ in engine.describe(table, "manifest"))
        columns = "manifest, signature" if signed else "manifest, null"
        rows = engine.native(f"select {columns} from {table}", "manifest")
    except EngineError as error:
        raise NothingToCheckError.at(
            "manifest", "cannot be read by this role", hint="verify as the owner"
        ) from error
    if len(rows) != 1:
        raise NothingToCheckError.at("manifest", "is not one row")
    return parsed(*rows[0])


def published_objects(
    engine: PostgresEngine, names: Names, *, frozen_only: bool = False, replaced: bool = False
) -> tuple[SealedObject, ...]:
    """The tables and the view of a release, without its manifest.

    `frozen_only`: the view will show the frozen table, so only the table is read.
    `replaced`: the release replaces its source, and its view is a table.
    """
    left_out = ("manifest", "rows") if replaced else ("manifest",)
    made = [item for item in names.recorded() if item.kind not in left_out]
    found: list[SealedObject] = []
    for item in made:
        if frozen_only and item.kind == "view":
            found.append(replace(found[0], name=item.name, kind=item.kind))
            continue
        text = ident(Table(item.name, item.schema)).text
        columns = tuple(engine.describe(text, "seal"))
        rows = _rows_digest(engine, text)
        found.append(SealedObject(item.schema, item.name, item.kind, columns, rows=rows))
    return tuple(found)


def _rows_digest(engine: PostgresEngine, table: str) -> RowsDigest:
    """The digest of rows as JSON; its text depends on no setting but the time zone, which is fixed.

    Equal rows, of which a release has many, are digested once and counted.
    """
    lines = _lines(engine, table)
    row = engine.native(
        "select coalesce(sum(n), 0)::bigint,"
        " encode(sha256(convert_to(coalesce(string_agg(digest, '' order by block), ''), 'UTF8')),"
        " 'hex') from (select substr(line, 1, 3) as block, sum(n) as n,"
        " encode(sha256(convert_to(string_agg(repeat(line, n::int), '' order by line), 'UTF8')),"
        " 'hex') as digest from (select encode(sha256(convert_to(shown, 'UTF8')), 'hex')"
        f' collate "C" as line, n from ({lines}) as equal_rows) as lines'
        " group by 1) as blocks",
        "seal",
    )[0]
    return RowsDigest(int(row[0]), str(row[1]), SORTED)


def _lines(engine: PostgresEngine, table: str) -> str:
    """A query for the distinct rows as JSON (`shown`), and the number of each (`n`).

    If equal values have equal texts, rows are counted before they are converted, in less than half
    the time.
    """
    columns = engine.native(
        "select attname, format_type(atttypid, atttypmod) from pg_attribute"
        " where attrelid = to_regclass(%s) and attnum > 0 and not attisdropped order by attnum",
        "seal",
        (table,),
    )
    if not columns or any(kind not in WRITTEN_ALIKE for _, kind in columns):
        return (
            'select row_to_json(t)::text collate "C" as shown, count(*) as n'
            f" from {table} as t group by 1"
        )
    # compare texts by their bytes, whatever the collation of a column
    names = [ident(str(name)).text for name, _ in columns]
    keys = [
        f'{name} collate "C"' if kind == "text" else name
        for name, (_, kind) in zip(names, columns, strict=True)
    ]
    counted = f"select {', '.join(keys)}, count(*) from {table} group by {', '.join(keys)}"
    own = [f"c{number}" for number, _ in enumerate(columns)]
    again = ", ".join(f"d.{one} as {name}" for one, name in zip(own, names, strict=True))
    return (
        f'select (select row_to_json(t)::text from (select {again}) as t) collate "C" as shown, d.n'
        f" from ({counted}) as d ({', '.join(own)}, n)"
    )
