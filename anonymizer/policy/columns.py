"""One column of the source: its role, kind, hierarchy, protection and mask."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator

from anonymizer.policy.hierarchies import Hierarchy
from anonymizer.policy.privacy import Protect
from anonymizer.policy.values import (
    AsTuple,
    AtLeastTwo,
    Bound,
    DataValue,
    FrozenMap,
    HarborKind,
    LocalPath,
    OneOf,
    Options,
    PositiveNumber,
    PositiveShare,
    Shorthand,
    Text,
    Weight,
    Whole,
    ascending,
    fail,
    in_64_bits,
)

# Masking roles and their options: what is published instead of a value.


MaskRole = Literal[
    "token",
    "shift",
    "top_code",
    "bottom_code",
    "round",
    "noise",
    "redact",
    "zip3",
    "null",
    "constant",
]
MASKS: tuple[str, ...] = get_args(MaskRole)
"""The roles that mask."""
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "token": ("format", "key_file", "vault"),
    "shift": ("within", "keep", "per", "key_file"),
    "top_code": ("at", "at_least"),
    "bottom_code": ("at", "at_least"),
    "round": ("to", "method"),
    "noise": ("amount", "share", "between"),
    "redact": ("patterns",),
    "zip3": (),
    "null": (),
    "constant": ("value",),
}
"""The options of each; `population` of zip3 is checked and described separately."""
NEEDED: Mapping[str, tuple[tuple[str, ...], str]] = {
    "shift": (("within",), "within: 30 days"),
    "top_code": (("at", "at_least"), "at: 89, or at_least: 5"),
    "bottom_code": (("at", "at_least"), "at: 18, or at_least: 5"),
    "round": (("to",), "to: 5, or to: month"),
    "noise": (("amount", "share"), "amount: 3, or share: 0.1"),
    "constant": (("value",), "value: removed"),
}
"""Options of which exactly one is required, and an example."""
Identifier = Literal[
    "mail", "phone", "iban", "card", "ssn", "national_id", "ip", "mac", "url", "coordinates", "uuid"
]
"""Kinds of identifiers with a recognizable form."""
Calendar = Literal["year", "quarter", "month", "week", "day", "hour"]
CALENDAR: tuple[str, ...] = get_args(Calendar)
Method = Literal["nearest", "random", "down"]
_SPAN = re.compile(r"([0-9]{1,5})( (day|days|week|weeks))?\Z")
LONGEST_SHIFT = 36_525
"""A hundred years, in days."""


def _days(given: object) -> object:
    found = _SPAN.match(str(given)) if isinstance(given, str | int) else None
    if found is None or isinstance(given, bool):
        raise fail("must be a number of days", allowed="30 days, 8 weeks")
    days = int(found[1]) * (7 if (found[3] or "").startswith("week") else 1)
    if not 1 <= days <= LONGEST_SHIFT:
        raise fail("must be a number of days", allowed=f"1 day to {LONGEST_SHIFT} days")
    return days


Days = Annotated[int, BeforeValidator(_days), Shorthand({"type": "string"})]


def _step(given: object) -> object:
    if isinstance(given, str) and given in CALENDAR:
        return given
    if isinstance(given, int | float) and not isinstance(given, bool) and given > 0:
        return given
    allowed = f"a number above 0, or {', '.join(CALENDAR)}"
    raise fail("must be the step to round to", allowed=allowed)


Step = Annotated[int | float | Calendar, BeforeValidator(_step)]


class Code(OneOf):
    """A top or bottom code: given, or determined from the data."""

    ONE_OF = ("at", "at_least")

    at: Bound | None = None
    """The value itself: values beyond it are published as this value."""
    at_least: AtLeastTwo | None = None
    """Take the value that at least this many rows (persons) reach or pass."""


def _code(given: object) -> object:
    return given if isinstance(given, Mapping | Code) else {"at": given}


TWO_DIGITS = "two digits"
"""The step of bounds for numbers without one: two significant digits, 5 below 100."""


class Bounds(Options):
    """The public grid on which the bounds of a column's cells lie."""

    step: Step
    """A step for numbers; year, quarter, month, week, day or hour for dates."""


