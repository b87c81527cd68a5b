"""The tables of a database or of files: counts, guessed roles and candidate keys of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from anonymizer.compile import Table, ident, lit, render
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.session import find_table
from anonymizer.errors import SourceError
from anonymizer.policy.paths import words
from anonymizer.policy.values import file_stem
from anonymizer.release import objects
from anonymizer.review.assess.classes import AssessedTable
from anonymizer.review.draft.guess import Guess, Profile, guesses, profiles
from anonymizer.source import column_names
from anonymizer.source.column_names import countable
from anonymizer.source.recognition import UNREAD, Recognized
from anonymizer.source.snapshot import Relation

AROUND = {
    *("dim", "fact", "fct", "d", "f", "tbl", "table", "t", "stg", "src", "raw", "dwh"),
    *("master", "base", "data", "info", "list"),
}
"""Words in a table's name that do not describe its rows."""
LEADING = ("fk", "ref", "id", "key")
"""Words before the name that a column refers to: `fk_patient`, `id_patient`."""
OWN = (0, 1)
"""The `like_key` ranks of a key that is named after its table."""
SHORTEST = 3
"""Least number of letters that may abbreviate a table's name: `cust_id`."""


def singular(word: str) -> str:
    """The singular of a word: `patients` to patient, `diaries` to diary, `addresses` to address."""
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def of_one_row(table: str) -> list[str]:
    """Words for one row of a table: lab and result for `dim_lab_results`."""
    found = words(table)
    said = [word for word in found if word not in AROUND] or found
    return [*said[:-1], singular(said[-1])] if said else []


def generic(name: str) -> bool:
    """Return whether a key's name says nothing about its table: `id`, `row_no`."""
    return name.isascii() and all(
        word in column_names.KEY or word in ("row", "record") for word in words(name)
    )


def like_key(column: str, table: str) -> int | None:
    """Rate a column's name as the key of its table, 0 best; None if it is not."""
    row = "".join(of_one_row(table))
    joined = "".join(words(column))
    keyed = column_names.says(column, column_names.KEY) or joined.endswith("id")
    if keyed and (generic(column) or (row and joined.startswith(row))):
        return 0
    if row and joined == row:
        return 1
    if column_names.names_person(column):
        return 2
    return 3 if keyed else None


def fits(column: str, key: str, table: str) -> int | None:
    """Rate the match of a column's name with the keys of a table, 0 best; None if it does not.

    In order: the key's own name; a row of the table; either after other words; a prefix of the
    table's name.
    """
    own, other = words(column), words(key)
    same = column.casefold() == key.casefold() or (own and "".join(own) == "".join(other))
    if same and not generic(key):
        return 0
    one = of_one_row(table)
    row = "".join(one)
    while len(own) > 1 and own[0] in LEADING:
        own = own[1:]
    if not own or not row:
        return None
    numbered = {row + word for word in column_names.KEY}
    if "".join(own) in (row, *numbered):
        return 1
    *beginning, last = own
    keyed = last in column_names.KEY
    if (keyed and beginning[-len(one) :] == one) or last in numbered:
        return 2
    if len(other) > 1 and own[-len(other) :] == other:
        return 2
    short = "".join(beginning)
    return 3 if keyed and len(short) >= SHORTEST and row.startswith(short) else None


WHERE = "--database"


@dataclass(frozen=True, slots=True)
class DeclaredKeys:
    """Keys and links that the database declares for a table."""

    keys: list[str] = field(default_factory=list)
    """Columns that are each a primary key or unique; the primary key first."""
    links: list[tuple[str, str, str]] = field(default_factory=list)
    """Own column, name of the other table, its column."""
    several: list[tuple[tuple[str, ...], str, tuple[str, ...]]] = field(default_factory=list)
    """The same for links of several columns."""


@dataclass(frozen=True, slots=True)
class Found:
    """One table."""

    name: str
    """Its name in the policy: the table's name, unless several tables share it."""
    table: Table
    """The table in the database."""
    relation: Table
    """The relation from which its rows are read."""
    profiles: tuple[Profile, ...]
    guesses: dict[str, Guess]
    declared: DeclaredKeys
    keys: tuple[str, ...]
    """Candidate keys: unique columns without NULLs, the most likely first."""
    file: str | None = None
    """The file of its rows, as named by the user."""
    recognized: Recognized = UNREAD
    """How the file is meant."""

    @property
    def rows(self) -> int:
        return self.profiles[0].rows if self.profiles else 0

    def of(self, column: str) -> Profile:
        """The counts of a column."""
        return next(p for p in self.profiles if p.column == column)


@dataclass(frozen=True, slots=True)
class Tables:
    """The contents of a database."""

    found: dict[str, Found]
    empty: tuple[str, ...]
    """Tables without rows."""
    views: int
    """Views that are left out because they show rows of tables."""


