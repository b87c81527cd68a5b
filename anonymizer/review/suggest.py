"""Suggest plausible hierarchies for the columns of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import ceil, floor, log2, log10
from typing import Any

from anonymizer.compile import ident, sql
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.source import open_session
from anonymizer.engines.session import Database
from anonymizer.errors import AnonymizerError
from anonymizer.hierarchy.levels import Node, Shown
from anonymizer.hierarchy.sets import MOST_VALUES
from anonymizer.policy import Policy, single
from anonymizer.policy.hierarchies import DATE_LEVELS
from anonymizer.review.assess.classes import Opened
from anonymizer.review.draft.guess import FEW, Profile, profiles
from anonymizer.review.hierarchies import built
from anonymizer.source import column_names
from anonymizer.source.profile import kind_of

# Rules that choose a hierarchy for a column: by name, type, counts, and range.


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


# Suggested hierarchies, built over the table: their levels with examples and losses.


EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a suggested hierarchy, from 1; its loss is the mean share of the range per row."""

    level: int
    nodes: int
    loss: float
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Suggested:
    """A suggestion with its levels, or the reason why it cannot be built."""

    column: str
    suggestion: Suggestion | None
    levels: tuple[Level, ...] = ()
    refused: str | None = None

    def as_dict(self) -> dict[str, Any]:
        told = self.suggestion
        return {
            "column": self.column,
            "hierarchy": told.options if told else None,
            "reason": told.reason if told else None,
            "refused": self.refused,
            "levels": [{**asdict(one), "examples": list(one.examples)} for one in self.levels],
        }

    def lines(self) -> Iterator[str]:
        """The suggestion as lines of text."""
        if self.suggestion is None:
            yield f"{self.column}: {self.refused}"
            return
        yield f"{self.column}: hierarchy: {self.suggestion.text}   # {self.suggestion.reason}"
        if self.refused is not None:
            yield f"  {self.refused}"
            return
        yield "  level       nodes   loss  examples"
        for one in self.levels:
            examples = " | ".join(one.examples)
            yield f"  {one.level:<5} {one.nodes:>11,}  {one.loss:.3f}  {examples}"


def suggest(
    policy: Policy, database: Database, columns: Sequence[str] = (), limits: Limits | None = None
) -> tuple[Suggested, ...]:
    """Build suggestions for `columns` of a policy's source (default: those with role quasi).

    Raises SourceError if the source has no such column.
    """
    measured = _measured(single(policy, "hierarchy suggest"), database, columns, limits)
    made: list[Suggested] = []
    for p, ends in measured:
        found = tuple(suggestions(p, ends))
        if not found:
            refused = f"no hierarchy: {why_none(p, ends)}"
            made.append(Suggested(p.column, None, refused=refused))
        made += [_built(policy, database, p, one, ends, limits) for one in found]
    return tuple(made)


def _measured(
    policy: Policy, database: Database, columns: Sequence[str], limits: Limits | None
) -> list[tuple[Profile, tuple[float, float] | None]]:
    with open_session(only_quasi(policy, {}), database, limits=limits) as session:
        opened = Opened(session.embedded, session.source, session.profile.columns)
        wanted = opened.find(columns, "--column") or policy.quasi
        found = [p for p in profiles(opened) if p.column in wanted]
        return [(p, _ends(opened, p) if p.number else None) for p in found]


def _ends(opened: Opened, p: Profile) -> tuple[float, float] | None:
    text = sql(
        "select min({c})::double, max({c})::double from {r}",
        c=ident(p.column),
        r=opened.relation.sql,
    )
    low, high = opened.engine.raw(text.text, p.column)[0]
    return None if low is None else (low, high)


def only_quasi(policy: Policy, hierarchies: dict[str, Any]) -> Policy:
    """The policy over the same source with exactly these quasi columns; if none, its own."""
    columns: dict[str, Any] = {
        name: {"role": "quasi"} if name in policy.quasi and not hierarchies else {"role": "drop"}
        for name in policy.columns
    }
    for name, options in hierarchies.items():
        columns[name] = {"role": "quasi", "hierarchy": options}
    given = {
        "version": 1,
        "source": policy.source.model_dump(exclude_none=True),
        "columns": columns,
        "privacy": {"k_anonymity": 2},
        "algorithm": {"name": "full_domain" if hierarchies else "mondrian"},
        "publish": {"name": "suggested", "database": "suggested.duckdb"},
    }
    return type(policy).model_validate(given, context={"base": policy.base})


def _built(
    policy: Policy,
    database: Database,
    p: Profile,
    suggestion: Suggestion,
    ends: tuple[float, float] | None,
    limits: Limits | None,
) -> Suggested:
    try:
        shown = _shown(policy, database, p.column, suggestion, limits)
        fewer = pruned(suggestion, p, [level.nodes for level in shown.levels])
        if fewer is None:
            return Suggested(p.column, suggestion, refused="all its values would be one node")
        if fewer != suggestion:
            suggestion = fewer
            shown = _shown(policy, database, p.column, suggestion, limits)
    except AnonymizerError as error:
        said = "; ".join(problem.message for problem in error.problems)
        return Suggested(p.column, suggestion, refused=f"cannot be built: {said}")
    # loss is relative to the range of the data, which the domain may exceed
    domain = suggestion.options.get("domain")
    wider = 1.0
    if domain and ends and ends[1] > ends[0]:
        wider = max(1.0, (domain[1] - domain[0]) / (ends[1] - ends[0]))
    levels = (
        Level(level, nodes, loss, _examples([n for n in shown.nodes if n.level == level]))
        for level, nodes, loss in losses(shown, wider)
    )
    return Suggested(p.column, suggestion, tuple(levels))


def _shown(
    policy: Policy, database: Database, column: str, suggestion: Suggestion, limits: Limits | None
) -> Shown:
    chosen = only_quasi(policy, {column: suggestion.options})
    with built(chosen, database, limits=limits) as made:
        return made[0].shown()


def losses(shown: Shown, wider: float = 1.0) -> Iterator[tuple[int, int, float]]:
    """Each level's nodes and mean share lost of a range `wider` times that of the data."""
    for level in shown.levels:
        nodes = [node for node in shown.nodes if node.level == level.level]
        rows = sum(node.rows for node in nodes)
        lost = sum(node.rows * min(1.0, node.share * wider) for node in nodes)
        yield level.level, level.nodes, lost / rows if rows else 0.0


def _examples(nodes: list[Node]) -> tuple[str, ...]:
    """Labels from the beginning, the middle and the end of a level."""
    last = len(nodes) - 1
    places = sorted({0, last // 2, last})[:EXAMPLES]
    return tuple(_short(nodes[at].label) for at in places)


def _short(label: str) -> str:
    tidy = "".join(c if c.isprintable() else "?" for c in label)
    return tidy if len(tidy) <= 40 else tidy[:39] + "…"
