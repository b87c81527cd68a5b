"""Record a release in the attached ledger, from data gathered where the release is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymizer.compile import Sql, Table, ident, lit, quote, render
from anonymizer.contract.layout import Layout
from anonymizer.engines.base import Engine, Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.errors import Problem
from anonymizer.ledger.entries import Entry
from anonymizer.ledger.protected_columns import Facet, Further, Mark
from anonymizer.ledger.store import (
    CELLS,
    COUNTED,
    DICTIONARY,
    GROUPS,
    HISTORY,
    MEMBERS,
    NEW_DICTIONARY,
    NEW_MEMBERS,
    NEW_ROWS,
    NEW_SIGNATURES,
    NUMBERED,
    RELEASES,
    ROWS,
    SCHEMAS,
    SIGNATURES,
    SPENDS,
)
from anonymizer.policy.fields import ROW_REF
from anonymizer.policy.paths import table_path
from anonymizer.process import run_folder
from anonymizer.source.column_names import NEARLY_UNIQUE

# A release on a server: its ledger data is gathered there, and transferred here.
#
# Only what a ledger holds leaves the server: digests, numbers of classes and buckets, and published
# values. Rows of the table stay there.


@contextmanager
def home_of(engine: Engine, ledger: Path, run_id: str) -> Iterator[DuckDBEngine]:
    """The DuckDB connection that opens the ledger: that of the run, or an additional one."""
    if isinstance(engine, DuckDBEngine):
        yield engine
        return
    if run_folder.is_live(run_id):  # (Spark has a run folder, by which a dead run is known)
        with beside_server(engine, ledger) as home:
            yield home
        return
    # a run folder, by which the next run knows whether this one has ended
    folder = run_folder.create(run_id)
    try:
        with beside_server(engine, ledger, spill=folder.path) as home:
            yield home
    finally:
        folder.remove()


def beside_server(
    engine: Engine, ledger: Path, spill: Path | None = None
) -> AbstractContextManager[DuckDBEngine]:
    """A DuckDB that opens the ledger, for a run on a server.

    It uses the run's number of threads; the run's memory limit is per operation on the server.
    """
    limits = Limits(threads=engine.limits.threads)
    return own_connection(None, spill=spill, databases=[ledger], limits=limits)


def hand_over(engine: Engine, home: DuckDBEngine, tables: Iterable[Table]) -> None:
    """Copy scratch tables of `home` into work tables of the server."""
    from anonymizer.engines.postgres.connection import PostgresEngine
    from anonymizer.engines.postgres.handover import give

    assert isinstance(engine, PostgresEngine)
    give(engine, home, tables, "ledger")


def carry(engine: Engine, home: DuckDBEngine, table: Table, wanted: Sequence[str] = ()) -> None:
    """Copy a work table of the server, or the `wanted` columns of it, into scratch of `home`.

    Rows are ordered by digests, which reveals nothing.
    """
    from anonymizer.engines.postgres.connection import PostgresEngine
    from anonymizer.engines.postgres.handover import Taken, number_of, take

    assert isinstance(engine, PostgresEngine)

    def taken(column: str) -> Taken:
        name = quote(column)
        match column:
            case "person" | "atom" | "cell" | "by_key" | "content" | "cells":
                return Taken(column, name, number_of(name))
            case "marks":
                digits = f"list_transform(string_split({name}, ' '), lambda d: {number_of('d')})"
                written = f"array_to_string({name}, ' ', '-')"
                return Taken(column, written, f"cast({digits} as uhugeint[])")
            case "text" | "facet" | "source":
                # as hexadecimal digits, so that NULL and commas need no quoting (empty text has
                # none; values are never NULL)
                written = f"encode(convert_to({name}, 'UTF8'), 'hex')"
                return Taken(column, written, f"coalesce(decode(unhex({name})), '')")
            case "whole" | "remembered":
                return Taken(column, name, f"cast({name} as boolean)")
            case _:
                return Taken(column, name, f"cast({name} as bigint)")

    columns = wanted or [name for name, _ in engine.describe(ident(table).text, "ledger")]
    take(engine, home, table, [taken(column) for column in columns], "ledger")


# Data collected about the members of a new release: columns of one entry, and counts.


@dataclass(frozen=True, slots=True)
class Contents:
    """Tables that the ledger stores of a release: the persons' table, and further ones."""

    layout: Layout
    link: Table
    originals: Table
    own_facets: tuple[Facet, ...]
    own_marks: tuple[Mark, ...]
    tables: tuple[Further, ...] = ()
    """Further tables of which something is stored."""
    opens: tuple[Mark, ...] = ()
    """Columns by which rows can be joined: gathered after the marks, and not stored."""

    @property
    def facets(self) -> tuple[Facet, ...]:
        """The facets of all tables."""
        return self.own_facets + tuple(f for t in self.tables for f in t.facets)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks of all tables."""
        return self.own_marks + tuple(m for t in self.tables for m in t.marks)

    @property
    def stored(self) -> str:
        """The condition for members to store: it excludes values of further tables."""
        if not self.tables:
            return "true"
        return "n.whole or n.marks is not null" if self.marks else "n.whole"

    @property
    def statements(self) -> tuple[str, ...]:
        """Templates of the gathering statements, in order."""
        added = any(t.facets or t.marks for t in self.tables)
        return (
            *(("numbered",) if self.facets else ()),
            "members",
            *(("rows",) if self.tables else ()),
            *(("members_of_rows",) if added else ()),
            *(("signatures", "dictionary") if self.facets else ()),
        )

    def binds(self, template: str) -> tuple[str, ...]:
        """The bound parameters of a statement."""
        if template not in ("members", "rows"):
            return ()
        known = template == "rows" and any(t.values for t in self.tables)
        return ("ledger_key", "secret") if known else ("ledger_key",)

    def parameters(self, digested: dict[str, Any], signature_since: Table | None) -> dict[str, Any]:
        """The parameters of the templates; `digested`: those of the digests of persons."""
        return {
            **digested,
            "marks": (*digested["marks"], *self.opens),
            "members": NEW_MEMBERS,
            "signatures": NEW_SIGNATURES,
            "dictionary": NEW_DICTIONARY,
            "numbered": NUMBERED,
            "rows": NEW_ROWS,
            "link": self.link,
            "original": self.originals,
            "row_ref": ROW_REF,
            "facets": self.facets,
            "own_facets": self.own_facets,
            "further_facets": self.facets[len(self.own_facets) :],
            "further_marks": self.marks[len(self.own_marks) :],
            "pseudonyms": self.marks,
            "tables": self.tables,
            "kept": [t.kept for t in self.tables],
            "links": [t.link for t in self.tables],
            "places": places(self.facets),
            "group": self.layout.class_id or self.layout.group_id,
            "number": self.layout.person_id,
            "signature_since": signature_since,
        }


def gather(
    engine: Engine, home: DuckDBEngine, contents: Contents, parameters: dict[str, Any]
) -> None:
    """Gather what is stored into scratch of `home`.

    On a server, rows are processed there, and the lists of classes are made in `home`.
    """
    here = {"signatures"}
    for name in contents.statements:
        at = home if name in here else engine
        with at.in_any_order() if isinstance(at, DuckDBEngine) else nullcontext():
            statement = render(f"ledger/{name}", parameters)
            at.execute(statement, "ledger", contents.binds(name))
        complete = "members_of_rows" if "members_of_rows" in contents.statements else "members"
        carried = {complete: NEW_MEMBERS, "rows": NEW_ROWS, "dictionary": NEW_DICTIONARY}
        if engine is not home and name in carried:
            carry(engine, home, carried[name])


def places(seen: tuple[Facet, ...]) -> list[tuple[Sql, list[Facet]]]:
    """The groups of members, with the columns gathered together. Columns whose signatures list
    every value once are gathered separately.
    """
    places: dict[tuple[str, str], list[Facet]] = {}
    for facet in seen:
        alone = facet.column if facet.once else ""
        places.setdefault((facet.place.text, alone), []).append(facet)
    return [(held[0].place, held) for held in places.values()]


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows and persons of the new release."""

    rows: int
    """Rows that belong to persons."""
    persons: int
    counterfeits: int

    @property
    def several(self) -> bool:
        """True if a person may have several rows."""
        return self.rows > self.persons


