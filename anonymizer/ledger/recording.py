"""Writes a release into the attached ledger, from the gathered data."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from anonymizer.compile import Table, ident, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.ledger.entries import Entry
from anonymizer.ledger.gathering import Contents
from anonymizer.ledger.schemas import Schema
from anonymizer.ledger.tables import (
    DICTIONARY,
    GROUPS,
    HISTORY,
    MEMBERS,
    NEW_DICTIONARY,
    NEW_MEMBERS,
    NEW_ROWS,
    NEW_SIGNATURES,
    RELEASES,
    ROWS,
    SCHEMAS,
    SIGNATURES,
)


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
)
"""Tables with what is known of every release, and their columns of values and of lists. Later
ones come last: releases of before they were kept state fewer numbers."""


def held(engine: DuckDBEngine) -> dict[int, tuple[int, ...]]:
    """What the ledger holds of every release, in numbers: lines, and values that are not NULL."""
    tables = [_held_in(engine, *known) for known in HELD]
    return {
        release: sum((by_release.get(release, none) for by_release, none in tables), ())
        for release in {release for by_release, _ in tables for release in by_release}
    }


def _held_in(
    engine: DuckDBEngine, table: Table, values: Sequence[str], lists: Sequence[str]
) -> tuple[dict[int, tuple[int, ...]], tuple[int, ...]]:
    """What one table holds of every release that is in it, and what it holds of any other."""
    counted = ["count(*)", *(f"count({name})" for name in values)]
    counted += [f"coalesce(sum(len(list_filter({n}, lambda v: v is not null))), 0)" for n in lists]
    text = f"select release, {', '.join(counted)} from {ident(table)} group by release"
    rows = engine.raw(text, "ledger")
    found = {release: tuple(map(int, figures)) for release, *figures in rows}
    return found, (0,) * len(counted)


def record_held(engine: DuckDBEngine, number: int) -> None:
    """Write beside a release how much of it was recorded, so that a loss is noticed."""
    figures = ", ".join(map(str, held(engine).get(number, ())))
    engine.raw(
        f"update {ident(RELEASES)} set held = cast([{figures}] as bigint[])"
        f" where release = {lit(number)}",
        "ledger",
    )
