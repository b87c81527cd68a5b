"""Compare releases: what an observer learns from all of them but from no single one."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from anonymizer.compile import Sql, Table, ident, render
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import Problem
from anonymizer.guarantees.requirements import OF_TABLE, required_guarantees
from anonymizer.guarantees.rule import all_hold, merge_layers
from anonymizer.ledger.entries import Entry
from anonymizer.ledger.matches import (
    FORGET,
    Findings,
    Place,
    ReleaseAlias,
    apart,
    classes_hold,
    matches_by_joined_rows,
    matches_by_rows,
    possible_m,
    ways_out,
)
from anonymizer.ledger.protected_columns import Facet, Mark
from anonymizer.ledger.record import NEW, Schema
from anonymizer.ledger.store import (
    GROUPS,
    MEMBERS,
    NEW_MEMBERS,
    NEW_SIGNATURES,
    SEEN,
    SERIES,
    SIGNATURES,
)
from anonymizer.policy import Policy
from anonymizer.process.text import many
from anonymizer.source.column_names import names_person

# What the differences of a series of releases tell of single groups of persons.
#
# Persons with the same class, or absence, in every release form a group. The differences show the
# values of a group, so its values have to satisfy the rules by themselves; and a group that is
# absent from a release has to hold k persons: they can then exchange their values, and nobody is
# told apart. Pairs of releases do not suffice, and neither do counts per class. Those who are in
# all releases are counted by their classes as well, in `compare`.
#
# A group that is a whole class of some release shows nothing that this release does not, and one
# that the new release does not change was judged before.


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
    engine.execute(render("ledger/series", context), "ledger")


def of_the_same_persons(
    engine: DuckDBEngine, found: Sequence[Entry], kept: Table = MEMBERS, new: Table = NEW_MEMBERS
) -> list[Entry]:
    """The releases with persons of the new one, with persons of these, and so on."""
    joined: dict[int, Entry] = {}
    known = f"select person from {ident(new)}"
    while True:
        others = [entry for entry in found if entry.release not in joined]
        rows = engine.raw(
            f"select distinct release from {ident(kept)} where person in ({known})"
            f" and release in ({_listed(entry.release for entry in others)})",
            "ledger",
        )
        numbers = {int(number) for (number,) in rows}
        if not numbers:
            return [entry for entry in found if entry.release in joined]
        joined |= {entry.release: entry for entry in others if entry.release in numbers}
        known = f"select person from {ident(kept)} where release in ({_listed(numbers)})"


@dataclass(frozen=True, slots=True)
class Series:
    """Judges the groups that a new release and the earlier ones of its series expose."""

    engine: DuckDBEngine
    ask: Ask
    policy: Policy
    facets: Sequence[Facet]
    releases: Sequence[ReleaseAlias]
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
        for beyond in self._beyond() if persons else ():
            said = (
                f"cannot be judged for {persons:,} persons who are not in all releases: they are no"
                " whole class of any of them"
            )
            yield Problem(beyond, said, hint=hint)
        for facet in self.facets:
            if facet.rules:
                yield from self._values(facet, hint)
        if self.k > 1 and persons:
            known = {r.release: s for r in self.releases if (s := self.schemas.get(r.release))}
            context["releases"] = self.releases
            yield from matches_by_rows(
                self.ask, self.releases, context, known, self.k, hint, ABSENT
            )

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
        context = {
            **self._context(facet),
            "old_members": MEMBERS,
            "shows": self._shows(facet.column),
            "layers": merge_layers(facet.rules, Sql("grp")),
            "holds": all_hold(facet.rules),
        }
        persons, narrowed = self.ask("series_values", context)[0]
        if narrowed:
            said = (
                f"the differences of the releases show the values of {narrowed:,} of {persons:,}"
                " persons, in groups that break the rules of the column"
            )
            yield Problem(facet.path, said, hint=hint)

    def _hint(self, *, absent: bool) -> str:
        of = (self.engine, self.policy, self.facets, self.earlier)
        m, holds, several = possible_m(*of), classes_hold(*of), NEW in self.schemas
        return ways_out(
            self.policy, len(self.earlier), m=m, holds=holds, several=several, absent=absent
        )

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
        for guarantee, _ in required_guarantees(OF_TABLE, self.policy.privacy):
            if guarantee.of_values or guarantee.of_population:
                yield guarantee.field
        for facet in self.facets:
            yield from (f"{facet.path}.protect.{name}" for name in facet.beyond)


def _listed(numbers: Any) -> str:
    return ", ".join(map(str, numbers)) or "null"


# Comparing releases: what an observer learns from all of them but from no single one.


CHANCE = 12
"""Coincidences of randomly drawn numbers: one is expected, twelve have odds of 10^-9."""
ODDS = 1e-6
"""Odds below which coinciding class numbers are not attributed to chance."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compares the new release, as gathered in scratch, with those of the attached ledger."""

    engine: DuckDBEngine
    policy: Policy
    facets: tuple[Facet, ...]
    marks: tuple[Mark, ...]
    several: bool
    k: int
    intersect: bool
    """True if the classes of releases may be intersected; not with m-invariance, which protects the
    value instead."""
    absent: frozenset[str] = frozenset()
    """Columns of members that the new release does not have."""
    schemas: Mapping[int, Schema] = field(default_factory=dict)
    """The releases of several tables by number, `NEW` among them."""
    shared: frozenset[int] = frozenset()
    """Marks that are not pseudonyms in the new release, by index."""
    opens: tuple[Mark, ...] = ()
    """The columns that the new release publishes as they are."""
    number: int = NEW_NUMBER
    """The ledger's number of the new release."""

    def run(self, earlier: Sequence[Entry]) -> Findings:
        found = Findings()
        joined = {entry.release for entry in earlier if self._joined(entry, found)}
        if self.intersect:
            found.problems += self._series(of_the_same_persons(self.engine, earlier)).problems()
        earlier = self._overlapping(earlier)
        found.releases = len(earlier)
        of = (self.engine, self.policy, self.facets, earlier)
        m, holds, of_several = possible_m(*of), classes_hold(*of), NEW in self.schemas
        found.hint = ways_out(self.policy, len(earlier), m=m, holds=holds, several=of_several)
        if not earlier:
            return found
        several = self.several or any(entry.several for entry in earlier)
        releases = (self._new(), *(self._old(i, e) for i, e in enumerate(earlier, start=1)))
        context = {
            "seen": SEEN,
            "series": None,
            "members": NEW_MEMBERS,
            "old_members": MEMBERS,
            "signatures": NEW_SIGNATURES,
            "old_signatures": SIGNATURES,
            "several": several,
            "releases": releases,
            "marked": any(release.marks for release in releases),
            "absent": self.absent,
        }
        self._ask("seen", context)
        if self.intersect and self.k > 1:
            self._candidates(context, found)
            several_tables = {r.release: s for r in releases if (s := self.schemas.get(r.release))}
            found.problems += matches_by_rows(
                self._ask, releases, context, several_tables, self.k, found.hint
            )
        else:
            found.persons = int(
                self.engine.raw(f"select count(*) from {ident(SEEN)}", "ledger")[0][0]
            )
        for facet in self.facets:
            other = next((entry for entry in earlier if entry.differs(facet)), None)
            if other is None:
                self._values(facet, releases, context, found)
            else:
                said = "has values of another type, or coarsened otherwise, in the release of run"
                said += f" {other.run_id}: which of them the two leave for a person cannot be"
                said += " counted"
                found.problems.append(Problem(facet.path, said, hint=SAME_FORM))
        for entry in earlier if self.opens else ():
            found.problems += matches_by_joined_rows(
                self._ask, entry, self.facets, self.opens, found.hint
            )
        self._numbers(earlier, context, found, joined)
        return found

    def _ask(self, template: str, context: dict[str, Any]) -> list[tuple[Any, ...]]:
        return self.engine.execute(render(f"ledger/{template}", context), "ledger")

    def _overlapping(self, earlier: Sequence[Entry]) -> list[Entry]:
        rows = self.engine.raw(
            f"select distinct release from {ident(MEMBERS)} where person in"
            f" (select person from {ident(NEW_MEMBERS)})",
            "ledger",
        )
        numbers = {int(row[0]) for row in rows}
        return [entry for entry in earlier if entry.release in numbers]

    def record_groups(self) -> None:
        """Record the values of the groups of persons that `run` has found."""
        if self.intersect:
            self._series(()).record()

    def _series(self, earlier: Sequence[Entry]) -> Series:
        """The persons of the new release and of earlier ones, as groups."""
        return Series(
            self.engine,
            self._ask,
            self.policy,
            self.facets,
            (self._new(), *(self._old(i, e) for i, e in enumerate(earlier, start=1))),
            earlier,
            self.schemas,
            number=self.number,
            k=self.k,
            several=self.several or any(entry.several for entry in earlier),
        )

    def _new(self) -> ReleaseAlias:
        places = tuple(Place(f, 0, NEW, f.place) for f in self.facets)
        return ReleaseAlias(0, NEW, places, pseudonyms=len(self.marks))

    def _old(self, at: int, entry: Entry) -> ReleaseAlias:
        places = tuple(
            Place(f, at, entry.release, entry.place(f.column))
            for f in self.facets
            if f.column in entry.facets
        )
        pairs = tuple((mark.index, there) for mark, there in self._pairs(entry))
        return ReleaseAlias(at, entry.release, places, pairs, len(entry.marks))

    def _candidates(self, context: dict[str, Any], found: Findings) -> None:
        persons, narrowed, fewest = self._ask("candidates", {**context, "k": self.k})[0]
        found.persons, found.candidates = persons, fewest
        if narrowed:
            found.problems.append(
                Problem(
                    "privacy.k_anonymity",
                    f"with the earlier releases {narrowed:,} of {persons:,} returning persons could"
                    f" be told apart down to fewer than {self.k} candidates (fewest: {fewest})",
                    hint=found.hint,
                )
            )

    def _values(
        self,
        facet: Facet,
        releases: Sequence[ReleaseAlias],
        context: dict[str, Any],
        found: Findings,
    ) -> None:
        places = [p for r in releases for p in r.places if p.facet is facet]
        if len(places) < 2:
            return
        first = f"{places[0].sets}.signature"
        common = first
        for place in places[1:]:
            common = f"list_intersect({common}, coalesce({place.sets}.signature, {first}))"
        persons, certain, narrowed, fewest = self._ask(
            "values",
            {
                **context,
                "releases": places,
                "facet": facet.column,
                "truth": facet.truth,
                "least": facet.least,
                "common": Sql(common),
            },
        )[0]
        found.values[facet.column] = fewest
        if narrowed:
            known = f", {certain} of them to the one value that must be theirs" if certain else ""
            found.problems.append(
                Problem(
                    facet.path,
                    f"with the earlier releases the values of {narrowed:,} of {persons:,} returning"
                    f" persons could be narrowed to fewer than {facet.least}{known}",
                    hint=found.hint,
                )
            )

    def _pairs(self, entry: Entry) -> Iterator[tuple[Mark, int]]:
        """Pseudonyms of the new release, each with its position in an earlier release."""
        for mark in self.marks:
            if mark.index not in self.shared:
                yield from ((mark, there) for there in entry.marked(mark))

    def _joined(self, entry: Entry, found: Findings) -> bool:
        """Return whether a join on a column that tells persons apart leaves too few candidates.

        The releases need not identify persons by the same key: they may be of different tables.
        """
        if self.k < 2:
            return False
        before = len(found.problems)
        for mark, there in self._pairs(entry):
            context = {
                "members": NEW_MEMBERS,
                "old_members": MEMBERS,
                "here": mark.index,
                "there": there,
                "release": entry.release,
                "named": names_person(mark.column),
                "k": self.k,
            }
            persons, narrowed, fewest = self._ask("joined", context)[0]
            if narrowed:
                said = (
                    f"tells persons apart here and in {entry.view} of run {entry.run_id}: joined"
                    f" on it, {narrowed:,} of {persons:,} persons who are in both are left with"
                    f" fewer than {self.k} candidates (fewest: {fewest})"
                )
                found.problems.append(
                    Problem(
                        mark.path,
                        said,
                        hint=f"{apart(self.policy, several=NEW in self.schemas)}, {FORGET}",
                    )
                )
        return len(found.problems) > before

    def _numbers(
        self,
        earlier: Sequence[Entry],
        context: dict[str, Any],
        found: Findings,
        joined: Collection[int],
    ) -> None:
        """Report shared numbers and pseudonyms; `joined`: releases with reported joins."""
        for row in self._ask("numbers", {**context, "k": max(2, self.k)}):
            release, numbers, classes, meetings, different, marked = row
            entry = next(e for e in earlier if e.release == release)
            if numbers > CHANCE:
                found.problems.append(_shared("person", "persons", numbers, entry))
            if _more_than_chance(classes, meetings, different):
                found.problems.append(_shared("publish", "classes", classes, entry))
            if marked and release not in joined:
                named = [m for m, _ in self._pairs(entry)]
                others = dict.fromkeys(m.column for m in named if m.column != named[0].column)
                names = ", ".join((named[0].path, *others))
                said = many(marked, "person has", "persons have")
                found.problems.append(
                    Problem(
                        names,
                        f"is nearly unique, and {said} a value that few others have"
                        " and that an earlier release shows: it works as a pseudonym",
                        hint="role drop, or new pseudonyms for every release",
                    )
                )


SAME_FORM = (
    "top_code, bottom_code, round and the type (a cast in source.query) as they were; or, if the"
    " earlier release reached nobody, `anonymizer ledger forget`"
)


def _more_than_chance(classes: int, meetings: int, different: int) -> bool:
    """Return whether more new classes than by chance have the earlier number of their persons.

    With numbers drawn anew, this happens for one in `different` of the `meetings` of a new class
    with an old one; the test is Chernoff's bound. Fewer than ten are not significant.
    """
    expected = meetings / max(different, 1)
    if classes <= expected:
        return False
    return classes * (1 + math.log(expected / classes)) - expected < math.log(ODDS)


def _shared(path: str, what: str, count: int, entry: Entry) -> Problem:
    said = f"{count} {what} have the same number as in the release of run {entry.run_id}"
    hint = "run without --seed-file, --test-seed and ANONYMIZER_SEED: numbers are drawn anew"
    return Problem(path, said, hint=hint)
