"""Attacking a release of several tables: observers who know a class and some rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymizer.engines.base import Limits
from anonymizer.policy import SchemaPolicy
from anonymizer.policy.schema.derived import lead_of
from anonymizer.process.text import figure, table
from anonymizer.review.tables.observers import Observer, in_release, in_source
from anonymizer.review.tables.opening import open_tables
from anonymizer.review.with_source import release_file


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
