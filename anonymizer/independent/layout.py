"""The columns of a release and its requirements, read from untrusted JSON.

Unknown fields are refused, because they might change the meaning of a column or a guarantee.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from math import inf
from typing import Any, Literal, TypeAlias, cast

from anonymizer.independent.errors import UnreadableError
from anonymizer.independent.fields import (
    code,
    flag,
    is_number,
    known,
    listed,
    mapping,
    name,
    text,
    whole,
)
from anonymizer.independent.masks import HARBOR, Mask, read_masks

Role: TypeAlias = Literal["quasi", "semi", "event", "sensitive", "keep"]
Scope: TypeAlias = Literal["class", "bucket", "group"]
ROLES = ("quasi", "semi", "sensitive", "keep")
KINDS = ("numeric", "categorical", "date")
SCOPES = ("class", "bucket", "group")


@dataclass(frozen=True, slots=True)
class Column:
    """A source column as it appears in the release."""

    column: str
    role: Role
    kind: str
    sql_type: str
    name: str | None = None
    lo: str | None = None
    hi: str | None = None
    nullable: str | None = None
    value: str | None = None
    bucket: str | None = None
    hierarchy: bool = False
    list_cells: bool = False
    bottom: int | Decimal | str | None = None
    top: int | Decimal | str | None = None
    masks: tuple[Mask, ...] = ()
    safe_harbor: str | None = None
    """The identifier of Safe Harbor's eighteen that it contains, or none."""
    weight: float | None = None
    """The weight of its loss: used by measures, not by guarantees."""

    @property
    def quasi(self) -> bool:
        """Whether the column has generalized cells."""
        return self.role in ("quasi", "semi", "event")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One guarantee of the release."""

    name: str
    column: str | None
    parameters: Mapping[str, Any]
    scope: Scope = "class"


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of the release and the numbers in its rows."""

    algorithm: str
    cells: Literal["text", "typed"]
    columns: tuple[Column, ...]
    class_id: str | None
    person_id: str | None
    group_id: str | None
    tables: Mapping[str, str]
    safe_harbor: int | None = None
    """The year from which ages are computed, for a release under Safe Harbor."""

    def column(self, name: str | None) -> Column | None:
        """The column of this name in the source."""
        return next((one for one in self.columns if one.column == name), None)

    @property
    def quasi(self) -> tuple[Column, ...]:
        """Columns with generalized cells."""
        return tuple(one for one in self.columns if one.quasi)


def read_layout(given: Any) -> Layout:
    """Parse the layout of the rows. Raises UnreadableError."""
    where = "manifest.layout"
    data = known(given, where, {one.name for one in fields(Layout)})
    columns = listed(data.get("columns"), f"{where}.columns")
    cells = data.get("cells")
    if cells not in ("text", "typed"):
        raise UnreadableError(f"{where}.cells: is neither text nor typed")
    tables = mapping(data.get("tables", {}), f"{where}.tables")
    layout = Layout(
        text(data.get("algorithm"), f"{where}.algorithm"),
        cast("Literal['text', 'typed']", cells),
        tuple(read_column(one, f"{where}.columns[{i}]", cells) for i, one in enumerate(columns)),
        name(data.get("class_id"), f"{where}.class_id"),
        name(data.get("person_id"), f"{where}.person_id"),
        name(data.get("group_id"), f"{where}.group_id"),
        {key: text(value, f"{where}.tables") for key, value in tables.items()},
        _year(data.get("safe_harbor"), f"{where}.safe_harbor"),
    )
    _refuse_half_harbored(layout, where)
    refuse_twice(layout.columns, f"{where}.columns")
    for source in layout.tables:
        column = layout.column(source)
        if column is None or column.role != "sensitive" or column.bucket or not layout.group_id:
            raise UnreadableError(f"{where}.tables: names no column of the release")
    return layout


def _year(given: Any, where: str) -> int | None:
    return None if given is None else whole(given, where, 1900, 9999)


def _refuse_half_harbored(layout: Layout, where: str) -> None:
    """Raise UnreadableError if Safe Harbor is declared only partly, or for opaque cells."""
    for one in layout.columns:
        if (one.safe_harbor in HARBOR) != (layout.safe_harbor is not None):
            raise UnreadableError(f"{where}.safe_harbor: is not said of every column")
        unread = one.role == "semi" or one.hierarchy or one.column in layout.tables
        if unread and one.safe_harbor not in (None, "none"):
            raise UnreadableError(f"{where}.safe_harbor: is said of cells that do not show it")


def refuse_twice(columns: tuple[Column, ...], where: str) -> None:
    """Raise UnreadableError if a source column is listed twice."""
    named = [one.column for one in columns]
    if len(set(named)) < len(named):
        raise UnreadableError(f"{where}: names a column twice")


def read_column(given: Any, where: str, cells: object, roles: tuple[str, ...] = ROLES) -> Column:
    """Parse a column with one of the `roles`. Raises UnreadableError."""
    data = known(given, where, {one.name for one in fields(Column)})
    if data.get("role") not in roles or data.get("kind") not in KINDS:
        raise UnreadableError(f"{where}: has a role or kind that this reader does not know")
    names = {
        key: name(data.get(key), f"{where}.{key}")
        for key in ("name", "lo", "hi", "nullable", "value", "bucket")
    }
    column = Column(
        column=text(data.get("column"), f"{where}.column"),
        role=cast("Role", data["role"]),
        kind=str(data["kind"]),
        sql_type=text(data.get("sql_type"), f"{where}.sql_type"),
        hierarchy=flag(data.get("hierarchy", False), f"{where}.hierarchy"),
        list_cells=flag(data.get("list_cells", False), f"{where}.list_cells"),
        bottom=code(data.get("bottom"), f"{where}.bottom"),
        top=code(data.get("top"), f"{where}.top"),
        masks=read_masks(data.get("masks", []), f"{where}.masks"),
        safe_harbor=name(data.get("safe_harbor"), f"{where}.safe_harbor"),
        weight=_weight(data.get("weight"), f"{where}.weight"),
        **names,
    )
    if not _complete(column, str(cells)):
        raise UnreadableError(f"{where}: has other published columns than its form needs")
    return column


def _weight(given: Any, where: str) -> float | None:
    if given is None:
        return None
    if not is_number(given) or not 0 < float(given) < inf:
        raise UnreadableError(f"{where}: is no positive number")
    return float(given)


def _complete(column: Column, cells: str) -> bool:
    """Whether the column has the parts of its form: value, text, bounds, list or node."""
    bounds = [column.lo, column.hi]
    if not column.quasi:
        return column.name is not None and not any([*bounds, column.nullable, column.value])
    if (column.role == "semi") != (column.bucket is not None):
        return False
    if (column.value is not None) != (column.role == "semi" and cells == "typed"):
        return False
    if cells == "text":
        return column.name is not None and not any([*bounds, column.nullable, column.list_cells])
    if any(bounds):
        return all([*bounds, column.nullable]) and column.name is None
    return column.name is not None and column.list_cells == (column.nullable is None)


def read_requirement(given: Any, where: str) -> Requirement:
    """Parse a requirement. Raises UnreadableError."""
    data = known(given, where, {one.name for one in fields(Requirement)})
    scope = data.get("scope", "class")
    if scope not in SCOPES:
        raise UnreadableError(f"{where}.scope: is not known")
    return Requirement(
        text(data.get("name"), f"{where}.name"),
        name(data.get("column"), f"{where}.column"),
        mapping(data.get("parameters"), f"{where}.parameters"),
        cast("Scope", scope),
    )
