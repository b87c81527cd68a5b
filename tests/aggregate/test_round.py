"""The method round: what is published, how near it is, and that changes are found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import GuaranteeError, PolicyError
from anonymizer.independent.layout import consistent
from anonymizer.independent.rows import open_release
from anonymizer.run.verify import verify
from tests.aggregate.releases import WORKED, cells, copied, failed, grid, policy, published
from tests.aggregate.test_rest import ALL, ATOMS, TEXT, second_opinion

ROUND: dict[str, Any] = {"method": "round"}


def test_small_groups_are_0_or_the_base(tmp_path: Path) -> None:
    counts = ((1, 2, 3, 4), (5, 6, 7, 8), (4, 4, 1, 2))
    release = published(tmp_path, grid(counts), TEXT, ATOMS, **ROUND)
    found = cells(release)
    atoms = {labels: n for labels, n in found.items() if ALL not in labels}
    assert {n for n in atoms.values() if n < 5} == set()
    assert {labels for labels in atoms if labels[0] == "r2"} == {
        ("r2", f"c{j}") for j in range(1, 5)
    }
    assert found[ALL, ALL] == sum(atoms.values())
    assert abs(found[ALL, ALL] - sum(map(sum, counts))) <= 5
    assert verify(policy(tmp_path, ATOMS, **ROUND), release.database).passed
    assert not any(second_opinion(tmp_path / "release.duckdb").values())
    assert "not the true ones" in str(release.manifest.data["certificate"])


def test_nothing_of_the_source_follows(tmp_path: Path) -> None:
    """Tables that differ in their small groups only may give the same release."""
    one = published(tmp_path, grid([[3, 20], [30, 40]]), TEXT, ATOMS, **ROUND)
    first = cells(one)
    (tmp_path / "release.duckdb").unlink()
    other = published(tmp_path, grid([[4, 20], [30, 40]]), TEXT, ATOMS, **ROUND)
    assert cells(other) == first
    (tmp_path / "release.duckdb").unlink()
    again = published(tmp_path, grid([[3, 20], [30, 40]]), TEXT, ATOMS, **ROUND)
    assert cells(again) == first


@pytest.mark.parametrize("minimum", [3, 5, 10])
def test_base(tmp_path: Path, minimum: int) -> None:
    rows = grid(WORKED)
    release = published(
        tmp_path, rows, TEXT, ATOMS, minimum=minimum, method="round", round={"base": 12}
    )
    assert min(n for n in cells(release).values() if n is not None) >= 12
    assert verify(None, release.database).passed


CHANGES = {
    "rounded": "update t set patients = 11 where r = 'r1' and c = 'c4'",
    "additive": "update t set patients = 72 where r = 'r2' and c = '(all)'",
    "cell_form": "update t set status = 'other' where r = 'r1' and c = 'c1'",
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_found(tmp_path: Path, name: str) -> None:
    options: dict[str, Any] = {"method": "round", "round": {"base": 12}}
    release = published(tmp_path, grid(WORKED), TEXT, ATOMS, **options)
    con = copied(release)
    con.execute(CHANGES[name])
    assert name in failed(release, con)


@pytest.mark.parametrize("algorithm", ["rest", "suppress", "none"])
def test_a_forged_method_is_not_read(tmp_path: Path, algorithm: str) -> None:
    """Rounded counts under another name would be judged by other checks."""
    published(tmp_path, grid(WORKED), TEXT, ATOMS, **ROUND)
    layout = open_release(tmp_path / "release.duckdb").manifest.layout
    with pytest.raises(ValueError, match="algorithm"):
        consistent(replace(layout, algorithm=algorithm))


def test_another_base_is_refused(tmp_path: Path) -> None:
    release = published(tmp_path, grid(WORKED), TEXT, ATOMS, **ROUND)
    with pytest.raises(GuaranteeError, match=r"round.base"):
        verify(policy(tmp_path, ATOMS, method="round", round={"base": 6}), release.database)


def test_a_base_below_the_minimum(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"round.base: is below the minimum 5"):
        policy(tmp_path, ATOMS, method="round", round={"base": 4})
