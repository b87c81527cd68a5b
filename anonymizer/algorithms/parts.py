"""Splits statements over many attributes, because planning time is quadratic in the joins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from anonymizer.compile import Table, work

JOINED_AT_ONCE = 24
"""Most attributes whose domains one statement joins."""


T = TypeVar("T")


def in_parts(attributes: Sequence[T], prefix: str) -> tuple[tuple[Table, Sequence[T]], ...]:
    """A work table for every part of the attributes; empty if one statement can join them all."""
    if len(attributes) <= JOINED_AT_ONCE:
        return ()
    starts = range(0, len(attributes), JOINED_AT_ONCE)
    return tuple(
        (work(f"{prefix}_{number}"), attributes[start : start + JOINED_AT_ONCE])
        for number, start in enumerate(starts, 1)
    )
