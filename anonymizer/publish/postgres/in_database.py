"""Publishing in the Postgres database of the source: tables, view and grants in one transaction.

In Postgres a view is a security boundary: its readers need no access to the tables behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymizer.algorithms.compiled import STAGED
from anonymizer.compile import Table, ident
from anonymizer.engines.base import Engine
from anonymizer.engines.postgres import LONGEST
from anonymizer.engines.postgres.connection import PostgresEngine
from anonymizer.engines.postgres.grants import make_private
from anonymizer.engines.postgres.names import is_long
from anonymizer.engines.postgres.record import (
    create_record,
    enter,
    forget,
    has_schema,
    may_make_schemas,
)
from anonymizer.engines.session import Session
from anonymizer.errors import Problem, TargetError
from anonymizer.policy import Policy
from anonymizer.process.interrupts import decide
from anonymizer.publish.postgres.hanging import hanging, same_columns
from anonymizer.publish.postgres.objects import entry, published_objects, recorded
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
    read: Callable[[str], pd.DataFrame]
    """Runs a query of the release on a connection to the database."""

    @classmethod
    def of(cls, policy: Policy, session: Session, names: Names) -> PostgresTarget:
        engine = session.engine
        assert isinstance(engine, PostgresEngine)
        return cls(names, policy.publish.grantees, session.source.table, engine.reader())

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
        return [
            *self._long_names(),
            *self._taken(engine),
            *self._forbidden(engine),
            *self._roles(engine),
        ]

    def _forbidden(self, engine: PostgresEngine) -> list[Problem]:
        """The problem if the role may not create objects in the schema."""
        schema, may = self.names.schema, may_make_schemas(engine)
        if has_schema(engine, schema):
            text = "select has_schema_privilege(%s, 'create')"
            may = engine.native(text, "publish", (schema,))[0][0]
        said, hint = f"lets this role create nothing in {schema}", "grant create on schema … to …"
        return [] if may else [Problem("publish.schema", said, hint=hint)]

    def _tables(self) -> tuple[Table, ...]:
        names = self.names
        return (*names.published(None), names.manifest(None), names.rows(None))

    def _long_names(self) -> list[Problem]:
        return [
            Problem(
                "publish.name",
                f"makes the name {table.name}, and Postgres cuts names off",
                allowed=f"{LONGEST} bytes",
            )
            for table in self._tables()
            if is_long(table.name)
        ]

    def _taken(self, engine: PostgresEngine) -> list[Problem]:
        ours = {(item.schema, item.name) for item in recorded(engine)}
        taken = {(t.schema, t.name) for t in engine.tables("publish")} - ours
        return [
            Problem(
                "publish.name",
                f"{self.names.schema}.{table.name} exists and was not published by this tool",
                hint="choose another publish.name or publish.schema",
            )
            for table in self._tables()
            if (table.schema, table.name) in taken
        ]

    def _roles(self, engine: PostgresEngine) -> list[Problem]:
        problems, warnings = [], []
        for role in self.grantees:
            known = engine.native("select 1 from pg_roles where rolname = %s", "publish", (role,))
            if not known:
                problems.append(
                    Problem(
                        "publish.grant_select",
                        f"{role} is not a role of this server",
                        hint="create it first, or mend its name (case counts)",
                    )
                )
            elif (
                self.source is not None
                and engine.native(
                    "select has_table_privilege(%s, %s, 'select')",
                    "publish",
                    (role, ident(Table(self.source.name, self.source.schema)).text),
                )[0][0]
            ):
                warnings.append(
                    f"the role {role} can read the source table as well: revoke that, or the"
                    " release protects nothing from it"
                )
        self.warnings = tuple(warnings)
        return problems

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
        self._freeze(engine, names.rows(None), STAGED)
        self._show(engine)
        for name, rows in self.staged.items():
            self._freeze(engine, names.separate(name, None), rows)
        kept = manifest_object(names, None, signed=sign is not None)
        found = published_objects(engine, names, frozen_only=True)
        manifest = sealed(manifest, (*found, kept), alone=False, sign=sign)
        self._write_manifest(engine, manifest, kept)
        self._grant(engine)
        enter(engine, record, map(entry, names.recorded()))
        return manifest

    def _show(self, engine: PostgresEngine) -> None:
        """Let the view read the new rows, and drop the old release.

        A view with dependents stays if its columns are the same, and loses its grants.
        """
        names, view = self.names, self.names.view(None)
        old = [item for item in recorded(engine) if item.release == names.release]
        stays = same_columns(engine, view, names.rows(None)) and bool(hanging(engine, view))
        stays = stays and any(item.kind == "view" for item in old)
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
            make_private(engine, "table", ident(view).text, "publish")
        self._drop(engine, [item for item in old if item.kind != "view"])
        forget(engine, names.release)

    def _drop(self, engine: PostgresEngine, old: Iterable[Recorded]) -> None:
        """Drop objects. Raises TargetError if they have dependents."""
        for item in old:
            table = Table(item.name, item.schema)
            found = hanging(engine, table)
            if found:
                said = f"{item.name} is replaced, and on it hangs {', '.join(found)}"
                hint = "remove it, and make it again on the new release; or another publish.name"
                raise TargetError.at(self.names.path, said, hint=hint)
            kind = "view" if item.kind == "view" else "table"
            engine.native(f"drop {kind} if exists {ident(table)}", "publish")

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

    def frame(self) -> pd.DataFrame:
        return self.read(f"select * from {ident(self.names.view(None))}")
