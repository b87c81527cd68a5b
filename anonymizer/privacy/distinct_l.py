"""Distinct l-diversity: at least l different values in every class.

    |{s : n(E, s) > 0}| >= l

Units: number of different values. Source: Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam,
"l-Diversity: privacy beyond k-anonymity" (2006), §4. A NULL is no value: a class of NULLs only
has l = 0. Exact (whole numbers).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.contract.ask import Ask
from anonymizer.contract.layout import Requirement
from anonymizer.privacy.guarantee import Example, Flag, Guarantee
from anonymizer.privacy.rule import Rule


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


def _weights(requirement: Requirement) -> Mapping[str, object]:
    """Level weights for a group: all values have one level with the same l, so share * l <= 1."""
    return {"levels": (), "default": requirement.parameters["l"]}


def _chance(requirement: Requirement) -> float | None:
    """The bound on the probability of a value.

    None in a class, where one value may be frequent; 1/l in a bucket, where each occurs once, and
    in a group, where each has a share of at most 1/l.
    """
    return None if requirement.scope == "class" else 1 / int(requirement.parameters["l"])


GUARANTEE = Guarantee(
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
            computed=_weights,
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
