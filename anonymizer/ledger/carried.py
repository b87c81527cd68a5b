"""A release on a server: its ledger data is gathered there, and transferred here.

Only what a ledger holds leaves the server: digests, numbers of classes and buckets, and published
values. Rows of the table stay there.
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
}
"""Server types for DuckDB's types; a digest is stored as its hexadecimal digits."""


@contextmanager
def home_of(engine: Engine, ledger: Path, run_id: str) -> Iterator[DuckDBEngine]:
    """The DuckDB connection that opens the ledger: that of the run, or an additional one."""
    if isinstance(engine, DuckDBEngine):
        yield engine
        return
    # a run folder, by which the next run knows whether this one has ended
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

    It uses the run's number of threads; the run's memory limit is per operation on the server.
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
        # (quoted, so that empty text differs from NULL)
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
        case _:
            return name


def carry(engine: Engine, home: DuckDBEngine, table: Table, wanted: Sequence[str] = ()) -> None:
    """Copy a work table of the server, or the `wanted` columns of it, into scratch of `home`.

    Rows are ordered by digests, which reveals nothing.
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
    # text as hexadecimal digits, so that NULL and commas need no quoting
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
            # (empty text has no digits; values are never NULL)
            return f"coalesce(decode(unhex({name})), '')"
        case "whole":
            return f"cast({name} as boolean)"
        case _:
            return f"cast({name} as bigint)"


def _number(digits: str) -> str:
    """The numeric value of a digest's digits."""
    return f"case when length({digits}) = 32 then cast('0x' || {digits} as uhugeint) end"
