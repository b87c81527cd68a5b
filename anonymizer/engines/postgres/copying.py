"""Copying files into tables of a server."""

from __future__ import annotations

from pathlib import Path

from anonymizer.engines.postgres.connection import PostgresEngine
from anonymizer.engines.postgres.failures import translate


def copy_in(engine: PostgresEngine, table: str, file: Path, where: str) -> None:
    """Add the rows of a CSV file to a table, given as Postgres names it."""
    import psycopg

    try:
        with (
            file.open("rb") as handle,
            engine.connection.cursor() as cursor,
            cursor.copy(f"copy {table} from stdin (format csv)") as copy,
        ):
            while piece := handle.read(1 << 20):
                copy.write(piece)
    except psycopg.Error as error:
        raise translate(error, where) from error