def count_rows(engine: DuckDBEngine, *, several: bool) -> Counts:
    """Count rows and persons; `several`: persons may repeat. Keys have been checked for uniqueness,
    and rows without a key are numbered.
    """
    row = engine.raw(
        f"select count(person), count({'distinct ' if several else ''}person),"
        f" count(*) filter (where person is null) from {ident(NEW_MEMBERS)}",
        "ledger",
    )[0]
    return Counts(*map(int, row))


def shared_marks(engine: DuckDBEngine, marks: Sequence[Mark]) -> frozenset[int]:
    """Marks, by index, that are not declared or named as identifying, and in which too few values
    belong to one person only to require an acknowledgement.
    """
    found = []
    for mark in marks:
        if mark.unnamed:
            one = f"marks[{mark.index}]"
            text = (
                "select count(*) filter (where persons = 1), count(*) from"
                f" (select {one}, count(distinct person) as persons from {ident(NEW_MEMBERS)}"
                f" where {one} is not null group by 1)"
            )
            alone, values = engine.raw(text, "ledger")[0]
            if alone < NEARLY_UNIQUE * values:
                found.append(mark.index)
    return frozenset(found)


# Releases of several tables in a ledger: their guarantees against observers who know rows.


NEW = 0
"""The number of the new release."""

