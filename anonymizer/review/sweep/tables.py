"""The points of a sweep over a policy of several tables, each a separate run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from anonymizer.engines.base import Limits
from anonymizer.engines.session import Database
from anonymizer.errors import PolicyError
from anonymizer.policy import SchemaPolicy
from anonymizer.process.seed import Seed
from anonymizer.review.diff.trial import Tried, tried_tables
from anonymizer.review.sweep.grid import Point, timed, varied
from anonymizer.review.tables.observers import ONE, TWO
from anonymizer.review.tables.opening import open_source
from anonymizer.source.masking.keys import bound_values


def points_of_tables(
    policy: SchemaPolicy,
    grid: Sequence[Mapping[str, str]],
    database: Database,
    seed: Seed,
    limits: Limits | None,
) -> list[Point]:
    """Every point of the grid, all with the same observer, so that their risks are comparable."""
    knows = TWO if any(_events(policy, options) > 1 for options in grid) else ONE
    return [
        timed(options, partial(_point, policy, options, database, seed, limits, knows))
        for options in grid
    ]


def _events(policy: SchemaPolicy, options: Mapping[str, str]) -> int:
    try:
        point = varied(policy, options)
    except PolicyError:
        return 0
    assert isinstance(point, SchemaPolicy)
    return point.privacy.knows.events


def _point(
    policy: SchemaPolicy,
    options: Mapping[str, str],
    database: Database,
    seed: Seed,
    limits: Limits | None,
    knows: str,
) -> Point:
    point = varied(policy, options)
    assert isinstance(point, SchemaPolicy)
    with open_source(point, database, limits=limits) as session:
        session.engine.binds = bound_values(point, seed.secret)
        return _figures(point, options, tried_tables(point, session), knows)


def _figures(policy: SchemaPolicy, options: Mapping[str, str], found: Tried, knows: str) -> Point:
    # (without an event column there is no observer who knows an event)
    observer = next((one for one in found.observers if one.knows == knows), None)
    classes, share = found.measures["classes"], found.suppression.share
    rows, lost, events = _events_lost(found.others)
    loss = found.measures["ncp"]
    if observer is not None:
        risk, largest = observer.found, 1 / observer.fewest
    else:
        risk = classes / found.suppression.published
        largest = 1 / found.measures["class_min"]
    return Point(
        dict(options),
        holds=found.verification.passed and found.suppression.within(policy.suppression_limit),
        risk=risk,
        largest_risk=largest,
        loss=loss + (events or 0.0),
        suppressed=share,
        classes=classes,
        parts={
            "knows": knows if observer is not None else None,
            "loss_quasi": loss,
            "loss_events": events,
            "rows_left_out": lost / rows if rows else 0.0,
        },
    )


def _events_lost(others: Mapping[str, Any]) -> tuple[int, int, float | None]:
    """Rows, suppressed rows, and the mean NCP of an event cell; suppressed rows cost 1 per cell."""
    rows = sum(one["rows"] + one["suppressed"] for one in others.values())
    lost = sum(one["suppressed"] for one in others.values())
    cells, ncp = 0, 0.0
    for one in others.values():
        of_table = one["rows"] + one["suppressed"]
        cells += of_table * len(one["ncp"])
        ncp += of_table * sum(one["ncp"].values())
    return rows, lost, ncp / cells if cells else None
