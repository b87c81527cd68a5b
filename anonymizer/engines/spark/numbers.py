"""Row numbers over a whole table, computed in parallel on Spark.

`select row_number() over (order by ...) as n, * from t` sorts all rows in one task. Compact state
is numbered in DuckDB instead, when it is moved there. Rows are numbered in the order of their
draws, which are evenly distributed: separately for each prefix of the draws, plus an offset.
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
"""Leading digits of a draw by which rows are partitioned, into 4096 parts."""


@dataclass(frozen=True, slots=True)
class Numbering:
    """The row numbers that a statement adds: their column's name and their order."""

    query: str
    """The statement without the numbers."""
    order: str
    name: str


def numbering(query: str) -> Numbering | None:
    """The numbering at the end of a statement; None if it does not number all of its rows."""
    found = _WHOLE.search(query)
    if found is None:
        return None
    return Numbering(
        f"{query[: found.start()]}select * from {found['table']}", found["order"], found["name"]
    )


def by_draw(view: str, name: str) -> str:
    """A query that numbers the rows of a view in the order of their (distinct) draws."""
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
    """A query that numbers the rows of a view by leaf, and in a given order within each leaf."""
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
