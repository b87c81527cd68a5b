"""The masks of a policy's columns, applied to typed columns."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from anonymizer.compile import Sql, Table, lit, sql
from anonymizer.errors import Problem, SourceError
from anonymizer.policy.columns import Column
from anonymizer.policy.masking import CALENDAR, OPTIONS
from anonymizer.policy.paths import column_path
from anonymizer.policy.safe_harbor import CENSUS, GIVEN
from anonymizer.source.profile import published_type

Family = Literal["whole", "decimal", "double", "date", "timestamp", "zoned", "text", "other"]

_FAMILIES: tuple[tuple[Family, re.Pattern[str]], ...] = (
    ("whole", re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)\Z")),
    ("decimal", re.compile(r"DECIMAL(\(.*\))?\Z")),
    ("double", re.compile(r"(FLOAT|DOUBLE)\Z")),
    ("date", re.compile(r"DATE\Z")),
    ("zoned", re.compile(r"TIMESTAMP WITH TIME ZONE\Z")),
    ("timestamp", re.compile(r"TIMESTAMP(_S|_MS|_NS)?\Z")),
    ("text", re.compile(r"(VARCHAR|ENUM\(.*\))\Z", re.DOTALL)),
)
NUMBERS: tuple[Family, ...] = ("whole", "decimal", "double")
DATES: tuple[Family, ...] = ("date", "timestamp", "zoned")
FITTING: Mapping[str, tuple[Family, ...]] = {
    "shift": DATES,
    "top_code": (*NUMBERS, *DATES),
    "bottom_code": (*NUMBERS, *DATES),
    "round": (*NUMBERS, *DATES),
    "noise": NUMBERS,
    "redact": ("text",),
    "zip3": ("text", "whole"),
}
"""The types that a mask applies to; masks that are not listed apply to all."""
WORDS = {
    "shift": "dates and timestamps",
    "noise": "numbers",
    "redact": "text",
    "zip3": "text, whole numbers",
}
UNTOLD = ("token", "shift", "noise", "null", "constant")
"""Masks whose values cannot identify anyone, however many distinct ones there are."""


def family_of(sql_type: str) -> Family:
    """The family of a column's type."""
    return next((name for name, form in _FAMILIES if form.match(sql_type)), "other")


@dataclass(frozen=True, slots=True)
class Named:
    """A column of identifiers that are searched for in texts."""

    column: str
    physical: Sql
    """The snapshot column with its values as text."""
    sql_type: str
    table: Table | None = None
    """The table with its values, if not that of the masked rows."""


@dataclass(frozen=True, slots=True)
class Mask:
    """One mask of one column of the snapshot."""

    column: str
    kind: str
    """The role, as in the policy."""
    sql_type: str
    """The type of the values before masking."""
    options: Mapping[str, Any]
    """The options that the policy sets."""
    physical: Sql
    """The snapshot column with the masked values."""
    original: Sql
    """The snapshot column with the original values."""
    person: bool = False
    """Whether rows belong to persons."""
    values: tuple[Named, ...] = ()
    """For redact: the columns whose values are replaced as well."""

    @property
    def family(self) -> Family:
        return family_of(self.sql_type)

    @property
    def published_type(self) -> str:
        """The type of the masked values."""
        match self.kind:
            case "token":
                return "BIGINT" if self.options["format"] == "number" else "VARCHAR"
            case "constant":
                made = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}
                return made.get(type(self.options["value"]), "VARCHAR")
            case "zip3":
                return "VARCHAR"
        return published_type(self.sql_type)

    @property
    def told(self) -> dict[str, Any]:
        """The mask as a release describes it: no file, and nothing found in the source."""
        return {"mask": self.kind, **_told(self.kind, self.options)}


def masks_of(
    name: str, column: Column, sql_type: str, physical: Sql, *, person: bool, number: int
) -> tuple[Mask, ...]:
    """The masks of a column, in order. Raises SourceError if they do not fit its type."""
    made = tuple(
        Mask(name, kind, sql_type, _options(kind, options), physical, Sql(f"o{number}"), person)
        for kind, options in column.masks
    )
    SourceError.refuse(problem for mask in made for problem in _unfit(mask, column))
    return made


LEFT_OUT = ("key_file", "vault", "per")
"""Options that no release contains."""
DEFAULTS = {("token", "format"): "hex", ("round", "method"): "nearest"}


def _options(kind: str, given: object) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if kind == "zip3":  # (a file is read when the columns are known)
        return {"population": GIVEN if getattr(given, "population", None) else CENSUS}
    for option in OPTIONS[kind]:
        value = getattr(given, option, None)
        value = DEFAULTS.get((kind, option)) if value is None else value
        if value is not None:
            found[option] = list(value) if isinstance(value, tuple) else value
    return found


