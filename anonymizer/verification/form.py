"""Conditions of form: classes, buckets, masks and Safe Harbor, whatever the guarantees."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache
from typing import Any, TypeAlias

from anonymizer.compile import Sql, Table, ident, lit
from anonymizer.contract.layout import (
    Layout,
    PublishedColumn,
    bucket_columns,
    cell_parts,
    cells,
    flags,
    quasi,
    type_sql,
    value_text,
)
from anonymizer.policy.safe_harbor import EMPTIED, OLDEST, RESTRICTED, YEARS, earliest
from anonymizer.source.identifiers import DATE_FORMS, FORMS, usual_characters
from anonymizer.source.masking.masks import family_of, in_utc
from anonymizer.verification.questions import FigureColumn, Question, condition, of_column

# Conditions on masked columns that can be checked from a release alone.
#
# They concern the published values, not how they were made: no statement of the masks is used.


Mask: TypeAlias = Mapping[str, Any]
"""A mask as the manifest describes it."""
TOKENS = {
    "hex": "[0-9a-f]{64}",
    "uuid": "[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}",
    "number": "[0-9]{1,18}",
}
"""Forms of tokens. Those of the format `like` have the form of their values, which is unknown."""
CALENDAR = ("year", "quarter", "month", "week", "day", "hour")
REALS = ("FLOAT", "DOUBLE")


def column_questions(view: Table, layout: Layout) -> Iterator[Question]:
    """The conditions on every column that is published value by value."""
    for column in layout.columns:
        if column.role not in ("keep", "sensitive") or column.column in layout.tables:
            continue
        shared = {
            **of_column(column),
            "data": view,
            "label": "what",
            "person": layout.person_id,
        }
        for mask in column.masks:
            yield from _mask_questions(column, mask, shared)


def _mask_questions(
    column: PublishedColumn, mask: Mask, shared: Mapping[str, Any]
) -> Iterator[Question]:
    def asked(name: str, **parameters: Any) -> Question:
        return condition(name, column.column, {**shared, **parameters}, "n")

    match mask["mask"]:
        case "token" if mask.get("format") in TOKENS:
            yield asked("mask_form", form=TOKENS[mask["format"]])
        case "top_code" | "bottom_code" as kind:
            top = kind == "top_code"
            if "at" in mask:
                at = value_of(mask["at"], column.sql_type)
                yield asked("mask_beyond", at=at, top=top)
            if "at_least" in mask:
                least = int(mask["at_least"])
                parameters = {**shared, "at_least": least, "top": top}
                smallest = FigureColumn("units", "least")
                yield Question(
                    "mask_group", column.column, least, "mask_group", parameters, (smallest,)
                )
        case "round":
            dates = mask["to"] in CALENDAR
            step = Sql("0") if dates else value_of(mask["to"], _wide(column.sql_type))
            yield asked(
                "mask_rounded",
                step=step,
                unit=mask["to"],
                dates=dates,
                zoned=column.sql_type.endswith("TIME ZONE"),
                reals=column.sql_type in REALS,
                limit=Sql("0") if dates else value_of(_limit(mask["to"]), "DOUBLE"),
            )
        case "noise" if "between" in mask:
            low, high = (value_of(end, column.sql_type) for end in mask["between"])
            yield asked("mask_between", low=low, high=high)
        case "redact":
            name = ident(column.name or column.column)
            shown = Sql(usual_characters(f"cast({name} as varchar)"))
            yield asked("mask_patterns", pattern=patterns(mask), shown=shown)
        case "zip3":
            yield asked("mask_zip3", restricted=restricted_areas(mask))
        case "null":
            yield asked("mask_constant", value=Sql("null"))
        case "constant":
            value = value_of(mask["value"], column.sql_type)
            yield asked("mask_constant", value=value)


def restricted_areas(mask: Mask) -> list[str]:
    """The restricted areas of three digits; without a list, those of the guidance."""
    return [str(area) for area in mask.get("restricted", RESTRICTED)]


def _limit(to: float) -> float:
    """Above this, multiples of a step are as close to each other as doubles are."""
    return min(float(to) * 2**50, sys.float_info.max)


def patterns(mask: Mask) -> str:
    """One pattern that matches each of the identifiers."""
    kinds = mask.get("patterns") or ()
    forms = [f.pattern for f in FORMS if f.inside and (not kinds or f.kind in kinds)]
    return "|".join(f"({form})" for form in forms)


def _wide(sql_type: str) -> str:
    """A type in which remainders of the type's values are exact."""
    return "DOUBLE" if sql_type == "FLOAT" else sql_type


