"""Work tables that move between a server and an embedded DuckDB beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from anonymizer.compile import Table, ident, lit, one_file, quote
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.partition_workers import PartSolver
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.engines.postgres.connection import PostgresEngine
from anonymizer.engines.postgres.dialect import table_text
from anonymizer.errors import TemplateError
from anonymizer.steps import Embedded, inputs

# A table moves as a CSV file, which neither side converts to Python objects, in the private folder
# of the embedded database. The file is removed at once.


@dataclass(frozen=True, slots=True)
class Taken:
    """A column of a server's table: how it is written there, and read here."""

    name: str
    written: str
    """Expression of the server."""
    read: str
    """Expression over the text of the column, in DuckDB's SQL."""


ON_SERVER = {
    "UHUGEINT": 'text collate "C"',
    "HUGEINT": "numeric",
    "UBIGINT": "numeric",
    "VARCHAR": 'text collate "C"',
    "BIGINT": "bigint",
    "INTEGER": "integer",
    "DOUBLE": "double precision",
    "BOOLEAN": "boolean",
}
"""Server types for DuckDB's types; a draw or digest is stored as its hexadecimal digits."""
CODES = frozenset({"HUGEINT", "BIGINT", "INTEGER", "SMALLINT", "DOUBLE", "BOOLEAN"})
"""Types of compact state: no table of texts or dates is ever taken from a server."""
DRAWS = frozenset({"draw"})
"""Columns of draws: numbers of 128 bits here, their digits on a server."""


def number_of(digits: str) -> str:
    """The number of 128 bits with these 32 digits, in DuckDB's SQL."""
    return f"case when length({digits}) = 32 then cast('0x' || {digits} as uhugeint) end"


def give(engine: PostgresEngine, home: DuckDBEngine, tables: Iterable[Table], where: str) -> None:
    """Copy work tables of `home` to the server, in place of those of these names."""
    for table in tables:
        target = engine.with_schema(table_text(ident(table).text))
        columns = home.describe(ident(table).text, where)
        made = ", ".join(f"{quote(name)} {ON_SERVER[kind]}" for name, kind in columns)
        read = ", ".join(_portable(name, kind) for name, kind in columns)
        # (quoted, so that empty text differs from NULL)
        texts = [quote(name) for name, kind in columns if kind == "VARCHAR"]
        quoted = f", force_quote ({', '.join(texts)})" if texts else ""
        with _file(home, table) as file:
            home.raw(
                f"copy (select {read} from {ident(table)} order by all) to {lit(str(file))}"
                f" (format csv, header false{quoted})",
                where,
            )
            engine.native(f"drop table if exists {target}", where)
            engine.native(f"create {engine.persistence} table {target} ({made})", where)
            engine.copy_in(target, file, where)
            engine.native(f"analyze {target}", where)


def _portable(column: str, kind: str) -> str:
    name = quote(column)
    return f"lower(lpad(hex({name}), 32, '0')) as {name}" if kind == "UHUGEINT" else name


def take(
    engine: PostgresEngine, home: DuckDBEngine, table: Table, columns: Sequence[Taken], where: str
) -> None:
    """Copy columns of a work table of the server into one of `home`, in the order of their values,
    which tells nothing of the order of the server's rows.
    """
    origin = engine.with_schema(table_text(ident(table).text))
    listed = ", ".join(f"{column.written} as {quote(column.name)}" for column in columns)
    texts = ", ".join(f"{lit(column.name)}: 'varchar'" for column in columns)
    read = ", ".join(f"{column.read} as {quote(column.name)}" for column in columns)
    with _file(home, table) as file:
        engine.copy_out(f"select {listed} from {origin}", file, where)
        home.raw(
            f"create or replace table {ident(table)} as select {read}"
            f" from read_csv({one_file(file)}, header = false, delim = ',', quote = '\"',"
            f" escape = '\"', auto_detect = false, columns = {{{texts}}}) order by all",
            where,
        )


@contextmanager
def _file(home: DuckDBEngine, table: Table) -> Iterator[Path]:
    """A path in the folder that `home` may write to; the file is removed at the end."""
    assert home.parts is not None
    home.parts.mkdir(mode=0o700, exist_ok=True)
    file = home.parts / f"{table.name}.csv"
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)


# Stages that an embedded database runs for a server: their tables are lent, and come back.


@contextmanager
def lent(engine: PostgresEngine, stage: Embedded) -> Iterator[tuple[DuckDBEngine, PartSolver]]:
    """An embedded database with the tables that the stages read; the results go to the server."""
    with own_connection(None, limits=engine.limits) as home:
        for table in inputs(stage.stages):
            columns = _without_values(engine.describe(ident(table).text, stage.name))
            taken = [_taken(name, kind, stage.name) for name, kind in columns]
            take(engine, home, table, taken, stage.name)
        yield home, PartSolver(home, home, engine.limits)
        give(engine, home, stage.results, stage.name)


def _without_values(columns: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The columns of a table of codes without those of the source's values and of their texts."""
    of_domain = "label" in dict(columns)
    hidden = {"value", "label"} if of_domain else {"original"}
    return [column for column in columns if column[0] not in hidden]


def _taken(column: str, kind: str, where: str) -> Taken:
    """How a column of compact state is read here, by its type."""
    name = quote(column)
    if column in DRAWS:
        return Taken(column, name, number_of(name))
    if kind == "DECIMAL":  # (sums, which are whole on the server as well)
        kind = "HUGEINT"
    if kind.strip('"').startswith("BIT"):  # (the server quotes the name of one without a size)
        return Taken(column, name, f"cast({name} as bit)")
    if kind.removesuffix("[]") not in CODES:
        raise TemplateError(f"{where}: {column} has the type {kind}, which no work table moves in")
    return Taken(
        column,
        f"translate(cast({name} as text), '{{}}', '[]')" if kind.endswith("[]") else name,
        f"cast({name} as {kind})",
    )
