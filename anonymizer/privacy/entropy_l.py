"""Entropy l-diversity: the values of a class are spread as if over l equally frequent ones.

    exp(H(E)) >= l,  H(E) = -Σ p_s ln p_s,  p_s = n(E, s)/N,  N = Σ n(E, s)

decided as Σ n ln n <= N (ln N - ln l + 10^-12). Units: number of equally frequent values. Source:
Machanavajjhala et al. (2006), §4.

Natural logarithms are irrational, so a tie (exp(H) equal to l) is recognized up to 10^-12 in H: a
class passes if it reaches l up to a relative error of 10^-12. The verifiers allow as much. Every
term is a double of its own count, rounded to 12 decimals before the exact sum: the order of
summation makes no difference. A class without values has exp(H) = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.contract.ask import Ask
from anonymizer.privacy.exact import LARGEST
from anonymizer.privacy.guarantee import Example, Flag, Guarantee
from anonymizer.privacy.rule import Rule

TOLERANCE = 1e-12
"""Largest shortfall in H, in natural units, that counts as a tie."""


def least(l: float) -> int:
    """The fewest equally frequent values whose entropy reaches `l`, up to the tolerance."""
    return math.ceil(min(float(l), float(LARGEST)) * math.exp(-TOLERANCE))


@dataclass(frozen=True, slots=True)
class EntropyL(Rule):
    """Exponential of the entropy at least `l`."""

    name: ClassVar[str] = "entropy_l"

    l: float

    def holds(self) -> Sql:
        spare = lit(TOLERANCE - math.log(self.l))
        bound = f"{self._total} * (ln(nullif({self._total}, 0)) + {spare})"
        return Sql(f"coalesce({self._terms} <= cast({bound} as decimal(38, 12)), false)")

    def achieved(self) -> Sql:
        terms = f"cast({self._terms} as double) / nullif({self._total}, 0)"
        return Sql(f"coalesce(exp(ln(nullif({self._total}, 0)) - {terms}), cast(0 as double))")

    @property
    def _total(self) -> str:
        return f"cast({self.known} as double)"

    @property
    def _terms(self) -> str:
        term = "cast(cast(n as double) * ln(cast(n as double)) as decimal(38, 12))"
        return f"coalesce(sum(case when {self.counts} and n > 1 then {term} end), 0)"


GUARANTEE = Guarantee(
    name="entropy_l",
    field="protect.entropy_l",
    parameter="l",
    family="protection",
    asks=(Ask("entropy_l", "entropy l-diversity", given=("l",), worst="least"),),
    rules=lambda given: [EntropyL(given.column, given.value, null_as_value=given.null_as_value)],
    bucket_size=least,
    says="The values of {column} in every {where} are as mixed as {l} equally frequent ones.",
    flags=(Flag("entropy_l", ("l",)),),
    docs=("entropy l (same) | `entropy_l: 3` | `entropy_l=3` | exp(−Σ p ln p) ≥ l | values, more",),
    examples=(Example(2.0, holds="ab bc", fails="ab aab"),),
)
