"""Spark with an embedded DuckDB: Spark processes rows, and DuckDB compact state."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from anonymizer.compile import SCRATCH, Statement, Table, ident, work
from anonymizer.engines.base import ComparedTables, Engine, EngineName, RemoteProcesses, Rows
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.spark import failures
from anonymizer.engines.spark.concurrency import (
    AGGREGATED,
    LARGE_FROM,
    TUPLES,
    UNITS,
    ExecutorFiles,
    answer_together,
    executors,
)
from anonymizer.engines.spark.dialect import DIALECT, PREFIX
from anonymizer.engines.spark.tables import (
    COLLECTED,
    COUNTED,
    PAIRS,
    READ,
    ROWS,
    USED,
    WRITES,
    WRITTEN,
    Route,
    SparkTables,
    duckdb_type,
    is_remote,
    name_in_spark,
    parquet,
    rows_of,
)
from anonymizer.errors import TemplateError
from anonymizer.policy.values import table_parts
from anonymizer.process import run_folder
from anonymizer.steps import Parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


# Row numbers over a whole table, computed in parallel on Spark.
#
# `select row_number() over (order by ...) as n, * from t` sorts all rows in one task. Compact state
# is numbered in DuckDB instead, when it is moved there. Rows are numbered in the order of their
# draws, which are evenly distributed: separately for each prefix of the draws, plus an offset.


_WHOLE = re.compile(
    r"select row_number\(\) over \(order by (?P<order>[\w, ]+)\) as (?P<name>\w+), \*\s+"
    r"from (?P<table>\w+)\s*\Z",
    re.IGNORECASE,
)
BEGINNING = 3
"""Leading digits of a draw by which rows are partitioned, into 4096 parts."""


@dataclass(frozen=True, slots=True)
class Numbering:
    """The row numbers that a statement adds: their column's name and their order."""

    query: str
    """The statement without the numbers."""
    order: str
    name: str


def numbering(query: str) -> Numbering | None:
    """The numbering at the end of a statement; None if it does not number all of its rows."""
    found = _WHOLE.search(query)
    if found is None:
        return None
    return Numbering(
        f"{query[: found.start()]}select * from {found['table']}", found["order"], found["name"]
    )


def by_draw(view: str, name: str) -> str:
    """A query that numbers the rows of a view in the order of their (distinct) draws."""
    part = f"substr(draw, 1, {BEGINNING})"
    return f"""
        with parts as (
            select {part} as part, count(*) as n from {view} group by {part}
        ),
        places as (
            select part, sum(n) over (order by part) - n as before from parts
        )
        select p.before + row_number() over (partition by p.part order by v.draw) as {name}, v.*
        from {view} v
        join places p on p.part = substr(v.draw, 1, {BEGINNING})
    """


def by_leaf(view: str, numbers: Numbering) -> str:
    """A query that numbers the rows of a view by leaf, and in a given order within each leaf."""
    leaf, order = numbers.order.split(",", 1)
    return f"""
        with leaves as (
            select {leaf}, count(*) as n from {view} group by {leaf}
        ),
        places as (
            select {leaf}, sum(n) over (order by {leaf}) - n as before from leaves
        )
        select /*+ broadcast(p) */
            p.before + row_number() over (partition by v.{leaf} order by {order})
            as {numbers.name}, v.*
        from {view} v
        join places p on p.{leaf} = v.{leaf}
    """


# Queries about rows that DuckDB runs on the rows' files, because Spark cannot.
#
# An exact search is a recursion over lists, and the members of a population are matched by joins
# that Spark would execute by comparing all pairs.


ONLY_DUCKDB = re.compile(rf"\bwith recursive\b|\b{SCRATCH}\.main\.population\b", re.IGNORECASE)
DUCKDB_ROWS = frozenset({"staged", "link", "originals"})
"""Work tables of rows that such queries read."""


NORMALIZED = re.compile(r"\bnfc_normalize\b", re.IGNORECASE)
"""Composes letters and accents, for which Spark has no function."""
COMPOSED = re.compile(r"(identifier_values|found_o[0-9]+)\Z")
"""Work tables of texts whose letters have to be composed: DuckDB reads the rows' files."""


def only_duckdb(text: str) -> bool:
    """Return whether a text is a query that Spark cannot run."""
    written = WRITES.match(text)
    if written is not None:
        return COMPOSED.match(written["name"]) is not None
    composed = NORMALIZED.search(text) is not None and "originals" in USED.findall(text)
    return composed or ONLY_DUCKDB.search(text) is not None


