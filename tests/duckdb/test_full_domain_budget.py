"""The search within a budget against the oracle that tries every node."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from anonymizer.algorithms.lattice import search
from anonymizer.errors import GuaranteeError, InfeasibleError
from anonymizer.release.published import Release
from tests.duckdb.test_full_domain import (
    PROTECTED,
    against,
    random_columns,
    release_of,
)
from tests.oracle.lattice import Lattice
from tests.selection import few, some

pytestmark = pytest.mark.usefixtures("fine_figures")

BUDGET = 200


def per_cell(lattice: Lattice, loss: Fraction) -> float:
    """A loss as the measures tell it: a mean per cell, and a sum by C_DM."""
    if lattice.measure == "c_dm":
        return float(loss)
    heights = sum(column.height for column in lattice.columns)
    cells = heights if lattice.measure == "distortion" else len(lattice.columns)
    return float(loss / (cells * len(lattice.rows)))


def compare(folder: Path, lattice: Lattice, budget: int = BUDGET, **given: Any) -> bool:
    """The node holds, is no better than the optimum, and the bound is below both.

    Whether it is an optimum; a release is missing only where the oracle finds none.
    """
    best = lattice.best()
    try:
        release = release_of(folder, lattice, budget=budget, **given)
    except (GuaranteeError, InfeasibleError):
        assert not best
        return True
    levels = tuple(release.measures[f"level.q{i}"] for i in range(len(lattice.columns)))
    found = lattice.judge(levels)
    assert found.loss is not None
    assert release.measures["classes"] == len(found.published)
    assert release.measures["suppressed"] == len(lattice.rows) - sum(
        map(len, found.published.values())
    )
    least = best[0].loss
    assert least is not None
    assert found.loss >= least
    check_told(lattice, release, found.loss, least)
    return found.loss == least


def check_told(lattice: Lattice, release: Release, loss: Fraction, least: Fraction) -> None:
    told = release.measures
    assert told["lattice_loss"] == pytest.approx(per_cell(lattice, loss), abs=1e-4)
    assert told["lattice_bound"] <= per_cell(lattice, least) + 1e-9
    assert 0 <= told["lattice_gap"] <= 1
    if told["lattice_gap"] == 0:
        assert loss == least


def one_of_k(folder: Path, case: int, budget: int = BUDGET) -> bool:
    seed = random.Random(f"budget {case}")
    columns = random_columns(seed, seed.randint(8, 40), seed.choice([0, 0, 0.1]))
    measure = ["ncp", "glm", "distortion", "c_dm"][case % 4]
    limit = [0, 0.1, 0.25][case % 3]
    return compare(folder, Lattice(columns, seed.randint(2, 5), limit, measure=measure), budget)


@some(1, 2)
@pytest.mark.parametrize("case", few(range(8), 2))
def test_node_under_k(tmp_path: Path, case: int) -> None:
    one_of_k(tmp_path, case)


@pytest.mark.exhaustive
def test_most_nodes_are_optimal(tmp_path: Path) -> None:
    """Of a hundred tiny lattices."""
    optimal = 0
    for case in range(100):
        folder = tmp_path / str(case)
        folder.mkdir()
        optimal += one_of_k(folder, case)
    assert optimal >= 85


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(8))
def test_no_bound_is_above_the_optimum(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever the budget ends, and however columns are parted: of 240 tiny lattices."""
    for case in range(1000 + 30 * part, 1030 + 30 * part):
        folder = tmp_path / str(case)
        folder.mkdir()
        seed = random.Random(f"bound {case}")
        with monkeypatch.context() as changed:
            changed.setattr(search, "WIDEST", seed.choice([1, 2, 15]))
            changed.setattr(search, "SIDE_BY_SIDE", seed.choice([1, 3, 16]))
            one_of_k(folder, case, budget=seed.choice([4, 10, 20, 40, 80]))


@pytest.mark.slow
@some(1, 2)
@pytest.mark.parametrize("limit", [0, 0.2])
@pytest.mark.parametrize("name", few(list(PROTECTED), 3))
def test_node_under_rules(tmp_path: Path, name: str, limit: float) -> None:
    seed = random.Random(f"budget {name} {limit}")
    rows = seed.randint(10, 45)
    columns = random_columns(seed, rows, seed.choice([0, 0.1]))
    sensitive = seed.choices([1, 2, 3, None], [5, 4, 3, 1], k=rows)
    protect, check = PROTECTED[name]
    lattice = Lattice(columns, seed.randint(1, 3), limit, against(sensitive, check))
    compare(tmp_path, lattice, sensitive=sensitive, protect=protect)
