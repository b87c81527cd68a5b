"""Conditions on masked columns that can be checked from a release alone.

They concern the published values, not how they were made: no statement of the masks is used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from anonymizer.compile import Sql, Table, ident, lit
from anonymizer.contract.columns import type_sql
from anonymizer.contract.layout import Layout, PublishedColumn
from anonymizer.contract.value_text import value_text
from anonymizer.policy.safe_harbor import RESTRICTED
from anonymizer.source.detectors import FORMS
from anonymizer.source.masking.masks import family_of, in_utc
from anonymizer.source.signs import plain
from anonymizer.verification.questions import Achieved, Question

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
WORST = Achieved("n", "sum")


def released(view: Table, layout: Layout) -> Iterator[Question]:
    """The conditions on every column that is published value by value."""
    for column in layout.columns:
        if column.role not in ("keep", "sensitive") or column.column in layout.tables:
            continue
        shared = {
            "data": view,
            "column": column,
            "type": type_sql(column.sql_type),
            "label": "what",
            "person": layout.person_id,
        }
        for mask in column.masks:
            yield from _released(column, mask, shared)


def _released(column: PublishedColumn, mask: Mask, shared: Mapping[str, Any]) -> Iterator[Question]:
    def asked(name: str, **parameters: Any) -> Question:
        return Question(name, column.column, 0, name, {**shared, **parameters}, (WORST,))

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
                smallest = Achieved("units", "least")
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
            shown = Sql(plain(f"cast({name} as varchar)"))
            yield asked("mask_patterns", pattern=patterns(mask), shown=shown)
        case "zip3":
            yield asked("mask_zip3", restricted=restricted(mask))
        case "null":
            yield asked("mask_constant", value=Sql("null"))
        case "constant":
            value = value_of(mask["value"], column.sql_type)
            yield asked("mask_constant", value=value)


def restricted(mask: Mask) -> list[str]:
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
