"""Runs of a policy over a grid of its options: risk against utility."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

from markupsafe import Markup

from anonymizer.compile.sql import folder
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.source import open_session
from anonymizer.engines.session import Database
from anonymizer.errors import AnonymizerError, PolicyError, PolicyFormError, Problem
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.policy.schema import Knows
from anonymizer.process.secret import Seed
from anonymizer.process.text import environment, json_value
from anonymizer.review.observers import ONE, TWO, open_source
from anonymizer.review.trial import Bench, Figures

# The grid of a sweep: options of a policy, and the policy with them set.


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


def groups(points: Sequence[Point]) -> Iterator[tuple[str, list[tuple[float, float, str]]]]:
    """The points that hold, grouped by all options but the first, for a picture."""
    named: dict[str, list[tuple[float, float, str]]] = {}
    for p in points:
        if p.holds and p.risk is not None and p.loss is not None:
            (first, value), *rest = p.options.items()
            name = ", ".join(f"{k}={v}" for k, v in rest) or first
            named.setdefault(name, []).append((p.risk, p.loss, f"{first}={value}"))
    yield from named.items()


MOST_POINTS = 100
OPTION = "--vary"
ALGORITHM = ("algorithm", "name")
SHORT = {
    "k": ("privacy", "k_anonymity"),
    "algorithm": ALGORITHM,
    **{f"knows.{name}": ("privacy", "knows", name) for name in Knows.model_fields},
}
RULES = {"l": "l_diversity", "t": "t_closeness"}
NAMES = "k, l, t, algorithm, or a path in the policy such as algorithm.split"


def combinations(vary: Sequence[str]) -> list[dict[str, str]]:
    """All combinations of `NAME=VALUE,VALUE`. Raises PolicyError for text that cannot be read."""
    names: list[tuple[str, list[str]]] = []
    problems: list[Problem] = []
    for text in vary:
        name, equals, values = text.partition("=")
        listed = [value.strip() for value in values.split(",") if value.strip()]
        if not equals or not listed:
            hint = "as k=2,5,10, or algorithm.split=loss,median"
            problems.append(Problem(OPTION, "is not NAME=VALUE,VALUE", hint=hint))
        names.append((name.strip(), listed))
    found = [
        dict(zip([name for name, _ in names], values, strict=True))
        for values in product(*(listed for _, listed in names))
    ]
    if not problems and len(found) > MOST_POINTS:
        problems.append(Problem(OPTION, f"makes {len(found)} runs", allowed=f"up to {MOST_POINTS}"))
    if problems or not names:
        raise PolicyError(problems or Problem(OPTION, "is missing", hint="--vary k=2,5,10"))
    return found


def check(policy: AnyPolicy, grid: Sequence[Mapping[str, str]]) -> None:
    """Raises PolicyError for names and values that no policy can have, whatever the data.

    Values that only conflict with the rest of the policy are reported by their point.
    """
    options = dict.fromkeys(option for point in grid for option in point.items())
    # the names that exist depend on the algorithm only
    algorithms = [dict([option]) for option in options if _path(option[0]) == ALGORITHM]
    problems: dict[Problem, None] = {}
    for name, text in options:
        found = _form_problem(policy, {name: text})
        if found is not None and _path(name) != ALGORITHM:
            others = ({**algorithm, name: text} for algorithm in algorithms)
            if not all(_form_problem(policy, other) for other in others):
                continue
        if found is not None:
            problems[_as_varied(name, text, found)] = None
    PolicyError.refuse(problems)


def _form_problem(policy: AnyPolicy, options: Mapping[str, str]) -> Problem | None:
    try:
        varied(policy, options)
    except PolicyFormError as error:
        return error.problems[0]
    except PolicyError as error:
        first = error.problems[0]
        return first if first.path == OPTION else None
    return None


def _as_varied(name: str, text: str, found: Problem) -> Problem:
    """Convert a problem of the policy to one of the command line."""
    if found.path == OPTION:
        return Problem(OPTION, f"{name}: {found.message}", found.allowed, found.hint)
    if found.path == name:
        allowed = found.allowed if "." in name else NAMES
        return Problem(OPTION, f"{name} {found.message}", allowed, found.hint)
    return Problem(
        OPTION, f"{name}={text}: {found.path} {found.message}", found.allowed, found.hint
    )


def _path(name: str) -> tuple[str, ...]:
    return SHORT.get(name, tuple(name.split(".")))


def varied(policy: AnyPolicy, options: Mapping[str, str]) -> AnyPolicy:
    """The policy with some options set. Raises PolicyError if the result is invalid."""
    given: dict[str, Any] = deepcopy(policy.to_dict())
    # set the algorithm before its options, because it resets them to its defaults
    for name, text in sorted(options.items(), key=lambda option: _path(option[0]) != ALGORITHM):
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        if name in RULES:
            _set_rule(given, RULES[name], value)
            continue
        path = _path(name)
        if path == ALGORITHM and value != policy.algorithm.name:
            given["algorithm"] = {"name": value}
            continue
        place = given
        for part in path[:-1]:
            inner = place.get(part)
            place[part] = inner if isinstance(inner, dict) else {}
            place = place[part]
        place[path[-1]] = value
    return Policy.model_validate(given, context={"base": policy.base})


def _set_rule(given: dict[str, Any], rule: str, value: object) -> None:
    tables = given["tables"].values() if "tables" in given else [given]
    columns = [
        column
        for table in tables
        for column in table["columns"].values()
        if isinstance(column.get("protect"), dict)
        and (column["protect"].get(rule) is not None or column["role"] == "sensitive")
    ]
    if not columns:
        raise PolicyError.at(OPTION, "varies a rule that no column has")
    for column in columns:
        column["protect"][rule] = value


# A policy run over a grid of its options: risk against utility, and the Pareto front.
#
# Every point of the grid is compiled, run, verified like any release, and discarded; nothing is
# published. What all points share (the snapshot, hierarchies, codes, distinct tuples) is computed
# once: a statement is skipped if its table was made by the same text and inputs.


Trial = Callable[[AnyPolicy], Figures]
"""The figures of one policy."""


def _events(policy: AnyPolicy, options: Mapping[str, str]) -> int:
    try:
        point = varied(policy, options)
    except PolicyError:
        return 0
    return point.knows.events


def point(
    policy: AnyPolicy, options: Mapping[str, str], trial: Trial, knows: str | None = None
) -> Point:
    """The point of some options, or the reason why it failed.

    `knows`: of several tables, the observer whose risk is meant, the same for all points.
    """
    began = time.process_time()
    try:
        chosen = varied(policy, options)
        if chosen.algorithm.classless:
            said = "has neither classes nor losses, so that there is nothing to compare"
            raise PolicyError.at("algorithm.name", f"{chosen.algorithm.name} {said}")
        found = trial(chosen)
        PolicyError.refuse(found.problems)
    except AnonymizerError as error:
        return Point(dict(options), problem=str(error.problems[0]))
    made = Point(
        dict(options),
        holds=found.holds,
        risk=found.risk,
        largest_risk=found.largest_risk,
        loss=found.loss,
        suppressed=found.share,
        classes=found.classes,
        seconds=round(time.process_time() - began, 3),
        shared=found.shared,
    )
    return made if knows is None else _of_tables(made, found, knows)


def _of_tables(made: Point, found: Figures, knows: str) -> Point:
    """The point with the risk of an observer, and with the loss of events added."""
    # (without an event column there is no observer who knows an event)
    observer = next((one for one in found.observers if one.knows == knows), None)
    rows, lost, events = _events_lost(found.others)
    parts = {
        "knows": knows if observer is not None else None,
        "loss_quasi": made.loss,
        "loss_events": events,
        "rows_left_out": lost / rows if rows else 0.0,
    }
    made = replace(made, loss=(made.loss or 0.0) + (events or 0.0), parts=parts)
    if observer is None:
        return made
    return replace(made, risk=observer.found, largest_risk=1 / observer.fewest)


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


def sweep(
    policy: AnyPolicy,
    database: Database = None,
    *,
    vary: Sequence[str],
    seed: int = 0,
    limits: Limits | None = None,
) -> list[Point]:
    """Run every combination of the options in `vary`: `k=2,5,10`, `algorithm.split=loss,median`.

    `k`, `l`, `t`, `algorithm` are short for the table's k, the guarantees of all sensitive columns
    that have one, and the algorithm's name; `knows.events` is the number of a person's rows that
    may be known in several tables; every other name is a path in the policy. A point that fails
    contains the reason. Points of several tables share no work. Raises PolicyError for options that
    cannot be read, and for names and values that no policy has.
    """
    grid = combinations(vary)
    check(policy, grid)
    drawn = Seed.test(seed)
    if policy.several:

        def alone(one: AnyPolicy) -> Figures:
            with open_source(one, database, limits=limits) as session:
                return Bench(session, drawn).figures(one)

        knows = TWO if any(_events(policy, options) > 1 for options in grid) else ONE
        return marked([point(policy, options, alone, knows) for options in grid])
    with open_session(policy.one_table("compare"), database, limits=limits) as session:
        bench = Bench(session, drawn)
        return marked([point(policy, options, bench.figures) for options in grid])


# A sweep as one HTML file: explore the points without a server, or read them as a table.


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
class NumberedPoint:
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
        """Position of the text."""
        return self.x if self.anchor == "start" else self.x - self.width

    @property
    def width(self) -> float:
        """Approximate width of the text."""
        return LETTER * len(self.text)

    def touches(self, other: Label) -> bool:
        """Return whether the two texts overlap."""
        return (
            self.left < other.left + other.width
            and other.left < self.left + self.width
            and abs(self.y - other.y) < LINE
        )


def labels(placed: Sequence[NumberedPoint]) -> dict[int, Label]:
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
    placed = [NumberedPoint(n, one, across(one.risk or 0), up(one.loss or 0)) for n, one in shown]
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


def _data(points: Sequence[Point], placed: dict[int, NumberedPoint]) -> Markup:
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
    text = json.dumps(json_value(listed), ensure_ascii=True)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
