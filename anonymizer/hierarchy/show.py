"""The output of `anonymizer hierarchy show`: the tree, its levels, their counts and distortion."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from anonymizer.compile import work
from anonymizer.hierarchy import distortion
from anonymizer.hierarchy.exchange import Engine
from anonymizer.hierarchy.place import FOLDER
from anonymizer.process.text import many
from anonymizer.steps import Step

if TYPE_CHECKING:
    from rich.table import Table
    from rich.tree import Tree

MOST_CHILDREN = 12
"""Largest number of children drawn under a node; others are only counted."""


@dataclass(frozen=True, slots=True)
class Node:
    """One node that contains values of the source."""

    level: int
    node: int
    label: str
    leaves: int
    values: int
    rows: int
    distortion: float
    share: float
    parent: int | None
    parents: int
    """Nodes above it; more than one if levels do not nest."""


@dataclass(frozen=True, slots=True)
class Level:
    """Figures of one level. Nodes without values of the source are not counted."""

    level: int
    nodes: int
    fewest_rows: int
    most_rows: int
    least_distortion: float
    most_distortion: float
    most_share: float


@dataclass(frozen=True, slots=True)
class Shown:
    """A built hierarchy, ready to be drawn or written as JSON."""

    column: str
    builder: str
    nodes: tuple[Node, ...]

    @property
    def height(self) -> int:
        return max((node.level for node in self.nodes), default=0)

    @property
    def nests(self) -> bool:
        """Whether every node is contained in one node of the level above."""
        return all(node.parents <= 1 for node in self.nodes)

    @property
    def levels(self) -> tuple[Level, ...]:
        by_level: dict[int, list[Node]] = defaultdict(list)
        for node in self.nodes:
            by_level[node.level].append(node)
        return tuple(
            Level(
                level,
                len(nodes),
                min(node.rows for node in nodes),
                max(node.rows for node in nodes),
                min(node.distortion for node in nodes),
                max(node.distortion for node in nodes),
                max(node.share for node in nodes),
            )
            for level, nodes in sorted(by_level.items())
        )

    def as_dict(self) -> dict[str, Any]:
        """The hierarchy as data for JSON: column, builder, height, nests, levels, nodes."""
        return {
            "column": self.column,
            "builder": self.builder,
            "height": self.height,
            "nests": self.nests,
            "levels": [asdict(level) for level in self.levels],
            "nodes": [asdict(node) for node in self.nodes],
        }

    def table(self) -> Table:
        """One line per level, from the root down."""
        from rich.table import Table

        drawn = Table("level", "nodes", "rows per node", "distortion", "share of the root's")
        for level in reversed(self.levels):
            drawn.add_row(
                str(level.level),
                f"{level.nodes:,}",
                _range(f"{level.fewest_rows:,}", f"{level.most_rows:,}"),
                _range(f"{level.least_distortion:.3g}", f"{level.most_distortion:.3g}"),
                f"{level.most_share:.3f}",
            )
        return drawn

    def tree(self, most_children: int = MOST_CHILDREN) -> Tree:
        """The nodes, each under its parent; levels that do not nest are listed in turn."""
        from rich.text import Text
        from rich.tree import Tree

        below: dict[tuple[int, int | None], list[Node]] = defaultdict(list)
        for node in self.nodes:
            below[node.level, node.parent if self.nests else None].append(node)
        title = Tree(Text(f"{self.column} ({self.builder}, {many(self.height, 'level')})"))

        def grow(branch: Tree, children: list[Node]) -> None:
            for node in children[:most_children]:
                grown = branch.add(Text(_line(node)))
                if self.nests:
                    grow(grown, below[node.level - 1, node.node])
            if len(children) > most_children:
                branch.add(Text(f"… {len(children) - most_children:,} more"))

        if self.nests:
            grow(title, below[self.height, None])
        else:
            for level in range(self.height, 0, -1):
                grow(title.add(f"level {level}"), below[level, None])
        return title


def show(
    engine: Engine,
    index: int,
    *,
    column: str,
    sql_type: str,
    builder: str,
    published: bool = False,
) -> Shown:
    """Read a hierarchy that has been built; `published` uses the distortions of Table 4."""
    costs = distortion.distortion(index, sql_type, builder, published=published)
    engine.raw(costs.statement().text, costs.name)
    step = Step(
        f"hierarchy_{index}.show",
        f"{FOLDER}/show_nodes.sql.j2",
        {
            "hierarchy": work(f"hierarchy_{index}"),
            "values": work(f"values_{index}"),
            "distortion": distortion.table(index),
        },
    )
    rows = engine.raw(step.statement().text, step.name)
    return Shown(column, builder, tuple(Node(*row) for row in rows))


def _line(node: Node) -> str:
    return (
        f"{node.label}  {many(node.values, 'value')}, {many(node.rows, 'row')},"
        f" distortion {node.distortion:.3g}"
    )


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
