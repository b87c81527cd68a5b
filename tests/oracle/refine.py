"""The last pass of mondrian, naively: units move to neighbouring classes while that loses less.

A round looks at the classes as they are. Every unit that its class can spare (k rows and another
unit remain) is offered to the classes at most `window` places away in the order of class numbers.
gain = loss before - loss after, over both classes, all attributes, in whole cells; every cell's
loss is rounded to 12 digits, the gain to 6. Of a unit's moves with a gain the best is kept (ties:
the lower class number). Moves are ranked by falling gain (ties: the lower unit); one is carried
out if no better one touches either of its classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tests.oracle.attributes import Attribute


def rounded(value: Fraction | float, digits: int) -> Fraction:
    """Half away from zero, as decimals are rounded."""
    scaled = Fraction(value) * 10**digits
    whole = int(abs(scaled) + Fraction(1, 2))
    return Fraction(whole if scaled >= 0 else -whole, 10**digits)


def refined(
    classes: Mapping[int, set[int]],
    tuples: Mapping[int, Sequence[Any]],
    sizes: Mapping[int, int],
    attributes: Sequence[Attribute],
    k: int,
    rounds: int,
    window: int,
) -> dict[int, set[int]]:
    """Classes (number to units) after the rounds. `tuples`: values of a unit; `sizes`: its rows."""

    def lost(units: set[int]) -> Fraction:
        n = sum(sizes[unit] for unit in units)
        cells = (
            attribute.loss([tuples[unit][j] for unit in units])
            for j, attribute in enumerate(attributes)
        )
        return n * sum((rounded(float(cell), 12) for cell in cells), Fraction())

    now = {number: set(units) for number, units in classes.items()}
    for _ in range(rounds):
        order = sorted(now)
        place = {number: i for i, number in enumerate(order)}
        offers = []
        for number in order:
            for unit in now[number]:
                rest = now[number] - {unit}
                if not rest or sum(sizes[u] for u in rest) < k:
                    continue
                saved = lost(now[number]) - lost(rest)
                near = order[max(0, place[number] - window) : place[number] + window + 1]
                found = [
                    (rounded(lost(now[to]) + saved - lost(now[to] | {unit}), 6), -to)
                    for to in near
                    if to != number
                ]
                gain, target = max(found, default=(Fraction(), 0))
                if gain > 0:
                    offers.append((-gain, unit, number, -target))
        used: set[int] = set()
        moves = []
        for _, unit, number, target in sorted(offers):
            if number not in used and target not in used:
                moves.append((unit, number, target))
            used |= {number, target}
        for unit, number, target in moves:
            now[number].remove(unit)
            now[target].add(unit)
    return now
