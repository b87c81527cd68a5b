"""The places of a run's work tables: on Spark, in the embedded DuckDB, or in both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.compile import SCRATCH, Sql, Table, ident, lit, one_file, work
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.spark import failures
from anonymizer.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


# Names in Spark's catalog, and of its types.


_NAMES = {
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp_ntz": "TIMESTAMP",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "binary": "BLOB",
}
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)\Z")
_TEXT = re.compile(r"(varchar|char|string)\b.*\Z")


def duckdb_type(name: str) -> str:
    """DuckDB's name of the type whose `simpleString` in Spark is `name`.

    A type without a plain counterpart (a struct, a map, an interval) gets a name that no policy can
    use.
    """
    if name in _NAMES:
        return _NAMES[name]
    found = _DECIMAL.match(name)
    if found:
        return f"DECIMAL({found[1]},{found[2]})"
    if name.startswith("array<"):
        return f"{duckdb_type(name[6:-1])}[]"
    # a text with a length or a collation
    return "VARCHAR" if _TEXT.match(name) else "STRUCT()"


def is_remote(spark: SparkSession) -> bool:
    """Return whether a session is one of Spark Connect: its JVM is behind a server."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def name_in_spark(table: Table) -> str:
    """The quoted name of a table of the catalog in Spark's SQL."""
    return ".".join(quote_name(part) for part in table.parts)


def names_in(spark: SparkSession, schema: str) -> list[str]:
    """The names of the tables and views of a database, without temporary ones."""
    rows = spark.sql(f"show tables in {quote_name(schema)}").collect()
    return [str(row["tableName"]) for row in rows if not row["isTemporary"]]


def quote_name(name: str) -> str:
    """A quoted name in Spark's SQL."""
    return "`" + name.replace("`", "``") + "`"


def catalog_table(parts: Sequence[str], spark: SparkSession, path: str) -> DataFrame:
    """A table or view of the catalog, by the parts of the name that the policy gives at `path`.

    Raises SourceError if there is none.
    """
    name = ".".join(map(quote_name, parts))
    if spark.catalog.tableExists(name):
        return spark.table(name)
    known = names_in(spark, spark.catalog.currentDatabase())
    near = get_close_matches(parts[-1], known, n=1)
    file = path.replace(".table", ".file")
    raise SourceError.at(
        path,
        "is not a table of Spark's catalog",
        hint=f"did you mean {near[0]}?"
        if near
        else f"name it as catalog.database.table, or give Parquet files as {file}",
    )


# Finds what a statement reads and writes, and names the tables that decide where it runs.


POPULATION = "population_source"
"""Work table of the population, a table of Spark's catalog that the policy names."""
ROWS = frozenset(
    {
        "source",
        "lifted",
        POPULATION,
        "raw_rows",
        "rows_with_values",
        "read_rows",
        "snapshot",
        "coded",
        "persons",
        "staged",
        "link",
        "originals",
    }
)
"""Work tables with a row per row (or person) of the source; they stay on Spark unless the source is
small."""

READ = frozenset({"raw_rows", "snapshot"})
"""Those that are the first rows read from the source, with the values as they are or masked."""
COLLECTED = frozenset({"raw_rows", "rows_with_values", "snapshot", "coded", "persons"})
"""Those that DuckDB processes if the source is small: Spark reads the source and writes the
snapshot, and it writes and verifies the release."""
WRITTEN = frozenset({"staged", "link", "originals"})
"""Those that DuckDB processes as well where there are further tables."""
COUNTED = frozenset({"staged", "link"})
"""Those with many equal rows: Spark counts them once, and queries that need only the counts read
these."""
PAIRS = "compared"
"""Pairs of cells and original values, with counts: few in most tables, as many as rows in some."""

