"""A fallback quasi-identifier if none is found, so that every draft can run."""

from __future__ import annotations

from anonymizer.errors import SourceError
from anonymizer.review.draft.guess import Guess
from anonymizer.review.draft.profiles import Profile
from anonymizer.source.profile import kind_of

EVERYBODY = "everybody"
"""The column that is added if none of the table's columns can be generalized."""


def without_quasi(
    found: tuple[Profile, ...],
    guesses: dict[str, Guess],
    *,
    file: bool,
    key: str | None = None,
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
    usable = [p for p in open_to_it if p.known]
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
