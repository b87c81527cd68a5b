"""A draft policy for all tables of a database whose rows reach a person. To be reviewed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymizer.engines.base import Limits
from anonymizer.engines.session import Database
from anonymizer.policy import Policy
from anonymizer.review.assess.opening import open_database
from anonymizer.review.draft.fallback import without_quasi
from anonymizer.review.draft.guess import Guess
from anonymizer.review.draft.tables.found import find_tables
from anonymizer.review.draft.tables.links import find_links
from anonymizer.review.draft.tables.roles import key_of, roles
from anonymizer.review.draft.tables.text import Drafted, Written, text_of
from anonymizer.review.draft.tables.tree import find_tree
from anonymizer.review.draft.tables.without import left_out


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
        tree = find_tree(engine, tables, links, missed)
    drafted: dict[str, Drafted] = {}
    for table in (tree.person, *tree.links):
        guesses = roles(table, tree, tables, links)
        person = table == tree.person
        everybody = without_quasi(tables[table].profiles, guesses, file=False) if person else None
        key = key_of(table, tree, tables)
        drafted[table] = Drafted(tables[table], guesses, key, tree.links.get(table), everybody)
    without = left_out(known, tree, links, missed)
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
    )
