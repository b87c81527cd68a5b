"""Columns that list persons: by their names, by frequent names in them, or texts of many values."""

from __future__ import annotations

from anonymizer.review.draft.profiles import A_HANDFUL, Profile
from anonymizer.source import column_names
from anonymizer.source.person_names import NAME, names_bearers, names_people
from anonymizer.source.persons import A_FEW, CATEGORY, NEARLY_UNIQUE, UNFAMILIAR

NAMED = (2, 1 / 2), (5, 1 / 8)
"""Numbers and shares of different values with a frequent name, from which a text holds names."""
SURELY_NAMED = ((5, 3 / 4),)
"""The same if the column's name says otherwise: many places are named after persons."""
MOSTLY = 0.5
"""Share of values from which a column is taken for codes, or for days."""


def holds_names(p: Profile) -> str | None:
    """Why a column seems to hold names of persons: its name, or frequent names among its values."""
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
    """Whether a text has many values and is no code, place, job, date or number that is known."""
    many = p.texts and (p.different or 0) > A_FEW and p.spread > UNFAMILIAR
    unlike_jobs = p.spread > NEARLY_UNIQUE and column_names.says(p.column, column_names.JOBS)
    if not many or (column_names.familiar(p.column) and not unlike_jobs):
        return False
    return not (p.written_as or (p.like_day or 0) > MOSTLY or _coded(p))


def _coded(p: Profile) -> bool:
    """Whether most values look like codes or labels: `E11.9`, `DEU`."""
    known = p.known / p.rows if p.rows else 0.0
    return (p.like_code or 0) + (p.like_label or 0) > MOSTLY * known
