"""The profile of a table, from which a plan is made: types, kinds, counts. No values."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from anonymizer.compile import NumberedColumn, NumberedTable, Sql
from anonymizer.errors import Problem, SourceError
from anonymizer.policy.hierarchies import Hierarchy
from anonymizer.policy.paths import column_path
from anonymizer.policy.values import Together

if TYPE_CHECKING:
    from anonymizer.hierarchy.levels import Shape

Kind = Literal["numeric", "categorical", "date"]

_NUMERIC = re.compile(
    r"(U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL(\(.*\))?)\Z"
)
_DATE = re.compile(r"(DATE|TIMESTAMP(_S|_MS|_NS)?|TIMESTAMP WITH TIME ZONE)\Z")
OTHER = "OTHER"
UNTYPED = '"NULL"'
"""The engine's name of an unknown type, as `null as a`."""
_TEXT = re.compile(r"(VARCHAR|BOOLEAN|UUID|ENUM\(.*\)|TIME)\Z", re.DOTALL)
_PLAIN = re.compile(r"[A-Z][A-Z_ ]*\Z")
"""A type that is told by its name: others list the names of fields."""
_COARSER = {
    "TIMESTAMPTZ_NS": "TIMESTAMP WITH TIME ZONE",  # pandas writes it into Parquet files
    "TIME_NS": "TIME",
    "TIME WITH TIME ZONE": "TIME",
}
"""Types that are like one that can be published."""


def kind_of(sql_type: str) -> Kind | None:
    """The default kind of a column of this type; None if it cannot be used."""
    if _NUMERIC.match(sql_type):
        return "numeric"
    if _DATE.match(sql_type):
        return "date"
    return "categorical" if _TEXT.match(sql_type) else None


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a hierarchy above the leaves, 1 being the lowest, and its columns."""

    number: int

    a = NumberedColumn("a", "number")
    """The ancestor at this level."""
    z = NumberedColumn("z", "number")
    """The share of the leaves that the ancestor covers."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One column of the source in the terms of the algorithms.

    `index` counts from 1 within its list (quasi-identifiers, sensitive, kept) and makes the
    physical names: quasi-identifier 2 is `q2` in the snapshot and `c2` as a code.
    """

    index: int
    column: str
    sql_type: str
    kind: Kind
    flagged: bool = False
    """Semi-sensitive: some cells are sensitive instead of quasi-identifying."""
    flag: int = 0
    """Position among the semi-sensitive columns."""
    height: int = 0
    """Levels of the generalization hierarchy above the leaves; 0 without one."""
    spec: Hierarchy | None = None
    """The policy's options for its hierarchy."""
    distinct: int = 0
    """Distinct non-NULL values; 0 while not counted."""
    span: int = 0
    """Units between its least and greatest value; 0 while not counted, or if it has no units."""
    nulls: int = 0
    """Rows in which it is NULL; 0 while not counted."""
    grid: Any = None
    """The step of the grid on which its bounds lie, and to which its values are rounded down when
    read; `*` for categories, of which cells show one or all."""
    like: int = 0
    """The index of the attribute that it follows from, and whose cells decide over its own; 0 if it
    has cells of its own."""
    weight: Fraction | None = None
    """The weight of its loss, if columns are weighted; the weights add up to their number."""

    def scaled_loss(self, scale: int) -> int:
        """The loss of a whole cell; `scale` without weights."""
        return scale if self.weight is None else int(scale * self.weight)

    @property
    def ordered(self) -> bool:
        return self.kind != "categorical"

    @property
    def time_unit(self) -> Sql:
        """The unit in which the distance of two dates is counted."""
        return Sql("day" if self.sql_type == "DATE" else "second")

    q = NumberedColumn("q")
    """Its value in the snapshot."""
    c = NumberedColumn("c")
    """Its code in the coded tables: -1 flagged, 0 NULL, from 1 in the domain's order."""
    f = NumberedColumn("f")
    """Its sensitivity flag in the snapshot."""

    @property
    def bit(self) -> Sql:
        """Its bit in the pattern of sensitive cells."""
        return Sql(str(1 << self.flag))

    r = NumberedColumn("r")
    """The code of its cell if that is sensitive, else NULL."""
    d = NumberedColumn("d")
    """Alias of its domain in a join."""

    @property
    def levels(self) -> tuple[Level, ...]:
        return tuple(Level(j) for j in range(1, self.height + 1))

    values = NumberedTable("values")
    """Work table of its distinct values with counts."""
    domain = NumberedTable("domain")
    """Work table of its codes, in order, with positions and ancestors."""
    hierarchy = NumberedTable("hierarchy")
    """Work table of its hierarchy: one row per value and level."""


@dataclass(frozen=True, slots=True)
class OfAttribute:
    """An attribute's columns and its domain, for classes that name further columns and tables."""

    attribute: Attribute

    @property
    def index(self) -> int:
        return self.attribute.index

    q = NumberedColumn("q")
    c = NumberedColumn("c")
    d = NumberedColumn("d")
    f = NumberedColumn("f")
    domain = NumberedTable("domain")


