"""Guesses at the roles of columns, from names, types and counts. A draft, to be reviewed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymizer.compile import Sql, ident, render
from anonymizer.drafting import words
from anonymizer.drafting.persons import CATEGORY, MOST_ROWS, NEARLY_UNIQUE, fractional
from anonymizer.profile import kind_of

if TYPE_CHECKING:
    from anonymizer.assess.opening import Opened

FEW = 100
"""Different values up to which a column is likely a category."""
LONG_TEXT = 40.0
A_HANDFUL = 20
"""Different values up to which a column of many rows is a category, whatever its name says."""


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

    @property
    def text(self) -> bool:
        return self.sql_type == "VARCHAR"

    @property
    def unique(self) -> bool:
        """No value twice and never NULL: it could be a key."""
        return self.known == self.rows == self.different

    @property
    def spread(self) -> float:
        """Different values per value."""
        return (self.different or 0) / self.known if self.known else 0.0


@dataclass(frozen=True, slots=True)
class Guess:
    """A role and why."""

    role: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Counted:
    name: Sql
    countable: bool
    text: bool


def profiles(opened: Opened) -> tuple[Profile, ...]:
    """Counts of every column, in one statement."""
    columns = [
        _Counted(ident(name), kind_of(kind) is not None, kind == "VARCHAR")
        for name, kind in opened.columns
    ]
    source = opened.relation
    text = render(
        "drafting/columns.sql.j2",
        {"source": source.table or source.sql, "relation": source.sql, "columns": columns},
    ).text
    rows = opened.engine.raw(text, "columns")
    return tuple(
        Profile(name, kind, *row[1:])
        for (name, kind), row in zip(opened.columns, rows, strict=True)
    )


def guess_columns(opened: Opened, known: Collection[str] = ()) -> dict[str, str]:
    """Roles by column; those in `known` are left out."""
    return {p.column: guess(p).role for p in profiles(opened) if p.column not in known}


def guess(p: Profile) -> Guess:
    """The likely role of one column. What is not understood is not published."""
    kind = kind_of(p.sql_type)
    if kind is None:
        return Guess("drop", f"type {p.sql_type.split('(')[0]} cannot be anonymized as a value")
    if p.known == 0 or (p.different or 0) < 2:
        return Guess("drop", "has one value only, or none")
    return _by_content(p) or _by_name(p) or _by_counts(p, kind)


def _by_content(p: Profile) -> Guess | None:
    if (p.like_mail or 0) > 0.5 * p.known / p.rows:
        return Guess("identifier", "holds mail addresses")
    if p.text and (p.mean_length or 0) > LONG_TEXT and p.spread > 0.5:
        return Guess("identifier", "free text, which may name people")
    if p.sql_type == "UUID":
        return Guess("identifier", "is a UUID")
    return None


def _by_name(p: Profile) -> Guess | None:
    spread = f"{p.different:,} different values in {p.known:,}"
    numbers = words.says(p.column, words.KEY) and p.spread > NEARLY_UNIQUE
    if _hides(p):
        return Guess("drop", "its name says that it is a flag, for a condition: sensitive_when")
    if (words.names_person(p.column) and not _category(p)) or numbers:
        return Guess("identifier", f"its name says that it numbers something; {spread}")
    # yes and no are no age, whatever the name says
    quasi = words.says(p.column, words.QUASI) and p.sql_type != "BOOLEAN"
    sensitive = words.says(p.column, words.SENSITIVE)
    if _names_somebody(p) and not quasi and not sensitive:
        return Guess("identifier", f"its name says who it is; {spread}")
    if sensitive:
        return Guess("sensitive", f"its name says that people would not want it known; {spread}")
    if quasi and not _numbers_rows(p):
        return Guess("quasi", f"its name says that others may know it; {spread}")
    return None


def _hides(p: Profile) -> bool:
    """A flag that says of other cells whether to show them, such as `hide_age`."""
    flagging = words.says(p.column, words.HIDING) or (
        words.says(p.column, frozenset({"flag", "flagged"}))
        and words.says(p.column, words.QUASI)
        and not words.says(p.column, words.SENSITIVE)
    )
    return flagging and (p.different or 0) <= 2


def _category(p: Profile) -> bool:
    """So few values in so many rows that they tell kinds apart: `insurance`, public or private."""
    different = p.different or 0
    rows = 5 if different <= CATEGORY else MOST_ROWS
    return different <= A_HANDFUL and p.known > different * rows


def _names_somebody(p: Profile) -> bool:
    if not words.says(p.column, words.IDENTIFIER):
        return False
    return not _category(p) or words.names_people(p.column)


def _numbers_rows(p: Profile) -> bool:
    """No value twice in a column of many rows that is no date, measure or place: `visit`."""
    place = words.says(p.column, words.POSTAL)
    date = kind_of(p.sql_type) == "date"
    return p.unique and p.rows > FEW and not (date or place or fractional(p.sql_type))


def _by_counts(p: Profile, kind: str) -> Guess:
    different, spread = p.different or 0, f"{p.different:,} different values in {p.known:,}"
    if p.spread > NEARLY_UNIQUE and p.known > 20:
        if fractional(p.sql_type):
            return Guess("drop", f"a measure that is nearly unique: {spread}")
        return Guess("identifier", f"nearly unique: {spread}")
    if kind == "date":
        return Guess("quasi", f"a date, which others may know; {spread}")
    if kind == "categorical" and different <= FEW:
        return Guess("quasi", f"a category, which others may know; {spread}")
    return Guess("drop", f"not understood, so not published; {spread}")
