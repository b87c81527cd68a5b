"""Conditions of Safe Harbor on the published rows, by the declared content of each column.

No mask is trusted: the conditions follow from the kind of the column alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from anonymizer.compile import Sql, Table, ident, lit
from anonymizer.contract.columns import type_sql
from anonymizer.contract.layout import Layout, PublishedColumn
from anonymizer.contract.value_text import value_text
from anonymizer.policy.safe_harbor import EMPTIED, OLDEST, YEARS, earliest
from anonymizer.source.dates_in_text import DATE_FORMS
from anonymizer.source.detectors import FORMS
from anonymizer.source.signs import plain
from anonymizer.verification.masks import restricted
from anonymizer.verification.questions import Achieved, Question

WORST = Achieved("n", "sum")
NUMBERS = ("INT", "DECIMAL", "FLOAT", "DOUBLE")
WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
"""Types; each may have the prefix U."""
RANGE = "[12.34567, 15.67891]"
"""A cell that is no coordinates."""
PATTERN = "|".join(
    [
        f"({form.pattern})"
        for form in FORMS
        if form.check is None and form.least == 0 and re.search(form.pattern, RANGE) is None
    ]
    + [f"({form})" for form in DATE_FORMS]
)
"""Identifiers and dates that are recognized by form alone, without a check digit or a share."""


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
            refused = f"regexp_matches({plain('cast(value as varchar)')}, {lit(PATTERN)})"
        case "safe_harbor_year":
            refused = f"not ({_year(column.sql_type, earliest(year))})"
        case "safe_harbor_age":
            refused = f"value > {OLDEST}" if _number(column.sql_type) else "value is not null"
        case "safe_harbor_zip3":
            text = "cast(value as varchar)"
            refused = f"not regexp_full_match({text}, '[0-9]{{3}}')"
            few = ", ".join(str(lit(area)) for area in restricted(last))
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
    return Question(name, column.column, 0, "safe_harbor", parameters, (WORST,))


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
