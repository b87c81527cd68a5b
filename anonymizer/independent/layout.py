"""The columns of a release, their masks, and its requirements, read from untrusted JSON."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StrictBool,
    StrictInt,
    TypeAdapter,
    ValidationError,
    create_model,
    with_config,
)

from anonymizer.independent.fetch import UnreadableError

# JSON with exact numbers, and the types of its fields.


T = TypeVar("T")


def parse_json(text: str) -> Any:
    """Parse JSON with exact numbers; constants such as NaN and duplicate keys are errors."""
    try:
        return json.loads(
            text,
            parse_int=_integer,
            parse_float=Decimal,
            parse_constant=_no_constant,
            object_pairs_hook=_no_duplicates,
        )
    except (ValueError, RecursionError, ArithmeticError, MemoryError):
        raise UnreadableError("manifest: is not JSON that can be read") from None


def validate(kind: TypeAdapter[T], given: Any, where: str = "manifest") -> T:
    """Read a value as a type. Raises UnreadableError, which names the field and no value."""
    try:
        return kind.validate_python(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
    path, said = list(first["loc"]), first["msg"].removeprefix("Value error, ")
    if first["type"] == "unexpected_keyword_argument":
        path, said = path[:-1], "has a field that this reader does not know"
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    raise UnreadableError(f"{where}{''.join(steps)}: {said}")


def only(good: Callable[[Any], object], said: str) -> AfterValidator:
    """Annotation of a type: a condition on its values, and what is wrong without it."""

    def checked(value: Any) -> Any:
        if not good(value):
            raise ValueError(said)
        return value

    return AfterValidator(checked)


def is_number(given: Any) -> bool:
    """Return whether the value is a number as parsed by `parse_json`."""
    return isinstance(given, int | Decimal) and not isinstance(given, bool)


def _integer(text: str) -> int:
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


FORBID = ConfigDict(extra="forbid")
"""An unknown field might change the meaning of a column or a guarantee."""
LONGEST = 400
"""Most digits of a number before or after the point."""
Text = Annotated[str, Field(min_length=1)]
Name = Text | None
Real = Annotated[
    Decimal,
    Strict(),
    only(lambda one: abs(one.adjusted()) <= LONGEST, "is beyond all numbers"),
]
Number = StrictInt | Real
Above = Annotated[StrictInt, Field(gt=0)] | Annotated[Real, Field(gt=0)]


def unlike(values: list[str], said: str) -> None:
    """Raise ValueError if one of the values stands twice."""
    if len(set(values)) < len(values):
        raise ValueError(said)


# The masks of columns in a manifest.


KINDS = (
    *("mail", "phone", "iban", "card", "ssn", "national_id", "ip", "mac", "url"),
    *("coordinates", "uuid"),
)
_FEW = "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893"
RESTRICTED = tuple(_FEW.split())
"""Areas with at most 20,000 people in the Census of 2000."""
_HELD = (
    "names geography dates birth ages telephone fax mail ssn medical_record health_plan account"
    " licence vehicle device url ip biometric photograph other none"
)
HARBOR = frozenset(_HELD.split())
"""The kinds of columns under Safe Harbor."""


def limit(value: int | Decimal | str) -> Fraction:
    """A number, or the seconds of a date since 1970. Raises ValueError for another text."""
    if not isinstance(value, str):
        return Fraction(value)
    moment = dt.datetime.fromisoformat(value)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    since = moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    return Fraction(since // dt.timedelta(microseconds=1), 10**6)


Days = Annotated[StrictInt, Field(ge=1, le=2**63)]
Limit = Annotated[Number | str, only(lambda one: [limit(one)], "")]
Ends = Annotated[
    list[Limit],
    Field(min_length=2, max_length=2),
    only(lambda ends: isinstance(ends[0], str) == isinstance(ends[1], str), "mixes two kinds"),
    only(lambda ends: limit(ends[0]) <= limit(ends[1]), "does not ascend"),
]
Format = Literal["hex", "uuid", "number", "like"]
Method = Literal["nearest", "random", "down"]
Calendar = Literal["year", "quarter", "month", "week", "day", "hour"]
Kind = Annotated[str, only(KINDS.__contains__, "")]
Area = Annotated[str, Field(pattern="^[0-9]{3}$")]
_OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("token", {"format": (Format, ...), "lasting": (Literal[True], True)}),
    ("shift", {"within": (Days, ...), "keep": (list[Literal["weekday", "order"]], [])}),
    ("top_code", {"at": (Limit, ...)}),
    ("top_code", {"at_least": (Days, ...)}),
    ("bottom_code", {"at": (Limit, ...)}),
    ("bottom_code", {"at_least": (Days, ...)}),
    (
        "round",
        {"to": (Above | Calendar, ...), "method": (Method, "nearest")},
    ),
    ("noise", {"amount": (Above, ...), "between": (Ends, [])}),
    ("noise", {"share": (Above, ...), "between": (Ends, [])}),
    ("redact", {"patterns": (list[Kind], [])}),
    ("zip3", {"population": (Literal["census 2000"], ...)}),
    ("zip3", {"population": (Literal["given"], ...), "restricted": (list[Area], ...)}),
    ("null", {}),
    ("constant", {"value": (StrictBool | Number | str, ...)}),
)
"""The masks; one with alternative options stands here for each of them."""
_FORMS: Any = Union[
    *(
        create_model(name, __config__=FORBID, mask=(Literal[name], ...), **options)  # type: ignore[arg-type]
        for name, options in _OPTIONS
    )
]
_MASK: TypeAdapter[Any] = TypeAdapter(_FORMS)


@dataclass(frozen=True, slots=True)
class Mask:
    """One mask of a column, with its options."""

    name: str
    options: Mapping[str, Any]


def _mask(given: Any) -> Mask:
    try:
        _MASK.validate_python(given)
    except ValidationError:
        raise ValueError("is not a mask that this reader knows") from None
    return Mask(given["mask"], {name: of for name, of in given.items() if name != "mask"})


def _masks(masks: tuple[Mask, ...]) -> tuple[Mask, ...]:
    unlike([mask.name for mask in masks], "has a mask twice")
    return masks


Masks = Annotated[tuple[Annotated[Mask, BeforeValidator(_mask)], ...], AfterValidator(_masks)]


# The columns of a release and its requirements.


Role: TypeAlias = Literal["quasi", "semi", "event", "sensitive", "keep"]
Scope: TypeAlias = Literal["class", "bucket", "group"]


Step = Literal["year", "quarter", "month", "week", "day", "hour", "two digits", "*"]


@with_config(FORBID)
@dataclass(frozen=True, slots=True)
class Column:
    """A source column as it appears in the release."""

    column: Text
    role: Role
    kind: Literal["numeric", "categorical", "date"]
    sql_type: Text
    name: Name = None
    lo: Name = None
    hi: Name = None
    nullable: Name = None
    value: Name = None
    bucket: Name = None
    hierarchy: StrictBool = False
    list_cells: StrictBool = False
    grid: Above | Step | None = None
    """The step of the grid on which bounds lie; `*` for categories."""
    bottom: Number | str | None = None
    top: Number | str | None = None
    masks: Masks = ()
    safe_harbor: Name = None
    """The identifier of Safe Harbor's eighteen that it contains, or none."""
    weight: Above | None = None
    """The weight of its loss: used by measures, not by guarantees."""
    like: Name = None
    """The column from whose cells its own follow."""

    @property
    def quasi(self) -> bool:
        """True if the column has generalized cells."""
        return self.role in ("quasi", "semi", "event")

    def complete(self, cells: str) -> bool:
        """Return whether it has the parts of its form: value, text, bounds, list or node."""
        bounds = [self.lo, self.hi]
        if not self.quasi:
            return self.name is not None and not any([*bounds, self.nullable, self.value])
        if (self.role == "semi") != (self.bucket is not None):
            return False
        if (self.value is not None) != (self.role == "semi" and cells == "typed"):
            return False
        if cells == "text":
            return self.name is not None and not any([*bounds, self.nullable, self.list_cells])
        if any(bounds):
            return all([*bounds, self.nullable]) and self.name is None
        return self.name is not None and self.list_cells == (self.nullable is None)


