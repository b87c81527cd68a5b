"""Round figures that cannot be computed from the release."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from itertools import count
from typing import Any

DIGITS = 3
"""Significant digits of a figure that cannot be computed from the release alone."""
MANY = 10
"""Number of rows (persons) whose share is the finest step of a mean over all: a single one rarely
moves the mean to another step."""
SEARCH = ("level.", "lattice_", "ncp_")
"""Prefixes of the figures of a search that are told. Every other one, such as the number of
persons that were placed last, depends on hidden values and has no reader."""
BOUNDS = {"ncp_bound": "ncp", "ncp_weighted_bound": "ncp_weighted"}
"""Lower bounds, and the losses that are never below them."""
NODES = "lattice_nodes"
JUDGED = "lattice_judged"
LEAST = "lattice_bound"
LOSS = "lattice_loss"
SCORE = "lattice_score"
GAP = "lattice_gap"
GAP_STEP = Decimal("0.05")
"""The finest step of a gap between scores."""
TENTH = Decimal("0.1")


def coarse(value: float) -> float:
    """`value` with DIGITS significant digits."""
    return float(f"{value:.{DIGITS}g}")


def coarse_mean(value: float, units: int) -> float:
    """A share of `units` with DIGITS significant digits, in steps of the share of MANY of them.

    0 and 1 are told of what is exactly that: nothing, or everything.
    """
    if not 0 < value < 1:
        return value
    step = min(finest(units), Decimal("0.5"))
    told = round(Decimal(repr(value)) / step) * step
    return coarse(float(min(max(told, step), 1 - step)))


def finest(units: int, many: int = MANY) -> Decimal:
    """The smallest of 1, 2 or 5 times a power of ten that is the share of `many` units or more."""
    share = Decimal(many) / max(units, many)
    steps = (
        Decimal(m).scaleb(-places)
        for places in count()
        for m in (1, Decimal("0.5"), Decimal("0.2"))
    )
    found = Decimal(1)
    for step in steps:
        if step < share:
            break
        found = step
    return found


def of_search(
    figures: Mapping[str, Any], units: int, losses: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The figures of a search as they are told of a release of `units` rows (persons).

    A bound is rounded away from what it bounds; one that was estimated too high is lowered to the
    loss of the release, as in `losses`. A gap of 0 says that it is reached; any other one
    follows from the rounded figures, or, between scores, is given in steps.
    """
    told = {name: value for name, value in figures.items() if name.startswith(SEARCH)}
    for name, loss in BOUNDS.items():
        if told.get(name):
            least = _in_steps(told[name], finest(units), ROUND_FLOOR)
            told[name] = min(least, (losses or {}).get(loss, least))
    if NODES in told:
        nodes = int(told[NODES])
        told[NODES] = type(told[NODES])(10 ** len(str(nodes - 1)) if nodes > 1 else nodes)
        if JUDGED in told:
            # the count of judged nodes comes rounded: of 10 to 100
            told[JUDGED] = min(told[JUDGED], told[NODES])
    if LOSS in told:
        told |= _of_losses(told[LOSS], told[LEAST], units, proven=not told[GAP])
    if SCORE in told:
        told = _of_scores(told, units)
    return told


def of_population(required: Any, achieved: Any) -> Any:
    """Round a figure of a population towards the required one: that holds, and is public.

    A count is rounded down, the ends of shares outwards. A release without rows achieves nothing.
    """
    if isinstance(achieved, Mapping):
        if None in achieved.values():
            return achieved
        return {
            "min": max(required["min"], _in_steps(achieved["min"], TENTH, ROUND_FLOOR)),
            "max": min(required["max"], _in_steps(achieved["max"], TENTH, ROUND_CEILING)),
        }
    if achieved is None:
        return None
    tens = int(_in_steps(achieved, Decimal(MANY), ROUND_FLOOR))
    return max(required, min(tens, int(_digits(achieved, 2, ROUND_FLOOR))))


def _of_losses(loss: float, least: float, units: int, *, proven: bool) -> dict[str, float]:
    """A loss, its lower bound and the gap between them. A mean has steps; a sum has few digits."""

    def told(value: float, rounding: str) -> float:
        if loss > 1:
            return _digits(value, DIGITS, rounding)
        return _in_steps(value, finest(units), rounding)

    high = told(loss, ROUND_CEILING)
    low = told(least, ROUND_FLOOR)
    gap = 0.0 if proven or not high else _digits(1 - low / high, DIGITS, ROUND_CEILING)
    return {LOSS: high, LEAST: low, GAP: gap}


def _of_scores(told: Mapping[str, Any], units: int) -> dict[str, Any]:
    """Without the score and its bound: they count the values of tables that are not published."""
    step = max(finest(units), GAP_STEP)
    gap = min(_in_steps(told[GAP], step, ROUND_CEILING), 1.0)
    return {name: value for name, value in told.items() if name not in (SCORE, LEAST)} | {GAP: gap}


def _in_steps(value: float, step: Decimal, rounding: str) -> float:
    """A multiple of a step beside `value`."""
    return float((Decimal(repr(value)) / step).to_integral_value(rounding) * step)


def _digits(value: float, digits: int, rounding: str) -> float:
    """`value` with this many significant digits."""
    return float(Context(prec=digits, rounding=rounding).create_decimal(Decimal(repr(value))))
