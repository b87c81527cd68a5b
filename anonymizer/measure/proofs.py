"""Disclosure beyond the guarantees: complete records, and rows that belong together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from anonymizer.compile import Sql, Table, render, sql
from anonymizer.contract.checks import RunSql
from anonymizer.contract.layout import (
    Layout,
    Originals,
    PublishedColumn,
    Requirement,
    quasi,
    type_sql,
)
from anonymizer.contract.reading import Tables
from anonymizer.guarantees.requirements import BY_NAME
from anonymizer.policy.algorithms import ALGORITHMS
from anonymizer.verification.across_tables import Where, event_columns, owned_parameters

RECORDS = "proved_records"
LINKED = "linked_below"
MOST = 2
"""Rows that are known to belong together, at most; more are not counted."""


def k_of(requirements: Iterable[Requirement]) -> int | None:
    """The guaranteed k of rows (persons)."""
    given = [
        int(r.parameters["k"])
        for r in requirements
        if "k" in r.parameters and not BY_NAME[r.name].of_population
    ]
    return max(given, default=None)


def proved_records(
    run_sql: RunSql,
    view: Table,
    layout: Layout,
    originals: Originals,
    requirements: Iterable[Requirement],
    *,
    if_tight: bool = False,
) -> dict[str, int]:
    """Count the proven complete records that fewer than k rows (persons) may share.

    `if_tight`: count what a reader adds who takes every cell for the smallest possible, so that a
    node with two values proves both.

    Without a k, those of a single row. Where the release alone is read (`originals.published`), a
    label counts as a value, so the figure is the largest that it can be. A release without classes
    or groups proves every row.
    """
    if layout.classless or not quasi(layout):
        return {}
    over_levels = ALGORITHMS[layout.algorithm].over_levels
    columns = [
        _column(number, column, originals, tight=not over_levels, if_tight=if_tight)
        for number, column in enumerate(quasi(layout), 1)
    ]
    person = layout.person_id
    parameters = {
        "data": view,
        "columns": columns,
        "nodes": [c["nodes"] for c in columns if c["nodes"] is not None],
        "group": layout.class_id,
        "units": Sql("count(*)") if person is None else sql("count(distinct {p})", p=person),
        "k": k_of(requirements) or 2,
    }
    ((found,),) = run_sql(render("measure/proved", parameters).text)
    return {RECORDS: int(found)}


def _column(
    number: int,
    column: PublishedColumn,
    originals: Originals,
    *,
    tight: bool,
    if_tight: bool,
) -> Mapping[str, Any]:
    name = column.column
    nodes = originals.leaves.get(name) or originals.nodes.get(name)
    if not column.hierarchy or name in originals.sets:
        nodes = None
    return {
        "number": number,
        "column": column,
        "type": type_sql(column.sql_type),
        "tight": tight and not column.hierarchy and column.grid is None,
        "nodes": nodes,
        "pairs": if_tight
        and column.kind == "categorical"
        and not column.list_cells
        and (nodes is not None if column.hierarchy else column.grid is not None),
        "quoted": column.nullable is not None and name not in originals.leaves,
    }


def linked_rows(run_sql: RunSql, tables: Tables, where: Where) -> list[tuple[Any, ...]]:
    """The candidates left to who knows rows and how these belong together, one tuple per observer.

    What is known, persons, alone, below k, fewest, expected share found. Empty where no table with
    events hangs on another table of rows.
    """
    parameters = owned_parameters(tables, where, event_columns(tables), joined=True)
    if not any(table["above"] and table["told"] for table in parameters["tables"]):
        return []
    return run_sql(render("attack/linked", {**parameters, "events": MOST, "k": tables.k}).text)


def linked_below(run_sql: RunSql, tables: Tables, where: Where) -> dict[str, int]:
    """Count the persons below k for an observer of as many rows as the release guards against, and
    how these belong together.
    """
    found = linked_rows(run_sql, tables, where) if tables.events else []
    return {LINKED: int(found[min(tables.events, MOST) - 1][3])} if found else {}
