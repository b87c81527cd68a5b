"""Which cells are hidden, and the tables that prove it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from anonymizer.algorithms.aggregate.cell_suppression import Cost, Suppression, suppress
from anonymizer.algorithms.aggregate.cells import Dimension, Lattice, lattice
from anonymizer.api import assess_counts
from tests.aggregate.enumeration import ALL, Publication, covers, draw
from tests.aggregate.test_counts import EDUCATION, EXAMPLE, FOUR, NESTED, THREE, crossed
from tests.selection import rounds, slow

pytest.importorskip("highspy")


def shape_of(cells: Mapping[Any, int]) -> tuple[Lattice, np.ndarray]:
    """The lattice of cells whose columns have one level each, and their counts."""
    columns = [sorted({cell[at] for cell in cells} - {ALL}) for at in range(len(next(iter(cells))))]
    dimensions = [
        Dimension.nested(str(at), [labels], [len(labels)] * len(labels))
        for at, labels in enumerate(columns)
    ]
    places = [{label: at for at, label in enumerate([*labels, ALL])} for labels in columns]
    listed = [tuple(place[one] for place, one in zip(places, c, strict=True)) for c in cells]
    return lattice(dimensions, listed), np.array([*cells.values()], np.int64)


def verify(shape: Lattice, counts: np.ndarray, minimum: int, found: Suppression) -> None:
    """The promise, from the definition."""
    assert not found.impossible
    assert not found.unproven
    assert found.hidden[(counts > 0) & (counts < minimum)].all()
    parents = [(int(p), shape.sums.parts_of(at)) for at, p in enumerate(shape.sums.parents)]
    large = np.zeros(len(counts), bool)
    for table in found.witnesses:
        assert (table >= 1).all()
        assert (table[~found.hidden] == counts[~found.hidden]).all()
        assert all(table[parent] == table[parts].sum() for parent, parts in parents)
        large |= table >= minimum
    finest = np.ones(len(counts), bool)
    finest[[parent for parent, _ in parents]] = False
    assert large[finest & found.hidden].all()


def hidden_of(cells: Mapping[Any, int], minimum: int, cost: Cost = "log") -> set[tuple[str, ...]]:
    shape, counts = shape_of(cells)
    found = suppress(shape, counts, minimum, cost=cost, seconds=5)
    verify(shape, counts, minimum, found)
    return {cell for cell, hidden in zip(cells, found.hidden, strict=True) if hidden}


def test_the_worked_example() -> None:
    cells = {(a, b): n for a, b, n in crossed(EXAMPLE, ["c1", "c2", "c3", "c4"])}
    expected = {("r2", "c1"), ("r2", "c2"), ("r4", "c1"), ("r4", "c2")}
    assert hidden_of(cells, 5, "persons") == expected
    shape, counts = shape_of(cells)
    found = suppress(shape, counts, 5, cost="persons")
    assert (found.secondary, found.cost, found.bound) == (3, 35.0, 35.0)


def test_a_sum_below_the_threshold_takes_another_part() -> None:
    """sdcTools/UserSupport#307: 15, 5, 3 with threshold 11: the 15 is hidden too."""
    cells = {("A",): 15, ("B",): 5, ("C",): 3, (ALL,): 23}
    assert hidden_of(cells, 11) == {("A",), ("B",), ("C",)}


def test_three_singletons() -> None:
    """sdcTools/UserSupport#135: each is 1 where their sum is 3."""
    cells = {("A",): 1, ("B",): 1, ("C",): 1, ("D",): 20, (ALL,): 23}
    assert hidden_of(cells, 3) == {("A",), ("B",), ("C",), ("D",)}


def test_a_total_that_repeats_its_only_part_is_hidden() -> None:
    cells = {("x", "c"): 2, ("x", ALL): 2, ("y", "c"): 9, ("y", "d"): 9, ("y", ALL): 18}
    cells |= {(ALL, "c"): 11, (ALL, "d"): 9, (ALL, ALL): 20}
    assert {("x", "c"), ("x", ALL)} < hidden_of(cells, 5)


def test_everything_small_and_nothing_to_hide() -> None:
    assert hidden_of({("A",): 1, ("B",): 2, (ALL,): 3}, 5) == {("A",), ("B",), (ALL,)}
    assert hidden_of({("A",): 7, ("B",): 8, (ALL,): 15}, 5) == set()


