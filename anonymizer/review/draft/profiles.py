"""Counts per column, from which the roles are guessed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from anonymizer.compile import ident
from anonymizer.run.meant import early
from anonymizer.run.raw_text import forms_found
from anonymizer.source.persons import CATEGORY, MOST_ROWS, fractional
from anonymizer.source.profile import kind_of

if TYPE_CHECKING:
    from anonymizer.review.assess.opening import Opened

FEW = 100
"""A column with at most this many different values is likely a category."""
A_HANDFUL = 20
"""A long column with at most this many different values is a category, whatever its name."""

LONG_TEXT = 40.0
"""Characters on average from which a text is free text."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Counts of one column."""

    column: str
    sql_type: str
    rows: int
    known: int
    different: int | None
    mean_length: float | None
    like_mail: float | None
    commonest: int | None
    zeros: int | None = None
    """Rows in which a number is 0."""
    parts: int | None = None
    """Rows in which a number has a fractional part."""
    endless: int = 0
    """Rows with an infinite number or date, or NaN."""
    longest: int | None = None
    like_day: float | None = None
    """Share of rows whose text is formatted as a day: 2020-01-31."""
    like_code: float | None = None
    """Share of rows whose text looks like a code: capitals and digits, at least one digit."""
    like_decimal: float | None = None
    """Share of rows whose text is a number with decimals, after a point or comma."""
    like_date: float | None = None
    """Share of rows whose text is a date, in the formats of several countries."""

    like_label: float | None = None
    """Share of rows whose text is a label of up to three letters."""

    names: int = 0
    """Different values of a text in which a frequent first or last name stands."""
    early: int = 0
    """Dates before those of a century that is meant."""
    held: str | None = None
    """The kinds of identifiers found in it, in words."""

    @property
    def text(self) -> bool:
        return self.sql_type == "VARCHAR"

    @property
    def texts(self) -> bool:
        """Whether its values are texts, be it of a fixed list."""
        return self.text or self.sql_type.startswith("ENUM")

    @property
    def free_text(self) -> bool:
        """Whether it holds sentences rather than names or codes."""
        return self.text and (self.mean_length or 0) > LONG_TEXT

    @property
    def number(self) -> bool:
        return kind_of(self.sql_type) == "numeric"

    @property
    def measure(self) -> bool:
        """Whether it holds many different numbers with a fractional part."""
        several = (self.different or 0) > A_HANDFUL
        return fractional(self.sql_type) and several and (self.parts is None or self.parts > 0)

    @property
    def unique(self) -> bool:
        """Whether no value repeats or is NULL, so that it could be a key."""
        return self.known == self.rows == self.different

    @property
    def written_as(self) -> str | None:
        """What most values of a text column look like (an ordered type); None if nothing."""
        known = self.known / self.rows if self.rows else 0.0
        for share, said in ((self.like_decimal, "numbers"), (self.like_date, "dates")):
            if self.text and (share or 0.0) > known / 2:
                return said
        return None

    @property
    def category(self) -> bool:
        """Whether it has few values in many rows, such as `insurance`: public or private."""
        different = self.different or 0
        rows = 5 if different <= CATEGORY else MOST_ROWS
        return different <= A_HANDFUL and self.known > different * rows

    @property
    def spread(self) -> float:
        """Different values per known value."""
        return (self.different or 0) / self.known if self.known else 0.0


def profiles(opened: Opened, *, identifiers: bool = False) -> tuple[Profile, ...]:
    """Count every column, in one statement.

    `identifiers`: search texts and large numbers for the identifiers that would refuse a run, and
    texts for names.
    """
    columns = [
        {
            "name": ident(name),
            "countable": kind is not None,
            "text": sql_type == "VARCHAR",
            "named": identifiers and (sql_type == "VARCHAR" or sql_type.startswith("ENUM")),
            "number": kind == "numeric",
            "fractional": fractional(sql_type),
            "endless": kind == "date" or sql_type in ("FLOAT", "DOUBLE"),
            "early": early(ident(name), sql_type),
        }
        for name, sql_type in opened.columns
        for kind in (kind_of(sql_type),)
    ]
    names = frequent_names() if any(column["named"] for column in columns) else ()
    rows = opened.select("drafting/columns", "columns", columns=columns, names=names)
    held = forms_found(opened.engine, opened.relation, opened.columns if identifiers else ())
    return tuple(
        replace(Profile(name, kind, *row[1:]), held=held.get(name))
        for (name, kind), row in zip(opened.columns, rows, strict=True)
    )


@cache
def frequent_names() -> tuple[str, ...]:
    """Frequent first and last names of many languages."""
    listed = [files("anonymizer") / "data" / "names" / f"{part}.txt" for part in ("first", "last")]
    lines = [line for file in listed for line in file.read_text(encoding="utf-8").splitlines()]
    return tuple(sorted({name for line in lines if line[:1] != "#" for name in line.split()}))
