"""Links between tables: declared ones, and columns that hold keys of another table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from anonymizer.compile import Table, ident, quote, render
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.review.draft.tables.found import OWN, Found, fits, like_key
from anonymizer.review.draft.writing import PLAIN
from anonymizer.source.child import family
from anonymizer.source.persons import countable


@dataclass(frozen=True, slots=True)
class Several:
    """A link that the database declares."""

    table: str
    columns: tuple[str, ...]
    to: str
    keys: tuple[str, ...]

    @property
    def told(self) -> str:
        """What it is."""
        return (
            f"({', '.join(self.columns)}) is declared as a key of {self.to}"
            f" ({', '.join(self.keys)}), and a policy links by one column"
        )

    @property
    def cure(self) -> str:
        """How it becomes a link."""
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
"""Largest share of values without a matching key at which a link is mentioned, but not drafted."""
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
    """How well its name matches the key, 0 best."""
    own: bool = False
    """Whether the key is named after its own table."""
    declared: bool = False
    nulls: int = 0
    """Rows in which the column is NULL."""
    strangers: int = 0
    """Values that are not a key of the other table."""
    different: int = 0

    @property
    def preference(self) -> tuple[bool, bool, bool, int]:
        """Sort key for the links of one table, the best first."""
        return (not self.declared, self.nulls > 0, not self.own, self.fit)

    @property
    def told(self) -> str:
        """Why it is no link, and how it becomes one."""
        return (
            f"{self.strangers:,} of {self.different:,} values of {self.column} are no key of"
            f" {self.to}; mend them in source.query, or link it with orphans: drop"
        )


def find_links(
    engine: DuckDBEngine, tables: Mapping[str, Found]
) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
    """Find links, and near-links: columns in which only a few values have no matching key.

    All links to a table refer to the same key of it.
    """
    declared = tuple(_declared(tables))
    known = {(link.table, link.column, link.to, link.key) for link in declared}
    likely = [
        link
        for link in _likely(tables)
        if (link.table, link.column, link.to, link.key) not in known
    ]
    links, missed = list(declared), []
    for start in range(0, len(likely), AT_ONCE):
        for link in _compared(engine, tables, likely[start : start + AT_ONCE]):
            if not link.strangers:
                links.append(link)
            elif link.strangers <= NEARLY * link.different:
                missed.append(link)
    return _to_one_key(links, tables), tuple(missed)


def _declared(tables: Mapping[str, Found]) -> Iterator[Link]:
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
    text = render("drafting/strangers.sql.j2", {"tables": read, "pairs": pairs}).text
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
