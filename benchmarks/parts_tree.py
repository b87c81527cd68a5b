"""What many parts cost besides their solution: `python -m benchmarks.parts_tree`.

Trees of coarse cuts with up to 100,000 parts are made up, without the tables that they divide.
Measured is what a run does with a tree: the expression for the leaf of a tuple, the nodes, the
guarantees in them, the merge of parts that fail, and the dense numbers of classes. Writes
benchmarks/results/parts_tree.md.
"""

from __future__ import annotations

import random
import resource
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from anonymizer.algorithms.core.split import leaf_sql, nodes_of, parts_of
from anonymizer.compile import Sql
from anonymizer.source.profile import Attribute
from anonymizer.steps import Row
from benchmarks.common import RESULTS, machine, markdown_table

PARTS = (100, 1_000, 10_000, 100_000)
ATTRIBUTES = 9
CODES = 10_000
SAMPLED = 750
"""Sampled tuples of a part, on average."""
FAILING = 0.01
"""Share of the nodes that fail a guarantee."""
TUPLES = {100: 1_000_000, 1_000: 1_000_000, 10_000: 100_000, 100_000: 4_000}
"""Tuples whose leaf is looked up: few where that is slow."""
CLASSES = 10
"""Classes of a part that are numbered, of ten units each."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Coded:
    """An attribute, as far as the expression of a leaf depends on it."""

    index: int

    @property
    def c(self) -> Sql:
        return Sql(f"c{self.index}")


def made_up_tree(parts: int, seed: int = 1) -> list[Row]:
    """Cuts of the widest attribute, near the middle, as rows of the tree of a run."""
    draw = random.Random(seed)
    rows: list[Row] = []
    waiting = [(1, 1, parts * SAMPLED, [(0, CODES - 1)] * ATTRIBUTES)]
    while waiting:
        level, node, size, box = waiting.pop()
        widest = max(range(ATTRIBUTES), key=lambda j: box[j][1] - box[j][0])
        low, high = box[widest]
        if size < 2 * SAMPLED * 2 / 3 or high - low < 2:
            continue
        share = draw.uniform(0.4, 0.6)
        code, left = int(low + (high - low) * share), int(size * share)
        rows.append((level, node, widest, code, False, left))
        lower, upper = list(box), list(box)
        lower[widest], upper[widest] = (low, code), (code + 1, high)
        waiting.append((level + 1, node, left, lower))
        waiting.append((level + 1, node + left, size - left, upper))
    return sorted(rows)


def measured(parts: int) -> dict[str, Any]:
    """CPU seconds of every piece of work."""
    import duckdb
    import pandas as pd

    rows = made_up_tree(parts)
    coded: Any = [_Coded(j) for j in range(ATTRIBUTES)]
    attributes: list[Attribute] = coded
    draw = random.Random(2)
    leaf, composing = _timed(lambda: leaf_sql(attributes, rows).text)
    nodes, numbering = _timed(lambda: list(nodes_of(rows)))
    holding = [(*node, draw.random() >= FAILING) for node in nodes]
    found, merging = _timed(lambda: parts_of(holding))
    with duckdb.connect() as connection:
        connection.execute("set threads = 2")
        connection.execute("set enable_progress_bar = false")
        codes = ", ".join(
            f"cast(hash(i, {j}) % {CODES} as integer) as c{j}" for j in range(ATTRIBUTES)
        )
        connection.execute(
            f"create table tuples as select {codes} from range({TUPLES[parts]}) t(i)"
        )
        query = f"create or replace table leaf as select {leaf} as leaf from tuples"
        _, planning = _timed(lambda: connection.execute(f"{query} where false"))
        _, looking = _timed(lambda: connection.execute(query))
        node_rows = pd.DataFrame(nodes, columns=["node", "parent", "first_leaf", "last_leaf"])
        leaf_rows = pd.DataFrame({"leaf": node_rows["first_leaf"].unique(), "n": 250_000})
        connection.register("node_rows", node_rows)
        connection.register("leaf_rows", leaf_rows)
        connection.execute("create table nodes as select * from node_rows")
        connection.execute("create table leaves as select * from leaf_rows")
        _, judging = _timed(
            lambda: connection.execute(
                "create table sizes as select o.node, sum(l.n) as n from nodes o"
                " left join leaves l on l.leaf between o.first_leaf and o.last_leaf group by o.node"
            )
        )
        units = len(found) * CLASSES * 10
        connection.execute(
            "create table members as select i as unit, 1 + 3 * (i // 10) as class_id"
            f" from range({units}) t(i)"
        )
        _, ranking = _timed(
            lambda: connection.execute(
                "create table numbered as"
                " select unit, dense_rank() over (order by class_id) as class_id from members"
            )
        )
    return {
        "parts before": len(rows) + 1,
        "parts": len(found),
        "levels": max(row[0] for row in rows),
        "leaf expression, MB": len(leaf) / 1e6,
        "its text and plan, CPU s": composing + planning,
        "leaf of a tuple, CPU us": max(looking - planning, 0) / TUPLES[parts] * 1e6,
        "nodes, CPU s": numbering,
        "judging, CPU s": judging,
        "merging, CPU s": merging,
        "numbering a million units, CPU s": ranking / units * 1e6,
    }


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    began = _cpu()
    result = work()
    return result, _cpu() - began


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure every number of parts and write the page."""
    found = [measured(parts) for parts in PARTS]
    (RESULTS / "parts_tree.md").write_text(f"""# What many parts cost besides their solution

{machine()}. Made-up trees of coarse cuts over {ATTRIBUTES} attributes, {FAILING:.0%} of whose nodes
fail a guarantee; made by `python -m benchmarks.parts_tree`. CPU seconds. No table of that size was
divided.

{markdown_table(found)}
""")


if __name__ == "__main__":
    main()
