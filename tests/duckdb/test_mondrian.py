"""The compiled partitioning makes the classes of the naive recursion, cut by cut."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from anonymizer.algorithms.core import partition
from tests.duckdb.partitions import expected, partitioned
from tests.models import entropy_l_holds, recursive_cl_holds, t_closeness
from tests.oracle.partition import Constraint, Partition, histogram_constraint
from tests.runs import driven, policy, run, source
from tests.selection import some

OPTIONS: list[dict[str, Any]] = [
    {"split": "loss"},
    {"split": "loss", "loop": "driven"},
    {"split": "loss", "compare": 1},
    {"split": "median"},
    {"split": "median", "loop": "driven"},
]
TREE = {
    "ape": ("mammal", "*"),
    "bat": ("mammal", "*"),
    "cow": ("mammal", "*"),
    "eel": ("fish", "*"),
    "carp": ("fish", "*"),
    "ant": ("insect", "*"),
}


def classes(
    folder: Path, types: list[str], table: list[tuple[Any, ...]], k: int, **options: Any
) -> tuple[Partition, list[int]]:
    """The classes that the tool makes of a table of quasi-identifiers q0, q1, …"""
    names = [f"q{j}" for j in range(len(types))]
    columns: dict[str, Any] = {"id": {"role": "keep", "acknowledge_unique": True}}
    columns |= {name: {"role": "quasi"} for name in names}
    for name, more in options.pop("columns", {}).items():
        columns[name] = columns.get(name, {}) | more
    sensitive = options.pop("sensitive", [()] * len(table))
    extra = options.pop("more_types", {})
    rows = [
        (i, *row, *values) for i, (row, values) in enumerate(zip(table, sensitive, strict=True))
    ]
    declared = {"id": "INTEGER", **dict(zip(names, types, strict=True)), **extra}
    database = source(folder, declared, rows)
    way = driven() if options.pop("loop", None) == "driven" else nullcontext()
    given = policy(folder, columns, k=k, algorithm={"name": "mondrian", "refine": 0, **options})
    with way:
        return partitioned(given, database)


def random_table(draw: random.Random, *, nulls: bool) -> tuple[list[str], list[tuple[Any, ...]]]:
    """6 to 24 rows of one to three columns, with ties and, if asked for, NULLs."""
    makers: dict[str, Callable[[], Any]] = {
        "INTEGER": lambda: draw.choice([-7, -3, -2, 0, 1, 4, 9]),
        "DOUBLE": lambda: draw.choice([-1.5, 0.0, 0.25, 2.0, 8.5]),
        "DATE": lambda: dt.date(2024, 2, 25) + dt.timedelta(days=draw.choice([0, 1, 3, 4, 9])),
        "VARCHAR": lambda: draw.choice(["a", "b", "c", "d", "e"]),
    }
    types = [draw.choice(list(makers)) for _ in range(draw.randint(1, 3))]
    table = [
        tuple(None if nulls and draw.random() < 0.15 else makers[kind]() for kind in types)
        for _ in range(draw.randint(6, 24))
    ]
    return types, table


@some(3, 4)
@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: " ".join(map(str, o.values())))
@pytest.mark.parametrize("number", range(4))
def test_classes_are_those_of_the_naive_recursion(
    tmp_path: Path, number: int, options: dict[str, Any]
) -> None:
    draw = random.Random(number)
    types, table = random_table(draw, nulls=number % 2 == 1)
    k = draw.randint(2, 3)
    found, _ = classes(tmp_path, types, table, k, **options)
    options = {name: value for name, value in options.items() if name != "loop"}
    assert found == expected(table, k, **options)


@some(3)
@pytest.mark.parametrize("at_once", [1, 8, 16])
@pytest.mark.parametrize("number", range(2))
def test_many_open_rows_are_cut_level_by_level_until_few_are_left(
    tmp_path: Path, number: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition, "AT_ONCE", at_once)
    test_classes_are_those_of_the_naive_recursion(tmp_path, number, {"split": "loss"})


@pytest.mark.exhaustive
@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: " ".join(map(str, o.values())))
@pytest.mark.parametrize("number", range(10, 110))
def test_classes_are_those_of_the_naive_recursion_on_many_tables(
    tmp_path: Path, number: int, options: dict[str, Any]
) -> None:
    test_classes_are_those_of_the_naive_recursion(tmp_path, number, options)


@some(2)
@pytest.mark.parametrize("loop", ["recursive", "driven"])
@pytest.mark.parametrize("number", range(2))
def test_relaxed_cuts_fall_between_rows_of_equal_values_by_their_draw(
    tmp_path: Path, number: int, loop: str
) -> None:
    types, table = random_table(random.Random(100 + number), nulls=True)
    options: dict[str, Any] = {"split": "median", "strict": False}
    found, order = classes(tmp_path, types, table, 2, loop=loop, **options)
    tie = {row: place for place, row in enumerate(order)}
    assert found == expected(table, 2, tie=[tie[row] for row in range(len(table))], **options)


@pytest.mark.parametrize("split", ["loss", "median"])
def test_categories_with_a_hierarchy_are_cut_in_the_order_of_its_leaves(
    tmp_path: Path, split: str
) -> None:
    draw = random.Random(5)
    lines = [";".join((leaf, *path)) for leaf, path in TREE.items()]
    (tmp_path / "tree.csv").write_text("\n".join(lines) + "\n")
    hierarchy = {"q0": {"hierarchy": {"file": "tree.csv"}}}
    # every leaf occurs, so that shares of the hierarchy's leaves are shares of those in the table
    leaves = [*TREE, *(draw.choice(list(TREE)) for _ in range(14))]
    table = [(leaf, draw.randint(0, 5)) for leaf in leaves]
    found, _ = classes(tmp_path, ["VARCHAR", "INTEGER"], table, 2, split=split, columns=hierarchy)
    assert found == expected(table, 2, paths={0: TREE}, split=split)


def t_within(bound: str, values: list[Any], distance: str = "equal") -> Constraint:
    order = [None, *sorted({v for v in values if v is not None})]
    return lambda rows: (
        t_closeness(
            {0: [values[row] for row in rows]}, distance, reference=values, order=order
        ).worst
        <= Fraction(bound)
    )


def rule_of(name: str, values: list[Any]) -> tuple[dict[str, Any], Constraint]:
    """A rule as the policy says it, and as a predicate on the rows of a class."""

    def histogram(allowed: Any) -> Constraint:
        return histogram_constraint(values, lambda counts: allowed(list(counts.elements())))

    def share(column: list[Any]) -> Fraction:
        known = Counter(value for value in column if value is not None)
        return Fraction(max(known.values(), default=1), max(known.total(), 1))

    match name:
        case "l":
            return {"l_diversity": 2}, histogram(lambda c: len(set(c) - {None}) >= 2)
        case "entropy":
            return {"entropy_l": 1.7}, histogram(lambda c: entropy_l_holds(c, 1.7))
        case "recursive":
            rule = {"recursive_cl": {"c": 2, "l": 2}}
            return rule, histogram(lambda c: recursive_cl_holds(c, 2, 2))
        case "t equal":
            return {"t_closeness": 0.3}, t_within("0.3", values)
        case "t ordered":
            return {"t_closeness": {"t": 0.2, "distance": "ordered"}}, t_within(
                "0.2", values, "ordered"
            )
        case _:
            return {"alpha": 0.6}, histogram(lambda c: share(c) <= Fraction("0.6"))


@some(2, 3)
@pytest.mark.parametrize("split", ["loss", "median"])
@pytest.mark.parametrize("name", ["l", "entropy", "recursive", "t equal", "t ordered", "alpha"])
def test_a_cut_is_taken_only_if_both_halves_keep_the_rules(
    tmp_path: Path, name: str, split: str
) -> None:
    draw = random.Random(f"{name} {split}")
    # categories enough that one of them may be parted from the rest at the code of another cut
    table = [(draw.randint(0, 9), draw.choice("aabbccddee")) for _ in range(24)]
    values = [draw.choice([1, 1, 1, 2, 2, 3, 4, None]) for _ in table]
    rule, constraint = rule_of(name, values)
    found, _ = classes(
        tmp_path,
        ["INTEGER", "VARCHAR"],
        table,
        2,
        split=split,
        loop="driven" if split == "median" else "recursive",
        columns={"s": {"role": "sensitive", "protect": rule}},
        more_types={"s": "INTEGER"},
        sensitive=[(value,) for value in values],
    )
    compare = 1 if name.startswith("t ") else 4
    assert found == expected(table, 2, constraint=constraint, split=split, compare=compare)
    unconstrained = expected(table, 2, split=split, compare=compare)
    assert len(found) < len(unconstrained), "the rule should have stopped some cut"


@some(2, 2)
@pytest.mark.parametrize("values", [63, 64, 127, 128, 200, 255, 256, 300])
def test_a_category_of_many_values_beside_another(tmp_path: Path, values: int) -> None:
    """A class may hold so many of them that their count takes more than a byte."""
    rows = [(f"a{i % values}", f"b{i * 7 % 40}") for i in range(values * 6)]
    database = source(tmp_path, {"a": "VARCHAR", "b": "VARCHAR"}, rows)
    release = run(policy(tmp_path, {"a": "quasi", "b": "quasi"}, k=5), database)
    assert release.verification.passed
    assert release.measures["class_min"] >= 5
