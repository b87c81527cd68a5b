"""Delta-disclosure privacy: no value is much more, or much less, frequent than in the table.

    |ln(p_s / q_s)| < delta  for every value s of the reference

strictly; a class that lacks a value fails. Units: natural logarithm of a ratio of shares. Source:
Brickell, Shmatikov, "The cost of privacy" (2008), definition 3 (its logarithm read as natural).

Shares are taken among the non-NULL values. A class without any value lacks them all, and does
not hold. Decided without logarithms, as p < e^delta·q and q < e^delta·p in whole numbers, with
e^delta to 18 digits, rounded down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.contract.ask import Ask
from anonymizer.privacy.exact import big, exp_at_most
from anonymizer.privacy.guarantee import Example, Flag, Guarantee
from anonymizer.privacy.rule import ShareRule


@dataclass(frozen=True, slots=True)
class DeltaDisclosure(ShareRule):
    """Every value's share of the class is within a factor e^delta of its share of the reference."""

    name: ClassVar[str] = "delta_disclosure"

    delta: float

    def holds(self) -> Sql:
        most = exp_at_most(self.delta)
        up, down = lit(most.numerator), lit(most.denominator)
        found, expected = big(self._found), big(self._expected)
        near = f"{found} * {down} < {expected} * {up} and {expected} * {down} < {found} * {up}"
        every = f"coalesce(bool_and({near}) filter (where {self._judged}), false)"
        return Sql(f"({self._complete} and {every})")

    def achieved(self) -> Sql:
        """Largest |ln(p_s / q_s)|; infinite for a class that lacks a value."""
        ratio = f"cast({self._found} as double) / nullif({self._expected}, 0)"
        largest = f"max(abs(ln(nullif({ratio}, 0)))) filter (where {self._judged})"
        return Sql(f"coalesce(case when {self._complete} then {largest} end, {lit(math.inf)})")

    @property
    def _complete(self) -> str:
        return f"count(*) filter (where {self._judged}) = {self.reference_values}"


GUARANTEE = Guarantee(
    name="delta_disclosure",
    field="protect.delta_disclosure",
    parameter="delta",
    family="protection",
    asks=(
        Ask(
            "delta_disclosure",
            "delta-disclosure",
            logarithms={"ratio": "delta"},
            worst="greatest",
        ),
    ),
    rules=lambda given: [
        DeltaDisclosure(given.column, given.value, null_as_value=given.null_as_value)
    ],
    says="The share of every value of {column} in a {where} differs from its share in the release"
    " by less than the factor exp({delta}).",
    flags=(Flag("delta_disclosure", ("delta",), ("delta",)),),
    docs=(
        r"delta-disclosure (Brickell and Shmatikov 2008) | `delta_disclosure: 1`"
        r" | `delta_disclosure=1` | \|ln(p/q)\| < delta for every value of the table"
        " | logarithm, less",
    ),
    examples=(Example(0.5, holds="ab abb", fails="aa abb"),),
)
