"""A connection to Postgres, whose work tables are unlogged tables in a schema of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from anonymizer.compile import Statement, Table
from anonymizer.compile.dialects.base import MARK
from anonymizer.engines.base import Engine, EngineName, Rows
from anonymizer.engines.frames import frame_of
from anonymizer.engines.postgres import LONGEST
from anonymizer.engines.postgres.failures import translated
from anonymizer.engines.postgres.names import RELATIONS, SAFE_PATH, named_table
from anonymizer.engines.postgres.types import read_type, type_name
from anonymizer.errors import EngineError
from anonymizer.source.profile import other_type

if TYPE_CHECKING:
    import pandas as pd
    from psycopg import Connection, Cursor

TEMPORARY = "pg_temp"
"""The schema of work tables that are temporary tables of the session."""
OLDEST = 140000
"""The lowest version (as server_version_num) that has all functions in use."""

SETTINGS = {
    # no user object may shadow one of the engine's
    "search_path": SAFE_PATH,
    "datestyle": "ISO, YMD",
    "intervalstyle": "postgres",
    "timezone": "UTC",
    "client_encoding": "UTF8",
    "standard_conforming_strings": "on",
    "extra_float_digits": "1",
    # bytes are read as text: this form keeps words visible to the search for identifiers
    "bytea_output": "escape",
    # raise an error instead of reading only the rows that a table's policies show to the role
    "row_security": "off",
    # a run has few, large statements: JIT compilation costs more than it saves
    "jit": "off",
    "work_mem": "128MB",
    # joins read relations that the same statement computes, so the planner cannot know their
    # size and estimates one row for thousands; there are no indexes for a nested loop either
    "enable_nestloop": "off",
    # the planner estimates the distinct tuples of codes from their first column, expects full hash
    # buckets, and would sort both sides instead
    "enable_mergejoin": "off",
    # expressions are long, and workers start in a millisecond or two for statements of seconds
    "cpu_operator_cost": "0.01",
    "parallel_setup_cost": "200",
    "parallel_tuple_cost": "0.01",
    # a tenth of the usual sample is enough for tables that exist for seconds
    "default_statistics_target": "10",
    # a release is read in the order in which it was written
    "synchronize_seqscans": "off",
    # a statement ends when its client has disconnected
    "client_connection_check_interval": "2s",
}
"""Session settings on which the meaning or the speed of a run's statements depends."""


