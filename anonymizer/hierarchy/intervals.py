"""Hierarchies of one level of given intervals, with bottom- and top-coding."""

from __future__ import annotations

from anonymizer.compile import Sql, lit, sql
from anonymizer.hierarchy.grid import finish, given_bound, line, refuse_infinite
from anonymizer.hierarchy.place import Place
from anonymizer.policy.builders import Intervals
from anonymizer.steps import Stage


def intervals(place: Place, spec: Intervals) -> tuple[Stage, ...]:
    """Build one level of intervals, each starting at a cut; level 2 is the root.

    Values below the first cut are an error unless `bottom` is given. Bottom- and top-coded
    intervals are open (`< 18`, `>= 90`), so that they do not disclose the extremes; `lo` and `hi`
    hold the ends of the data, for measures. Without `top`, the last interval ends with the data.
    """
    scale = line(place)
    marks = {given_bound(place, "cuts", cut): cut for cut in spec.cuts}
    if spec.bottom is not None:
        marks.setdefault(given_bound(place, "bottom", spec.bottom), spec.bottom)
    if spec.top is not None:
        marks.setdefault(given_bound(place, "top", spec.top), spec.top)
    typed = [scale.literal(marks[at]) for at in sorted(marks)]
    uncovered: tuple[Stage, ...] = ()
    if spec.bottom is None:
        uncovered = (
            place.refuse_values(
                sql("value < {first}", first=typed[0]),
                "below the first cut, in no interval",
                "give bottom, or a lower first cut",
            ),
        )
    return (
        *refuse_infinite(place),
        *uncovered,
        place.step(
            "cut_points",
            values=place.values,
            bounds=place.table("bounds"),
            marks=typed,
            before=scale.before(Sql("m.past")),
            before_first=scale.before(Sql("e.first_mark")),
            bottom=_open("<", spec.bottom),
            top=_open(">=", spec.top),
        ),
        finish(place, points=scale.line == "points", wide=True),
    )


def _open(sign: str, bound: int | float | str | None) -> Sql:
    return lit(None if bound is None else f"{sign} {bound}")
