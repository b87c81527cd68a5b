"""Validates the measures in a manifest from an untrusted source."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

NUMBERS = frozenset({"class_max", "suppressed_share"})
MORE = ("persons", "suppressed_persons", "counterfeits")
"""Counts that not every release has."""
MOST = 10**30
"""An upper bound on the figures of a release, below the largest doubles."""
LOSSES = "ncp"
"""Prefix of measures of information loss, with which reports calculate."""


def are_measures(measures: Mapping[str, Any]) -> bool:
    """Whether all measures are figures, including those of further tables.

    Raises KeyError, TypeError or AttributeError if a part is missing or has another type.
    """
    told = {name: value for name, value in measures.items() if name != "tables"}
    tables = measures.get("tables", {})
    return (
        all(map(is_figure, told.values()))
        and all(map(_is_number_or_none, _calculated(told)))
        and _has_counts(measures)
        and all(map(_is_of_table, tables.values()))
    )


def _calculated(measures: Mapping[str, Any]) -> Iterator[Any]:
    for name, value in measures.items():
        if name in NUMBERS or name.startswith(LOSSES):
            yield value


def _is_of_table(measures: Mapping[str, Any]) -> bool:
    return _has_counts(measures) and all(map(_is_number, measures["ncp"].values()))


def _has_counts(measures: Mapping[str, Any]) -> bool:
    """Whether the rows that are published, and those that are left out, are counted."""
    counts = [measures["rows"], measures["suppressed"]]
    counts += [measures[name] for name in MORE if name in measures]
    return all(_is_number(count) and isinstance(count, int) and count >= 0 for count in counts)


def is_figure(value: Any) -> bool:
    """Whether a value is a number, its text (an infinity, or an engine's decimal), or None."""
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return False
        return True
    return _is_number_or_none(value)


def _is_number_or_none(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < MOST and math.isfinite(value)
