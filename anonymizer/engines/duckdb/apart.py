"""Reading views and queries of a source in a sandbox that can access only the source.

A view executes SQL written by the database's author. The connection of a run can open releases, the
ledger and files of the policy, so it never reads a view: a separate connection copies the view's
rows into a private file, which the run then reads. (Access cannot be enabled again once it is
disabled, so one connection cannot do both.) Base tables execute nothing and are read in place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from anonymizer.compile import Table, ident, lit, work
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import SOURCE, DuckDBEngine
from anonymizer.source.names import refuse_renamed

COPY = "anon_copy"
"""Catalog of the file into which a view or query is read."""
COPIED = Table("copied", "main", COPY)


def make_table(engine: DuckDBEngine, table: Table, query: str, where: str) -> None:
    """Make a table of a query. Raises SourceError for columns that it would rename."""
    named, made = engine.raw(f"describe {query}", where), ident(table)
    engine.raw(f"create table {made} as {query}", where)
    seen = [name for name, _ in engine.describe(made.text, where)]
    refuse_renamed([name for name, *_ in named], seen, where)


@dataclass(slots=True)
class Apart:
    """Reads views and queries of `database` for `engine`, each on a connection of its own."""

    engine: DuckDBEngine
    database: Path
    private: Path
    limits: Limits
    definitions: list[str] = field(default_factory=list)
    """The definitions of the scratch views, as statements that run on the source."""
    _views: dict[Table, Table] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._spill.mkdir(mode=0o700, exist_ok=True)

    @property
    def folder(self) -> Path:
        """The folder of the copies, the only one that `engine` has to open."""
        return self.private / "copies"

    @property
    def _spill(self) -> Path:
        """The spill folder of the reading connections, which can read it; it holds nothing else."""
        return self.private / "reading"

    def view(self, view: Table, where: str) -> Table:
        """Copy the rows of a source view, and return the scratch view that reads the copy."""
        if view not in self._views:
            name = work(f"source_view_{len(self._views) + 1}")
            self._read(name, f"from {ident(view)}", where, bare_names=False)
            self.definitions.append(f"create view {ident(name)} as from {ident(view)}")
            self._views[view] = name
        return self._views[view]

    def query(self, query: str, name: Table, where: str) -> Table:
        """Copy the rows of a query over the source, and read the copy through the view `name`."""
        self._read(name, query, where, bare_names=True)
        return name

    def _read(self, name: Table, query: str, where: str, *, bare_names: bool) -> None:
        from anonymizer.engines.duckdb.sandbox import own_connection

        number = sum(1 for _ in self.folder.iterdir()) + 1
        file = self.folder / f"{number}.duckdb"
        with own_connection(
            self.database, spill=self._spill, copy=file, limits=self.limits
        ) as reader:
            with reader.in_any_order():
                if bare_names:
                    with reader.names_of(SOURCE):
                        make_table(reader, COPIED, query, where)
                else:
                    make_table(reader, COPIED, query, where)
            reader.raw(f"detach {COPY}", where)
        catalog = f"anon_read_{number}"
        self.engine.raw(f"attach {lit(str(file))} as {catalog} (read_only)", where)
        copied = Table(COPIED.name, COPIED.schema, catalog)
        self.engine.raw(f"create view {ident(name)} as from {ident(copied)}", where)
