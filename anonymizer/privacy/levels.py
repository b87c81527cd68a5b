"""L_sl-diversity: a value of a higher security level must have a smaller share of its class.

    n(E, s) / N <= 1/l_lv(s)  for every value s of level lv(s), i.e.  n(E, s)·l_lv(s) <= N

where N are the units of the class with a value. Units: the achieved figure is max n·l/N, at most 1.
Source: Xiao, Li, "Privacy preserving data publishing for multiple sensitive attributes based on
security level" (2020), definition 10. A class without any value does not hold. Exact (whole
numbers). `msb` separates the values by their levels itself, so the search has no rule.
"""

from __future__ import annotations

from collections.abc import Mapping

from anonymizer.contract.ask import Ask
from anonymizer.contract.layout import Requirement
from anonymizer.contract.value_text import value_text
from anonymizer.policy import Policy
from anonymizer.policy.protect import Protect
from anonymizer.privacy.guarantee import Example, Guarantee


def _terms(policy: Policy, protect: Protect) -> dict[str, object]:
    """The values of every level, the l that each level requires, and the level of other values."""
    needed = {int(level): l for level, l in (policy.privacy.level_l or {}).items()}
    levels = {int(level): list(values) for level, values in (protect.levels or {}).items()}
    terms: dict[str, object] = {"levels": levels, "level_l": needed}
    if protect.default_level is not None:
        terms["default_level"] = protect.default_level
    return terms


def _weights(requirement: Requirement) -> Mapping[str, object]:
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


GUARANTEE = Guarantee(
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
            computed=_weights,
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
