"""l-diversity: distinct, entropy, recursive, by security levels, and m-uniqueness."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.contract.layout import Ask, Requirement, value_text
from anonymizer.guarantees.guarantee import Example, Flag, Guarantee
from anonymizer.guarantees.rule import DIGITS, LARGEST, Layers, Rule, at_most, big, layer, window
from anonymizer.policy import Policy
from anonymizer.policy.privacy import Protect

# Distinct l-diversity: at least l different values in every class.
#
# |{s : n(E, s) > 0}| >= l
#
# Units: number of different values. Source: Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam,
# "l-Diversity: privacy beyond k-anonymity" (2006), §4. A NULL is no value: a class of NULLs only
# has l = 0. Exact (whole numbers).


@dataclass(frozen=True, slots=True)
class DistinctL(Rule):
    """At least `l` different values."""

    name: ClassVar[str] = "distinct_l"
    upward: ClassVar[bool] = True

    l: int

    def holds(self) -> Sql:
        return Sql(f"{self.achieved()} >= {lit(self.l)}")

    def achieved(self) -> Sql:
        return Sql(f"count(*) filter (where {self.counts} and n > 0)")


UNIQUE = Ask(
    "bucket_unique",
    "how often a value may stand in a bucket",
    name="bucket_unique",
    share=1,
    settings={"person": None, "nulls_count": False},
    worst="greatest",
    scopes=("bucket",),
)
"""No value twice in a bucket (Li and He 2022, Corollary 2), or in a class (m-uniqueness)."""


def _chance(requirement: Requirement) -> float | None:
    """The bound on the probability of a value.

    None in a class, where one value may be frequent; 1/l in a bucket, where each occurs once, and
    in a group, where each has a share of at most 1/l.
    """
    return None if requirement.scope == "class" else 1 / int(requirement.parameters["l"])


DISTINCT_L = Guarantee(
    name="distinct_l",
    field="protect.l_diversity",
    parameter="l",
    family="protection",
    asks=(
        Ask(
            "distinct_l",
            "distinct l-diversity",
            given=("l",),
            worst="least",
            scopes=("class", "bucket"),
        ),
        Ask(
            "level_l",
            share=1,
            constants=("l",),
            # all values of a group have one level with the same l, so share * l <= 1
            computed=lambda r: {"levels": (), "default": r.parameters["l"]},
            worst="greatest",
            scopes=("group",),
        ),
        UNIQUE,
    ),
    rules=lambda given: [DistinctL(given.column, given.value, null_as_value=given.null_as_value)],
    bucket_size=int,
    chance=_chance,
    says="Every {where} holds at least {l} different values of {column}.",
    flags=(Flag("distinct_l", ("l",), ("l", "l_diversity")),),
    docs=(
        "distinct l (Machanavajjhala et al. 2006) | `l_diversity: 3` | `l=3`"
        " | different values ≥ l | values, more",
    ),
    examples=(Example(2, holds="ab bc.", fails="ab b."),),
)


# Entropy l-diversity: the values of a class are spread as if over l equally frequent ones.
#
# exp(H(E)) >= l,  H(E) = -Σ p_s ln p_s,  p_s = n(E, s)/N,  N = Σ n(E, s)
#
# decided as Σ n ln n <= N (ln N - ln l + 10^-12). Units: number of equally frequent values. Source:
# Machanavajjhala et al. (2006), §4.
#
# Natural logarithms are irrational, so a tie (exp(H) equal to l) is recognized up to 10^-12 in H: a
# class passes if it reaches l up to a relative error of 10^-12. The verifiers allow as much. Every
# term is a double of its own count, rounded to 12 decimals before the exact sum: the order of
# summation makes no difference. A class without values has exp(H) = 0.


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
        spare = f"{lit(TOLERANCE)} - {lit(math.log(self.l))}"
        bound = f"{self._total} * (ln(nullif({self._total}, 0)) + ({spare}))"
        return Sql(f"coalesce({self._terms} <= cast({bound} as decimal(38, 12)), false)")

    def achieved(self) -> Sql:
        terms = f"cast({self._terms} as double) / nullif({self._total}, 0)"
        return Sql(f"coalesce(exp(ln(nullif({self._total}, 0)) - {terms}), cast(0 as double))")

    @property
    def _total(self) -> str:
        return f"cast({self.known_units} as double)"

    @property
    def _terms(self) -> str:
        term = "cast(cast(n as double) * ln(cast(n as double)) as decimal(38, 12))"
        return f"coalesce(sum(case when {self.counts} and n > 1 then {term} end), 0)"


ENTROPY_L = Guarantee(
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


# Recursive (c,l)-diversity: the most frequent value does not outweigh the rarer ones.
#
# r_1 < c (r_l + r_(l+1) + … + r_m),  r_1 >= r_2 >= … the counts of the class's values
#
# strictly, and false if the class has fewer than l values. Units: c is a ratio of counts. Source:
# Machanavajjhala et al. (2006), §4. Exact (whole numbers).


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


def recursive_cl_least(c: float) -> int:
    """The fewest values beyond l with which different values, each once, hold."""
    bound = at_most(c)
    return math.floor(1 / bound) if bound else 10**DIGITS


RECURSIVE_CL = Guarantee(
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
    bucket_size=lambda value: value.l + recursive_cl_least(value.c),
    says="In every {where} the most frequent value of {column} is rarer than {c} times all from the"
    " {l}th most frequent on.",
    flags=(Flag("recursive_cl", ("c", "l")),),
    docs=(
        "recursive (c,l) (same) | `recursive_cl: {c: 4, l: 3}` | `recursive_cl=4/3`"
        " | r₁ < c·(r_l + … + r_m), counts r descending | c needed, less",
    ),
    examples=(Example({"c": 2.0, "l": 2}, holds="aaabc bc", fails="aab bc"),),
)


# L_sl-diversity: a value of a higher security level must have a smaller share of its class.
#
# n(E, s) / N <= 1/l_lv(s)  for every value s of level lv(s), i.e.  n(E, s)·l_lv(s) <= N
#
# where N are the units of the class with a value. Units: the achieved figure is max n·l/N, at most
# 1. Source: Xiao, Li, "Privacy preserving data publishing for multiple sensitive attributes based
# on security level" (2020), definition 10. A class without any value does not hold. Exact (whole
# numbers). `msb` separates the values by their levels itself, so the search has no rule.


def _terms(policy: Policy, protect: Protect) -> dict[str, object]:
    """The values of every level, the l that each level requires, and the level of other values."""
    needed = {int(level): l for level, l in (policy.privacy.level_l or {}).items()}
    levels = {int(level): list(values) for level, values in (protect.levels or {}).items()}
    terms: dict[str, object] = {"levels": levels, "level_l": needed}
    if protect.default_level is not None:
        terms["default_level"] = protect.default_level
    return terms


def _level_weights(requirement: Requirement) -> Mapping[str, object]:
    """The l of every value, as the verifier's statement lists them."""
    needed = {int(level): l for level, l in requirement.parameters["level_l"].items()}
    default = requirement.parameters.get("default_level")
    return {
        "levels": [
            (needed[int(level)], [value_text(value) for value in values])
            # (JSON does not preserve the order of levels)
            for level, values in sorted(
                requirement.parameters["levels"].items(), key=lambda item: int(item[0])
            )
            if values
        ],
        "default": None if default is None else needed[int(default)],
    }


