"""Verification against the source: what no release can show by itself.

The staged rows (`link`) are the release with the reference of the row that each stands for; they
and the originals exist in scratch only. That the staged rows equal the published ones, as
multisets, carries what is found here over to the release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from anonymizer.compile import Table, ident, render
from anonymizer.release.layout import Layout, PublishedColumn
from anonymizer.verify.columns import cell_parts, published, quasi, type_sql
from anonymizer.verify.originals import Originals
from anonymizer.verify.pairs import Paired, pair, paired
from anonymizer.verify.questions import Question, ask_all
from anonymizer.verify.result import RunSql, Verification, verification
from anonymizer.verify.staged import (
    AS_THEY_WERE,
    kept_columns,
    plain,
    proved_together,
    staged_proof,
    values_proof,
)

ROWS = "anonymizer:rows"
"""Column of the compared pairs with the number of their rows."""
PROVABLE = frozenset({"source_covers", "source_flags", "source_equal", "source_bucket"})
"""Conditions whose templates have a cheaper statement that proves them."""


def verify_against_source(
    run_sql: RunSql,
    originals: Originals,
    link: Table,
    view: Table,
    layout: Layout,
    *,
    suppressed: int = 0,
    promoted: bool = False,
    compared: Table | None = None,
    pairs: Table | None = None,
    digests: bool = False,
) -> Verification:
    """Every condition that compares the release with its source.

    `suppressed` is the number of rows left out. `promoted` says that cells which are not
    sensitive may stand in buckets (rows of small flag patterns). `compared` is a work table, made
    here, that holds cells and originals side by side; without it they are joined for every column.
    `pairs` is one that holds every different pair of them, which is enough to prove that cells
    cover, and no more.
    `digests` says that the engine has 64-bit digests, as DuckDB does: equal tables, buckets and
    columns are then told by the sums of the digests of their rows. Where those differ, rows are
    compared.
    """
    if compared is not None:
        run_sql(compare(originals, link, layout, compared))
    kept = kept_columns(originals, layout, run_sql) if digests else {}
    columns = {
        name: column
        for name, column in paired(layout, originals.values, originals.flags).items()
        if name not in kept
    }
    tables: dict[str, Any] = {
        "link": link,
        "original": originals.table,
        "compared": compared,
        "pairs": pairs,
        "row_ref": originals.row_ref,
        "group": layout.class_id,
        "label": layout.class_id or "class",
        "digests": digests,
    }
    if pairs is not None and columns:
        run_sql(pair(columns, tables, pairs))
    asked = tuple(_questions(originals, tables, columns, view, layout, suppressed, promoted))
    if digests:
        staged = staged_proof(originals, link, view, layout, kept, suppressed)
        values = values_proof(originals, link, view, layout)
        asked = proved_together(asked, staged, values, kept)
    return verification(ask_all(asked, run_sql))


def compare(originals: Originals, link: Table, layout: Layout, compared: Table) -> str:
    """The statement that puts generalized cells beside the originals of their rows."""
    columns = [
        {
            "bucket": column.bucket,
            "parts": cell_parts(column),
            "physical": originals.values[column.column],
            "place": _place(layout, column),
        }
        for column in quasi(layout)
    ]
    parameters = {
        "link": link,
        "original": originals.table,
        "row_ref": originals.row_ref,
        "compared": compared,
        "group": layout.class_id,
        "columns": columns,
        "rows": ROWS,
    }
    return render("verify/compared.sql.j2", parameters).text


def _place(layout: Layout, column: PublishedColumn) -> str:
    """Column of the compared pairs with the original values; no published column is called so."""
    return f"anonymizer:original_{layout.columns.index(column)}"


def _questions(
    originals: Originals,
    tables: dict[str, Any],
    columns: Mapping[str, Paired],
    view: Table,
    layout: Layout,
    suppressed: int,
    promoted: bool,
) -> Iterator[Question]:
    rows = {**tables, "suppressed": suppressed}
    same = [
        {
            "name": column.name,
            "physical": originals.values[column.column],
            "type": type_sql(column.sql_type),
        }
        for column in plain(layout)
    ]
    yield _question("source_rows", None, rows)
    shown = {**tables, "data": view, "columns": [ident(name) for name in published(layout)]}
    yield _question("source_link", None, shown)
    if layout.person_id is not None and originals.person is not None:
        persons = {**tables, "person": layout.person_id, "physical": originals.person}
        yield _question("source_persons", None, persons)
    for column in layout.columns:
        if column.column not in layout.tables:
            place = {**tables, "place": _place(layout, column), "rows": ROWS, "plain": same}
            place["paired"] = columns.get(column.column)
            yield from _of_column(column, originals, place, promoted)
            continue
        separated = {
            **tables,
            "group": layout.group_id,
            "label": layout.group_id,
            "person": layout.person_id,
            "column": column,
            "type": type_sql(column.sql_type),
            "physical": originals.values[column.column],
            "values_table": Table(layout.tables[column.column], view.schema, view.catalog),
        }
        yield _question("source_values", column.column, separated)


def _of_column(
    column: PublishedColumn, originals: Originals, tables: dict[str, Any], promoted: bool
) -> Iterator[Question]:
    parameters = {
        **tables,
        "column": column,
        "type": type_sql(column.sql_type),
        "physical": originals.values[column.column],
    }
    if column.role in ("quasi", "semi"):
        nodes = originals.nodes.get(column.column)
        parts = [ident(part) for part in cell_parts(column)]
        cells = {**parameters, "nodes": nodes, "parts": parts}
        yield _question("source_covers", column.column, cells)
    if column.bucket is not None:
        buckets = {**parameters, "label": column.bucket}
        yield _question("source_bucket", column.column, buckets)
        flag = originals.flags.get(column.column)
        if flag is not None:
            flags = {**parameters, "flag": flag}
            yield _question("source_flags", column.column, {**flags, "bucketed": False})
            if not promoted:
                bucketed = {**flags, "bucketed": True}
                yield _question("source_flags", column.column, bucketed, "source_unflagged")
    elif column.role in AS_THEY_WERE:
        yield _question("source_equal", column.column, parameters)


def _question(
    template: str, column: str | None, parameters: dict[str, Any], name: str | None = None
) -> Question:
    provable = template in PROVABLE
    path = f"verify/{template}.sql.j2"
    return Question(name or template, column, 0, path, parameters, provable=provable)
