"""Guess the roles of a table's columns from their names, types and counts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import TYPE_CHECKING

from anonymizer.compile import ident, render
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import SourceError
from anonymizer.policy.paths import words
from anonymizer.process.text import many
from anonymizer.run.ambiguities import FIRST_YEAR, early
from anonymizer.run.raw_text import forms_found
from anonymizer.source import column_names
from anonymizer.source.child import family
from anonymizer.source.column_names import (
    A_FEW,
    CATEGORY,
    MOST_ROWS,
    NAME,
    NEARLY_UNIQUE,
    UNFAMILIAR,
    countable,
    fractional,
    names_bearers,
    names_people,
)
from anonymizer.source.profile import kind_of
from anonymizer.source.snapshot import Relation

if TYPE_CHECKING:
    from anonymizer.review.assess.classes import AssessedTable


# Counts per column, from which the roles are guessed.


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
    reach: int | None = None
    """The power of ten in the range of a number: 1 for 18 to 90."""
    held: str | None = None
    """The kinds of identifiers found in it, in words."""

    @property
    def text(self) -> bool:
        return self.sql_type == "VARCHAR"

    @property
    def texts(self) -> bool:
        """True if its values are texts, be it of a fixed list."""
        return self.text or self.sql_type.startswith("ENUM")

    @property
    def free_text(self) -> bool:
        """True if it holds sentences rather than names or codes."""
        return self.text and (self.mean_length or 0) > LONG_TEXT

    @property
    def number(self) -> bool:
        return kind_of(self.sql_type) == "numeric"

    @property
    def measure(self) -> bool:
        """True if it holds many different numbers with a fractional part."""
        several = (self.different or 0) > A_HANDFUL
        return fractional(self.sql_type) and several and (self.parts is None or self.parts > 0)

    @property
    def unique(self) -> bool:
        """True if no value repeats or is NULL, so that it could be a key."""
        return self.known == self.rows == self.different

    @property
    def written_as(self) -> str | None:
        """The form of most values of a text column (an ordered type); None if nothing."""
        known = self.known / self.rows if self.rows else 0.0
        for share, said in ((self.like_decimal, "numbers"), (self.like_date, "dates")):
            if self.text and (share or 0.0) > known / 2:
                return said
        return None

    @property
    def coded(self) -> bool:
        """True if its numbers are codes of an attribute that has no order."""
        few = (self.different or 0) <= FEW and not self.parts
        return self.number and few and column_names.says(self.column, column_names.NOMINAL)

    @property
    def category(self) -> bool:
        """True if it has few values in many rows, such as `insurance`: public or private."""
        different = self.different or 0
        rows = 5 if different <= CATEGORY else MOST_ROWS
        return different <= A_HANDFUL and self.known > different * rows

    @property
    def spread(self) -> float:
        """Different values per known value."""
        return (self.different or 0) / self.known if self.known else 0.0


def profiles(opened: AssessedTable, *, identifiers: bool = False) -> tuple[Profile, ...]:
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


# Columns that list persons: by their names, by frequent names in them, or texts of many values.


NAMED = (2, 1 / 2), (5, 1 / 8)
"""Numbers and shares of different values with a frequent name, from which a text holds names."""
SURELY_NAMED = ((5, 3 / 4),)
"""The same if the column's name says otherwise: many places are named after persons."""
MOSTLY = 0.5
"""Share of values from which a column is taken for codes, or for days."""


def holds_names(p: Profile) -> str | None:
    """Explain why a column seems to contain names of persons: by its name or frequent values."""
    different, column = p.different or 0, p.column
    if not p.texts or p.written_as is not None or (p.like_day or 0) > MOSTLY:
        return None
    # two values under `first` or `last` may be yes and no; under `name` they are names
    flag = different <= CATEGORY and p.category and not column_names.says(column, NAME)
    several = different > A_HANDFUL and not _coded(p)
    if (names_people(column) and not flag) or (names_bearers(column) and several):
        return "its name says that it holds names"
    otherwise = column_names.familiar(column) or column_names.sensitive(column)
    for few, share in SURELY_NAMED if otherwise else NAMED:
        if p.names >= max(few, share * different):
            return f"{p.names:,} of its values hold a frequent name of persons"
    return None


