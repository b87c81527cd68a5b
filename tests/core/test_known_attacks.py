"""The attacks that every algorithm names: a certificate that leaves one out promises too much."""

from __future__ import annotations

import pytest

from anonymizer.algorithms.registry import BY_NAME

ALL = {"composition", "minimality", "skewness"}
LOCAL = {"combinatorial", "downcoding"}
EXPECTED = {
    "mondrian": ALL | LOCAL,
    "lgb": {"composition", "skewness", "deFinetti", "one", "visible"} | LOCAL,
    "full_domain": ALL | {"downcoding"},
    "privacyfrost": ALL | LOCAL,
    "msb": ALL | {"deFinetti"},
    "danonyir": ALL | {"combinatorial"},
    "none": {"joining", "singling", "composition"},
    "geneir": ALL | {"downcoding"},
}
"""First words of the attacks of docs/security.md that each algorithm's releases are open to."""


@pytest.mark.parametrize("name", BY_NAME)
def test_every_algorithm_names_its_attacks(name: str) -> None:
    named = BY_NAME[name].attacks
    assert {attack.replace(":", "").split()[0] for attack in named} == EXPECTED[name]
    assert len(named) == len(EXPECTED[name])