def options_told(kind: str, given: object) -> dict[str, Any]:
    """The options of a policy's mask, as a release describes them."""
    return _told(kind, _options(kind, given))


def _told(kind: str, options: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: value for name, value in options.items() if name not in LEFT_OUT}
    if options.get("population") == CENSUS:
        told.pop("restricted", None)  # (which the guidance lists)
    lasting = kind == "token" and ("key_file" in options or "vault" in options)
    return {**told, "lasting": True} if lasting else told


def _unfit(mask: Mask, column: Column) -> Iterator[Problem]:
    fitting = FITTING.get(mask.kind)
    if fitting is not None and mask.family not in fitting:
        said = f"{mask.kind} does not fit the column's type {published_type(mask.sql_type)}"
        allowed = WORDS.get(mask.kind, "numbers, dates and timestamps")
        yield Problem(_path(mask, column), said, allowed, "cast the column in source.query")
        return
    for option in ("at", "to", "amount", "between"):
        strange = _strange(mask, option) if option in mask.options else None
        if strange is not None:
            yield Problem(_path(mask, column, option), *strange)


def _path(mask: Mask, column: Column, option: str | None = None) -> str:
    if column.role == mask.kind:
        return column_path(mask.column, option or "role")
    return column_path(mask.column, mask.kind, *((option,) if option else ()))


def _strange(mask: Mask, option: str) -> tuple[str, str | None, str | None] | None:
    """Why a value of the policy does not fit the type, what is allowed, and a hint."""
    value, dates = mask.options[option], mask.family in DATES
    kind = published_type(mask.sql_type)
    if option == "to":
        if dates != (value in CALENDAR):
            said = f"does not fit the column's type {kind}"
            return said, ", ".join(CALENDAR) if dates else "a number above 0", None
        if mask.family == "date" and value == "hour":
            return "is less than a day, and the column holds days", "year to day", None
        if dates:
            return None
    values = value if option == "between" else [value]
    for one in values:
        if isinstance(one, str) != dates and option != "amount":
            return f"does not fit the column's type {kind}", "a date" if dates else "a number", None
        if not dates and not _exact(one, mask):
            allowed = "whole numbers" if mask.family == "whole" else f"a value of {kind}"
            return f"is no value of the column's type {kind}", allowed, None
    return None


def _exact(value: Any, mask: Mask) -> bool:
    """Whether a number is exactly a value of the column's type."""
    number = Decimal(str(value))
    if mask.family == "whole":
        least, most = bounds(mask.sql_type)
        return number == number.to_integral_value() and least <= number <= most
    if mask.family == "decimal":
        _, scale = precision(mask.sql_type)
        least, most = bounds(mask.sql_type)
        # (Decimal rounds to 28 digits, and a column has up to 38)
        whole = (Fraction(number) * 10**scale).denominator == 1
        return whole and least <= number <= most
    return True


def precision(sql_type: str) -> tuple[int, int]:
    """Number of digits of a decimal, and of those after the point."""
    found = re.search(r"\((\d+),\s*(\d+)\)", sql_type)
    return (int(found[1]), int(found[2])) if found else (18, 3)


_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}


def bounds(sql_type: str) -> tuple[Decimal, Decimal]:
    """The smallest and largest value of a whole or decimal type."""
    if family_of(sql_type) == "decimal":
        digits, scale = precision(sql_type)
        nines = (9,) * digits
        return Decimal((1, nines, -scale)), Decimal((0, nines, -scale))
    unsigned = sql_type.startswith("U")
    bits = _BITS[sql_type[unsigned:]]
    if unsigned:
        return Decimal(0), Decimal(2**bits - 1)
    return Decimal(-(2 ** (bits - 1))), Decimal(2 ** (bits - 1) - 1)


def exact_type(sql_type: str) -> str:
    """The widest exact type of the same kind of numbers."""
    if family_of(sql_type) == "decimal":
        return f"DECIMAL(38, {precision(sql_type)[1]})"
    return sql_type if sql_type == "UHUGEINT" else "HUGEINT"


def typed(value: Any, sql_type: str) -> Sql:
    """A value of the policy as one of a column's type."""
    if isinstance(value, str) and family_of(sql_type) == "zoned":
        value = in_utc(value)
    if isinstance(value, bool | str):
        given = lit(value)
    else:
        number = f"{Decimal(str(value)):f}"
        # with a point, more than 38 digits (including a zero before it) would be read as a double
        long = "." in number and sum(map(str.isdigit, number)) > 38
        given = lit(number) if long else Sql(number)
    return sql("cast({v} as {t})", v=given, t=Sql(sql_type))


def in_utc(instant: str) -> str:
    """A date or timestamp with a time zone; UTC if it has none."""
    found = dt.datetime.fromisoformat(instant)
    return (found if found.tzinfo else found.replace(tzinfo=dt.UTC)).isoformat(sep=" ")
