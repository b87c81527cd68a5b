"""The persons' table, and the tree of tables whose rows reach a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anonymizer.compile import Sql, Table, ident, render
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import SourceError
from anonymizer.review.draft.tables.found import WHERE, Found, of_one_row
from anonymizer.review.draft.tables.links import Link, Several
from anonymizer.source import column_names

PEOPLE = frozenset(
    ("people", "participant", "pupil", "resident", "guest", "applicant", "borrower", "passenger")
)
"""Words for one row of a table of persons, in addition to those for columns."""
INSTEAD = "anonymizer init TABLE drafts a policy for one table"


@dataclass(frozen=True, slots=True)
class Tree:
    """Tables connected by the links that lead to the persons."""

    person: str
    links: dict[str, Link]
    """The link of every other table, after the link of the table to which it leads."""
    others: tuple[str, ...]
    """Other tables that look like a table of persons."""
    astray: dict[Link, int]
    """Rejected links, and the number of rows in which each leads to a different person."""

    def way(self, table: str) -> list[Link]:
        """The links from a table to the persons."""
        found: list[Link] = []
        while table in self.links:
            found.append(self.links[table])
            table = found[-1].to
        return found


def find_tree(
    engine: DuckDBEngine,
    tables: Mapping[str, Found],
    links: Sequence[Link],
    missed: Sequence[Link] = (),
    several: Sequence[Several] = (),
) -> Tree:
    """The tree of tables. Raises SourceError where there are no persons, or nothing of them.

    `missed`: links but for a few values; `several`: links of several columns. They are named where
    there is no other one.
    """
    person, others = _persons(tables, links, missed, several)
    found = Tree(person, _nearest(person, links), others, {})
    _hang_deeper(engine, tables, links, found)
    chosen = dict(sorted(found.links.items(), key=lambda item: len(found.way(item[0]))))
    return Tree(person, chosen, tuple(n for n in others if n not in chosen), found.astray)


def _persons(
    tables: Mapping[str, Found],
    links: Sequence[Link],
    missed: Sequence[Link],
    several: Sequence[Several],
) -> tuple[str, tuple[str, ...]]:
    """The table with one row per person, and others that look like one."""
    reached = {name: _reaching(name, links) for name in tables}
    likely = {
        name: _likeness(one, len(reached[name]), links) for name, one in tables.items() if one.keys
    }
    ranked = sorted((name for name in likely if any(likely[name][:3])), key=lambda n: likely[n])
    with_rows = [name for name in ranked if reached[name]]
    if with_rows:
        person = with_rows[-1]
        return person, tuple(
            name for name in reversed(with_rows) if any(likely[name][:3]) and name != person
        )
    if len(tables) == 1:
        (alone,) = tables
        said = f"has one table with rows, {alone}, and no other one that leads to its persons"
    elif ranked:
        said = f"has no table with a column that holds keys of {ranked[-1]}, the persons"
        near = [link for link in missed if link.to == ranked[-1]]
        if near:
            link = min(near, key=lambda link: link.strangers / link.different)
            said += f": in {link.table}, {link.told}"
    else:
        said = (
            "has no table of persons: one row each, a key that columns of other tables hold,"
            " and columns such as a birth date or a sex"
        )
    if several:
        said += f"; in {several[0].table}, {several[0].told}"
        raise SourceError.at(WHERE, said, hint=f"add such a column to both tables, or {INSTEAD}")
    raise SourceError.at(WHERE, said, hint=INSTEAD)


def _reaching(table: str, links: Sequence[Link]) -> set[str]:
    """The tables from which links lead to a table, directly or through others."""
    found: set[str] = set()
    ends = {table}
    while ends:
        ends = {link.table for link in links if link.to in ends} - found - {table}
        found |= ends
    return found


def _likeness(
    one: Found, reached: int, links: Sequence[Link]
) -> tuple[bool, bool, bool, bool, int, int, int]:
    """Sort key: how much a table looks like one of persons; one of the first three must be true."""
    keys = [link.key for link in links if link.to == one.name and link.table != one.name]
    key = keys[0] if keys else one.keys[0]
    row = of_one_row(one.table.name)
    several = _of_several(key, row)
    said = bool(row) and row[-1] in column_names.PERSON | PEOPLE and not several
    named = said or (column_names.names_person(key) and not several)
    columns = [p.column for p in one.profiles if (p.different or 0) > 1]
    own = sum(column_names.says(name, column_names.INDIVIDUAL) for name in columns)
    places = sum(column_names.says(name, column_names.PLACES) for name in columns)
    # a table with several rows for one person records events
    repeated = any(
        column_names.names_person(p.column)
        and not _of_several(p.column, [])
        and p.column != key
        and (p.different or 0) < p.known
        for p in one.profiles
    )
    likely = named or (own > 0 and own + places > 1 and not repeated)
    return (
        (said and own > 0) or (named and own > 1),
        said,
        likely,
        bool(row) and key.casefold().startswith(row[-1]),
        reached,
        own + places,
        one.rows,
    )


def _of_several(key: str, row: list[str]) -> bool:
    """Whether rows are groups of persons."""
    return column_names.says(key, column_names.GROUPS) or not column_names.GROUPS.isdisjoint(row)


def _nearest(person: str, links: Sequence[Link]) -> dict[str, Link]:
    """The link that begins the shortest path to the persons, for every table that has one."""
    chosen: dict[str, Link] = {}
    level = {person}
    while level:
        further: dict[str, Link] = {}
        for link in sorted(links, key=lambda link: link.preference):
            known = link.table == person or link.table in chosen or link.table in further
            if not known and link.to in level and _has_key(link, chosen):
                further[link.table] = link
        chosen |= further
        level = set(further)
    return chosen


def _has_key(link: Link, chosen: Mapping[str, Link]) -> bool:
    """Whether a column is not both the key of a table and its link."""
    return link.to not in chosen or chosen[link.to].column != link.key


def _hang_deeper(
    engine: DuckDBEngine, tables: Mapping[str, Found], links: Sequence[Link], tree: Tree
) -> None:
    """Link rows to the most detailed table that they have a key of: lab results to a visit."""
    changed = True
    while changed:
        changed = False
        for link in sorted(links, key=lambda link: link.preference):
            now = tree.links.get(link.table)
            if now is None or link in tree.astray or not _deeper(link, now, tree):
                continue
            rows = _astray(engine, tables, tree, link)
            if rows:
                tree.astray[link] = rows
                continue
            tree.links[link.table] = link
            changed = True


def _deeper(link: Link, now: Link, tree: Tree) -> bool:
    way = [link, *tree.way(link.to)]
    return (
        link.nulls == 0
        and way[-1].to == tree.person
        and len(way) > len(tree.way(link.table))
        and link.table not in (step.to for step in way)
        and link.column != now.column
        and _has_key(link, tree.links)
        # the column is not a key that other tables hold of this one
        and not any(one.to == link.table and one.key == link.column for one in tree.links.values())
    )


def _astray(engine: DuckDBEngine, tables: Mapping[str, Found], tree: Tree, link: Link) -> int:
    """Count the rows of a table that another link leads to a different person."""
    joins: list[dict[str, Sql]] = []
    ends: list[dict[str, Sql]] = []
    read: list[Table] = [tables[link.table].relation]
    for way in (tree.way(link.table), [link, *tree.way(link.to)]):
        below = Sql("t")
        for step in way[:-1]:
            name = Sql(f"t{len(joins) + 1}")
            relation = tables[step.to].relation
            join = {"table": ident(relation), "name": name, "key": ident(step.key)}
            joins.append({**join, "below": below, "column": ident(step.column)})
            read.append(relation)
            below = name
        ends.append({"name": below, "column": ident(way[-1].column)})
    context = {"tables": read, "table": ident(read[0]), "joins": joins, "ends": ends}
    return int(engine.raw(render("drafting/astray.sql.j2", context).text, "links")[0][0])
