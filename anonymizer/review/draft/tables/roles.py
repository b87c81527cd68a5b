"""Roles of the columns of several tables: guessed for each alone, then adjusted to its table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from anonymizer.review.draft.guess import ANOTHER, Guess, spread_of
from anonymizer.review.draft.profiles import FEW, Profile
from anonymizer.review.draft.tables.found import Found
from anonymizer.review.draft.tables.links import Link
from anonymizer.review.draft.tables.names import OWN, like_key
from anonymizer.review.draft.tables.tree import Tree
from anonymizer.review.draft.writing import TAKEN, own_names
from anonymizer.review.suggest.rules import of_writing
from anonymizer.source import column_names
from anonymizer.source.profile import kind_of

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
