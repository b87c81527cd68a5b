"""Figures of a release whose sensitive columns are separated into groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anonymizer.compile import Sql, Table, render
from anonymizer.contract.checks import RunSql
from anonymizer.contract.columns import type_sql
from anonymizer.contract.layout import Layout, PublishedColumn, Requirement
from anonymizer.privacy.of_policy.registry import BY_NAME

GroupMeasures = dict[str, float | int | None]


def measure_groups(
    run_sql: RunSql,
    view: Table,
    layout: Layout,
    requirements: Sequence[Requirement],
    *,
    suppressed: int = 0,
) -> GroupMeasures:
    """Measures of the groups, from the release and the l that it guarantees.

    If the release distinguishes persons, they are counted, including `suppressed` ones.

    * `groups`, `group_min`, `group_mean`, `group_max`: their sizes in rows, or persons;
    * `additional_loss`: sum of |G| - l_G over the sum of l_G, where l_G is the largest l of the
      values in G (Xiao and Li 2020, Definition 14);
    * `suppression_ratio`: suppressed rows (persons) divided by all (Definition 15);
    * for every protected column: `worst_share.<column>`, the share in a group of the value nearest
      to its bound, and `share_bound.<column>`, its bound 1/l. Values of l = 1 have no bound; both
      are None if a column has only such values.
    """
    columns = {column.column: column for column in layout.columns}
    judged = [
        _column(view, layout, columns[r.column], r)
        for r in requirements
        if r.scope == "group" and r.column is not None and r.column in layout.tables
    ]
    parameters = {
        "data": view,
        "group": layout.group_id,
        "person": layout.person_id,
        "columns": judged,
        "tables": [column["table"] for column in judged],
    }
    groups, rows, least, most, needed = run_sql(render("measure/groups.sql.j2", parameters).text)[0]
    found: GroupMeasures = {
        "groups": groups,
        "group_min": least,
        "group_mean": rows / groups if groups else None,
        "group_max": most,
        "additional_loss": (rows - needed) / needed if needed else None,
        "suppression_ratio": suppressed / (rows + suppressed) if rows + suppressed else 0.0,
    }
    for column in judged:
        shares = run_sql(render("measure/group_shares.sql.j2", {**parameters, **column}).text)
        share, bound = shares[0] if shares else (None, None)
        found[f"worst_share.{column['source']}"] = share
        found[f"share_bound.{column['source']}"] = bound
    return found


def _column(
    view: Table, layout: Layout, column: PublishedColumn, requirement: Requirement
) -> dict[str, Any]:
    """One column's table, and the l of its values according to the requirement."""
    (ask,) = BY_NAME[requirement.name].asks_in("group")
    assert ask.computed is not None
    weights = ask.computed(requirement)
    return {
        "source": column.column,
        "table": Table(layout.tables[column.column], view.schema, view.catalog),
        "name": column.name,
        "type": Sql(type_sql(column.sql_type).text),
        "levels": weights["levels"],
        "default": weights["default"],
        "nulls_count": bool(requirement.parameters.get("null_as_value", False)),
    }
