"""The frontier of risk against loss around a policy, on a sample; its points can be selected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from anonymizer.errors import PolicyError
from anonymizer.explore.bench import Bench, Stop, alone
from anonymizer.policy import Policy
from anonymizer.review.scratch import Scratch
from anonymizer.review.sweep.grid import varied
from anonymizer.review.sweep.points import Point, marked
from anonymizer.review.sweep.run import point_of

LADDER = (2, 3, 5, 8, 12, 20, 50)
"""Values of k for the points, in addition to the policy's k."""
FIGURES = (
    *("risk", "largest_risk", "loss", "suppressed", "classes"),
    *("holds", "best", "problem"),
)
"""The figures that are copied to a point unchanged."""
OTHERS = ("mondrian", "lgb", "full_domain")
"""Algorithms that are tried with the policy's own guarantees."""


def options_of(policy: Policy) -> list[dict[str, str]]:
    """The options of the points: k along the ladder, and the algorithm. The policy is first."""
    k = policy.privacy.k_anonymity
    found: list[dict[str, str]] = [{}]
    if k is not None:
        found += [{"k": str(one)} for one in LADDER if one != k]
    found += [{"algorithm": name} for name in OTHERS if name != policy.algorithm.name]
    return found


def frontier(
    policy: Policy,
    bench: Bench,
    stop: Stop,
    told: Callable[[dict[str, Any]], None],
    first: Scratch | None,
) -> None:
    """Try every point, and report the frontier after each. `first`: a run of the policy itself."""
    if policy.algorithm.classless:
        return
    points: list[Point] = []
    wanted = options_of(policy)
    for number, options in enumerate(wanted, 1):
        stop.check()
        points.append(_point(policy, options, bench, stop, None if options else first))
        told({"points": list(_shown(policy, points)), "done": number, "of": len(wanted)})


def _point(
    policy: Policy, options: dict[str, str], bench: Bench, stop: Stop, first: Scratch | None
) -> Point:
    try:
        chosen = varied(alone(policy), options)
    except PolicyError as error:
        return Point(dict(options), problem=str(error.problems[0]))
    assert isinstance(chosen, Policy)
    found = first
    if found is None:
        outcome, found = bench.tried(chosen, stop)
        if found is None:
            return Point(dict(options), problem=str(outcome.problems[0]))
    return point_of(chosen, options, found)


def _shown(policy: Policy, points: list[Point]) -> Iterator[dict[str, Any]]:
    for point in marked(points):
        yield {
            "now": not point.options,
            "name": point.name or _name(policy),
            "edits": list(_edits(point)),
            **{name: getattr(point, name) for name in FIGURES},
        }


def _name(policy: Policy) -> str:
    k = policy.privacy.k_anonymity
    return f"k={k}" if k is not None else policy.algorithm.name


def _edits(point: Point) -> Iterator[dict[str, Any]]:
    for name, value in point.options.items():
        if name == "k":
            yield {"path": ["privacy", "k_anonymity"], "value": int(value)}
        else:
            yield {"path": ["algorithm"], "value": {"name": value}}
