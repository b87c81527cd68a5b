"""The levels of a hierarchy: their number, their distortion, and their display."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from anonymizer.compile import Sql, Table, lit, render, sql, work
from anonymizer.hierarchy.exchange import Engine
from anonymizer.hierarchy.scale import FOLDER, scale_of
from anonymizer.process.text import many
from anonymizer.steps import Step

if TYPE_CHECKING:
    from rich.table import Table as RichTable
    from rich.tree import Tree


# The shape of a hierarchy in numbers, for a search over its levels.


RunSql: TypeAlias = Callable[[str], list[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class Shape:
    """One hierarchy: the number of nodes per level, and how they are connected."""

    nodes: tuple[int, ...]
    """Nodes of levels 0 (the values) to h (the root) that contain values of the source."""
    children: tuple[int, ...]
    """For levels 0 to h-1: the largest number of the level's nodes under one node of the next."""
    nests: bool
    """True if each level coarsens the one below (divisor levels may not)."""

    @property
    def height(self) -> int:
        return len(self.nodes) - 1


def read_shapes(run_sql: RunSql, hierarchies: Sequence[Table]) -> tuple[Shape, ...]:
    """Read the shapes of hierarchies that have been built, in one statement."""
    if not hierarchies:
        return ()
    rows = run_sql(shape_sql(hierarchies))
    found: dict[int, list[tuple[Any, ...]]] = {}
    for row in rows:
        found.setdefault(int(row[0]), []).append(row)
    return tuple(_shape(found.get(tree, [])) for tree in range(len(hierarchies)))


def shape_sql(hierarchies: Sequence[Table]) -> str:
    """The statement that reads the shapes."""
    return render("hierarchy/shape", {"hierarchies": list(hierarchies)}).text


def _shape(levels: list[tuple[Any, ...]]) -> Shape:
    if not levels:  # a column of only NULLs has no tree, and is published unchanged
        return Shape((0,), (), True)
    return Shape(
        tuple(int(row[2]) for row in levels),
        tuple(int(row[3]) for row in levels[:-1]),
        all(int(row[4]) <= 1 for row in levels[:-1]),
    )


# Distortion: the cost of publishing a node of a hierarchy instead of the values below it.
#
# The default is H·(hi - lo)/(max - min) for intervals and H·(leaves - 1)/(all leaves - 1) for other
# nodes, H being the hierarchy's height; divided by H it is a share between 0 and 1, so that trees
# of different height are comparable. The formulas behind Table 4 of Yaseen et al. (2018) differ
# from builder to builder and are available only as a compatibility mode:
#
#   conventional   the root costs H, a child half of its parent
#   divisor        the root costs H, a child its parent's distortion times its share of the domain
#                  (reproduces levels 2 to 5 of Table 4; the published level 1, 0.1, follows from
#                  no
#                  formula with H in it)
#   cardinality    H·(hi - lo)/(max - min), as the default


INTERVALS = frozenset({"conventional", "divisor", "cardinality", "on_the_fly", "intervals", "date"})
"""Builders whose nodes have bounds."""
PUBLISHED = {"conventional": "halved", "divisor": "cumulative", "cardinality": "range"}
"""Builders for which Table 4 gives a formula, with the formula's name in the template."""


def table(index: int) -> Table:
    """The work table of distortions: level, node, distortion (0 to H), share (0 to 1)."""
    return work(f"distortion_{index}")


def distortion(index: int, sql_type: str, builder: str, *, published: bool = False) -> Step:
    """The step that writes `distortion_<index>` from `hierarchy_<index>`.

    `published` uses the formulas of Table 4. Raises ValueError for a builder without one.
    """
    if published and builder not in PUBLISHED:
        raise ValueError(f"Table 4 has no formula for {builder}; it has: {', '.join(PUBLISHED)}")
    form = "range" if builder in INTERVALS else "leaves"
    scale = scale_of(sql_type)
    point = 1 / scale.unit if scale is not None and scale.line == "points" else 0.0
    return Step(
        f"hierarchy_{index}.distortion",
        f"{FOLDER}/distortion",
        {
            "hierarchy": work(f"hierarchy_{index}"),
            "distortion": table(index),
            "form": PUBLISHED[builder] if published else form,
            "width": width(sql_type, builder),
            "point": lit(point),
        },
    )


def width(sql_type: str, builder: str) -> Sql:
    """Aggregate over the rows of one node in `hierarchy_<index>`: its width, as a double."""
    scale = scale_of(sql_type)
    if builder in INTERVALS and scale is not None:
        lo, hi = scale.measure(Sql("lo")), scale.measure(Sql("hi"))
        return sql("(min({hi}) - min({lo}))", lo=lo, hi=hi)
    return Sql("cast(min(leaves) - 1 as double)")


# The output of `anonymizer hierarchy show`: the tree, its levels, their counts and distortion.


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
class HierarchyDrawing:
    """A built hierarchy, ready to be drawn or written as JSON."""

    column: str
    builder: str
    nodes: tuple[Node, ...]

    @property
    def height(self) -> int:
        return max((node.level for node in self.nodes), default=0)

    @property
    def nests(self) -> bool:
        """True if every node is contained in one node of the level above."""
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

    def table(self) -> RichTable:
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
) -> HierarchyDrawing:
    """Read a hierarchy that has been built; `published` uses the distortions of Table 4."""
    costs = distortion(index, sql_type, builder, published=published)
    engine.raw(costs.statement().text, costs.name)
    step = Step(
        f"hierarchy_{index}.show",
        f"{FOLDER}/show_nodes",
        {
            "hierarchy": work(f"hierarchy_{index}"),
            "values": work(f"values_{index}"),
            "distortion": table(index),
        },
    )
    rows = engine.raw(step.statement().text, step.name)
    return HierarchyDrawing(column, builder, tuple(Node(*row) for row in rows))


def _line(node: Node) -> str:
    return (
        f"{node.label}  {many(node.values, 'value')}, {many(node.rows, 'row')},"
        f" distortion {node.distortion:.3g}"
    )


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