def value_of(value: Any, sql_type: str) -> Sql:
    """A value of the manifest as one of a column's type."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Sql(f"cast({lit(f'{Decimal(str(value)):f}')} as {type_sql(sql_type)})")
    text = value_text(value)
    if family_of(sql_type) == "zoned":
        text = in_utc(text)
    return Sql(f"cast({lit(text)} as {type_sql(sql_type)})")


# Conditions of Safe Harbor on the published rows, by the declared content of each column.
#
# No mask is trusted: the conditions follow from the kind of the column alone.


NUMBERS = ("INT", "DECIMAL", "FLOAT", "DOUBLE")
WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
"""Types; each may have the prefix U."""
RANGE = "[12.34567, 15.67891]"
"""A cell that is no coordinates."""


@cache
def own_forms() -> str:
    """The pattern of identifiers and dates that are recognized without a check digit or share."""
    alone = (
        form.pattern
        for form in FORMS
        if form.check is None and form.least == 0 and re.search(form.pattern, RANGE) is None
    )
    return "|".join(f"({pattern})" for pattern in (*alone, *DATE_FORMS))


def of_safe_harbor(view: Table, layout: Layout) -> Iterator[Question]:
    """The conditions on every published column, if the layout says that Safe Harbor applies."""
    if layout.safe_harbor is None:
        return
    for column in layout.columns:
        held = layout.tables.get(column.column)
        table = view if held is None else Table(held, view.schema, view.catalog)
        yield _of_column(column, table, layout.safe_harbor)


def check_of(kind: str | None, *, emptied: bool) -> str:
    """The name of the check of a column, by its kind and by whether its values are published."""
    if kind == "none":
        return "safe_harbor_text"
    if emptied or kind not in ("dates", "birth", "ages", "geography"):
        return "safe_harbor_nothing"
    return {"ages": "safe_harbor_age", "geography": "safe_harbor_zip3"}.get(
        kind, "safe_harbor_year"
    )


def _of_column(column: PublishedColumn, table: Table, year: int) -> Question:
    last = column.masks[-1] if column.masks else {}
    emptied = last.get("mask") in EMPTIED
    name = check_of(column.safe_harbor, emptied=emptied)
    match name:
        case "safe_harbor_text":
            refused = (
                f"regexp_matches({usual_characters('cast(value as varchar)')}, {lit(own_forms())})"
            )
        case "safe_harbor_year":
            refused = f"not ({_year(column.sql_type, earliest(year))})"
        case "safe_harbor_age":
            refused = f"value > {OLDEST}" if _number(column.sql_type) else "value is not null"
        case "safe_harbor_zip3":
            text = "cast(value as varchar)"
            refused = f"not regexp_full_match({text}, '[0-9]{{3}}')"
            few = ", ".join(str(lit(area)) for area in restricted_areas(last))
            refused += f" or {text} in ({few})" if few else ""
        case _:
            one = last.get("value") if last.get("mask") == "constant" else None
            same = f"cast({lit(value_text(one))} as {type_sql(column.sql_type)})"
            refused = "value is not null" if one is None else f"value is distinct from {same}"
    parameters: dict[str, Any] = {
        "data": table,
        "column": column,
        "type": type_sql(column.sql_type),
        "parts": [ident(part) for part in _parts(column)],
        # (text is checked as published, in any kind of cell)
        "raw": name == "safe_harbor_text" or column.role not in ("quasi", "semi"),
        "refused": Sql(refused),
        "label": "what",
    }
    return condition(name, column.column, parameters, "n", template="safe_harbor")


def _parts(column: PublishedColumn) -> list[str]:
    parts = [column.name, column.lo, column.hi, column.value]
    return [part for part in parts if part is not None]


def _number(sql_type: str) -> bool:
    return any(part in sql_type for part in NUMBERS)


def _year(sql_type: str, first: int) -> str:
    """A condition on a value that is the first day of a year, or the number of a year."""
    if sql_type.removeprefix("U") in WHOLE:
        return f"value between {max(first, YEARS[0])} and {YEARS[1]}"
    if not sql_type.startswith(("DATE", "TIMESTAMP")):
        return "false"
    value = "timezone('UTC', value)" if sql_type.endswith("TIME ZONE") else "value"
    begins = f"{value} = date_trunc('year', {value})"
    return f"isfinite(value) and {begins} and year({value}) >= {first}"


# Conditions of form: structural checks of classes and buckets, whatever the guarantees.


def form(view: Table, layout: Layout) -> Iterator[Question]:
    """Every condition of form that this layout has."""
    table = {"data": view, "group": layout.class_id, "label": layout.class_id or "class"}
    persons = {"data": view, "person": layout.person_id, "label": layout.person_id}
    if layout.class_id is not None:
        yield condition("class_present", None, table)
        tuples = {**table, "flags": flags(layout), "cells": cells(layout)}
        yield condition("class_cells", None, tuples)
        if flags(layout):
            yield condition("class_flags", None, tuples)
        if layout.person_id is not None:
            yield condition("person_class", None, {**persons, "group": layout.class_id})
    elif layout.classless:
        yield condition("rows_present", None, {**table, "label": "release"})
        if layout.person_id is not None:
            numbers = {**persons, "group": layout.person_id}
            yield condition("person_present", None, numbers, template="class_present")
    for column in quasi(layout):
        if column.like is not None:
            (of,) = (c for c in quasi(layout) if c.column == column.like)
            names = {**table, "label": "cell", "of": [ident(part) for part in cell_parts(of)]}
            yield _form_of_column("cells_alike", column, names)
        if column.lo is not None or (layout.cells == "text" and layout.group_id is None):
            yield _form_of_column("cell_form", column, table, "malformed")
    for column in bucket_columns(layout):
        yield _form_of_column("cell_or_bucket", column, table, "neither")
        if layout.person_id is not None:
            names = {"group": column.bucket, "label": column.bucket, "person": layout.person_id}
            yield _form_of_column("bucket_persons", column, {"data": view, **names})
    group = {"data": view, "group": layout.group_id, "label": layout.group_id}
    if layout.group_id is not None and layout.person_id is not None:
        of_group = {**persons, "group": layout.group_id}
        yield condition("person_group", None, of_group, template="person_class")
    # (in column order, which a manifest keeps)
    for name in (c.column for c in layout.columns if c.column in layout.tables):
        values = layout.tables[name]
        held = Table(values, view.schema, view.catalog)
        tables = {**group, "person": layout.person_id, "values_table": held}
        yield condition("group_sizes", name, tables)
    yield from column_questions(view, layout)
    yield from of_safe_harbor(view, layout)


def _form_of_column(
    name: str, column: PublishedColumn, table: dict[str, Any], broken: str = ""
) -> Question:
    return condition(name, column.column, {**table, **of_column(column)}, broken)