OTHER_TABLES = (
    "keep the name of the table in the policy (publish.names gives its view another one); or, if"
    " the earlier release reached nobody, `anonymizer ledger forget`"
)
NO_KEY = (
    "give the table a key in every release, or the event columns of the earlier one; if that"
    " reached nobody, `anonymizer ledger forget`"
)


@dataclass(frozen=True, slots=True)
class Schema:
    """The guarantees of a release of several tables, and how its rows are recognized."""

    k: int
    events: int
    """Number of known rows of a person for which k candidates are guaranteed."""
    rows: bool
    """True if k candidates are guaranteed against known numbers of rows."""
    tables: Mapping[str, tuple[str | None, str]]
    """The kind of the key and the event columns, by table name; empty columns: no events."""

    @classmethod
    def of(cls, k: int, events: int, tables: Iterable[Further], *, rows: bool) -> Schema:
        return cls(k, events, rows, {one.name: (one.key, one.columns) for one in tables})

    @property
    def observable_tables(self) -> frozenset[str]:
        """Tables of which an observer may know rows."""
        return frozenset(name for name, (_, columns) in self.tables.items() if columns)

    def sql(self, release: int) -> str:
        """The statement that inserts it into the ledger."""
        keys, columns = zip(*self.tables.values(), strict=True) if self.tables else ((), ())
        lists = (
            f"cast([{', '.join(lit(v).text for v in values)}] as varchar[])"
            for values in (self.tables, keys, columns)
        )
        figures = f"{lit(release)}, {lit(self.k)}, {lit(self.events)}, {lit(self.rows)}"
        return f"insert into {ident(SCHEMAS)} values ({figures}, {', '.join(lists)})"


def schemas(engine: DuckDBEngine) -> dict[int, Schema]:
    """The schemas of the attached ledger, by release number."""
    rows = engine.raw(
        f"select release, k, events, rows, tables, keys, columns from {ident(SCHEMAS)}", "ledger"
    )
    return {
        release: Schema(
            k, events, counted, dict(zip(tables, zip(keys, columns, strict=True), strict=True))
        )
        for release, k, events, counted, tables, keys, columns in rows
    }


def found_by_key(known: Mapping[int, Schema]) -> frozenset[str]:
    """Tables whose rows are recognized by keys: those with keys of one kind in all releases."""
    names = {name for schema in known.values() for name in schema.observable_tables}
    return frozenset(
        name
        for name in names
        if len({s.tables[name][0] for s in known.values() if name in s.observable_tables}) == 1
        and None not in {s.tables[name][0] for s in known.values() if name in s.observable_tables}
    )


def not_found_again(known: Mapping[int, Schema]) -> Iterator[Problem]:
    """Problems of tables whose rows cannot be compared; `NEW` is one of the releases."""
    by_key = found_by_key(known)
    for name in sorted(
        {name for schema in known.values() for name in schema.observable_tables} - by_key
    ):
        if len({s.tables[name][1] for s in known.values() if name in s.observable_tables}) > 1:
            said = (
                "has other event columns than in an earlier release and not the same key in both:"
                " its rows cannot be found again, so what the two tell together cannot be counted"
            )
            yield Problem(table_path(name, "key"), said, hint=NO_KEY)
    new = known.get(NEW)
    for schema in known.values():
        if (
            new is not None
            and new.observable_tables - schema.observable_tables
            and schema.observable_tables - new.observable_tables
        ):
            others = ", ".join(sorted(schema.observable_tables - new.observable_tables))
            for name in sorted(new.observable_tables - schema.observable_tables):
                said = (
                    f"is not in an earlier release, which has {others} instead: whether rows are"
                    " the same is not known"
                )
                yield Problem(table_path(name), said, hint=OTHER_TABLES)


# Writes a release into the attached ledger, from the gathered data.


