"""Publishing in the Postgres database of the source: tables, view and grants in one transaction.

In Postgres a view is a security boundary: its readers need no access to the tables behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymizer.algorithms.compiled import STAGED
from anonymizer.compile import Table, ident
from anonymizer.engines.base import Engine
from anonymizer.engines.postgres.connection import PostgresEngine
from anonymizer.engines.postgres.grants import Given, Kind, make_private
from anonymizer.engines.postgres.names import named_in
from anonymizer.engines.postgres.record import (
    GRANT,
    create_record,
    enter,
    forget,
    granted_roles,
    has_schema,
)
from anonymizer.engines.session import Session
from anonymizer.errors import Problem, TargetError
from anonymizer.policy import Policy
from anonymizer.process.interrupts import decide
from anonymizer.publish.postgres import obstacles
from anonymizer.publish.postgres.hanging import same_columns
from anonymizer.publish.postgres.objects import entry, published_objects, recorded
from anonymizer.publish.postgres.waiting import while_unused
from anonymizer.publish.target import Readers, StagedTarget, clashes_with_releases, replaced_release
from anonymizer.release.manifest import Manifest
from anonymizer.release.names import Names
from anonymizer.release.objects import Recorded
from anonymizer.release.seal import SealedObject, Sign, manifest_object, sealed

if TYPE_CHECKING:
    import pandas as pd


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

    @classmethod
    def of(cls, policy: Policy, session: Session, names: Names) -> PostgresTarget:
        engine = session.engine
        assert isinstance(engine, PostgresEngine)
        source, query = session.source.table, policy.source.query
        raw = named_in(engine, query) if query is not None else (source,) if source else ()
        return cls(names, policy.publish.grantees, source, raw, engine.reader())

    @property
    def readers(self) -> Readers:
        return Readers(self.names.view(None), frame=self.frame)

    def check(self, engine: Engine) -> None:
        """Raise TargetError for names that are taken or too long, and for missing roles."""
        assert isinstance(engine, PostgresEngine)
        self.replaces = replaced_release(self.names, recorded(engine), "the database")
        clashes = clashes_with_releases(self.names, recorded(engine), folds=False)
        TargetError.refuse([*clashes, *self._obstacles(engine)])

    def _obstacles(self, engine: PostgresEngine) -> list[Problem]:
        """Everything that prevents creating these objects, or granting access to these roles."""
        self.warnings = tuple(
            said
            for role in self.grantees
            for said in obstacles.role_warnings(engine, role, self.raw, self.source)
        )
        return [
            *obstacles.unfit_names(engine, self.names, self._tables()),
            *obstacles.forbidden(engine, self.names.schema),
            *obstacles.irreplaceable(engine, self.names),
            *obstacles.unreadable(engine, self.names.schema, self.grantees),
        ]

    def _old(self, engine: PostgresEngine) -> list[Recorded]:
        """The objects of the release that is replaced."""
        return [item for item in recorded(engine) if item.release == self.names.release]

    def _tables(self) -> tuple[Table, ...]:
        names = self.names
        return (*names.published(None), names.manifest(None), names.rows(None))

    def publish(self, engine: Engine, manifest: Manifest, sign: Sign | None = None) -> Manifest:
        """Freeze the staged rows and replace the old release, in one transaction."""
        assert isinstance(engine, PostgresEngine)
        with engine.transaction("publish"):
            manifest = self._replace(engine, manifest, sign)
            decide()
        self.stands = True
        return manifest

    def _replace(self, engine: PostgresEngine, manifest: Manifest, sign: Sign | None) -> Manifest:
        names = self.names
        self._lock(engine)
        if not has_schema(engine, names.schema):
            engine.native(f"create schema {ident(names.schema)}", "publish")
        record = create_record(engine, names.schema)
        # all rows are written and digested before anything is locked that readers use
        # (no algorithm of this engine publishes further tables)
        self._freeze(engine, names.rows(None), STAGED)
        kept = manifest_object(names, None, signed=sign is not None)
        found = published_objects(engine, names, frozen_only=True)
        manifest = sealed(manifest, (*found, kept), alone=False, sign=sign)
        while_unused(
            engine,
            [Table(item.name, item.schema) for item in self._old(engine)],
            names.path,
            lambda: self._swap(engine, record, manifest, kept),
        )
        return manifest

    def _swap(
        self, engine: PostgresEngine, record: Table, manifest: Manifest, kept: SealedObject
    ) -> None:
        """Put the new release in the place of the old one."""
        names, old = self.names, self._old(engine)
        kinds: dict[Table, Kind] = {names.view(None): "view", names.manifest(None): "table"}
        given = {table: Given.on(engine, table, "publish") for table in kinds} if old else {}
        withdrawn = granted_roles(engine, names.release) - {*self.grantees}
        self._show(engine, old)
        self._drop(engine, [item for item in old if item.kind != "view"])
        forget(engine, names.release)
        self._write_manifest(engine, manifest, kept)
        for table, found in given.items():
            make_private(engine, "table", ident(table).text, "publish")
            found.without(withdrawn).give(engine, table, "publish", kinds[table])
        self._grant(engine)
        roles = [(names.release, "", role, GRANT, names.run_id) for role in self.grantees]
        enter(engine, record, [*map(entry, names.recorded()), *roles])

    def _show(self, engine: PostgresEngine, old: Sequence[Recorded]) -> None:
        """Let the view read the new rows.

        The old one stays if its columns are the same, with all that depends on it.
        """
        names, view = self.names, self.names.view(None)
        there = any(item.kind == "view" for item in old)
        stays = there and same_columns(engine, view, names.rows(None))
        if not stays:
            self._drop(engine, [item for item in old if item.kind == "view"])
        columns = engine.describe(ident(names.rows(None)).text, "publish")
        listed = ", ".join(ident(name).text for name, _ in columns)
        engine.native(
            f"create {'or replace ' if stays else ''}view {ident(view)} with (security_barrier)"
            f" as select {listed} from {ident(names.rows(None))}",
            "publish",
        )
        if stays:
            # whose rights decide whether its readers see the rows, which are this role's
            engine.native(f"alter view {ident(view)} owner to current_user", "publish")

    def _drop(self, engine: PostgresEngine, old: Iterable[Recorded]) -> None:
        """Drop objects. Raises TargetError if they have dependents."""
        for item in old:
            TargetError.refuse(obstacles.hanging_on(engine, self.names, item))
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

    def _freeze(self, engine: PostgresEngine, target: Table, rows: Table) -> None:
        """Copy staged rows to a table of the release."""
        from anonymizer.engines.postgres.dialect import table_text

        origin = engine.placed(table_text(ident(rows).text))
        engine.native(f"create table {ident(target)} as select * from {origin}", "publish")
        make_private(engine, "table", ident(target).text, "publish")
        engine.native(f"analyze {ident(target)}", "publish")

    def _write_manifest(
        self, engine: PostgresEngine, manifest: Manifest, kept: SealedObject
    ) -> None:
        table = ident(self.names.manifest(None))
        typed = ", ".join(f"{name} text" for name, _ in kept.columns)
        values = (manifest.text(), manifest.signature)[: len(kept.columns)]
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
