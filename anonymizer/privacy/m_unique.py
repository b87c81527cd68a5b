"""m-uniqueness, which m-invariance requires of every class: m or more values, each once.

Source: Xiao, Tao, "m-Invariance: towards privacy preserving re-publication of dynamic datasets"
(2007). Classes are formed from units with different values (`anonymizer.republish.invariant`), so
the search needs no rule.
"""

from __future__ import annotations

from dataclasses import replace

from anonymizer.contract.ask import Ask
from anonymizer.contract.layout import Requirement
from anonymizer.privacy.distinct_l import UNIQUE
from anonymizer.privacy.guarantee import Example, Guarantee, no_rules


def _chance(requirement: Requirement) -> float:
    """The bound on the probability of a value: each occurs once among m or more rows."""
    return 1 / int(requirement.parameters["l"])


GUARANTEE = Guarantee(
    name="m_unique",
    field="republish.m",
    parameter="l",
    family="signature",
    asks=(Ask("distinct_l", given=("l",), worst="least"), replace(UNIQUE, scopes=("class",))),
    rules=no_rules,
    chance=_chance,
    docs=(
        "m-uniqueness, of m-invariance (Xiao and Tao 2007) | `republish: {m: 3}` | of a release"
        " | different values ≥ m, none twice | values, more",
    ),
    examples=(Example(2, holds="ab bca", fails="ab bba"),),
)
