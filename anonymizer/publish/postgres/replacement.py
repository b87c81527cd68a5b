"""Replace a Postgres table by its release, in one transaction.

What the table has besides its rows is kept where it says nothing of them. What depends on the table
(views, foreign keys, triggers, policies, partitions) would be lost or would show other rows, and is
a reason to refuse. The rest is dropped with the table, and named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from anonymizer.algorithms.core.compiled import STAGED
from anonymizer.compile import Table, ident, quote
from anonymizer.engines.base import Engine, Rows
from anonymizer.engines.postgres.connection import PostgresEngine
from anonymizer.engines.postgres.workplace import Attachments, create_record, enter
from anonymizer.errors import Problem, SourceError, TargetError
from anonymizer.publish.postgres.in_database import PostgresTarget, while_unused
from anonymizer.publish.postgres.objects import (
    COLUMNS,
    dependents,
    entry,
    object_entries,
    published_objects,
)
from anonymizer.publish.target import dropped_source, refuse_changed
from anonymizer.release.integrity import Sign, sealed_in
from anonymizer.release.manifest import Manifest

PATH = "publish.replace_source"
REPLACEMENT_WARNING = (
    "the source table is replaced: the server removes its file, and its write-ahead log, replicas,"
    " backups and the free space of the disk may hold old rows still"
)
NEXT = "_{name}_next"
"""Temporary name of the new table, which is renamed after the source is dropped."""
WAY_OUT = "publish a view: leave replace_source out"
KINDS = {
    "p": "a partitioned table, whose rows are in its partitions",
    "f": "a foreign table, whose rows are elsewhere",
    "v": "a view",
    "m": "a materialized view",
}
"""Relations that are no ordinary table, by `relkind`."""

FITNESS = """
    select c.relkind::text, pg_get_userbyid(c.relowner),
        -- who may drop it, and who may give the new one to its owner
        pg_has_role(c.relowner, 'usage') and pg_has_role(c.relowner,
            case when current_setting('server_version_num')::int < 160000
                then 'member' else 'set' end),
        pg_get_userbyid(c.relowner) = current_user
            or (select rolsuper from pg_roles where rolname = current_user)
            or has_schema_privilege(c.relowner, c.relnamespace, 'create'),
        case when not has_tablespace_privilege(c.reltablespace, 'create')
            then (select spcname from pg_tablespace where oid = c.reltablespace) end
    from pg_class c where c.oid = %s::regclass
"""

PROPERTIES = """
    select case c.relpersistence when 'u' then 'unlogged ' else '' end,
        concat(
            ' using ' || quote_ident(am.amname),
            ' with (' || (
                select string_agg(
                    prefix || quote_ident(option_name) || ' = ' || quote_literal(option_value), ', '
                ) from (
                    select '' as prefix, o.* from pg_options_to_table(c.reloptions) as o
                    union all
                    select 'toast.', o.* from pg_options_to_table(toast.reloptions) as o
                ) as options
            ) || ')',
            -- a role may have another default
            ' tablespace ' || quote_ident(space.spcname)
        ),
        case c.relreplident when 'f' then 'full' when 'n' then 'nothing' else 'default' end
    from pg_class c
    join pg_database d on d.datname = current_database()
    join pg_tablespace space on space.oid = coalesce(nullif(c.reltablespace, 0), d.dattablespace)
    left join pg_am am on am.oid = c.relam
    left join pg_class toast on toast.oid = c.reltoastrelid
    where c.oid = %s::regclass
"""
"""Properties with which the new table is created: its persistence, the rest; replica identity."""
REFERENCED = """
    select c.relname, n.nspname from pg_constraint
    join pg_class c on c.oid = confrelid join pg_namespace n on n.oid = c.relnamespace
    where contype = 'f' and conrelid = %s::regclass
"""
"""Tables that foreign keys of the table refer to, which are locked as well when it is dropped."""
TARGETS = """
    select attname, attstattarget from pg_attribute
    where attrelid = %s::regclass and attnum > 0 and not attisdropped and attstattarget >= 0
