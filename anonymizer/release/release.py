"""A finished release, as Python sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.compile import Table, ident
from anonymizer.release.manifest import Manifest
from anonymizer.verify import Verification

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection, DuckDBPyRelation


@dataclass(frozen=True)
class Release:
    """What was published, and what was found. Keeps no connection to a file open."""

    run_id: str
    view: str
    """The published view as `schema.name`."""
    database: Path | None
    """The file it stands in; None for an in-memory database."""
    verification: Verification
    measures: Mapping[str, Any]
    manifest: Manifest
    warnings: tuple[str, ...]
    _table: Table
    _connection: DuckDBPyConnection | None = None
    _frame: Callable[[], pd.DataFrame] | None = None
    """Reads the rows back from an engine other than the embedded one."""

    @contextmanager
    def _reading(self) -> Iterator[tuple[DuckDBPyConnection, str]]:
        import duckdb

        if self._connection is not None:
            yield self._connection, ident(self._table).text
            return
        assert self.database is not None
        with duckdb.connect(str(self.database), read_only=True) as connection:
            yield connection, ident(Table(self._table.name, self._table.schema)).text

    def relation(self) -> DuckDBPyRelation:
        """The view as a DuckDB relation; a file stays open, read-only, while the relation lives."""
        import duckdb

        if self._frame is not None:
            return duckdb.connect().from_df(self._frame())
        if self._connection is not None:
            return self._connection.sql(f"from {ident(self._table)}")
        connection = duckdb.connect(str(self.database), read_only=True)
        return connection.sql(f"from {ident(Table(self._table.name, self._table.schema))}")

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
            **{name: data[name] for name in ("search", "published_levels") if name in data},
        }

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, guarantees and main measures. No rows."""
        from anonymizer.report.summary import summary

        return summary(self)
