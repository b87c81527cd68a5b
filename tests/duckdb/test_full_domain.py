"""The optimum of the lattice against the oracle that tries every node."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import GuaranteeError, InfeasibleError
from anonymizer.release.published import Release
from tests import models
from tests.oracle.lattice import Classes, Column, Fails, Lattice, Verdict
from tests.runs import policy, published, run, source
from tests.selection import few, some

Check = Callable[[Mapping[Any, Sequence[Any]]], models.Result]


def tree(values: Sequence[Any], seed: random.Random, height: int) -> dict[Any, list[str]]:
    """A random hierarchy: neighbouring groups merged from level to level."""
    groups = [[value] for value in values]
    paths: dict[Any, list[str]] = {value: [] for value in values}
    for level in range(1, height + 1):
        merged: list[list[Any]] = []
        for group in groups:
            if merged and level < height and seed.random() < 0.6:
                merged[-1] += group
            elif level == height and merged:
                merged[0] += group
            else:
                merged.append(list(group))
        for number, group in enumerate(merged):
            for value in group:
                paths[value].append("*" if level == height else f"L{level} no {number}")
        groups = merged
    return paths


def random_columns(seed: random.Random, rows: int, nulls: float) -> list[Column]:
    def cells(values: Sequence[Any]) -> list[Any]:
        weights = [1 / (place + 1) for place in range(len(values))]
        drawn = seed.choices(values, weights, k=rows)
        return [None if seed.random() < nulls else one for one in drawn]

    letters = ["a", "b", "c d", 'e"', "{x, y}", "NULL"][: seed.randint(2, 6)]
    numbers = sorted(seed.sample(range(-20, 60), seed.randint(2, 7)))
    return [
        Column(cells(letters), tree(letters, seed, seed.randint(1, 3))),
        Column(cells(numbers), tree(numbers, seed, seed.randint(1, 3)), numeric=True),
        Column(cells(["x", "y"]), {"x": ["*"], "y": ["*"]}),
    ]


def write_tree(folder: Path, name: str, column: Column) -> str:
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, delimiter=";")
        writer.writerows([value, *labels] for value, labels in column.paths.items())
    return f"{name}.csv"


def release_of(
    folder: Path,
    lattice: Lattice,
    *,
    sensitive: Sequence[Any] | None = None,
    protect: Mapping[str, Any] | None = None,
    built: Mapping[str, Any] | None = None,
    budget: int | None = None,
    **rest: Any,
) -> Release:
    names = [f"q{number}" for number in range(len(lattice.columns))]
    types = {
        name: "INTEGER" if column.numeric else "VARCHAR"
        for name, column in zip(names, lattice.columns, strict=True)
    }
    table: list[Sequence[Any]] = [column.cells for column in lattice.columns]
    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": {"file": write_tree(folder, name, column)}}
        for name, column in zip(names, lattice.columns, strict=True)
    }
    for name, spec in (built or {}).items():
        columns[name]["hierarchy"] = spec
    if sensitive is not None:
        types["s"] = "INTEGER"
        table.append(sensitive)
        columns["s"] = {"role": "sensitive", "protect": dict(protect or {})}
    if lattice.persons is not None:
        types["who"] = "INTEGER"
        table.append(list(lattice.persons))
        columns["who"] = "drop"
        rest["person"] = "who"
    database = source(folder, types, zip(*table, strict=True))
    given = policy(
        folder,
        columns,
        lattice.k if lattice.k > 1 else None,
        suppression_limit=lattice.limit,
        algorithm={"name": "full_domain", "optimum": lattice.measure, "budget": budget},
        **rest,
    )
    return run(given, database)


def compare(folder: Path, lattice: Lattice, **given: Any) -> None:
    """The run finds the oracle's optimum and publishes exactly its cells, or both find none."""
    best = lattice.best()
    try:
        release = release_of(folder, lattice, **given)
    except (GuaranteeError, InfeasibleError):
        assert not best
        return
    assert best
    levels = tuple(release.measures[f"level.q{i}"] for i in range(len(lattice.columns)))
    assert levels in [one.node for one in best]
    if len(best) == 1 or lattice.measure == "c_dm":
        assert levels == best[0].node
    found = next(one for one in best if one.node == levels)
    check_release(lattice, found, release)


def check_release(lattice: Lattice, found: Verdict, release: Release) -> None:
    names = [f"q{number}" for number in range(len(lattice.columns))]
    rows = sorted((tuple(row[name] for name in names) for row in published(release)), key=str)
    shown = [tuple(_quoted(cell) for cell in row) for row in lattice.release(found)]
    assert rows == sorted(shown, key=str)
    if lattice.measure == "ncp":
        cells = len(lattice.columns) * len(lattice.rows)
        shown_loss = float(lattice.shown_loss(found) / cells)
        assert release.measures["ncp"] == pytest.approx(shown_loss, abs=1e-9)
    if lattice.measure == "c_dm":
        assert release.measures["c_dm"] == found.loss


def _quoted(cell: str | None) -> str | None:
    """Exact categories that could be misread stand in quotes; these are all that occur here."""
    return (
        {'e"': '"e"""', "NULL": '"NULL"', "{x, y}": '"{x, y}"'}.get(cell, cell)
        if cell is not None
        else None
    )