def test_margins_that_are_kept_may_make_it_impossible() -> None:
    shape, counts = shape_of({("A",): 2, ("B",): 1, (ALL,): 3})
    kept = np.array([False, False, True])
    assert suppress(shape, counts, 3, keep=kept).impossible == (0, 1)
    assert suppress(shape, counts, 5, keep=kept).impossible == (2,)
    assert not suppress(shape, counts, 3).impossible


@rounds(40, 400, 3000)
def test_tiny_tables_against_enumeration(rounds: int) -> None:
    targets = 0
    for seed in range(rounds):
        random = Random(seed)
        minimum = random.choice([2, 3, 4])
        drawn = draw(random, 0)
        if drawn.rounded > 1 or len(drawn.atoms) > 9 or not set(drawn.atoms) <= set(drawn.figures):
            continue
        # the drawn figures are the true ones; some are hidden there, and computed here
        counts = {atom: drawn.figures[atom] or 2 for atom in drawn.atoms}
        cells = {
            cell: sum(n for atom, n in counts.items() if covers(cell, atom))
            for cell in drawn.figures
        }
        hidden = hidden_of(cells, minimum)
        small = [atom for atom, n in counts.items() if n < minimum]
        if (ALL,) * len(drawn.by) in hidden or not small:
            continue
        figures = {cell: None if cell in hidden else n for cell, n in cells.items()}
        ranges = Publication(drawn.by, figures, drawn.atoms).ranges()
        assert all(max(ranges[atom]) >= minimum for atom in small), seed
        targets += len(small)
    assert targets > rounds / 4


@pytest.fixture(scope="module")
def adult(data_folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        path = data_folder / "adult_complete.parquet"
        connection.execute(f"create table adult as select *, {EDUCATION} from '{path}'")
        yield connection


@pytest.mark.parametrize(("by", "most"), [(THREE, 85), pytest.param(FOUR, 760, marks=slow)])
def test_tables_of_adult(adult: duckdb.DuckDBPyConnection, by: str, most: int) -> None:
    rows = adult.execute(f"select {by}, count(*) from adult group by cube ({by})").fetchall()
    cells = {tuple(label or ALL for label in row[:-1]): row[-1] for row in rows}
    shape, counts = shape_of(cells)
    found = suppress(shape, counts, 5, seconds=2)
    verify(shape, counts, 5, found)
    assert found.secondary <= most
    assert len(found.witnesses) <= 40
    published = pd.DataFrame([*cells], columns=by.split(", "))
    published["n"] = pd.Series(counts).where(~found.hidden)
    assert assess_counts(published, by=by.split(", ")).below == 0


def nested(
    rows: Sequence[tuple[str | None, str | None, str | None, int]],
) -> tuple[Lattice, np.ndarray]:
    """Occupation, and education in two levels."""
    jobs = sorted({job for job, *_ in rows if job})
    above = {fine: coarse for _, coarse, fine, _ in rows if fine and coarse}
    fine, coarse = sorted(above), sorted(set(above.values()))
    total = len(fine) + len(coarse)
    up = [len(fine) + coarse.index(above[one]) for one in fine] + [total] * len(coarse)
    dimensions = (
        Dimension.nested("occupation", [jobs], [len(jobs)] * len(jobs)),
        Dimension.nested("education", [fine, coarse], up),
    )
    labels = [*fine, *coarse, None]
    cells = [
        (jobs.index(job) if job else len(jobs), labels.index(lower or upper))
        for job, upper, lower, _ in rows
    ]
    return lattice(dimensions, cells), np.array([row[-1] for row in rows])


def test_levels_of_adult(adult: duckdb.DuckDBPyConnection) -> None:
    shape, counts = nested(adult.execute(NESTED).fetchall())
    found = suppress(shape, counts, 5, seconds=2)
    verify(shape, counts, 5, found)
    assert (len(counts), found.primary.sum()) == (288, 37)
    assert found.secondary <= 26


@slow
def test_the_heuristic_is_near_the_optimum(adult: duckdb.DuckDBPyConnection) -> None:
    shape, counts = nested(adult.execute(NESTED).fetchall())
    found = suppress(shape, counts, 5, seconds=90)
    verify(shape, counts, 5, found)
    assert found.bound is not None
    assert suppress(shape, counts, 5, seconds=1).cost <= 1.04 * found.bound
