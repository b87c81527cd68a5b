"""The context of building a hierarchy: number, type and policy path of the quasi-identifier."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from anonymizer.compile import Sql, Table, work
from anonymizer.errors import InfeasibleError, Problem
from anonymizer.hierarchy.scale import Scale
from anonymizer.hierarchy.scale_of_type import scale_of
from anonymizer.policy.paths import column_path
from anonymizer.process.text import many
from anonymizer.steps import Guard, Step

FOLDER = "hierarchy"


@dataclass(frozen=True, slots=True)
class Place:
    """One quasi-identifier whose hierarchy is built."""

    index: int
    column: str
    sql_type: str

    @property
    def path(self) -> str:
        """The path of its hierarchy in the policy."""
        return column_path(self.column, "hierarchy")

    @property
    def values(self) -> Table:
        return self.table("values")

    @property
    def hierarchy(self) -> Table:
        return self.table("hierarchy")

    @property
    def scale(self) -> Scale | None:
        """The line on which its values lie; None for types whose values have no distances."""
        return scale_of(self.sql_type)

    def table(self, name: str) -> Table:
        """A work table of this hierarchy."""
        return work(f"{name}_{self.index}")

    def step(self, template: str, **parameters: object) -> Step:
        return Step(f"hierarchy_{self.index}.{template}", f"{FOLDER}/{template}.sql.j2", parameters)

    def guard(
        self,
        template: str,
        parameters: Mapping[str, object],
        explain: Callable[[tuple[Any, ...]], Problem],
    ) -> Guard:
        return Guard(self.step(template, **parameters), explain, InfeasibleError)

    def refuse_values(self, condition: Sql, what: str, hint: str) -> Guard:
        """Stop if values satisfy `condition`; `what` completes "N distinct values (M rows)"."""

        def explain(row: tuple[Any, ...]) -> Problem:
            return Problem(self.path, f"{counted(row[0], row[1])} {what}", hint=hint)

        return self.guard("guard_values", {"values": self.values, "condition": condition}, explain)


def counted(values: int, rows: int) -> str:
    """Counts as text: `1 distinct value (12 rows)`."""
    return f"{many(values, 'distinct value')} ({many(rows, 'row')})"
