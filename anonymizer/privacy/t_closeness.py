"""t-closeness: the guarantee in a policy, with any of the three distances.

The distances are `t_equal`, `t_ordered` and `t_hierarchical`. Source: Li, Li, Venkatasubramanian,
"t-Closeness: privacy beyond k-anonymity and l-diversity" (2007).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from anonymizer.compile import Sql
from anonymizer.contract.ask import Ask
from anonymizer.contract.layout import Requirement
from anonymizer.errors import NothingToCheckError
from anonymizer.policy.paths import column_path
from anonymizer.privacy.guarantee import Example, Flag, Guarantee
from anonymizer.privacy.rule import Layers, layer, size_layer, window
from anonymizer.privacy.t_equal import TCloseness, TEqual
from anonymizer.privacy.t_ordered import TOrdered


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


def t_rule(column: str | None, t: float, distance: str, height: int = 0) -> TCloseness:
    """t-closeness by the name of its distance. NULL is a category regardless of `null_as_value`."""
    match distance:
        case "equal":
            return TEqual(column, t)
        case "ordered":
            return TOrdered(column, t)
        case "hierarchical" if height > 0:
            return THierarchical(column, t, height)
        case _:
            raise ValueError(f"no t-closeness by distance {distance} with {height} levels")


def _numbered_paths(r: Requirement) -> dict[str, Any]:
    """`paths`: published value (as text) to its ancestors, parent first, all of the same length.

    The statement contains numbers instead of the ancestors' labels.
    """
    if r.parameters.get("distance") != "hierarchical":
        return {}
    paths: Mapping[str, Any] | None = r.parameters.get("paths")
    lengths = {len(nodes) for nodes in (paths or {}).values()}
    if not paths or len(lengths) != 1 or 0 in lengths:
        of_table = r.column is None  # which is possible only in a manifest that was changed
        where = "privacy" if of_table else column_path(str(r.column), "protect", "t_closeness")
        said = "the hierarchical distance needs the paths of the values, all of one length"
        raise NothingToCheckError.at(where, said)
    labels = sorted({(i, str(node)) for nodes in paths.values() for i, node in enumerate(nodes)})
    number = {label: i for i, label in enumerate(labels)}
    listed = [
        (leaf, [number[i, str(node)] for i, node in enumerate(nodes)])
        for leaf, nodes in sorted(paths.items())
    ]
    return {"paths": listed, "height": lengths.pop()}


GUARANTEE = Guarantee(
    name="t_closeness",
    field="protect.t_closeness",
    family="protection",
    asks=(
        Ask(
            "t_closeness_{distance}",
            "t-closeness",
            upper={"bound": "t"},
            # NULL is a separate category for every distance
            settings={"nulls_count": True},
            computed=_numbered_paths,
            reads=("paths",),
            constants=("distance",),
            defaults={"distance": "equal"},
            worst="greatest",
        ),
    ),
    rules=lambda given: [t_rule(given.column, given.value.t, given.value.distance, given.height)],
    says="The values of {column} in every {where} are distributed like those of the whole release,"
    " up to a distance of {t} ({distance}).",
    flags=(
        Flag("t_equal", ("t",), ("t", "t_closeness"), fixed={"distance": "equal"}),
        Flag("t_ordered", ("t",), fixed={"distance": "ordered"}),
    ),
    values=("paths",),
    lists_values=lambda required: required["distance"] == "hierarchical",
    docs=(
        r"t-closeness, equal (Li et al. 2007) | `t_closeness: 0.2` | `t=0.2` | ½ Σ \|p−q\| ≤ t"
        " | 0 to 1, less",
        r"t-closeness, ordered | `{t: 0.2, distance: ordered}` | `t_ordered=0.2`"
        r" | Σᵢ \|Σ_{j≤i}(p−q)\| / (m−1) ≤ t | 0 to 1, less",
        "t-closeness, hierarchical | `{t: 0.2, distance: hierarchical}` | of a release"
        " | Σ over inner nodes height/H · min(surplus, deficit) ≤ t | 0 to 1, less",
    ),
    examples=(
        Example({"t": 0.25}, holds="ab aabb", fails="aa bb"),
        Example({"t": 0.25, "distance": "ordered"}, holds="ab aabb", fails="aa bb"),
        Example(
            {"t": 0.25, "distance": "hierarchical"},
            holds="ab aabb",
            fails="aa bb",
            terms={"paths": {"a": ("x", "*"), "b": ("y", "*")}},
        ),
    ),
)
