"""The interface of an engine: executes statements, returns small results, maps all errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

from anonymizer.compile import Statement, Table
from anonymizer.errors import EngineError, Problem
from anonymizer.steps import Embedded, Parts, Row

if TYPE_CHECKING:
    import pandas as pd

EngineName: TypeAlias = str
"""The name of an engine, which is that of its package."""
Rows: TypeAlias = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run. None leaves the engine's own default."""

    threads: int | None = None
    memory: str | None = None
    temp_size: str | None = None
    workers: int | None = None
    """Parts of a large table that are solved at a time, as far as memory allows; the release is the
    same for every number. None: one for every thread."""

    def __post_init__(self) -> None:
        sizes: dict[str, object] = {"memory": self.memory, "temp_size": self.temp_size}
        problems = [
            Problem(
                f"limits.{name}", f"is not a number of {name}", "a whole number from 1 on, or None"
            )
            for name, given in (("threads", self.threads), ("workers", self.workers))
            if given is not None and (type(given) is not int or given < 1)
        ]
        problems += [
            Problem(f"limits.{name}", "is not a size", "a text, as in 4GB, or None")
            for name, given in sizes.items()
            if given is not None and not isinstance(given, str)
        ]
        EngineError.refuse(problems)


@dataclass(frozen=True, slots=True)
class RemoteProcesses:
    """Other processes, perhaps on other machines, that run functions for an engine."""

    at_a_time: int
    run: Callable[[Callable[[], None]], None]
    """Runs a function there, and returns when it has ended."""


@dataclass(frozen=True, slots=True)
class ComparedTables:
    """The tables of rows that a release is judged from, by their names as work tables."""

    published: str
    staged: str
    """Published rows, each with a reference to its original."""
    originals: str
    columns: Sequence[str]
    """Columns of the originals that questions read, besides the reference."""
    reference: str
    """The column that joins a staged row with its original; questions use it for nothing else."""

    @property
    def names(self) -> frozenset[str]:
        return frozenset((self.published, self.staged, self.originals))


class Spreading(Protocol):
    """Parts that other processes take from files, so that this one holds none of their rows."""

    def task(self, part: Row, limits: Limits) -> Callable[[], None]:
        """The function that solves a part there, within limits."""

    def gather(self, parts: list[Row]) -> None:
        """Make the results of all parts one work table."""


class Solver(Protocol):
    """Solves each partition in its own embedded database."""

    def solve(
        self, engine: Engine, stage: Parts, parts: list[Row], done: Callable[[Row, float], None]
    ) -> None:
        """Solve `parts` and gather the results; `done` is told every part with its seconds."""


