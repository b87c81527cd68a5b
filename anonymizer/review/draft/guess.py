"""Guessing the role of one column from its name, type and counts. The draft is to be reviewed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from anonymizer.compile import ident, render
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import SourceError
from anonymizer.policy.words import words
from anonymizer.process.text import many
from anonymizer.review.draft.profiles import A_HANDFUL, FEW, Profile
from anonymizer.review.draft.rosters import holds_names, unfamiliar
from anonymizer.run.meant import FIRST_YEAR
from anonymizer.source import column_names, person_names
from anonymizer.source.child import family
from anonymizer.source.persons import (
    CATEGORY,
    MOST_ROWS,
    NEARLY_UNIQUE,
    countable,
    fractional,
)
from anonymizer.source.profile import kind_of
from anonymizer.source.relation import Relation

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
    """Whether name or content determines the role; if not, other columns may change it."""


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
    named = column_names.IDENTIFIER | (person_names.NAME if p.texts else frozenset())
    if not column_names.says(p.column, named):
        return False
    return not p.category or column_names.says(p.column, column_names.NUMBERS)


def _numbers_rows(p: Profile) -> bool:
    """Whether it numbers rows (`visit`): unique in a large table, and no date, measure or place."""
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
    text = render("drafting/strangers.sql.j2", context).text
    return {
        p.column: Guess("identifier", f"all its values are keys of {name}; {ANOTHER}")
        for p, (_, strangers) in zip(likely, engine.raw(text, "columns"), strict=True)
        if not strangers
    }


def _may_refer(p: Profile, key: Profile) -> bool:
    """Whether it would be no chance if all values were keys: small numbers are keys of anything."""
    if not countable(p.sql_type) or family(p.sql_type) != family(key.sql_type):
        return False
    meant = column_names.QUASI | column_names.SENSITIVE | column_names.OTHERS
    if column_names.says(p.column, meant):
        return False
    if not p.number:
        return (p.different or 0) > CATEGORY
    return (p.different or 0) > A_HANDFUL and not REFERRING.isdisjoint(words(p.column)[-1:])