@with_config(FORBID)
@dataclass(frozen=True, slots=True)
class Requirement:
    """One guarantee of the release."""

    name: Text
    column: Name
    parameters: Mapping[str, Any]
    scope: Scope = "class"


# A table of counts.


ALL = "(all)"
"""The label of a total."""


@with_config(FORBID)
@dataclass(frozen=True, slots=True)
class Grouping:
    """A column of labels."""

    name: Text
    levels: Annotated[StrictInt, Field(ge=1, le=100)]
    level: Name
    nested: tuple[tuple[str, ...], ...]
    multiple: StrictBool = False
    """True if a person may be in several of its groups; everybody is in one at least."""

    def above(self, level: int, label: str) -> Iterator[tuple[int, str]]:
        """Every label that contains this one."""
        if self.levels > 1:
            paths = {path[level:] for path in self.nested if path[level] == label}
            for path in paths:
                yield from enumerate(path[1:], level + 1)
        yield self.levels, ALL


@with_config(FORBID)
@dataclass(frozen=True, slots=True)
class Measured:
    """A column of figures."""

    name: Text
    of: Literal["persons", "rows", "sum", "ratio"]
    places: Annotated[StrictInt, Field(ge=0, le=38)]
    parts: tuple[Text, ...]
    nonnegative: StrictBool


WITNESS = "witness"
"""The further table of a release that hides figures, and its column of numbers."""


