"""Hierarchies of calendar periods for dates and timestamps."""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.compile import Sql
from anonymizer.hierarchy.ordered import finish, refuse_infinite
from anonymizer.hierarchy.place import Place
from anonymizer.plan import Stage
from anonymizer.policy.hierarchies import Date

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
    """A level per period, and the root. Periods of timestamps are those of UTC.

    The day of a date is the value itself and makes no level.
    """
    scale = place.scale
    assert scale is not None, "checked before the builder is called"
    periods = [
        Period(name, LENGTHS[name])
        for name in spec.levels
        if not (name == "day" and scale.line == "points")
    ]
    # with the day of dates alone, a decade stands in below the root rather than no level at all
    periods = periods or [Period("decade", LENGTHS["decade"])]
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
