"""Information loss and disclosure figures of a release, computed in the database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.compile import Table, render
from anonymizer.contract.checks import RunSql
from anonymizer.contract.coarse import coarse, coarse_mean
from anonymizer.contract.columns import bucketized, quasi, type_sql
from anonymizer.contract.layout import Layout, PublishedColumn
from anonymizer.contract.originals import Originals

Measures = dict[str, float | int | None]


def measure_release(
    run_sql: RunSql,
    view: Table,
    layout: Layout,
    originals: Originals,
    *,
    link: Table | None = None,
    suppressed: int = 0,
    suppressed_cells: int | None = None,
) -> Measures:
    """All measures of a release.

    * `rows`, `persons`, `suppressed` (rows), `classes`, `class_min`, `class_mean`, `class_max`;
    * `c_dm`: sum of squared class sizes, and n for every suppressed row (Bayardo and Agrawal 2005);
    * `ncp_sum`, `ncp`: sum, and mean per quasi-identifying cell, of the normalized certainty
      penalty of the published cells (Xu et al. 2006); `glm_sum`, `glm` likewise for the
      generalized loss metric (Iyengar 2002), in which a set of s of m values costs (s-1)/(m-1);
    * if columns have weights (in the layout), `ncp_weighted`: the mean of the same penalties, with
      each cell weighted by its column's weight;
    * `ncp.<column>`: mean NCP of the published cells of one column, without suppressed rows;
    * with `link` (the staged rows) and a hierarchy: `ncp_nodes`, which is `ncp`, and `ncp_sets`,
      the same with the set of values in each class in place of its node;
    * for every column in buckets: `bucket_range.<column>`, `lemma2_max.<column>` (Li and He 2022,
      Lemma 2, largest probability of one value over all rows), `lemma2_bound.<column>` (as
      printed), `strict_min.<column>` (fewest rows of a class left when one value is known).

    Domains are those of the release (`measure/_losses.sql.j2`). What the release does not show is
    rounded to few digits (`contract.coarse`): `ncp_sets`, and all losses if the nodes of a column
    hide how many values they cover.

    A suppressed row costs 1 per cell; it has one cell per quasi-identifier, unless
    `suppressed_cells` gives the number of cells of all suppressed rows.
    """
    found = counts_of(run_sql, view, layout, suppressed)
    lost = suppressed * len(quasi(layout)) if suppressed_cells is None else suppressed_cells
    if layout.classless:
        return found
    found |= _losses(run_sql, view, layout, originals, lost, link)
    if (sets := found.get("ncp_sets")) is not None:
        found["ncp_sets"] = coarse_mean(sets, int(found["persons"] or found["rows"] or 0))
    for column in bucketized(layout):
        name, common = column.column, _common(column, originals)
        parameters = {**common, "data": view, "group": layout.class_id, "by_class": False}
        (width,) = _row(run_sql, "measure/bucket_ranges.sql.j2", parameters)
        exposure, bound, left = _row(run_sql, "measure/exposure.sql.j2", parameters)
        found[f"bucket_range.{name}"] = width
        found[f"lemma2_max.{name}"] = exposure
        found[f"lemma2_bound.{name}"] = bound
        found[f"strict_min.{name}"] = left
    return found


def exposure_sql(view: Table, layout: Layout, column: PublishedColumn) -> str:
    """Per class: class, exposure, bound of Lemma 2, rows left when one value is known."""
    parameters = {
        "data": view,
        "group": layout.class_id,
        "column": column,
        "type": type_sql(column.sql_type),
        "by_class": True,
    }
    return render("measure/exposure.sql.j2", parameters).text


def counts_of(run_sql: RunSql, view: Table, layout: Layout, suppressed: int) -> Measures:
    """Rows, persons and class sizes, which any recipient can count."""
    group = layout.class_id or layout.group_id
    parameters = {"data": view, "group": group, "person": layout.person_id}
    rows, classes, least, mean, most, squares, persons = _row(
        run_sql, "measure/counts.sql.j2", parameters
    )
    told = {"rows": rows, "persons": persons, "suppressed": suppressed}
    if layout.classless:
        return told
    return {
        **told,
        "classes": classes,
        "class_min": least,
        "class_mean": mean,
        "class_max": most,
        "c_dm": squares + (rows + suppressed) * suppressed,
    }


def smallest_class(
    run_sql: RunSql, view: Table, layout: Layout, measures: Mapping[str, Any]
) -> int | None:
    """Persons in the smallest class, or its rows if the release names no persons.

    None without classes.
    """
    if layout.classless:
        return None
    if layout.person_id is None:
        return measures["class_min"] or None
    group = layout.class_id or layout.group_id
    parameters = {"data": view, "group": group, "person": layout.person_id}
    (least,) = _row(run_sql, "measure/smallest.sql.j2", parameters)
    return least if least is None else int(least)


def _losses(
    run_sql: RunSql,
    view: Table,
    layout: Layout,
    originals: Originals,
    lost: int,
    link: Table | None,
) -> Measures:
    cells, ncp, glm, sets = lost, float(lost), float(lost), float(lost)
    weights = [column.weight for column in quasi(layout) if column.weight is not None]
    # (a suppressed row has a cell in every column, so the mean weight applies)
    weighty = weighted = lost * sum(weights) / max(len(weights), 1)
    has_nodes = hidden = False
    of_columns: Measures = {}
    for column in quasi(layout):
        parameters = {**_common(column, originals), "data": view, "group": layout.class_id}
        found = _row(run_sql, "measure/losses.sql.j2", parameters)
        of_columns[f"ncp.{column.column}"] = _mean_loss(found, 0, hidden=_hidden(parameters))
        cells, ncp, glm = cells + found[0], ncp + found[1], glm + found[2]
        hidden |= _hidden(parameters)
        weighty += found[0] * (column.weight or 0)
        weighted += found[1] * (column.weight or 0)
        as_set = found[1]
        if (
            link is not None
            and layout.class_id is not None
            and column.column in originals.nodes
            and column.kind == "categorical"
            and column.hierarchy
        ):
            has_nodes = True
            linked = {**parameters, "link": link, "row_ref": originals.row_ref}
            (as_set,) = _row(run_sql, "measure/set_losses.sql.j2", linked)
        sets += as_set
    per_cell = 1 / cells if cells else 0.0
    measures: Measures = {
        "ncp": ncp * per_cell,
        "ncp_sum": ncp,
        "glm": glm * per_cell,
        "glm_sum": glm,
        "qi_cells": cells,
    }
    if weights:
        measures["ncp_weighted"] = weighted / weighty if weighty else 0.0
    if has_nodes:
        measures |= {"ncp_nodes": ncp * per_cell, "ncp_sets": sets * per_cell}
    # (the caller, who knows the number of rows or persons, rounds `ncp_sets` to steps)
    told = {"qi_cells", "ncp_sets"} if hidden else measures.keys()
    of_table = {n: v if n in told or v is None else coarse(v) for n, v in measures.items()}
    return of_table | of_columns


def column_losses(
    run_sql: RunSql, view: Table, layout: Layout, originals: Originals, *, suppressed: int = 0
) -> dict[str, float]:
    """Mean NCP of the cells of every quasi-identifier (Xu et al. 2006), 0 to 1.

    Domains are those of the release (`measure/_losses.sql.j2`). What the release does not show is
    rounded to few digits (`contract.coarse`): `ncp_sets`, and all losses if the nodes of a column
    hide how many values they cover.

    A suppressed row costs 1. Cells in buckets, which are not generalized, are not included.
    """
    found: dict[str, float] = {}
    for column in quasi(layout):
        parameters = {**_common(column, originals), "data": view, "group": layout.class_id}
        row = _row(run_sql, "measure/losses.sql.j2", parameters)
        found[column.column] = _mean_loss(row, suppressed, hidden=_hidden(parameters))
    return found


def _mean_loss(found: tuple[Any, ...], suppressed: int, *, hidden: bool) -> float:
    """The mean NCP of a column's cells; cells of suppressed rows cost 1."""
    cells, ncp, _ = found
    mean = float((ncp + suppressed) / max(cells + suppressed, 1))
    return coarse(mean) if hidden else mean


def _common(column: PublishedColumn, originals: Originals) -> dict[str, Any]:
    nodes = originals.nodes.get(column.column) if column.hierarchy else None
    return {
        "column": column,
        "type": type_sql(column.sql_type),
        "original": originals.table,
        "physical": originals.values[column.column],
        "nodes": None if column.column in originals.sets else nodes,
        "leaves": originals.leaves.get(column.column) if column.hierarchy else None,
    }


def _hidden(parameters: Mapping[str, Any]) -> bool:
    """Whether the cells hide how many values a node covers, such as codes under a prefix."""
    return parameters["nodes"] is not None and parameters["leaves"] is None


def _row(run_sql: RunSql, template: str, parameters: dict[str, Any]) -> tuple[Any, ...]:
    return run_sql(render(template, parameters).text)[0]
