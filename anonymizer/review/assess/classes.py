"""Open a table for assessment, and compute its equivalence classes once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from anonymizer.compile import NumberedColumn, Sql, Table, ident, render, work
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine, borrowed_connection
from anonymizer.engines.duckdb.files import matching, read_files
from anonymizer.engines.duckdb.sandbox import own_connection, refuse_missing
from anonymizer.engines.duckdb.source import run_query
from anonymizer.engines.session import Database, find_table
from anonymizer.errors import AnonymizerError, Problem, SourceError
from anonymizer.policy.reading import Reading
from anonymizer.policy.values import FORMATS, file_format
from anonymizer.source.files import file_relation
from anonymizer.source.profile import Kind, TableProfile, kind_of, published_type
from anonymizer.source.recognition import (
    UNREAD,
    Recognized,
    encoding_of,
    recognize_cells,
    recognize_form,
)
from anonymizer.source.snapshot import Relation, source_value, with_together

# Open a table for assessment, in a database or from a file. Nothing is written to either.


@dataclass(frozen=True, slots=True)
class AssessedTable:
    """An engine with scratch space, the table as a relation, and its columns."""

    engine: DuckDBEngine
    relation: Relation
    columns: tuple[tuple[str, str], ...]
    """Name and SQL type, in order."""
    recognized: Recognized = UNREAD
    """How a text file is meant, if that was asked for."""
    is_file: bool = False
    """True if it is a file, or several."""

    def type_of(self, column: str) -> str:
        return dict(self.columns)[column]

    def with_together(self, person: str | None) -> AssessedTable:
        """The table with a column of several that identify persons together, if they do."""
        relation, profile = with_together([person], self.relation, TableProfile(self.columns))
        return replace(self, relation=relation, columns=profile.columns)

    def value(self, column: str) -> Sql:
        """A column as it is compared."""
        return source_value(column, self.type_of(column), grouped=False)

    def select(self, template: str, where: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """Run a template over the table and return its rows; `where`: what errors refer to."""
        source = self.relation
        over = {"source": source.table or source.sql, "relation": source.sql}
        text = render(f"{template}", {**over, **parameters}).text
        return self.engine.raw(text, where)

    def find(self, names: Sequence[str], option: str) -> tuple[str, ...]:
        """Look up columns by name, ignoring letter case; return the names as spelled in the table.

        Raises SourceError listing every name that was not found.
        """
        (found,) = self.find_all({option: names})
        return found

    def find_all(self, named: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
        """Look up the columns of several options. Raises SourceError listing all missing names."""
        folded = {name.lower(): name for name, _ in self.columns}
        exact = {name for name, _ in self.columns}
        problems = []
        for option, names in named.items():
            for name in names:
                if name not in exact and name.lower() not in folded:
                    near = get_close_matches(name, sorted(exact), n=1)
                    hint = f"did you mean {near[0]}?" if near else None
                    said = f"{name} is not a column of the table"
                    allowed = None if near else ", ".join(name for name, _ in self.columns)
                    problems.append(Problem(option, said, allowed=allowed, hint=hint))
        SourceError.refuse(problems)
        return [
            tuple(name if name in exact else folded[name.lower()] for name in names)
            for names in named.values()
        ]


@contextmanager
def open_database(database: Database, limits: Limits | None = None) -> Iterator[DuckDBEngine]:
    """Open a database whose tables are not yet known. Raises SourceError if it does not exist."""
    if database is None:
        hint = "or name a table or a file: anonymizer init TABLE"
        raise SourceError.at("--database", "is needed to find tables in", hint=hint)
    if isinstance(database, str | Path):
        refuse_missing(database)
        opened = own_connection(Path(database).resolve(), limits=limits or Limits())
    else:
        opened = borrowed_connection(database)
    with opened as engine:
        yield engine


@contextmanager
def open_files(files: Sequence[str], limits: Limits | None = None) -> Iterator[list[AssessedTable]]:
    """Open several data files (or patterns), each as a table of its own; their rows are copied into
    scratch tables. Raises SourceError if one is missing or cannot be read.
    """
    there = [matching(Path(file)) for file in files]
    named = [path.resolve() for paths in there for path in paths]
    missing = [path for path in named if not path.is_file()]
    SourceError.refuse(Problem("TABLE", f"there is no file {path.name}") for path in missing)
    with own_connection(None, files=named, limits=limits or Limits()) as engine:
        opened = []
        for number, paths in enumerate(there):
            copy = work(f"assess_file_{number}")
            try:
                recognized = recognize(engine, paths)
                relation = read_files(engine, paths, recognized.read, QUERIED, "TABLE")
            except AnonymizerError as error:
                said = f"{paths[0].name}: "
                raise type(error)(
                    replace(one, message=said + one.message) for one in error.problems
                ) from error
            engine.raw(f"create or replace table {ident(copy)} as from {relation.sql}", "TABLE")
            read = Relation(ident(copy), copy)
            columns = tuple(engine.describe(read.sql.text, "TABLE"))
            opened.append(AssessedTable(engine, read, columns, recognized, True))
        yield opened


QUERY = re.compile(r"\s*(select|with|from|values)\s|\s*\(", re.IGNORECASE)
"""How a query begins."""
QUERIED, GUESSED = work("assess_query"), work("assess_guessed")


@contextmanager
def open_table(
    table: str,
    database: Database,
    *,
    files: Sequence[str | Path] = (),
    limits: Limits | None = None,
    queries: bool = False,
    recognizes: bool = False,
    read: Reading | None = None,
) -> Iterator[AssessedTable]:
    """Open `table` (a table or view of `database`, a file, or the pattern of several).

    `files` may be read as well; with `queries`, `table` may be a query over `database`. `read`: how
    a text file is read, which is found from it if `recognizes`. Raises SourceError if something is
    not found.
    """
    is_query = queries and QUERY.match(table) is not None
    path = Path(database).resolve() if isinstance(database, str | Path) else None
    if isinstance(database, str | Path):
        refuse_missing(database)
    source: tuple[Path, ...] = ()
    if is_query and database is None:
        hint = "or name a .parquet, .csv or .json file instead of a query"
        raise SourceError.at("--database", "is needed for a query", hint=hint)
    found = matching(Path(table)) if file_format(table) else ()
    if not is_query and (database is None or any(file.is_file() for file in found)):
        if "://" in table:
            hint = "fetch the file first; nothing is read from a network"
            raise SourceError.at("TABLE", "must be a local path", hint=hint)
        if not file_format(table) and Path(table).exists():
            folder = Path(table).is_dir()
            files = f"{Path(table).as_posix()}/*.parquet" if folder else table
            raise SourceError.at(
                "TABLE",
                "is a folder" if folder else "has an unknown file extension",
                allowed=", ".join(FORMATS),
                hint=f"or make a table of it in a database: create table t as from '{files}'",
            )
        if not file_format(table):
            raise SourceError.at(
                "--database",
                "is needed for a table",
                hint="or name a .parquet, .csv or .json file instead of a table",
            )
        source = tuple(file.resolve() for file in found)
    named = [*(Path(file).resolve() for file in files), *source]
    missing = [file for file in named if not file.is_file()]
    SourceError.refuse(Problem("TABLE", f"there is no file {file.name}") for file in missing)
    with ExitStack() as stack:
        if database is None or path is not None:
            engine = stack.enter_context(
                own_connection(path, files=named, limits=limits or Limits())
            )
        else:
            assert not isinstance(database, str | Path)
            engine = stack.enter_context(borrowed_connection(database))
        recognized = UNREAD if read is None else Recognized(read)
        if is_query:
            relation = run_query(table, engine, QUERIED, "TABLE")
        elif source:
            if recognizes:
                recognized = recognize(engine, source)
            relation = read_files(engine, source, recognized.read, QUERIED, "TABLE")
        else:
            relation = relation_of(engine, table, "TABLE")
        columns = tuple(engine.describe(relation.sql.text, "TABLE"))
        yield AssessedTable(engine, relation, columns, recognized, bool(source))


def recognize(engine: DuckDBEngine, files: Sequence[Path]) -> Recognized:
    """How text files of one form are meant, by the first one and the cells of all."""
    kind = file_format(files[0].name)
    if kind not in ("csv", "excel", "json"):
        return UNREAD
    if len({encoding_of(file) for file in files if file_format(file.name) == "csv"}) > 1:
        said = "names files in different encodings"
        raise SourceError.at("TABLE", said, hint="write all in one, or read them apart")
    form = UNREAD if kind == "json" else recognize_form(files[0])
    read = _separated(form.read, form)
    texts = read_files(engine, files, read, QUERIED, "TABLE", texts=True).sql
    guessed = read_files(engine, files, read, GUESSED, "TABLE").sql
    columns = engine.describe(guessed.text, "TABLE")

    def ask(text: str) -> list[tuple[Any, ...]]:
        return engine.raw(text, "TABLE")

    cells = recognize_cells(read, columns, texts, ask, zeros=kind != "json")
    notes = (*form.notes, *cells.notes)
    return Recognized(_separated(cells.read, form), notes, spoilt=cells.spoilt)


def _separated(read: Reading, form: Recognized) -> Reading:
    """How a file is read, with the sign between its cells where anything is stated."""
    if read == UNREAD.read or form.separator is None:
        return read
    return read.model_copy(update={"delimiter": form.separator})


def relation_of(engine: DuckDBEngine, name: str, option: str) -> Relation:
    """Resolve a name to a table of the engine's source, or to a file that the engine may read."""
    if file_format(name) and Path(name).is_file():
        return Relation(file_relation(Path(name).resolve(), engine.raw, option))
    table: Table = find_table(engine, name, option)
    return Relation(ident(table), table)


