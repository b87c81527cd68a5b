"""A connection to Postgres, and its errors without their messages (they may quote values)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from sqlglot import exp

from anonymizer.compile import Statement, Table, quote
from anonymizer.compile.dialect import MARK
from anonymizer.engines.base import Engine, EngineName, Rows, Solver, frame_of
from anonymizer.engines.postgres import LONGEST
from anonymizer.engines.postgres.dialect_types import read_type, type_name
from anonymizer.errors import (
    AnonymizerError,
    EngineError,
    PolicyError,
    Problem,
    SourceError,
    StatementError,
)
from anonymizer.policy.values import written_parts
from anonymizer.source.profile import other_type
from anonymizer.steps import Embedded

if TYPE_CHECKING:
    import pandas as pd
    from psycopg import Connection, Cursor


# Maps Postgres' errors, by SQLSTATE, to AnonymizerErrors; drops their messages, which may quote
# values.


_WRITTEN = (
    "look at sensitive_when, and at views of the source: their functions have to name schemas"
)
_OF_SQL = ("42883", "42804", "42846", "42601")
"""States of a statement that the server does not take for what it says."""
LOST = "the connection was lost", "check server and network, and run again"
_KNOWN: tuple[tuple[str, str, str], ...] = (
    ("57014", "the statement was cancelled", "a statement timeout, or interrupted: run again"),
    ("57P05", "the server ended the connection", "raise idle_session_timeout for the role"),
    (
        "25P03",
        "the server ended the connection",
        "raise idle_in_transaction_session_timeout for the role",
    ),
    ("57P", "the server ended the connection", "the server was stopped: run again"),
    ("53100", "the server's disk is full", "free space in its data and temporary folders"),
    ("53200", "the server is out of memory", "lower --memory-limit, which each sort may use"),
    ("53300", "the server has too many connections", "close some, or raise max_connections"),
    ("53400", "a limit of the server was exceeded", "raise temp_file_limit, or free space"),
    (
        "42501",
        "the role may not do this",
        "grant it USAGE on the source's schema and SELECT on its table, and USAGE and CREATE on the"
        " schema of the release",
    ),
    ("42P01", "a table does not exist", "check the names in the policy"),
    ("42703", "a column does not exist", "check the names in the policy"),
    ("42883", "a function or operator does not fit its operands", _WRITTEN),
    ("42804", "types do not fit together", _WRITTEN),
    ("42846", "a type cannot be cast", _WRITTEN),
    ("42601", "is not SQL of Postgres", _WRITTEN),
    (
        "22003",
        "a number of the source is too large or too small to be computed with",
        "make infinite numbers, and those nearer to zero than 1e-300, NULL in source.query, or"
        " round them there; else check the conditions",
    ),
    ("22012", "a number is divided by zero", "look at sensitive_when, and at views of the source"),
    (
        "22",
        "a value of the source does not fit its use",
        "NaN and infinite numbers: make them NULL in source.query; else check the conditions",
    ),
    ("40", "another transaction was in the way", "run again"),
    ("55P03", "a table is locked", "wait for the other transaction, or raise lock_timeout"),
    ("25006", "the connection is read-only", "work tables and the release have to be written"),
    (
        "42704",
        "something that the source needs does not exist",
        "a foreign table needs a user mapping for this role; else --debug shows the server's words",
    ),
    ("HV", "a foreign table cannot be read", "look at its options, server and user mapping"),
    ("08001", "the server of a foreign table cannot be reached", "look at the server's options"),
    ("08", *LOST),
    ("3D000", "there is no such database", "check the name at the end of --database"),
    ("28", "the server refused the role or its password", "use ~/.pgpass or PGPASSWORD"),
)
"""Prefix of an SQLSTATE, its meaning, and a hint."""


ROW_SECURITY = (
    "row security hides rows from this role, or may do so: the release would be of those it sees",
    None,
    "run as a role that it does not apply to: the table's owner, or one with BYPASSRLS",
)
"""Message and hint for a table whose row security applies to the role."""


@contextmanager
def translate_errors(where: str) -> Iterator[None]:
    """Translate the server's errors in a block to AnonymizerErrors without their messages."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        raise translate(error, where) from error


def translate(error: Exception, where: str) -> AnonymizerError:
    """Translate the server's `error` during `where` to an AnonymizerError without its message."""
    from psycopg import OperationalError

    state = getattr(error, "sqlstate", None) or ""
    diag = getattr(error, "diag", None)
    raised_by = getattr(diag, "source_function", None)
    if state == "42501" and raised_by == "check_enable_rls":
        return EngineError.at(where, *ROW_SECURITY)
    kind = StatementError if state in _OF_SQL else EngineError
    for prefix, message, hint in _KNOWN:
        if state.startswith(prefix):
            if state == "42501" and raised_by == "aclcheck_error":  # which names an object
                message += f": {getattr(diag, 'message_primary', '')}"
            if where == "source.query" and (state in _OF_SQL or state.startswith("22")):
                hint = "run the query by itself to see why"
            return kind.at(where, message, hint=hint)
    if isinstance(error, OperationalError) and not state:  # the server had no time to say more
        return EngineError.at(where, LOST[0], hint=LOST[1])
    said = f"the server reported SQLSTATE {state}" if state else "psycopg cannot pass a value on"
    return EngineError.at(where, said, hint="--debug shows its words")