@with_config(FORBID)
@dataclass(frozen=True, slots=True)
class Spending:
    """The privacy loss of the release, that of all releases of its ledger, and their budget."""

    epsilon: Above
    spent: Above
    budget: Above


@with_config(FORBID)
@dataclass(frozen=True, slots=True)
class CountsForm:
    """The form of a table of counts."""

    by: Annotated[tuple[Grouping, ...], Field(min_length=1)]
    groupings: Annotated[tuple[tuple[StrictInt, ...], ...], Field(min_length=1)]
    measures: Annotated[tuple[Measured, ...], Field(min_length=1)]
    status: Text
    list_hidden: StrictBool
    base: Annotated[StrictInt, Field(ge=2)] | None = None
    zeros: StrictBool = False
    noise: Spending | None = None

    @property
    def least(self) -> int | None:
        """The least figure; None where noise may make any."""
        return None if self.noise is not None else int(not self.zeros)

    @property
    def persons(self) -> int:
        """The place of the measure that counts persons."""
        kinds = [one.of for one in self.measures]
        return kinds.index("persons") if "persons" in kinds else 0

    @property
    def multiple(self) -> int | None:
        """The place of the column of which a person may be in several groups."""
        return next((i for i, d in enumerate(self.by) if d.multiple), None)

    @property
    def witness_columns(self) -> tuple[str, ...]:
        """The columns of the table of witnesses."""
        names = (name for d in self.by for name in (d.name, d.level) if name is not None)
        return (*names, self.measures[self.persons].name, WITNESS)


@with_config(FORBID)
@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of the release and the numbers in its rows."""

    algorithm: Text
    cells: Literal["text", "typed"]
    columns: tuple[Column, ...]
    class_id: Name = None
    person_id: Name = None
    group_id: Name = None
    tables: Mapping[str, Text] = field(default_factory=dict)
    safe_harbor: Annotated[StrictInt, Field(ge=1900, le=9999)] | None = None
    """The year from which ages are computed, for a release under Safe Harbor."""
    counts: CountsForm | None = None
    """The form of a table of counts, whose rows are no rows of persons."""

    def column(self, name: str | None) -> Column | None:
        """The column of this name in the source."""
        return next((one for one in self.columns if one.column == name), None)

    @property
    def quasi(self) -> tuple[Column, ...]:
        """Columns with generalized cells."""
        return tuple(one for one in self.columns if one.quasi)


def refuse_odd(columns: tuple[Column, ...], cells: str, *roles: str) -> None:
    """Raise ValueError for columns that contradict the form of cells, or have other roles."""
    unlike([one.column for one in columns], "names a column twice")
    for one in columns:
        if one.role not in roles:
            raise ValueError(f"{one.role} is no role of a column of this table")
        if not one.complete(cells):
            raise ValueError("a column has other published columns than its form needs")


def consistent(layout: Layout) -> Layout:
    """The layout. Raises ValueError if its parts contradict each other."""
    refuse_odd(layout.columns, layout.cells, "quasi", "semi", "sensitive", "keep")
    for one in layout.columns:
        if (one.safe_harbor in HARBOR) != (layout.safe_harbor is not None):
            raise ValueError("Safe Harbor is not said of every column")
        unread = one.role == "semi" or one.hierarchy or one.column in layout.tables
        if unread and one.safe_harbor not in (None, "none"):
            raise ValueError("Safe Harbor is said of cells that do not show it")
    alone = {one.column for one in layout.columns if one.role == "quasi" and one.like is None}
    if any(one.like not in alone or one.role != "quasi" for one in layout.columns if one.like):
        raise ValueError("like: names no column with cells of its own")
    if layout.counts is not None:
        if {*layout.tables} - {WITNESS}:
            raise ValueError("tables: a table of counts has one of witnesses at most")
        counts = layout.counts
        found = {
            "suppress": WITNESS in layout.tables,
            "round": counts.base is not None,
            "dp": counts.noise is not None,
        }
        ours = layout.algorithm in ("rest", *found)
        if not ours or any(has != (name == layout.algorithm) for name, has in found.items()):
            raise ValueError("algorithm: has other parts than this table of counts")
        several = [d.levels for d in counts.by if d.multiple]
        if several and (layout.algorithm != "suppress" or several != [1]):
            raise ValueError("counts: has groups of the same persons that this reader cannot judge")
        plain = {one.name for one in layout.counts.measures if one.of != "ratio"}
        for measure in layout.counts.measures:
            of_two = len(measure.parts) == 2 * (measure.of == "ratio")
            if not of_two or not {*measure.parts} <= plain:
                raise ValueError("counts: has a ratio of other figures")
        return layout
    for source in layout.tables:
        column = layout.column(source)
        if column is None or column.role != "sensitive" or column.bucket or not layout.group_id:
            raise ValueError("tables: names no column of the release")
    return layout
