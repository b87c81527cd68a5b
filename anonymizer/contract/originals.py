"""The source, in the form that verification reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from anonymizer.compile import Sql, Table


@dataclass(frozen=True, slots=True)
class MaskedColumn:
    """A column whose values were masked when they were read, beside the values as they were."""

    column: str
    """Name in the source."""
    sql_type: str
    """Type of the values as they were."""
    masked: Sql
    """Physical column with the masked values."""
    original: Sql
    """Physical column with the values as they were."""
    masks: tuple[Mapping[str, Any], ...]
    """What was done, as a layout says it."""
    per: Sql | None = None
    """Physical column of what the rows have in common that are shifted alike."""
    identifiers: tuple[tuple[Table | None, Sql], ...] = ()
    """Tables, if not this one, and physical columns with values that say who somebody is, and stand
    in no text."""
    apart: str = ""
    """What masks have in common that are made alike: kind and format, the column of `per`, the key,
    and the range."""


@dataclass(frozen=True, slots=True)
class Originals:
    """The source as it was read: one row per source row, suppressed ones included."""

    table: Table
    values: Mapping[str, str]
    """Source column to the physical column that holds its values."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """Semi-sensitive source column to the boolean column that is true (or NULL) where it is so."""
    nodes: Mapping[str, Table] = field(default_factory=dict)
    """Source column to a table (value, label): every value with itself and with each ancestor."""
    person: str | None = None
    """Physical column that identifies the person of a row."""
    sets: frozenset[str] = frozenset()
    """Source columns whose nodes are sets that list their members."""
    leaves: Mapping[str, Table] = field(default_factory=dict)
    """Source column to a table (value, label) of all leaves that its hierarchy's file or table
    declares, each with every ancestor: what losses are shares of."""
    admitted: Mapping[str, Table] = field(default_factory=dict)
    """Source column to a table (lo, hi, first, last) of bounds that no published row need have:
    they follow from the policy, or from the ends of the data `first` and `last`, if published.
    """
    distinct: Mapping[str, Table] = field(default_factory=dict)
    """Source column to a table (value) of its different values, where they were counted before."""
    masked: tuple[MaskedColumn, ...] = ()
    """The columns whose values were masked, with their values as they were."""
    read: Table | None = None
    """The rows that were read, where `table` has others as well, which were never masked."""
    row_ref: str = "row_ref"
    """Column of this table and of the staged rows that joins them."""
