"""Publish in the Postgres database of the source, and open what was published there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from anonymizer.algorithms.core.compiled import STAGED
from anonymizer.compile import Table, ident, quote
from anonymizer.engines.base import Engine
from anonymizer.engines.postgres import LONGEST
from anonymizer.engines.postgres.connection import PostgresEngine, named_in
from anonymizer.engines.postgres.dialect import is_long
from anonymizer.engines.postgres.workplace import (
    GRANT,
    Attachments,
    Kind,
    create_record,
    enter,
    forget,
    granted_roles,
    has_schema,
    make_private,
    may_make_schemas,
    record_of,
)
from anonymizer.engines.session import Session
from anonymizer.errors import EngineError, Problem, TargetError
from anonymizer.policy import Policy
from anonymizer.policy.fields import names_kept
from anonymizer.process.interrupts import decide
from anonymizer.publish.postgres.objects import (
    COLUMNS,
    dependents,
    entry,
    object_entries,
    published_objects,
)
from anonymizer.publish.target import (
    Readers,
    StagedTarget,
    clashes_with_releases,
    replaced_release,
)
from anonymizer.release.integrity import Sign, manifest_object, projection, sealed_in
from anonymizer.release.manifest import Manifest
from anonymizer.release.objects import Names, ObjectEntry

if TYPE_CHECKING:
    import pandas as pd


# Waits for readers of what is replaced: again and again for a moment, so that nobody who comes
# later has to wait behind the run.


T = TypeVar("T")
MOMENT = "2s"
"""Time that an attempt waits for locks. New readers wait as long; the server needs one second to
find that an automatic vacuum is in the way, which it then cancels."""
ATTEMPTS = 20
PAUSE = 1.0
"""Seconds between two attempts."""
IN_THE_WAY = ("55P03", "40P01")
"""SQLSTATEs of a lock that was not given in time, and of a deadlock."""
HOLDERS = """
    select distinct pid from pg_locks
    where granted and pid is distinct from pg_backend_pid() and locktype = 'relation'
        and database = (select oid from pg_database where datname = current_database())
        and relation in (select to_regclass(name) from unnest(%s::text[]) as names (name))
    order by pid
"""


def while_unused(
    engine: PostgresEngine, tables: Sequence[Table], path: str, swap: Callable[[], T]
) -> T:
    """Run the part of a transaction that locks `tables`; attempts that wait too long are undone.

    A `lock_timeout` of the role's own is waited for once instead. Raises TargetError if the tables
    are still in use.
    """
    own = engine.native("select current_setting('lock_timeout')", path)[0][0]
    for attempt in range(ATTEMPTS if own == "0" else 1):
        if attempt:
            time.sleep(PAUSE)
        engine.native("savepoint swap", path)
        if own == "0":
            engine.native(f"set local lock_timeout = '{MOMENT}'", path)
        try:
            done = swap()
            engine.native("select set_config('lock_timeout', %s, true)", path, (own,))
            return done
        except EngineError as error:
            if getattr(error.__cause__, "sqlstate", None) not in IN_THE_WAY:
                raise
        engine.native("rollback to savepoint swap", path)
    raise _in_use(engine, tables, path)


def _in_use(engine: PostgresEngine, tables: Sequence[Table], path: str) -> TargetError:
    names = [ident(table).text for table in tables]
    found = [pid for (pid,) in engine.native(HOLDERS, path, (names,))]
    pids = ", ".join("prepared" if pid is None else str(pid) for pid in found)
    who = f"{len(found)} open transactions (pid {pids})" if found else "another transaction"
    said = f"is in use by {who}: it stays as it was"
    hint = "run again when they are over (pg_stat_activity lists them), or let the role wait"
    return TargetError.at(path, said, hint=f"{hint}: alter role … set lock_timeout = '10min'")


# What prevents a release in a Postgres database, found before anything is read.


PRESENT = """
    select name, pg_get_userbyid(owner), pg_has_role(owner, 'usage') from (
        select relname, relowner from pg_class where relnamespace = to_regnamespace(%(schema)s)
        union
        select typname, typowner from pg_type
        where typnamespace = to_regnamespace(%(schema)s) and typcategory <> 'A'
    ) as present (name, owner)
