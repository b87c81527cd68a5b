"""Detects columns whose counts look like those of persons with several rows each."""

from __future__ import annotations

from anonymizer.source import column_names
from anonymizer.source.profile import kind_of

CATEGORY = 2
"""Up to this number, values are categories, whatever the column's name."""
MOST_ROWS = 50
"""Average rows per value up to which values may be persons."""
MANY = 100
"""From this number of values on, a column named like a person key counts at any number of rows."""
A_FEW = 10
"""Up to this many values, a text is a category, however few rows there are."""
UNFAMILIAR = 1 / 20
"""Values per row above which a text is no category: it may be names, or what tells them."""
NEARLY_UNIQUE = 0.9
"""Values per row above which a column without such a name repeats by chance."""

EXACT_UP_TO = {"DOUBLE": 10**15, "FLOAT": 2**24}
"""The numbers up to which types keep every digit."""


def countable(sql_type: str) -> bool:
    """Whether values of the type may be person numbers: not measurements, dates or flags."""
    measure = sql_type in ("BOOLEAN", "FLOAT", "DOUBLE", "TIME") or fractional(sql_type)
    return not measure and kind_of(sql_type) in ("numeric", "categorical")


def fractional(sql_type: str) -> bool:
    """Whether numbers of the type may have decimals, so that they are measurements."""
    decimals = sql_type.startswith("DECIMAL(") and not sql_type.endswith(",0)")
    return sql_type in ("FLOAT", "DOUBLE") or decimals


def repeats_like_persons(name: str, different: int, known: int) -> bool:
    """Whether `different` values in `known` rows may be persons with several rows each."""
    if not CATEGORY < different < known:
        return False
    few_rows = known <= different * MOST_ROWS
    if column_names.names_person(name):
        return few_rows or different >= MANY
    return few_rows and different <= known * NEARLY_UNIQUE