class Rounding(Options):
    """The rounding of values."""

    to: Step
    """A step for numbers; year, quarter, month, week, day or hour for dates, which are cut off."""
    method: Method = "nearest"
    """For numbers: to the nearest multiple, at random so that the mean is preserved, or down."""


def _rounding(given: object) -> object:
    return given if isinstance(given, Mapping | Rounding) else {"to": given}


_ONE: dict[str, Any] = {"type": ["number", "string"]}
Coding = Annotated[Code, BeforeValidator(_code), Shorthand(_ONE)]
Rounded = Annotated[Rounding, BeforeValidator(_rounding), Shorthand(_ONE)]


# One column of the source: its role, kind, hierarchy and protection.


Role = Literal["identifier", "quasi", "sensitive", "keep", "drop"] | MaskRole
Kind = Literal["numeric", "categorical", "date"]
Acknowledged = Identifier | Literal["name", "identifier_value"]
Nulls = Literal["own_class", "suppress", "forbid"]


NamedNull = BeforeValidator(lambda given: "null" if given is None else given)
"""The role `null`, which may be written as a null value in YAML and JSON."""


class Column(Options):
    """Role of a column, and its options."""

    role: Annotated[Role, NamedNull]
    """identifier and drop: never published; quasi: a quasi-identifier, generalized; sensitive:
    published under its `protect` rules; keep: published as it is; the others mask the values."""
    kind: Kind | None = None
    """The comparison of values; default: guessed from the column's type."""
    hierarchy: Hierarchy | None = None
    """The generalization hierarchy of a quasi-identifier, or of a sensitive column for its
    distance."""
    sensitive_when: Text | None = None
    """A boolean column or SQL condition: in rows where it is true or NULL, the cell of this
    quasi-identifier is sensitive instead of quasi-identifying (algorithm lgb)."""
    protect: Protect | None = None
    """Rules for a sensitive column, or for the sensitive cells of a semi-sensitive one."""
    nulls: Nulls = "own_class"
    """The treatment of NULLs: as a value like any other, as rows to suppress, or as an error."""
    acknowledge_unique: bool = False
    """Publish this keep or sensitive column although its values are nearly unique, or its noise is
    too small to hide them."""
    acknowledge: Annotated[tuple[Acknowledged, ...], AsTuple] = ()
    """Kinds of identifiers that this column seems to hold and that may be published."""
    null_as_value: bool = False
    """Count a sensitive NULL as a value, as ARX does."""
    weight: Weight | None = None
    """The weight of this quasi-identifier's loss relative to the others; default: 1."""
    like: Text | None = None
    """The quasi-identifier that this one follows from, as a town from a ZIP code: its cell shows no
    more than the other's does, and the loss of both is that of the other."""
    priority: PositiveNumber | None = None
    """Weight of the column in the score of privacyfrost; default: 1."""
    minimum_level: Whole | None = None
    """privacyfrost: coarsest level allowed, counted from the root = 0."""
    presampling_level: Whole | None = None
    """privacyfrost: level of the pre-sampling, counted from the root = 0; default: the leaves."""
    format: Literal["hex", "uuid", "number", "like"] | None = None
    """token: 64 hexadecimal digits (default), a UUID, a number, or a text of the same length with
    letters and digits in the same positions."""
    key_file: LocalPath | None = None
    """token, shift: the file of a persistent key, so that later releases have the same tokens or
    shifts; without it the key is drawn for this run and forgotten."""
    vault: LocalPath | None = None
    """token: a private DuckDB file that records which value each token stands for."""
    within: Days | None = None
    """shift: the largest number of days, such as `30 days` or `8 weeks`."""
    keep: Annotated[tuple[Literal["weekday", "order"], ...], AsTuple] = ()
    """shift: weekday shifts by whole weeks; the order within a person is always kept."""
    per: Text | None = None
    """shift: rows with equal values of this column are shifted alike; default: the person, else the
    key."""
    at: Bound | None = None
    """top_code, bottom_code: values beyond this one are published as this one."""
    at_least: AtLeastTwo | None = None
    """top_code, bottom_code: the value that at least this many rows (persons) reach or pass."""
    to: Step | None = None
    """round: a step for numbers; year, quarter, month, week, day or hour for dates."""
    method: Method | None = None
    """round: nearest (default), random or down; dates are always cut off."""
    amount: PositiveNumber | None = None
    """noise: the largest difference that is added or subtracted."""
    share: PositiveShare | None = None
    """noise: the largest difference, as a share of the value."""
    between: Annotated[tuple[Bound, Bound], AsTuple, AfterValidator(ascending)] | None = None
    """noise: bounds of the results; default: the smallest and largest value."""
    patterns: Annotated[tuple[Identifier, ...], AsTuple] = ()
    """redact: the kinds that are replaced; default: all."""
    value: Annotated[DataValue, AfterValidator(in_64_bits)] | None = None
    """constant: what is published instead of every value."""
    population: LocalPath | None = None
    """zip3: a CSV file with the columns zip3 and population; default: the areas that the Safe
    Harbor guidance lists by the Census of 2000."""
    top_code: Coding | None = None
    """quasi, sensitive, event, round: values above it are read as this value."""
    bottom_code: Coding | None = None
    """quasi, sensitive, event, round: values below it are read as this value."""
    round: Rounded | None = None
    """quasi, sensitive, event: values are rounded when read."""
    bounds: Bounds | None = None
    """quasi, event, with publish.bounds grid: the step of the bounds; default: a month for dates,
    two significant digits for numbers."""
    zip3: bool = False
    """quasi, sensitive, event: ZIP codes are read as their first three digits, as the role zip3
    publishes them."""
    safe_harbor: HarborKind | None = None
    """preset safe_harbor: which of the eighteen identifiers the column holds, or none."""

    @property
    def masks(self) -> tuple[tuple[str, Column | Code | Rounding], ...]:
        """The masks of the values, in order: the name of each and its options."""
        role = getattr(self, "role", None)
        codes = (("bottom_code", self.bottom_code), ("top_code", self.top_code))
        given: tuple[tuple[str, Column | Code | Rounding | None], ...]
        if role in MASKS:
            given = (*(codes if role == "round" else ()), (str(role), self))
        else:
            zip3 = self if self.zip3 else None
            given = (*codes, ("round", self.round), ("zip3", zip3))
        return tuple((name, options) for name, options in given if options is not None)