def unfamiliar(p: Profile) -> bool:
    """True if a text has many values and is no code, place, job, date or number that is known."""
    many = p.texts and (p.different or 0) > A_FEW and p.spread > UNFAMILIAR
    unlike_jobs = p.spread > NEARLY_UNIQUE and column_names.says(p.column, column_names.JOBS)
    if not many or (column_names.familiar(p.column) and not unlike_jobs):
        return False
    return not (p.written_as or (p.like_day or 0) > MOSTLY or _coded(p))


def _coded(p: Profile) -> bool:
    """Return whether most values look like codes or labels: `E11.9`, `DEU`."""
    known = p.known / p.rows if p.rows else 0.0
    return (p.like_code or 0) + (p.like_label or 0) > MOSTLY * known


# Guessing the role of one column from its name, type and counts. The draft is to be reviewed.


REPEATS = 0.5
"""Up to this many values per row, a text is a category, such as a job or a city."""
MOSTLY_ZERO = 0.1
"""From this share of zeros, a number with many values counts events, or is a rare amount."""
ANOTHER = "it tells who another person is"


@dataclass(frozen=True, slots=True)
class Guess:
    """A role and the reason for it."""

    role: str
    reason: str
    sure: bool = True
    """True if name or content determines the role; if not, other columns may change it."""


def guess(p: Profile) -> Guess:
    """Guess the role of one column. Columns that are not understood are not published."""
    kind = kind_of(p.sql_type)
    if p.known == 0 or (kind is not None and (p.different or 0) < 2):
        return Guess("drop", "has one value only, or none")
    if kind is None:
        return Guess("drop", f"type {p.sql_type.split('(')[0]} cannot be anonymized as a value")
    if named := holds_names(p):
        return Guess("identifier", f"{named}; {spread_of(p)}")
    found = _by_content(p) or _by_name(p) or _by_counts(p, kind)
    if found.role == "quasi" and unfamiliar(p):
        said = f"may hold names, or what tells them: {spread_of(p)}"
        return Guess("drop", f"{said}, and no code, place, date or job by what is seen of it")
    if not p.early:
        return found
    said = f"{many(p.early, 'date')} before {FIRST_YEAR}: was the century left out?"
    return replace(found, reason=f"{found.reason}; {said}")


def spread_of(p: Profile) -> str:
    """The number of values in words, and a recommendation to cast text to another type."""
    said = f"{p.different:,} different values in {p.known:,}"
    if p.written_as is None:
        return said
    return f"{said}; text, mostly {p.written_as}: cast it, to get ranges instead of sets"


def _by_content(p: Profile) -> Guess | None:
    if (p.like_mail or 0) > 0.5 * p.known / p.rows:
        return Guess("identifier", "holds mail addresses")
    if p.held:
        return Guess("identifier", f"holds {p.held}")
    if p.free_text and p.spread > REPEATS:
        return Guess("identifier", "free text, which may name people")
    if p.sql_type == "UUID":
        return Guess("identifier", "is a UUID")
    return None


def _by_name(p: Profile) -> Guess | None:
    spread = spread_of(p)
    if _hides(p):
        return Guess("drop", "its name says that it is a flag, for a condition: sensitive_when")
    if column_names.names_related(p.column) and countable(p.sql_type):
        return Guess("identifier", f"its name says that it numbers persons; {ANOTHER}; {spread}")
    if _numbers_something(p):
        return Guess("identifier", f"its name says that it numbers something; {spread}")
    if p.number and column_names.weighs_a_sample(p.column):
        return Guess("drop", f"weights of a sample, which nearly tell whose row it is; {spread}")
    # a yes/no column is not an age, even if its name says so
    meant = column_names.FLAGS if p.sql_type == "BOOLEAN" else column_names.QUASI
    quasi = column_names.says(p.column, meant)
    sensitive = column_names.sensitive(p.column)
    if _names_somebody(p) and not quasi and not sensitive:
        return Guess("identifier", f"its name says who it is; {spread}")
    if sensitive:
        return Guess("sensitive", f"its name says that people would not want it known; {spread}")
    if quasi and not _numbers_rows(p):
        return Guess("quasi", f"its name says that others may know it; {spread}")
    if p.number and column_names.says(p.column, column_names.EVENT):
        return Guess("sensitive", f"its name says what happened, or when after a start; {spread}")
    return None


