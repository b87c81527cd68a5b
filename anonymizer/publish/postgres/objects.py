"""The objects of a release in a Postgres database: the record, the seal, and the manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from anonymizer.compile import Table, ident
from anonymizer.engines.base import Limits
from anonymizer.engines.postgres.connection import PostgresEngine
from anonymizer.engines.postgres.session import address, postgres_engine
from anonymizer.engines.postgres.workplace import entries
from anonymizer.errors import EngineError, NothingToCheckError, Problem
from anonymizer.policy import Policy
from anonymizer.release.across_tables import names_of
from anonymizer.release.integrity import (
    RowsDigest,
    SealedObject,
    manifest_object,
    object_problems,
    seal_of,
)
from anonymizer.release.manifest import CHANGED, Manifest, no_manifest, parsed
from anonymizer.release.objects import Names, ObjectEntry

# Dependents of a table or view, which would be lost with it or would show other rows.


HANGING = """
    select 'the view ' || v.oid::regclass::text
    from pg_depend d join pg_rewrite r on r.oid = d.objid join pg_class v on v.oid = r.ev_class
    where d.refobjid = %(table)s::regclass and d.classid = 'pg_rewrite'::regclass
        and v.oid <> d.refobjid
    union
    select 'the foreign key ' || conname || ' of ' || conrelid::regclass::text
    from pg_constraint where contype = 'f' and confrelid = %(table)s::regclass
    union
    select 'the trigger ' || tgname
    from pg_trigger where tgrelid = %(table)s::regclass and not tgisinternal
    union
    select 'the rule ' || rulename
    from pg_rewrite where ev_class = %(table)s::regclass and rulename <> '_RETURN'
    union
    select 'the policy ' || polname from pg_policy where polrelid = %(table)s::regclass
    union
    select 'the table ' || inhrelid::regclass::text || ', which inherits from it'
    from pg_inherits where inhparent = %(table)s::regclass
    union
    select 'the table ' || inhparent::regclass::text || ', of which it is a part'
    from pg_inherits where inhrelid = %(table)s::regclass
    union
    select 'the publication ' || p.pubname
    from pg_publication_tables p join pg_class c on c.relname = p.tablename
    join pg_namespace n on n.oid = c.relnamespace and n.nspname = p.schemaname
    where c.oid = %(table)s::regclass and (%(covered)s or exists (
        select from pg_publication_rel r join pg_publication listed on listed.oid = r.prpubid
        where r.prrelid = c.oid and listed.pubname = p.pubname
    ))
    union
    select 'the subscription ' || s.subname
    from pg_subscription_rel r join pg_subscription s on s.oid = r.srsubid
    where r.srrelid = %(table)s::regclass
    union
    select 'the extension ' || e.extname || ', of which it is a part'
    from pg_depend d join pg_extension e on e.oid = d.refobjid
    where d.deptype = 'e' and d.refclassid = 'pg_extension'::regclass
        and d.classid = 'pg_class'::regclass and d.objid = %(table)s::regclass
    union
    select 'row security, which is on'
    from pg_class where oid = %(table)s::regclass and (relrowsecurity or relforcerowsecurity)
    union
    select pg_describe_object(d.classid, d.objid, d.objsubid)
    from pg_depend d
    where d.deptype = 'n' and (
        d.refclassid = 'pg_class'::regclass and d.refobjid = %(table)s::regclass
            and d.classid = 'pg_proc'::regclass
        or d.refclassid = 'pg_type'::regclass and d.refobjid in (
            select unnest(array[oid, typarray]) from pg_type where typrelid = %(table)s::regclass)
    )
    union
    select 'the default of ' || a.adrelid::regclass::text || ', by a sequence of the table'
    from pg_depend owned join pg_depend d on d.refobjid = owned.objid
    join pg_attrdef a on a.oid = d.objid
    where owned.refobjid = %(table)s::regclass and owned.classid = 'pg_class'::regclass
        and owned.deptype in ('a', 'i') and d.classid = 'pg_attrdef'::regclass
        and a.adrelid <> %(table)s::regclass
    order by 1
