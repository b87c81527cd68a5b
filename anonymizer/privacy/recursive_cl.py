"""Recursive (c,l)-diversity: the most frequent value does not outweigh the rarer ones.

    r_1 < c (r_l + r_(l+1) + … + r_m),  r_1 >= r_2 >= … the counts of the class's values

strictly, and false if the class has fewer than l values. Units: c is a ratio of counts. Source:
Machanavajjhala et al. (2006), §4. Exact (whole numbers).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.contract.ask import Ask
from anonymizer.privacy.exact import DIGITS, at_most, big
from anonymizer.privacy.guarantee import Example, Flag, Guarantee
from anonymizer.privacy.rule import Layers, Rule, layer, window


@dataclass(frozen=True, slots=True)
class RecursiveCL(Rule):
    """The most frequent value is below `c` times the total of those from the `l`-th on."""

    name: ClassVar[str] = "recursive_cl"

    c: float
    l: int

    def layers(self, part: Sql) -> Layers:
        # ties do not matter: only the counts of equally frequent values are used
        order = "n desc, value"
        over = window(part, f"({self.counts})", order=order)
        return (layer(**{self._rank: f"row_number() {over}"}),)

    def holds(self) -> Sql:
        c = at_most(self.c)
        return Sql(
            f"{big(self._most)} * {lit(c.denominator)} < {big(self._tail)} * {lit(c.numerator)}"
        )

    def achieved(self) -> Sql:
        """r_1 / (r_l + … + r_m), which c must exceed; infinite with fewer than l values."""
        ratio = f"cast({self._most} as double) / nullif(cast({self._tail} as double), 0)"
        return Sql(f"coalesce({ratio}, {lit(math.inf)})")

    @property
    def _rank(self) -> str:
        return "rank_by_count_with_null" if self.null_as_value else "rank_by_count"

    @property
    def _most(self) -> str:
        return f"coalesce(max(n) filter (where {self.counts}), 0)"

    @property
    def _tail(self) -> str:
        return f"coalesce(sum(n) filter (where {self.counts} and {self._rank} >= {lit(self.l)}), 0)"


def least(c: float) -> int:
    """The fewest values beyond l with which different values, each once, hold."""
    bound = at_most(c)
    return math.floor(1 / bound) if bound else 10**DIGITS


GUARANTEE = Guarantee(
    name="recursive_cl",
    field="protect.recursive_cl",
    family="protection",
    asks=(
        Ask(
            "recursive_cl",
            "recursive (c,l)-diversity",
            upper={"bound": "c"},
            given=("l",),
            constants=("l",),
            worst="greatest",
        ),
    ),
    rules=lambda given: [
        RecursiveCL(given.column, given.value.c, given.value.l, null_as_value=given.null_as_value)
    ],
    bucket_size=lambda value: (
        value.l + (math.floor(1 / c) if (c := at_most(value.c)) else 10**DIGITS)
    ),
    says="In every {where} the most frequent value of {column} is rarer than {c} times all from the"
    " {l}th most frequent on.",
    flags=(Flag("recursive_cl", ("c", "l")),),
    docs=(
        "recursive (c,l) (same) | `recursive_cl: {c: 4, l: 3}` | `recursive_cl=4/3`"
        " | r₁ < c·(r_l + … + r_m), counts r descending | c needed, less",
    ),
    examples=(Example({"c": 2.0, "l": 2}, holds="aaabc bc", fails="aab bc"),),
)
