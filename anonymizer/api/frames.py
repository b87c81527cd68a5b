"""Frames of pandas, polars and Arrow: as sources, and as results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anonymizer.compile import ident
from anonymizer.errors import SourceError
from anonymizer.policy.values import table_parts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from anonymizer.release.published import Release

KINDS = {
    ("pandas", "DataFrame"): "pandas",
    ("polars", "DataFrame"): "polars",
    ("polars", "LazyFrame"): "polars",
    ("pyarrow", "Table"): "arrow",
    ("pyarrow", "RecordBatch"): "arrow",
}


def kind_of(value: object) -> str | None:
    """`pandas`, `polars` or `arrow`; None for what is no frame. Imports none of them."""
    for kind in type(value).__mro__:
        found = KINDS.get((kind.__module__.split(".", 1)[0], kind.__name__))
        if found is not None:
            return found
    return None


def connected(frame: Any, table: str) -> DuckDBPyConnection:
    """A connection of its own, in which the frame stands as `table`.

    Raises SourceError for a frame that the engine cannot read, and for a name with a schema.
    """
    import duckdb

    parts = table_parts(table)
    if len(parts) > 1:
        said = "names a schema, which a frame is in none of"
        raise SourceError.at("source.table", said, allowed="a name alone, as in visits")
    if type(frame).__name__ == "LazyFrame":
        frame = frame.collect()
    elif type(frame).__name__ == "RecordBatch":
        import pyarrow as pa

        frame = pa.Table.from_batches([frame])
    names = _names(frame)
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise SourceError.at("frame", f"has several columns named {', '.join(twice)}")
    if not names:
        raise SourceError.at("frame", "has no columns")
    connection = duckdb.connect(":memory:")
    # types of pandas objects are told from this many rows, and a later one may be of another
    connection.execute(f"set pandas_analyze_sample = {len(frame)}")
    if not _readable(connection, parts[0], frame):
        connection.close()
        hint = "cast them to text or numbers, or leave them out of the frame"
        raise SourceError.at("frame", f"{_unreadable(frame)} cannot be read", hint=hint)
    return connection


def _readable(connection: DuckDBPyConnection, table: str, frame: Any) -> bool:
    import duckdb

    try:
        connection.register(table, frame)
        connection.execute(f"describe from {ident(table)}").fetchall()
    except (duckdb.Error, TypeError, ValueError):
        return False
    return True


def _unreadable(frame: Any) -> str:
    """The names of the columns that the engine cannot read."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        found = [
            name
            for at, name in enumerate(_names(frame))
            if not _readable(connection, "one", _column(frame, at))
        ]
    return f"columns {', '.join(found)}" if found else "it"


def _column(frame: Any, at: int) -> Any:
    """One column, as a frame of its own."""
    if kind_of(frame) == "pandas":
        return frame.iloc[:, [at]]
    return frame.select([_names(frame)[at]])


def _names(frame: Any) -> list[str]:
    """Arrow's `columns` are the values, and its names stand elsewhere."""
    if kind_of(frame) == "arrow":
        return [str(name) for name in frame.schema.names]
    return [str(name) for name in frame.columns]


@contextmanager
def standing(frame: Any, table: str) -> Iterator[DuckDBPyConnection]:
    """`connected`, as long as the block lasts: nothing that it leaves behind reaches the frame."""
    connection = connected(frame, table)
    try:
        yield connection
    except BaseException:
        connection.close()
        raise
    connection.execute("select 1").fetchall()  # unregister needs every result read
    connection.unregister(table_parts(table)[0])


def alone(release: Release) -> Release:
    """A release of a frame, which does not stand beside it any more."""
    from anonymizer.publish.duckdb.in_place import WARNING

    return replace(release, warnings=tuple(w for w in release.warnings if w != WARNING))


def rows_of(release: Release, kind: str) -> Any:
    """The published rows as a frame of that kind."""
    if kind == "pandas":
        return release.df()
    with release._reading() as (connection, view):
        table = connection.sql(f"from {view}").to_arrow_table()
    if kind == "arrow":
        return table
    import polars

    return polars.from_arrow(table)
