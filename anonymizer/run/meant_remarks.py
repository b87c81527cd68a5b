"""Warnings about a source that may mean otherwise than it is read, from the counts of `meant`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, MutableMapping
from typing import Any

from anonymizer.algorithms.guards import NEARLY_UNIQUE
from anonymizer.errors import Problem, SourceError
from anonymizer.policy import Policy
from anonymizer.policy.defaults import PRESETS
from anonymizer.policy.paths import column_path
from anonymizer.process.text import many
from anonymizer.run.meant import FEW, FIRST_YEAR, MEANT

ENOUGH = 20
"""Fewer rows say nothing about a table."""
CONTENTS = 10
"""Contents that have the same number of copies by no chance."""
HOUSEHOLD = 12
"""Persons up to which a group may be a household, on average."""
DIGITS = (
    "with more digits than its type is exact for: different ones may have become one; store them"
    " as text, as decimals or as whole numbers where they come from"
)
CENTURY = (
    f"before the year {FIRST_YEAR}: was the century left out when they were written or read? Add it"
    " in source.query, and make dates that stand for unknown ones NULL there"
)
SPELLED = (
    "another one but for upper and lower case, blanks, characters without width or the Unicode"
    " form, and count as different"
)
UNTOLD = "role drop, or role quasi, which counts it for k"
Figures = Mapping[str, Mapping[str, int]]
"""Counts of one kind, by column (as a number) and name."""


def meant_remarks(
    policy: Policy, notes: MutableMapping[str, Any], reported: Collection[str] = ()
) -> Iterator[str]:
    """The warnings; removes their counts from `notes`.

    `reported`: columns that are suspected already to tell whose row it is.
    """
    found = _figures(notes)
    for name in [name for name in notes if name.startswith(MEANT)]:
        del notes[name]
    yield from _counted(policy, found.get("early", {}), "date", CENTURY)
    yield from _counted(policy, found.get("large", {}), "whole number", DIGITS)
    yield from _spelled(policy, found.get("spelled", {}))
    yield from _repeating(found.get("copies", {}))
    yield from _groups(policy, found.get("groups", {}), reported)
    for name, told in _told(policy, found.get("beside", {})):
        yield f"{column_path(name)}: {told}; {UNTOLD}"
    yield from _alone(policy, found.get("alone", {}))


def refuse_told(policy: Policy, notes: Mapping[str, Any]) -> None:
    """Raise SourceError where a kept column tells a quasi-identifier, under a preset."""
    if policy.preset in PRESETS:
        SourceError.refuse(
            Problem(column_path(name), told, hint=UNTOLD)
            for name, told in _told(policy, _figures(notes).get("beside", {}))
            if policy.columns[name].role == "keep"
        )


def _figures(notes: Mapping[str, Any]) -> dict[str, dict[str, dict[str, int]]]:
    """The counts by kind, column (as a number) and name."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for name in [name for name in notes if name.startswith(MEANT)]:
        kind, place, figure = name.removeprefix(MEANT).split(".")
        found.setdefault(kind, {}).setdefault(place, {})[figure] = int(notes[name] or 0)
    return found


def _column(policy: Policy, place: str) -> str:
    return list(policy.columns)[int(place)]


def _counted(policy: Policy, found: Figures, unit: str, said: str) -> Iterator[str]:
    for place, figures in found.items():
        if figures["n"]:
            yield f"{column_path(_column(policy, place))}: has {many(figures['n'], unit)} {said}"