def against(sensitive: Sequence[Any], *checks: Callable[[dict[Any, list[Any]]], Any]) -> Fails:
    """Classes that one of the checks finds failing, by the sensitive values of their rows."""

    def fails(classes: Classes) -> set[Any]:
        values = {key: [sensitive[row] for row in rows] for key, rows in classes.items()}
        return set().union(*(check(values) for check in checks))

    return fails


def below(measure: Check, least: float) -> Callable[[dict[Any, list[Any]]], set[Any]]:
    return lambda values: {key for key, got in measure(values).per_class.items() if got < least}


def above(measure: Check, most: float | Fraction) -> Callable[[dict[Any, list[Any]]], set[Any]]:
    return lambda values: {key for key, got in measure(values).per_class.items() if got > most}


def ordered(values: Mapping[Any, Sequence[Any]]) -> models.Result:
    return models.t_closeness(values, "ordered")


PROTECTED: dict[str, tuple[dict[str, Any], Callable[[dict[Any, list[Any]]], set[Any]]]] = {
    "distinct": ({"l_diversity": 2}, below(models.distinct_l, 2)),
    "entropy": (
        {"entropy_l": 1.7},
        lambda given: {n for n, v in given.items() if not models.entropy_l_holds(v, 1.7)},
    ),
    "recursive": (
        {"recursive_cl": {"c": 2, "l": 2}},
        lambda given: {n for n, v in given.items() if not models.recursive_cl_holds(v, 2, 2)},
    ),
    "alpha": ({"alpha": 0.75}, above(models.alpha, 0.75)),
    "t_equal": ({"t_closeness": 0.3}, above(models.t_closeness, Fraction(3, 10))),
    "t_ordered": ({"t_closeness": {"t": 0.25, "distance": "ordered"}}, above(ordered, 0.25)),
}


@some(1, 2)
@pytest.mark.parametrize("case", few(range(10), 3))
def test_optimum_under_k(tmp_path: Path, case: int) -> None:
    seed = random.Random(f"k {case}")
    columns = random_columns(seed, seed.randint(8, 40), seed.choice([0, 0, 0.1]))
    measure = ["ncp", "glm", "distortion", "c_dm"][case % 4]
    limit = [0, 0.1, 0.25][case % 3]
    compare(tmp_path, Lattice(columns, seed.randint(2, 5), limit, measure=measure))


@some(2, 2)
@pytest.mark.parametrize("limit", [0, 0.2])
@pytest.mark.parametrize("name", PROTECTED)
def test_optimum_under_rules(tmp_path: Path, name: str, limit: float) -> None:
    under_rule(tmp_path, name, limit, 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", range(1, 9))
@pytest.mark.parametrize("limit", [0, 0.2])
@pytest.mark.parametrize("name", PROTECTED)
def test_optimum_under_rules_often(tmp_path: Path, name: str, limit: float, case: int) -> None:
    under_rule(tmp_path, name, limit, case)


def under_rule(folder: Path, name: str, limit: float, case: int) -> None:
    seed = random.Random(f"{name} {limit} {case}")
    rows = seed.randint(10, 45)
    columns = random_columns(seed, rows, seed.choice([0, 0.1]))
    # numbers, which have the order that a distance may ask for
    sensitive = seed.choices([1, 2, 3, None], [5, 4, 3, 1], k=rows)
    protect, check = PROTECTED[name]
    lattice = Lattice(columns, seed.randint(1, 3), limit, against(sensitive, check))
    compare(folder, lattice, sensitive=sensitive, protect=protect)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", range(10, 80))
def test_optimum_under_k_often(tmp_path: Path, case: int) -> None:
    test_optimum_under_k(tmp_path, case)


@pytest.mark.parametrize("case", range(2))
def test_optimum_counts_persons(tmp_path: Path, case: int) -> None:
    """k, the limit and l count persons, and the rows of a person leave together."""
    seed = random.Random(f"persons {case}")
    single = random_columns(seed, 18, 0)
    owner = sorted([*range(18), *seed.choices(range(18), k=14)])
    columns = [
        Column([column.cells[who] for who in owner], column.paths, column.numeric)
        for column in single
    ]
    compare(tmp_path, Lattice(columns, 2 + case % 2, 0.25, persons=owner))


@pytest.mark.parametrize("case", range(2))
def test_levels_that_do_not_nest(tmp_path: Path, case: int) -> None:
    """Intervals of 20 straddle those of 25: neither is coarser than the other."""
    seed = random.Random(f"divisors {case}")
    widths = [20, 25, 50]
    paths = {
        value: [*(f"{width} no {(value - 1) // width}" for width in widths), "*"]
        for value in range(1, 101)
    }
    ages = [
        seed.choice([None, *range(15, 95)]) if case % 2 else seed.randint(1, 100) for _ in range(40)
    ]
    columns = [Column(ages, paths, numeric=True), *random_columns(seed, 40, 0)[:1]]
    spec = {"builder": "divisor", "mode": "independent", "divisors": widths, "domain": [1, 100]}
    lattice = Lattice(columns, 3, 0.1 * case)
    compare(tmp_path, lattice, built={"q0": spec})
