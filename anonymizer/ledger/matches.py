"""Rows of two releases joined on columns that only together tell them apart.

The classes of a person in both, and the columns that both publish as they are, show which rows may
be the person's: fewer than the persons of either class. What these rows show is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anonymizer.compile import NumberedColumn, Sql, ident, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import Problem
from anonymizer.guarantees.requirements import least_class
from anonymizer.ledger.entries import Entry
from anonymizer.ledger.protected_columns import CLASS, Facet, Mark
from anonymizer.ledger.record import Schema, found_by_key, not_found_again
from anonymizer.ledger.store import MEMBERS, NEW_MEMBERS, NEW_ROWS, ROWS, SIGNATURES
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.policy.checks import crosscheck
from anonymizer.policy.checks.release_options import NOBODY_KNOWN
from anonymizer.policy.paths import column_path, table_path
from anonymizer.policy.publish import Republish
from anonymizer.release.certificate import published_as_it_is

# What a policy can do about releases that tell too much together: only what it can have.


FORGET = "if the earlier release reached nobody, `anonymizer ledger forget`"
WAIT = (
    "wait, in source.query: leave new rows out and rows that have gone in, until enough of one"
    " class come or go"
)
KEEP = "publish nothing and keep the earlier release"


def ways_out(
    policy: Policy,
    earlier: int,
    *,
    m: int = 0,
    holds: bool = True,
    several: bool = False,
    absent: bool = False,
) -> str:
    """The hint for releases that tell too much together.

    `earlier`: the number of earlier releases of these persons; `m`: that of `possible_m`;
    `holds`: that of `classes_hold`;
    `several`: whether the release has several tables; `absent`: whether it is about persons who are
    not in all releases.
    """
    ways = [KEEP]
    if absent:
        ways.append(WAIT)
    continued = [] if several or earlier != 1 else _continued(policy, m, holds=holds)
    if continued:
        ways.append(f"republish: {' or '.join(continued)}")
    if not policy.continues:
        ways.append("coarser classes")
    if policy.ledger is not None:
        ways.append(f"or, {FORGET}")
    return "; ".join(ways)


def _continued(policy: Policy, m: int = 0, *, holds: bool = True, named: bool = True) -> list[str]:
    """The ways to continue one earlier release; later ones have split its classes.

    `named`: whether a policy that cannot have them for want of a key has none.
    """
    if policy.continues or policy.privacy.populations:
        return []
    options = {f"{{m: {m}}}": Republish(m=m)} if m else {}
    if holds:
        options["{append_only: true}"] = Republish(append_only=True)
        options["{follow: true}"] = Republish(follow=True)
    return [
        text
        for text, option in options.items()
        if all(
            not named and problem.message == NOBODY_KNOWN
            for problem in crosscheck(policy.model_copy(update={"republish": option}))
        )
    ]


def first_of_series(policy: AnyPolicy, view: str) -> Iterator[str]:
    """A warning for the first release of a view under a ledger, if its policy says nothing of later
    ones and could: what of it later runs cannot change.
    """
    if policy.several or policy.counts is not None:
        return
    policy = policy.lead
    ways = _continued(policy, named=False)
    if not ways:
        return
    option = f"republish: {ways[-1]}"
    first = f"this is the first release of {view} under this ledger, and the policy has no"
    if policy.key is None and policy.person is None:
        yield (
            f"{first} key and person: a row that changes is another person then, and neither a key"
            f" nor {option} can be added to this series later; begin with one if the table is"
            " released again"
        )
    else:
        yield (
            f"{first} republish: the next run cuts all classes anew, and is refused as a rule if"
            f" somebody has joined or left. {option} keeps the classes; the next run can begin with"
            " it, by the same key, and with no stricter k and rules of columns than now"
        )


def possible_m(
    engine: DuckDBEngine, policy: Policy, facets: Sequence[Facet], earlier: Sequence[Entry]
) -> int:
    """The m with which m-invariant releases can continue an earlier one; 0 if none can.

    Its classes have to have m values, and m is at least k and l.
    """
    if len(earlier) != 1 or len(facets) != 1:
        return 0
    known = "len(list_distinct(list_filter(signature, lambda v: v is not null)))"
    fewest = engine.raw(
        f"select coalesce(min({known}), 0) from {ident(SIGNATURES)}"
        f" where release = {lit(earlier[0].release)} and facet = {lit(facets[0].column)}",
        "ledger",
    )[0][0]
    m = max(2, least_class(policy), facets[0].least)
    return m if fewest >= m else 0


def classes_hold(
    engine: DuckDBEngine, policy: Policy, facets: Sequence[Facet], earlier: Sequence[Entry]
) -> bool:
    """Return whether the classes of the only earlier release are as large and diverse as the policy
    asks for, so that releases can continue them.
    """
    if len(earlier) != 1:
        return False
    (entry,) = earlier
    ruled = [facet for facet in facets if facet.rules]
    scopes = dict(zip(entry.facets, entry.scopes, strict=True))
    if any(scopes.get(facet.column) != CLASS for facet in ruled):
        return False
    asked = ", ".join(f"({lit(f.column)}, {lit(f.least)})" for f in ruled) or "(null, 0)"
    return not engine.raw(
        f"select 1 from (select count(distinct person) as n from {ident(MEMBERS)}"
        f" where release = {lit(entry.release)} group by class_id)"
        f" where n < {lit(least_class(policy))}"
        f" union all select 1 from {ident(SIGNATURES)} s join (values {asked}) a(facet, least)"
        f" on a.facet = s.facet where s.release = {lit(entry.release)}"
        " and len(list_distinct(s.signature)) < a.least limit 1",
        "ledger",
    )


def apart(policy: Policy, *, several: bool = False) -> str:
    """The hint for a column that tells persons apart in releases of different tables: what can be
    done about it, up to the last alternative.
    """
    alone = several or policy.engine != "duckdb"
    return f"role drop; {'' if alone else 'release the tables together (tables:); '}or"


# Releases in a comparison: their groups and numbers, and the findings.


@dataclass(frozen=True, slots=True)
class Place:
    """A facet in one release, with its column of groups."""

    facet: Facet
    at: int
    release: int
    """The ledger's number of the release."""
    group: Sql
    """The release's group of a member."""

    @property
    def g(self) -> Sql:
        return Sql(f"g_{self.facet.index}")

    @property
    def column(self) -> Sql:
        return Sql(f"g{self.at}_{self.facet.index}")

    @property
    def truth(self) -> Sql:
        return self.facet.truth

    sets = NumberedColumn("sets_", "at")
    own = NumberedColumn("own_", "at")