def record(
    engine: DuckDBEngine,
    entry: Entry,
    contents: Contents,
    absent: Collection[str],
    *,
    appends: bool,
) -> None:
    """Insert the entry, its members, and the values of its classes and buckets.

    `absent`: columns of members that the new release lacks; `appends`: whether classes continue
    earlier ones.
    """
    seen, number = contents.facets, lit(entry.release)
    engine.raw(entry.sql(), "ledger")
    own = {
        "number": "n.number",
        "marks": f"n.marks[1:{len(contents.marks)}]" if contents.opens else "n.marks",
        "since": f"coalesce(n.since, {number})",
    }
    nothing = {"number": "null", "marks": "[]", "since": "0"}
    own |= {name: nothing[name] for name in absent}
    fresh = f"{number}::bigint * 4294967296 + n.class_id"
    members = ident(NEW_MEMBERS)
    groups = ", ".join(f"n.{facet.place}" for facet in seen)
    buckets = f"[{groups}]" if any(facet.dealt for facet in seen) else "null"
    if appends:
        lineages = (
            f" left join (select m.class_id, min(h.lineage) as lineage from {members} m"
            f" join {ident(HISTORY)} h on h.person = m.person group by m.class_id) o"
            " on o.class_id = n.class_id"
        )
        lineage = f"coalesce(o.lineage, {fresh})"
    else:
        lineages, lineage = "", fresh
    engine.raw(
        f"insert into {ident(MEMBERS)} select {number}, n.person, n.class_id,"
        f" {own['number']}, cast({buckets} as bigint[]), {own['marks']}, {lineage},"
        f" {own['since']} from {members} n{lineages} where {contents.stored}",
        "ledger",
    )
    if seen:
        engine.raw(
            f"insert into {ident(SIGNATURES)} select {number}, facet, grp, signature"
            f" from {ident(NEW_SIGNATURES)}",
            "ledger",
        )
        engine.raw(
            f"insert into {ident(DICTIONARY)} from {ident(NEW_DICTIONARY)}"
            f" except from {ident(DICTIONARY)}",
            "ledger",
        )


def record_rows(engine: DuckDBEngine, number: int, schema: Schema) -> None:
    """Insert the guarantees of a release of several tables, and its rows that may be known."""
    engine.raw(schema.sql(number), "ledger")
    if schema.events or schema.rows:
        # in the order of digests, which reveals nothing
        engine.raw(
            f"insert into {ident(ROWS)} select {lit(number)}, person, source, by_key, content,"
            f" cells from {ident(NEW_ROWS)} where remembered order by content, person",
            "ledger",
        )


HELD = (
    (MEMBERS, ("person", "class_id", "number", "lineage", "since"), ("buckets", "marks")),
    (SIGNATURES, ("facet", "grp"), ("signature",)),
    (SCHEMAS, ("k", "events", "rows"), ("tables", "keys", "columns")),
    (ROWS, ("person", "source", "by_key", "content", "cells"), ()),
    (GROUPS, ("grp", "facet", "value", "n"), ()),
    (COUNTED, ("person", "atom"), ()),
    (CELLS, ("atom", "cell", "kind"), ()),
    (SPENDS, ("epsilon", "budget"), ()),
)
"""Tables with what is known of every release, and their columns of values and of lists. Later
ones come last: releases of before they were kept state fewer numbers."""


def value_counts(engine: DuckDBEngine) -> dict[int, tuple[int, ...]]:
    """Counts of what the ledger holds of every release: lines, and values that are not NULL."""
    tables = [_counts_in(engine, *known) for known in HELD]
    return {
        release: sum((by_release.get(release, none) for by_release, none in tables), ())
        for release in {release for by_release, _ in tables for release in by_release}
    }


def _counts_in(
    engine: DuckDBEngine, table: Table, values: Sequence[str], lists: Sequence[str]
) -> tuple[dict[int, tuple[int, ...]], tuple[int, ...]]:
    """Counts of what one table holds of every release that is in it, and of any other."""
    counted = ["count(*)", *(f"count({name})" for name in values)]
    counted += [f"coalesce(sum(len(list_filter({n}, lambda v: v is not null))), 0)" for n in lists]
    text = f"select release, {', '.join(counted)} from {ident(table)} group by release"
    rows = engine.raw(text, "ledger")
    found = {release: tuple(map(int, figures)) for release, *figures in rows}
    return found, (0,) * len(counted)


def record_value_counts(engine: DuckDBEngine, number: int) -> None:
    """Write beside a release how much of it was recorded, so that a loss is noticed."""
    figures = ", ".join(map(str, value_counts(engine).get(number, ())))
    engine.raw(
        f"update {ident(RELEASES)} set held = cast([{figures}] as bigint[])"
        f" where release = {lit(number)}",
        "ledger",
    )
