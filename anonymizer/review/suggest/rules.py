"""Rules that choose a hierarchy for a column: by name, type, counts, and range."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor, log2, log10
from typing import Any

from anonymizer.hierarchy.sets import MOST_VALUES
from anonymizer.policy.builders import DATE_LEVELS
from anonymizer.review.draft.profiles import FEW, Profile
from anonymizer.source import column_names
from anonymizer.source.profile import kind_of

DAY = [7, 4, 3]
"""Numbers of leading characters of 2020-01-31 that give its month, year and decade."""
MINUTE = [5, 2]
"""The same for 12:30:00: minute and hour."""
ALIKE = 0.9
"""From this share of rows in one format, a text column counts as having it."""
LONG_CODE = 12
BEGINNING = 16
"""Largest length of a prefix of a text."""
HALVED = 2
"""Each level has at least this many times the nodes of the next, if there are many levels."""
LEVELS = 5
LEAVES = 40
"""Largest number of intervals of the narrowest level of numbers."""
LARGEST = 2**53
"""The largest bound that a policy can contain."""
SMALLEST = 1e-300
DEGREES = [1, 5, 10, 30]
FINE = 0.01
"""Cell width in degrees of a grid over a small area: about a kilometre."""
ENDS = {"latitude": (-90, 90), "longitude": (-180, 180)}


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Options of a hierarchy, in the form of a policy, with a reason."""

    options: dict[str, Any]
    reason: str

    @property
    def text(self) -> str:
        """The options as they are written in a policy."""
        return (
            f"{{{', '.join(f'{name}: {_value(value)}' for name, value in self.options.items())}}}"
        )


def _value(value: object) -> str:
    return f"[{', '.join(str(one) for one in value)}]" if isinstance(value, list) else str(value)


def suggestions(p: Profile, ends: tuple[float, float] | None) -> Iterator[Suggestion]:
    """Suitable hierarchies for a column, the best first; `ends`: range of a numeric column."""
    different, kind = p.different or 0, kind_of(p.sql_type)
    if different <= 2 or kind is None:
        return
    if kind == "date":
        yield Suggestion({"builder": "date"}, "dates: by calendar periods")
    elif kind == "numeric":
        if ends is not None and not p.endless and _writable(*ends):
            yield from _of_numbers(p, *ends)
    elif written := of_writing(p):
        yield written
        if different <= FEW:
            yield Suggestion({"builder": "frequency"}, "a category: the rarest are merged first")
    elif different <= MOST_VALUES:
        yield Suggestion({"builder": "frequency"}, "a category: the rarest are merged first")
        if different > FEW and p.text:
            yield _beginnings(p)
    elif p.text:
        yield _beginnings(p)


def why_none(p: Profile, ends: tuple[float, float] | None) -> str:
    """Why no hierarchy suits the column."""
    if (kind := kind_of(p.sql_type)) is None:
        return "has a type without one"
    if (p.different or 0) <= 2:
        return "has two values or fewer"
    if p.endless:
        return "has values that are NaN or infinite, which no interval holds"
    if kind == "numeric" and ends is not None:
        return "has numbers too large, or too near to each other, for round bounds"
    return "has too many values to merge"


def pruned(suggestion: Suggestion, p: Profile, nodes: list[int]) -> Suggestion | None:
    """Remove levels that change nothing; None if only the root is left.

    `nodes`: the number of nodes per level, from the lowest to the root.
    """
    options = suggestion.options
    match options["builder"]:
        case "prefix":
            option = "lengths"
            steps: list[Any] = options.get("lengths") or list(range((p.longest or 1) - 1, 0, -1))
        case "date":
            option = "levels"
            steps = [name for name in DATE_LEVELS if not (name == "day" and p.sql_type == "DATE")]
        case _:
            return suggestion
    kept = _kept(steps, nodes, p.different or 0, 1)
    if len(kept) > LEVELS:
        kept = _kept(steps, nodes, p.different or 0, HALVED)
    if not kept:
        return None
    if kept == steps:
        return suggestion
    return Suggestion({**options, option: kept}, suggestion.reason)


def _kept(steps: list[Any], nodes: list[int], values: int, ratio: int) -> list[Any]:
    """The steps of levels with fewer nodes, by at least `ratio`, than the last level kept."""
    kept, below = [], values
    for step, here in zip(steps, nodes[:-1], strict=False):
        if 1 < here < below and here * ratio <= below:
            kept.append(step)
            below = here
    return kept