class ByRole:
    """The columns of a table by their roles."""

    if TYPE_CHECKING:  # (a field of the models, in its place among the others)
        columns: FrozenMap[str, Any]

    def _with_role(self, role: str) -> tuple[str, ...]:
        return tuple(name for name, column in self.columns.items() if column.role == role)

    @cached_property
    def quasi(self) -> tuple[str, ...]:
        """Quasi-identifiers, including semi-sensitive ones."""
        return self._with_role("quasi")

    @cached_property
    def semi_sensitive(self) -> tuple[str, ...]:
        """Quasi-identifiers with some sensitive cells (`sensitive_when`)."""
        return tuple(n for n in self.quasi if self.columns[n].sensitive_when is not None)

    @cached_property
    def sensitive(self) -> tuple[str, ...]:
        """Columns of the role sensitive."""
        return self._with_role("sensitive")

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """Columns published unchanged."""
        return self._with_role("keep")

    @cached_property
    def masked(self) -> tuple[str, ...]:
        """Columns with a masking role, and others whose values are coarsened when read."""
        return tuple(name for name, column in self.columns.items() if column.masks)

    @cached_property
    def protected(self) -> tuple[str, ...]:
        """Sensitive and semi-sensitive columns with a rule."""
        return tuple(
            name
            for name, column in self.columns.items()
            if column.protect is not None and name in {*self.sensitive, *self.semi_sensitive}
        )


def weights_given(columns: Mapping[str, Column]) -> dict[str, float]:
    """The weight of every quasi column with a loss of its own; empty if all are equal, which has
    the same effect as none.
    """
    found = {
        name: 1.0 if column.weight is None else column.weight
        for name, column in columns.items()
        if column.role == "quasi" and column.like is None
    }
    return found if len(set(found.values())) > 1 else {}


def weights_of(columns: Mapping[str, Column]) -> dict[str, Fraction]:
    """The weights as exact fractions that add up to the number of columns, as without weights."""
    exact = {name: Fraction(repr(weight)) for name, weight in weights_given(columns).items()}
    whole = sum(exact.values())
    return {name: weight * len(exact) / whole for name, weight in exact.items()}
