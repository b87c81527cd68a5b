"""Suggested hierarchies, built over the table: their levels with examples and losses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from anonymizer.compile import ident, sql
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.session import open_session
from anonymizer.engines.session import Database
from anonymizer.errors import AnonymizerError
from anonymizer.hierarchy.show import Node, Shown
from anonymizer.policy import Policy, single
from anonymizer.review.assess.opening import Opened
from anonymizer.review.draft.profiles import Profile, profiles
from anonymizer.review.hierarchies import built
from anonymizer.review.suggest.rules import Suggestion, pruned, suggestions, why_none

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
