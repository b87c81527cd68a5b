"""The place of a run's work tables, and the record of objects that the tool created."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

from anonymizer.compile import Table, ident, quote
from anonymizer.engines.base import Limits
from anonymizer.engines.postgres.connection import TEMPORARY, PostgresEngine
from anonymizer.engines.postgres.session import postgres_engine
from anonymizer.errors import EngineError, TargetError

# Comments and grants: those of default privileges go, those that somebody gave are kept.


Kind: TypeAlias = Literal["table", "view"]
ACL = {
    "table": "select relacl, relowner from pg_class where oid = to_regclass(%s)",
    "schema": "select nspacl, nspowner from pg_namespace where oid = to_regnamespace(%s)",
}
GRANTS = """
    select a.attname, given.privilege_type,
        case when given.grantee <> 0 then pg_get_userbyid(given.grantee) end, given.is_grantable
    from pg_class c
    cross join lateral (
        select null::name as attname, c.relacl as acl
        union all
        select attname, attacl from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped
    ) as a
    cross join lateral aclexplode(a.acl) as given
    where c.oid = to_regclass(%s) and given.grantee <> c.relowner
    order by 1, 3, 2
"""
COMMENTS = """
    select a.attname, quote_literal(d.description)
    from pg_description d
    left join pg_attribute a on d.objsubid > 0 and a.attrelid = d.objoid and a.attnum = d.objsubid
    where d.objoid = to_regclass(%s) and d.classoid = 'pg_class'::regclass
    order by 1
"""


def make_private(
    engine: PostgresEngine, kind: Literal["table", "schema"], name: str, where: str
) -> None:
    """Revoke what `alter default privileges` has granted on a new table or schema."""
    rows = engine.native(
        "select distinct case when a.grantee <> 0 then pg_get_userbyid(a.grantee) end"
        f" from ({ACL[kind]}) as made (acl, owner), aclexplode(made.acl) as a"
        " where a.grantee <> made.owner",
        where,
        (name,),
    )
    for (role,) in rows:
        engine.native(f"revoke all on {kind} {name} from {_whom(role)} cascade", where)


def _whom(role: object) -> str:
    return "public" if role is None else quote(str(role))


@dataclass(frozen=True, slots=True)
class Attachments:
    """Grants and comments on a table or view, which are lost when it is dropped."""

    grants: tuple[tuple[str | None, str, str | None, bool], ...]
    """Column (None: the whole), privilege, role (None: public), and whether it may be passed on."""
    comments: tuple[tuple[str | None, str], ...]
    """Column (None: the whole), and the text as a literal."""

    @classmethod
    def on(cls, engine: PostgresEngine, table: Table, where: str) -> Attachments:
        """The grants and comments on a table or view; none if it does not exist."""
        name = (ident(table).text,)
        grants = engine.native(GRANTS, where, name)
        return cls(tuple(grants), tuple(engine.native(COMMENTS, where, name)))

    @property
    def roles(self) -> tuple[str, ...]:
        """Every role that has a grant on it."""
        return tuple(dict.fromkeys(role or "public" for _, _, role, _ in self.grants))

    def without(self, roles: Collection[str]) -> Attachments:
        """The same without SELECT on the whole for these roles."""
        kept = (g for g in self.grants if g[:2] != (None, "SELECT") or g[2] not in roles)
        return Attachments(tuple(kept), self.comments)

    def renamed(self, names: Mapping[str, str]) -> Attachments:
        """The same under the new names of columns, without columns that have none."""
        new: dict[str | None, str | None] = {None: None}
        new.update(names)
        grants = ((new[g[0]], *g[1:]) for g in self.grants if g[0] in new)
        comments = ((new[column], text) for column, text in self.comments if column in new)
        return Attachments(tuple(grants), tuple(comments))

    def give(
        self,
        engine: PostgresEngine,
        table: Table,
        where: str,
        kind: Kind = "table",
    ) -> None:
        """Put the grants and comments on a new table or view, as far as it has the columns."""
        name = ident(table).text
        columns = {None, *(column for column, _ in engine.describe(name, where))}
        for column, privilege, role, passes in self.grants:
            if column in columns:
                part = "" if column is None else f" ({quote(column)})"
                option = " with grant option" if passes else ""
                engine.native(f"grant {privilege}{part} on {name} to {_whom(role)}{option}", where)
        for column, text in self.comments:
            if column in columns:
                what = f"{kind} {name}" if column is None else f"column {name}.{quote(column)}"
                engine.native(f"comment on {what} is {text}", where)


# The record of the objects that the tool created in a database; no others are dropped or replaced.
#
# It is the table `_anonymizer.objects`. A role that may not create or use it records what it
# publishes in a table of the schema in which it publishes.


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
"""True if an owner `r` is trusted to name what is dropped: another role's record could name any
table, and a trigger on it would run with the rights of this role."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record that exists in the database."""

    table: Table
    owner: str
    trusted: bool
    """True if its owner is trusted to name what this role drops."""
    readable: bool
    writable: bool

    @property
    def ours(self) -> bool:
        """True if this role records its objects in it."""
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
    """Return whether the role may create schemas in the database."""
    text = "select has_database_privilege(current_database(), 'create')"
    return bool(engine.native(text, "record")[0][0])


