"""Publishing beside the source, in its own database: everything in one transaction.

A view there protects nothing from who can read the database; the run says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from anonymizer.compile import Table, ident, lit
from anonymizer.engines.duckdb import SOURCE, DuckDBEngine
from anonymizer.errors import AnonymizerError, Problem, TargetError
from anonymizer.interrupts import decide
from anonymizer.release import objects
from anonymizer.release.file_target import create_schema, create_view
from anonymizer.release.manifest import Manifest, write_manifest
from anonymizer.release.names import Names

WARNING = (
    "the release stands in the database that holds the raw table: a view protects nothing there."
    " Set publish.database to publish into a file of its own."
)


@dataclass(frozen=True, slots=True)
class InPlaceTarget:
    """The source's own database as the place of the release."""

    names: Names
    catalog: str
    database: Path | None
    """The file, where the connection is ours and has it attached read-only."""

    def check(self, engine: DuckDBEngine) -> None:
        """Raises TargetError where an object of that name exists that the tool did not make."""
        clashes = self._clashes(engine, (*self.names.published(None), self.names.manifest(None)))
        if clashes:
            raise TargetError(
                Problem(
                    "publish.name",
                    f"{self.names.schema}.{clashes[0]} exists and was not published by this tool",
                    hint="choose another publish.name or publish.schema",
                )
            )

    def _clashes(self, engine: DuckDBEngine, wanted: Iterable[Table]) -> list[str]:
        """Names of those tables whose place an object takes that the tool did not make."""
        ours = {(o.schema, o.name) for o in objects.recorded(engine, self.catalog)}
        # the engine takes names that differ in case only for the same
        taken = {
            (schema.lower(), name.lower())
            for schema, name in objects.present(engine, self.catalog) - ours
        }
        schema = self.names.schema.lower()
        return [table.name for table in wanted if (schema, table.name.lower()) in taken]

    @contextmanager
    def _transaction(self, engine: DuckDBEngine) -> Iterator[None]:
        """One transaction of the source's database, open for writing while it lasts."""
        with self._writable(engine):
            engine.raw("begin transaction", "publish")
            try:
                yield
                decide()
                engine.raw("commit", "publish")
            except BaseException:
                engine.raw("rollback", "publish")
                raise

    @contextmanager
    def _writable(self, engine: DuckDBEngine) -> Iterator[None]:
        """Attach our source file for writing while the swap lasts."""
        if self.database is None:
            yield
            return
        path = lit(str(self.database))
        engine.raw(f"detach {SOURCE}", "publish")
        try:
            engine.raw(f"attach {path} as {SOURCE}", "publish")
        except AnonymizerError as error:
            raise TargetError(
                Problem(
                    "--database",
                    "cannot be opened for writing, and the release would stand in it",
                    hint="set publish.database, or close the process that uses the database",
                )
            ) from error
        yield

    def publish(
        self,
        engine: DuckDBEngine,
        staged: Table,
        manifest: Manifest,
        tables: Mapping[str, Table] = MappingProxyType({}),
    ) -> None:
        """Freeze the staged rows and replace the old release, in one transaction.

        `tables`: further published tables by name, and where their rows are staged.
        """
        with self._transaction(engine):
            self._replace(engine, staged, manifest, tables)

    def _replace(
        self,
        engine: DuckDBEngine,
        staged: Table,
        manifest: Manifest,
        tables: Mapping[str, Table],
    ) -> None:
        names, catalog = self.names, self.catalog
        objects.create_record(engine, catalog)
        create_schema(engine, catalog, names.schema)
        old = [o for o in objects.recorded(engine, catalog) if o.release == names.release]
        engine.raw(f"create table {ident(names.rows(catalog))} as from {ident(staged)}", "publish")
        create_view(engine, names, catalog)
        write_manifest(engine, names, catalog, manifest)
        engine.raw(
            f"delete from {ident(objects.objects_table(catalog))}"
            f" where release = {lit(names.release)}",
            "publish",
        )
        for item in old:
            if item.kind in ("rows", "values"):
                engine.raw(f"drop table if exists {ident(item.table(catalog))}", "publish")
        self._freeze_separate(engine, tables)
        objects.record(engine, catalog, names.recorded())

    def _freeze_separate(self, engine: DuckDBEngine, tables: Mapping[str, Table]) -> None:
        """The further published tables, from where their rows are staged."""
        for name, rows in tables.items():
            published = ident(self.names.separate(name, self.catalog))
            engine.raw(f"create table {published} as from {ident(rows)}", "publish")