"""
"""Columns with statistics targets of their own."""

LOST = """
    with column_of as (
        select * from pg_attribute
        where attrelid = %(table)s::regclass and attnum > 0 and not attisdropped
    ), lost (kind, name, class, id, attname, statement) as (
        select 'indexes', indexrelid::regclass::text, 'pg_class'::regclass, indexrelid, null::name,
            pg_get_indexdef(indexrelid)
        from pg_index where indrelid = %(table)s::regclass
            and indexrelid not in (select conindid from pg_constraint where conrelid = indrelid)
        union all
        select 'constraints', conname, 'pg_constraint'::regclass, oid, null,
            format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', conrelid::regclass, conname,
                pg_get_constraintdef(oid))
        from pg_constraint where conrelid = %(table)s::regclass and contype <> 'n'
        union all
        select 'statistics', stxname, 'pg_statistic_ext'::regclass, oid, null,
            pg_get_statisticsobjdef(oid)
        from pg_statistic_ext where stxrelid = %(table)s::regclass
        union all
        select 'sequences', objid::regclass::text, null, null, null, null
        from pg_depend join pg_class c on c.oid = objid and c.relkind = 'S'
        where refobjid = %(table)s::regclass and refclassid = 'pg_class'::regclass
            and classid = 'pg_class'::regclass and deptype in ('a', 'i')
        union all
        select 'not null', attname, null, null, attname,
            format('ALTER TABLE %%s ALTER COLUMN %%I SET NOT NULL', attrelid::regclass, attname)
        from column_of where attnotnull and attnum not in (
            select unnest(conkey) from pg_constraint where conrelid = attrelid and contype = 'p')
        union all
        -- a sequence of the table is gone with it
        select case attgenerated when '' then 'defaults' else 'generated columns' end,
            attname, null, null, attname,
            case when attgenerated = '' and pg_get_expr(adbin, adrelid) not like 'nextval(%%' then
                format('ALTER TABLE %%s ALTER COLUMN %%I SET DEFAULT %%s', adrelid::regclass,
                    attname, pg_get_expr(adbin, adrelid)) end
        from pg_attrdef join column_of on attnum = adnum and attrelid = adrelid
        union all
        select 'identity columns', attname, null, null, attname, null
        from column_of where attidentity <> ''
        union all
        select 'storage settings', attname, null, null, attname, null
        from column_of join pg_type t on t.oid = atttypid
        where attstorage <> typstorage or attcompression <> '' or attoptions is not null
        union all
        select 'replica identity', 'of an index', null, null, null, null
        from pg_class where oid = %(table)s::regclass and relreplident = 'i'
        union all
        select distinct 'security labels', provider, null::regclass, null::oid, null::name, null
        from pg_seclabel
        where objoid = %(table)s::regclass and classoid = 'pg_class'::regclass
    )
    select kind, name, attname::text, statement, array(
        select a.attname::text from pg_depend d join column_of a on a.attnum = d.refobjsubid
        where d.classid = lost.class and d.objid = lost.id
            and d.refclassid = 'pg_class'::regclass and d.refobjid = a.attrelid
        union select lost.attname::text where lost.attname is not null
    )
    from lost order by 1, 2