@dataclass(frozen=True, slots=True)
class Sensitive:
    """A sensitive column; its physical name in the snapshot is `s<index>`."""

    index: int
    column: str
    sql_type: str
    kind: Kind
    height: int = 0

    s = NumberedColumn("s")

    @property
    def levels(self) -> tuple[Level, ...]:
        return tuple(Level(j) for j in range(1, self.height + 1))

    hierarchy = NumberedTable("hierarchy", "hierarchy_index")
    """Work table of its hierarchy, if hierarchical t-closeness needs one."""

    @property
    def hierarchy_index(self) -> int:
        """Number of its hierarchy, above those of the quasi-identifiers."""
        return 10_000 + self.index

    values = NumberedTable("values", "hierarchy_index")
    """Work table of its distinct values with counts, from which its hierarchy is built."""
    reference = NumberedTable("reference")
    """Work table of its codes and their counts over the published rows."""
    cells = NumberedTable("cells")
    """Work table of its codes and counts per unit."""


@dataclass(frozen=True, slots=True)
class KeptColumn:
    """A column that is published unchanged or masked; its physical name in the snapshot is
    `k<index>`.
    """

    index: int
    column: str
    sql_type: str
    """The published type."""
    mask: str | None = None
    """The role, if it is a mask."""

    k = NumberedColumn("k")


@dataclass(frozen=True, slots=True)
class TableProfile:
    """The properties of the source that a plan depends on."""

    columns: tuple[tuple[str, str], ...]
    """Name and SQL type of every source column, in order."""
    rows: int | None = None
    """Rows that may be published, if counted."""
    left_out: int = 0
    """Rows that `nulls: suppress` leaves out."""
    tuples: int | None = None
    """Distinct quasi-identifier tuples, if counted."""
    distinct: tuple[int, ...] = ()
    """Distinct values of each quasi-identifier, if counted."""
    spans: tuple[int, ...] = ()
    """Units between the least and the greatest value of each quasi-identifier, if counted."""
    nulls: tuple[int, ...] = ()
    """Rows in which each quasi-identifier is NULL, if counted."""
    heights: tuple[int, ...] = ()
    """Height of each quasi-identifier's hierarchy, if built."""
    sensitive_heights: tuple[int, ...] = ()
    """Height of each sensitive column's hierarchy, if built."""
    shapes: tuple[Shape, ...] = ()
    """Shape of each quasi-identifier's hierarchy, if the algorithm works on levels."""
    recursive: bool = True
    """True if the engine can keep the state of a partitioning in one recursive statement."""
    in_parts: bool = False
    """True if the engine solves a large table part by part."""
    numeric_draws: bool = True
    """True if draws are numbers on the engine, not texts."""
    eras: bool = True
    """True if the engine writes a date before the year 1 as a text cell can hold it."""

    def type_of(self, column: str) -> str:
        return dict(self.columns)[column]

    @property
    def own(self) -> tuple[tuple[str, str], ...]:
        """The columns of the source itself, without those of several that identify together."""
        return tuple(one for one in self.columns if not isinstance(one[0], Together))

    def with_counts(self, **figures: object) -> TableProfile:
        return replace(self, **figures)  # type: ignore[arg-type]


def other_type(name: str) -> str:
    """The profile's name for an engine type whose equal values may have different texts, or that
    has no equality: it can only be kept, as text.
    """
    return f"{OTHER}({name})"


def own_name(sql_type: str) -> str | None:
    """The engine's name of such a type; None for all other types."""
    return sql_type[len(OTHER) + 1 : -1] if sql_type.startswith(f"{OTHER}(") else None


def read_as_text(sql_type: str) -> bool:
    """Return whether values of a type are texts, or are read as texts."""
    return sql_type == "VARCHAR" or sql_type.startswith(("ENUM", f"{OTHER}("))


def published_type(sql_type: str) -> str:
    """The published type: VARCHAR for an ENUM, whose type would list all values."""
    return "VARCHAR" if read_as_text(sql_type) else sql_type


GENERALIZED = "numbers, text, boolean, date, time, timestamp, uuid, enum"
"""The types of quasi-identifiers and sensitive columns, as messages list them."""
PUBLISHED = "every type but lists, arrays, structs, maps, unions and variants"
"""The types of columns that are published as they are, as messages list them."""


def unusable(column: str, sql_type: str, allowed: str = GENERALIZED) -> Problem:
    """The problem of a column whose type has no order and no equality to generalize by."""
    name = own_name(sql_type)
    if name is not None:
        return Problem(
            column_path(column),
            f"has the type {name}, whose equal values may have different texts",
            allowed="keep, which publishes it as text, or drop",
            hint="cast it in source.query: to text, or to what is meant by it",
        )
    if sql_type == UNTYPED:
        return Problem(
            column_path(column),
            "has no value, and so no type",
            allowed="drop",
            hint="cast it in source.query, to the type that its values would have",
        )
    plain = _PLAIN.match(sql_type)
    coarser = _COARSER.get(sql_type)
    how = (
        f"cast it in source.query, to {coarser}" if coarser else "unnest or cast it in source.query"
    )
    return Problem(
        column_path(column),
        "has a type that cannot be published as a value" + (f": {plain[0]}" if plain else ""),
        allowed=allowed,
        hint=f"{how}, or give it role drop",
    )


def check_kind(column: str, sql_type: str, kind: Kind | None) -> Kind:
    """The kind to use for a column, given its type and the kind in the policy."""
    natural = kind_of(sql_type)
    if natural is None:
        raise SourceError(unusable(column, sql_type))
    if kind is None or kind == natural:
        return natural
    if kind == "categorical":
        return kind
    raise SourceError.at(
        column_path(column, "kind"),
        f"does not fit the column's type {published_type(sql_type)}",
        allowed=f"{natural}, categorical" if natural != "categorical" else "categorical",
        hint="cast the column in source.query",
    )
