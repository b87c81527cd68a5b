"""Bounds on the frequency of a value: alpha, beta-likeness, delta-disclosure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.contract.layout import Ask, Requirement, value_text
from anonymizer.guarantees.guarantee import Example, Flag, Guarantee, RuleInput
from anonymizer.guarantees.rule import (
    Rule,
    ShareRule,
    at_most,
    big,
    exp_at_most,
    fewest,
    share_of_known,
    within,
)
from anonymizer.guarantees.size import KAnonymity

# Alpha: no value takes more than a share alpha of a class; with k, (alpha,k)-anonymity.
#
# max_s n(E, s) / N <= alpha,  N = units of the class with a value
#
# for every value s, or for one declared value. Units: a share between 0 and 1. Source: Wong, Li,
# Fu, Wang, "(α,k)-anonymity" (2006), definitions 1 to 3. A class without any value does not hold.
# Exact (whole numbers).


@dataclass(frozen=True, slots=True)
class Alpha(Rule):
    """No value with a larger share of the class than `alpha`."""

    name: ClassVar[str] = "alpha"

    alpha: float
    only: Sql | None = None
    """SQL for the code of the one limited value (NULL if no row has it); None limits every
    value."""

    def holds(self) -> Sql:
        held = within(self._most, at_most(self.alpha), self.known_units)
        return Sql(f"({self.known_units} > 0 and {held})")

    def achieved(self) -> Sql:
        return share_of_known(self._most, self.known_units)

    @property
    def _most(self) -> str:
        declared = "" if self.only is None else f" and value = {self.only}"
        return f"coalesce(max(n) filter (where {self.counts}{declared}), 0)"


@dataclass(frozen=True, slots=True)
class AlphaOfK(Alpha):
    """The alpha of (alpha,k)-anonymity, which applies to the table and not to a column."""

    name: ClassVar[str] = "alpha_k"


def _chance(requirement: Requirement) -> float | None:
    declared = requirement.parameters.get("value") is not None
    return None if declared else float(requirement.parameters["alpha"])


def _rules_of_k(given: RuleInput) -> list[Rule]:
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
    # the one limited value, None for all
    computed=lambda r: {
        "only": None if (v := r.parameters.get("value")) is None else value_text(v)
    },
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


# Beta-likeness: no value is much more frequent in a class than in the table.
#
# (p_s - q_s)/q_s <= beta
#
# for every value s with p_s > q_s. Units: a relative gain. Source: Cao, Karras, "Publishing
# microdata with a robust privacy guarantee" (2012), definition 2.
#
# Shares p and q are taken among the non-NULL values of class and reference; a class without any
# value does not hold. Exact (whole numbers).


@dataclass(frozen=True, slots=True)
class BetaLikeness(ShareRule):
    """No value exceeds its share of the reference by a relative gain of more than `beta`."""

    name: ClassVar[str] = "beta_likeness"

    beta: float

    def holds(self) -> Sql:
        held = within(self._share_in_class, 1 + at_most(self.beta), self._share_in_reference)
        return Sql(f"coalesce(bool_and({held}) filter (where {self._counted_values}), false)")

    def achieved(self) -> Sql:
        gain = f"max({self._gain}) filter (where {self._counted_values})"
        return Sql(f"greatest(coalesce({gain}, {lit(math.inf)}), cast(0 as double))")

    @property
    def _gain(self) -> str:
        reference = self._share_in_reference
        return f"cast({self._share_in_class} - {reference} as double) / nullif({reference}, 0)"


BETA_LIKENESS = Guarantee(
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


# Delta-disclosure privacy: no value is much more, or much less, frequent than in the table.
#
# |ln(p_s / q_s)| < delta  for every value s of the reference
#
# strictly; a class that lacks a value fails. Units: natural logarithm of a ratio of shares. Source:
# Brickell, Shmatikov, "The cost of privacy" (2008), definition 3 (its logarithm read as natural).
#
# Shares are taken among the non-NULL values. A class without any value lacks them all, and does not
# hold. Decided without logarithms, as p < e^delta·q and q < e^delta·p in whole numbers, with
# e^delta to 18 digits, rounded down.


@dataclass(frozen=True, slots=True)
class DeltaDisclosure(ShareRule):
    """Every value's share of the class is within a factor e^delta of its share of the reference."""

    name: ClassVar[str] = "delta_disclosure"

    delta: float

    def holds(self) -> Sql:
        most = exp_at_most(self.delta)
        up, down = lit(most.numerator), lit(most.denominator)
        found, expected = big(self._share_in_class), big(self._share_in_reference)
        near = f"{found} * {down} < {expected} * {up} and {expected} * {down} < {found} * {up}"
        every = f"coalesce(bool_and({near}) filter (where {self._counted_values}), false)"
        return Sql(f"({self._complete} and {every})")

    def achieved(self) -> Sql:
        """Largest |ln(p_s / q_s)|; infinite for a class that lacks a value."""
        ratio = f"cast({self._share_in_class} as double) / nullif({self._share_in_reference}, 0)"
        largest = f"max(abs(ln(nullif({ratio}, 0)))) filter (where {self._counted_values})"
        return Sql(f"coalesce(case when {self._complete} then {largest} end, {lit(math.inf)})")

    @property
    def _complete(self) -> str:
        return f"count(*) filter (where {self._counted_values}) = {self.reference_values}"


DELTA_DISCLOSURE = Guarantee(
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