def _numbers_something(p: Profile) -> bool:
    """A key of this or another table: `id` with many values, `patient_no` with any number."""
    keyed = column_names.says(p.column, column_names.KEY)
    if column_names.names_person(p.column):
        return keyed or not p.category
    if not keyed:
        return False
    alone = words(p.column)[-1:] in (["id"], ["key"], ["pk"], ["rowid"], ["nr"])
    others = column_names.says(p.column, column_names.OTHERS | column_names.QUASI)
    repeats = alone and not others and (p.different or 0) > FEW
    few_rows = p.known <= (p.different or 0) * MOST_ROWS
    return p.spread > NEARLY_UNIQUE or (repeats and few_rows)


def _hides(p: Profile) -> bool:
    """A flag that tells whether other cells may be shown, such as `hide_age`."""
    flagging = column_names.says(p.column, column_names.HIDING) or (
        column_names.says(p.column, frozenset({"flag", "flagged"}))
        and column_names.says(p.column, column_names.QUASI)
        and not column_names.sensitive(p.column)
    )
    return flagging and (p.different or 0) <= 2


def _names_somebody(p: Profile) -> bool:
    named = column_names.IDENTIFIER | (column_names.NAME if p.texts else frozenset())
    if not column_names.says(p.column, named):
        return False
    return not p.category or column_names.says(p.column, column_names.NUMBERS)


def _numbers_rows(p: Profile) -> bool:
    """True if it numbers rows (`visit`): unique in a large table, and no date, measure or place."""
    place = column_names.says(p.column, column_names.POSTAL)
    date = kind_of(p.sql_type) == "date" or (p.like_day or 0) > REPEATS
    return p.unique and p.rows > FEW and not (date or place or fractional(p.sql_type))


def _by_counts(p: Profile, kind: str) -> Guess:
    different, spread = p.different or 0, spread_of(p)
    if p.spread > NEARLY_UNIQUE and p.known > A_HANDFUL:
        if fractional(p.sql_type) and p.measure:
            return Guess("drop", f"a measure that is nearly unique: {spread}")
        if kind != "date":
            return Guess("identifier", f"nearly unique: {spread}")
    if kind == "date" or (p.like_day or 0) > REPEATS:
        return Guess("quasi", f"a date, which others may know; {spread}")
    if kind == "categorical":
        return _category_of_text(p)
    if different <= 2:
        return Guess("quasi", f"a flag, which others may know; {spread}", sure=False)
    if different > A_HANDFUL and (p.zeros or 0) > MOSTLY_ZERO * p.known:
        role = "counts events, or an amount that many have none of"
        return Guess("sensitive", f"{role}; {spread}", sure=False)
    if p.measure:
        return Guess("sensitive", f"a measure, which few know exactly; {spread}", sure=False)
    return Guess("quasi", f"a code or a number, which others may know; {spread}", sure=False)


def _category_of_text(p: Profile) -> Guess:
    different, spread = p.different or 0, spread_of(p)
    if different <= 2:
        return Guess("quasi", f"a category of two, which others may know; {spread}", sure=False)
    if different <= FEW:
        return Guess("quasi", f"a category, which others may know; {spread}")
    if p.spread <= REPEATS:
        return Guess("quasi", f"a category of many values, which others may know; {spread}")
    return Guess("drop", f"not understood, so not published; {spread}")


EVERYBODY = "everybody"
"""The column that is added if none of the table's columns can be generalized."""


