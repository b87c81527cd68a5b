"""Data frames from rows of Python values, in which whole numbers stay exact beside NULLs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

KINDS = {
    "TINYINT": ("int8", "Int8"),
    "SMALLINT": ("int16", "Int16"),
    "INTEGER": ("int32", "Int32"),
    "BIGINT": ("int64", "Int64"),
    "BOOLEAN": ("bool", "boolean"),
    "FLOAT": ("float32", "float32"),
    "DOUBLE": ("float64", "float64"),
}
"""The pandas types of DuckDB's, without and with NULLs, as in DuckDB's own frames. pandas itself
would make doubles of whole numbers beside NULLs. It finds all other types from the values."""


def frame_of(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """The rows of columns with these names and (DuckDB's) types, as a data frame."""
    import pandas as pd

    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    made = {}
    for number, (_, kind) in enumerate(columns):
        plain, nullable = KINDS.get(kind, (None, None))
        dtype: Any = nullable if None in values[number] else plain
        made[number] = pd.Series(list(values[number]), dtype=dtype)
    frame = pd.DataFrame(made)
    frame.columns = pd.Index([name for name, _ in columns])
    return frame
