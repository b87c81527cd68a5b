"""Builds hierarchies on a plain connection, and states what must hold for every one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
from pydantic import TypeAdapter

from anonymizer.compile import SCRATCH, Table, ident, work
from anonymizer.hierarchy import stages
from anonymizer.policy.hierarchies import Hierarchy
from anonymizer.steps import Compute, Guard, Stage, Step

OPTIONS: TypeAdapter[Any] = TypeAdapter(Hierarchy)


class Built:
    """One hierarchy in a database of its own."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        self.connection.execute(f"attach ':memory:' as {SCRATCH}")
        self.connection.execute("set timezone = 'America/New_York'")

    def raw(self, text: str, where: str = "test") -> list[tuple[Any, ...]]:
        return self.connection.execute(text).fetchall()

    def run(self, todo: tuple[Stage, ...]) -> None:
        for stage in todo:
            match stage:
                case Step():
                    self.raw(stage.statement().text)
                case Guard():
                    rows = self.raw(stage.query.statement().text)
                    if rows:
                        raise stage.error([stage.explain(row) for row in rows])
                case Compute():
                    made = stage.function(self.raw(stage.query.statement().text))
                    target = ident(stage.target).text
                    columns = ", ".join(f"{name} {kind}" for name, kind in stage.columns)
                    self.raw(f"create or replace table {target} ({columns})")
                    if made:
                        marks = ", ".join("?" for _ in stage.columns)
                        self.connection.executemany(f"insert into {target} values ({marks})", made)
                case _:
                    raise AssertionError(stage)

    def rows(self, columns: str, table: str = "hierarchy_1") -> list[tuple[Any, ...]]:
        name = ident(work(table)).text
        return self.raw(f"select distinct {columns} from {name} order by all")

    def labels(self, level: int) -> list[str]:
        """Labels of a level in the order of its nodes."""
        name = ident(work("hierarchy_1")).text
        return [
            label
            for _, label in self.raw(
                f"select distinct node, label from {name} where level = {level} order by node"
            )
        ]

    def counts(self) -> list[int]:
        """Nodes per level, from level 1 up."""
        return [len(self.labels(level)) for level in range(1, self.height + 1)]

    @property
    def height(self) -> int:
        found = self.raw(f"select max(level) from {ident(work('hierarchy_1')).text}")[0][0]
        return int(found or 0)


def build(
    spec: dict[str, Any],
    values: str,
    sql_type: str,
    kind: str = "numeric",
    *,
    base: Path = Path(),
    tables: str = "",
    nested: bool = True,
) -> Built:
    """Build over `values`, a query of value and n; check it; `tables` creates what it may read."""
    built = Built()
    if tables:
        built.raw(tables)
    built.raw(
        f"create table {ident(work('values_1')).text} as"
        f" select cast(value as {sql_type}) as value, cast(n as bigint) as n from ({values})"
    )
    options = OPTIONS.validate_python(spec)
    built.run(stages(1, sql_type, kind, options, column="x", base=base, resolve=Table))
    check(built, sql_type, nested=nested)
    return built


def check(built: Built, sql_type: str, *, nested: bool) -> None:
    """What every hierarchy promises: see `anonymizer.hierarchy.stages`."""
    hierarchy, values = ident(work("hierarchy_1")).text, ident(work("values_1")).text
    described = built.raw(f"describe {hierarchy}")
    assert [(row[0], row[1]) for row in described] == [
        ("value", sql_type),
        ("leaf", "BIGINT"),
        ("level", "INTEGER"),
        ("node", "BIGINT"),
        ("label", "VARCHAR"),
        ("leaves", "BIGINT"),
        ("lo", sql_type),
        ("hi", sql_type),
    ]
    broken = {
        "every value has every level once": f"""
            select 1 from {values} v left join {hierarchy} h on v.value = h.value
            group by v.value
            having count(h.level) <> (select max(level) from {hierarchy})
                or count(distinct h.level) <> count(h.level) or min(h.level) <> 1""",
        "no other value": f"select 1 from {hierarchy} anti join {values} using (value)",
        "one leaf per value, one value per leaf": f"""
            select 1 from {hierarchy} group by level
            having count(distinct leaf) <> count(*) or min(leaf) < 1""",
        "leaves of a node lie between it and its end": f"""
            select 1 from {hierarchy} where leaf < node or leaf >= node + leaves""",
        "nodes of a level do not overlap": f"""
            select 1 from (
                select distinct level, node, leaves,
                    lead(node) over (partition by level order by node) as following
                from (select distinct level, node, leaves from {hierarchy})
            ) where following < node + leaves""",
        "label, leaves and bounds belong to the node": f"""
            select 1 from {hierarchy} group by level, node
            having count(distinct label) > 1 or count(distinct leaves) > 1
                or count(distinct lo) > 1 or count(distinct hi) > 1""",
        "a label names one node of its level": f"""
            select 1 from {hierarchy} group by level, label having count(distinct node) > 1""",
        "bounds hold the value": f"select 1 from {hierarchy} where value < lo or value > hi",
        "one root, named *": f"""
            select 1 from {hierarchy} where level = (select max(level) from {hierarchy})
            having count(distinct node) > 1 or min(label) <> '*' or max(label) <> '*'""",
        "each level coarsens the one below": f"""
            select 1 from {hierarchy} a join {hierarchy} b using (value)
            where b.level = a.level + 1 and {nested} group by a.level, a.node
            having count(distinct b.node) > 1""",
    }
    for rule, query in broken.items():
        assert built.raw(query) == [], rule