def of_writing(p: Profile, beyond: int = FEW) -> Suggestion | None:
    """A hierarchy for codes: days as text, postcodes, and texts formatted like codes.

    `beyond`: up to this many different codes are a category, whose values are merged directly.
    """
    known = p.known / p.rows if p.rows else 0.0
    if p.text and (p.like_day or 0.0) > ALIKE * known:
        return Suggestion(
            {"builder": "prefix", "lengths": DAY}, "days as text: month, year, decade"
        )
    if p.sql_type == "TIME":
        return Suggestion({"builder": "prefix", "lengths": MINUTE}, "times: minute and hour")
    if p.sql_type == "UUID":
        return Suggestion({"builder": "prefix", "lengths": [8, 4, 2]}, "a UUID: its beginning")
    if not p.text or (p.longest or 0) < 2:
        return None
    if column_names.says(p.column, column_names.POSTAL):
        return _codes(p, "postcodes: those that begin alike lie beside each other")
    coded = (p.like_code or 0.0) > ALIKE * known and (p.longest or 0) <= LONG_CODE
    if coded and (p.different or 0) > beyond:
        return _codes(p, "codes: those that begin alike are of one group")
    return None


def _codes(p: Profile, reason: str) -> Suggestion:
    longest = p.longest or 1
    if longest - 1 <= LEVELS:
        return Suggestion({"builder": "prefix"}, reason)
    step = longest / LEVELS
    lengths = sorted({round(longest - step * level) for level in range(1, LEVELS)}, reverse=True)
    return Suggestion({"builder": "prefix", "lengths": lengths}, reason)


def _beginnings(p: Profile) -> Suggestion:
    lengths = list(range(min((p.longest or 1) - 1, BEGINNING), 0, -1))
    options: dict[str, Any] = {"builder": "prefix", **({"lengths": lengths} if lengths else {})}
    return Suggestion(options, "texts of many values: by what they begin with")


def _of_numbers(p: Profile, low: float, high: float) -> Iterator[Suggestion]:
    span = high - low
    if span <= 0:
        return
    if place := _place(p, low, high):
        yield place
    elif span >= LEVELS:
        yield _round(p, low, high)
    else:
        # a bound of a column of whole numbers is a whole number
        width = 10.0 ** floor(log10(span / 10)) if p.parts else 1.0
        # the range is the width times a power of two, so that halves have short bounds
        begins = floor(low / width) * width
        doubled = ceil(log2((high - begins) / width))
        domain = [_tidy(begins), _tidy(begins + width * 2.0**doubled)]
        options = dict[str, Any](builder="conventional", min_width=_tidy(width), domain=domain)
        yield Suggestion(options, "numbers within a small range: halved again and again")


def _writable(low: float, high: float) -> bool:
    """Whether a policy can contain such bounds, and doubles can represent a tenth of their span."""
    return max(-low, high) <= LARGEST and not 0 < high - low < SMALLEST


def _place(p: Profile, low: float, high: float) -> Suggestion | None:
    """A grid of degrees for latitudes and longitudes, finer for a small area."""
    word = column_names.coordinate(p.column)
    if word is None or low < ENDS[word][0] or high > ENDS[word][1]:
        return None
    if high - low > DEGREES[1]:
        domain = list(ENDS[word])
        options = {"builder": "divisor", "divisors": DEGREES, "domain": domain}
        return Suggestion(options, f"a {word}: cells of a grid, in degrees")
    near: list[float] = [floor(low), max(ceil(high), floor(low) + 1)]
    options = dict[str, Any](builder="conventional", min_width=FINE, domain=near)
    return Suggestion(options, f"a {word} within a few degrees: cells of a grid, halved")


def _round(p: Profile, low: float, high: float) -> Suggestion:
    """Intervals with round bounds; each level is two or five times as wide as the level below."""
    width = 1
    while (high - low) / width > LEAVES:
        width *= _factor(width)
    if width == 1 and (p.different or 0) > LEVELS:
        width = 5
    widths = [width]
    while len(widths) < LEVELS and (wider := widths[-1] * _factor(widths[-1])) <= high - low:
        widths.append(wider)
    begins = min(0, floor(low / widths[-1]) * widths[-1])
    ends = (floor(high / width) + 1) * width - (0 if p.parts else 1)
    options = {"builder": "divisor", "divisors": widths, "domain": [begins, ends]}
    return Suggestion(options, "numbers: intervals with round bounds")


def _factor(width: int) -> int:
    return 5 if str(width)[0] == "1" else 2


def _tidy(number: float) -> float:
    return float(f"{number:.12g}")