def find_files(files: Sequence[str], opened: Sequence[AssessedTable]) -> Tables:
    """The tables of files, each under the name of its file."""
    named = [Table(file_stem(file), Path(file).resolve().parent.name) for file in files]
    found: dict[str, Found] = {}
    empty: list[str] = []
    for file, table, one, name in zip(files, named, opened, _names(named), strict=True):
        counted = _counted(name, table, one, DeclaredKeys())
        if counted.rows:
            found[name] = replace(counted, file=file, recognized=one.recognized)
        else:
            empty.append(name)
    return Tables(found, tuple(empty), 0)


def find_tables(engine: DuckDBEngine, named: Sequence[str] = ()) -> Tables:
    """Find all tables except the tool's own, or the views of a database without tables.

    `named`: only these tables or views. Raises SourceError if there are none.
    """
    if named:
        wanted = [find_table(engine, name, "TABLE") for name in dict.fromkeys(named)]
        return _counted_tables(engine, [(table, table) for table in wanted], 0)
    catalog = lit(engine.catalog)
    listed = engine.raw(render("drafting/catalog", {"catalog": catalog}).text, WHERE)
    ours = {
        (item.schema, item.name) for item in objects.object_entries(engine, str(engine.catalog))
    }
    others = [
        (Table(str(name), str(schema), str(of)), bool(view))
        for of, schema, name, view in listed
        if schema != objects.SCHEMA and (of == "temp" or (schema, name) not in ours)
    ]
    tables = [table for table, view in others if not view]
    chosen = tables or [table for table, _ in others]
    if not chosen:
        hint = "views and rows of releases are left out; anonymizer init FILE drafts for a file"
        raise SourceError.at(WHERE, "has no tables", hint=hint)
    return _counted_tables(
        engine,
        [(t, t if tables else engine.readable_relation(t, WHERE)) for t in chosen],
        len(others) - len(chosen),
    )


def _counted_tables(
    engine: DuckDBEngine, chosen: Sequence[tuple[Table, Table]], views: int
) -> Tables:
    """Count tables, each with the relation from which its rows are read."""
    declared = _declared(engine)
    found: dict[str, Found] = {}
    empty: list[str] = []
    for (table, relation), name in zip(chosen, _names([t for t, _ in chosen]), strict=True):
        text = ident(relation)
        columns = tuple(engine.describe(text.text, WHERE))
        opened = AssessedTable(engine, Relation(text, relation), columns)
        one = _counted(name, table, opened, declared[str(table.schema), table.name])
        if one.rows:
            found[name] = one
        else:
            empty.append(name)
    return Tables(found, tuple(empty), views)


def _declared(engine: DuckDBEngine) -> dict[tuple[str, str], DeclaredKeys]:
    text = render("drafting/constraints", {"catalog": lit(engine.catalog)}).text
    found: dict[tuple[str, str], DeclaredKeys] = defaultdict(DeclaredKeys)
    for schema, table, kind, columns, other, keys in engine.raw(text, WHERE):
        declared, column = found[str(schema), str(table)], str(columns[0])
        if kind == "FOREIGN KEY" and len(columns) == 1:
            declared.links.append((column, str(other), str(keys[0])))
        elif kind == "FOREIGN KEY":
            declared.several.append((tuple(columns), str(other), tuple(keys)))
        elif len(columns) == 1 and column not in declared.keys:
            declared.keys.append(column)
    return found


def _names(tables: list[Table]) -> list[str]:
    """Table names for the policy, unique regardless of letter case.

    None equals another one followed by the suffix of a manifest.
    """
    names = [table.name.casefold() for table in tables]
    taken = {f"{name}_manifest" for name in names}
    made: list[str] = []
    for table in tables:
        alone = names.count(table.name.casefold()) == 1
        name = first = table.name if alone else f"{table.schema}_{table.name}"
        number = 1
        while name.casefold() in taken:
            number += 1
            name = f"{first}_{number}"
        taken.add(name.casefold())
        made.append(name)
    return made


def _counted(name: str, table: Table, opened: AssessedTable, declared: DeclaredKeys) -> Found:
    relation = opened.relation.table
    assert relation is not None
    counted = profiles(opened, identifiers=True)
    if not counted or not counted[0].rows:
        return Found(name, table, relation, counted, {}, declared, ())
    alone = [p.column for p in counted if p.unique and countable(p.sql_type)]
    named = {column: like_key(column, table.name) for column in alone}
    order = {column: place for place, column in enumerate(declared.keys)}
    order |= {c: len(order) + n for c, n in named.items() if n is not None and c not in order}
    keys = tuple(sorted((c for c in alone if c in order), key=lambda column: order[column]))
    return Found(name, table, relation, counted, guesses(opened, counted), declared, keys)
