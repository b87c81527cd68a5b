"""The user's own aggregate queries on source and release, and their errors.

A query is a SELECT over the source's table under its own name (`source` if the source is a file or
a query). Its last column is the figure, the columns before it are its groups. On the release,
generalized cells are spread evenly over the values that they cover, and the values of a group over
its rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from anonymizer.compile import Sql, Table, ident, quote, render, work
from anonymizer.compile.condition import parser, query_tree
from anonymizer.contract.layout import type_sql
from anonymizer.errors import AnonymizerError, PolicyError, TemplateError, is_waited_for
from anonymizer.measure.queries import QueryAttribute, QueryTables, stage, step
from anonymizer.policy import Policy
from anonymizer.review.inputs import Beside, unit_of
from anonymizer.source.profile import published_type

UNITS = "anon_units"
"""The added column that counts the units."""
AGGREGATES = frozenset(
    {"count", "count_star", "sum", "avg", "mean"}
    | {f"{kind}{of}" for kind in ("stddev", "var") for of in ("_samp", "_pop")}
    | {"stddev", "variance"}
)
"""Aggregates to which every row of a group contributes: neither extremes nor single values."""
ARITHMETIC = frozenset({"+", "-", "*", "/", "round", "coalesce", "nullif", "abs"})
UNCOUNTED = (
    "is not one SELECT over the table whose last column is made of count, sum, avg, stddev and"
    " variance: the number of rows behind it cannot be determined"
)


def with_units(query: str, person: str | None) -> str | None:
    """Add a column to the query that counts rows (persons) by group.

    None for a query whose figures may depend on single rows.
    """
    tree = _parsed(query)
    if tree is None:
        return None
    node = tree["statements"][0]["node"]
    if (
        node["type"] != "SELECT_NODE"
        or node["cte_map"]["map"]
        or node["from_table"]["type"] != "BASE_TABLE"
        or not _over_many(node["select_list"][-1])
    ):
        return None
    counted = "count(*)" if person is None else f"count(distinct {ident(person)})"
    counting = _parsed(f"select {counted} as {UNITS}")
    assert counting is not None
    node["select_list"] += counting["statements"][0]["node"]["select_list"]
    row = parser().execute("select json_deserialize_sql(?::json)", [json.dumps(tree)]).fetchone()
    assert row is not None
    return str(row[0])


def _parsed(query: str) -> dict[str, Any] | None:
    found = query_tree(query)
    return None if found.get("error") or len(found["statements"]) != 1 else found


def _over_many(figure: dict[str, Any]) -> bool:
    """Return whether a figure is arithmetic over aggregates of all rows of its group."""
    found = list(_leaves(figure))
    return "aggregate" in found and "other" not in found


def _leaves(node: dict[str, Any]) -> Iterator[str]:
    kind = node["class"]
    if kind == "CONSTANT":
        yield "constant"
    elif kind == "CAST":
        yield from _leaves(node["child"])
    elif kind == "OPERATOR" and node["type"] in ("OPERATOR_COALESCE", "OPERATOR_NULLIF"):
        for child in node["children"]:
            yield from _leaves(child)
    elif kind == "FUNCTION" and node["function_name"].lower() in AGGREGATES:
        # with a filter, a group could consist of single rows
        yield "other" if node["filter"] is not None else "aggregate"
    elif kind == "FUNCTION" and node["function_name"].lower() in ARITHMETIC:
        for child in _arguments(node):
            yield from _leaves(child)
    else:
        yield "other"


def _arguments(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """DuckDB 2.0 names arguments; 1.5 lists them as children."""
    for child in node.get("arguments", node.get("children", ())):
        yield child.get("expression", child)


BEFORE, AFTER = work("workload_before"), work("workload_after")


@dataclass(frozen=True, slots=True)
class Answer:
    """Results of one query. Errors are relative, and given in steps (`anonymizer.measure.queries`).

    Groups with few units are omitted from all figures.
    """

    number: int
    sql: str
    groups: int | None = None
    missing: int | None = None
    """Groups of the source that are missing in the release."""
    invented: int | None = None
    mean_error: str | None = None
    median_error: str | None = None
    total_error: str | None = None
    """Sum of the differences over the sum of the figures: large groups weigh more."""
    problem: str | None = None
    """The reason why the query could not be answered."""


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    type: Sql
    kind: str
    attribute: QueryAttribute | None
    carried: Sql | None
    apart: int | None
    """Number of the values table that contains the column (msb)."""


def queries_of(policy: Policy) -> tuple[str, ...]:
    """The queries of a policy, or of its file. Raises PolicyError for anything but a SELECT."""
    import duckdb

    workload = policy.workload
    if workload is None:
        return ()
    texts = list(workload.queries)
    path = "workload.sql"
    if workload.file is not None:
        file = policy.resolve(workload.file)
        if is_waited_for(file):
            raise PolicyError.at(path, f"{file.name} is a named pipe, not a file")
        try:
            texts = [file.read_text(encoding="utf-8")]
        except (OSError, UnicodeDecodeError):
            raise PolicyError.at(path, f"{file.name} cannot be read as text") from None
    found: list[str] = []
    for number, text in enumerate(texts, start=1):
        try:
            statements = duckdb.extract_statements(text)
        except duckdb.Error:
            raise PolicyError.at(path, f"query {number} is not SQL that can be read") from None
        for statement in statements:
            if statement.type.name != "SELECT":
                raise PolicyError.at(path, "contains a statement other than SELECT")
            found.append(statement.query.strip().rstrip(";").strip())
    return tuple(found)


def run_workload(policy: Policy, beside: Beside, least: int) -> list[Answer]:
    """Run every query on both; errors are in steps, over groups of at least `least` units.

    A query that fails is reported without the engine's message.
    """
    queries = queries_of(policy)
    if not queries:
        return []
    name = policy.source.parts[-1] if policy.source.kind == "table" else "source"
    schemas = ["main", *policy.source.parts[:-1][-1:]]
    _reconstruct(beside, name, schemas)
    asked = _Asked(beside, schemas[-1], policy.person, unit_of(policy), least)
    return [asked.answer(number, text) for number, text in enumerate(queries, start=1)]


def _reconstruct(beside: Beside, name: str, schemas: list[str]) -> None:
    """Create both tables under the source's name, in two scratch catalogs."""
    engine = beside.engine
    layout = beside.layout
    carried = [
        c.name
        for c in layout.columns
        if c.role in ("sensitive", "keep") and c.column not in layout.tables and c.name
    ]
    apart = list(layout.tables)
    if apart:
        carried += [name for name in (layout.group_id, layout.person_id) if name is not None]
    places = {name: Sql(f"e{j}") for j, name in enumerate(carried, start=1)}
    tables = QueryTables(lambda made: work(f"workload_{made}"))
    staged = stage(beside.run_sql, beside.view, layout, beside.originals, None, tables, carried)
    by_column = {a.column.column: a for a in staged}
    published = {c.column: c for c in layout.columns}
    columns = []
    for column, sql_type in beside.session.profile.columns:
        described = published.get(column)
        place = None
        if described is not None and described.name in carried:
            place = places[described.name]
        kind = described.kind if described is not None else "categorical"
        plain = _plain_type(published_type(sql_type))
        dealt = apart.index(column) + 1 if column in apart else None
        columns.append(_Column(column, plain, kind, by_column.get(column), place, dealt))
    for catalog in ("anon_answers", "anon_truth"):
        engine.raw(f"attach if not exists ':memory:' as {catalog}", "workload")
        for schema in dict.fromkeys(schemas):
            engine.raw(f"create schema if not exists {catalog}.{quote(schema)}", "workload")
    parameters: dict[str, Any] = {
        "rows": tables.rows,
        "attributes": staged,
        "members": tuple(a.members for a in staged),
        "domains": tuple(a.domain for a in staged),
        "spans": tuple(a.spans for a in staged if a.spans is not None),
        "carried": list(places.values()),
        "columns": columns,
        "apart": tuple(
            Table(layout.tables[name], beside.view.schema, beside.view.catalog) for name in apart
        ),
        "names": [published[name].name or name for name in apart],
        "group": layout.group_id,
        "own_group": places.get(layout.group_id or ""),
        "unit": places.get(layout.person_id or "", Sql("number")),
    }
    for schema in dict.fromkeys(schemas):
        target = Table(name, schema, "anon_answers")
        engine.raw(
            render("report/reconstructed", {**parameters, "target": target}).text, "workload"
        )
        engine.raw(
            f"create or replace view {ident(Table(name, schema, 'anon_truth'))} as"
            f" select * from {beside.session.source.sql}",
            "workload",
        )


