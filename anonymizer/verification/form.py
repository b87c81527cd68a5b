"""Conditions of form: structural checks of classes and buckets, whatever the guarantees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from anonymizer.compile import Table, ident
from anonymizer.contract.columns import bucketized, cell_parts, cells, flags, quasi, type_sql
from anonymizer.contract.layout import Layout, PublishedColumn
from anonymizer.verification.masks import released
from anonymizer.verification.questions import Achieved, Question
from anonymizer.verification.safe_harbor import of_safe_harbor


def form(view: Table, layout: Layout) -> Iterator[Question]:
    """Every condition of form that this layout has."""
    table = {"data": view, "group": layout.class_id, "label": layout.class_id or "class"}
    persons = {"data": view, "person": layout.person_id, "label": layout.person_id}
    if layout.class_id is not None:
        yield Question("class_present", None, 0, "class_present", table)
        tuples = {**table, "flags": flags(layout), "cells": cells(layout)}
        yield Question("class_cells", None, 0, "class_cells", tuples)
        if flags(layout):
            yield Question("class_flags", None, 0, "class_flags", tuples)
        if layout.person_id is not None:
            of_class = {**persons, "group": layout.class_id}
            yield Question("person_class", None, 0, "person_class", of_class)
    elif layout.classless:
        yield Question("rows_present", None, 0, "rows_present", {**table, "label": "release"})
        if layout.person_id is not None:
            numbers = {**persons, "group": layout.person_id}
            yield Question("person_present", None, 0, "class_present", numbers)
    for column in quasi(layout):
        if column.lo is not None or (layout.cells == "text" and layout.group_id is None):
            yield _of_column("cell_form", column, table, Achieved("malformed", "sum"))
    for column in bucketized(layout):
        yield _of_column("cell_or_bucket", column, table, Achieved("neither", "sum"))
        if layout.person_id is not None:
            names = {"group": column.bucket, "label": column.bucket, "person": layout.person_id}
            yield _of_column("bucket_persons", column, {"data": view, **names})
    group = {"data": view, "group": layout.group_id, "label": layout.group_id}
    if layout.group_id is not None and layout.person_id is not None:
        of_group = {**persons, "group": layout.group_id}
        yield Question("person_group", None, 0, "person_class", of_group)
    # (in column order, which a manifest keeps)
    for name in (c.column for c in layout.columns if c.column in layout.tables):
        values = layout.tables[name]
        held = Table(values, view.schema, view.catalog)
        tables = {**group, "person": layout.person_id, "values_table": held}
        yield Question("group_sizes", name, 0, "group_sizes", tables)
    yield from released(view, layout)
    yield from of_safe_harbor(view, layout)


def _of_column(
    name: str, column: PublishedColumn, table: dict[str, Any], *achieved: Achieved
) -> Question:
    parameters = {
        **table,
        "column": column,
        "type": type_sql(column.sql_type),
        "parts": [ident(part) for part in cell_parts(column)],
    }
    return Question(name, column.column, 0, name, parameters, achieved)
