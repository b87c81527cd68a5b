"""Delta-disclosure privacy: no value is much more, or much less, frequent than in the table.

    |ln(p_s / q_s)| < delta  for every value s of the reference

strictly; a class that lacks a value fails. Units: natural logarithm of a ratio of shares. Source:
Brickell, Shmatikov, "The cost of privacy" (2008), definition 3 (its logarithm read as natural).

Shares are taken among the non-NULL values. A class of NULLs only has no shares to compare, and
holds. Decided without logarithms, as p < e^delta·q and q < e^delta·p in whole numbers, with
e^delta to 12 digits, rounded down.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.privacy.exact import big, exp_at_most
from anonymizer.privacy.rule import Layers, Rule


@dataclass(frozen=True, slots=True)
class DeltaDisclosure(Rule):
    """Every value's share of the class is within a factor e^delta of that of the reference."""

    name: ClassVar[str] = "delta_disclosure"

    delta: float

    def required(self) -> Mapping[str, object]:
        return {"delta": self.delta}

    def layers(self, part: Sql) -> Layers:
        return (self.known_layer(part)[1],)

    def holds(self) -> Sql:
        most = exp_at_most(self.delta)
        up, down = lit(most.numerator), lit(most.denominator)
        found, expected = big(self._found), big(self._expected)
        near = f"{found} * {down} < {expected} * {up} and {expected} * {down} < {found} * {up}"
        every = f"coalesce(bool_and({near}) filter (where {self._present}), true)"
        return Sql(f"({self.known} = 0 or ({self._complete} and {every}))")

    def achieved(self) -> Sql:
        """Largest |ln(p_s / q_s)|; infinite for a class that lacks a value."""
        ratio = f"cast({self._found} as double) / nullif({self._expected}, 0)"
        largest = f"max(abs(ln(nullif({ratio}, 0)))) filter (where {self._present})"
        return Sql(
            f"case when {self.known} = 0 then cast(0 as double)"
            f" when {self._complete} then {largest} else {lit(math.inf)} end"
        )

    @property
    def _present(self) -> str:
        return f"{self.counts} and n > 0"

    @property
    def _complete(self) -> str:
        return f"count(*) filter (where {self._present}) = {self.reference_values}"

    @property
    def _found(self) -> str:
        return f"(n * {self.q_total})"

    @property
    def _expected(self) -> str:
        return f"(q * {'group_size' if self.null_as_value else 'group_known'})"
