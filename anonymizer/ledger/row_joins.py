"""Rows of two releases joined on columns that only together tell them apart.

The classes of a person in both, and the columns that both publish as they are, show which rows may
be the person's: fewer than the persons of either class. What these rows show is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from anonymizer.errors import Problem
from anonymizer.ledger.entries import Entry
from anonymizer.ledger.facets import CLASS, Facet, Mark
from anonymizer.ledger.tables import MEMBERS, NEW_MEMBERS
from anonymizer.policy.paths import column_path

Ask = Callable[[str, dict[str, Any]], list[tuple[Any, ...]]]


def told_by_joined_rows(
    ask: Ask, entry: Entry, facets: Sequence[Facet], opens: Sequence[Mark], ways_out: str
) -> Iterator[Problem]:
    """What a join of the new release with an earlier one tells of the values of a protected column.

    `opens`: the columns that the new release publishes as they are.
    """
    there = set(_opens(entry, opens))
    common = [mark for mark in opens if mark.column in there]
    shown = {mark.column for mark in opens}
    for facet in facets:
        by = [mark for mark in common if mark.column != facet.column]
        if not by or facet.column not in shown:
            continue
        persons, narrowed = _asked(ask, entry, by, truth=facet.truth, least=facet.least)
        if narrowed:
            said = (
                f"{_joined(by, entry)} leave fewer than {facet.least} values for {narrowed:,} of"
                f" {persons:,} returning persons"
            )
            yield Problem(facet.path, said, hint=_ways_out(ways_out))
    counted = {facet.column for facet in facets}
    for column in entry.facets:
        by = [mark for mark in common if mark.column != column]
        if column in counted or column not in there or not by:
            continue
        persons, narrowed = _asked(ask, entry, by, truth=None, least=None)
        if narrowed:
            said = (
                f"{_joined(by, entry)} leave fewer rows of the earlier release for {narrowed:,} of"
                f" {persons:,} returning persons: which of its values they show cannot be counted"
            )
            yield Problem(column_path(column), said, hint=_ways_out(ways_out))


def _opens(entry: Entry, opens: Sequence[Mark]) -> Iterator[str]:
    """The columns that an earlier release published as they are. Ledgers of before this was kept do
    not tell: any column may have been among them.
    """
    if entry.opens is not None:
        yield from entry.opens
        return
    yield from (mark.column for mark in opens)
    scoped = zip(entry.facets, entry.scopes, strict=True)
    yield from (column for column, scope in scoped if scope == CLASS)


def _asked(ask: Ask, entry: Entry, by: Sequence[Mark], **more: Any) -> tuple[int, int]:
    context = {
        "members": NEW_MEMBERS,
        "old_members": MEMBERS,
        "release": entry.release,
        "places": [mark.index for mark in by],
        **more,
    }
    persons, narrowed = ask("row_joins", context)[0]
    return int(persons), int(narrowed)


def _joined(by: Sequence[Mark], entry: Entry) -> str:
    names = ", ".join(mark.column for mark in by)
    return f"rows joined on {names} with the release of run {entry.run_id}"


def _ways_out(ways_out: str) -> str:
    return f"{ways_out}; role drop, for columns that both publish as they are"