def show_rows(
    tables: SparkTables, used: Iterable[str], known: Iterable[str], published: Iterable[Table]
) -> None:
    """Create views in DuckDB of the rows that a query reads.

    `known`: work tables that DuckDB can already read. `published`: relations of Spark's catalog.
    """
    for name in DUCKDB_ROWS & set(used) - set(known):
        if not tables.counts.get(name):
            _show(tables, tables.view(name), work(name))
    for table in published:
        schema = Table(table.schema or "main", SCRATCH)
        tables.duckdb.raw(f"create schema if not exists {ident(schema)}", "verification")
        _show(tables, name_in_spark(table), table)


def _show(tables: SparkTables, relation: str, name: Table) -> None:
    """Create a view over a copy, once: DuckDB may have no access to the rows' own files."""
    if name in tables.copied_relations:
        return
    tables.copied_relations.add(name)
    path = tables.new_file(f"{name.name}-copy")
    with failures.translate_errors("verification"):
        tables.spark.table(relation).write.parquet(str(path))
    query = f"create or replace view {ident(name)} as from {parquet([path])}"
    tables.duckdb.raw(query, "verification")


# Runs queries of a verification concurrently: Spark plans one while it executes another.


ROW_REF = "row_ref"
"""The column that identifies the rows of `link`."""
SIDE_BY_SIDE_FROM = 3
"""From this many joins of published rows and originals, partitioning and caching both pays off."""
AT_ONCE = 4
"""Statements of a verification that Spark runs concurrently."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Runs queries, one or several at a time; `where` names them in errors."""

    engine: SparkEngine
    where: str

    def __call__(self, text: str) -> Rows:
        return self.engine.raw(text, self.where)

    def at_once(self, texts: Sequence[str]) -> list[Rows]:
        """The rows of every query, in order; those for DuckDB run first, one at a time."""
        found = {i: self(text) for i, text in enumerate(texts) if not self.engine.bring(text)}
        rest = [i for i in range(len(texts)) if i not in found]
        if sum(ROW_REF in texts[i] for i in rest) >= SIDE_BY_SIDE_FROM:
            self.engine.side_by_side()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found.update(zip(rest, pool.map(self, [texts[i] for i in rest]), strict=True))
        return [found[i] for i in range(len(texts))]


# Spark with an embedded DuckDB: Spark processes rows, and DuckDB compact state.
#
# A statement that reads rows is translated and runs on Spark. All others read compact state (values
# of columns, tuples of small codes with counts, classes) and run in DuckDB in the same process,
# where a level of a partitioning takes a hundredth of the time that Spark needs to plan it, data
# beyond the memory limit is spilled to disk, and the statement is the same as on the embedded
# engine.
#
# For small tables, Spark only reads the source, and writes and verifies the release.


ROWS_UP_TO = 2_000_000
"""Number of rows up to which a source is small: encoding, compacting and joining a million rows
takes DuckDB seconds, and a JVM that has just started half a minute."""
PAIRS_UP_TO = 5_000_000
"""Number of rows of PAIRS up to which DuckDB processes it: texts are much wider than codes."""

_DESCRIBE = "describe "


