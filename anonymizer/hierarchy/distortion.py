"""Distortion: the cost of publishing a node of a hierarchy instead of the values below it.

The default is H·(hi - lo)/(max - min) for intervals and H·(leaves - 1)/(all leaves - 1) for other
nodes, H being the hierarchy's height; divided by H it is a share between 0 and 1, so that trees of
different height are comparable. The formulas behind Table 4 of Yaseen et al. (2018) differ from
builder to builder and are available only as a compatibility mode:

    conventional   the root costs H, a child half of its parent
    divisor        the root costs H, a child its parent's distortion times its share of the domain
                   (reproduces levels 2 to 5 of Table 4; the published level 1, 0.1, follows from no
                   formula with H in it)
    cardinality    H·(hi - lo)/(max - min), as the default
"""

from __future__ import annotations

from anonymizer.compile import Sql, Table, lit, sql, work
from anonymizer.hierarchy.place import FOLDER
from anonymizer.hierarchy.scale_of_type import scale_of
from anonymizer.steps import Step

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
        f"{FOLDER}/distortion.sql.j2",
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