def without_quasi(
    found: tuple[Profile, ...], guesses: dict[str, Guess], *, file: bool, key: str | None = None
) -> str | None:
    """Give some column role quasi if none has it, or return the name of a column to be added.

    A constant column is preferred: generalizing it loses and discloses nothing. No column can be
    added to a file; there, the column with the fewest values is used. `key` cannot be quasi. Raises
    SourceError for a file without any suitable column.
    """
    if any(one.role == "quasi" for one in guesses.values()):
        return None
    open_to_it = [p for p in found if p.column != key and kind_of(p.sql_type) is not None]
    alike = [p for p in open_to_it if p.known == p.rows and p.different == 1]
    if alike:
        guesses[alike[0].column] = Guess(
            "quasi",
            "one value only; no column seems to be known by others, and one has to be quasi",
        )
        return None
    if not file:
        taken = {p.column.lower() for p in found}
        return next(
            name for n in range(len(taken) + 1) if (name := EVERYBODY + "_" * n) not in taken
        )
    usable = [p for p in open_to_it if p.known and not (holds_names(p) or unfamiliar(p))]
    if not usable:
        said = "has no column with values that can be generalized"
        hint = "numbers, text, booleans, dates; its first line has to name the columns"
        raise SourceError.at("TABLE", said, hint=hint)
    chosen = min(usable, key=lambda p: (guesses[p.column].role == "identifier", p.spread))
    guesses[chosen.column] = Guess(
        "quasi",
        "no column seems to be known by others, and one has to be: the one of fewest values",
    )
    return None


REFERRING = column_names.KEY | {"by", "to", "of"}
"""Last words of names of numbers that may refer to a row: `team_lead_no`, `approved_by`."""


def of_others(
    engine: DuckDBEngine,
    rows: Relation,
    columns: Iterable[Profile],
    persons: Relation,
    key: Profile,
    name: str,
) -> dict[str, Guess]:
    """The columns of `rows` that hold keys of `persons`, the table `name`, and nothing else."""
    likely = [p for p in columns if p.column != key.column and _may_refer(p, key)]
    if not likely:
        return {}
    pairs = [
        {"table": rows.sql, "column": ident(p.column), "to": persons.sql, "key": ident(key.column)}
        for p in likely
    ]
    context = {"tables": [rows.table, persons.table], "pairs": pairs}
    text = render("drafting/unmatched_keys", context).text
    return {
        p.column: Guess("identifier", f"all its values are keys of {name}; {ANOTHER}")
        for p, (_, strangers) in zip(likely, engine.raw(text, "columns"), strict=True)
        if not strangers
    }


def _may_refer(p: Profile, key: Profile) -> bool:
    """True if it would be no chance if all values were keys: small numbers are keys of anything."""
    if not countable(p.sql_type) or family(p.sql_type) != family(key.sql_type):
        return False
    meant = column_names.QUASI | column_names.SENSITIVE | column_names.OTHERS
    if column_names.says(p.column, meant):
        return False
    if not p.number:
        return (p.different or 0) > CATEGORY
    return (p.different or 0) > A_HANDFUL and not REFERRING.isdisjoint(words(p.column)[-1:])


# Guessing the roles of all columns of a table, in the context of the other columns.


SERIES = 3
"""From this many columns with a common name, they are one repeated measurement."""
FINDINGS = 1 / 3
"""From this share of sensitive columns, a table is about findings or answers."""
SURE_FINDINGS = 1 / 2
"""The same share among the columns whose names or contents determine their role."""
MOST_PAIRS = 100
"""Largest number of column pairs that are compared."""
NUMBERED = re.compile(
    r"(?P<stem>.*?[^\W\d_]|)[\W_]*(\d+[a-z]{0,2}|pre|post|baseline|before|after)\Z", re.IGNORECASE
)


def guess_columns(opened: AssessedTable, known: Collection[str] = ()) -> dict[str, str]:
    """Guess a role per column, without the columns in `known`."""
    found = tuple(p for p in profiles(opened, identifiers=True) if p.column not in known)
    return {name: one.role for name, one in guesses(opened, found).items()}


def guesses(opened: AssessedTable, found: tuple[Profile, ...]) -> dict[str, Guess]:
    """One guess per column: from itself, from columns with similar names, and from the table."""
    by_name = {p.column: p for p in found}
    made = {p.column: guess(p) for p in found}
    for name, why in opened.recognized.spoilt.items():
        if made[name].role in ("quasi", "sensitive", "keep"):
            role = made[name].role
            made[name] = Guess("drop", f"{why}; then {role}")
    for name, stem in _series(by_name, made):
        said = f"one of several columns named {stem}: a measurement or an answer, repeated"
        made[name] = Guess("sensitive", said)
    made |= _among_findings(by_name, made)
    made |= _said_again(opened, by_name, made)
    return made


