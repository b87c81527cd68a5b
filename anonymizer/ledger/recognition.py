"""Whether the persons of earlier releases can be recognized in a new one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from anonymizer.compile import Table, ident, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import Problem
from anonymizer.ledger.entries import Entry
from anonymizer.ledger.protected_columns import Recognition
from anonymizer.ledger.store import MEMBERS, NEW_MEMBERS
from anonymizer.policy.paths import name_text

FORGET = "if that release reached nobody, `anonymizer ledger forget`"
NEW_POPULATION = "republish: {new_population: true}"
OTHER_VIEW = "another publish.name"
"""What a policy says if its persons are others than those of the last release."""


def unrecognized(
    recognized: Recognition,
    view: str,
    earlier: Iterable[Entry],
    *,
    others: bool = False,
    strictly: bool = False,
) -> Iterator[Problem]:
    """Earlier releases of the view, or by the same column, whose persons cannot be recognized.

    `others`: the persons of the view are stated to be others than before.

    Those of other views with other columns may be of other persons, unless `strictly`.
    """
    differing: dict[Recognition, Entry] = {}
    for entry in earlier:
        then = entry.recognized
        if then is None or then == recognized:
            continue
        if entry.view == view and others:
            continue
        by_column = bool(then.column) and then.column == recognized.column
        if strictly or by_column or entry.view == view:
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
    recognized: Recognition,
    engine: DuckDBEngine,
    view: str,
    earlier: Iterable[Entry],
    kept: Table = MEMBERS,
    new: Table = NEW_MEMBERS,
    otherwise: str = NEW_POPULATION,
) -> Iterator[Problem]:
    """The problem that hardly anybody of the last release of the view is recognized.

    `otherwise`: what a policy says if the persons are others.
    """
    last = max((e for e in earlier if e.view == view), key=lambda e: e.release, default=None)
    if last is None:
        return
    again = engine.raw(
        f"select count(distinct person) from {ident(kept)} where release ="
        f" {lit(last.release)} and person in (select person from {ident(new)})",
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
        f"{as_it_was}; if they are other persons, or the others have left, {otherwise}; or,"
        f" {FORGET}"
    )
    yield Problem("ledger", said, hint=hint)


def _words(recognized: Recognition) -> str:
    if not recognized.column:
        return "the content of their rows"
    return f"{name_text(recognized.column)}, which is {recognized.kind}"


def _way_out(recognized: Recognition, then: Recognition) -> str:
    if not then.column:
        return "the columns of that release in source.query, and no key and person"
    if then.column != recognized.column:
        return f"key or person: {name_text(then.column)}, by this name in source.query"
    return "cast it in source.query to what it was"
