"""Replacing the source table by its release.

Everything happens in one transaction of the source's database. The old data stays in the unused
space of the file until the file is rewritten.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from anonymizer.algorithms.compiled import STAGED
from anonymizer.compile import Table, ident, lit
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import AnonymizerError, TargetError
from anonymizer.publish.duckdb.in_place import InPlaceTarget
from anonymizer.publish.replaced import dropped_source, refuse_changed
from anonymizer.release import objects
from anonymizer.release.manifest import Manifest
from anonymizer.release.seal import Sign

WARNING = (
    "the source table is replaced, but its old bytes stay in the file until it is rewritten:"
    " anonymizer rewrite --database FILE. Copies and backups hold them as well."
)


@dataclass(slots=True)
class ReplaceTarget(InPlaceTarget):
    """A release that replaces its source table."""

    source: Table = field(kw_only=True)
    warnings: tuple[str, ...] = (WARNING,)

    def check(self, engine: Engine) -> None:
        """Raise TargetError if the source is not a table that can be replaced."""
        assert isinstance(engine, DuckDBEngine)
        self.check_catalog(engine)
        self.replaces = (dropped_source(self.names.release, self._lost(engine)),)
        where = "publish.replace_source"
        rows = engine.raw(
            "select count(*) from duckdb_tables()"
            f" where database_name = {lit(self.source.catalog)}"
            f" and schema_name = {lit(self.source.schema)}"
            f" and table_name = {lit(self.source.name)} and not temporary",
            where,
        )
        if not rows[0][0] or self.source.catalog != self.catalog:
            raise TargetError.at(
                where,
                "needs a table of the database itself, not a view or a temporary table",
                hint="source: {table: main.visits}",
            )
        ours = {(o.schema, o.name) for o in objects.recorded(engine, self.catalog)}
        if (self.source.schema, self.source.name) in ours:
            raise TargetError.at(
                where, "the source is a release of this tool already", hint="nothing to do"
            )
        further = [self.names.separate(name, None) for name in self.names.tables]
        clashes = self._clashes(engine, (*further, self.names.manifest(None)))
        if clashes:
            raise TargetError.at(
                where,
                f"{clashes[0]} would be published beside it and exists already",
                hint="rename that object",
            )

    def _lost(self, engine: DuckDBEngine) -> list[str]:
        """What the table has besides its rows and its columns."""
        source = self.source
        of_table = (
            f"database_name = {lit(source.catalog)} and schema_name = {lit(source.schema)}"
            f" and table_name = {lit(source.name)}"
        )
        rows = engine.raw(
            f"select 'the index ' || index_name from duckdb_indexes() where {of_table}"
            " union select 'its ' || constraint_type from duckdb_constraints()"
            f" where {of_table} and constraint_type <> 'NOT NULL'"
            f" union select 'its comment' from duckdb_tables() where {of_table} and comment <> ''"
            " union select 'comments on its columns' from duckdb_columns()"
            f" where {of_table} and comment <> '' order by 1",
            "publish.replace_source",
        )
        return [str(said) for (said,) in rows]

    def _replace(self, engine: DuckDBEngine, manifest: Manifest, sign: Sign | None) -> Manifest:
        assert self.snapshot is not None
        refuse_changed(engine, self.snapshot)
        names, catalog = self.names, self.catalog
        objects.create_record(engine, catalog)
        try:
            engine.raw(f"drop table {ident(self.source)}", "publish")
        except AnonymizerError as error:
            raise TargetError.at(
                "publish.replace_source",
                "something depends on the source table, such as a foreign key",
                hint="remove the dependency, or publish into a database of its own",
            ) from error
        engine.raw(f"create table {ident(self.source)} as from {ident(STAGED)}", "publish")
        self._freeze_separate(engine)
        manifest = self._seal(engine, manifest, sign)
        # the table replaces the release's view
        made = tuple(item for item in names.recorded() if item.kind != "rows")
        objects.record(engine, catalog, made)
        return manifest