class Engine(ABC):
    """A connection to the place where statements run.

    Statements are written in DuckDB's SQL, whatever the engine: one that speaks another dialect
    translates them (`anonymizer.compile.dialect`). Every failure is raised as one of our errors,
    without the engine's own words, which may quote values.
    """

    name: ClassVar[EngineName]
    embedded: ClassVar[bool] = False
    """True if it runs inside this process, where one more statement or work table costs little."""
    longest_name: ClassVar[int | None] = None
    """Bytes of a column's name that it keeps, where it would cut off the rest."""
    reads_once: ClassVar[bool] = False
    """True if every reading of the snapshot is a cost, so that values are counted in one."""

    owns_connection: bool
    """True if the connection is ours: limited, and closed at the end."""
    binds: Mapping[str, Any]
    """Values of the bound parameters: the run's secret."""
    limits: Limits = Limits()
    """Limits of the run, for what is opened beside the engine."""
    catalog: str | None
    """Catalog of the source; None where there is no source database."""
    schema: str | None
    """Default schema of a user's connection."""
    own_name: str | None = None
    """The user's name of the source's catalog, where it is attached under a name of ours."""

    @abstractmethod
    def execute(self, statement: Statement, where: str, binds: Sequence[str] = ()) -> Rows:
        """Run one rendered statement and fetch all of its (few) rows."""

    @abstractmethod
    def raw(self, text: str, where: str, values: Mapping[str, Any] | None = None) -> Rows:
        """Run a text in DuckDB's SQL and fetch all of its (few) rows."""

    def asking(self, where: str) -> Callable[[str], Rows]:
        """`raw` as a function of the text. An engine that takes many statements at a time gives
        the function an attribute `at_once`: from texts to the rows of each.
        """
        return lambda text: self.raw(text, where)

    def expect(self, rows: int) -> None:
        """Told how many rows the source has, an engine may choose its means."""
        del rows

    def at_work(self, *, laborious: bool) -> AbstractContextManager[None]:
        """Surrounds a statement; `laborious`: it does far more work than it reads rows."""
        del laborious
        return nullcontext()

    def second(self) -> AbstractContextManager[Engine | None]:
        """A second session that sees the same work tables, if there can be one."""
        return nullcontext()

    def compare(self, rows: ComparedTables) -> None:
        """Told which rows all following questions are about, an engine may read them once."""
        del rows

    @property
    @abstractmethod
    def column_names(self) -> list[str]:
        """The columns of the rows fetched last."""

    @abstractmethod
    def describe(self, relation: str, where: str) -> list[tuple[str, str]]:
        """Name and type of every column of a relation given as SQL, types in DuckDB's words."""

    def described_source(self, relation: str, where: str) -> list[tuple[str, str]]:
        """The same of a relation of the source, types as its values are read."""
        return self.describe(relation, where)

    @abstractmethod
    def tables(self, where: str) -> list[Table]:
        """Every table and view that a policy can name as a source."""

    def resolve(self, name: str, where: str) -> Table | None:
        """The table that a name, as a policy writes it, means to the engine.

        None where the engine has no rule for it; raises SourceError where it finds none.
        """
        del name, where
        return None

    def readable_relation(self, table: Table, where: str) -> Table:
        """The relation to read a relation of the source from: a copy, where that needs one."""
        del where
        return table

    def view_definitions(self) -> tuple[str, ...]:
        """Statements that make the copies, for use outside of the sandbox."""
        return ()

    @abstractmethod
    def load(
        self, target: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], where: str
    ) -> None:
        """Append a few rows of computed state to a work table."""

    @property
    def embedded_duckdb(self) -> Engine | None:
        """The embedded database that holds compact state, from which parts are handed over."""
        return None

    def lent(self, stage: Embedded) -> AbstractContextManager[tuple[Engine, Solver] | None]:
        """An embedded database that has the tables the stages read, and the solver of its parts.

        The engine has the results when the context ends. None: it runs the stages itself.
        """
        del stage
        return nullcontext()

    def elsewhere(self) -> RemoteProcesses | None:
        """The pool of other processes that see the folder of the run, if there is one."""
        return None

    def spreading(self, stage: Parts) -> Spreading | None:
        """The files from which other processes take parts; None: parts are handed over to them."""
        del stage
        return None

    @abstractmethod
    def interrupt(self) -> None:
        """Cancel the statement that runs, from another thread."""

    @property
    @abstractmethod
    def version(self) -> str:
        """The engine's own version."""


# Data frames from rows of Python values, in which whole numbers stay exact beside NULLs.

FRAME_TYPES = {
    "TINYINT": ("int8", "Int8"),
    "SMALLINT": ("int16", "Int16"),
    "INTEGER": ("int32", "Int32"),
    "BIGINT": ("int64", "Int64"),
    "BOOLEAN": ("bool", "boolean"),
    "FLOAT": ("float32", "float32"),
    "DOUBLE": ("float64", "float64"),
}
"""The pandas types of DuckDB's, without and with NULLs, as in DuckDB's own frames. pandas itself
would make doubles of whole numbers beside NULLs. It finds all other types from the values."""


def frame_of(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """The rows of columns with these names and (DuckDB's) types, as a data frame."""
    import pandas as pd

    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    made = {}
    for number, (_, kind) in enumerate(columns):
        plain, nullable = FRAME_TYPES.get(kind, (None, None))
        dtype: Any = nullable if None in values[number] else plain
        made[number] = pd.Series(list(values[number]), dtype=dtype)
    frame = pd.DataFrame(made)
    frame.columns = pd.Index([name for name, _ in columns])
    return frame
