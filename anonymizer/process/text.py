"""Figures, tables and HTML, for the terminal, notebooks and reports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2

# Figures and tables as text, for the terminal and for reports.


def json_value(value: Any) -> Any:
    """Convert a value to JSON types: no NaN or infinity (they become text), Decimal or tuple."""
    match value:
        case bool() | int() | str() | None:
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Decimal():
            return json_value(float(value))
        case Mapping():
            return {str(key): json_value(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [json_value(item) for item in value]
    return str(value)


def printable(text: str, keep: str = "\n\t") -> str:
    """Escape the control characters in a text, such as a name, which may contain any."""
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode()
        for char in text
    )


def figure(value: Any) -> str:
    """A figure of a check or measure as short text."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.4g}" if abs(value) < 9999.5 else f"{value:,.0f}"
        case int():
            return f"{value:,}"
        case Mapping():
            return ", ".join(f"{key} {figure(item)}" for key, item in value.items())
        case list() | tuple():
            return many(len(value), "value")
    return str(value)


def many(count: int, one: str, several: str | None = None) -> str:
    """A count with its noun: `1 row`, `2,000 rows`; `several`: the plural, if not formed with s."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], indent: str = "  ") -> list[str]:
    """Rows as lines with aligned columns; formats values as figures, with numbers to the right."""
    cells = [[printable(figure(cell), keep="") for cell in row] for row in rows]
    lines = [list(head), *cells]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    right = [bool(cells) and all(is_number(row[i]) for row in cells) for i in range(len(head))]
    return [
        indent
        + "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    ]


def is_number(cell: str) -> bool:
    """Return whether a cell holds a figure, a share or nothing."""
    digits = cell.removeprefix("<").removesuffix(" %").replace(",", "").replace(".", "")
    return digits.replace("-", "").isdigit() or cell in ("-", "–")


# HTML from templates, with all values escaped.


@cache
def environment() -> jinja2.Environment:
    """The environment of the HTML templates."""
    import jinja2

    from anonymizer.compile.sql import folder

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(folder("templates"))),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(figure=figure)
    return made
