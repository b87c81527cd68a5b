"""Beta-likeness: no value is much more frequent in a class than in the table.

    (p_s - q_s)/q_s <= beta                        basic
    (p_s - q_s)/q_s <= min(beta, -ln q_s)          enhanced

for every value s with p_s > q_s. Units: a relative gain. Source: Cao, Karras, "Publishing
microdata with a robust privacy guarantee" (2012), definitions 2 and 3.

Shares p and q are taken among the non-NULL values of class and reference; a class without any
value does not hold. The basic form is exact (whole numbers). The enhanced one compares doubles of
single rows with a tolerance of 10^-12; q_s is rational and ln q_s is not, so there are no true
ties.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.contract.ask import Ask
from anonymizer.privacy.exact import at_most, big
from anonymizer.privacy.guarantee import Example, Flag, Guarantee
from anonymizer.privacy.rule import ShareRule

TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class BetaLikeness(ShareRule):
    """No value exceeds its share of the reference by a relative gain of more than `beta`."""

    name: ClassVar[str] = "beta_likeness"

    beta: float
    enhanced: bool = False

    def holds(self) -> Sql:
        most = 1 + at_most(self.beta)
        within = (
            f"{big(self._found)} * {lit(most.denominator)}"
            f" <= {big(self._expected)} * {lit(most.numerator)}"
        )
        if self.enhanced:
            q = f"cast(q as double) / {self.q_total}"
            within += (
                f" and ({self._found} <= {self._expected}"
                f" or {self._gain} <= {lit(TOLERANCE)} - ln(nullif({q}, 0)))"
            )
        return Sql(f"coalesce(bool_and({within}) filter (where {self._judged}), false)")

    def achieved(self) -> Sql:
        gain = f"max({self._gain}) filter (where {self._judged})"
        return Sql(f"greatest(coalesce({gain}, {lit(math.inf)}), cast(0 as double))")

    @property
    def _gain(self) -> str:
        return f"cast({self._found} - {self._expected} as double) / nullif({self._expected}, 0)"


GUARANTEE = Guarantee(
    name="beta_likeness",
    field="protect.beta_likeness",
    parameter="beta",
    family="protection",
    asks=(Ask("beta_likeness", "beta-likeness", upper={"bound": "beta"}, worst="greatest"),),
    rules=lambda given: [
        BetaLikeness(given.column, given.value, null_as_value=given.null_as_value)
    ],
    says="No value of {column} becomes more than {beta} times likelier by knowing the {where}.",
    flags=(Flag("beta_likeness", ("beta",), ("beta",)),),
    docs=(
        "beta-likeness (Cao and Karras 2012) | `beta_likeness: 1` | `beta_likeness=1`"
        " | (p−q)/q ≤ beta for every value | factor, less",
    ),
    examples=(Example(0.5, holds="ab abb", fails="aa abb"),),
)
