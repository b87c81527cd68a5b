"""SQL that reads the cells of a published column, from the layout of the release alone."""

from __future__ import annotations

import re

from anonymizer.compile import Sql, ident, sql
from anonymizer.contract.layout import Layout, PublishedColumn
from anonymizer.errors import TemplateError

TYPE = re.compile(r"[A-Z][A-Z0-9_]*(\(\d+(, ?\d+)?\))?( WITH TIME ZONE)?\Z")


def type_sql(name: str) -> Sql:
    """The name of a plain SQL type as SQL. Raises TemplateError for anything else."""
    if not TYPE.match(name):
        raise TemplateError(f"the layout names a type that is not plain: {name[:40]}")
    return Sql(name)


def quasi(layout: Layout) -> tuple[PublishedColumn, ...]:
    """Columns with generalized cells, including semi-sensitive ones."""
    return tuple(column for column in layout.columns if column.role in ("quasi", "semi"))


def bucketized(layout: Layout) -> tuple[PublishedColumn, ...]:
    """Columns some or all of whose values are in buckets."""
    return tuple(column for column in layout.columns if column.bucket is not None)


def cell_parts(column: PublishedColumn) -> list[str]:
    """The published columns that make up the generalized cell."""
    parts = (column.name, column.lo, column.hi, column.nullable)
    return [part for part in parts if part is not None]


def flags(layout: Layout) -> list[Sql]:
    """For each semi-sensitive column, whether the cell is generalized."""
    return [
        sql("({bucket} is null)", bucket=column.bucket)
        for column in quasi(layout)
        if column.bucket is not None
    ]


def cells(layout: Layout) -> list[Sql]:
    """The generalized cells of the published tuple, with bucketized ones as NULL."""
    return [
        ident(part)
        if column.bucket is None
        else sql("case when {bucket} is null then {part} end", bucket=column.bucket, part=part)
        for column in quasi(layout)
        for part in cell_parts(column)
    ]


def published(layout: Layout) -> list[str]:
    """Every column of the view, in no particular order."""
    names = [layout.class_id, layout.person_id, layout.group_id, layout.key, *layout.links]
    for column in layout.columns:
        if column.column not in layout.tables:
            names += [*cell_parts(column), column.value, column.bucket]
    return [name for name in names if name is not None]
