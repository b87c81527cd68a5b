"""The tables of a database, each with its counts, guessed roles and candidate keys."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from anonymizer.compile import Table, ident, lit, render
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import SourceError
from anonymizer.policy.words import words
from anonymizer.release import objects
from anonymizer.review.assess.opening import Opened
from anonymizer.review.draft.context import guesses
from anonymizer.review.draft.guess import Guess
from anonymizer.review.draft.profiles import Profile, profiles
from anonymizer.source import column_names
from anonymizer.source.persons import countable
from anonymizer.source.relation import Relation

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
    """Whether a key's name says nothing about its table: `id`, `row_no`."""
    return name.isascii() and all(
        word in column_names.KEY or word in ("row", "record") for word in words(name)
    )


def like_key(column: str, table: str) -> int | None:
    """How well a column is named as the key of its table, 0 best; None if it is not."""
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
    """How well a column's name matches the keys of a table, 0 best; None if it does not.

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
class Declared:
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
    declared: Declared
    keys: tuple[str, ...]
    """Candidate keys: unique columns without NULLs, the most likely first."""

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


def find_tables(engine: DuckDBEngine) -> Tables:
    """Find all tables except the tool's own, or the views of a database without tables.

    Raises SourceError if there are neither.
    """
    catalog = lit(engine.catalog)
    listed = engine.raw(render("drafting/catalog.sql.j2", {"catalog": catalog}).text, WHERE)
    ours = {(item.schema, item.name) for item in objects.recorded(engine, str(engine.catalog))}
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
    declared = _declared(engine)
    found: dict[str, Found] = {}
    empty: list[str] = []
    for table, name in zip(chosen, _names(chosen), strict=True):
        relation = table if tables else engine.plain(table, WHERE)
        one = _found(engine, name, table, relation, declared[str(table.schema), table.name])
        if one.rows:
            found[name] = one
        else:
            empty.append(name)
    return Tables(found, tuple(empty), len(others) - len(chosen))


def _declared(engine: DuckDBEngine) -> dict[tuple[str, str], Declared]:
    text = render("drafting/constraints.sql.j2", {"catalog": lit(engine.catalog)}).text
    found: dict[tuple[str, str], Declared] = defaultdict(Declared)
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


def _found(
    engine: DuckDBEngine, name: str, table: Table, relation: Table, declared: Declared
) -> Found:
    text = ident(relation)
    columns = tuple(engine.describe(text.text, WHERE))
    opened = Opened(engine, Relation(text, relation), columns)
    counted = profiles(opened, identifiers=True)
    if not counted or not counted[0].rows:
        return Found(name, table, relation, counted, {}, declared, ())
    alone = [p.column for p in counted if p.unique and countable(p.sql_type)]
    named = {column: like_key(column, table.name) for column in alone}
    order = {column: place for place, column in enumerate(declared.keys)}
    order |= {c: len(order) + n for c, n in named.items() if n is not None and c not in order}
    keys = tuple(sorted((c for c in alone if c in order), key=lambda column: order[column]))
    return Found(name, table, relation, counted, guesses(opened, counted), declared, keys)
