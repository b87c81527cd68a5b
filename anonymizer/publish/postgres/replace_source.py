"""Replacing the source table by its release on Postgres, in one transaction.

Its owner and its grants are kept. A table with other dependents (views, foreign keys, triggers,
policies, partitions) is refused: they would be lost, or would show other rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from anonymizer.algorithms.core.compiled import STAGED
from anonymizer.compile import Table, ident
from anonymizer.engines.base import Engine
from anonymizer.engines.postgres.connection import PostgresEngine
from anonymizer.engines.postgres.workplace import Given, create_record, enter
from anonymizer.errors import Problem, TargetError
from anonymizer.publish.postgres.in_database import PostgresTarget, while_unused
from anonymizer.publish.postgres.objects import (
    column_grants,
    entry,
    hanging,
    lost,
    published_objects,
    recorded,
)
from anonymizer.publish.target import dropped_source, refuse_changed
from anonymizer.release.manifest import Manifest
from anonymizer.release.seal import Sign, manifest_object, sealed

WHERE = "publish.replace_source"
WARNING = (
    "the source table is replaced: the server removes its file, and its write-ahead log, replicas,"
    " backups and the free space of the disk may hold old rows still"
)
NEXT = "_{name}_next"
"""Temporary name of the new table, which is renamed after the source is dropped."""


@dataclass(slots=True)
class ReplaceTarget(PostgresTarget):
    """A release that replaces its source table."""

    warnings: tuple[str, ...] = (WARNING,)

    def check(self, engine: Engine) -> None:
        """Raise TargetError if the source is not a table that can be replaced."""
        assert isinstance(engine, PostgresEngine)
        self.replaces = (dropped_source(self.names.release, lost(engine, self.names.view(None))),)
        TargetError.refuse(self._unfit(engine) or self._obstacles(engine))
        self.warnings = (WARNING, *self.warnings)

    def _tables(self) -> tuple[Table, ...]:
        # (the source table exists, and is to be replaced)
        names = self.names
        return (*names.published(None)[1:], names.manifest(None), self._next)

    @property
    def _next(self) -> Table:
        return Table(NEXT.format(name=self.names.name), self.names.schema)

    @property
    def _table(self) -> str:
        return ident(self.names.view(None)).text

    def _unfit(self, engine: PostgresEngine) -> list[Problem]:
        source = self.source
        if source is None or (source.schema, source.name) != (self.names.schema, self.names.name):
            schema, name = (
                ("public", self.names.name) if source is None else (source.schema, source.name)
            )
            said = "needs schema and name of the table as they are, which decide what is dropped"
            return [Problem(WHERE, said, hint=f"source: {{table: {schema}.{name}}}")]
        kind, ours = engine.native(
            "select relkind::text, pg_has_role(current_user, relowner, 'usage')"
            " from pg_class where oid = %s::regclass",
            WHERE,
            (self._table,),
        )[0]
        if kind != "r":
            said = "needs an ordinary table: no view, no foreign or partitioned table"
            return [Problem(WHERE, said, hint="publish a view: leave replace_source out")]
        if not ours:
            said = "needs the rights of the table's owner"
            return [Problem(WHERE, said, hint="run as the owner")]
        if any(o.schema == source.schema and o.name == source.name for o in recorded(engine)):
            said = "the source is a release of this tool already"
            return [Problem(WHERE, said, hint="nothing to do")]
        view = self.names.view(None)
        found = [*hanging(engine, view), *column_grants(engine, view)]
        if found:
            said = f"something depends on the source table: {', '.join(found)}"
            hint = "remove it, and make it again on the release; or publish a view"
            return [Problem(WHERE, said, hint=hint)]
        return []

    def _replace(self, engine: PostgresEngine, manifest: Manifest, sign: Sign | None) -> Manifest:
        assert self.snapshot is not None
        self._lock(engine)
        lock = f"lock table {self._table} in access exclusive mode"
        while_unused(engine, [self.names.view(None)], WHERE, lambda: engine.native(lock, WHERE))
        refuse_changed(engine, self.snapshot)
        TargetError.refuse(self._unfit(engine))
        record = create_record(engine, self.names.schema)
        owner = self._owner(engine)
        given = replace(Given.on(engine, self.names.view(None), WHERE), comments=())
        self._freeze(engine, self._next, STAGED)
        engine.native(f"drop table {self._table}", WHERE)
        engine.native(f"alter table {ident(self._next)} rename to {ident(self.names.name)}", WHERE)
        for name, rows in self.staged.items():
            self._freeze(engine, self.names.separate(name, None), rows)
        given.give(engine, self.names.view(None), WHERE)
        engine.native(f"alter table {self._table} owner to {ident(owner)}", WHERE)
        kept = manifest_object(self.names, None, signed=sign is not None)
        found = published_objects(engine, self.names, replaced=True)
        manifest = sealed(manifest, (*found, kept), alone=False, sign=sign)
        self._write_manifest(engine, manifest, kept)
        self._grant(engine)
        made = [item for item in self.names.recorded() if item.kind != "rows"]
        enter(engine, record, map(entry, made))
        return manifest

    def _owner(self, engine: PostgresEngine) -> str:
        return str(
            engine.native(
                "select pg_get_userbyid(relowner) from pg_class where oid = %s::regclass",
                WHERE,
                (self._table,),
            )[0][0]
        )
