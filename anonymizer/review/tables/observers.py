"""Observers who know a person's class and some rows: how many candidates remain for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from anonymizer.compile import Sql, render
from anonymizer.contract.checks import RunSql
from anonymizer.contract.columns import cell_parts, quasi
from anonymizer.contract.tables import Tables
from anonymizer.engines.base import Limits
from anonymizer.measure.proofs import linked_rows
from anonymizer.measure.steps import about, about_share
from anonymizer.policy import SchemaPolicy
from anonymizer.policy.schema.derived import lead_of
from anonymizer.process.text import figure, table
from anonymizer.review.tables.opening import open_tables
from anonymizer.review.with_source import release_file
from anonymizer.run.tables import TablesRead
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.verification.tables import Where, owned_parameters

ONE, TWO, ROWS = "one event", "two events", "the number of rows"
"""Observers against whom a policy may guarantee something."""
LINKED = ("one event, and the rows above it", "two events, and how their rows belong together")
"""Observers who know how published keys join rows; nothing is guaranteed against them."""
OPEN = {
    who: f"Nothing is promised against somebody who knows {knows}"
    for who, knows in {
        ONE: "a single event of a person (privacy: {knows: {events: 1}} does)",
        TWO: "two events of a person (privacy: {knows: {events: 2}} does)",
        ROWS: "how many rows a person has (privacy: {knows: {rows: true}} does)",
        **{knows: f"{knows} (published keys join them)" for knows in LINKED},
    }.items()
}
"""Sentences on observers against whom nothing is promised, and what would promise something."""
NOTHING = "nothing else"
"""The observer who knows the class only."""
UNCLASSED = ", not the quasi-identifiers"
"""Suffix for the knowledge of an observer who does not know the class."""


@dataclass(frozen=True, slots=True)
class Observer:
    """The candidates that an observer with this knowledge is left with."""

    knows: str
    """Known in addition to the class, unless noted otherwise."""
    persons: int
    alone: int
    """Persons without any other candidate."""
    below: int
    """Persons with fewer than k candidates."""
    fewest: int
    """Fewest candidates for a person."""
    found: float
    """Expected share of persons found: the mean of 1 / number of candidates."""
    promised: bool = False
    """Whether the release guarantees k candidates against this observer."""

    @property
    def holds(self) -> bool:
        return not (self.promised and self.below)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "holds": self.holds}

    def rounded(self) -> Observer:
        """The same in round figures, for a report that is handed on: of a source, they depend on
        hidden values. Exact are the number of persons, and the fewest candidates, as in the
        report of one table.
        """
        return replace(
            self,
            alone=about(self.alone),
            below=about(self.below),
            found=about_share(self.found, self.persons),
        )


def in_release(run_sql: RunSql, tables: Tables, where: Where) -> tuple[Observer, ...]:
    """The observers of a release, from its published tables alone."""
    shown = {
        one.table: [part for column in quasi(one.layout) for part in cell_parts(column)]
        for one in tables.children
    }
    parameters = {**owned_parameters(tables, where, shown), "source": False, "quasi": []}
    linked = map(_observer, linked_rows(run_sql, tables, where))
    return (*_of_release(run_sql, tables, parameters), *linked)


def in_source(run_sql: RunSql, tables: Tables, read: TablesRead) -> tuple[Observer, ...]:
    """The observers of the tables as read; classes are equal quasi-identifiers."""
    return _of_release(run_sql, tables, _read(read))


def _of_release(
    run_sql: RunSql, tables: Tables, parameters: dict[str, Any]
) -> tuple[Observer, ...]:
    """The observers whose knowledge the tables contain."""
    if not tables.children:
        return ()
    events = any(table["shown"] for table in parameters["tables"])
    return tuple(
        replace(one, promised=_promised(tables, one.knows))
        for one in _observers(run_sql, tables.k, parameters)
        if events or one.knows == ROWS
    )


def of_source(run_sql: RunSql, k: int, read: TablesRead) -> tuple[Observer, ...]:
    """The observers of a source, including those who know only the class, or only the rows.

    Nothing is guaranteed. Observers of events are left out if there is no event column.
    """
    asked = {NOTHING, ROWS} if read.children else {NOTHING}
    every = any(child.attributes for child in read.children)
    rows_alone = [
        replace(one, knows=one.knows + UNCLASSED)
        for one in _observers(run_sql, k, {**_read(read), "quasi": [Sql("1")]})
        if one.knows in ((ONE, TWO, ROWS) if every else asked - {NOTHING})
    ]
    classed = [
        one
        for one in _observers(run_sql, k, {**_read(read), "alone": True})
        if every or one.knows in asked
    ]
    return tuple(sorted((*rows_alone, *classed), key=lambda one: one.knows.endswith(UNCLASSED)))


def _read(read: TablesRead) -> dict[str, Any]:
    children = read.children
    return {
        "persons": SNAPSHOT,
        "published": [child.kept for child in children],
        "tables": [
            {
                "number": child.number,
                "data": child.kept,
                "shown": [a.q.text for a in child.attributes],
            }
            for child in children
        ],
        "quasi": [a.q for a in read.persons.roles.quasi],
        "source": True,
    }


def _observers(run_sql: RunSql, k: int, parameters: dict[str, Any]) -> tuple[Observer, ...]:
    text = render("attack/observers.sql.j2", {"alone": False, **parameters, "k": k}).text
    return tuple(map(_observer, run_sql(text)))


def _observer(row: tuple[Any, ...]) -> Observer:
    knows, persons, alone, below, fewest, found = row
    return Observer(knows, persons, alone, below, fewest, float(found))


def _promised(tables: Tables, knows: str) -> bool:
    promised = {ONE: tables.events >= 1, TWO: tables.events >= 2, ROWS: tables.rows}
    return promised.get(knows, False)


@dataclass(frozen=True, slots=True)
class TablesAttack:
    """The candidates that observers are left with, before and after."""

    view: str
    k: int
    after: tuple[Observer, ...]
    before: tuple[Observer, ...] = ()
    """The same for the source tables, if they are available."""

    @property
    def holds(self) -> bool:
        """Whether every guarantee against an observer holds."""
        return all(observer.holds for observer in self.after)

    def as_dict(self) -> dict[str, Any]:
        return {
            "view": self.view,
            "k": self.k,
            "holds": self.holds,
            "observers": [observer.as_dict() for observer in self.after],
            "before": [observer.as_dict() for observer in self.before] or None,
        }

    def lines(self) -> Iterator[str]:
        """The figures as text."""
        yield f"{self.view}: persons found by somebody who knows their class and, besides,"
        yield ""
        earlier = {observer.knows: observer for observer in self.before}
        heads = ("known", "alone", f"below {self.k}", "fewest left", "promised")
        rows = []
        for observer in self.after:
            was = earlier.get(observer.knows)
            promised = f"{self.k} left" if observer.promised else "-"
            rows.append(
                (
                    observer.knows,
                    _both(was.alone if was else None, observer.alone),
                    _both(was.below if was else None, observer.below),
                    _both(was.fewest if was else None, observer.fewest),
                    promised,
                )
            )
        yield from table(heads, rows)
        yield ""
        if self.before:
            yield "before -> after; before, classes are persons with equal quasi-identifiers"
        yield "no promised bound was passed" if self.holds else "A PROMISED BOUND WAS PASSED"


def _both(before: int | None, after: int) -> str:
    return figure(after) if before is None else f"{figure(before)} -> {figure(after)}"


def attack_tables(
    policy: SchemaPolicy,
    source: str | Path | None = None,
    *,
    release: str | Path | None = None,
    limits: Limits | None = None,
) -> TablesAttack:
    """Evaluate the observers of `review.tables.observers` against the release of `policy`.

    `source`: the database of its tables, for the figures before. Raises NothingToCheckError if
    there is no release.
    """
    path = release_file(lead_of(policy), release, source, "--release")
    with open_tables(policy, path, source, limits, "--release") as found:
        run_sql = found.engine.asking("attack")
        before = in_source(run_sql, found.tables, found.read) if found.read is not None else ()
        return TablesAttack(
            str(found.manifest.data["view"]),
            found.tables.k,
            in_release(run_sql, found.tables, found.where),
            before,
        )
