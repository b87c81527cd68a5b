"""Links between tables, and the tree of links that reaches the persons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from anonymizer.compile import Sql, Table, ident, quote, render
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import SourceError
from anonymizer.process.text import many
from anonymizer.review.draft.table_draft import PLAIN
from anonymizer.review.draft.tables import (
    OWN,
    WHERE,
    Found,
    fits,
    like_key,
    of_one_row,
)
from anonymizer.source import column_names
from anonymizer.source.child import family
from anonymizer.source.column_names import countable


@dataclass(frozen=True, slots=True)
class Several:
    """A link that the database declares."""

    table: str
    columns: tuple[str, ...]
    to: str
    keys: tuple[str, ...]

    @property
    def description(self) -> str:
        """Describe it."""
        return (
            f"({', '.join(self.columns)}) is declared as a key of {self.to}"
            f" ({', '.join(self.keys)}), and a policy links by one column"
        )

    @property
    def cure(self) -> str:
        """The change that makes it a link."""
        made = " and ".join(dict.fromkeys(map(_joined, (self.columns, self.keys))))
        return (
            f"make one column of them in source.query of both tables, {made}, with the role key,"
            " and link by it"
        )


def links_of_several(tables: Mapping[str, Found]) -> tuple[Several, ...]:
    """The declared links of several columns between these tables."""
    by_place = {(one.table.schema, one.table.name): one.name for one in tables.values()}
    return tuple(
        Several(one.name, columns, by_place[one.table.schema, other], keys)
        for one in tables.values()
        for columns, other, keys in one.declared.several
        if (one.table.schema, other) in by_place
    )


def _joined(columns: Sequence[str]) -> str:
    return " || '-' || ".join(name if PLAIN.match(name) else quote(name) for name in columns)


AT_ONCE = 200
"""Pairs of columns compared by one statement."""
NEARLY = 0.1
"""Largest share of values without a matching key at which a link is drafted, if its name fits, or
else mentioned.
"""
NAMED = 2
"""Worst `fit` of a column that is surely named after the key."""
UNNAMED = 9
"""The `fit` of a declared link whose name does not match."""


@dataclass(frozen=True, slots=True)
class Link:
    """A column that holds keys of another table, or of its own table."""

    table: str
    column: str
    to: str
    key: str
    fit: int
    """Rating of its name's match with the key, 0 best."""
    own: bool = False
    """True if the key is named after its own table."""
    declared: bool = False
    nulls: int = 0
    """Rows in which the column is NULL."""
    strangers: int = 0
    """Values that are not a key of the other table."""
    different: int = 0

    @property
    def preference(self) -> tuple[bool, bool, bool, bool, int]:
        """Sort key for the links of one table, the best first."""
        broken = self.strangers > 0
        return (not self.declared, broken, self.nulls > 0, not self.own, self.fit)

    @property
    def orphans(self) -> str:
        """Why rows of its table lead to no row of the other; empty if all do."""
        rows = many(self.nulls, "row has", "rows have")
        without = f"{rows} no {self.column}" if self.nulls else ""
        strange = (
            f"{self.strangers:,} of {self.different:,} values of {self.column} are no key of"
            f" {self.to}"
        )
        return "; ".join(filter(None, (strange if self.strangers else "", without)))

    @property
    def description(self) -> str:
        """Explain why it is no link, and how it becomes one."""
        return (
            f"{self.strangers:,} of {self.different:,} values of {self.column} are no key of"
            f" {self.to}; mend them in source.query, or link it with orphans: drop"
        )


def find_links(
    engine: DuckDBEngine, tables: Mapping[str, Found]
) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
    """Find links, and near-links: columns in which a few values have no matching key, and whose
    names do not say for sure that they are links.

    All links to a table refer to the same key of it.
    """
    declared = tuple(_links_declared(tables))
    known = {(link.table, link.column, link.to, link.key) for link in declared}
    likely = [
        link
        for link in _likely(tables)
        if (link.table, link.column, link.to, link.key) not in known
    ]
    links, missed = list(declared), []
    for start in range(0, len(likely), AT_ONCE):
        for link in _compared(engine, tables, likely[start : start + AT_ONCE]):
            nearly = link.strangers <= NEARLY * link.different
            if not link.strangers or (nearly and link.fit <= NAMED):
                links.append(link)
            elif nearly:
                missed.append(link)
    return _to_one_key(links, tables), tuple(missed)


