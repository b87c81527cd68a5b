"""The manifest of a release, read from untrusted JSON.

The type of everything that is used later is checked here, once. Unknown fields are refused,
because they might change the meaning of a column or a guarantee.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, Literal, TypeAlias, cast

from anonymizer.independent.errors import UnreadableError

FORMAT = 2
Role: TypeAlias = Literal["quasi", "semi", "sensitive", "keep"]
Scope: TypeAlias = Literal["class", "bucket", "group"]
ROLES = ("quasi", "semi", "sensitive", "keep")
KINDS = ("numeric", "categorical", "date")
SCOPES = ("class", "bucket", "group")
_RUN_ID = re.compile(r"[0-9a-f]{1,64}")


@dataclass(frozen=True, slots=True)
class Column:
    """How one source column appears in the release."""

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
    bottom: int | float | str | None = None
    top: int | float | str | None = None

    @property
    def quasi(self) -> bool:
        """Whether the column has generalized cells."""
        return self.role in ("quasi", "semi")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One guarantee that the release promises."""

    name: str
    column: str | None
    parameters: Mapping[str, Any]
    scope: Scope = "class"


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of the release and the numbers that its rows carry."""

    algorithm: str
    cells: Literal["text", "typed"]
    columns: tuple[Column, ...]
    class_id: str | None
    person_id: str | None
    group_id: str | None
    tables: Mapping[str, str]

    def column(self, name: str | None) -> Column | None:
        """The column of this name in the source."""
        return next((one for one in self.columns if one.column == name), None)

    @property
    def quasi(self) -> tuple[Column, ...]:
        """Columns with generalized cells."""
        return tuple(one for one in self.columns if one.quasi)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is read of a manifest."""

    view: str
    run_id: str
    layout: Layout
    requirements: tuple[Requirement, ...]


def read_manifest(text: str) -> Manifest:
    """The manifest in a JSON text. Raises UnreadableError."""
    try:
        data = json.loads(
            text, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_no_duplicates
        )
    except (ValueError, RecursionError, ArithmeticError, MemoryError):
        raise UnreadableError("manifest: is not JSON that can be read") from None
    top = _mapping(data, "manifest")
    if top.get("format") != FORMAT:
        raise UnreadableError(f"manifest.format: is not {FORMAT}")
    run_id = _text(top.get("run_id"), "manifest.run_id")
    if not _RUN_ID.fullmatch(run_id):
        raise UnreadableError("manifest.run_id: is not hexadecimal")
    listed = _list(top.get("requirements"), "manifest.requirements")
    return Manifest(
        _text(top.get("view"), "manifest.view"),
        run_id,
        _layout(top.get("layout")),
        tuple(_requirement(one, f"manifest.requirements[{i}]") for i, one in enumerate(listed)),
    )


def _layout(given: Any) -> Layout:
    where = "manifest.layout"
    data = _known(given, where, {one.name for one in fields(Layout)})
    listed = _list(data.get("columns"), f"{where}.columns")
    cells = data.get("cells")
    if cells not in ("text", "typed"):
        raise UnreadableError(f"{where}.cells: is neither text nor typed")
    tables = _mapping(data.get("tables", {}), f"{where}.tables")
    layout = Layout(
        _text(data.get("algorithm"), f"{where}.algorithm"),
        cast("Literal['text', 'typed']", cells),
        tuple(_column(one, f"{where}.columns[{i}]", cells) for i, one in enumerate(listed)),
        _name(data.get("class_id"), f"{where}.class_id"),
        _name(data.get("person_id"), f"{where}.person_id"),
        _name(data.get("group_id"), f"{where}.group_id"),
        {key: _text(value, f"{where}.tables") for key, value in tables.items()},
    )
    named = [one.column for one in layout.columns]
    if len(set(named)) < len(named):
        raise UnreadableError(f"{where}.columns: names a column twice")
    for source in layout.tables:
        column = layout.column(source)
        if column is None or column.role != "sensitive" or column.bucket or not layout.group_id:
            raise UnreadableError(f"{where}.tables: names no column of the release")
    return layout


def _column(given: Any, where: str, cells: object) -> Column:
    data = _known(given, where, {one.name for one in fields(Column)})
    for key in ("hierarchy", "list_cells"):
        if not isinstance(data.get(key, False), bool):
            raise UnreadableError(f"{where}.{key}: is not true or false")
    if data.get("role") not in ROLES or data.get("kind") not in KINDS:
        raise UnreadableError(f"{where}: has a role or kind that this reader does not know")
    names = {
        key: _name(data.get(key), f"{where}.{key}")
        for key in ("name", "lo", "hi", "nullable", "value", "bucket")
    }
    column = Column(
        column=_text(data.get("column"), f"{where}.column"),
        role=cast("Role", data["role"]),
        kind=str(data["kind"]),
        sql_type=_text(data.get("sql_type"), f"{where}.sql_type"),
        hierarchy=bool(data.get("hierarchy", False)),
        list_cells=bool(data.get("list_cells", False)),
        bottom=_code(data.get("bottom"), f"{where}.bottom"),
        top=_code(data.get("top"), f"{where}.top"),
        **names,
    )
    if not _complete(column, str(cells)):
        raise UnreadableError(f"{where}: has other published columns than its form needs")
    return column


def _complete(column: Column, cells: str) -> bool:
    """Whether the published columns are those of the form: value, text, bounds, list or node."""
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


def _requirement(given: Any, where: str) -> Requirement:
    data = _known(given, where, {one.name for one in fields(Requirement)})
    scope = data.get("scope", "class")
    if scope not in SCOPES:
        raise UnreadableError(f"{where}.scope: is not known")
    return Requirement(
        _text(data.get("name"), f"{where}.name"),
        _name(data.get("column"), f"{where}.column"),
        _mapping(data.get("parameters"), f"{where}.parameters"),
        cast("Scope", scope),
    )


def _no_constant(name: str) -> Any:
    raise ValueError("no number of JSON")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key stands twice")
    return made


def _mapping(given: Any, where: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise UnreadableError(f"{where}: is not an object")
    return given


def _list(given: Any, where: str) -> list[Any]:
    if not isinstance(given, list):
        raise UnreadableError(f"{where}: is not a list")
    return given


def _code(given: Any, where: str) -> int | float | str | None:
    """The code of a column that is cut off at one end."""
    if given is not None and (isinstance(given, bool) or not isinstance(given, int | float | str)):
        raise UnreadableError(f"{where}: is no number and no text")
    code: int | float | str | None = given
    return code


def _known(given: Any, where: str, known: set[str]) -> dict[str, Any]:
    data = _mapping(given, where)
    if set(data) - known:
        raise UnreadableError(f"{where}: has a field that this reader does not know")
    return data


def _text(given: Any, where: str) -> str:
    if not isinstance(given, str) or not given:
        raise UnreadableError(f"{where}: is not a text")
    return given


def _name(given: Any, where: str) -> str | None:
    return None if given is None else _text(given, where)