# Resolves table names as the server does, under the search path of the role or of a run.


SAFE_PATH = "pg_catalog, pg_temp"
"""The search path of a run: no user object shadows one of the server's, nor does a temporary table,
which would be searched first unless the path names pg_temp."""
RELATIONS = "('r', 'p', 'v', 'm', 'f')"
"""Kinds of relations (`relkind`) that have rows to read."""


@contextmanager
def own_names(engine: PostgresEngine) -> Iterator[None]:
    """Use the role's search path for a statement written by the user."""
    _set_path(engine, engine.names)
    try:
        yield
    except BaseException:
        with suppress(EngineError):
            _set_path(engine, SAFE_PATH)
        raise
    _set_path(engine, SAFE_PATH)


def _set_path(engine: PostgresEngine, path: str) -> None:
    # qualified, since the user's path may contain functions of any name
    engine.native("select pg_catalog.set_config('search_path', %s, false)", "source", (path,))


def named_table(engine: PostgresEngine, name: str, where: str) -> Table:
    """The relation that the server finds under a name for this role.

    A part without quotes matches in lower case, as on the server, or as written. Raises SourceError
    if there is no such relation, or more than one.
    """
    parts = written_parts(name)
    if len(parts) == 3 and parts[0][0].lower() != (engine.catalog or "").lower():
        raise PolicyError.at(
            where,
            "names another database, and a statement of Postgres reads one only",
            hint="name that database in --database, or make the table a foreign table here",
        )
    found = _find_relations(engine, [_spellings(*part) for part in parts[-2:]], where)
    if len(found) == 1:
        return found[0]
    if found:
        listed = " and ".join(sorted(_qualified_name(table) for table in found))
        raise SourceError.at(where, f"may mean {listed}", hint="put it in double quotes")
    raise SourceError(_missing(engine, parts, where))


def _spellings(part: str, quoted: bool) -> tuple[str, ...]:
    """The names that a part of a table name may refer to."""
    return (part,) if quoted else tuple(dict.fromkeys((part, part.lower())))


def _find_relations(
    engine: PostgresEngine, spellings: Sequence[tuple[str, ...]], where: str
) -> list[Table]:
    """The distinct relations that the server finds under any of the spellings."""
    found = []
    with own_names(engine):
        for written in product(*spellings):
            text = ".".join(map(quote, written))
            query = "select pg_catalog.to_regclass(%s)::pg_catalog.oid"
            found += [row[0] for row in engine.native(query, where, (text,)) if row[0]]
    rows = engine.native(
        "select c.relname, n.nspname, current_database() from pg_class c"
        f" join pg_namespace n on n.oid = c.relnamespace where c.relkind in {RELATIONS}"
        " and c.oid = any(%s::oid[])",
        where,
        (found,),
    )
    return [Table(*map(str, row)) for row in rows]


def _qualified_name(table: Table) -> str:
    return f"{quote(table.schema or '')}.{quote(table.name)}"


def named_in(engine: PostgresEngine, query: str) -> tuple[Table, ...]:
    """The relations that a query in Postgres' SQL names; those of views are not among them."""
    import sqlglot

    tree = sqlglot.parse_one(query, read="postgres")
    within = {cte.alias for cte in tree.find_all(exp.CTE)}
    written = {
        ".".join(part.sql("postgres") for part in table.parts[-2:])
        for table in tree.find_all(exp.Table)
        if isinstance(table.this, exp.Identifier) and (table.db or table.name not in within)
    }
    with own_names(engine):
        rows = engine.native(
            "select n.nspname, c.relname from pg_catalog.pg_class c"
            " join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid in (select"
            " pg_catalog.to_regclass(name)"
            " from pg_catalog.unnest(%s::pg_catalog.text[]) as names (name)) order by 1, 2",
            "source.query",
            (sorted(written),),
        )
    return tuple(Table(str(name), str(schema)) for schema, name in rows)


def _missing(engine: PostgresEngine, written: Sequence[tuple[str, bool]], where: str) -> Problem:
    """The problem for a name that refers to no table, with a hint at a similar one."""
    tables, parts = engine.tables(where), [part for part, _ in written]
    alike = [table for table in tables if table.name.lower() == parts[-1].lower()]
    same = [table for table in alike if table.name in _spellings(*written[-1])]
    if same and len(parts) == 1:
        listed = ", ".join(sorted(f"{table.schema}.{table.name}" for table in same))
        said = "is in no schema of this role's search_path"
        return Problem(where, said, hint=f"write the schema: {listed}")
    if alike:
        listed = ", ".join(sorted(map(_qualified_name, alike)))
        return Problem(where, "is not a table of the source", hint=f"did you mean {listed}?")
    near = get_close_matches(parts[-1], sorted({table.name for table in tables}), n=1)
    hint = f"did you mean {near[0]}?" if near else "other schemas: write schema.table"
    return Problem(where, "is not a table of the source", hint=hint)


