"""The oracle's partitionings, by hand on small tables and against exhaustive search."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction as F
from itertools import pairwise
from typing import Any

import pytest

from tests.oracle.attributes import Attribute, categorical, numeric
from tests.oracle.ncp import Group, LocalGeneralization
from tests.oracle.partition import Mondrian, histogram_constraint, mondrian, partition_loss


def line(*values: Any) -> tuple[list[tuple[Any]], list[Attribute]]:
    """A table of one numeric column."""
    return [(value,) for value in values], [numeric(values)]


def groups(partition: frozenset[frozenset[int]]) -> list[list[int]]:
    return sorted(sorted(group) for group in partition)


def test_loss_and_width() -> None:
    age = numeric([10, 20, 30, None])
    assert age.loss([10, 15]) == age.width([10, 15, None]) == F(1, 4)
    assert age.loss([None]) == age.loss([10, None]) == 0
    assert numeric([10, 30], null_penalty=F(1)).loss([10, None]) == 1
    color, codes = categorical(["r", "g", None, "r"], ["g", "b", "r"])
    assert codes == [2, 0, None, 2]
    assert color.loss([0]) == color.loss([None]) == 0
    assert color.loss([0, 2]) == F(2, 4)
    assert color.width([0, 2]) == F(2, 3)
    assert color.width([None, 1]) == F(2, 3)
    paths = {"a": ("A", "*"), "b": ("A", "*"), "c": ("C", "*"), "d": ("C", "*")}
    tree, _ = categorical("abcd", "abcd", paths)
    assert (tree.loss([0, 1]), tree.loss([1, 2]), tree.loss([3])) == (F(1, 2), F(1), F(0))
    tree, _ = categorical([*"abcd", None], "abcd", paths)
    assert (tree.loss([0, None]), tree.loss([0, 1, None])) == (F(2, 5), F(3, 5))
    assert numeric([5, 5]).loss([5, 5]) == 0
    with pytest.raises(ValueError, match="kind"):
        Attribute("date")


def test_median_takes_the_lower_one_and_keeps_equal_values_together() -> None:
    table, attributes = line(1, 2, 3, 4, 5)
    assert groups(mondrian(table, attributes, 2, split="median")) == [[0, 1, 2], [3, 4]]
    table, attributes = line(1, 2, 2, 3, 4)
    assert groups(mondrian(table, attributes, 2, split="median")) == [[0, 1, 2], [3, 4]]
    # The median is the greatest value: nothing is right of it, and no other attribute is left.
    table, attributes = line(1, 2, 2, 2)
    assert groups(mondrian(table, attributes, 1, split="median")) == [[0, 1, 2, 3]]


def test_median_goes_on_to_the_next_attribute() -> None:
    # Both are as wide as their domains, so the first comes first; its halves are 1 and 3.
    rows = [(0, 0), (9, 0), (9, 1), (9, 1)]
    attributes = [numeric(row[j] for row in rows) for j in (0, 1)]
    assert groups(mondrian(rows, attributes, 2, split="median")) == [[0, 1], [2, 3]]


def test_relaxed_median_cuts_through_equal_values() -> None:
    table, attributes = line(1, 2, 2, 2)
    relaxed = {"split": "median", "strict": False}
    assert groups(mondrian(table, attributes, 2, **relaxed)) == [[0, 1], [2, 3]]
    assert groups(mondrian(table, attributes, 2, tie=[9, 3, 1, 2], **relaxed)) == [[0, 2], [1, 3]]
    table, attributes = line(5, 5, 5, 5)
    assert groups(mondrian(table, attributes, 2, **relaxed)) == [[0, 1, 2, 3]]


def test_loss_takes_the_largest_gain_and_the_lowest_cut() -> None:
    table, attributes = line(0, 1, 9, 10)
    # Cutting in the middle saves 4·1 - 2·(1/10) - 2·(1/10).
    whole = Mondrian(table, attributes, 1)
    assert whole.gain(0, [0, 1], [2, 3]) == F(36, 10)
    assert groups(mondrian(table, attributes, 2)) == [[0, 1], [2, 3]]
    # 0, 5, 10 with k = 1: both cuts save 3 - 1 = 2; the lowest is taken, then the rest is cut.
    table, attributes = line(0, 5, 10, 5)
    assert groups(mondrian(table, attributes, 1)) == [[0], [1, 3], [2]]
    table, attributes = line(0, 5, 10)
    assert Mondrian(table, attributes, 1)._best_gain([0, 1, 2]) == ([0], [1, 2])


@pytest.mark.parametrize("split", ["loss", "median"])
def test_the_first_of_equal_attributes_is_cut(split: str) -> None:
    rows = [(0, 0), (0, 1), (1, 0), (1, 1)]
    attributes = [numeric(row[j] for row in rows) for j in (0, 1)]
    assert groups(mondrian(rows, attributes, 2, split=split)) == [[0, 1], [2, 3]]


def test_null_stands_before_all_values() -> None:
    table, attributes = line(None, None, 3, 4)
    assert groups(mondrian(table, attributes, 2, split="median")) == [[0, 1], [2, 3]]
    # By loss the rows with NULL need not pay for the interval of the others.
    assert groups(mondrian(table, attributes, 2)) == [[0, 1], [2, 3]]
    # Where there is no interval there is nothing to gain from setting them apart …
    table, attributes = [(None,), (None,), (3,), (3,)], [numeric([None, 3, 4])]
    assert groups(mondrian(table, attributes, 2)) == [[0, 1, 2, 3]]
    # … unless mixing them with values is said to cost something.
    attributes = [numeric([None, 3, 4], null_penalty=F(1, 2))]
    assert groups(mondrian(table, attributes, 2)) == [[0, 1], [2, 3]]


def test_after_the_loss_levels_classes_are_cut_at_the_median() -> None:
    table, attributes = line(0, 0, 0, 0, 5, 100)
    assert groups(mondrian(table, attributes, 1)) == [[0, 1, 2, 3], [4], [5]]
    assert groups(mondrian(table, attributes, 1, loss_levels=0)) == [[0, 1, 2, 3], [4], [5]]
    table, attributes = line(0, 4, 5, 100)
    by_median = mondrian(table, attributes, 2, loss_levels=0)
    assert by_median == mondrian(table, attributes, 2, split="median")
    table, attributes = line(0, 1, 2, 3, 100, 101)
    assert groups(mondrian(table, attributes, 2)) == [[0, 1], [2, 3], [4, 5]]
    assert groups(mondrian(table, attributes, 2, loss_levels=0)) == [[0, 1, 2], [3, 4, 5]]


def test_constraints_and_persons_hold_in_both_halves() -> None:
    table, attributes = line(1, 2, 3, 4)
    diverse = histogram_constraint("xxyx", lambda counts: len(counts) >= 2)
    assert groups(mondrian(table, attributes, 2, constraint=diverse)) == [[0, 1, 2, 3]]
    diverse = histogram_constraint("xyyx", lambda counts: len(counts) >= 2)
    assert groups(mondrian(table, attributes, 2, constraint=diverse)) == [[0, 1], [2, 3]]
    assert groups(mondrian(table, attributes, 2, persons="ppqr")) == [[0, 1, 2, 3]]
    assert groups(mondrian(table, attributes, 2, persons="pqqr")) == [[0, 1], [2, 3]]


def _all_partitions(rows: list[int], k: int) -> Iterator[list[list[int]]]:
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for mask in range(1 << len(rest)):
        block = [first] + [row for i, row in enumerate(rest) if mask >> i & 1]
        if len(block) >= k:
            left = [row for row in rest if row not in block]
            for others in _all_partitions(left, k):
                yield [block, *others]


def _random_table(draw: random.Random, n: int) -> tuple[list[tuple[Any, ...]], list[Attribute]]:
    ages = [draw.choice([None, 1, 2, 3, 5, 8]) for _ in range(n)]
    colors = [draw.choice(["r", "g", "b", None]) for _ in range(n)]
    paths = {"r": ("warm", "*"), "g": ("cold", "*"), "b": ("cold", "*")}
    color, codes = categorical(colors, "gbr", draw.choice([None, paths]))
    return list(zip(ages, codes, strict=True)), [numeric(ages), color]


ALGORITHMS: dict[str, dict[str, Any]] = {
    "median": {"split": "median"},
    "relaxed median": {"split": "median", "strict": False},
    "loss": {"split": "loss"},
    "relaxed loss": {"split": "loss", "strict": False},
}


@pytest.mark.parametrize("name", [*ALGORITHMS, "growing groups"])
def test_partitions_are_sound_and_no_better_than_the_optimum(name: str) -> None:
    draw = random.Random(6)
    for _ in range(25):
        n, k = draw.randint(2, 8), draw.randint(2, 3)
        if name in ALGORITHMS:
            table, attributes = _random_table(draw, n)
            found = Mondrian(table, attributes, k, **ALGORITHMS[name]).partition()
        else:
            table, attributes = line(*(draw.randint(0, 9) for _ in range(n)))
            found = LocalGeneralization(table, attributes, k, draw).partition()
        assert sorted(row for group in found for row in group) == list(range(n))
        assert all(len(group) >= k for group in found) or groups(found) == [list(range(n))]
        if n >= k:
            best = min(
                partition_loss(table, attributes, frozenset(map(frozenset, blocks)))
                for blocks in _all_partitions(list(range(n)), k)
            )
            one_class = partition_loss(table, attributes, frozenset([frozenset(range(n))]))
            assert best <= partition_loss(table, attributes, found) <= one_class


def test_strict_classes_never_overlap_in_one_dimension() -> None:
    draw = random.Random(7)
    for split in ("median", "loss"):
        for _ in range(50):
            table, attributes = line(*(draw.randint(0, 20) for _ in range(30)))
            spans = sorted(
                (min(values), max(values))
                for group in mondrian(table, attributes, 3, split=split)
                for values in [[table[row][0] for row in group]]
            )
            assert all(left[1] < right[0] for left, right in pairwise(spans))


def test_final_classes_have_no_admissible_gain_left() -> None:
    draw = random.Random(8)
    for _ in range(40):
        table, attributes = _random_table(draw, 20)
        for group in mondrian(table, attributes, 3):
            for j, attribute in enumerate(attributes):
                for cut in {table[row][j] for row in group}:
                    left = [r for r in group if attribute.key(table[r][j]) <= attribute.key(cut)]
                    right = [r for r in group if r not in left]
                    if len(left) >= 3 and len(right) >= 3:
                        assert Mondrian(table, attributes, 3).gain(j, left, right) <= 0


def grown(k: int, *values: Any, seed: int = 0) -> LocalGeneralization:
    return LocalGeneralization(*line(*values), k, random.Random(seed))


def test_seeds_are_the_ends() -> None:
    for seed in range(5):
        found = grown(2, 5, 0, 10, 4, seed=seed).find_seeds([0, 1, 2, 3])
        assert found is not None
        assert set(found) == {1, 2}
    assert grown(1, 5, 5, 5).find_seeds([0, 1, 2]) is None
    assert groups(grown(1, 5, 5, 5).partition()) == [[0, 1, 2]]


def test_a_row_goes_where_the_loss_grows_less() -> None:
    of = grown(2, 0, 10, 2, 4, 6)
    first, second = Group(of, 0), Group(of, 1)
    assert [first.growth(2), second.growth(2)] == pytest.approx([0.4, 1.6])
    first.take(2)
    # two rows of .2 become three of .4; the other group's one row of 0 two of .6
    assert [first.growth(3), second.growth(3)] == pytest.approx([0.8, 1.2])
    first.take(3)
    # three rows of .4 become four of .6: nearer to the box, and yet dearer than two rows of .4
    assert [first.growth(4), second.growth(4)] == pytest.approx([1.2, 0.8])


def test_boxes_that_grow_are_boxes_of_their_rows() -> None:
    draw = random.Random(11)
    rows = [(draw.randint(0, 9), draw.choice("abc"), draw.choice("de")) for _ in range(30)]
    columns = list(zip(*rows, strict=True))
    of_values = [categorical(column, sorted(set(column)))[0] for column in columns[1:]]
    attributes = [numeric(columns[0]), *of_values]
    of = LocalGeneralization(rows, attributes, 3, draw)
    group = Group(of, 0)
    for row in range(1, 30):
        group.take(row)
        spanned = [[of.table[member][j] for member in group.rows] for j in range(3)]
        loss = sum(a.loss(values) for a, values in zip(attributes, spanned, strict=True))
        assert group.ncp == pytest.approx(float(loss))


def test_alg_4_stops_below_2k_and_where_a_part_is_too_small() -> None:
    assert groups(grown(2, 0, 1, 10).partition()) == [[0, 1, 2]]
    assert groups(grown(2, 0, 1, 9, 10).partition()) == [[0, 1], [2, 3]]
    # One far row freezes the whole set, although {0, 1} and {2, 3} would do.
    assert groups(grown(2, 0, 1, 2, 3, 100).partition()) == [[0, 1, 2, 3, 4]]


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ValueError, match="split"):
        Mondrian([(1,)], [numeric([1])], 1, split="best").partition()
    empty = LocalGeneralization([], [], 1, random.Random(0))
    assert Mondrian([], [], 1).partition() == empty.partition() == frozenset()