@dataclass(frozen=True, slots=True)
class ReleaseAlias:
    """One of the compared releases; number 0 is the new one."""

    at: int
    release: int
    places: tuple[Place, ...]
    marks: tuple[tuple[int, int], ...] = ()
    """Positions of the same column among the new pseudonyms and among this release's."""
    pseudonyms: int = 0

    alias = NumberedColumn("r", "at")
    c = NumberedColumn("c", "at")
    n = NumberedColumn("n", "at")
    m = NumberedColumn("m", "at")
    p = NumberedColumn("p", "at")
    e = NumberedColumn("e", "at")
    sizes = NumberedColumn("sizes_", "at")


@dataclass(slots=True)
class Findings:
    """Counts of persons, and the resulting problems."""

    releases: int = 0
    """Earlier releases that contain persons of the new one."""
    persons: int = 0
    """Persons of the new release who are also in an earlier one."""
    candidates: int | None = None
    """Fewest candidates left for a person by the classes of all releases."""
    values: dict[str, int | None] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    hint: str = ""
    """The ways out of the problems."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "earlier_releases": self.releases,
            "returning_persons": self.persons,
            "fewest_candidates": self.candidates,
        }


# Columns that identify persons in releases of different tables, which can be joined on them.


def joined_by_name(policy: AnyPolicy, view: str, earlier: Iterable[Entry]) -> Iterator[Problem]:
    """Columns that identify persons both in this release and in an earlier one.

    Tables with different persons cannot be compared person by person, so columns match by name.
    """
    known = list(earlier)
    for path, name in _unacknowledged(policy):
        views = sorted({entry.view for entry in known if name in entry.marks} - {view})
        if views:
            listed = ", ".join(views)
            said = f"tells persons apart in a release of the ledger ({listed}): joined on it,"
            said += " the rows of a person stand side by side, and k holds for neither"
            ways = apart(policy.lead, several=policy.several)
            hint = f"{ways}, for a join that leaves k persons, acknowledge_unique: true"
            yield Problem(path, said, hint=hint)


def _unacknowledged(of: AnyPolicy) -> Iterator[tuple[str, str]]:
    """Columns published unchanged that are not acknowledged as unique: path and name."""
    further = ((table_path(name, "columns"), one) for name, one in of.further.items())
    for path, policy in (("columns", of.lead), *further):
        for name, column in policy.columns.items():
            if published_as_it_is(policy, name) and not column.acknowledge_unique:
                yield f"{path}.{name}", name


# What releases of several tables disclose together to an observer who knows rows of a person.


KNOWN = {1: "one known event", 2: "two known events", 3: "three known events"}


Ask = Callable[[str, dict[str, Any]], list[tuple[Any, ...]]]


def matches_by_rows(
    ask: Ask,
    releases: Sequence[ReleaseAlias],
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


def matches_by_joined_rows(
    ask: Ask, entry: Entry, facets: Sequence[Facet], opens: Sequence[Mark], ways_out: str
) -> Iterator[Problem]:
    """Disclosure of a protected column's values by a join of the new release with an earlier one.

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
