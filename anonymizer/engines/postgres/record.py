"""The record of the objects that the tool created in a database; no others are dropped or replaced.

It is the table `_anonymizer.objects`. A role that may not create or use it records what it
publishes in a table of the schema in which it publishes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from anonymizer.compile import Table, ident, quote
from anonymizer.engines.postgres.connection import PostgresEngine
from anonymizer.engines.postgres.grants import make_private
from anonymizer.errors import TargetError

SCHEMA = "_anonymizer"
"""Schema of the record of the whole database."""
SHARED = Table("objects", SCHEMA)
BESIDE = "_anonymizer_objects"
"""The record of a single schema, in that schema."""
GRANT = "grant"
"""Kind of the entries that name a role instead of an object, and no schema."""
COLUMNS = (
    "release text, schema_name text, object_name text, kind text, run_id text,"
    " entry bigint generated always as identity"
)
OURS = """(
    r.oid = (select oid from pg_roles where rolname = current_user)
    or r.rolsuper
    or not (select rolsuper from pg_roles where rolname = current_user)
        and pg_has_role(current_user, r.oid, 'usage')
)"""
"""Whether an owner `r` is trusted to name what is dropped: another role's record could name any
table, and a trigger on it would run with the rights of this role."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record that exists in the database."""

    table: Table
    owner: str
    trusted: bool
    """Whether its owner is trusted to name what this role drops."""
    readable: bool
    writable: bool

    @property
    def ours(self) -> bool:
        """Whether this role records its objects in it."""
        return self.trusted and self.readable and self.writable


def records(engine: PostgresEngine) -> list[Record]:
    """Every record of the database."""
    rows = engine.native(
        f"select n.nspname, c.relname, r.rolname, {OURS} and c.relkind = 'r',"
        " has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')"
        " and c.relkind = 'r',"
        " has_table_privilege(c.oid, 'insert') and has_table_privilege(c.oid, 'delete')"
        " from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        " join pg_roles r on r.oid = c.relowner"
        " where n.nspname = %s and c.relname = 'objects' or c.relname = %s order by 1",
        "record",
        (SCHEMA, BESIDE),
    )
    return [
        Record(Table(str(name), str(schema)), str(owner), *map(bool, may))
        for schema, name, owner, *may in rows
    ]


def may_make_schemas(engine: PostgresEngine) -> bool:
    """Whether the role may create schemas in the database."""
    text = "select has_database_privilege(current_database(), 'create')"
    return bool(engine.native(text, "record")[0][0])


def has_schema(engine: PostgresEngine, name: str) -> bool:
    """Whether the database has a schema of this name."""
    text = "select to_regnamespace(%s) is not null"
    return bool(engine.native(text, "record", (quote(name),))[0][0])


def shares(engine: PostgresEngine) -> bool:
    """Whether the role can use or create the record of the database."""
    for record in records(engine):
        if record.table == SHARED:
            return record.ours
    if not has_schema(engine, SCHEMA):
        return may_make_schemas(engine)
    text = "select has_schema_privilege(%s, 'create')"
    return bool(engine.native(text, "record", (SCHEMA,))[0][0])


def record_of(engine: PostgresEngine, schema: str) -> Table:
    """Return the record for objects of a schema, which need not exist yet.

    Raises TargetError if the schema has one that this role cannot trust, read or write.
    """
    table = SHARED if shares(engine) else Table(BESIDE, schema)
    for record in records(engine):
        if record.table == table and not record.ours:
            said = f"has the record {schema}.{BESIDE} of another role, {record.owner}"
            hint = "publish in another schema, or run as that role or one of its members"
            raise TargetError.at("publish.schema", said, hint=hint)
    return table


def create_record(engine: PostgresEngine, schema: str) -> Table:
    """Return the record for objects of a schema, and create it if it is missing.

    Raises TargetError as `record_of` does.
    """
    table = record_of(engine, schema)
    if table == SHARED and not has_schema(engine, SCHEMA):
        engine.native(f"create schema {quote(SCHEMA)}", "record")
        make_private(engine, "schema", quote(SCHEMA), "record")
    if not any(record.table == table for record in records(engine)):
        engine.native(f"create table {ident(table)} ({COLUMNS})", "record")
        make_private(engine, "table", ident(table).text, "record")
    return table


def entries(engine: PostgresEngine, *, trusted: bool = True) -> list[tuple[str, ...]]:
    """Release, schema, name, kind and run of every published object, oldest first.

    `trusted`: only from records whose owner is trusted. The record of a schema counts for objects
    of that schema only.
    """
    found = []
    for record in records(engine):
        if not record.readable or (trusted and not record.trusted):
            continue
        own = "true" if record.table == SHARED else "schema_name = %s"
        values = () if record.table == SHARED else (record.table.schema,)
        rows = engine.native(
            "select release, schema_name, object_name, kind, run_id"
            f" from {ident(record.table)} where kind not in ('scratch', '{GRANT}') and {own}"
            " order by entry",
            "record",
            values,
        )
        found += [tuple(map(str, row)) for row in rows]
    return found


def granted_roles(engine: PostgresEngine, release: str) -> set[str]:
    """The roles to which the last run of a release granted access to it."""
    return {
        str(role)
        for record in records(engine)
        if record.trusted and record.readable
        for (role,) in engine.native(
            f"select object_name from {ident(record.table)}"
            f" where kind = '{GRANT}' and release = %s",
            "record",
            (release,),
        )
    }


def enter(engine: PostgresEngine, record: Table, made: Iterable[tuple[str, ...]]) -> None:
    """Record objects that this transaction creates."""
    for item in made:
        engine.native(f"insert into {ident(record)} values (%s, %s, %s, %s, %s)", "record", item)


def forget(engine: PostgresEngine, release: str) -> None:
    """Remove the entries of a release that this transaction drops."""
    for record in records(engine):
        if record.ours:
            engine.native(
                f"delete from {ident(record.table)} where release = %s", "record", (release,)
            )