"""
"""Every name that no new table or view of a schema can have, its owner, and if this role is it."""
OBSTACLES_GRANT = "publish.grant_select"


def unfit_names(engine: PostgresEngine, names: Names, tables: Sequence[Table]) -> list[Problem]:
    """Names that are too long, and those that something of the schema has already."""
    made = [("publish.schema", names.schema), *(("publish.name", t.name) for t in tables)]
    long = [
        Problem(
            path,
            f"makes the name {name}, and Postgres cuts names off",
            allowed=f"{LONGEST} bytes",
        )
        for path, name in made
        if is_long(name)
    ]
    recorded, ours = (
        {(item.schema, item.name) for item in object_entries(engine, trusted=trusted)}
        for trusted in (False, True)
    )
    present = engine.native(PRESENT, "publish", {"schema": ident(names.schema).text})
    owners = {str(name): (owner, own) for name, owner, own in present}
    taken = []
    for table in tables:
        if table.name not in owners or (table.schema, table.name) in ours:
            continue
        (owner, own), said = owners[table.name], "exists and was not published by this tool"
        if (table.schema, table.name) in recorded:
            said = f"is in a release that the role {owner} made"
        elif not own:
            said = f"exists, belongs to the role {owner}, and was not published by this one"
        hint = "choose another publish.name or publish.schema"
        taken.append(Problem("publish.name", f"{names.schema}.{table.name} {said}", hint=hint))
    return long + taken


def forbidden(engine: PostgresEngine, schema: str) -> list[Problem]:
    """The problem if the role may not create objects in the schema, or not record them."""
    if schema.startswith("pg_"):
        return [Problem("publish.schema", "is a name that Postgres keeps for itself")]
    ((role,),) = engine.native("select quote_ident(current_user)", "publish")
    if has_schema(engine, schema):
        text = "select has_schema_privilege(%s, 'usage'), has_schema_privilege(%s, 'create')"
        may = engine.native(text, "publish", (schema, schema))[0]
        lacking = [right for right, has in zip(("usage", "create"), may, strict=True) if not has]
        hint = f"grant {', '.join(lacking)} on schema {ident(schema)} to {role}"
    else:
        lacking = [] if may_make_schemas(engine) else ["create"]
        hint = f"create schema {ident(schema)} authorization {role}"
    if lacking:
        said = f"lets this role create nothing in {schema}"
        return [Problem("publish.schema", said, hint=hint)]
    try:
        record_of(engine, schema)
    except TargetError as error:
        return list(error.problems)
    return []


def irreplaceable(engine: PostgresEngine, names: Names) -> list[Problem]:
    """Reasons why this role cannot replace the objects of the old release."""
    problems = []
    for item in object_entries(engine):
        if item.release != names.release:
            continue
        made = "view" if item.kind == "view" else "table"
        rows = engine.native(
            "select case relkind when 'v' then 'view' when 'r' then 'table' end,"
            " pg_has_role(current_user, relowner, 'usage'), pg_get_userbyid(relowner)"
            " from pg_class where oid = to_regclass(%s)",
            "publish",
            (ident(Table(item.name, item.schema)).text,),
        )
        for kind, ours, owner in rows:
            if kind != made:
                said = f"{item.name} was published as a {made}, and is another object now"
                problems.append(Problem(names.path, said, hint=names.other))
            elif not ours:
                said = f"{item.name}, which is to be replaced, belongs to the role {owner}"
                hint = f"run as that role or one of its members, or {names.other}"
                problems.append(Problem(names.path, said, hint=hint))
            elif item.kind != "view":  # which may stay
                problems += hanging_on(engine, names, item)
    return problems


def hanging_on(engine: PostgresEngine, names: Names, item: ObjectEntry) -> list[Problem]:
    """The problem if something besides the view depends on an object that is dropped."""
    own = "select 'the view ' || to_regclass(%s)::text"
    ((view,),) = engine.native(own, "publish", (ident(names.view(None)).text,))
    table = Table(item.name, item.schema)
    found = [one for one in dependents(engine, table, covered=False) if one != view]
    said = f"{item.name} is replaced, and on it hangs {', '.join(found)}"
    hint = "remove it, and make it again on the new release; or another publish.name"
    return [Problem(names.path, said, hint=hint)] if found else []


def unreadable(engine: PostgresEngine, schema: str, roles: Sequence[str]) -> list[Problem]:
    """Reasons why roles cannot read a release in the schema, although they are granted it."""
    problems = []
    for role in roles:
        if not _is_role(engine, role):
            said = f"{role} is not a role of this server"
            hint = "create it first, or mend its name (case counts)"
            problems.append(Problem(OBSTACLES_GRANT, said, hint=hint))
            continue
        # to the server, a grant without the right to it is no error, but a warning
        closed = engine.native(
            "select pg_get_userbyid(nspowner) from pg_namespace where nspname = %s"
            " and not has_schema_privilege(%s, oid, 'usage')"
            " and not has_schema_privilege(oid, 'usage with grant option')",
            "publish",
            (schema, role),
        )
        for (owner,) in closed:
            said = f"{role} may not use the schema {schema}, and this role cannot let it"
            grant = f"grant usage on schema {ident(schema)} to {ident(role)}"
            hint = f"{grant}, as its owner {owner}; or choose another publish.schema"
            problems.append(Problem(OBSTACLES_GRANT, said, hint=hint))
    return problems


def role_warnings(
    engine: PostgresEngine, role: str, raw: Sequence[Table], source: Table | None
) -> list[str]:
    """A warning for each table with what is anonymized (`raw`) of which a role reads a column."""
    if not _is_role(engine, role):
        return []
    found = []
    connects = "select has_database_privilege(%s, current_database(), 'connect')"
    if not engine.native(connects, "publish", (role,))[0][0]:
        found.append(
            f"the role {role} may not connect to this database: grant connect on database … to it,"
            " or it cannot read the release"
        )
    may = "select has_any_column_privilege(%s, to_regclass(%s)::oid, 'select')"
    for table in raw:
        name = ident(Table(table.name, table.schema)).text
        if engine.native(may, "publish", (role, name))[0][0]:
            which = "" if table == source else f" {table.schema}.{table.name}"
            found.append(
                f"the role {role} can read the source table{which} as well: revoke that, or the"
                " release protects nothing from it"
            )
    return found


FAR = """
    with recursive read as (
        select to_regclass(name)::oid as oid from unnest(%s::text[]) as names (name)
        union
        select inhrelid from pg_inherits join read on inhparent = oid
    )
    select ftrelid::regclass::text from read
    join pg_foreign_table on ftrelid = oid
    join pg_foreign_server s on s.oid = ftserver
    join pg_foreign_data_wrapper w on w.oid = s.srvfdw and w.fdwname = 'postgres_fdw'
    order by 1
