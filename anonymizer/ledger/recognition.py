"""Whether the persons of earlier releases can be recognized in this one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from anonymizer.compile import ident, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import Problem
from anonymizer.ledger.entries import Entry
from anonymizer.ledger.protected_columns import Recognized
from anonymizer.ledger.store import MEMBERS, NEW_MEMBERS
from anonymizer.policy.paths import name_text

FORGET = "if that release reached nobody, `anonymizer ledger forget`"


def unrecognized(
    recognized: Recognized, view: str, earlier: Iterable[Entry], *, others: bool = False
) -> Iterator[Problem]:
    """Earlier releases of the view, or by the same column, whose persons cannot be recognized.

    `others`: the persons of the view are stated to be others than before.

    Those of other views with other columns may be of other persons.
    """
    differing: dict[Recognized, Entry] = {}
    for entry in earlier:
        then = entry.recognized
        if then is None or then == recognized:
            continue
        if entry.view == view and others:
            continue
        if entry.view == view or (then.column and then.column == recognized.column):
            differing[then] = entry
    for then, entry in differing.items():
        said = (
            f"finds persons by {_words(recognized)}, and the release {entry.view} of run"
            f" {entry.run_id} by {_words(then)}: what the two tell together cannot be counted"
        )
        if not recognized.column and not then.column:
            said = (
                f"finds persons by the content of their rows, and the release {entry.view} of"
                f" run {entry.run_id} was made of rows with other columns or types: what the"
                " two tell together cannot be counted"
            )
        yield Problem("ledger", said, hint=f"{_way_out(recognized, then)}; or, {FORGET}")


def strangers(
    recognized: Recognized, engine: DuckDBEngine, view: str, earlier: Iterable[Entry]
) -> Iterator[Problem]:
    """The problem that hardly anybody of the last release of the view is recognized."""
    last = max((e for e in earlier if e.view == view), key=lambda e: e.release, default=None)
    if last is None:
        return
    again = engine.raw(
        f"select count(distinct person) from {ident(MEMBERS)} where release ="
        f" {lit(last.release)} and person in (select person from {ident(NEW_MEMBERS)})",
        "ledger",
    )[0][0]
    if 2 * again >= last.persons:
        return
    said = (
        f"recognizes {again:,} of the {last.persons:,} persons of the last release of"
        f" {view} (run {last.run_id}), by {_words(recognized)}: what the two tell together of the"
        " others cannot be counted"
    )
    as_it_was = "their values written as they were (case, blanks, digits)"
    if not recognized.column:
        as_it_was = "a key or person from the first release on"
    hint = (
        f"{as_it_was}; if they are other persons, or the others have left, republish:"
        f" {{new_population: true}}; or, {FORGET}"
    )
    yield Problem("ledger", said, hint=hint)


def _words(recognized: Recognized) -> str:
    if not recognized.column:
        return "the content of their rows"
    return f"{name_text(recognized.column)}, which is {recognized.kind}"


def _way_out(recognized: Recognized, then: Recognized) -> str:
    if not then.column:
        return "the columns of that release in source.query, and no key and person"
    if then.column != recognized.column:
        return f"key or person: {name_text(then.column)}, by this name in source.query"
    return "cast it in source.query to what it was"
