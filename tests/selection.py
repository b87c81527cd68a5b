"""Parameters of which the default run takes a part, and `-m slow` the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

slow = pytest.mark.slow


def few(values: Iterable[Any], fast: int, *, by: int = 1) -> list[Any]:
    """All of `values`, the slow ones marked: of every `by` one, up to `fast`, is run by default."""
    marked = []
    for at, value in enumerate(values):
        given = value if isinstance(value, tuple) else (value,)
        default = at % by == 0 and at // by < fast
        marked.append(value if default else pytest.param(*given, marks=slow))
    return marked


def rounds(fast: int, thorough: int) -> pytest.MarkDecorator:
    """A test that draws `rounds` times: a few times by default, more often among the slow ones."""
    return pytest.mark.parametrize("rounds", [fast, pytest.param(thorough, marks=slow)])