# Work tables of an assessment: the equivalence classes, computed once, and their members.


CLASSES = work("assess_classes")
"""class_id, q1…, n (rows), persons; one row per distinct tuple."""
MEMBERS = work("assess_members")
"""class_id, s1…, person; one row per row of the table."""


@dataclass(frozen=True, slots=True)
class SensitiveColumn:
    """A sensitive column of an assessment; `s<index>` in MEMBERS."""

    index: int
    column: str
    sql_type: str
    kind: Kind

    s = NumberedColumn("s")


@dataclass(frozen=True, slots=True)
class Staged:
    """A table that has been reduced to its distinct tuples."""

    opened: AssessedTable
    quasi: tuple[str, ...]
    sensitive: tuple[SensitiveColumn, ...]
    person: str | None

    @property
    def q(self) -> list[Sql]:
        """The quasi-identifiers in CLASSES."""
        return [Sql(f"q{i}") for i in range(1, len(self.quasi) + 1)]

    @property
    def unit(self) -> Sql:
        """The column of CLASSES that counts the protected units."""
        return Sql("persons" if self.person is not None else "n")

    def select(self, template: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """Run a template over the staged tables and fetch its result, which is small."""
        known = {
            "classes": CLASSES,
            "members": MEMBERS,
            "quasi": self.q,
            "unit": self.unit,
            "by_person": self.person is not None,
        }
        text = render(template, {**known, **parameters}).text
        return self.opened.engine.raw(text, template)


def stage(
    opened: AssessedTable, quasi: tuple[str, ...], sensitive: tuple[str, ...], person: str | None
) -> Staged:
    """Stage the table in two scans: one for the classes, one that assigns each row its class."""
    valued = tuple(
        SensitiveColumn(
            i,
            name,
            published_type(opened.type_of(name)),
            kind_of(opened.type_of(name)) or "categorical",
        )
        for i, name in enumerate(sensitive, start=1)
    )
    staged = Staged(opened, quasi, valued, person)
    keys = [(opened.value(name), q) for name, q in zip(quasi, staged.q, strict=True)]
    source = {
        "source": opened.relation.table or opened.relation.sql,
        "relation": opened.relation.sql,
        "keys": keys,
        "person": None if person is None else ident(person),
    }
    staged.select("assess/classes", **source)
    if valued or person is not None:
        carried = [(opened.value(v.column), v.s) for v in valued]
        staged.select("assess/members", **source, carried=carried)
    return staged
