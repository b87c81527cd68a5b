"""Splits a Spark query: common table expressions that are read more than once become tables.

Spark plans a common table expression again for every reference, so that nested double references
take minutes to plan, however few rows there are.
"""

from __future__ import annotations

from collections import Counter

import sqlglot
from sqlglot import exp

from anonymizer.engines.spark.dialect import PREFIX


def apart(query: str) -> tuple[dict[str, str], str]:
    """The queries of the tables to create first, by name and in order, and the rest of `query`."""
    tree = sqlglot.parse_one(query, read="spark")
    listed = tree.args.get("with_")
    if listed is None:
        return {}, query
    used = Counter(table.name for table in tree.find_all(exp.Table) if not table.db)
    listed.pop()
    made: dict[str, str] = {}
    waiting: dict[str, exp.Expr] = {}
    for cte in listed.expressions:
        _read_from(cte.this, made)
        if used[cte.alias] > 1:
            made[_table(cte.alias)] = _with(waiting, cte.this)
        else:
            waiting[cte.alias] = cte.this
    _read_from(tree, made)
    return made, _with(waiting, tree)


def _table(part: str) -> str:
    return f"part_{part}"


def _read_from(query: exp.Expr, made: dict[str, str]) -> None:
    """Replace references to parts that became tables, and keep their names as aliases."""
    for table in list(query.find_all(exp.Table)):
        if not table.db and _table(table.name) in made:
            if not table.alias:
                table.set("alias", exp.TableAlias(this=table.this.copy()))
            table.set("this", exp.to_identifier(f"{PREFIX}{_table(table.name)}"))


def _with(waiting: dict[str, exp.Expr], query: exp.Expr) -> str:
    """Prefix a query with the waiting parts that it reads, directly or indirectly."""
    parts: list[str] = []
    needed = {table.name for table in query.find_all(exp.Table)}
    for name in reversed(list(waiting)):
        if name in needed:
            part = waiting.pop(name)
            needed |= {table.name for table in part.find_all(exp.Table)}
            parts.append(f"{name} AS (\n{part.sql('spark')}\n)")
    listed = f"WITH {', '.join(reversed(parts))}\n" if parts else ""
    return listed + query.sql("spark")
