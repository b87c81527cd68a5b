"""Row numbers over a whole table, computed in parallel on Spark.

`select row_number() over (order by ...) as n, * from t` sorts all rows in one task. Compact state
is numbered in DuckDB instead, when it is moved there. Rows are numbered in the order of their
draws, which are evenly distributed: each prefix of the draws separately, after those before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_WHOLE = re.compile(
    r"select row_number\(\) over \(order by (?P<order>[\w, ]+)\) as (?P<name>\w+), \*\s+"
    r"from (?P<table>\w+)\s*\Z",
    re.IGNORECASE,
)
BEGINNING = 3
"""Digits of a draw by which rows are divided: 4096 parts."""


@dataclass(frozen=True, slots=True)
class Numbering:
    """What a statement numbers, and in which order."""

    query: str
    """The statement without its numbers."""
    order: str
    name: str


def numbering(query: str) -> Numbering | None:
    """The numbering that ends a statement; None where it has none over all of its rows."""
    found = _WHOLE.search(query)
    if found is None:
        return None
    return Numbering(
        f"{query[: found.start()]}select * from {found['table']}", found["order"], found["name"]
    )


def by_draw(view: str, name: str) -> str:
    """Rows of a view, numbered in the order of their draws (of which no two are equal)."""
    part = f"substr(draw, 1, {BEGINNING})"
    return f"""
        with parts as (
            select {part} as part, count(*) as n from {view} group by {part}
        ),
        places as (
            select part, sum(n) over (order by part) - n as before from parts
        )
        select p.before + row_number() over (partition by p.part order by v.draw) as {name}, v.*
        from {view} v
        join places p on p.part = substr(v.draw, 1, {BEGINNING})
    """


def by_leaf(view: str, numbers: Numbering) -> str:
    """Rows of a view, numbered in the order of their leaves, and in a given order in each."""
    leaf, order = numbers.order.split(",", 1)
    return f"""
        with leaves as (
            select {leaf}, count(*) as n from {view} group by {leaf}
        ),
        places as (
            select {leaf}, sum(n) over (order by {leaf}) - n as before from leaves
        )
        select /*+ broadcast(p) */
            p.before + row_number() over (partition by v.{leaf} order by {order})
            as {numbers.name}, v.*
        from {view} v
        join places p on p.{leaf} = v.{leaf}
    """