def _spelled(policy: Policy, found: Figures) -> Iterator[str]:
    for place, n in found.items():
        again = n["different"] - n["folded"]
        if place in ("key", "person"):
            path, column = place, str(getattr(policy, place))
            what = "rows of different persons" if place == "key" else "persons"
            if policy.ledger is not None:
                what += ", and the ledger recognizes each in one form only"
        else:
            column = _column(policy, place)
            path, what = column_path(column), "values for every rule on the column"
        if again:
            yield (
                f"{path}: {again:,} of {n['different']:,} values are {SPELLED} {what}: write each"
                f" in one way in source.query, as lower(trim({column}))"
            )
        if place not in ("key", "person") and _nearly_unique(policy, column, n):
            yield (
                f"{path}: is nearly unique ({n['single']:,} of {n['known']:,} values are those of"
                " one row or person) and published as it is: whoever knows a value finds its row,"
                " and rules on different values hold by themselves; make it coarser in"
                " source.query, or acknowledge_unique: true"
            )


def _nearly_unique(policy: Policy, column: str, n: Mapping[str, int]) -> bool:
    given = policy.columns[column]
    if given.role != "sensitive" or policy.algorithm.values_in != "class":
        return False
    nearly = n["known"] >= ENOUGH and n["single"] >= NEARLY_UNIQUE * n["known"]
    return nearly and not given.acknowledge_unique


def _repeating(found: Figures) -> Iterator[str]:
    """A warning if rows have more copies than rows of different persons have by chance."""
    if not found:
        return
    n, several = found["all"], found["several"]
    f = [0, *(several[m] for m in sorted(several, key=int))]
    humps = (_hump(f[m - 1], f[m], f[m + 1], m) for m in range(2, len(f) - 1))
    every = n["different"] >= CONTENTS and n["different"] in found["factor"].values()
    if every or any(humps):
        yield (
            f"source: {n['known'] - n['different']:,} of {n['known']:,} rows repeat another one in"
            " every column, more than rows of different persons do by chance: copies count for k"
            " and every other rule as persons; leave them out (select distinct in source.query), or"
            " name person"
        )


def _hump(below: int, here: int, above: int, m: int) -> bool:
    """Whether more contents have m copies than fits those that have one less and one more.

    However persons are spread over contents, the numbers f(m) of contents with m rows form a
    mixture of Poisson distributions, in which (m! f(m))^2 is at most (m-1)! f(m-1) (m+1)! f(m+1).
    """
    return here >= CONTENTS and m * here**2 > 4 * (m + 1) * (below + 3) * (above + 3)


def _groups(policy: Policy, found: Figures, reported: Collection[str]) -> Iterator[str]:
    for place, n in found.items():
        name = _column(policy, place)
        small = n["different"] < n["known"] <= HOUSEHOLD * n["different"]
        if (
            name in reported
            or not small
            or n["known"] < ENOUGH
            or 100 * n["alike"] <= FEW * n["large"]
        ):
            continue
        unit = "rows" if policy.person is None else "persons"
        yield (
            f"{column_path(name)}: numbers groups of {unit} ({n['different']:,} values, on average"
            f" {n['known'] / n['different']:.1f} {unit} and at most {n['most']:,}), and in"
            f" {n['alike']:,} of {n['large']:,} groups that are large enough for a class all"
            " quasi-identifiers are equal, and nobody else has them: one may fill a class;"
            f" k_anonymity: {n['most'] + 1} leaves two in every class"
        )


def _told(policy: Policy, found: Figures) -> Iterator[tuple[str, str]]:
    """Columns that tell quasi-identifiers, with what is said of them."""
    for place, others in found.items():
        named = [
            f"{_column(policy, quasi)} ({share} % of the rows)"
            for quasi, share in others.items()
            if share
        ]
        if named:
            told = f"is published as it is and tells {', '.join(named)}"
            yield _column(policy, place), f"{told}, however coarse that is published"


def _alone(policy: Policy, found: Figures) -> Iterator[str]:
    for n in found.values():
        if n["known"] >= ENOUGH and 100 * n["alone"] >= FEW * n["known"]:
            unit = "rows" if policy.person is None else "persons"
            named = [name for name, column in policy.columns.items() if column.role == "keep"]
            yield (
                f"columns: {n['alone']:,} of {n['known']:,} {unit} are alone with their values of"
                f" the columns of role keep ({', '.join(named)}), which k does not count; role"
                " quasi, round or drop"
            )
