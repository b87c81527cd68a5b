"""A requirement with a parameter that no check reads: it might change what the guarantee means.

Whoever can seal a manifest again could write one, so neither verifier ignores it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.contract.layout import Requirement
from anonymizer.errors import AnonymizerError
from anonymizer.guarantees.requirements import BY_NAME
from anonymizer.independent.fetch import UnreadableError
from anonymizer.independent.judge import judge
from anonymizer.release.integrity import manifest_digest
from tests.independent.planted import RELEASES, asked, make
from tests.selection import some

READ = {
    **{name: {"k"} for name in ("k_anonymity", "ir_k", "k_map")},
    **{name: {"l"} for name in ("distinct_l", "entropy_l", "m_unique", "eir_l")},
    **{name: {"alpha", "beta"} for name in ("eir_alpha_beta", "ir_alpha_beta")},
    "alpha": {"alpha", "value"},
    "alpha_k": {"alpha", "k", "value"},
    "beta_likeness": {"beta"},
    "delta_disclosure": {"delta"},
    "delta_presence": {"min", "max"},
    "ir_kl": {"k", "l"},
    "level_l": {"levels", "level_l", "default_level"},
    "recursive_cl": {"c", "l"},
    "t_closeness": {"t", "distance", "paths"},
    "units": {"l"},
}
"""The parameters of every guarantee."""
ODD: dict[str, Any] = {
    "together": [["flu", "hiv"]],
    "distance": "equal",
    "k": 2,
    "but": 1,
    "population": "p",
}
OF_VALUES = "null_as_value"
"""Read for a requirement of a column only."""
VIEW = "people_anonymous"


def requirements(file: Path) -> list[dict[str, Any]]:
    with duckdb.connect(str(file), read_only=True) as connection:
        ((text,),) = connection.execute(f"select manifest from {VIEW}_manifest").fetchall()
    found: list[dict[str, Any]] = json.loads(text)["requirements"]
    return found


def plant(file: Path, place: int, name: str, value: Any) -> None:
    """Add a parameter to one requirement, and seal the manifest again."""
    with duckdb.connect(str(file)) as connection:
        ((text,),) = connection.execute(f"select manifest from {VIEW}_manifest").fetchall()
        data = json.loads(text)
        data["requirements"][place]["parameters"][name] = value
        data["seal"]["digest"] = manifest_digest(data)
        connection.execute(f"update {VIEW}_manifest set manifest = ?", [json.dumps(data)])


@some(1, 1)
@pytest.mark.parametrize("kind", RELEASES)
def test_a_parameter_that_no_check_reads(kind: str, tmp_path: Path) -> None:
    file = make(kind, tmp_path)
    correct = file.read_bytes()
    for place, requirement in enumerate(requirements(file)):
        odd = sorted(ODD.keys() - READ[requirement["name"]])
        name = odd[place % len(odd)] if requirement["column"] else OF_VALUES
        file.write_bytes(correct)
        plant(file, place, name, ODD.get(name, True))
        for policy in (None, asked(kind, tmp_path)):
            with pytest.raises(AnonymizerError, match=r"manifest\.requirements: are none"):
                anonymizer.verify(policy, file)
        with pytest.raises(UnreadableError):
            judge(file)


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_the_parameters_that_are_read(name: str) -> None:
    known = READ[name]
    given = Requirement(name, None, dict.fromkeys([*known, *ODD]))
    assert BY_NAME[name].unread(given) == ODD.keys() - known
