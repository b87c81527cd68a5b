"""The search within a budget against the oracle that tries every node."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from anonymizer.algorithms.lattice import search
from anonymizer.engines.base import Limits
from anonymizer.errors import GuaranteeError, InfeasibleError
from anonymizer.release.published import Release
from tests.duckdb.test_full_domain import (
    PROTECTED,
    adult,
    against,
    random_columns,
    release_of,
)
from tests.oracle.lattice import Column, Lattice
from tests.runs import policy, run, source
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


@some(1, 3)
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


def settled(lattice: Lattice) -> Fraction:
    """The bound by trying all sets of columns in every slice."""
    allowed = math.floor(lattice.limit * len(lattice.rows))
    lowest: list[list[Fraction]] = []
    for column in lattice.columns:
        lost = [
            sum((column.loss(cell, level, lattice.measure) for cell in column.cells), Fraction(0))
            for level in range(column.height + 1)
        ]
        lowest.append([min(lost[level:]) for level in range(column.height + 1)])
    total = sum((one[0] for one in lowest), Fraction(0))
    for depth in range(1, max(column.height for column in lattice.columns) + 1):
        among = [i for i, column in enumerate(lattice.columns) if column.height >= depth]
        left = []
        for fine in itertools.product([False, True], repeat=len(among)):
            node = [column.height for column in lattice.columns]
            lost_here = Fraction(0)
            for i, is_fine in zip(among, fine, strict=True):
                level = lattice.columns[i].height - depth
                if is_fine:
                    node[i] = level
                else:
                    lost_here += lowest[i][level + 1] - lowest[i][level]
            classes = lattice.classes(tuple(node)).values()
            if sum(len(rows) for rows in classes if len(rows) < lattice.k) <= allowed:
                left.append(lost_here)
        total += min(left)
    return total


@pytest.mark.slow
@some(1, 4)
@pytest.mark.parametrize("case", few(range(12), 1))
def test_bound_of_settled_slices(tmp_path: Path, case: int) -> None:
    """With enough nodes it is what all sets of columns give."""
    seed = random.Random(f"settled {case}")
    columns = [*random_columns(seed, 60, 0), *random_columns(seed, 60, 0)]
    measure = ["ncp", "glm", "distortion"][case % 3]
    lattice = Lattice(columns, seed.randint(2, 4), [0.1, 0.2, 0][case % 3], measure=measure)
    told = release_of(tmp_path, lattice, budget=2_000).measures
    assert told["lattice_bound"] == pytest.approx(per_cell(lattice, settled(lattice)), abs=1.1e-4)


@pytest.mark.slow
@some(1, 9)
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


@pytest.mark.slow
def test_node_counts_persons(tmp_path: Path) -> None:
    seed = random.Random("budget persons")
    single = random_columns(seed, 18, 0)
    owner = sorted([*range(18), *seed.choices(range(18), k=14)])
    columns = [
        Column([column.cells[who] for who in owner], column.paths, column.numeric)
        for column in single
    ]
    compare(tmp_path, Lattice(columns, 2, 0.25, persons=owner))


@pytest.mark.slow
def test_levels_that_do_not_nest(tmp_path: Path) -> None:
    """They add nothing to the bound."""
    seed = random.Random("budget divisors")
    widths = [20, 25, 50]
    paths = {
        value: [*(f"{width} no {(value - 1) // width}" for width in widths), "*"]
        for value in range(1, 101)
    }
    ages = [seed.randint(1, 100) for _ in range(40)]
    columns = [Column(ages, paths, numeric=True), *random_columns(seed, 40, 0)[:1]]
    spec = {"builder": "divisor", "mode": "independent", "divisors": widths, "domain": [1, 100]}
    compare(tmp_path, Lattice(columns, 3, 0.1), built={"q0": spec})


def halves(values: int) -> dict[int, list[str]]:
    """Values from 0 up, halved five times."""
    return {
        value: [*(f"{level}: {value >> level}" for level in range(1, 5)), "*"]
        for value in range(values)
    }


def wide_columns(rows: int, wide: int) -> list[Column]:
    """Some of them follow the one before."""
    seed = random.Random("wide")
    columns: list[Sequence[int]] = []
    for number in range(wide):
        if number % 3 == 2:
            made = [(cell * 7 + seed.randrange(9)) % 32 for cell in columns[-1]]
        else:
            made = [int(32 * seed.random() ** (1 + number % 4 / 2)) for _ in range(rows)]
        columns.append(made)
    return [Column(cells, halves(32), numeric=True) for cells in columns]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_nodes_that_cannot_be_listed(tmp_path: Path, seed: int) -> None:
    """6**40 nodes: more than any integer of the engine counts; and the same on any threads."""
    wide = 40
    columns = wide_columns(300, wide)
    lattice = Lattice(columns, 3, 0.1)
    kinds = {f"q{number}": "INTEGER" for number in range(wide)}
    rows = zip(*(column.cells for column in columns), strict=True)
    database = source(tmp_path, kinds, rows)
    given = policy(
        tmp_path,
        {
            name: {"role": "quasi", "hierarchy": {"builder": "cardinality", "min_width": 1}}
            for name in kinds
        },
        3,
        suppression_limit=0.1,
        algorithm={"name": "full_domain", "budget": 120},
    )
    release = run(given, database, seed=seed)
    again = run(given, database, seed=seed, limits=Limits(threads=2))
    levels = [release.measures[f"level.q{number}"] for number in range(wide)]
    assert levels == [again.measures[f"level.q{number}"] for number in range(wide)]
    assert release.measures["lattice_bound"] == again.measures["lattice_bound"]
    assert release.measures["lattice_nodes"] > 1e30
    assert 0 < release.measures["lattice_bound"] < release.measures["lattice_loss"] < 1
    assert release.measures["suppressed"] <= 30
    assert lattice.k == 3


@pytest.mark.exhaustive
@pytest.mark.parametrize(("limit", "optimum"), [(0.05, 0.28518), (0.01, 0.43069), (0, 0.65020)])
def test_near_the_optimum_of_adult(
    data_folder: Path, tmp_path: Path, limit: float, optimum: float
) -> None:
    """Within 1 % of what the search of all nodes proves."""
    database, columns = adult(data_folder, tmp_path)
    algorithm = {"name": "full_domain", "budget": 1000}
    given = policy(tmp_path, columns, 5, suppression_limit=limit, algorithm=algorithm)
    measures = run(given, database).measures
    assert measures["ncp"] <= 1.01 * optimum
    assert measures["lattice_bound"] <= measures["lattice_loss"]