def _series(by_name: dict[str, Profile], made: dict[str, Guess]) -> Iterator[tuple[str, str]]:
    """Columns that repeat one measurement, each with the part that their names share."""
    open_ones = [
        p for name, p in by_name.items() if not made[name].sure and made[name].role != "identifier"
    ]
    groups: dict[tuple[str, str, bool], list[Profile]] = defaultdict(list)
    for p in open_ones:
        if match := NUMBERED.match(p.column):
            groups["stem", match["stem"].lower() or "by number", p.number].append(p)
        said = words(p.column)
        if len(said) > 1 and p.number:
            groups["ends", said[-1], p.number].append(p)
            groups["begins", said[0], p.number].append(p)
    told: set[str] = set()
    for (_, stem, _number), members in groups.items():
        if len(members) < SERIES or not _alike(members):
            continue
        for p in members:
            if p.column not in told:
                told.add(p.column)
                yield p.column, stem


def _alike(members: list[Profile]) -> bool:
    """True if columns share a scale: measures, or codes with about the same number of values."""
    if all(p.measure for p in members):
        return True
    counts = [p.different or 0 for p in members]
    return max(counts) <= A_HANDFUL * 5 and max(counts) <= 2 * min(counts) + 1


def _among_findings(by_name: dict[str, Profile], made: dict[str, Guess]) -> dict[str, Guess]:
    """In a table of findings or answers, treat columns without other evidence as sensitive."""
    sensitive = [one for one in made.values() if one.role == "sensitive"]
    known = [one for one in made.values() if one.sure and one.role in ("quasi", "sensitive")]
    told = sum(one.sure for one in sensitive)
    if len(sensitive) < SERIES or (
        len(sensitive) < FINDINGS * len(made) and told < SURE_FINDINGS * len(known)
    ):
        return {}
    said = "stands among findings or answers, and its name does not say that others may know it"
    changed = {
        name: replace(one, role="sensitive", reason=said)
        for name, one in made.items()
        if not one.sure and one.role == "quasi"
    }
    for name, p in by_name.items():
        graded = column_names.says(name, column_names.GRADED) and p.number
        if graded and made[name].role == "quasi" and (p.different or 0) <= A_HANDFUL:
            changed[name] = Guess("sensitive", "a grade among findings")
    return changed


def _said_again(
    opened: AssessedTable, by_name: dict[str, Profile], made: dict[str, Guess]
) -> dict[str, Guess]:
    """Columns that duplicate another: a different code for it, or a flag for one of its values."""
    usable = [p for p in by_name.values() if made[p.column].role in ("quasi", "sensitive")]
    names = {p.column for p in usable}
    pairs: list[tuple[str, str, bool]] = []
    for p in usable:
        match = NUMBERED.match(p.column)
        if match and match["stem"] in names and p.different == 2:
            pairs.append((match["stem"], p.column, True))
    for one, other in combinations(usable, 2):
        counts = one.different == other.different and one.known == other.known
        if counts and (one.different or 0) > 2 and max(one.spread, other.spread) < 0.5:
            first, second = (other, one) if one.number and other.text else (one, other)
            pairs.append((first.column, second.column, False))
    pairs = pairs[:MOST_PAIRS]
    if not pairs:
        return {}
    named = [{"first": ident(one), "second": ident(other)} for one, other, _ in pairs]
    counted = opened.select("drafting/pairs", "pairs", pairs=named)
    again: dict[str, Guess] = {}
    for (name, copy, flag), (_, together) in zip(pairs, counted, strict=True):
        first = by_name[name]
        alone = (first.different or 0) + (first.known < first.rows)
        if alone == together and name not in again:
            said = "is a flag for one value of" if flag else "says the same as"
            again[copy] = Guess("drop", f"{said} {name}, value for value")
    return again
