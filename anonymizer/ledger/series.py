"""What the differences of a series of releases tell of single groups of persons.

Persons with the same class, or absence, in every release form a group. The differences show the
values of a group, so its values have to satisfy the rules by themselves; and a group that is absent
from a release has to hold k persons: they can then exchange their values, and nobody is told apart.
Pairs of releases do not suffice, and neither do counts per class. Those who are in all releases
are counted by their classes as well, in `compare`.

A group that is a whole class of some release shows nothing that this release does not, and one
that the new release does not change was judged before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from anonymizer.compile import Sql, ident, render
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import Problem
from anonymizer.ledger.compared import Compared
from anonymizer.ledger.entries import Entry
from anonymizer.ledger.facets import Facet
from anonymizer.ledger.known_rows import told_by_rows
from anonymizer.ledger.schemas import NEW, Schema
from anonymizer.ledger.tables import GROUPS, MEMBERS, NEW_MEMBERS, SERIES
from anonymizer.ledger.ways_out import possible_m, ways_out
from anonymizer.policy import Policy
from anonymizer.privacy.judge import merge_layers
from anonymizer.privacy.of_policy.registry import OF_TABLE, asked

Ask = Callable[[str, dict[str, Any]], list[tuple[Any, ...]]]


ABSENT = "persons who are not in all of them"
NEW_NUMBER = 2**31 - 1
"""The number of a new release that is not recorded."""


def group_series(
    engine: DuckDBEngine, numbers: Sequence[int], *, several: bool, new: int | None
) -> None:
    """Group the persons of the releases with these numbers, and of the new one, into `SERIES`."""
    context = {
        "series": SERIES,
        "members": NEW_MEMBERS,
        "old_members": MEMBERS,
        "numbers": tuple(numbers),
        "several": several,
        "new": new,
    }
    engine.execute(render("ledger/series.sql.j2", context), "ledger")


def of_the_same_persons(engine: DuckDBEngine, found: Sequence[Entry]) -> list[Entry]:
    """The releases with persons of the new one, with persons of these, and so on."""
    joined: dict[int, Entry] = {}
    known = f"select person from {ident(NEW_MEMBERS)}"
    while True:
        others = [entry for entry in found if entry.release not in joined]
        rows = engine.raw(
            f"select distinct release from {ident(MEMBERS)} where person in ({known})"
            f" and release in ({_listed(entry.release for entry in others)})",
            "ledger",
        )
        numbers = {int(number) for (number,) in rows}
        if not numbers:
            return [entry for entry in found if entry.release in joined]
        joined |= {entry.release: entry for entry in others if entry.release in numbers}
        known = f"select person from {ident(MEMBERS)} where release in ({_listed(numbers)})"


@dataclass(frozen=True, slots=True)
class Series:
    """Judges the groups that a new release and the earlier ones of its series expose."""

    engine: DuckDBEngine
    ask: Ask
    policy: Policy
    facets: Sequence[Facet]
    releases: Sequence[Compared]
    earlier: Sequence[Entry]
    schemas: Mapping[int, Schema]
    _: KW_ONLY
    number: int
    """The ledger's number of the new release."""
    k: int
    several: bool

    def problems(self) -> Iterator[Problem]:
        """Problems of persons who are in some releases, and not in others."""
        numbers = [entry.release for entry in self.earlier]
        group_series(self.engine, numbers, several=self.several, new=self.number)
        if not numbers:
            return
        context: dict[str, Any] = {"series": SERIES}
        persons, narrowed, fewest = self.ask("series_sizes", {**context, "k": self.k})[0]
        hint = self._hint(absent=persons > 0)
        if narrowed:
            said = (
                f"the differences of the releases tell {narrowed:,} of {persons:,} {ABSENT} apart,"
                f" in groups of fewer than {self.k} (fewest: {fewest})"
            )
            yield Problem("privacy.k_anonymity", said, hint=hint)
        for field in self._beyond() if persons else ():
            said = (
                f"cannot be judged for {persons:,} persons who are not in all releases: they are no"
                " whole class of any of them"
            )
            yield Problem(field, said, hint=hint)
        for facet in self.facets:
            if facet.rules:
                yield from self._values(facet, hint)
        if self.k > 1 and persons:
            known = {r.release: s for r in self.releases if (s := self.schemas.get(r.release))}
            context["releases"] = self.releases
            yield from told_by_rows(self.ask, self.releases, context, known, self.k, hint, ABSENT)

    def record(self) -> None:
        """Record the values of groups whose rules are judged by them: what the release tells of
        each group satisfies the rules. (The values of a class that are dealt to buckets do not.)
        """
        for facet in self.facets:
            if facet.rules and not facet.beyond and not facet.dealt:
                self.ask("group_values", self._context(facet))

    def _context(self, facet: Facet) -> dict[str, Any]:
        return {
            "series": SERIES,
            "members": NEW_MEMBERS,
            "groups": GROUPS,
            "facet": facet,
            "lines": self._lines(facet),
            "new": self.number,
        }

    def _values(self, facet: Facet, hint: str) -> Iterator[Problem]:
        layers = merge_layers(facet.rules, Sql("grp"))
        context = {
            **self._context(facet),
            "old_members": MEMBERS,
            "shows": self._shows(facet.column),
            "layers": tuple(tuple(layer.items()) for layer in layers),
            "holds": Sql(" and ".join(f"({rule.holds()})" for rule in facet.rules)),
        }
        persons, narrowed = self.ask("series_values", context)[0]
        if narrowed:
            said = (
                f"the differences of the releases show the values of {narrowed:,} of {persons:,}"
                " persons, in groups that break the rules of the column"
            )
            yield Problem(facet.path, said, hint=hint)

    def _hint(self, *, absent: bool) -> str:
        m = possible_m(self.engine, self.policy, self.facets, self.earlier)
        several = NEW in self.schemas
        return ways_out(self.policy, len(self.earlier), m=m, several=several, absent=absent)

    def _lines(self, facet: Facet) -> Sql:
        """The condition for members with values of a column."""
        if NEW not in self.schemas:
            return Sql("true")
        return Sql(
            "m.whole" if facet.rows is None else f"not m.whole and m.{facet.truth} is not null"
        )

    def _shows(self, column: str) -> tuple[int, ...]:
        """The earlier releases that show a protected column."""
        return tuple(
            entry.release
            for entry in self.earlier
            if column in entry.facets or entry.opens is None or column in entry.opens
        )

    def _beyond(self) -> Iterator[str]:
        """The requirements on values that equal values do not decide, by their paths."""
        for guarantee, _ in asked(OF_TABLE, self.policy.privacy):
            if guarantee.of_values or guarantee.of_population:
                yield guarantee.field
        for facet in self.facets:
            yield from (f"{facet.path}.protect.{name}" for name in facet.beyond)


def _listed(numbers: Any) -> str:
    return ", ".join(map(str, numbers)) or "null"