LEVELS = Guarantee(
    name="level_l",
    field="protect.levels",
    further=("protect.default_level", "privacy.level_l"),
    terms=_terms,
    family="levels",
    asks=(
        Ask(
            "level_l",
            "l by security level (L_sl)",
            share=1,
            computed=_level_weights,
            reads=("levels", "level_l", "default_level"),
            worst="greatest",
        ),
    ),
    rules=lambda _: [],
    says="Values of {column} are as rare in a group as their level asks for.",
    values=("levels",),
    lists_values=lambda _: True,
    docs=(
        "L_sl (multi-sensitive bucketization) | `levels`, `level_l` | of a release"
        " | share of a value ≤ 1 / l of its level | ratio, less",
    ),
    examples=(
        Example(
            {1: ["a"], 0: ["b", "c"]},
            holds="ab bbc",
            fails="aab bc",
            terms={"levels": {1: ["a"], 0: ["b", "c"]}, "level_l": {0: 1, 1: 2}},
        ),
    ),
)


# m-uniqueness, which m-invariance requires of every class: m or more values, each once.
#
# Source: Xiao, Tao, "m-Invariance: towards privacy preserving re-publication of dynamic datasets"
# (2007). Classes are formed from units with different values (`anonymizer.republish.m_invariance`),
# so the search needs no rule.


M_UNIQUE = Guarantee(
    name="m_unique",
    field="republish.m",
    parameter="l",
    family="signature",
    asks=(Ask("distinct_l", given=("l",), worst="least"), replace(UNIQUE, scopes=("class",))),
    rules=lambda _: (),
    # each value occurs once among m or more rows
    chance=lambda r: 1 / int(r.parameters["l"]),
    docs=(
        "m-uniqueness, of m-invariance (Xiao and Tao 2007) | `republish: {m: 3}` | of a release"
        " | different values ≥ m, none twice | values, more",
    ),
    examples=(Example(2, holds="ab bca", fails="ab bba"),),
)
