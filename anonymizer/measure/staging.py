"""Work tables of the query error: source and release as codes, created once for all queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from types import MappingProxyType
from typing import Any

from anonymizer.compile import Sql, Table, render
from anonymizer.contract.checks import RunSql
from anonymizer.contract.columns import quasi, type_sql
from anonymizer.contract.layout import Layout, PublishedColumn
from anonymizer.contract.originals import Originals

WHOLE = frozenset(
    {f"{sign}{kind}" for sign in ("", "U") for kind in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")}
    | {"HUGEINT", "UHUGEINT", "DATE"}
)
"""Types of whole numbers or days: the largest value below a bottom code is one less."""

_NO_NUMBERS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class QueryTables:
    """Physical names of the tables that all attributes share."""

    table: Callable[[str], Table]

    @property
    def source(self) -> Table:
        """The source as codes."""
        return self.table("query_source")

    @property
    def rows(self) -> Table:
        """The release with numbered cells."""
        return self.table("query_rows")

    @property
    def help(self) -> Table:
        """Sums of the smallest and largest values of every bucket."""
        return self.table("query_help")

    @property
    def draws(self) -> Table:
        """The queries of the current round."""
        return self.table("query_draws")


@dataclass(frozen=True, slots=True)
class Staged:
    """One attribute that queries may restrict, and its tables."""

    index: int
    column: PublishedColumn
    physical: str
    type: Sql
    table: Callable[[str], Table]

    @property
    def ordered(self) -> bool:
        return self.column.kind != "categorical"

    @property
    def parts(self) -> list[tuple[Sql, str]]:
        """The published columns of the generalized cell, each with its kind."""
        c = self.column
        named = {"name": c.name, "lo": c.lo, "hi": c.hi, "nullable": c.nullable}
        return [(Sql(part), name) for part, name in named.items() if name is not None]

    @property
    def domain(self) -> Table:
        """Values and their codes."""
        return self.table(f"query_domain_{self.index}")

    @property
    def members(self) -> Table:
        """The values covered by categorical cells and by buckets."""
        return self.table(f"query_members_{self.index}")

    @property
    def spans(self) -> Table | None:
        """The intervals of an ordered column."""
        return self.table(f"query_spans_{self.index}") if self.ordered else None

    @property
    def named(self) -> dict[str, Any]:
        """Its number and the tables of its values, under the names used in templates."""
        tables = {"domain": self.domain, "members": self.members, "spans": self.spans}
        return {"i": self.index, **tables}

    @property
    def truth(self) -> Table:
        """The codes that satisfy each predicate."""
        return self.table(f"query_truth_{self.index}")

    @property
    def shares(self) -> Table:
        """The part of each cell that satisfies each predicate."""
        return self.table(f"query_shares_{self.index}")


def stage(
    run_sql: RunSql,
    view: Table,
    layout: Layout,
    originals: Originals,
    summed: str | None,
    tables: QueryTables,
    carried: Sequence[str] = (),
    numbers: Mapping[str, int] = _NO_NUMBERS,
) -> list[Staged]:
    """Create the tables that do not depend on the queries; return the attributes they may use.

    Without `summed`, rows are counted, and there is no help table. `carried`: published columns
    that the rows keep. `numbers`: the index that a column already has in another release.
    """
    further = count(max(numbers.values(), default=0) + 1)
    attributes = [
        Staged(
            numbers[column.column] if column.column in numbers else next(further),
            column,
            originals.values[column.column],
            type_sql(column.sql_type),
            tables.table,
        )
        for column in quasi(layout)
    ]
    target = next((column for column in layout.columns if column.column == summed), None)
    common: dict[str, Any] = {
        "original": originals.table,
        "data": view,
        "rows": tables.rows,
        "source": tables.source,
        "help": tables.help,
        "attributes": attributes,
        "carried": carried,
        "domains": tuple(a.domain for a in attributes),
    }

    def make(name: str, **parameters: Any) -> None:
        run_sql(render(f"measure/{name}.sql.j2", {**common, **parameters}).text)

    for a in attributes:
        make("query_domain", **_of(a, originals))
    value = originals.values[summed] if summed is not None else None
    make("query_source", summed=value, person=originals.person)
    # without buckets, the rows of a class are as indistinguishable as those of a bucket
    bucket = target.bucket if target is not None else None
    name = target.name if target is not None else None
    make("query_rows", group=bucket or layout.class_id or layout.group_id, summed=name)
    if summed is not None:
        make("query_help")
    for a in attributes:
        make("query_members", **_of(a, originals))
        if a.ordered:
            make("query_spans", **_of(a, originals))
    return attributes


def _of(a: Staged, originals: Originals) -> dict[str, Any]:
    return {
        **a.named,
        "column": a.column,
        "type": a.type,
        "parts": a.parts,
        "physical": a.physical,
        "step": 1 if a.column.sql_type in WHOLE else 0,
        "nodes": originals.nodes.get(a.column.column) if a.column.hierarchy else None,
    }