def _plain_type(sql_type: str) -> Sql:
    try:
        return type_sql(sql_type)
    except TemplateError:
        return Sql("varchar")  # the type of a nested column, which is never published


@dataclass(frozen=True, slots=True)
class _Asked:
    """The inputs for answering a policy's queries."""

    beside: Beside
    schema: str
    person: str | None
    unit: str
    least: int

    def answer(self, number: int, text: str) -> Answer:
        engine = self.beside.engine
        found = with_units(text, self.person), with_units(text, None)
        if found[0] is None or found[1] is None:
            return Answer(number, text, problem=UNCOUNTED)
        try:
            for catalog, target, counted in zip(
                ("anon_truth", "anon_answers"), (BEFORE, AFTER), found, strict=True
            ):
                with engine.names_of(catalog, self.schema):
                    engine.raw(f"create or replace table {ident(target)} as {counted}", "workload")
            names = [name for name, _ in engine.describe(ident(BEFORE).text, "workload")]
            shared: dict[str, Any] = {
                "before": BEFORE,
                "after": AFTER,
                "figure": ident(names[-2]),
                "units": ident(names[-1]),
                "keys": [ident(name) for name in names[:-2]],
                "least": self.least,
            }
            row = engine.raw(render("report/answers", shared).text, "workload")[0]
        except AnonymizerError as error:
            return Answer(number, text, problem=error.problems[0].message)
        if not row[0]:
            return Answer(number, text, problem=f"is based on fewer than {self.least} {self.unit}")
        return Answer(number, text, *row[:3], *map(step, row[3:]))
