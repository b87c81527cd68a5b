"""The Python object of a finished release."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.compile import Table, ident
from anonymizer.contract.checks import Verification
from anonymizer.engines.duckdb.connection import SOURCE
from anonymizer.engines.duckdb.sandbox import open_for_good, own_connection
from anonymizer.process.shown import Fact, as_text, fact
from anonymizer.release.manifest import Manifest

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection, DuckDBPyRelation


@dataclass(frozen=True, repr=False)
class Release:
    """What was published, and what was found. Keeps no connection to a file open."""

    run_id: str
    view: str
    """The published view as `schema.name`."""
    database: Path | None
    """The file of its database; None for an in-memory database."""
    verification: Verification
    measures: Mapping[str, Any]
    manifest: Manifest
    warnings: tuple[str, ...]
    replaced: tuple[str, ...]
    """What it took the place of, in words."""
    _table: Table
    _connection: DuckDBPyConnection | None = None
    _frame: Callable[[], pd.DataFrame] | None = None
    """Reads the rows back from an engine other than the embedded one."""

    @contextmanager
    def _reading(self) -> Iterator[tuple[DuckDBPyConnection, str]]:
        if self._connection is not None:
            yield self._connection, ident(self._table).text
            return
        assert self.database is not None
        with own_connection(self.database) as engine:
            yield engine.connection, ident(self._placed).text

    def relation(self) -> DuckDBPyRelation:
        """The view as a DuckDB relation; a file stays open, read-only, while the relation lives.

        Its connection reaches nothing but the release: `export` writes files.
        """
        import duckdb

        if self._frame is not None:
            return duckdb.connect().from_df(self._frame())
        if self._connection is not None:
            return self._connection.sql(f"from {ident(self._table)}")
        assert self.database is not None
        connection = open_for_good(self.database)
        return connection.sql(f"from {ident(self._placed)}")

    @property
    def _placed(self) -> Table:
        """The view in its file, as the tool opens it."""
        return Table(self._table.name, self._table.schema, SOURCE)

    def df(self) -> pd.DataFrame:
        """The published rows as a pandas frame."""
        if self._frame is not None:
            return self._frame()
        with self._reading() as (connection, name):
            return connection.execute(f"from {name}").df()

    def as_dict(self) -> dict[str, Any]:
        data = self.manifest.data
        return {
            "run_id": self.run_id,
            "view": self.view,
            "database": str(self.database) if self.database else None,
            "verification": data["verification"],
            "measures": data["measures"],
            "warnings": list(self.warnings),
            "replaced": list(self.replaced),
            **{name: data[name] for name in ("search", "published_levels") if name in data},
        }

    def __repr__(self) -> str:
        m = self.measures
        place = f" in {self.database.name}" if self.database is not None else ""
        facts = [
            fact(name, m[name]) for name in ("rows", "suppressed", "classes", "ncp") if name in m
        ]
        facts += [Fact("guarantees", "hold" if self.verification.passed else "DO NOT ALL HOLD")]
        facts += [Fact("warnings", str(len(self.warnings)))] if self.warnings else []
        return as_text(f"Release {self.view}{place} (run {self.run_id})", facts)

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, guarantees and main measures. No rows."""
        from anonymizer.release.summary import summary

        return summary(self)
