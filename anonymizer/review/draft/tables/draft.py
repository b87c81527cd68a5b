"""A draft policy for all tables of a database whose rows reach a person. To be reviewed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymizer.compile import ident
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.session import Database
from anonymizer.policy import Policy
from anonymizer.review.assess.opening import open_database
from anonymizer.review.draft.guess import ANOTHER, Guess, of_others, spread_of, without_quasi
from anonymizer.review.draft.profiles import FEW, Profile
from anonymizer.review.draft.tables.found import OWN, Found, Tables, find_tables, like_key
from anonymizer.review.draft.tables.links import Link, Several, find_links, links_of_several
from anonymizer.review.draft.tables.text import Drafted, Written, text_of
from anonymizer.review.draft.tables.tree import Tree, find_tree
from anonymizer.review.draft.writing import TAKEN, own_names
from anonymizer.review.suggest.rules import of_writing
from anonymizer.source import column_names
from anonymizer.source.profile import kind_of
from anonymizer.source.relation import Relation

DRAWN = "published as a number drawn for this release"
CODES = frozenset(("code", "icd", "dx"))
"""Words in names of codes, which may be numeric."""
OPEN = ("quasi", "event", "sensitive", "keep")
"""Roles of columns that are published."""
SECRET = "role: sensitive, if nobody knows one"


def key_of(table: str, tree: Tree, tables: Mapping[str, Found]) -> str | None:
    """The key of a table: the column that links refer to and that is not a link itself."""
    one, own = tables[table], tree.links[table].column if table in tree.links else None
    leading = [link.key for link in tree.links.values() if link.to == table]
    named = [
        key for key in one.keys if key in one.declared.keys or like_key(key, one.table.name) in OWN
    ]
    return next((key for key in (*leading, *named) if key != own), None)


def roles(
    table: str,
    tree: Tree,
    tables: Mapping[str, Found],
    links: Sequence[Link],
    others: Mapping[str, Guess],
) -> dict[str, Guess]:
    """The role of every column, in the table's column order; `others`: of those that name another
    person.
    """
    one, key = tables[table], key_of(table, tree, tables)
    person = table == tree.person
    made = dict(one.guesses) if person else dict(_of_rows(one))
    made |= own_names(made, TAKEN if person else TAKEN[1:])
    made |= {name: one for name, one in others.items() if made[name].role in OPEN}
    made |= _not_taken(table, tree, links)
    if table in tree.links:
        link = tree.links[table]
        made[link.column] = Guess("key", f"leads to {link.to}; {DRAWN}")
    if key is not None:
        whose = "numbers the persons" if person else "numbers the rows"
        made[key] = Guess("key", f"{whose}; {DRAWN}")
    return made


def _not_taken(table: str, tree: Tree, links: Sequence[Link]) -> dict[str, Guess]:
    """Columns that hold keys of other tables than the one through which persons are reached."""
    found: dict[str, Guess] = {}
    own = tree.links.get(table)
    # if a column has several links, the reason against it comes first
    for link in sorted(links, key=lambda link: (link not in tree.astray, link.preference)):
        if link.table != table or (own is not None and link.column == own.column):
            continue
        rows = tree.astray.get(link)
        role = "drop"
        if link.to == table == tree.person:
            role, said = "identifier", f"holds keys of {link.to}; {ANOTHER}"
        elif link.to == table:
            said = "leads to rows of the same table, which is not offered"
        elif own is None:
            said = f"holds keys of {link.to}, which has no row per person; role: quasi, if known"
        elif rows:
            said = f"leads to {link.to}, and in {rows:,} rows to another person than {own.column}"
        elif link.to == tree.person or link.to in tree.links:
            said = f"leads to {link.to} as well: rows reach their person by {own.column}"
        else:
            said = f"holds keys of {link.to}, which reaches no person; role: event, if known"
        found.setdefault(link.column, Guess(role, said))
    return found


def _of_rows(one: Found) -> Iterator[tuple[str, Guess]]:
    """Columns of a table with several rows per person; quasi columns become events."""
    for p in one.profiles:
        found = one.guesses[p.column]
        if found.role == "quasi":
            yield p.column, Guess("event", found.reason, found.sure)
        elif found.role == "sensitive":
            yield p.column, _event(p) or found
        else:
            yield p.column, found


def _event(p: Profile) -> Guess | None:
    """Role event for what happened to a person, if others may know of one such row."""
    spread = spread_of(p)
    if kind_of(p.sql_type) == "date":
        return Guess("event", f"says when, which others may know of a row; {spread}")
    if p.measure:
        return None
    text = p.text or p.sql_type.startswith("ENUM")
    many = text and (of_writing(p) is not None or (p.different or 0) > FEW)
    if many or column_names.says(p.column, CODES):
        said = "a code of what happened, which others may know of a row"
        return Guess("event", f"{said}; {SECRET}; {spread}")
    if text and column_names.says(p.column, column_names.DONE):
        said = "says what was done, which others may know of a row"
        return Guess("event", f"{said}; {SECRET}; {spread}")
    return None


def left_out(
    known: Tables,
    tree: Tree,
    links: Sequence[Link],
    missed: Sequence[Link],
    several: Sequence[Several],
) -> dict[str, str]:
    """Tables left out, sorted by name, with the reason."""
    there = {tree.person, *tree.links}
    found = dict.fromkeys(known.empty, "has no rows")
    for name in known.found:
        if name not in there:
            found[name] = f"reaches no person: {_reason(name, there, links, missed, several)}"
    return dict(sorted(found.items()))


def _reason(
    name: str,
    there: set[str],
    links: Sequence[Link],
    missed: Sequence[Link],
    several: Sequence[Several],
) -> str:
    declared = [one for one in several if one.table == name]
    if declared:
        return f"{declared[0].told}; {declared[0].cure}"
    near = [link for link in missed if link.table == name and link.to in there]
    if near:
        return min(near, key=lambda link: (link.fit, link.strangers / link.different)).told
    away = [link for link in links if link.table == name and link.to not in there]
    to_it = [link for link in links if link.to == name and link.table in there]
    if to_it:
        link = to_it[0]
        return (
            f"{link.table}.{link.column} holds its keys; what is needed of it can be joined in"
            f" source.query of {link.table}"
        )
    if away:
        return f"it leads to {away[0].to}, which is left out; alone: anonymizer init {name}"
    return (
        "no column holds keys of a table above; if one does, add the table with links:"
        f" {{column: table}}; alone: anonymizer init {name}"
    )


@dataclass(frozen=True, slots=True)
class TablesDraft:
    """A policy of several tables as text, and the findings it is based on."""

    text: str
    person: str
    """The table with one row per person."""
    guesses: dict[str, dict[str, Guess]]
    """By table and column."""
    keys: dict[str, str | None]
    links: dict[str, tuple[str, str]]
    """By table: its own column, and the table that this column links to."""
    left_out: dict[str, str]
    """Tables that are not in the policy, with the reason."""
    not_linked: dict[str, str]
    """By table: a declared link that is not in the policy."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "policy": self.text,
            "person": self.person,
            "tables": {
                table: {
                    "key": self.keys[table],
                    "links": dict([self.links[table]]) if table in self.links else {},
                    "columns": {n: {"role": g.role, "reason": g.reason} for n, g in found.items()},
                }
                for table, found in self.guesses.items()
            },
            "left_out": self.left_out,
            "not_linked": self.not_linked,
        }


