"""t-closeness with hierarchical distance: values are as far apart as their lowest common node.

    D = Σ_N height(N)/H · min(Σ⁺, Σ⁻),  D <= t

over the inner nodes N of the column's hierarchy (all leaves at depth H), Σ⁺ and Σ⁻ the positive and
negative surplus (p - q) of N's children. Units: between 0 and 1. Source: Li et al. (2007), §4.2.

Since min(a, b) = ½(a + b - |a - b|), and a - b is N's own surplus, the sum telescopes:

    D = 1/H Σ_(j=0)^(H-1) ½ S_j,  S_j = Σ |surplus(N)| over the nodes of level j (leaves: 0)

the mean, over the levels below the root, of the equal distance at that level. NULL is a category
of its own that meets the others at the root only. Exact: both sides times 2·H·N·Q are whole
numbers. Needs a row for every value in every group, with the ancestors `a1` … `aH`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from anonymizer.compile import Sql
from anonymizer.privacy.rule import Layers, layer, size_layer, window
from anonymizer.privacy.t_equal import TCloseness


@dataclass(frozen=True, slots=True)
class THierarchical(TCloseness):
    """t-closeness by the column's hierarchy of `height` levels above the leaves."""

    distance: ClassVar[str] = "hierarchical"
    dense: ClassVar[bool] = True
    paths: ClassVar[bool] = True

    height: int

    def layers(self, part: Sql) -> Layers:
        surplus = layer(leaf_surplus="n * q_size - q * group_size")
        nodes: dict[str, str] = {}
        for level in self._inner:
            over = window(part, f"a{level}", "(value = 0)")
            nodes[f"surplus_{level}"] = f"cast(sum(leaf_surplus) {over} as bigint)"
            nodes[f"first_{level}"] = f"min(value) {over}"
        return (size_layer(part), surplus, *([layer(**nodes)] if nodes else []))

    @property
    def _inner(self) -> range:
        """Levels between leaves and root."""
        return range(1, self.height)

    @property
    def _moved(self) -> str:
        leaves = "coalesce(sum(abs(leaf_surplus)), 0)"
        inner = (
            f"coalesce(sum(abs(surplus_{level})) filter (where value = first_{level}), 0)"
            for level in self._inner
        )
        return f"({' + '.join([leaves, *inner])})"

    @property
    def _scale(self) -> str:
        return f"({self._units} * {2 * self.height})"
