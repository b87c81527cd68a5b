"""Class numbers that two releases share: chance is let through, reused numbers are not."""

import random

import pytest

from anonymizer.ledger.compare import _more_than_chance


def shared(new: list[int], old: list[int]) -> tuple[int, int, int]:
    """Classes whose number persons of theirs had before, meetings of classes, classes."""
    pairs = set(zip(new, old, strict=True))
    return len({a for a, b in pairs if a == b}), len(pairs), len(set(new))


def numbered(classes: list[int], draw: random.Random) -> list[int]:
    """Each person's class under numbers that are drawn anew."""
    names = sorted(set(classes))
    numbers = dict(zip(names, draw.sample(range(1, len(names) + 1), len(names)), strict=True))
    return [numbers[name] for name in classes]


@pytest.mark.parametrize("sizes", [[5] * 30, [3] * 40 + [400], [2000, *[5] * 500], [7] * 2000])
def test_numbers_that_are_drawn_anew_pass(sizes: list[int]) -> None:
    draw = random.Random(1)
    classes = [number for number, size in enumerate(sizes) for _ in range(size)]
    for _ in range(50):
        assert not _more_than_chance(*shared(numbered(classes, draw), numbered(classes, draw)))
        parted = [draw.choice(classes) for _ in classes]
        assert not _more_than_chance(*shared(numbered(parted, draw), numbered(classes, draw)))


@pytest.mark.parametrize("sizes", [[5] * 10, [5] * 30, [3] * 40 + [400], [7] * 2000])
def test_numbers_that_are_used_again_do_not(sizes: list[int]) -> None:
    classes = numbered([n for n, size in enumerate(sizes) for _ in range(size)], random.Random(2))
    assert _more_than_chance(*shared(classes, classes))


def test_two_thirds_of_the_numbers_are_enough() -> None:
    assert _more_than_chance(classes=10, meetings=15, different=15)
    assert not _more_than_chance(classes=9, meetings=15, different=15)


def test_a_class_of_many_persons_that_meets_its_number_is_chance() -> None:
    assert not _more_than_chance(classes=1, meetings=2000, different=2000)
