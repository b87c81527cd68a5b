"""Alpha: no value takes more than a share alpha of a class; with k, (alpha,k)-anonymity.

    max_s n(E, s) / N <= alpha,  N = units of the class with a value

for every value s, or for one that is declared. Units: a share between 0 and 1. Source: Wong, Li,
Fu, Wang, "(α,k)-anonymity" (2006), definitions 1 to 3. A class of NULLs only has share 0. Exact
(whole numbers).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.privacy.exact import at_most, big, share
from anonymizer.privacy.rule import Rule


@dataclass(frozen=True, slots=True)
class Alpha(Rule):
    """No value with a larger share of the class than `alpha`."""

    name: ClassVar[str] = "alpha"

    alpha: float
    only: Sql | None = None
    """SQL for the code of the one value that is limited (NULL where no row has it); None limits
    every value."""

    def required(self) -> Mapping[str, object]:
        return {"alpha": self.alpha}

    def holds(self) -> Sql:
        alpha = at_most(self.alpha)
        return Sql(
            f"{big(self._most)} * {lit(alpha.denominator)}"
            f" <= {big(self.known)} * {lit(alpha.numerator)}"
        )

    def achieved(self) -> Sql:
        return share(self._most, self.known)

    @property
    def _most(self) -> str:
        declared = "" if self.only is None else f" and value = {self.only}"
        return f"coalesce(max(n) filter (where {self.counts}{declared}), 0)"


@dataclass(frozen=True, slots=True)
class AlphaOfK(Alpha):
    """The alpha of (alpha,k)-anonymity, which is asked of the table and not of a column."""

    name: ClassVar[str] = "alpha_k"