def has_schema(engine: PostgresEngine, name: str) -> bool:
    """Return whether the database has a schema of this name."""
    text = "select to_regnamespace(%s) is not null"
    return bool(engine.native(text, "record", (quote(name),))[0][0])


def shares(engine: PostgresEngine) -> bool:
    """Return whether the role can use or create the record of the database."""
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
        # where a publication is for all tables, nothing could be deleted without
        engine.native(f"alter table {ident(table)} replica identity full", "record")
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


# The place of a run's work tables: a separate schema, or the session's temporary tables.
#
# A schema is recorded when it is created and dropped at the end; the next run drops the schemas of
# dead runs.


RUNS = "anonymizer_run_"
"""Prefix of the schemas of runs, before the run's id."""
WHERE = "work tables"


@contextmanager
def work_tables(engine: PostgresEngine, run_id: str) -> Iterator[None]:
    """Provide a place for the run's work tables, which are dropped afterwards.

    Temporary tables need no right to create schemas, but parallel workers cannot read them. The run
    counts as alive while it holds a session lock, which is released however the session ends.
    """
    place = (
        _schema(engine, run_id) if may_make_schemas(engine) and shares(engine) else _session(engine)
    )
    name = (f"{RUNS}{run_id}",)
    engine.native("select pg_advisory_lock(hashtextextended(%s, 0))", "engine", name)
    try:
        with place:
            yield
    finally:
        if not engine.connection.closed:
            with suppress(EngineError):
                engine.native("select pg_advisory_unlock(hashtextextended(%s, 0))", "engine", name)


def is_over(engine: PostgresEngine, run_id: str) -> bool:
    """Return whether the run has no session left on the server."""
    name = (f"{RUNS}{run_id}",)
    text = "select pg_try_advisory_lock(hashtextextended(%s, 0))"
    if not engine.native(text, "engine", name)[0][0]:
        return False
    engine.native("select pg_advisory_unlock(hashtextextended(%s, 0))", "engine", name)
    return True


@contextmanager
def _session(engine: PostgresEngine) -> Iterator[None]:
    """Use temporary tables of the session. Raises EngineError if it already has some."""
    may, taken = engine.native(
        "select has_database_privilege(current_database(), 'temporary'),"
        " exists (select from pg_class where relnamespace = pg_my_temp_schema())",
        WHERE,
    )[0]
    if not may:
        said = "needs a role that may create schemas in the database, or temporary tables"
        hint = "grant create on database … to …, or grant temporary on database … to …"
        raise EngineError.at("--database", said, hint=hint)
    if taken:
        said = "has temporary tables, among which a run of this role would make its own"
        hint = "drop them, give an address, or grant the role create on the database"
        raise EngineError.at("connection", said, hint=hint)
    with _work_schema(engine, TEMPORARY, lambda: engine.native("discard temporary", WHERE)):
        yield


@contextmanager
def _schema(engine: PostgresEngine, run_id: str) -> Iterator[None]:
    """Create and record a schema for the run's work tables, and drop it at the end."""
    name = f"{RUNS}{run_id}"
    with engine.transaction(WHERE):
        record = create_record(engine, name)
        engine.native(f"create schema {quote(name)}", WHERE)
        make_private(engine, "schema", quote(name), WHERE)
        enter(engine, record, [("", name, name, "scratch", run_id)])
    with _work_schema(engine, name, lambda: _drop_schema(engine, name)):
        yield


@contextmanager
def _work_schema(engine: PostgresEngine, place: str, drop: Callable[[], object]) -> Iterator[None]:
    """Make work tables in `place`, and drop them at the end, however the run ends."""
    engine.place = place
    try:
        yield
    finally:
        engine.place = None
        if not engine.connection.closed:
            with suppress(EngineError):
                engine.native("rollback", WHERE)
            with suppress(EngineError):
                drop()


def _drop_schema(engine: PostgresEngine, name: str) -> None:
    """Drop the schema of a run and its entry in the record."""
    with engine.transaction(WHERE):
        engine.native(f"drop schema if exists {quote(name)} cascade", WHERE)
        engine.native(
            f"delete from {ident(SHARED)} where kind = 'scratch' and schema_name = %s",
            WHERE,
            (name,),
        )


def clean_database(address: str) -> tuple[str, ...]:
    """Drop the schemas of dead runs in a database, and return their names."""
    with postgres_engine(address, Limits()) as engine:
        return remove_dead_runs(engine)


def remove_dead_runs(engine: PostgresEngine) -> tuple[str, ...]:
    """Drop the schemas of dead runs (recorded, lock not held), and return their names."""
    if not any(record.table == SHARED and record.ours for record in records(engine)):
        return ()
    rows = engine.native(
        f"select schema_name from {ident(SHARED)} where kind = 'scratch'"
        " and starts_with(schema_name, %s)",
        "clean",
        (RUNS,),
    )
    removed = []
    for (name,) in rows:
        taken = engine.native(
            "select pg_try_advisory_lock(hashtextextended(%s, 0))", "clean", (name,)
        )
        if not taken[0][0]:
            continue
        try:
            _drop_schema(engine, str(name))
            removed.append(str(name))
        finally:
            engine.native("select pg_advisory_unlock(hashtextextended(%s, 0))", "clean", (name,))
    return tuple(removed)
