"""What the columns of a policy weigh in the loss of a release."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from anonymizer.policy.columns import Column


def weights_given(columns: Mapping[str, Column]) -> dict[str, float]:
    """The weight of every quasi column; nothing where all are the same, which is as if none were
    given.
    """
    found = {
        name: 1.0 if column.weight is None else column.weight
        for name, column in columns.items()
        if column.role == "quasi"
    }
    return found if len(set(found.values())) > 1 else {}


def weights_of(columns: Mapping[str, Column]) -> dict[str, Fraction]:
    """The same as exact shares that add up to the number of columns, as without weights."""
    exact = {name: Fraction(repr(weight)) for name, weight in weights_given(columns).items()}
    whole = sum(exact.values())
    return {name: weight * len(exact) / whole for name, weight in exact.items()}
