"""Alpha: no value takes more than a share alpha of a class; with k, (alpha,k)-anonymity.

    max_s n(E, s) / N <= alpha,  N = units of the class with a value

for every value s, or for one declared value. Units: a share between 0 and 1. Source: Wong, Li, Fu,
Wang, "(α,k)-anonymity" (2006), definitions 1 to 3. A class without any value does not hold. Exact
(whole numbers).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.contract.ask import Ask
from anonymizer.contract.layout import Requirement
from anonymizer.contract.value_text import value_text
from anonymizer.privacy.exact import at_most, big, fewest, share_of_known
from anonymizer.privacy.guarantee import Example, Flag, Given, Guarantee
from anonymizer.privacy.k_anonymity import KAnonymity
from anonymizer.privacy.rule import Rule


@dataclass(frozen=True, slots=True)
class Alpha(Rule):
    """No value with a larger share of the class than `alpha`."""

    name: ClassVar[str] = "alpha"

    alpha: float
    only: Sql | None = None
    """SQL for the code of the one limited value (NULL if no row has it); None limits every
    value."""

    def holds(self) -> Sql:
        alpha = at_most(self.alpha)
        return Sql(
            f"({self.known} > 0 and {big(self._most)} * {lit(alpha.denominator)}"
            f" <= {big(self.known)} * {lit(alpha.numerator)})"
        )

    def achieved(self) -> Sql:
        return share_of_known(self._most, self.known)

    @property
    def _most(self) -> str:
        declared = "" if self.only is None else f" and value = {self.only}"
        return f"coalesce(max(n) filter (where {self.counts}{declared}), 0)"


@dataclass(frozen=True, slots=True)
class AlphaOfK(Alpha):
    """The alpha of (alpha,k)-anonymity, which applies to the table and not to a column."""

    name: ClassVar[str] = "alpha_k"


def _only(requirement: Requirement) -> Mapping[str, object]:
    """The one limited value, None for all."""
    only = requirement.parameters.get("value")
    return {"only": None if only is None else value_text(only)}


def _chance(requirement: Requirement) -> float | None:
    declared = requirement.parameters.get("value") is not None
    return None if declared else float(requirement.parameters["alpha"])


def _rules_of_k(given: Given) -> list[Rule]:
    alpha, value = given.value.alpha, given.value.value
    if given.column is None:
        return [KAnonymity(None, given.value.k)]
    if value is not None and given.declared is None:
        raise ValueError("alpha_k names a value: its code is needed")
    only = given.declared if value is not None else None
    return [AlphaOfK(given.column, alpha, only, null_as_value=given.null_as_value)]


ASK = Ask(
    "alpha",
    "largest share of a value (alpha)",
    upper={"bound": "alpha"},
    settings={"k": 0},
    computed=_only,
    reads=("value",),
    worst={"alpha": "greatest"},
)
GUARANTEES = (
    Guarantee(
        name="alpha",
        field="protect.alpha",
        parameter="alpha",
        family="protection",
        asks=(ASK,),
        rules=lambda given: [Alpha(given.column, given.value, null_as_value=given.null_as_value)],
        bucket_size=fewest,
        chance=_chance,
        says="No value of {column} has more than the share {alpha} of a {where}.",
        flags=(Flag("alpha", ("alpha",)),),
        docs=(
            "alpha (Wong et al. 2006) | `alpha: 0.5` | `alpha=0.5` | largest share ≤ alpha"
            " | share, less",
        ),
        examples=(Example(0.5, holds="ab bcca", fails="aab"),),
    ),
    Guarantee(
        name="alpha_k",
        field="privacy.alpha_k",
        family="share",
        asks=(
            replace(
                ASK,
                words="(alpha,k)-anonymity",
                given=("k",),
                settings={},
                worst={"alpha": "greatest", "k": "least"},
            ),
        ),
        rules=_rules_of_k,
        in_buckets=("k_anonymity", "alpha"),
        k=lambda value: int(value.k),
        chance=_chance,
        says="Every class has at least {k} {unit}, and no value of {column} more than the share"
        " {alpha} of one.",
        values=("value",),
        lists_values=lambda _: True,
        docs=(
            "(alpha,k) (Wong et al. 2006) | `alpha_k: {alpha: 0.5, k: 5}` | `alpha=0.5`, `k=5`"
            " | largest share ≤ alpha, units ≥ k | share, less; units, more",
        ),
        examples=(Example({"alpha": 0.5, "k": 3}, holds="abc bcca", fails="ab bcca"),),
    ),
)
