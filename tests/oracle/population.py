"""k-map and delta-presence of a release, tuple by tuple and member by member.

A release is a list of (tuple of cells, unit); a population a list of members' values. A value that
the hierarchy of a column does not know matches `*` surely, and any other inner node possibly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracle.cells import Cell, Domain, Exact, Star, as_text, covers, is_null

Tuple = tuple[Cell, ...]


def admits(cell: Cell, value: Any, domain: Domain) -> tuple[bool, bool]:
    """Whether the cell admits the value surely, and whether it does so possibly."""
    if is_null(value):
        found = covers(cell, value, domain)
        return found, found
    if isinstance(cell, Star):
        return True, True
    if domain.nodes and as_text(value) not in domain.members:
        return False, isinstance(cell, Exact) and cell.value in domain.nodes
    found = covers(cell, value, domain)
    return found, found


@dataclass(frozen=True)
class Figures:
    """The worst tuple by every model; `unmatched` members match no tuple surely."""

    k_map: int
    least: Fraction
    most: Fraction | None
    """None: rows that no member matches."""
    unmatched: int


def figures(
    rows: Sequence[tuple[Tuple, Hashable]],
    population: Sequence[tuple[Any, ...]],
    domains: Sequence[Domain],
) -> Figures:
    """Units are different persons or rows; every member counts."""
    units: dict[Tuple, set[Hashable]] = defaultdict(set)
    for cells, unit in rows:
        units[cells].add(unit)
    matched: set[int] = set()
    least: list[Fraction] = []
    most: list[Fraction | None] = []
    sizes: list[int] = []
    for cells, found in units.items():
        sure = possible = 0
        for number, member in enumerate(population):
            judged = [admits(*one) for one in zip(cells, member, domains, strict=True)]
            possible += all(one[1] for one in judged)
            if all(one[0] for one in judged):
                sure += 1
                matched.add(number)
        sizes.append(sure)
        least.append(Fraction(len(found), possible) if possible else Fraction(1))
        most.append(Fraction(len(found), sure) if sure else None)
    finite = [share for share in most if share is not None]
    return Figures(
        k_map=min(sizes),
        least=min(least),
        most=max(finite) if len(finite) == len(most) else None,
        unmatched=len(population) - len(matched),
    )