def _links_declared(tables: Mapping[str, Found]) -> Iterator[Link]:
    by_place = {(one.table.schema, one.table.name): one for one in tables.values()}
    for one in tables.values():
        for column, other, key in one.declared.links:
            to = by_place.get((one.table.schema, other))
            if to is not None and key in to.keys and _same_family(one, column, to, key):
                fit = fits(column, key, to.table.name)
                yield _link(one, column, to, key, UNNAMED if fit is None else fit, declared=True)


def _likely(tables: Mapping[str, Found]) -> Iterator[Link]:
    """Pairs of columns whose names and types match."""
    for one in tables.values():
        for p in one.profiles:
            if not p.known or not countable(p.sql_type):
                continue
            for to in tables.values():
                for key in to.keys if to is not one else ():
                    fit = fits(p.column, key, to.table.name)
                    if fit is not None and _same_family(one, p.column, to, key):
                        yield _link(one, p.column, to, key, fit)


def _link(
    one: Found, column: str, to: Found, key: str, fit: int, *, declared: bool = False
) -> Link:
    p = one.of(column)
    return Link(
        one.name,
        column,
        to.name,
        key,
        fit,
        like_key(key, to.table.name) in OWN,
        declared,
        nulls=p.rows - p.known,
        different=p.different or 0,
    )


def _same_family(one: Found, column: str, to: Found, key: str) -> bool:
    return family(one.of(column).sql_type) == family(to.of(key).sql_type)


def _compared(
    engine: DuckDBEngine, tables: Mapping[str, Found], links: Sequence[Link]
) -> Iterator[Link]:
    pairs = [
        {
            "table": ident(tables[link.table].relation),
            "column": ident(link.column),
            "to": ident(tables[link.to].relation),
            "key": ident(link.key),
        }
        for link in links
    ]
    read: list[Table] = [tables[name].relation for link in links for name in (link.table, link.to)]
    text = render("drafting/unmatched_keys", {"tables": read, "pairs": pairs}).text
    for link, (_, strangers) in zip(links, engine.raw(text, "links"), strict=True):
        yield replace(link, strangers=int(strangers))


def _to_one_key(links: Sequence[Link], tables: Mapping[str, Found]) -> tuple[Link, ...]:
    """Keep the links to the key of each table that most links refer to."""
    leading = Counter((link.to, link.key) for link in links if link.table != link.to)
    most = {
        name: max(leading[name, key] for key in one.keys)
        for name, one in tables.items()
        if one.keys
    }
    keys = {
        name: next(key for key in tables[name].keys if leading[name, key] == count)
        for name, count in most.items()
    }
    return tuple(link for link in links if keys[link.to] == link.key)


# The persons' table, and the tree of tables whose rows reach a person.


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
    where: str = WHERE,
) -> Tree:
    """The tree of tables. Raises SourceError where there are no persons, or nothing of them.

    `missed`: links but for a few values; `several`: links of several columns. They are named where
    there is no other one. `where`: what errors refer to.
    """
    person, others = _persons(tables, links, missed, several, where)
    found = Tree(person, _nearest(person, links), others, {})
    _hang_deeper(engine, tables, links, found)
    chosen = dict(sorted(found.links.items(), key=lambda item: len(found.way(item[0]))))
    return Tree(person, chosen, tuple(n for n in others if n not in chosen), found.astray)


def _persons(
    tables: Mapping[str, Found],
    links: Sequence[Link],
    missed: Sequence[Link],
    several: Sequence[Several],
    where: str,
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
            said += f": in {link.table}, {link.description}"
    else:
        said = (
            "has no table of persons: one row each, a key that columns of other tables hold,"
            " and columns such as a birth date or a sex"
        )
        said += "".join(f"; {one}" for one in _repeating(tables))
    if several:
        said += f"; in {several[0].table}, {several[0].description}"
        raise SourceError.at(where, said, hint=f"add such a column to both tables, or {INSTEAD}")
    raise SourceError.at(where, said, hint=INSTEAD)


def _repeating(tables: Mapping[str, Found]) -> Iterator[str]:
    """Tables that would have a key, but for a few rows."""
    for name, one in tables.items():
        for p in one.profiles:
            rank, repeated = like_key(p.column, one.table.name), p.rows - (p.different or 0)
            if rank is not None and rank <= NAMED and 0 < repeated <= NEARLY * p.rows:
                rows = many(repeated, "row of", "rows of")
                said = f"{p.column} would be a key, but for {rows} {name}"
                yield f"{said} that repeat one or have none"


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
    """Return whether rows are groups of persons."""
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
    """Return whether a column is not both the key of a table and its link."""
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
        link.nulls == link.strangers == 0
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
    return int(engine.raw(render("drafting/crossing_links", context).text, "links")[0][0])