# A connection to Postgres, whose work tables are unlogged tables in a schema of the run.


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
    # a statement sees what was committed before it, such as rows that came before a lock
    "default_transaction_isolation": "read committed",
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


Lender: TypeAlias = Callable[
    ["PostgresEngine", Embedded], AbstractContextManager[tuple[Engine, Solver] | None]
]


@dataclass(slots=True)
class PostgresEngine(Engine):
    """Executes statements on one connection; every error becomes an AnonymizerError.

    `place` is the schema of the run's work tables, or `TEMPORARY`; None if there are none.
    """

    name: ClassVar[EngineName] = "postgres"
    longest_name: ClassVar[int | None] = LONGEST

    connection: Connection[Any]
    owns_connection: bool
    binds: Mapping[str, Any] = field(default_factory=dict)
    catalog: str | None = None
    schema: str | None = None
    place: str | None = None
    names: str = ""
    """The role's search path, before it was set for the run."""
    address: str | None = None
    """The address of an owned connection; None for a user's."""
    lender: Lender | None = None
    """Lends the tables of stages to an embedded database; set where a run begins."""
    _columns: list[str] = field(default_factory=list)

    def execute(self, statement: Statement, where: str, binds: Sequence[str] = ()) -> Rows:
        values = {name: self.binds[name] for name in binds}
        rows = self.raw(statement.text, where, values)
        if statement.kind != "query":
            for (target,) in statement.writes:
                self._measure(target, where)
        return rows

    def raw(self, text: str, where: str, values: Mapping[str, Any] | None = None) -> Rows:
        from anonymizer.engines.postgres.dialect import DIALECT, as_written, setting_of

        texts = DIALECT.translate(text)
        rows: Rows = []
        # CREATE TABLE AS takes no parameters, so they are settings that no session keeps
        with self.transaction(where) if values else nullcontext():
            for name, value in (values or {}).items():
                self.native("select set_config(%s, %s, true)", where, (setting_of(name), value))
            for one in texts:
                rows = self.native(self.with_schema(one), where) or rows
        self._columns = as_written(text, self._columns)
        return rows

    def native(
        self, text: str, where: str, values: Sequence[Any] | Mapping[str, Any] | None = None
    ) -> Rows:
        """Run a statement in Postgres' SQL and fetch all of its (few) rows."""
        with translate_errors(where):
            # the extended protocol, which takes a single statement
            cursor = self.connection.execute(text, values, binary=True)
            if cursor.description is None:
                return []
            self._columns = [column.name for column in cursor.description]
            return [tuple(map(_plain_number, row)) for row in cursor.fetchall()]

    def _measure(self, target: str, where: str) -> None:
        """Analyze a work table, so that the planner has its statistics."""
        from anonymizer.engines.postgres.dialect import table_text

        self.native(f"analyze {self.with_schema(table_text(target))}", where)

    def with_schema(self, text: str) -> str:
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
            (self.with_schema(table_text(relation)),),
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
        with translate_errors(where):
            cursor = self.connection.execute(self.with_schema(text))
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

    def resolve(self, name: str, where: str) -> Table:
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

    def lent(self, stage: Embedded) -> AbstractContextManager[tuple[Engine, Solver] | None]:
        return nullcontext() if self.lender is None else self.lender(self, stage)

    def load(
        self, target: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], where: str
    ) -> None:
        from anonymizer.engines.postgres.dialect import table_text

        name = self.with_schema(table_text(target))
        listed = ", ".join(f'"{column}"' for column in columns)
        with (
            translate_errors(where),
            self.connection.cursor() as cursor,
            cursor.copy(f"copy {name} ({listed}) from stdin") as copy,
        ):
            for row in rows:
                copy.write_row(row)

    def copy_in(self, table: str, file: Path, where: str) -> None:
        """Add the rows of a CSV file to a table, named in Postgres' SQL."""
        with (
            translate_errors(where),
            file.open("rb") as handle,
            self.connection.cursor() as cursor,
            cursor.copy(f"copy {table} from stdin (format csv)") as copy,
        ):
            while piece := handle.read(1 << 20):
                copy.write(piece)

    def copy_out(self, query: str, file: Path, where: str) -> None:
        """Write the rows of a query in Postgres' SQL to a CSV file."""
        with (
            translate_errors(where),
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


def _plain_number(value: Any) -> Any:
    """Convert a numeric, which Postgres uses for sums and rounding, to an integer or a double."""
    if not isinstance(value, Decimal):
        return value
    return int(value) if value.is_finite() and value.as_tuple().exponent == 0 else float(value)
