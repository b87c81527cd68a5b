"""The source in the form that verification reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from anonymizer.compile import Sql, Table


@dataclass(frozen=True, slots=True)
class MaskedColumn:
    """A column whose values were masked when they were read, and its original values."""

    column: str
    """Name in the source."""
    sql_type: str
    """Type of the original values."""
    masked: Sql
    """Physical column with the masked values."""
    original: Sql
    """Physical column with the original values."""
    masks: tuple[Mapping[str, Any], ...]
    """The masks, as in a layout."""
    per: Sql | None = None
    """Physical column whose value is shared by rows that are shifted alike."""
    identifiers: tuple[tuple[Table | None, Sql], ...] = ()
    """Tables (None for this one) and physical columns with identifying values, which must not
    occur in texts."""
    apart: str = ""
    """A key shared by masks that map equally: kind and format, the column of `per`, the key, and
    the range."""


@dataclass(frozen=True, slots=True)
class Originals:
    """The source as it was read: one row per source row, including suppressed rows."""

    table: Table
    values: Mapping[str, str]
    """Source column -> physical column with its values."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """Semi-sensitive source column -> boolean column, true (or NULL) if the cell is sensitive."""
    nodes: Mapping[str, Table] = field(default_factory=dict)
    """Source column -> table (value, label): every value with itself and each ancestor."""
    person: str | None = None
    """Physical column that identifies the person of a row."""
    sets: frozenset[str] = frozenset()
    """Source columns whose nodes are sets that list their members."""
    leaves: Mapping[str, Table] = field(default_factory=dict)
    """Source column -> table (value, label) of all leaves that its hierarchy's file or table
    declares, each with every ancestor: the total of which losses are shares."""
    admitted: Mapping[str, Table] = field(default_factory=dict)
    """Source column -> table (lo, hi, first, last) of bounds that need not occur in published rows:
    they follow from the policy, or from the ends of the data `first` and `last`, if published.
    """
    distinct: Mapping[str, Table] = field(default_factory=dict)
    """Source column -> table (value) of its distinct values, if they are already known."""
    masked: tuple[MaskedColumn, ...] = ()
    """The columns whose values were masked, with their original values."""
    read: Table | None = None
    """The rows that were read, if `table` has others as well, which were never masked."""
    published: bool = False
    """Whether `table` is the release itself, which does not show what nodes stand for."""
    row_ref: str = "row_ref"
    """Column of this table and of the staged rows that joins them."""
