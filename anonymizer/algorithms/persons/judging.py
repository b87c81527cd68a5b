"""Judges many groups of units in parallel: every rule on persons, exactly.

One statement decides by counts. Cases of EIR l-diversity that counts leave undecided are decided
by an exact search, so every group gets a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.persons.rules import HOLDINGS, PAIRS, SETS, PersonRules
from anonymizer.compile import Sql, Table, work
from anonymizer.privacy.hitting import has_hitting_set
from anonymizer.steps import Compute, Row, Step

OF_VALUES = ("different", "known_pairs", "known_records", "widest", "widest_records")
"""Figures on the values of a group that a screen may read, in addition to its reach."""


@dataclass(frozen=True, slots=True)
class Judging:
    """The groups of `asked` (grp, unit), judged into `verdicts` (grp, holds, fails) and `searched`.

    `searched` (grp) lists the groups that the search found to hold.
    """

    rules: PersonRules
    name: str = "asked"
    large: bool = False
    """Whether every group is known to have enough persons."""

    @property
    def asked(self) -> Table:
        return work(self.name)

    @property
    def verdicts(self) -> Table:
        return work(f"{self.name}_verdicts")

    @property
    def searched(self) -> Table:
        return work(f"{self.name}_searched")

    def steps(self) -> tuple[Step | Compute, ...]:
        """The statement, followed by the search for the groups that it leaves undecided."""
        judge = self.counts()
        return (judge, self._search(self.rules.hitting)) if self.rules.hitting else (judge,)

    def counts(self) -> Step:
        """The statement without the search."""
        context = {
            "asked": self.asked,
            "units": UNITS,
            "verdicts": self.verdicts,
            "least": self.rules.least,
            "large": self.large,
        }
        if self.rules.only_hitting:
            columns, l = len(self.rules.columns), self.rules.hitting
            context |= {"held_pairs": PAIRS, "l": l, "columns": columns}
            return Step("judge", "persons/judge_hitting.sql.j2", context)
        screen = self.rules.screen
        needed = screen.needed if screen else frozenset()
        of_values = [Sql(name) for name in OF_VALUES if name in needed]
        context |= {"holdings": HOLDINGS, "screen": screen, "needed": needed}
        return Step("judge", "persons/judge.sql.j2", {**context, "of_values": of_values})

    @property
    def passed(self) -> Mapping[str, Any]:
        """Parameters of `persons/_passed.sql.j2`, which lists the groups that hold."""
        searched = self.searched if self.rules.hitting else None
        return {"verdicts": self.verdicts, "searched": searched}

    def _search(self, l: int) -> Compute:
        def search(rows: list[Row]) -> list[Row]:
            """An exact search whether fewer than l values hit everybody in a group."""
            failed: set[int] = set()
            for group, _, sets in rows:
                if group not in failed and has_hitting_set(sets, l - 1):
                    failed.add(group)
            return [(group,) for group in {row[0] for row in rows} - failed]

        step = Step(
            "undecided groups",
            "persons/undecided.sql.j2",
            {"asked": self.asked, "verdicts": self.verdicts, "sets": SETS},
        )
        tables = (self.asked, self.verdicts, SETS)
        return Compute(
            step,
            search,
            self.searched,
            (("grp", "BIGINT"),),
            in_sql=searching(step, tables, "persons/search_groups.sql.j2", self.searched, l),
        )


def searching(
    undecided: Step, tables: tuple[Table, ...], template: str, searched: Table, l: int
) -> Callable[[], Step]:
    """The exact search, in SQL, for groups that the query `undecided` over `tables` returns."""

    def made() -> Step:
        asked = Sql(undecided.statement().text)
        own = {"asked": asked, "tables": tables, "searched": searched, "size": l - 1}
        return Step(undecided.name, template, own)

    return made
