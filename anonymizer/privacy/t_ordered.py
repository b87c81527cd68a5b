"""t-closeness with ordered distance: values are as far apart as their ranks.

    D = 1/(m-1) Σ_i |Σ_(j<=i) (p_j - q_j)|,  D <= t;  D = 0 if m = 1

over the m categories of the reference in their order; NULL, where it occurs, is one of them and
the first. Units: between 0 and 1. Source: Li et al. (2007), §4.1. Exact: both sides times
(m-1)·N·Q are whole numbers. Needs a row for every value in every group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from anonymizer.compile import Sql
from anonymizer.privacy.rule import Layers, categories, layer, size_layer, window
from anonymizer.privacy.t_equal import TCloseness


@dataclass(frozen=True, slots=True)
class TOrdered(TCloseness):
    """t-closeness where distance is the difference of ranks."""

    distance: ClassVar[str] = "ordered"
    dense: ClassVar[bool] = True

    def layers(self, part: Sql) -> Layers:
        over = window(part, order="value", running=True)
        running = f"cast(sum(n * q_size - q * group_size) {over} as bigint)"
        return (size_layer(part), layer(running_surplus=running))

    @property
    def _moved(self) -> str:
        return "coalesce(sum(abs(running_surplus)), 0)"

    def by_runs(self) -> TOrderedByRuns:
        """The same rule, evaluated only over the values that occur in a group."""
        return TOrderedByRuns(self.column, self.t, null_as_value=self.null_as_value)

    @property
    def _scale(self) -> str:
        return f"({self._units} * (greatest({categories()}, 2) - 1))"


@dataclass(frozen=True, slots=True)
class TOrderedByRuns(TOrdered):
    """The same rule without rows for values that a group lacks.

    Between a value of the group and its next one, the group's cumulative share is constant. The sum
    over such a run is `run_area`, which a template computes from prefix sums of the reference:
    `place` (rank of the value), `upto` (units up to it) and `area` (the sum of `upto` so far).
    """

    dense: ClassVar[bool] = False

    def layers(self, part: Sql) -> Layers:
        over = window(part, order="value")
        return (
            size_layer(part),
            layer(
                running_n=f"cast(sum(n) {window(part, order='value', running=True)} as bigint)",
                previous_place=f"lag(place) {over}",
                next_place=f"lead(place) {over}",
                next_before=f"lead(area - upto) {over}",
            ),
        )

    @property
    def _moved(self) -> str:
        return "coalesce(sum(run_area), 0)"
