"""A sweep as one HTML file: explore the points without a server, or read them as a table."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from anonymizer.compile.environment import folder
from anonymizer.process.html import environment
from anonymizer.process.text import plain
from anonymizer.review.sweep.grid import Point

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 330, 88, 24, 16, 56
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)
"""Possible axis steps for shares; the first one with at most five ticks is used."""
MOST_STEPS = 5
LETTER, LINE = 11.5, 21.0
"""Approximate letter width and line height of a point's name on a phone, where letters are largest
relative to the points."""
BESIDE = (("start", 11.0, -8.0), ("end", -11.0, -8.0), ("start", 11.0, 17.0), ("end", -11.0, 17.0))
"""Positions of a name around its point, best first: anchor, and offset right and down."""
SCRIPT = "sweep/page.js"


@dataclass(frozen=True, slots=True)
class Placed:
    """A point in the picture; the number is its index in the list of all points."""

    number: int
    point: Point
    x: float
    y: float

    @property
    def name(self) -> str:
        """Its name in the picture: the values of its options, without the options' names."""
        return ", ".join(str(value) for value in self.point.options.values())


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a point, at a free position."""

    text: str
    anchor: str
    x: float
    y: float

    @property
    def left(self) -> float:
        """Where the text begins."""
        return self.x if self.anchor == "start" else self.x - self.width

    @property
    def width(self) -> float:
        """Approximate width of the text."""
        return LETTER * len(self.text)

    def touches(self, other: Label) -> bool:
        """Whether the two texts overlap."""
        return (
            self.left < other.left + other.width
            and other.left < self.left + self.width
            and abs(self.y - other.y) < LINE
        )


def labels(placed: Sequence[Placed]) -> dict[int, Label]:
    """Labels by point number. Points of the frontier are placed first.

    A name without room is left out; the table and the point itself show it.
    """
    found: dict[int, Label] = {}
    for one in sorted(placed, key=lambda p: not p.point.best):
        for anchor, right, down in BESIDE:
            label = Label(one.name, anchor, one.x + right, one.y + down)
            inside = label.left >= LEFT and label.left + label.width <= WIDTH
            if inside and not any(label.touches(other) for other in found.values()):
                found[one.number] = label
                break
    return found


@dataclass(frozen=True, slots=True)
class Axis:
    """Maps shares to positions in the picture."""

    start: float
    end: float
    most: float

    def __call__(self, value: float) -> float:
        return round(self.start + (self.end - self.start) * value / self.most, 1)

    @property
    def ticks(self) -> list[tuple[float, float]]:
        """Values and their positions."""
        step = next((one for one in STEPS if self.most / one <= MOST_STEPS), STEPS[-1])
        return [(step * n, self(step * n)) for n in range(int(self.most / step) + 1)]


def page(points: Sequence[Point], title: str) -> str:
    """The whole page. `title`: the policy's release."""
    shown = [
        (number, one)
        for number, one in enumerate(points)
        if one.risk is not None and one.loss is not None
    ]
    across = Axis(LEFT, WIDTH - RIGHT, 1.08 * max((p.risk or 0 for _, p in shown), default=1) or 1)
    up = Axis(HEIGHT - BOTTOM, TOP, 1.08 * max((p.loss or 0 for _, p in shown), default=1) or 1)
    placed = [Placed(n, one, across(one.risk or 0), up(one.loss or 0)) for n, one in shown]
    script = (folder("templates") / SCRIPT).read_text(encoding="utf-8")
    return environment().get_template("sweep/page.html.j2").render(
        title=title,
        points=points,
        placed=placed,
        labels=labels(placed),
        front=sorted((one.x, one.y) for one in placed if one.point.best),
        across=across,
        up=up,
        box={"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": RIGHT, "top": TOP,
             "bottom": BOTTOM},
        options=_values(points),
        several=any(one.parts for one in points),
        script=Markup(script),
        digest=_digest(script),
        data=_data(points, {one.number: one for one in placed}),
        percent=percent,
    )  # fmt: skip


def _values(points: Sequence[Point]) -> dict[str, list[str]]:
    """Every option with its values, in the order of the grid."""
    found: dict[str, dict[str, None]] = {}
    for one in points:
        for name, value in one.options.items():
            found.setdefault(name, {})[str(value)] = None
    return {name: list(values) for name, values in found.items()}


def percent(value: float | None, digits: int = 1) -> str:
    """A share in percent."""
    if value is None:
        return "–"
    return "<0.1 %" if 0 < value < 0.0005 else f"{100 * value:.{digits}f} %"


def _digest(script: str) -> str:
    """The hash that the page's security policy accepts for its script."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _data(points: Sequence[Point], placed: dict[int, Placed]) -> Markup:
    """The points as JSON in a script element, escaped so that no text can close it."""
    listed = [
        {
            "options": {name: str(value) for name, value in one.options.items()},
            "risk": percent(one.risk),
            "largest": percent(one.largest_risk),
            "loss": percent(one.loss),
            "suppressed": percent(one.suppressed),
            "classes": "–" if one.classes is None else f"{one.classes:,}",
            "said": one.problem
            or ("holds" if one.holds else "does not hold: nothing would be published"),
            "bad": not one.holds,
            "x": placed[number].x if number in placed else None,
            "y": placed[number].y if number in placed else None,
        }
        for number, one in enumerate(points)
    ]
    text = json.dumps(plain(listed), ensure_ascii=True)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
