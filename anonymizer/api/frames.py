"""Frames of pandas, polars and Arrow, as sources and as results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anonymizer.compile import ident
from anonymizer.errors import AnonymizerError, EngineError, Problem, SourceError
from anonymizer.policy.values import table_parts
from anonymizer.source.names import refuse_renamed

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
    """`pandas`, `polars` or `arrow`; None if it is not a frame. Imports none of the libraries."""
    for kind in type(value).__mro__:
        found = KINDS.get((kind.__module__.split(".", 1)[0], kind.__name__))
        if found is not None:
            return found
    return None


def connected(frame: Any, table: str) -> DuckDBPyConnection:
    """Open a new connection in which the frame is available as `table`.

    Raises SourceError for a frame that the engine cannot read, and for a name with a schema.
    """
    import duckdb

    parts = table_parts(table)
    if len(parts) > 1:
        said = "names a schema, which a frame is in none of"
        raise SourceError.at("source.table", said, allowed="a name alone, as in visits")
    if kind_of(frame) == "polars":
        _refuse_without_arrow()
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
    # the engine infers types of object columns from this many rows; later ones may differ
    connection.execute(f"set pandas_analyze_sample = {len(frame)}")
    if not _readable(connection, parts[0], frame):
        connection.close()
        hint = "cast them to text or numbers, or leave them out of the frame"
        found = _unreadable(frame)
        said = f"columns {', '.join(found)}" if found else "it"
        raise SourceError.at("frame", f"{said} cannot be read", hint=hint)
    seen = connection.execute(f"describe from {ident(parts[0])}").fetchall()
    try:
        refuse_renamed(names, [name for name, *_ in seen], "frame")
    except SourceError:
        connection.close()
        raise
    return connection


def _refuse_without_arrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        said = "is of polars, which is read by way of pyarrow, and that is not installed"
        raise SourceError.at("frame", said, hint="pip install pyarrow") from None


def _readable(
    connection: DuckDBPyConnection, table: str, frame: Any, *, values: bool = False
) -> bool:
    """Whether the engine can determine the column types, and with `values` read every value."""
    import duckdb

    try:
        connection.register(table, frame)
        connection.execute(f"describe from {ident(table)}").fetchall()
        if values:
            connection.execute(f"select max(hash(columns(*))) from {ident(table)}").fetchall()
    except (duckdb.Error, TypeError, ValueError):
        return False
    return True


def _unreadable(frame: Any, *, values: bool = False) -> list[str]:
    """The names of the columns that the engine cannot read."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        connection.execute(f"set pandas_analyze_sample = {len(frame)}")
        return [
            name if name.strip() else f"{at + 1} (without a name)"
            for at, name in enumerate(_names(frame))
            if not _readable(connection, "one", _column(frame, at), values=values)
        ]


def _column(frame: Any, at: int) -> Any:
    """One column, as a separate frame."""
    if kind_of(frame) == "pandas":
        return frame.iloc[:, [at]]
    return frame.select([_names(frame)[at]])


def _names(frame: Any) -> list[str]:
    """The column names of a frame; Arrow's `columns` are the values."""
    if kind_of(frame) == "arrow":
        return [str(name) for name in frame.schema.names]
    return [str(name) for name in frame.columns]


def index_of(frame: Any) -> tuple[str, ...]:
    """The names of the index of pandas, which is not among the columns."""
    return tuple(map(str, frame.index.names)) if kind_of(frame) == "pandas" else ()


@contextmanager
def standing(frame: Any, table: str) -> Iterator[DuckDBPyConnection]:
    """Provide `connected` for a block, and release the frame afterwards.

    Errors in the block are attributed to the frame, since there is no source query.
    """
    connection = connected(frame, table)
    try:
        yield connection
    except BaseException as error:
        connection.close()
        if isinstance(error, EngineError):
            _refuse_mixed(frame)
        if isinstance(error, AnonymizerError):
            error.reword(_of_frame)
        raise
    connection.execute("select 1").fetchall()  # unregister needs every result read
    connection.unregister(table_parts(table)[0])


def _refuse_mixed(frame: Any) -> None:
    """Raises SourceError for columns of Python objects with values that the engine cannot read."""
    if type(frame).__name__ == "DataFrame":
        found = _unreadable(frame, values=True)
        if found:
            raise SourceError.at(
                "frame",
                f"columns {', '.join(found)} have values that cannot be read,"
                " or that are of several types",
                hint="make all values of a column numbers, dates or text before:"
                " frame[column].astype(str) makes text of them",
            )


def _of_frame(problem: Problem) -> Problem:
    """Reword a problem to name the frame instead of the policy's query."""
    hint = problem.hint
    if hint is not None and "source.query" in hint:
        hint = hint.replace("source.query", "the frame")
    return replace(problem, hint=hint)


def alone(release: Release) -> Release:
    """A release of a frame, without the warning that it is in the same database as its source."""
    from anonymizer.publish.duckdb.in_place import WARNING

    return replace(release, warnings=tuple(w for w in release.warnings if w != WARNING))


def rows_of(release: Release, kind: str) -> Any:
    """The published rows as a frame of the given kind."""
    if kind == "pandas":
        return release.df()
    with release._leaving("arrow") as rows:
        table = rows.to_arrow_table()
    if kind == "arrow":
        return table
    import polars

    return polars.from_arrow(table)
