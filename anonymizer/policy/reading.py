"""How a text file or a sheet is read: its form, and what its cells mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from anonymizer.policy.values import TAG, AsTuple, FrozenMap, Options, Text, fail

CellType = Literal["text", "whole", "number", "date", "time", "boolean"]
Decimal = Literal[".", ","]
Thousands = Literal[".", ",", " ", "'"]
SQL_TYPES: dict[str, str] = {
    "text": "VARCHAR",
    "whole": "BIGINT",
    "number": "DOUBLE",
    "date": "DATE",
    "time": "TIMESTAMP",
    "boolean": "BOOLEAN",
}
"""The SQL type of each."""
ENCODINGS = {
    "utf-8": "utf-8-sig",
    "utf-16": "utf-16",
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
    "windows-1252": "cp1252",
    "windows-1250": "cp1250",
    "windows-1251": "cp1251",
    "latin-1": "latin-1",
    "latin-9": "iso8859-15",
    "mac-roman": "mac-roman",
    "shift-jis": "shift_jis",
    "gb18030": "gb18030",
}
"""Encodings of text, with the names of their codecs."""
MOST_LINES = 1_000
"""Lines around a table, at most."""
_DIRECTIVES = frozenset("aAbBdHIjmMnpSufyYzZgGVUWw%-")


def _encoding(given: object) -> object:
    name = given.lower().replace("_", "-") if isinstance(given, str) else given
    name = {"cp1252": "windows-1252", "iso-8859-1": "latin-1", "utf8": "utf-8"}.get(str(name), name)
    if name not in ENCODINGS:
        raise fail("is not an encoding that is read", allowed=", ".join(ENCODINGS))
    return name


def _format(given: str) -> str:
    """A format of dates, by the directives of strptime."""
    directives = given.split("%")[1:]
    if not directives or not given.replace("%%", "").count("%"):
        raise fail("has no directive such as %d", hint="'%d.%m.%Y'")
    if any(
        not part or part[0] not in _DIRECTIVES for part in given.replace("%%", "").split("%")[1:]
    ):
        raise fail("has a directive that is not known", allowed="those of strptime, as %d %m %Y")
    return given


def _sign(given: str) -> str:
    if len(given) != 1 or given.isalnum() or given in "\"'\r\n":
        raise fail("must be one sign", hint="';', or \"\\t\" for a tab")
    return given


Lines = Annotated[int, Field(ge=0, le=MOST_LINES)]
Format = Annotated[Text, AfterValidator(_format)]
Sign = Annotated[str, AfterValidator(_sign)]


class DateForm(Options):
    """The form of the dates, or times, of one column, where others have another one."""

    date: Format | None = None
    """The format of dates, as '%d.%m.%Y'."""
    time: Format | None = None
    """The format of dates with times."""

    @model_validator(mode="after")
    def _one(self) -> DateForm:
        if (self.date is None) == (self.time is None):
            raise fail("must have either date or time", hint="{date: '%d.%m.%Y'}")
        return self

    @property
    def kind(self) -> CellType:
        """What a cell is."""
        return "date" if self.time is None else "time"


COLUMN_TYPES: dict[str, Any] = {"cell type": CellType, "date form": DateForm}
"""What the type of a column may be, by tag."""


def _tag(given: object) -> str:
    return f"{TAG}{'date form' if isinstance(given, Mapping | DateForm) else 'cell type'}"


ColumnType = Annotated[
    Annotated[CellType, Tag(f"{TAG}cell type")] | Annotated[DateForm, Tag(f"{TAG}date form")],
    Discriminator(_tag),
]


class Reading(Options):
    """How a CSV file or a sheet is read. What is not stated is found from the file."""

    encoding: Annotated[str, BeforeValidator(_encoding)] = "utf-8"
    """The encoding of the text: utf-8, utf-16, windows-1252, latin-1, and others."""
    delimiter: Sign | None = None
    """The sign between cells."""
    skip: Lines = 0
    """Lines before the line of column names, such as a title."""
    skip_last: Lines = 0
    """Lines after the table, such as a total."""
    sheet: Text | None = None
    """The sheet of an Excel file; default: the first."""
    nulls: Annotated[tuple[str, ...], AsTuple] = ()
    """Spellings of unknown, which are read as NULL in every column, as are empty cells."""
    dates: Format | None = None
    """The format of dates, as '%d.%m.%Y'; default: year, month, day."""
    times: Format | None = None
    """The format of dates with times, as '%d.%m.%Y %H:%M'."""
    decimal: Decimal = "."
    """The sign before the fraction of a number."""
    thousands: Thousands | None = None
    """The sign between groups of three digits; a space of any width is one."""
    types: FrozenMap[Text, ColumnType] = FrozenMap()
    """The types of columns: text, whole (a number without a fraction), number, date, time, boolean;
    or `{date: '%Y-%m-%d'}` for a column of dates in a form of its own. A cell that is none of its
    column's type is an error. Default: found from the file."""

    @model_validator(mode="after")
    def _signs(self) -> Reading:
        if self.thousands == self.decimal:
            raise fail("is the decimal sign as well", at="thousands", hint="decimal: ','")
        whole = [name for name in self.types if self.type_of(name) == "whole"]
        if self.thousands is not None and whole:
            said = "cannot be whole where thousands are stated"
            raise fail(said, at=f"types.{whole[0]}", hint="number, which keeps 15 digits")
        return self

    def type_of(self, name: str) -> CellType | None:
        """What the cells of a column are; None if that is found from the file."""
        stated = self.types.get(name)
        return stated.kind if isinstance(stated, DateForm) else stated

    def form_of(self, name: str) -> str | None:
        """The format of a column's dates or times; None for year, month, day."""
        stated = self.types.get(name)
        if isinstance(stated, DateForm):
            return stated.date or stated.time
        return self.dates if stated == "date" else self.times
