"""The Python object of a finished release."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.compile import Table, ident
from anonymizer.contract.checks import Verification
from anonymizer.engines.duckdb.connection import SOURCE
from anonymizer.engines.duckdb.sandbox import open_for_good, own_connection
from anonymizer.errors import EngineError, SourceError
from anonymizer.measure.loss import measure_words
from anonymizer.policy.kinds import ReleaseKind, kind_words
from anonymizer.policy.paths import name_text
from anonymizer.process.document import Document, NotebookResult, Rows, Section, facts, say
from anonymizer.release.formats import Format, in_frame
from anonymizer.release.manifest import Manifest, finite, shown_measures

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection, DuckDBPyRelation


@dataclass(frozen=True, repr=False)
class Release(NotebookResult):
    """A published release and its verification. Keeps no connection to a file open."""

    run_id: str
    view: str
    """The published view as `schema.name`."""
    database: Path | None
    """The file of the database; None for an in-memory database."""
    verification: Verification
    measures: Mapping[str, Any]
    manifest: Manifest
    warnings: tuple[str, ...]
    replaced: tuple[str, ...]
    """Descriptions of what it replaced."""
    findings: Mapping[str, Any]
    """The record of a search that keeps one, for the owner of the source; not published."""
    _table: Table
    _connection: DuckDBPyConnection | None = None
    _frame: Callable[[], pd.DataFrame] | None = None
    """Reads the rows from an engine that is not embedded."""

    @property
    def kind(self) -> ReleaseKind:
        """`anonymised`, or `pseudonymised` (still personal data)."""
        return self.manifest.kind

    @property
    def tables(self) -> Mapping[str, str]:
        """For a release of several tables: the published tables as `schema.name` by their names in
        the policy, that of the persons first. Empty for a release of one table.
        """
        schema = self.view.removesuffix(f".{self._table.name}")
        return {name: f"{schema}.{published}" for name, published in self._names.items()}

    @property
    def measured(self) -> Mapping[str, Mapping[str, Any]]:
        """For each of several tables: `rows`, `suppressed`, and `ncp`, the mean loss of its cells.

        `ncp` is None for a table without generalized cells.
        """
        found: dict[str, Mapping[str, Any]] = {}
        for name in self._names:
            own = self.measures.get("tables", {}).get(name, self.measures)
            lost = own["ncp"]
            if isinstance(lost, Mapping):
                lost = sum(lost.values()) / len(lost) if lost and own["rows"] else None
            found[name] = {"rows": own["rows"], "suppressed": own["suppressed"], "ncp": lost}
        return found

    @property
    def _names(self) -> Mapping[str, str]:
        listed = self.manifest.data.get("tables", {}).get("tables", [])
        return {str(one["table"]): str(one["name"]) for one in listed}

    def _named(self, table: str | None) -> Table:
        """The view of a table. Raises SourceError if the release has no such table."""
        if table is None:
            return self._table
        if table not in self._names:
            allowed = ", ".join(self._names) or "none: the release has one table"
            said = f"{name_text(table)} is not a table of the release"
            raise SourceError.at("table", said, allowed=allowed)
        return replace(self._table, name=self._names[table])

    @contextmanager
    def _reading(self, table: str | None = None) -> Iterator[tuple[DuckDBPyConnection, str]]:
        view = self._named(table)
        if self._connection is not None:
            with _ours():
                yield self._connection, ident(view).text
            return
        assert self.database is not None
        with own_connection(self.database) as engine:
            yield engine.connection, ident(_placed(view)).text

    def relation(self, table: str | None = None) -> DuckDBPyRelation:
        """The view as a DuckDB relation; a file stays open, read-only, while the relation lives.

        `table`: for several tables, the name in the policy; default: the table of the persons. The
        connection can access nothing but the release; use `export` to write files.
        """
        import duckdb

        view = self._named(table)
        if self._frame is not None:
            frame = self._frame()
            # the engine infers the types of object columns from this many rows
            connection = duckdb.connect()
            connection.execute(f"set pandas_analyze_sample = {len(frame)}")
            return connection.from_df(frame)
        if self._connection is not None:
            with _ours():
                return self._connection.sql(f"from {ident(view)}")
        assert self.database is not None
        connection = open_for_good(self.database)
        return connection.sql(f"from {ident(_placed(view))}")

    def df(self, table: str | None = None) -> pd.DataFrame:
        """The published rows as a pandas frame; `table` as in `relation`.

        A column with a value that pandas cannot hold exactly is text.
        """
        if self._frame is not None and self._named(table) == self._table:
            return self._frame()
        with self._leaving("pandas", table) as rows:
            return rows.df()

    @contextmanager
    def _leaving(self, form: Format, table: str | None = None) -> Iterator[DuckDBPyRelation]:
        """The published rows, with types that frames can hold."""
        with self._reading(table) as (connection, name):
            yield connection.sql(in_frame(form, connection, name))

    def as_dict(self) -> dict[str, Any]:
        data = self.manifest.data
        return {
            "run_id": self.run_id,
            "kind": self.kind,
            "view": self.view,
            "database": str(self.database) if self.database else None,
            "verification": data["verification"],
            "measures": finite(self.measures),
            "warnings": list(self.warnings),
            "replaced": list(self.replaced),
            **({"tables": self._tables()} if self._names else {}),
            **finite(self.findings),
        }

    def _tables(self) -> dict[str, dict[str, Any]]:
        return {name: {"view": view, **self.measured[name]} for name, view in self.tables.items()}

    def _document(self) -> Document:
        """Figures, guarantees and measures, without rows or values."""
        m, data = self.measures, self.manifest.data
        place = f" in {self.database.name}" if self.database is not None else ""
        held = "hold" if self.verification.passed else "DO NOT ALL HOLD"
        rows: list[tuple[Any, ...]] = [
            ("kind", kind_words(self.kind)),
            *((name, m[name]) for name in ("rows", "suppressed", "classes", "ncp") if name in m),
            *(
                (f"rows of {name}", one["rows"])
                for name, one in self.measured.items()
                if "tables" in m and name in m["tables"]
            ),
            ("guarantees", held if self.manifest.requirements else "none is promised"),
            *([("warnings", len(self.warnings))] if self.warnings else []),
        ]
        words = measure_words(self.manifest.layout)
        measures = facts(
            (words[name], value)
            for name, value in shown_measures(m, self.manifest.layout).items()
            if name in words and value is not None
        )
        note = "made with a test seed: not for publication. " if data["reproducible"] else ""
        return Document(
            f"Release {self.view}{place} (run {self.run_id})",
            (facts(rows),),
            (
                Section("Guarantees", tuple(self.verification.blocks(source=True))),
                *([Section("Tables", (self.listed,))] if self.tables else []),
                Section("Measures", (measures, say(f"{note}{data['certificate']}"))),
            ),
        )

    @property
    def listed(self) -> Rows:
        """The tables of a release of several tables, the persons' table first."""
        return Rows(
            "",
            ("table", "published as", "rows", "suppressed", "lost (NCP)"),
            tuple(
                (name, self.tables[name], one["rows"], one["suppressed"], one["ncp"])
                for name, one in self.measured.items()
            ),
        )


def _placed(view: Table) -> Table:
    """The view, qualified as in its opened file."""
    return replace(view, catalog=SOURCE)


@contextmanager
def _ours() -> Iterator[None]:
    """Turn errors of reading on a user's connection into errors of this tool."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        said = "the release is read on the connection that it was made with, and that does not"
        said += " show it any more: it was closed, or the release was replaced or dropped"
        hint = "read it before, or keep the rows of release.df(); from a file, duckdb.connect(FILE)"
        raise EngineError.at("connection", said, hint=hint) from error
