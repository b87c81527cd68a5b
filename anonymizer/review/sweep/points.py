"""The points of a sweep, and the Pareto front among them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from anonymizer.errors import AnonymizerError


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of options and its result."""

    options: dict[str, Any]
    holds: bool = False
    risk: float | None = None
    """Mean probability of picking the right row (person) in its class; with several tables, for an
    observer who also knows some rows (`parts`)."""
    largest_risk: float | None = None
    loss: float | None = None
    """NCP per quasi-identifying cell, including suppressed rows: 0 exact, 1 fully lost. With
    several tables, the NCP of an event cell is added."""
    suppressed: float | None = None
    """Share of suppressed rows (persons)."""
    classes: int | None = None
    seconds: float | None = None
    shared: int = 0
    """Statements that an earlier point had already run."""
    best: bool = False
    """On the Pareto front: no other point has less risk and less loss."""
    problem: str | None = None
    parts: dict[str, Any] | None = None
    """With several tables: what the observer `knows`; `loss_quasi` and `loss_events`, which add up
    to the loss; `rows_left_out`, the share of suppressed rows outside the persons' table."""

    @property
    def name(self) -> str:
        return ", ".join(f"{k}={v}" for k, v in self.options.items())

    def as_dict(self) -> dict[str, Any]:
        found = asdict(self)
        parts = found.pop("parts")
        return found | (parts or {})


def timed(options: Mapping[str, str], made: Callable[[], Point]) -> Point:
    """A point with its run time, or with the reason why it failed."""
    began = time.process_time()
    try:
        point = made()
    except AnonymizerError as error:
        return Point(dict(options), problem=str(error.problems[0]))
    return replace(point, seconds=round(time.process_time() - began, 3))


def marked(points: list[Point]) -> list[Point]:
    """Mark the points of the Pareto front."""

    def beaten(point: Point) -> bool:
        assert point.risk is not None
        assert point.loss is not None
        return any(
            other.risk <= point.risk
            and other.loss <= point.loss
            and (other.risk, other.loss) != (point.risk, point.loss)
            for other in points
            if other.holds and other.risk is not None and other.loss is not None
        )

    return [
        replace(p, best=p.holds and p.risk is not None and p.loss is not None and not beaten(p))
        for p in points
    ]


def groups(
    points: Sequence[Point],
) -> Iterator[tuple[str, list[tuple[float, float, str]]]]:
    """The points that hold, grouped by all options but the first, for a picture."""
    named: dict[str, list[tuple[float, float, str]]] = {}
    for p in points:
        if p.holds and p.risk is not None and p.loss is not None:
            (first, value), *rest = p.options.items()
            name = ", ".join(f"{k}={v}" for k, v in rest) or first
            named.setdefault(name, []).append((p.risk, p.loss, f"{first}={value}"))
    yield from named.items()