"""
"""Foreign tables of other Postgres servers that are read with tables, as they or as parts of them.
"""
REMOTE = (
    "the foreign table {name} is read as the role of its user mapping: if row security hides rows"
    " from that role on the other server, the release is of the others"
)


def _is_role(engine: PostgresEngine, name: str) -> bool:
    return bool(engine.native("select 1 from pg_roles where rolname = %s", "publish", (name,)))


# Publishing in the Postgres database of the source: tables, view and grants in one transaction.
#
# In Postgres a view is a security boundary: its readers need no access to the tables behind it.


@dataclass(slots=True)
class PostgresTarget(StagedTarget):
    """A view over frozen tables in a schema of the source's database."""

    names: Names
    grantees: tuple[str, ...]
    source: Table | None
    raw: tuple[Table, ...]
    """The tables that hold what is anonymized."""
    read: Callable[[str], pd.DataFrame]
    """Runs a query of the release on a connection to the database."""
    columns: Mapping[str, str]
    """The names under which columns of the source are published."""

    @classmethod
    def of(cls, policy: Policy, session: Session, names: Names) -> PostgresTarget:
        engine = session.engine
        assert isinstance(engine, PostgresEngine)
        source, query = session.source.table, policy.source.query
        raw = named_in(engine, query) if query is not None else (source,) if source else ()
        if policy.publish.replace_source:
            raw = ()  # it is gone when somebody reads the release
        return cls(names, policy.publish.grantees, source, raw, engine.reader(), names_kept(policy))

    @property
    def readers(self) -> Readers:
        return Readers(self.names.view(None), frame=self.frame)

    def check(self, engine: Engine) -> None:
        """Raise TargetError for names that are taken or too long, and for missing roles."""
        assert isinstance(engine, PostgresEngine)
        self.replaces = replaced_release(self.names, object_entries(engine), "the database")
        self.warnings = self._warnings_of(engine)
        TargetError.refuse(self._obstacles(engine))

    def _warnings_of(self, engine: PostgresEngine) -> tuple[str, ...]:
        names = [ident(Table(table.name, table.schema)).text for table in self.raw]
        return (
            *(REMOTE.format(name=name) for (name,) in engine.native(FAR, "publish", (names,))),
            *(
                said
                for role in self.grantees
                for said in role_warnings(engine, role, self.raw, self.source)
            ),
        )

    def _obstacles(self, engine: PostgresEngine) -> list[Problem]:
        """Everything that prevents creating these objects, or granting access to these roles."""
        return [
            *clashes_with_releases(self.names, object_entries(engine), folds=False),
            *unfit_names(engine, self.names, self._tables()),
            *forbidden(engine, self.names.schema),
            *irreplaceable(engine, self.names),
            *unreadable(engine, self.names.schema, self.grantees),
        ]

    def _old(self, engine: PostgresEngine) -> list[ObjectEntry]:
        """The objects of the release that is replaced."""
        return [item for item in object_entries(engine) if item.release == self.names.release]

    def _tables(self) -> tuple[Table, ...]:
        names = self.names
        return (*names.published(None), names.manifest(None), *names.frozen.values())

    def publish(self, engine: Engine, manifest: Manifest, sign: Sign | None = None) -> Manifest:
        """Freeze the staged rows and replace the old release, in one transaction."""
        assert isinstance(engine, PostgresEngine)
        committing = False
        try:
            with engine.transaction("publish"):
                manifest = self._replace(engine, manifest, sign)
                decide()
                committing = True
        except EngineError as error:
            if committing and engine.connection.closed:
                error.reword(self._undecided)
            raise
        self.is_published = True
        return manifest

    def _undecided(self, problem: Problem) -> Problem:
        """The problem of a commit that the server may have made, without being able to say so."""
        said = f"{problem.message} during the commit: the old release stands whole, or the new one"
        there = f"{self.names.schema}.{self.names.manifest(None).name}"
        hint = f"look for run {self.names.run_id} in {there}, and run again if it is not there"
        return replace(problem, message=said, hint=hint)

    def _replace(self, engine: PostgresEngine, manifest: Manifest, sign: Sign | None) -> Manifest:
        names = self.names
        self._lock(engine)
        TargetError.refuse(self._obstacles(engine))
        if not has_schema(engine, names.schema):
            engine.native(f"create schema {ident(names.schema)}", "publish")
        record = create_record(engine, names.schema)
        # all rows are written and digested before anything is locked that readers use
        frozen = names.frozen
        self._freeze(engine, names.rows(None), STAGED)
        for name, rows in self.staged.items():
            self._freeze(engine, frozen[name], rows)
        found = published_objects(engine, names, frozen=frozen)
        manifest = sealed_in(manifest, names, found, alone=False, sign=sign)
        while_unused(
            engine,
            [Table(item.name, item.schema) for item in self._old(engine)],
            names.path,
            lambda: self._swap(engine, record, manifest),
        )
        return manifest

    def _swap(self, engine: PostgresEngine, record: Table, manifest: Manifest) -> None:
        """Put the new release in the place of the old one."""
        names, old = self.names, self._old(engine)
        kinds: dict[Table, Kind] = {names.view(None): "view", names.manifest(None): "table"}
        kinds |= {names.separate(name, None): "table" for name in names.tables}
        given = {table: Attachments.on(engine, table, "publish") for table in kinds} if old else {}
        withdrawn = granted_roles(engine, names.release) - {*self.grantees}
        self._show(engine, old)
        self._drop(engine, [item for item in old if item.kind != "view"])
        forget(engine, names.release)
        for name in names.tables:
            engine.native(
                f"alter table {ident(names.frozen[name])} rename to {quote(name)}", "publish"
            )
        self._write_manifest(engine, manifest)
        for table, found in given.items():
            make_private(engine, "table", ident(table).text, "publish")
            found.without(withdrawn).give(engine, table, "publish", kinds[table])
        self._grant(engine)
        roles = [(names.release, "", role, GRANT, names.run_id) for role in self.grantees]
        enter(engine, record, [*map(entry, names.entries()), *roles])

    def _show(self, engine: PostgresEngine, old: Sequence[ObjectEntry]) -> None:
        """Let the view read the new rows.

        The old one stays if its columns are the same, with all that depends on it.
        """
        names, view = self.names, self.names.view(None)
        there = any(item.kind == "view" for item in old)
        before, now = (
            engine.native(COLUMNS, "publish", (ident(table).text,))
            for table in (view, names.rows(None))
        )
        stays = there and before == now
        if not stays:
            self._drop(engine, [item for item in old if item.kind == "view"])
        columns = engine.describe(ident(names.rows(None)).text, "publish")
        engine.native(
            f"create {'or replace ' if stays else ''}view {ident(view)} with (security_barrier)"
            f" as {projection([name for name, _ in columns], names.rows(None))}",
            "publish",
        )
        if stays:
            # whose rights decide whether its readers see the rows, which are this role's
            engine.native(f"alter view {ident(view)} owner to current_user", "publish")

    def _drop(self, engine: PostgresEngine, old: Iterable[ObjectEntry]) -> None:
        """Drop objects. Raises TargetError if they have dependents."""
        for item in old:
            TargetError.refuse(hanging_on(engine, self.names, item))
            kind = "view" if item.kind == "view" else "table"
            engine.native(
                f"drop {kind} if exists {ident(Table(item.name, item.schema))}", "publish"
            )

    def _lock(self, engine: PostgresEngine) -> None:
        """Lock the name: one run at a time publishes under it."""
        lock = "select pg_advisory_xact_lock(hashtextextended(%s, 0))"
        engine.native(lock, "publish", (self.names.release,))
        # write the staged rows in their order, which was drawn at random
        engine.native("set local max_parallel_workers_per_gather = 0", "publish")
        # unlike work tables, those of a release last, and so do their statistics
        engine.native("set local default_statistics_target to default", "publish")

    def _freeze(
        self,
        engine: PostgresEngine,
        target: Table,
        rows: Table,
        persistence: str = "",
        settings: str = "",
    ) -> None:
        """Copy staged rows to a table of the release."""
        from anonymizer.engines.postgres.dialect import table_text

        origin = engine.with_schema(table_text(ident(rows).text))
        engine.native(
            f"create {persistence}table {ident(target)}{settings} as select * from {origin}",
            "publish",
        )
        make_private(engine, "table", ident(target).text, "publish")
        engine.native(f"analyze {ident(target)}", "publish")

    def _write_manifest(self, engine: PostgresEngine, manifest: Manifest) -> None:
        table = ident(self.names.manifest(None))
        columns = manifest_object(self.names, manifest).columns
        typed = ", ".join(f"{name} text" for name, _ in columns)
        values = (manifest.text(), manifest.signature)[: len(columns)]
        engine.native(f"create table {table} ({typed})", "publish")
        places = ", ".join(["%s"] * len(values))
        engine.native(f"insert into {table} values ({places})", "publish", values)

    def _grant(self, engine: PostgresEngine) -> None:
        names = self.names
        for role in self.grantees:
            has = "select has_schema_privilege(%s, %s, 'usage')"
            if not engine.native(has, "publish", (role, names.schema))[0][0]:
                usage = f"grant usage on schema {ident(names.schema)} to {ident(role)}"
                engine.native(usage, "publish")
            for table in names.published(None):
                engine.native(f"grant select on {ident(table)} to {ident(role)}", "publish")
            may = "has_schema_privilege(%s, %s, 'usage') and has_table_privilege(%s, %s, 'select')"
            asked = (role, names.schema, role, ident(names.view(None)).text)
            if not engine.native(f"select {may}", "publish", asked)[0][0]:
                said = f"{role} cannot read the release, though it was granted"
                raise TargetError.at("publish.grant_select", said, hint="see the role's grants")

    def frame(self) -> pd.DataFrame:
        return self.read(f"select * from {ident(self.names.view(None))}")