@dataclass(slots=True)
class SparkEngine(Engine):
    """Executes every statement on the engine that holds its tables."""

    name: ClassVar[EngineName] = "spark"
    reads_once: ClassVar[bool] = True

    spark: SparkSession
    duckdb: DuckDBEngine
    work_tables: SparkTables
    owns_connection: bool
    all_on_spark: bool = False
    """A release in Spark's catalog is verified: there is no compact state."""
    published: tuple[Table, ...] = ()
    """The relations of Spark's catalog that are verified."""
    few_rows: bool = False
    """The source is small: DuckDB runs the plan's statements on its rows."""
    several: bool = False
    """There are further tables: DuckDB does so whatever their sizes, and spills what is large."""
    beside: bool = False
    """A release of several tables, or of counts with their proof, is verified in Spark's catalog:
    DuckDB reads copies of them.
    """
    together: frozenset[str] = frozenset()
    """Tables of rows that DuckDB has as counts from one pass, and on which it runs all queries."""
    binds: Mapping[str, Any] = field(default_factory=dict)
    catalog: str | None = None
    schema: str | None = None
    on_spark: int = 0
    """Number of statements that ran on Spark."""
    undo: list[Callable[[], None]] = field(default_factory=list)
    """Functions that remove what was built and not published; called when the session ends."""
    _columns: list[str] = field(default_factory=list)

    def execute(self, statement: Statement, where: str, binds: Sequence[str] = ()) -> Rows:
        """Run one statement, and fetch its (few) rows if it is a query."""
        values = {name: self.binds[name] for name in binds}
        return self._run(statement.text, where, values, self._collected)

    def raw(self, text: str, where: str, values: Mapping[str, Any] | None = None) -> Rows:
        # (DuckDB also runs queries on the rows of a small source)
        few = self.few_rows and (self.several or WRITES.match(text) is None)
        return self._run(text, where, dict(values or {}), self._collected if few else frozenset())

    @property
    def _collected(self) -> frozenset[str]:
        """Tables of rows that do not require Spark."""
        if not self.few_rows:
            return frozenset()
        return COLLECTED | WRITTEN if self.several else COLLECTED

    def _run(
        self,
        text: str,
        where: str,
        values: Mapping[str, Any],
        collected: frozenset[str] = frozenset(),
    ) -> Rows:
        """Run a text. `collected`: tables of rows that do not require Spark."""
        route = Route.of(text)
        target, touched = route.target, route.touched
        if route.counts in self._in_files:
            return [(self.work_tables.rows_of(route.counts),)]
        if target in self.together:
            self.together = frozenset()
        if target == TUPLES and target in touched and self.work_tables.is_streamed(TUPLES):
            return []  # the statement would free memory, and tuples in files use none
        if self._of_tuples(route) or self._needs_spark(touched, text, target, collected):
            for name in touched:
                self.work_tables.to_spark(name)
            try:
                if target == "originals" and self.few_rows:
                    self._known_to_duckdb(touched, text)
                return self._on_spark(route, values)
            except TemplateError:
                raise
            except Exception as error:
                raise failures.translate(error, where) from error
        if self.beside or only_duckdb(text):
            known = self.together | (WRITTEN if self.several else frozenset())
            show_rows(self.work_tables, touched, known, self.published)
            collected |= {"raw_rows"}
        for name in touched - (ROWS - collected):
            self.work_tables.to_duckdb(name)
        rows = self.duckdb.raw(text, where, values)
        self._columns = self.duckdb.column_names
        if target is not None:
            self.work_tables.made_in_duckdb(target)
        kept = ROWS - self._collected if self.several else ROWS - COLLECTED
        kept |= {"snapshot", *self.work_tables.destinations}
        if target in kept and not (target == "link" and self.few_rows):
            with failures.translate_errors(where):
                self.work_tables.hand_over(target)
        return rows

    @property
    def _in_files(self) -> frozenset[str]:
        """Tables of rows whose number is known from file headers."""
        here = {name for name, place in self.work_tables.places.items() if place.on_spark}
        return (ROWS - self.together) & here

    def _of_tuples(self, route: Route) -> bool:
        """Return whether a text derives units or a small table from tuples that are in files."""
        of_units = route.target in AGGREGATED and UNITS in route.used
        of_all = route.target == UNITS and route.used == {TUPLES}
        return (of_units or of_all) and all(map(self.work_tables.is_streamed, route.used))

    def _needs_spark(
        self, used: Set[str], text: str, target: str | None, collected: frozenset[str] = frozenset()
    ) -> bool:
        """True if a text reads rows, except published ones if their counts are sufficient."""
        if self.beside or only_duckdb(text):
            return False
        rows = used & (ROWS - collected)
        if rows and target in (None, PAIRS) and rows <= self.together:
            return False
        if PAIRS in used and self.work_tables.more_than(PAIRS, PAIRS_UP_TO):
            return True
        if self.all_on_spark or not rows:
            return self.all_on_spark
        if target is not None or not rows <= COUNTED or ROW_REF in text:
            return True
        return not all(self.work_tables.has_counts(name, ROW_REF) for name in sorted(rows))

    def _on_spark(self, route: Route, values: Mapping[str, Any]) -> Rows:
        target, query = route.target, route.rows_written
        numbers = numbering(query) if target is not None else None
        if numbers is not None:
            query = numbers.query
        describes = query.lower().startswith(_DESCRIBE)
        (translated,) = DIALECT.translate(query[len(_DESCRIBE) :] if describes else query)
        self.on_spark += 1
        frame = self._frame(translated, values)
        if describes:
            return [(c.name, duckdb_type(c.dataType.simpleString())) for c in frame.schema]
        self._columns = list(frame.columns)
        if target is None:
            return rows_of(frame)
        self._keep(route.how, target, frame)
        if numbers is not None:
            self._number(target, numbers)
        return []

    def _number(self, target: str, numbers: Numbering) -> None:
        view = self.work_tables.view(target)
        if target in ROWS or self.work_tables.is_streamed(target):
            made = by_draw(view, numbers.name) if target in ROWS else by_leaf(view, numbers)
            self.work_tables.keep(target, self.spark.sql(made))
        else:
            number = f"row_number() over (order by {numbers.order}) as {numbers.name}, "
            self.work_tables.to_duckdb(target, number)
            self.work_tables.made_in_duckdb(target)

    def _frame(self, translated: str, values: Mapping[str, Any]) -> DataFrame:
        text = translated.replace(PREFIX, self.work_tables.prefix)
        return self.spark.sql(text, args=dict(values)) if values else self.spark.sql(text)

    def _keep(self, how: str, target: str, frame: DataFrame) -> None:
        if how == "create or replace view":
            self.work_tables.source(target, frame)
            return
        if target == "snapshot":
            from pyspark.sql.functions import monotonically_increasing_id

            # written at once, so that each row keeps its number
            frame = frame.withColumn("rowid", monotonically_increasing_id())
        self.work_tables.keep(target, frame, append=how == "insert into")
        if target == TUPLES:
            self.work_tables.in_files = LARGE_FROM
        if target in READ:
            self.few_rows = self.several or self.work_tables.rows_of(target) <= ROWS_UP_TO

    def _known_to_duckdb(self, names: Set[str], text: str) -> None:
        """Create a view over rows in DuckDB as well, which reads the files that Spark wrote."""
        for name in names:
            self.work_tables.to_duckdb(name)
        self.duckdb.raw(text, "originals")

    def compare(self, rows: ComparedTables) -> None:
        """Read all rows that the verification needs in one pass, if they are not too many.

        For a small source, DuckDB has the staged rows and originals; Spark reads the published.
        """
        tables = self.work_tables
        with failures.translate_errors("verification"):
            if self.all_on_spark or self.several:
                return
            if self.few_rows:
                made = tables.has_counts(rows.published, rows.reference)
            else:
                made = answer_together(tables, rows)
            self.together = rows.names if made else frozenset()

    def side_by_side(self) -> None:
        """Partition and cache published rows and originals, which many statements will join."""
        for name in ("link", "originals"):
            self.work_tables.side_by_side(name, ROW_REF)

    def asking(self, where: str) -> Asking:
        """Run queries concurrently: Spark plans one statement while it executes another."""
        return Asking(self, where)

    def bring(self, text: str) -> bool:
        """Return whether a query runs on Spark; if so, move the tables that it reads there."""
        used = set(USED.findall(text))
        if not self._needs_spark(
            used, text, None, self._collected if self.several else frozenset()
        ):
            return False
        for name in used:
            self.work_tables.to_spark(name)
        return True

    @property
    def column_names(self) -> list[str]:
        return self._columns

    def describe(self, relation: str, where: str) -> list[tuple[str, str]]:
        rows = self.raw(f"{_DESCRIBE}select * from {relation}", where)
        return [(str(row[0]), str(row[1])) for row in rows]

    def tables(self, where: str) -> list[Table]:
        """Every table and view of the session's current database."""
        with failures.translate_errors(where):
            found = self.spark.sql("show tables").collect()
        return [Table(str(row["tableName"]), str(row["namespace"])) for row in found]

    def resolve(self, name: str, where: str) -> Table:
        """Register a table of Spark's catalog as the work table of the run's population."""
        return self.work_tables.population(table_parts(name), where)

    def load(
        self, target: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], where: str
    ) -> None:
        names = USED.findall(target)
        for name in names:
            self.work_tables.to_duckdb(name)
        self.duckdb.load(target, columns, rows, where)
        for name in names:
            self.work_tables.made_in_duckdb(name)

    def elsewhere(self) -> RemoteProcesses:
        return executors(self.spark)

    def spreading(self, stage: Parts) -> ExecutorFiles | None:
        tables = self.work_tables
        return ExecutorFiles.of(tables, stage) if tables.is_streamed(UNITS) else None

    @property
    def embedded_duckdb(self) -> DuckDBEngine:
        return self.duckdb

    def interrupt(self) -> None:
        self.duckdb.interrupt()
        if is_remote(self.spark):
            self.spark.interruptAll()
        else:
            self.spark.sparkContext.cancelAllJobs()

    @property
    def version(self) -> str:
        return str(self.spark.version)

    def place_at(self, name: str, place: Path | str, undo: Callable[[], None]) -> None:
        """Set the folder or catalog table of the release in which a work table is written."""
        self.work_tables.destinations[name] = place
        self.undo.append(undo)
        if isinstance(place, Path):
            run_folder.note_building(self.work_tables.folder, place)
