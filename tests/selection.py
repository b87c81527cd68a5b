"""Parameters of which the default run takes a part, and `-m slow` and `-m exhaustive` the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

slow = pytest.mark.slow
exhaustive = pytest.mark.exhaustive


def few(values: Iterable[Any], fast: int, *, by: int = 1) -> list[Any]:
    """All of `values`, the slow ones marked: of every `by` one, up to `fast`, is run by default."""
    marked = []
    for at, value in enumerate(values):
        given = value if isinstance(value, tuple) else (value,)
        default = at % by == 0 and at // by < fast
        marked.append(value if default else pytest.param(*given, marks=slow))
    return marked


def some(fast: int, thorough: int | None = None) -> pytest.MarkDecorator:
    """Of a test's parameters, that are all alike, `fast` are run by default, spread over all.

    Of the others `thorough` are slow (default: one), and the rest is exhaustive.
    """
    return pytest.mark.some(fast, thorough)


def spread(count: int, of: int) -> set[int]:
    """So many places of a list, evenly: the first is always one of them."""
    return {at * of // count for at in range(min(count, of))}


def rounds(fast: int, thorough: int, most: int | None = None) -> pytest.MarkDecorator:
    """A test that draws `rounds` times: a few times by default, more often among the slow ones, and
    most often among the exhaustive ones.
    """
    numbers: list[Any] = [fast, pytest.param(thorough, marks=slow)]
    if most is not None:
        numbers.append(pytest.param(most, marks=exhaustive))
    return pytest.mark.parametrize("rounds", numbers)