"""
"""What is dropped with a table: its kind and name; the column of which it is a property; the
statement that makes it again, and the columns that this names."""


@dataclass(slots=True)
class ReplaceTarget(PostgresTarget):
    """A release that replaces its source table."""

    warnings: tuple[str, ...] = (REPLACEMENT_WARNING,)
    read_columns: Rows = field(default_factory=list)
    """The columns that the table had before it was read."""

    def check(self, engine: Engine) -> None:
        """Raise TargetError if the source is not a table that can be replaced."""
        assert isinstance(engine, PostgresEngine)
        self.replaces = (dropped_source(self.names.release, self._lost(engine)),)
        TargetError.refuse(self._obstacles(engine))
        self.read_columns = engine.native(COLUMNS, PATH, (self._table,))
        self.warnings = (REPLACEMENT_WARNING, *self._warnings_of(engine))

    def _tables(self) -> tuple[Table, ...]:
        # (the source table exists, and is to be replaced)
        names = self.names
        return (*names.published(None)[1:], names.manifest(None), self._next)

    @property
    def _next(self) -> Table:
        return Table(NEXT.format(name=self.names.name), self.names.schema)

    @property
    def _view(self) -> Table:
        return self.names.view(None)

    @property
    def _table(self) -> str:
        return ident(self._view).text

    def _obstacles(self, engine: PostgresEngine) -> list[Problem]:
        source = self.source
        if source is None or (source.schema, source.name) != (self.names.schema, self.names.name):
            schema, name = (
                ("public", self.names.name) if source is None else (source.schema, source.name)
            )
            said = "needs schema and name of the table as they are, which decide what is dropped"
            return [Problem(PATH, said, hint=f"source: {{table: {schema}.{name}}}")]
        return [*self._unfit(engine), *PostgresTarget._obstacles(self, engine)]

    def _unfit(self, engine: PostgresEngine) -> Iterator[Problem]:
        """Reasons why this role cannot replace the table, whatever the names of the rest."""
        kind, owner, ours, owner_makes, space = engine.native(FITNESS, PATH, (self._table,))[0]
        if kind != "r":
            said = f"needs an ordinary table, and this is {KINDS.get(kind, 'none')}"
            yield Problem(PATH, said, hint=f"{WAY_OUT}; or make a table of its rows")
            return
        if not ours:
            said = f"needs the rights of the table's owner, {owner}"
            yield Problem(PATH, said, hint="run as the owner, or grant that role to this one")
        if not owner_makes:
            said = f"leaves the table to its owner, {owner}, who may create nothing in its schema"
            grant = f"grant create on schema {quote(self.names.schema)} to {quote(str(owner))}"
            yield Problem(PATH, said, hint=grant)
        if space is not None:
            said = f"leaves the table in its tablespace, {space}, where this role may create none"
            yield Problem(PATH, said, hint=f"grant create on tablespace {quote(space)} to it")
        entries = object_entries(engine, trusted=False)
        if any((one.schema, one.name) == (self._view.schema, self._view.name) for one in entries):
            said = "the source is a release of this tool already"
            yield Problem(PATH, said, hint="nothing to do")
        elif found := dependents(engine, self._view, covered=True):
            said = f"something depends on the source table: {', '.join(found)}"
            hint = f"{WAY_OUT}; or remove it (detach a partition), and make it again later"
            yield Problem(PATH, said, hint=hint)

    def _properties(self, engine: PostgresEngine) -> list[tuple[Any, ...]]:
        """What is dropped with the table, without properties of columns that are not published."""
        if engine.native("select to_regclass(%s)", PATH, (self._table,))[0][0] is None:
            return []
        rows = engine.native(LOST, PATH, {"table": self._table})
        return [row for row in rows if row[2] is None or row[2] in self.columns]

    def _lost(self, engine: PostgresEngine) -> list[str]:
        """Describe what is dropped with the table, as in `indexes (by_age, by_zip)`."""
        names: dict[str, list[str]] = {}
        for kind, name, *_ in self._properties(engine):
            names.setdefault(kind, []).append(name)
        return [f"{kind} ({', '.join(found)})" for kind, found in names.items()]

    def _again(self, engine: PostgresEngine) -> list[str]:
        """Statements that make again what fits the new table: its columns kept name and type."""
        old, new = (
            {column[:3] for column in engine.native(COLUMNS, PATH, (name,))}
            for name in (self._table, ident(self._next).text)
        )
        same = {name for name, *_ in old & new if self.columns.get(name) == name}
        return [
            statement
            for *_, statement, columns in self._properties(engine)
            if statement is not None and columns and same.issuperset(columns)
        ]

    def _replace(self, engine: PostgresEngine, manifest: Manifest, sign: Sign | None) -> Manifest:
        self._lock(engine)
        TargetError.refuse(self._obstacles(engine))
        record = create_record(engine, self.names.schema)
        # everything is written and digested while others use the table
        self._write_next(engine)
        for name, rows in self.staged.items():
            self._freeze(engine, self.names.separate(name, None), rows)
        written = replace(self.names, name=self._next.name)
        new, *further = published_objects(engine, written, replaced=True)
        found = (replace(new, name=self.names.name), *further)
        manifest = sealed_in(manifest, self.names, found, alone=False, sign=sign)
        self._write_manifest(engine, manifest)
        # nobody writes while the table is compared, and nobody reads while it is swapped
        assert self.snapshot is not None
        lock = f"lock table {self._table} in share row exclusive mode"
        while_unused(engine, [self._view], PATH, lambda: engine.native(lock, PATH))
        if engine.native(COLUMNS, PATH, (self._table,)) != self.read_columns:
            said = "got other columns while the run was at work, and they would be lost"
            raise SourceError.at("source", said, hint="run again while nobody changes the table")
        refuse_changed(engine, self.snapshot)
        referenced = engine.native(REFERENCED, PATH, (self._table,))
        locked = [self._view, *(Table(name, schema) for name, schema in referenced)]
        while_unused(engine, locked, PATH, lambda: self._exchange(engine, record))
        return manifest

    def _write_next(self, engine: PostgresEngine) -> None:
        """Write the new table, with the settings of the old one, and with statistics."""
        persistence, settings, identity = engine.native(PROPERTIES, PATH, (self._table,))[0]
        self._freeze(engine, self._next, STAGED, persistence, settings)
        table = ident(self._next).text
        engine.native(f"alter table {table} replica identity {identity}", PATH)
        published = {name for name, _ in engine.describe(table, PATH)}
        targets = engine.native(TARGETS, PATH, (self._table,))
        for name, target in ((self.columns.get(column), target) for column, target in targets):
            if name in published:
                text = f"alter table {table} alter column {quote(name)} set statistics {target}"
                engine.native(text, PATH)
        if targets:
            engine.native(f"analyze {table}", PATH)

    def _exchange(self, engine: PostgresEngine, record: Table) -> None:
        """Put the new table in the place of the old one."""
        engine.native(f"lock table {self._table} in access exclusive mode", PATH)
        TargetError.refuse(self._unfit(engine))
        owner = str(engine.native(FITNESS, PATH, (self._table,))[0][1])
        given = Attachments.on(engine, self._view, PATH).renamed(self.columns)
        again = self._again(engine)
        engine.native(f"drop table {self._table}", PATH)
        engine.native(f"alter table {ident(self._next)} rename to {ident(self.names.name)}", PATH)
        given.give(engine, self._view, PATH)
        engine.native(f"alter table {self._table} owner to {ident(owner)}", PATH)
        self._grant(engine)
        made = [item for item in self.names.entries() if item.kind != "rows"]
        enter(engine, record, map(entry, made))
        if again:
            said = "what the old table had and fits the columns of the release can be made again"
            self.warnings += (f"{said}: {'; '.join(again)}",)
