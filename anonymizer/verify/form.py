"""Conditions of form: what makes classes classes and buckets buckets, whatever the guarantee."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from anonymizer.compile import Table, ident
from anonymizer.release.layout import Layout, PublishedColumn
from anonymizer.verify.columns import (
    bucketized,
    cell_parts,
    cells,
    flags,
    numbered,
    quasi,
    type_sql,
)
from anonymizer.verify.questions import Question, greatest


def form(view: Table, layout: Layout) -> Iterator[Question]:
    """Every condition of form that this layout has."""
    table = {"data": view, "group": layout.class_id, "label": layout.class_id or "class"}
    if layout.class_id is not None:
        yield Question("class_present", None, 0, "verify/class_present.sql.j2", table)
        tuples = {**table, "flags": flags(layout), "cells": cells(layout)}
        yield Question("class_cells", None, 0, "verify/class_cells.sql.j2", tuples)
        if flags(layout):
            yield Question("class_flags", None, 0, "verify/class_flags.sql.j2", tuples)
        if layout.person_id is not None:
            persons = {**table, "person": layout.person_id}
            yield Question("person_class", None, 0, "verify/person_class.sql.j2", persons)
    known = numbered(layout)
    for column in quasi(layout):
        read = column.lo is not None or (layout.cells == "text" and layout.group_id is None)
        if read:
            yield _of_column("cell_form", column, {**table, "known": known[column.column]})
    for column in bucketized(layout):
        yield replace(_of_column("cell_or_bucket", column, table), provable=True)
        if layout.person_id is not None:
            names = {"group": column.bucket, "label": column.bucket, "person": layout.person_id}
            yield _of_column("bucket_persons", column, {"data": view, **names})
    group = {"data": view, "group": layout.group_id, "label": layout.group_id}
    group["person"] = layout.person_id
    if layout.group_id is not None and layout.person_id is not None:
        yield Question("person_group", None, 0, "verify/person_class.sql.j2", group)
    for name, values in layout.tables.items():
        tables = {**group, "values_table": Table(values, view.schema, view.catalog)}
        yield Question("group_sizes", name, 0, "verify/group_sizes.sql.j2", tables)


def unique_values(view: Table, column: PublishedColumn, group: str | None) -> Question:
    """No value twice in a bucket (Li and He 2022, Corollary 2) or class (m-uniqueness)."""
    return Question(
        "bucket_unique",
        column.column,
        1,
        "verify/bucket_unique.sql.j2",
        {
            "data": view,
            "group": group,
            "label": group,
            "person": None,
            "column": column,
            "type": type_sql(column.sql_type),
            "nulls_count": False,
        },
        (greatest(),),
    )


def _of_column(name: str, column: PublishedColumn, table: dict[str, Any]) -> Question:
    parameters = {
        **table,
        "column": column,
        "type": type_sql(column.sql_type),
        "parts": [ident(part) for part in cell_parts(column)],
    }
    return Question(name, column.column, 0, f"verify/{name}.sql.j2", parameters)
