"""Judging many groups of units at once: every rule of the policy, exactly.

One statement decides by counts, histograms and screens. What it leaves open of EIR l-diversity,
an exact search decides; there is no third answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.algorithms.persons.rules import JudgedColumn
from anonymizer.algorithms.prepare import UNITS
from anonymizer.compile import Sql, Table, work
from anonymizer.plan import Compute, Row, Step
from anonymizer.privacy import has_hitting_set, merge_layers


@dataclass(frozen=True, slots=True)
class Judging:
    """The groups of `asked` (grp, unit), judged into `verdicts` (grp, holds) and `searched`."""

    columns: tuple[JudgedColumn, ...]
    least: int
    """Fewest units (persons) of a group."""
    asked: Table = work("asked")
    verdicts: Table = work("verdicts")
    searched: Table = work("searched")

    @property
    def searches(self) -> bool:
        """Whether there may be groups that the statement leaves open."""
        return any(not column.screen.decides for column in self.columns if column.screen)

    def steps(self) -> tuple[Step | Compute, ...]:
        """The statement, and the search of what it leaves open."""
        part = Sql("grp")
        parameters = {
            "asked": self.asked,
            "units": UNITS,
            "verdicts": self.verdicts,
            "least": self.least,
            "columns": [
                {
                    "number": column.index,
                    "holdings": column.holdings,
                    "cells": column.cells,
                    "reference": column.reference,
                    "lowest": column.lowest,
                    "screen": column.screen,
                    "dense": column.dense,
                    "layers": [
                        list(layer.items()) for layer in merge_layers(column.histogram, part)
                    ],
                    "holds": Sql(" and ".join(f"({r.holds()})" for r in column.histogram)),
                    "judged": bool(column.histogram),
                }
                for column in self.columns
            ],
            "reads": [
                table
                for column in self.columns
                for table in (column.holdings, column.cells, column.reference)
            ],
        }
        judge = Step("judge", "persons/judge.sql.j2", parameters)
        if not self.searches:
            return (judge,)
        return (judge, self._search())

    def passed(self) -> dict[str, Table | None]:
        """Parameters of `persons/_passed.sql.j2`, which lists the groups that hold."""
        return {
            "verdicts": self.verdicts,
            "searched": self.searched if self.searches else None,
        }

    def _search(self) -> Compute:
        open_columns = [c for c in self.columns if c.screen and not c.screen.decides]
        sizes = {c.index: c.screen.reach for c in open_columns if c.screen and c.screen.reach}

        def search(rows: list[Row]) -> list[Row]:
            """Whether fewer than l values meet everybody, searched exactly."""
            verdict: dict[int, bool] = {}
            for group, column, sets in rows:
                if verdict.get(group, True):
                    verdict[group] = not has_hitting_set(sets, sizes[column])
            return [(group, True) for group, holds in verdict.items() if holds]

        step = Step(
            "undecided groups",
            "persons/undecided.sql.j2",
            {
                "asked": self.asked,
                "verdicts": self.verdicts,
                "holdings": [c.holdings for c in open_columns],
                "columns": open_columns,
            },
        )
        return Compute(step, search, self.searched, (("grp", "BIGINT"), ("holds", "BOOLEAN")))


def with_additions(columns: Sequence[JudgedColumn]) -> tuple[JudgedColumn, ...]:
    """What is left to judge when persons are added to groups that hold everything."""
    left = (column.with_additions() for column in columns)
    return tuple(column for column in left if column.screen or column.histogram)