USED = re.compile(rf"\b{SCRATCH}\.main\.([a-z_0-9]+)")
WRITES = re.compile(
    rf"\A\s*(?P<how>create or replace table|create or replace view|create table|insert into)\s+"
    rf"{SCRATCH}\.main\.(?P<name>[a-z_0-9]+)\s*(?P<rest>.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_AS = re.compile(r"\Aas\s", re.IGNORECASE)
_ORDER = re.compile(r"\s+order by [\w.]+\s*\Z", re.IGNORECASE)
COUNTS = re.compile(rf"\Aselect count\(\*\) from {SCRATCH}\.main\.([a-z_0-9]+)\Z")


@dataclass(frozen=True, slots=True)
class Route:
    """The properties of a statement that decide where it runs."""

    how: str
    """The kind of write; empty for a query."""
    target: str | None
    query: str
    used: frozenset[str]
    """Work tables that the query reads."""
    touched: frozenset[str]
    """These, and a table that is appended to, which stays in place."""
    counts: str | None
    """The table whose rows it counts, if it does nothing else."""

    @classmethod
    def of(cls, text: str) -> Route:
        found = WRITES.match(text)
        how = found["how"].lower() if found else ""
        target = found["name"] if found else None
        query = found["rest"] if found else text
        used = frozenset(USED.findall(query))
        touched = used | {target} if target is not None and how == "insert into" else used
        counted = COUNTS.match(text)
        return cls(how, target, query, used, touched, counted[1] if counted else None)

    @property
    def rows_written(self) -> str:
        """The query, without the ORDER BY of a new table unless it holds published rows.

        Other tables need no order, and a sort is a shuffle.
        """
        if not self.how.startswith("create"):
            return self.query
        query = _AS.sub("", self.query)
        return query if self.target == "staged" else _ORDER.sub("", query)


# Tracks where a run's work tables are: on Spark, in the embedded DuckDB, or in both.
#
# Tables move as Parquet files in the run's private folder, which driver and executors share. Only
# compact state moves: the distinct values of columns with their counts, tuples of small codes with
# counts and draws, classes and their cells. Tables with a row per source row stay on Spark.


BROADCAST_UP_TO = 200_000
"""Number of rows up to which a table of compact state is broadcast to every executor."""

COUNTED_UP_TO = 50_000_000
"""Number of rows up to which queries on a table use counts of its equal rows: DuckDB expands the
counts to all rows."""
COPIES = "anonymizer:copies"

DRAW = "draw"
"""A column of 128-bit integers, which are texts of 32 hexadecimal digits on Spark."""


@dataclass(slots=True)
class Place:
    """The location of one work table."""

    files: list[Path] = field(default_factory=list)
    """Its Parquet files or folders, if Spark has it."""
    on_spark: bool = False
    in_duckdb: bool = False


@dataclass(slots=True)
class SparkTables:
    """The work tables of one run by name, and the files through which they move."""

    spark: SparkSession
    duckdb: DuckDBEngine
    folder: Path
    prefix: str
    """Prefix of the temporary views, which keeps them apart from a user's views."""
    places: dict[str, Place] = field(default_factory=dict)
    destinations: dict[str, Path | str] = field(default_factory=dict)
    """Folders, or tables of the catalog, of the work tables that will be published."""
    counts: dict[str, bool] = field(default_factory=dict)
    """True if DuckDB has a table of rows as counts of equal rows, by name."""
    kept: list[DataFrame] = field(default_factory=list)
    """Frames cached in memory or on the executors' disks."""
    in_files: int = 0
    """Number of rows above which tables of tuples stay in files that DuckDB reads; 0: no limit."""
    copied_relations: set[Table] = field(default_factory=set)
    """Relations of rows that DuckDB reads from a copy."""
    _written: int = 0

    def view(self, name: str) -> str:
        """Name of the temporary view of a work table."""
        return self.prefix + name

    def source(self, name: str, frame: DataFrame) -> None:
        """Register a frame as a work table without copying it."""
        frame.createOrReplaceTempView(self.view(name))
        self.places[name] = Place(on_spark=True)

    def population(self, parts: Sequence[str], where: str) -> Table:
        """Register a table of Spark's catalog as the population of the run."""
        self.source(POPULATION, catalog_table(parts, self.spark, where))
        return work(POPULATION)

    def keep(self, name: str, frame: DataFrame, *, append: bool = False) -> None:
        """Compute a frame and write it as a work table, which cuts its lineage."""
        self.counts.pop(name, None)
        path = self.destinations.pop(name, None) or self.new_file(name)
        if isinstance(path, str):
            frame.write.format("parquet").saveAsTable(path)
            self.source(name, self.spark.table(path))
            return
        frame.write.parquet(str(path))
        place = self.places.get(name) if append else None
        if place is None:
            place = Place()
        place.files.append(path)
        self._show(name, place, schema=frame.schema)
        self.places[name] = Place(place.files, on_spark=True)

    def _show(
        self, name: str, place: Place, *, small: bool = False, schema: StructType | None = None
    ) -> None:
        # with a given schema, no job is needed to read it from the files
        reader = self.spark.read if schema is None else self.spark.read.schema(schema)
        frame = reader.parquet(*map(str, place.files))
        if small:
            frame = frame.hint("broadcast")
        frame.createOrReplaceTempView(self.view(name))

    def side_by_side(self, name: str, key: str) -> None:
        """Cache a table partitioned and sorted by a column, so that joins by it move no rows."""
        parts = int(self.spark.conf.get("spark.sql.shuffle.partitions") or 200)
        frame = self.spark.table(self.view(name)).repartition(parts, key)
        frame = frame.sortWithinPartitions(key).persist()
        frame.createOrReplaceTempView(self.view(name))
        self.kept.append(frame)

    def more_than(self, name: str, rows: int) -> bool:
        """True if a table that Spark wrote has more than `rows` rows, by its file headers."""
        place = self.places.get(name)
        if place is None or not place.on_spark or place.in_duckdb:
            return False
        return bool(self.spark.table(self.view(name)).count() > rows)

    def has_counts(self, name: str, without: str) -> bool:
        """Return whether DuckDB has a table's rows, without one column, as counts of equal rows.

        Spark counts every row, so DuckDB sees the same multiset.
        """
        if name not in self.counts:
            frame = self.spark.table(self.view(name)).drop(without)
            small = self.rows_of(name) <= COUNTED_UP_TO
            if small:
                self._count(name, frame)
            self.counts[name] = small
        return self.counts[name]

    def _count(self, name: str, frame: DataFrame) -> None:
        from pyspark.sql.functions import count, lit

        path = self.new_file(f"{name}-counts")
        frame.groupBy(*frame.columns).agg(count(lit(1)).alias(COPIES)).write.parquet(str(path))
        listed = ", ".join(ident(column).text for column in frame.columns)
        of_each = f"unnest(range({ident(COPIES)}))"
        self.duckdb.raw(
            f"create or replace view {ident(work(name))} as select {listed}"
            f" from (select {listed}, {of_each} from {parquet([path])})",
            name,
        )

    def new_file(self, name: str) -> Path:
        """A new path to which a table can be written."""
        self._written += 1
        return self.folder / f"{self._written:05d}-{name}"

    def made_in_duckdb(self, name: str) -> None:
        """Record that a statement has written a work table in DuckDB."""
        self.places[name] = Place(in_duckdb=True)

    def to_duckdb(self, name: str, more: str = "") -> None:
        """Make a work table of Spark available in DuckDB, with `more` columns before its own."""
        place = self.places.get(name)
        if place is None or place.in_duckdb:
            return
        target = ident(work(name))
        if not place.files:
            # a frame that was never written: a small table of the user
            self.keep(name, self.spark.table(self.view(name)))
            place = self.places[name]
        # tables with a row per source row are not moved, nor are tuples if they are many
        kind = "view" if name in READ or self.is_streamed(name) else "table"
        self.duckdb.raw(f"create or replace {kind} {target} as {self.reading(name, more)}", name)
        place.in_duckdb = True

    def reading(self, name: str, more: str = "") -> str:
        """A query that reads the files of a table with DuckDB's types."""
        columns = self.spark.table(self.view(name)).schema
        drawn = any(c.name == DRAW and c.dataType.simpleString() == "string" for c in columns)
        replaced = " replace (cast('0x' || draw as uhugeint) as draw)" if drawn else ""
        return f"select {more}*{replaced} from {parquet(self.files_of(name))}"

    def files_of(self, name: str) -> list[Path]:
        """The files of a table, with folders expanded."""
        found: list[Path] = []
        for path in self.places[name].files:
            found += sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        return found

    def is_streamed(self, name: str) -> bool:
        """True if DuckDB reads a table from its files, because it has too many rows to be moved."""
        place = self.places.get(name)
        if not self.in_files or place is None or not place.on_spark or not place.files:
            return False
        return self.rows_of(name) > self.in_files

    def adopt(self, name: str, files: list[Path]) -> None:
        """Register files that executors wrote as a table of Spark, and drop DuckDB's table."""
        self.duckdb.raw(f"drop table if exists {ident(work(name))}", name)
        place = Place(files, on_spark=True)
        self._show(name, place)
        self.places[name] = place

    def to_spark(self, name: str) -> None:
        """Make a work table of DuckDB available on Spark."""
        place = self.places.get(name)
        if place is None or place.on_spark:
            return
        path = self.new_file(name).with_suffix(".parquet")
        target = ident(work(name))
        columns = self.duckdb.describe(target.text, name)
        listed = ", ".join(_portable(column, kind) for column, kind in columns)
        if name == "snapshot":
            listed += ", rowid"  # (each row keeps its number)
        self.duckdb.raw(
            f"copy (select {listed} from {target}) to {lit(str(path))} (format parquet)", name
        )
        place.files = [path]
        place.on_spark = True
        rows = int(self.duckdb.raw(f"select count(*) from {target}", name)[0][0])
        self._show(name, place, small=rows <= BROADCAST_UP_TO)

    def rows_of(self, name: str) -> int:
        """The number of rows of a table on Spark, from the headers of its files if possible."""
        place = self.places[name]
        if not place.files or not all(f.is_relative_to(self.folder) for f in place.files):
            return int(self.spark.table(self.view(name)).count())
        files = parquet(place.files)
        return int(self.duckdb.raw(f"select count(*) from {files}", name)[0][0])

    def in_duckdb(self, name: str) -> int:
        """The number of rows of a table in DuckDB; 0 if it is not there."""
        place = self.places.get(name)
        if place is None or not place.in_duckdb:
            return 0
        return int(self.duckdb.raw(f"select count(*) from {ident(work(name))}", name)[0][0])

    def columns(self, name: str) -> list[str]:
        """The columns of a table on Spark."""
        return list(self.spark.table(self.view(name)).columns)

    def hand_over(self, name: str) -> None:
        """Move rows that DuckDB wrote to Spark, and to their destination if they have one."""
        self.to_spark(name)
        if name in self.destinations:
            self.keep(name, self.spark.table(self.view(name)))
        self.places[name].in_duckdb = False
        self.duckdb.raw(f"drop table {ident(work(name))}", name)

    def drop(self) -> None:
        """Drop all temporary views; the files are removed with the folder of the run."""
        shown = () if failures.is_gone() else self.places.items()
        with suppress(Exception):  # a session that was stopped has none
            for name, place in shown:
                if place.on_spark:
                    self.spark.catalog.dropTempView(self.view(name))
            for frame in self.kept if shown else ():
                frame.unpersist()
        self.places.clear()
        self.kept.clear()


def _portable(column: str, kind: str) -> str:
    """A column in a type that both can read: 128-bit integers become digits or decimals."""
    name = ident(column)
    if kind == "UHUGEINT":
        return f"lpad(hex({name}), 32, '0') as {name}"
    if kind == "HUGEINT":
        return f"cast({name} as decimal(38, 0)) as {name}"
    if kind in ("UBIGINT", "UINTEGER", "USMALLINT", "UTINYINT"):
        wide = "decimal(20, 0)" if kind == "UBIGINT" else "bigint"
        return f"cast({name} as {wide}) as {name}"
    return name.text


def _patterns(files: list[Path]) -> Sql:
    listed = [one_file(f, files="" if f.suffix == ".parquet" else "*.parquet") for f in files]
    return Sql("[" + ", ".join(one.text for one in listed) + "]")


def parquet(files: list[Path]) -> Sql:
    """A relation of DuckDB that reads Parquet files, or folders of them."""
    return Sql(f"read_parquet({_patterns(files)})")


def rows_of(frame: DataFrame) -> list[tuple[Any, ...]]:
    """The few rows of a frame, as tuples."""
    return [tuple(row) for row in frame.collect()]