@dataclass(slots=True)
class PostgresEngine(Engine):
    """Executes statements on one connection; every error becomes an AnonymizerError.

    `place` is the schema of the run's work tables, or `TEMPORARY`; None if there are none.
    """

    name: ClassVar[EngineName] = "postgres"
    longest_name: ClassVar[int | None] = LONGEST

    connection: Connection[Any]
    owned: bool
    binds: Mapping[str, Any] = field(default_factory=dict)
    catalog: str | None = None
    schema: str | None = None
    place: str | None = None
    names: str = ""
    """The role's search path, before it was set for the run."""
    address: str | None = None
    """The address of an owned connection; None for a user's."""
    _columns: list[str] = field(default_factory=list)

    def execute(self, statement: Statement, where: str, binds: Sequence[str] = ()) -> Rows:
        values = {name: self.binds[name] for name in binds}
        rows = self.raw(statement.text, where, values)
        if statement.kind != "query":
            for (target,) in statement.writes:
                self._measure(target, where)
        return rows

    def raw(self, text: str, where: str, values: Mapping[str, Any] | None = None) -> Rows:
        from anonymizer.engines.postgres.dialect import DIALECT, setting_of
        from anonymizer.engines.postgres.dialect_words import as_written

        texts = DIALECT.translate(text)
        rows: Rows = []
        # CREATE TABLE AS takes no parameters, so they are settings that no session keeps
        with self.transaction(where) if values else nullcontext():
            for name, value in (values or {}).items():
                self.native("select set_config(%s, %s, true)", where, (setting_of(name), value))
            for one in texts:
                rows = self.native(self.placed(one), where) or rows
        self._columns = as_written(text, self._columns)
        return rows

    def native(
        self, text: str, where: str, values: Sequence[Any] | Mapping[str, Any] | None = None
    ) -> Rows:
        """Run a statement in Postgres' SQL and fetch all of its (few) rows."""
        with translated(where):
            # the extended protocol, which takes a single statement
            cursor = self.connection.execute(text, values, binary=True)
            if cursor.description is None:
                return []
            self._columns = [column.name for column in cursor.description]
            return [tuple(map(_plain, row)) for row in cursor.fetchall()]

    def _measure(self, target: str, where: str) -> None:
        """Analyze a work table, so that the planner has its statistics."""
        from anonymizer.engines.postgres.dialect import table_text

        self.native(f"analyze {self.placed(table_text(target))}", where)

    def placed(self, text: str) -> str:
        """A translated text with the schema of the run's work tables filled in."""
        if self.place == TEMPORARY:
            text = text.replace(f'CREATE UNLOGGED TABLE "{MARK}"', f'CREATE TEMP TABLE "{MARK}"')
        return text.replace(MARK, self.place or MARK)

    @property
    def persistence(self) -> str:
        """The kind of the run's work tables, for CREATE TABLE."""
        return "temp" if self.place == TEMPORARY else "unlogged"

    @property
    def column_names(self) -> list[str]:
        return list(self._columns)

    def describe(self, relation: str, where: str) -> list[tuple[str, str]]:
        return [
            (name, type_name(kind, is_enum=is_enum))
            for name, kind, is_enum in self._types(relation, where)
        ]

    def described_source(self, relation: str, where: str) -> list[tuple[str, str]]:
        from anonymizer.engines.postgres.dialect import table_text

        # different texts can be equal under a nondeterministic collation
        rows = self.native(
            "select a.attname, c.collname from pg_attribute a"
            " join pg_collation c on c.oid = a.attcollation"
            " where a.attrelid = to_regclass(%s) and a.attnum > 0 and not c.collisdeterministic",
            where,
            (self.placed(table_text(relation)),),
        )
        own = {str(name): other_type(f"text collate {collation}") for name, collation in rows}
        return [
            (name, own.get(name) or read_type(kind, is_enum=is_enum))
            for name, kind, is_enum in self._types(relation, where)
        ]

    def _types(self, relation: str, where: str) -> list[tuple[str, str, bool]]:
        """Every column's name, type (for a domain, its base type), and whether it is an enum."""
        from anonymizer.engines.postgres.dialect import DIALECT

        (text,) = DIALECT.translate(f"select * from {relation} limit 0")
        with translated(where):
            cursor = self.connection.execute(self.placed(text))
        columns = list(cursor.description or [])
        told = self.native(
            "select format_type(t.oid, given.size), t.typtype = 'e'"
            " from unnest(%s::oid[], %s::int[]) with ordinality as given (type, size, place)"
            " join pg_type t on t.oid = given.type order by given.place",
            where,
            ([column.type_code for column in columns], [column._fmod for column in columns]),
        )
        names = [column.name for column in columns]
        return [(name, str(kind), bool(e)) for name, (kind, e) in zip(names, told, strict=True)]

    def resolved(self, name: str, where: str) -> Table:
        return named_table(self, name, where)

    def tables(self, where: str) -> list[Table]:
        rows = self.native(
            "select c.relname, n.nspname, current_database() from pg_class c"
            " join pg_namespace n on n.oid = c.relnamespace"
            f" where c.relkind in {RELATIONS}"
            " and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')",
            where,
        )
        return [Table(str(name), str(schema), str(catalog)) for name, schema, catalog in rows]

    def load(
        self, target: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], where: str
    ) -> None:
        from anonymizer.engines.postgres.dialect import table_text

        name = self.placed(table_text(target))
        listed = ", ".join(f'"{column}"' for column in columns)
        with (
            translated(where),
            self.connection.cursor() as cursor,
            cursor.copy(f"copy {name} ({listed}) from stdin") as copy,
        ):
            for row in rows:
                copy.write_row(row)

    def copy_in(self, table: str, file: Path, where: str) -> None:
        """Add the rows of a CSV file to a table, named in Postgres' SQL."""
        with (
            translated(where),
            file.open("rb") as handle,
            self.connection.cursor() as cursor,
            cursor.copy(f"copy {table} from stdin (format csv)") as copy,
        ):
            while piece := handle.read(1 << 20):
                copy.write(piece)

    def copy_out(self, query: str, file: Path, where: str) -> None:
        """Write the rows of a query in Postgres' SQL to a CSV file."""
        with (
            translated(where),
            file.open("wb") as handle,
            self.connection.cursor() as cursor,
            cursor.copy(f"copy ({query}) to stdout (format csv)") as copy,
        ):
            for piece in copy:
                handle.write(piece)

    @contextmanager
    def transaction(self, where: str) -> Iterator[None]:
        """Run the block in a transaction."""
        self.native("begin", where)
        try:
            yield
            self.native("commit", where)
        except BaseException:
            with suppress(EngineError):
                self.native("rollback", where)
            raise

    def reader(self) -> Callable[[str], pd.DataFrame]:
        """A function that queries this database later, on a new or the user's connection."""
        connection, address = self.connection, self.address

        def read(text: str) -> pd.DataFrame:
            import psycopg

            try:
                if address is None:
                    with connection.transaction():  # which does not stay open in the user's
                        return _frame(connection.execute(text, binary=True))
                with psycopg.connect(address) as own:
                    return _frame(own.execute(text, binary=True))
            except psycopg.DataError as error:
                said = "holds values that Python has no counterpart for, such as infinite dates"
                hint = "read the view in SQL, or cast the column to text in source.query"
                raise EngineError.at("release", said, hint=hint) from error

        return read

    def interrupt(self) -> None:
        self.connection.cancel()

    @property
    def version(self) -> str:
        return str(self.native("show server_version", "engine")[0][0]).split()[0]


def _frame(cursor: Cursor[Any]) -> pd.DataFrame:
    """All rows of a query, as a data frame."""
    from psycopg.postgres import types

    known = [(column.name, types.get(column.type_code)) for column in cursor.description or []]
    columns = [(name, type_name(info.regtype) if info else "") for name, info in known]
    return frame_of(columns, cursor.fetchall())


def _plain(value: Any) -> Any:
    """Convert a numeric, which Postgres uses for sums and rounding, to an integer or a double."""
    if not isinstance(value, Decimal):
        return value
    return int(value) if value.is_finite() and value.as_tuple().exponent == 0 else float(value)