def draft_tables(
    database: Database, *, base: str | Path = ".", limits: Limits | None = None
) -> TablesDraft:
    """Draft one policy for the tables of `database` whose rows reach a person.

    `base`: the folder of the policy file. Raises SourceError if no table has one row per person, or
    if no other table links to it.
    """
    with open_database(database, limits) as engine:
        known = find_tables(engine)
        tables = known.found
        links, missed = find_links(engine, tables)
        several = links_of_several(tables)
        tree = find_tree(engine, tables, links, missed, several)
        others = _others(engine, tree, tables)
    drafted: dict[str, Drafted] = {}
    for table in (tree.person, *tree.links):
        guesses = roles(table, tree, tables, links, others[table])
        person = table == tree.person
        everybody = without_quasi(tables[table].profiles, guesses, file=False) if person else None
        drafted[table] = Drafted(
            tables[table],
            guesses,
            key_of(table, tree, tables),
            tree.links.get(table),
            everybody,
            tuple(one for one in several if one.table == table),
        )
    without = left_out(known, tree, links, missed, several)
    stem = Path(database).stem if isinstance(database, str | Path) else None
    text = text_of(
        Written(stem, tree.person, tuple(drafted.values()), tree.others, without, known.views)
    )
    Policy.loads(text, base)  # an invalid draft is a bug in this tool
    return TablesDraft(
        text,
        tree.person,
        {name: one.guesses for name, one in drafted.items()},
        {name: one.key for name, one in drafted.items()},
        {name: (link.column, link.to) for name, link in tree.links.items()},
        without,
        {one.table: f"{one.told}; {one.cure}" for one in several if one.table in drafted},
    )


def _others(
    engine: DuckDBEngine, tree: Tree, tables: Mapping[str, Found]
) -> dict[str, dict[str, Guess]]:
    """The columns of every table that hold keys of persons, besides those that lead to them."""
    persons, key = tables[tree.person], key_of(tree.person, tree, tables)
    numbers = next(p for p in persons.profiles if p.column == key)
    found: dict[str, dict[str, Guess]] = {}
    for name in (tree.person, *tree.links):
        one = tables[name]
        own = tree.links[name].column if name in tree.links else key
        columns = [p for p in one.profiles if p.column != own]
        found[name] = of_others(
            engine, _relation(one), columns, _relation(persons), numbers, tree.person
        )
    return found


def _relation(one: Found) -> Relation:
    return Relation(ident(one.relation), one.relation)
