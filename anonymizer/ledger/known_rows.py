"""What releases of several tables disclose together to an observer who knows rows of a person."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from anonymizer.errors import Problem
from anonymizer.ledger.compared import Compared
from anonymizer.ledger.schemas import Schema, found_by_key, not_found_again
from anonymizer.ledger.tables import NEW_ROWS, ROWS

KNOWN = {1: "one known event", 2: "two known events", 3: "three known events"}


Ask = Callable[[str, dict[str, Any]], list[tuple[Any, ...]]]


def told_by_rows(
    ask: Ask,
    releases: Sequence[Compared],
    context: Mapping[str, Any],
    known: Mapping[int, Schema],
    k: int,
    hint: str,
    who: str = "returning persons",
) -> Iterator[Problem]:
    """Problems of known rows; `known`: the compared releases of several tables, by release number.
    `who`: the persons that are judged.

    The weakest guarantee counts: what it lets an observer know leaves as few candidates.
    """
    knowing = [r for r in releases if r.release in known and known[r.release].events]
    counting = [r for r in releases if r.release in known and known[r.release].rows]
    shared = {**context, "rows": NEW_ROWS, "old_rows": ROWS}
    if knowing:
        of_events = {r.release: known[r.release] for r in knowing}
        problems = list(not_found_again(of_events))
        yield from problems
        if not problems:
            events = min(schema.events for schema in of_events.values())
            least = min(k, *(schema.k for schema in of_events.values()))
            found = ask(
                "events",
                {
                    **shared,
                    "k": least,
                    "knowing": knowing,
                    "by_key": sorted(found_by_key(of_events)),
                    "events": events,
                },
            )
            yield from _problem(found[0], "privacy.knows.events", KNOWN[events], least, hint, who)
    if counting:
        least = min(k, *(known[r.release].k for r in counting))
        found = ask("row_numbers", {**shared, "k": least, "counting": counting})
        yield from _problem(
            found[0], "privacy.knows.rows", "known numbers of rows", least, hint, who
        )


def _problem(
    found: tuple[Any, ...], path: str, what: str, k: int, hint: str, who: str
) -> Iterator[Problem]:
    persons, narrowed, fewest = found
    if narrowed:
        said = (
            f"with the earlier releases {narrowed:,} of {persons:,} {who} could be told"
            f" apart by {what} down to fewer than {k} candidates (fewest: {fewest})"
        )
        yield Problem(path, said, hint=hint)
