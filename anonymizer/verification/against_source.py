"""Verification against the source: conditions that cannot be checked from a release alone.

The staged rows (`link`) are the release, each row with a reference to its source row; they
and the originals exist in scratch only. The staged rows are checked to equal the published ones as
multisets, so that the results apply to the release.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from anonymizer.compile import Sql, Table, ident, lit, render
from anonymizer.contract.checks import RunSql, Verification, verification
from anonymizer.contract.columns import cell_parts, published, quasi, type_sql
from anonymizer.contract.layout import Layout, PublishedColumn
from anonymizer.contract.originals import Originals
from anonymizer.verification.questions import Achieved, Asking, Question, ask_all
from anonymizer.verification.source_masks import against_originals

ROWS = "anonymizer:rows"
"""Column of the compared cells with the number of their rows."""
AS_THEY_WERE = ("sensitive", "keep")
"""Roles of columns that are published unchanged, except in buckets and separate tables."""
STRANGE = Achieved("strange", "sum")


def verify_against_source(
    run_sql: RunSql,
    originals: Originals,
    link: Table,
    view: Table,
    layout: Layout,
    *,
    compared: Table,
    suppressed: int | Sql = 0,
    promoted: bool = False,
    ask: Asking = ask_all,
) -> Verification:
    """Check every condition that compares the release with its source.

    `suppressed` is the number of suppressed rows, or an expression for it. `promoted`: cells that
    are not sensitive may be in buckets (rows of small flag patterns). `compared` is a work table
    that may be created: cells with the originals of their rows. `ask` answers the questions.
    """
    tables: dict[str, Any] = {
        "link": link,
        "original": originals.table,
        "row_ref": originals.row_ref,
        "group": layout.class_id,
        "label": layout.class_id or "class",
    }
    asked = tuple(_questions(originals, tables, view, layout, suppressed, promoted, compared))
    return verification(ask(asked, run_sql))


def side_by_side(
    originals: Originals, tables: dict[str, Any], layout: Layout, compared: Table
) -> str:
    """The statement that joins generalized cells with the original values of their rows."""
    columns = [
        {
            "bucket": column.bucket,
            "parts": cell_parts(column),
            "physical": originals.values[column.column],
            "place": _place(layout, column),
        }
        for column in quasi(layout)
    ]
    parameters = {**tables, "compared": compared, "columns": columns, "rows": ROWS}
    return render("verify/side_by_side.sql.j2", parameters).text


def _place(layout: Layout, column: PublishedColumn) -> str:
    """Column of the compared pairs with the original values; no published column has this name."""
    return f"anonymizer:original_{layout.columns.index(column)}"


def _questions(
    originals: Originals,
    tables: dict[str, Any],
    view: Table,
    layout: Layout,
    suppressed: int | Sql,
    promoted: bool,
    compared: Table,
) -> Iterator[Question]:
    counts = {"label": "what"}
    left_out = suppressed if isinstance(suppressed, Sql) else lit(suppressed)
    rows = {**tables, **counts, "suppressed": left_out}
    yield Question("source_rows", None, 0, "source_rows", rows, (Achieved("n", "sum"),))
    shown = {**tables, **counts, "data": view, "columns": [ident(c) for c in published(layout)]}
    yield Question("source_link", None, 0, "source_link", shown, (Achieved("n", "sum"),))
    if layout.person_id is not None and originals.person is not None:
        persons = {**tables, **counts, "person": layout.person_id, "physical": originals.person}
        found = (Achieved("n", "sum"),)
        yield Question("source_persons", None, 0, "source_persons", persons, found)
    needs = side_by_side(originals, tables, layout, compared) if quasi(layout) else None
    for column in layout.columns:
        parameters = {
            **tables,
            "column": column,
            "type": type_sql(column.sql_type),
            "physical": originals.values[column.column],
        }
        if column.column in layout.tables:
            held = Table(layout.tables[column.column], view.schema, view.catalog)
            own = {"group": layout.group_id, "label": layout.group_id, "person": layout.person_id}
            separated = {**parameters, **own, "values_table": held}
            yield _of_column("source_values", column, separated, STRANGE)
            continue
        if column.role in ("quasi", "semi"):
            cells = {
                **parameters,
                "compared": compared,
                "rows": ROWS,
                "place": _place(layout, column),
                "nodes": originals.nodes.get(column.column),
                "parts": [ident(part) for part in cell_parts(column)],
            }
            yield _of_column("source_covers", column, cells, Achieved("uncovered", "sum"), needs)
            cells = {**cells, "label": "what", "admitted": originals.admitted.get(column.column)}
            yield _of_column("source_spanned", column, cells, Achieved("n", "sum"), needs)
        if column.bucket is not None:
            yield _of_column(
                "source_bucket", column, {**parameters, "label": column.bucket}, STRANGE
            )
            flag = originals.flags.get(column.column)
            if flag is not None:
                flags = {**parameters, "flag": flag}
                yield _of_column("source_flags", column, flags, STRANGE)
                if not promoted:
                    yield _of_column("source_unflagged", column, flags, STRANGE)
        elif column.role in AS_THEY_WERE:
            yield _of_column("source_equal", column, parameters, Achieved("changed", "sum"))
    yield from against_originals(originals)


def _of_column(
    name: str,
    column: PublishedColumn,
    parameters: dict[str, Any],
    achieved: Achieved,
    needs: str | None = None,
) -> Question:
    return Question(name, column.column, 0, name, parameters, (achieved,), needs=needs)