"""
COLUMNS = """
    select attname, atttypid, atttypmod, attcollation from pg_attribute
    where attrelid = to_regclass(%s) and attnum > 0 and not attisdropped order by attnum
"""


def dependents(engine: PostgresEngine, table: Table, *, covered: bool) -> list[str]:
    """Describe what depends on a table or view; empty if it does not exist.

    `covered`: also publications of all tables, or of those of a schema, which do not list it.
    """
    name = ident(table).text
    if engine.native("select to_regclass(%s)", "publish", (name,))[0][0] is None:
        return []
    found = {"table": name, "covered": covered}
    return [str(said) for (said,) in engine.native(HANGING, "publish", found)]


WRITTEN_ALIKE = frozenset({"text", "smallint", "integer", "bigint", "boolean", "date"})
"""Types in which equal values have equal texts. (The numerics 1.0 and 1.00 are equal.)"""
SORTED = "postgres-sorted-1"
"""SHA-256 of rows as JSON, sorted; otherwise like DuckDB's digests of unordered rows."""


def object_entries(engine: PostgresEngine, *, trusted: bool = True) -> tuple[ObjectEntry, ...]:
    """Every recorded object published in the database, oldest first.

    `trusted`: only from records of roles that may decide what is dropped.
    """
    return tuple(ObjectEntry(*item) for item in entries(engine, trusted=trusted))


def entry(item: ObjectEntry) -> tuple[str, ...]:
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
    engine: PostgresEngine,
    names: Names,
    *,
    frozen: Mapping[str, Table] | None = None,
    replaced: bool = False,
) -> tuple[SealedObject, ...]:
    """The tables and the view of a release, without its manifest.

    `frozen`: where the tables are that will have these names, and that the view will show; so the
    view is not read. `replaced`: the release replaces its source, and its view is a table.
    """
    left_out = ("manifest", "rows") if replaced else ("manifest",)
    made = [item for item in names.entries() if item.kind not in left_out]
    found: list[SealedObject] = []
    for item in made:
        if frozen is not None and item.kind == "view":
            found.append(replace(found[0], name=item.name, kind=item.kind))
            continue
        text = ident((frozen or {}).get(item.name, Table(item.name, item.schema))).text
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


# Opening published releases in a Postgres database, to verify or copy them.


@contextmanager
def published_in(database: Any, limits: Limits) -> Iterator[PostgresPublished]:
    """Open the releases of a database."""
    with postgres_engine(address(database), limits) as engine:
        yield PostgresPublished(engine)


@dataclass(frozen=True, slots=True)
class PostgresPublished:
    """The releases of a database."""

    engine: PostgresEngine
    unlisted: ClassVar[tuple[str, ...]] = ()

    def views(self, policy: Policy | None) -> list[Table]:
        if policy is not None:
            return [Names.of(policy, "").view(self.engine.catalog)]
        found = [
            item.table(self.engine.catalog or "")
            for item in object_entries(self.engine, trusted=False)
            if item.kind == "view"
        ]
        if not found:
            raise NothingToCheckError.at("--database", "holds no release of this tool")
        return found

    def manifest(self, view: Table) -> Manifest:
        return read_manifest(self.engine, view)

    def changes(self, view: Table, manifest: Manifest, *, alone: bool) -> Iterator[Problem]:
        del alone  # the database may hold objects of the user
        names = names_of(view, manifest)
        kept = manifest_object(names, manifest)
        replaced = not any(
            (item.schema, item.name) == (names.schema, names.rows(None).name)
            for item in object_entries(self.engine, trusted=False)
        )
        found = (*published_objects(self.engine, names, replaced=replaced), kept)
        yield from object_problems(seal_of(manifest), found)
        described = self.engine.describe(ident(names.manifest(None)).text, "seal")
        if [name for name, _ in described] != [name for name, _ in kept.columns]:
            yield Problem("release", f"{names.manifest(None).name} has other columns", hint=CHANGED)
