"""All tables of whole numbers that agree with a publication, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from random import Random

Cell = tuple[str, ...]
ALL = "(all)"


def covers(cell: Cell, atom: Cell) -> bool:
    return all(label in (ALL, other) for label, other in zip(cell, atom, strict=True))


@dataclass(frozen=True)
class Publication:
    """Figures by cell, None where hidden; a missing cell is zero."""

    by: tuple[str, ...]
    figures: Mapping[Cell, int | None]
    atoms: tuple[Cell, ...]
    """The finest groups that may have somebody in them."""
    rounded: int = 1
    least: int = 1

    def ranges(self) -> dict[Cell, set[int]]:
        """Of every listed cell: its values in all tables that agree."""
        found: dict[Cell, set[int]] = {cell: set() for cell in self.figures}
        under = {c: [i for i, a in enumerate(self.atoms) if covers(c, a)] for c in self.figures}
        for table in self._tables([], under):
            for cell, places in under.items():
                found[cell].add(sum(table[i] for i in places))
        return found

    def bounds(self, cell: Cell) -> tuple[int, int]:
        """What the figure of a cell alone says."""
        figure, half = self.figures.get(cell), self.rounded // 2
        least = self.least if cell in self.figures else 0
        if figure is None:
            return least, 10**6
        return max(figure - half, least if half else 0), figure + half

    def _tables(self, begun: list[int], under: Mapping[Cell, list[int]]) -> Iterator[list[int]]:
        """Complete a table atom by atom, as long as no cell is beyond its bounds."""
        last = len(begun) - 1
        for cell, places in under.items():
            if last in places:
                low, high = self.bounds(cell)
                value = sum(begun[i] for i in places if i <= last)
                if value > high or (last == places[-1] and value < low):
                    return
        if last + 1 == len(self.atoms):
            yield begun
            return
        low, high = self.bounds(self.atoms[last + 1])
        most = max(n for n in self.figures.values() if n is not None) + self.rounded // 2
        for value in range(low, min(high, most) + 1):
            yield from self._tables([*begun, value], under)


def draw(random: Random, minimum: int) -> Publication:
    """A small table with totals, of which some groupings are missing and some figures hidden."""
    sizes = random.choice([(2, 3), (3, 3), (2, 2, 2), (2, 2, 3), (4,), (2, 4)])
    by = tuple("abc"[: len(sizes)])
    labels = [[f"{name}{i}" for i in range(size)] for name, size in zip(by, sizes, strict=True)]
    counts = {atom: random.choice([0, 0, 1, 1, 2, 3]) for atom in product(*labels)}
    counts[tuple(one[0] for one in labels)] = 2
    whole = random.random() < 0.75
    margins = [m for size in range(len(by) + 1) for m in combinations(range(len(by)), size)]
    kept = [m for m in margins if not m or random.random() < 0.8 or (whole and len(m) == len(by))]
    if not whole:
        kept = [m for m in kept if len(m) < len(by)]
    kept = kept if len(kept) > 1 else margins[:2]
    listed: dict[Cell, int] = {}
    for margin in kept:
        for atom, n in counts.items():
            if n:
                cell = tuple(label if d in margin else ALL for d, label in enumerate(atom))
                listed[cell] = listed.get(cell, 0) + n
    total = (ALL,) * len(by)
    figures: dict[Cell, int | None] = dict(listed)
    base = random.choice([1, 1, 1, 3])
    for cell, n in listed.items():
        if base > 1:
            figures[cell] = base * round(n / base)
        elif cell != total and (n < minimum or random.random() < 0.3):
            figures[cell] = None
    used = {m for m in kept if m}
    possible = [
        atom
        for atom in product(*labels)
        if all(
            tuple(label if d in margin else ALL for d, label in enumerate(atom)) in figures
            for margin in used
        )
    ]
    # a column that only totals are given of is in no group
    finest = sorted({d for margin in kept for d in margin})
    atoms = {tuple(a if d in finest else ALL for d, a in enumerate(atom)) for atom in possible}
    return Publication(by, figures, tuple(sorted(atoms)), base)
