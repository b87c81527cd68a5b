"""A draft policy for all tables of a database whose rows reach a person. To be reviewed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymizer.compile import ident
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.session import Database
from anonymizer.policy import Policy
from anonymizer.review.assess.opening import open_database
from anonymizer.review.draft.fallback import without_quasi
from anonymizer.review.draft.guess import Guess
from anonymizer.review.draft.others import of_others
from anonymizer.review.draft.tables.found import Found, find_tables
from anonymizer.review.draft.tables.links import find_links
from anonymizer.review.draft.tables.roles import key_of, roles
from anonymizer.review.draft.tables.several import links_of_several
from anonymizer.review.draft.tables.text import Drafted, Written, text_of
from anonymizer.review.draft.tables.tree import Tree, find_tree
from anonymizer.review.draft.tables.without import left_out
from anonymizer.source.relation import Relation


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
