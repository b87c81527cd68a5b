"""A release of a server's table: what is remembered of it is gathered there, and carried here.

What leaves the server are digests, numbers of classes and buckets, and the values that the release
shows: what a ledger holds. Rows of the table stay there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from anonymizer.compile import Table, ident, lit, one_file, quote
from anonymizer.engines.base import Engine, Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.process import run_folder

ON_SERVER = {
    "UHUGEINT": 'text collate "C"',
    "VARCHAR": 'text collate "C"',
    "BIGINT": "bigint",
    "INTEGER": "integer",
    "INTEGER[]": "integer[]",
}
"""Types of the server in the place of DuckDB's: a digest is its digits there."""


@contextmanager
def home_of(engine: Engine, ledger: Path, run_id: str) -> Iterator[DuckDBEngine]:
    """The DuckDB that opens the ledger: that of the run, or one beside the server's."""
    if isinstance(engine, DuckDBEngine):
        yield engine
        return
    # a folder of the run, by which the next one knows whether this one is over
    folder = run_folder.create(run_id)
    try:
        with beside_server(engine, ledger, spill=folder.path) as home:
            yield home
    finally:
        folder.remove()


def beside_server(
    engine: Engine, ledger: Path, spill: Path | None = None
) -> AbstractContextManager[DuckDBEngine]:
    """A DuckDB that opens the ledger, for a run on a server.

    It keeps to the threads of the run; the run's memory limit is that of one operation there.
    """
    limits = Limits(threads=engine.limits.threads)
    return own_connection(None, spill=spill, databases=[ledger], limits=limits)


def hand_over(engine: Engine, home: DuckDBEngine, tables: Iterable[Table]) -> None:
    """Copy scratch tables of `home` into work tables of the server."""
    from anonymizer.engines.postgres.connection import PostgresEngine
    from anonymizer.engines.postgres.dialect import table_text

    assert isinstance(engine, PostgresEngine)
    assert home.parts is not None
    home.parts.mkdir(mode=0o700, exist_ok=True)
    for table in tables:
        file = home.parts / f"{table.name}.csv"
        target = engine.placed(table_text(ident(table).text))
        columns = home.describe(ident(table).text, "ledger")
        made = ", ".join(f"{quote(name)} {ON_SERVER[kind]}" for name, kind in columns)
        read = ", ".join(_handed(name, kind) for name, kind in columns)
        # (a text that is empty is none that is not there)
        quoted = ", force_quote (text)" if "text" in dict(columns) else ""
        try:
            home.raw(
                f"copy (select {read} from {ident(table)} order by all) to {lit(str(file))}"
                f" (format csv, header false{quoted})",
                "ledger",
            )
            engine.native(f"create {engine.persistence} table {target} ({made})", "ledger")
            engine.copy_in(target, file, "ledger")
            engine.native(f"analyze {target}", "ledger")
        finally:
            file.unlink(missing_ok=True)


def _handed(column: str, kind: str) -> str:
    name = quote(column)
    match kind:
        case "UHUGEINT":
            return f"lower(lpad(hex({name}), 32, '0')) as {name}"
        case "INTEGER[]":
            return f"'{{' || array_to_string({name}, ',') || '}}' as {name}"
        case _:
            return name


def carry(engine: Engine, home: DuckDBEngine, table: Table, wanted: Sequence[str] = ()) -> None:
    """Copy a work table of the server, or the columns `wanted`, into scratch of `home`.

    In the order of digests, which tells nothing.
    """
    from anonymizer.engines.postgres.connection import PostgresEngine
    from anonymizer.engines.postgres.dialect import table_text

    assert isinstance(engine, PostgresEngine)
    assert home.parts is not None
    columns = wanted or [name for name, _ in engine.describe(ident(table).text, "ledger")]
    home.parts.mkdir(mode=0o700, exist_ok=True)
    file = home.parts / f"{table.name}.csv"
    origin = engine.placed(table_text(ident(table).text))
    listed = ", ".join(map(_written, columns))
    try:
        engine.copy_out(f"select {listed} from {origin}", file, "ledger")
        _read(home, table, columns, file)
    finally:
        file.unlink(missing_ok=True)


def _written(column: str) -> str:
    name = quote(column)
    # a text is quoted by its digits, in which nothing has to be told apart from NULL or a comma
    if column in ("text", "facet"):
        return f"encode(convert_to({name}, 'UTF8'), 'hex') as {name}"
    return f"array_to_string({name}, ' ', '-') as {name}" if column == "marks" else name


def _read(home: DuckDBEngine, table: Table, columns: Sequence[str], file: Path) -> None:
    listed = ", ".join(f"{lit(name)}: 'varchar'" for name in columns)
    read = ", ".join(f"{_value(name)} as {quote(name)}" for name in columns)
    home.raw(
        f"create or replace table {ident(table)} as select {read}"
        f" from read_csv({one_file(file)}, header = false, delim = ',', quote = '\"',"
        f" escape = '\"', auto_detect = false, columns = {{{listed}}}) order by all",
        "ledger",
    )


def _value(column: str) -> str:
    name = quote(column)
    match column:
        case "person":
            return _number(name)
        case "marks":
            digits = f"list_transform(string_split({name}, ' '), lambda d: {_number('d')})"
            return f"cast({digits} as uhugeint[])"
        case "text" | "facet":
            # (of the empty text there are no digits, and NULL is none of the values)
            return f"coalesce(decode(unhex({name})), '')"
        case "whole":
            return f"cast({name} as boolean)"
        case _:
            return f"cast({name} as bigint)"


def _number(digits: str) -> str:
    """The number that a digest is, by its digits."""
    return f"case when length({digits}) = 32 then cast('0x' || {digits} as uhugeint) end"
