"""The columns of a release, their masks, and its requirements, read from untrusted JSON."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Any, Literal, TypeAlias, cast

from anonymizer.independent.fetch import UnreadableError

# Typed access to fields of untrusted JSON. Raises UnreadableError.


def parsed(text: str) -> Any:
    """Parse JSON with exact numbers; constants such as NaN and duplicate keys are errors."""
    try:
        return json.loads(
            text,
            parse_int=_whole,
            parse_float=Decimal,
            parse_constant=_no_constant,
            object_pairs_hook=_no_duplicates,
        )
    except (ValueError, RecursionError, ArithmeticError, MemoryError):
        raise UnreadableError("manifest: is not JSON that can be read") from None


def mapping(given: Any, where: str) -> dict[str, Any]:
    """An object."""
    if not isinstance(given, dict):
        raise UnreadableError(f"{where}: is not an object")
    return given


def known(given: Any, where: str, fields: set[str]) -> dict[str, Any]:
    """An object with at most these fields: another one might change their meaning."""
    data = mapping(given, where)
    if set(data) - fields:
        raise UnreadableError(f"{where}: has a field that this reader does not know")
    return data


def listed(given: Any, where: str) -> list[Any]:
    """A list."""
    if not isinstance(given, list):
        raise UnreadableError(f"{where}: is not a list")
    return given


def text(given: Any, where: str) -> str:
    """A non-empty text."""
    if not isinstance(given, str) or not given:
        raise UnreadableError(f"{where}: is not a text")
    return given


def name(given: Any, where: str) -> str | None:
    """A non-empty text, or null."""
    return None if given is None else text(given, where)


def flag(given: Any, where: str) -> bool:
    """True or false."""
    if not isinstance(given, bool):
        raise UnreadableError(f"{where}: is not true or false")
    return given


def whole(given: Any, where: str, least: int, most: int) -> int:
    """A whole number between two bounds."""
    if not isinstance(given, int) or isinstance(given, bool) or not least <= given <= most:
        raise UnreadableError(f"{where}: is no whole number from {least} to {most}")
    return given


def is_number(given: Any) -> bool:
    """Whether the value is a number as parsed by `parsed`."""
    return isinstance(given, int | Decimal) and not isinstance(given, bool)


def code(given: Any, where: str) -> int | Decimal | str | None:
    """The top or bottom code of a column."""
    if given is not None and not isinstance(given, str) and not is_number(given):
        raise UnreadableError(f"{where}: is no number and no text")
    found: int | Decimal | str | None = given
    return found


def _whole(text: str) -> int:
    found = int(text)
    float(found)  # raises for a number beyond all doubles
    return found


def _no_constant(name: str) -> Any:
    raise ValueError("no number of JSON")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key stands twice")
    return made


# The masks of columns in a manifest, parsed from untrusted JSON.


LARGEST = 2**63
CALENDAR = ("year", "quarter", "month", "week", "day", "hour")
FORMATS = ("hex", "uuid", "number", "like")
METHODS = ("nearest", "random", "down")
KINDS = (
    *("mail", "phone", "iban", "card", "ssn", "national_id", "ip", "mac", "url"),
    *("coordinates", "uuid"),
)
CENSUS, GIVEN = "census 2000", "given"
_FEW = "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893"
RESTRICTED = tuple(_FEW.split())
"""Areas with at most 20,000 people in the Census of 2000."""
_HELD = (
    "names geography dates birth ages telephone fax mail ssn medical_record health_plan account"
    " licence vehicle device url ip biometric photograph other none"
)
HARBOR = frozenset(_HELD.split())
"""What a column may contain under Safe Harbor."""
OPTIONS: Mapping[str, frozenset[str]] = {
    "token": frozenset({"format", "lasting"}),
    "shift": frozenset({"within", "keep"}),
    "top_code": frozenset({"at", "at_least"}),
    "bottom_code": frozenset({"at", "at_least"}),
    "round": frozenset({"to", "method"}),
    "noise": frozenset({"amount", "share", "between"}),
    "redact": frozenset({"patterns"}),
    "zip3": frozenset({"population", "restricted"}),
    "null": frozenset(),
    "constant": frozenset({"value"}),
}
"""The options that each mask may have."""
ONE_OF = {
    "top_code": ("at", "at_least"),
    "bottom_code": ("at", "at_least"),
    "noise": ("amount", "share"),
    "round": ("to",),
    "shift": ("within",),
    "constant": ("value",),
    "token": ("format",),
    "zip3": ("population",),
}
"""Options of which a mask has exactly one."""


@dataclass(frozen=True, slots=True)
class Mask:
    """One mask of a column, with its options."""

    name: str
    options: Mapping[str, Any]


def read_masks(given: Any, where: str) -> tuple[Mask, ...]:
    """Parse the masks of a column. Raises UnreadableError for anything unknown."""
    masks = tuple(_mask(one, f"{where}[{i}]") for i, one in enumerate(listed(given, where)))
    if len({mask.name for mask in masks}) < len(masks):
        raise UnreadableError(f"{where}: has a mask twice")
    return masks


def _mask(given: Any, where: str) -> Mask:
    name = mapping(given, where).get("mask")
    if not isinstance(name, str) or name not in OPTIONS:
        raise UnreadableError(f"{where}.mask: is not known")
    options = dict(known(given, where, {"mask", *OPTIONS[name]}))
    del options["mask"]
    needed = ONE_OF.get(name, ())
    if needed and sum(option in options for option in needed) != 1:
        raise UnreadableError(f"{where}: needs one of {', '.join(needed)}")
    if name == "zip3" and ("restricted" in options) != (options["population"] == GIVEN):
        raise UnreadableError(f"{where}.restricted: is not that of its population")
    for option, value in options.items():
        _refuse_odd(option, value, f"{where}.{option}")
    return Mask(name, options)


def _refuse_odd(option: str, value: Any, where: str) -> None:
    match option:
        case "within" | "at_least":
            good = whole(value, where, 1, LARGEST) > 0
        case "at":
            limit(value, where)
            good = True
        case "amount" | "share":
            good = is_number(value) and value > 0
        case "to":
            good = value in CALENDAR if isinstance(value, str) else is_number(value) and value > 0
        case "between":
            low, high = (limit(end, where) for end in _pair(value, where))
            good = low <= high
        case "lasting":
            good = value is True
        case "value":
            good = isinstance(value, str | bool) or is_number(value)
        case _:
            allowed: Collection[str] = {
                "format": FORMATS,
                "method": METHODS,
                "keep": ("weekday", "order"),
                "patterns": KINDS,
                "population": (CENSUS, GIVEN),
                "restricted": [f"{area:03}" for area in range(1000)],
            }[option]
            several = option in ("keep", "patterns", "restricted")
            values = listed(value, where) if several else [value]
            good = all(isinstance(one, str) and one in allowed for one in values)
    if not good:
        raise UnreadableError(f"{where}: is not known")


def _pair(value: Any, where: str) -> list[Any]:
    ends = listed(value, where)
    if len(ends) != 2 or isinstance(ends[0], str) != isinstance(ends[1], str):
        raise UnreadableError(f"{where}: is no pair of values")
    return ends


def limit(value: Any, where: str) -> Fraction:
    """A number, or the seconds of a date since 1970."""
    if is_number(value):
        return Fraction(value)
    try:
        moment = dt.datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise UnreadableError(f"{where}: is no number and no date") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    since = moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    return Fraction(since // dt.timedelta(microseconds=1), 10**6)


# The columns of a release and its requirements, read from untrusted JSON.
#
# Unknown fields are refused, because they might change the meaning of a column or a guarantee.


Role: TypeAlias = Literal["quasi", "semi", "event", "sensitive", "keep"]
Scope: TypeAlias = Literal["class", "bucket", "group"]
ROLES = ("quasi", "semi", "sensitive", "keep")
COLUMN_KINDS = ("numeric", "categorical", "date")
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
    if data.get("role") not in roles or data.get("kind") not in COLUMN_KINDS:
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
