"""Hierarchies of calendar periods for dates and timestamps."""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.compile import Sql
from anonymizer.errors import Problem, SourceError
from anonymizer.hierarchy.grid import finish, line, refuse_infinite
from anonymizer.hierarchy.place import Place
from anonymizer.policy.builders import Date
from anonymizer.steps import Stage

LENGTHS = {
    "day": "1 day",
    "month": "1 month",
    "quarter": "3 months",
    "year": "1 year",
    "decade": "10 years",
}


@dataclass(frozen=True, slots=True)
class Period:
    """One calendar level."""

    name: str
    length: str


def date(place: Place, spec: Date) -> tuple[Stage, ...]:
    """A level per period, and the root. Periods of timestamps are in UTC.

    The day of a date is the value itself and not a separate level.
    """
    scale = line(place)
    periods = [
        Period(name, LENGTHS[name])
        for name in spec.levels
        if not (name == "day" and scale.line == "points")
    ]
    if not periods:
        raise SourceError(
            Problem(
                f"{place.path}.levels",
                "day is the value itself in a column of dates",
                allowed="month, quarter, year, decade",
            )
        )
    return (
        *refuse_infinite(place),
        place.step(
            "calendar",
            values=place.values,
            bounds=place.table("bounds"),
            periods=periods,
            plain=scale.plain(Sql("value")),
            begins_at=scale.begins_at(Sql("begins")),
            ends_at=scale.ends_at(Sql("past")),
        ),
        finish(place, points=scale.line == "points"),
    )
