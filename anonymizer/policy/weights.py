"""Weights of a policy's columns in the loss of a release."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from anonymizer.policy.columns import Column


def weights_given(columns: Mapping[str, Column]) -> dict[str, float]:
    """The weight of every quasi column; empty if all are equal, which has the same effect as
    none.
    """
    found = {
        name: 1.0 if column.weight is None else column.weight
        for name, column in columns.items()
        if column.role == "quasi"
    }
    return found if len(set(found.values())) > 1 else {}


def weights_of(columns: Mapping[str, Column]) -> dict[str, Fraction]:
    """The weights as exact fractions that add up to the number of columns, as without weights."""
    exact = {name: Fraction(repr(weight)) for name, weight in weights_given(columns).items()}
    whole = sum(exact.values())
    return {name: weight * len(exact) / whole for name, weight in exact.items()}
