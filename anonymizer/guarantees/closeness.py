"""t-closeness with equal, ordered and hierarchical distance."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.contract.layout import Ask, Requirement
from anonymizer.errors import NothingToCheckError
from anonymizer.guarantees.guarantee import Example, Flag, Guarantee
from anonymizer.guarantees.rule import (
    Layers,
    Rule,
    at_most,
    big,
    categories,
    layer,
    share,
    size_layer,
    window,
)
from anonymizer.policy.paths import column_path

# t-closeness with equal distance: how far a class's distribution is from the table's.
#
# D = ½ Σ_s |p_s - q_s|  over all values of the reference and NULL,  D <= t
#
# where p is the distribution of the class, q that of the reference. Units: between 0 and 1. Source:
# Li, Li, Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and l-diversity" (2007),
# §4.1.
#
# NULL is a separate category. Values that the class lacks contribute q_s each, in total Q - Σ q_s
# over those it has, so they need no rows. Exact: both sides times 2·N·Q are whole numbers.


@dataclass(frozen=True, slots=True)
class TCloseness(Rule):
    """Common base of the three distances. `t` is the largest distance allowed."""

    name: ClassVar[str] = "t_closeness"
    relative: ClassVar[bool] = True
    distance: ClassVar[str]

    t: float

    def holds(self) -> Sql:
        t = at_most(self.t)
        return Sql(
            f"{big(self._distance)} * {lit(t.denominator)} <= {self._scale} * {lit(t.numerator)}"
        )

    def achieved(self) -> Sql:
        return share(self._distance, self._scale)

    @property
    @abstractmethod
    def _distance(self) -> str:
        """Aggregate: the distance times `_scale`, a whole number."""

    @property
    @abstractmethod
    def _scale(self) -> str:
        """Aggregate: a whole number, 0 for groups and tables without units."""

    @property
    def _units(self) -> str:
        """Aggregate: units of the class times units of the reference."""
        return f"({big('coalesce(sum(n), 0)')} * coalesce(max(q_size), 0))"


@dataclass(frozen=True, slots=True)
class TEqual(TCloseness):
    """t-closeness with equal distances between all values."""

    distance: ClassVar[str] = "equal"

    def layers(self, part: Sql) -> Layers:
        return (size_layer(part),)

    @property
    def _distance(self) -> str:
        present = "coalesce(sum(abs(n * q_size - q * group_size)), 0)"
        absent = "(coalesce(max(q_size), 0) - coalesce(sum(q), 0))"
        return f"({big(present)} + {big('coalesce(sum(n), 0)')} * {absent})"

    @property
    def _scale(self) -> str:
        return f"({self._units} * 2)"


# t-closeness with ordered distance: values are as far apart as their ranks.
#
# D = 1/(m-1) Σ_i |Σ_(j<=i) (p_j - q_j)|,  D <= t;  D = 0 if m = 1
#
# over the m categories of the reference in their order; NULL, where it occurs, is one of them and
# the first. Units: between 0 and 1. Source: Li et al. (2007), §4.1. Exact: both sides times
# (m-1)·N·Q are whole numbers. Needs a row for every value in every group.


@dataclass(frozen=True, slots=True)
class TOrdered(TCloseness):
    """t-closeness where distance is the difference of ranks."""

    distance: ClassVar[str] = "ordered"
    dense: ClassVar[bool] = True

    def layers(self, part: Sql) -> Layers:
        over = window(part, order="value", running=True)
        running = f"cast(sum(n * q_size - q * group_size) {over} as bigint)"
        return (size_layer(part), layer(running_surplus=running))

    @property
    def _distance(self) -> str:
        return "coalesce(sum(abs(running_surplus)), 0)"

    def by_runs(self) -> TOrderedByRuns:
        """The same rule, evaluated only over the values that occur in a group."""
        return TOrderedByRuns(self.column, self.t, null_as_value=self.null_as_value)

    @property
    def _scale(self) -> str:
        return f"({self._units} * (greatest({categories()}, 2) - 1))"


@dataclass(frozen=True, slots=True)
class TOrderedByRuns(TOrdered):
    """The same rule without rows for values that a group lacks.

    Between a value of the group and its next one, the group's cumulative share is constant. The sum
    over such a run is `run_area`, which a template computes from prefix sums of the reference:
    `place` (rank of the value), `upto` (units up to it) and `area` (the sum of `upto` so far).
    """

    dense: ClassVar[bool] = False

    def layers(self, part: Sql) -> Layers:
        over = window(part, order="value")
        return (
            size_layer(part),
            layer(
                running_n=f"cast(sum(n) {window(part, order='value', running=True)} as bigint)",
                previous_place=f"lag(place) {over}",
                next_place=f"lead(place) {over}",
                next_before=f"lead(area - upto) {over}",
            ),
        )

    @property
    def _distance(self) -> str:
        return "coalesce(sum(run_area), 0)"


# t-closeness: the guarantee in a policy, with any of the three distances.
#
# The distances are `t_equal`, `t_ordered` and `t_hierarchical`. Source: Li, Li, Venkatasubramanian,
# "t-Closeness: privacy beyond k-anonymity and l-diversity" (2007).


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
    def _distance(self) -> str:
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


T_CLOSENESS = Guarantee(
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
