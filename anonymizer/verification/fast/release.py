"""The questions about a release alone, answered from work tables of its tuples and values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from anonymizer.compile import Sql, Table, ident, render
from anonymizer.contract.checks import Check, RunSql
from anonymizer.contract.columns import cell_parts, cells, flags, quasi
from anonymizer.contract.layout import Layout
from anonymizer.verification.fast.shortcuts import Figures, Proof, Shortcut, answer, fast_sql
from anonymizer.verification.questions import Asking, Question


@dataclass(frozen=True, slots=True)
class WorkTables:
    """The work tables that may be created."""

    tuples: Table
    """The distinct tuples of every class."""
    values: Table
    """The counted values of every class or bucket; one table per column, with a numeric suffix."""


def fast_release(view: Table, layout: Layout, tables: WorkTables | None = None) -> Asking:
    """How `verify_release` answers its questions on the embedded engine.

    Without work tables, where nothing may be written, only rows are read, and digests are not used.
    """

    def ask(questions: Sequence[Question], run_sql: RunSql) -> tuple[Check, ...]:
        if tables is None:
            shortcuts = [_of_rows(question) for question in questions]
        else:
            shortcuts = release_shortcuts(questions, view, layout, tables, run_sql)
        return answer(questions, shortcuts, run_sql)

    return ask


def release_shortcuts(
    questions: Sequence[Question], view: Table, layout: Layout, tables: WorkTables, run_sql: RunSql
) -> list[Shortcut | None]:
    """The shortcut of every question that has one; creates the work tables."""
    counted = _of_values(questions, tables.values, run_sql)
    tuples = tables.tuples if layout.class_id is not None else None
    if tuples is not None:
        run_sql(_tuples(view, layout, tuples))
    return [
        _of_rows(question)
        or _of_digests(question)
        or (_of_tuples(question, layout, tuples) if tuples is not None else None)
        or values
        for question, values in zip(questions, counted, strict=True)
    ]


def _of_rows(question: Question) -> Shortcut | None:
    """A shortcut that counts rows instead of classes and reads texts of cells once."""
    return Proof((fast_sql(question),)) if question.template == "cell_or_bucket" else None


def _of_digests(question: Question) -> Shortcut | None:
    """Compare groups by sums of their digests, if rows are counted and not persons."""
    if question.template == "group_sizes" and question.parameters["person"] is None:
        return Proof((fast_sql(question),))
    return None


def _tuples(view: Table, layout: Layout, tuples: Table) -> str:
    context = {
        "data": view,
        "group": layout.class_id,
        "tuples": tuples,
        "flags": flags(layout),
        "cells": cells(layout),
    }
    return render("verify/fast/tuples.sql.j2", context).text


def _of_tuples(question: Question, layout: Layout, tuples: Table) -> Shortcut | None:
    """Use tuples: they prove conditions of form, and have the sizes if rows are counted."""
    if question.over is not None:
        return None  # it is about other rows
    match question.template:
        case "class_cells" | "class_flags":
            return Proof((fast_sql(question, tuples=tuples),))
        case "cell_form":
            known = numbered(layout)[question.parameters["column"].column]
            return Proof((fast_sql(question, tuples=tuples, known=known),))
        case "k_anonymity" | "k_anonymity_tuples" if question.parameters["person"] is None:
            return Figures(fast_sql(question, tuples=tuples))
    return None


def _of_values(
    questions: Sequence[Question], table: Table, run_sql: RunSql
) -> Iterator[Shortcut | None]:
    """Shortcuts that count the values of the same groups once for several questions.

    The plain statement is kept; its counting subquery is replaced by a table made from it.
    """
    counting = Counter(_counted(question) for question in questions)
    made: dict[Hashable, tuple[str, str]] = {}
    for question in questions:
        counted = _counted(question)
        if counted is None or counting[counted] == 1:
            yield None
            continue
        if counted not in made:
            values = replace(table, name=f"{table.name}_{len(made) + 1}")
            context = {**question.parameters, "values": values}
            creates, _, subquery = render("verify/fast/values.sql.j2", context).text.partition(
                " as\n"
            )
            run_sql(f"{creates} as\n{subquery}")
            made[counted] = subquery, f"select grp, value, n from {ident(values)}"
        yield Figures(question.sql(figures=True).replace(*made[counted]))


def _counted(question: Question) -> Hashable:
    """What a question counts; None for other counts, and for persons."""
    asks = question.parameters
    if "nulls_count" not in asks or asks["person"] is not None or question.over is not None:
        return None
    return asks["data"], asks["group"], asks["column"]


@dataclass(frozen=True, slots=True)
class Numbered:
    """A generalized column of a release's tuples, which are stored under numbers, not names."""

    cells: tuple[Sql, ...]
    """Its parts, in the order of `cell_parts`."""
    flag: Sql | None
    """Whether the cell is generalized, for a column with buckets."""


def numbered(layout: Layout) -> dict[str, Numbered]:
    """The generalized columns by source name, numbered as in `cells` and `flags`."""
    found: dict[str, Numbered] = {}
    places, dealt = 0, 0
    for column in quasi(layout):
        parts = len(cell_parts(column))
        own = tuple(Sql(f"c{places + i}") for i in range(1, parts + 1))
        places += parts
        dealt += column.bucket is not None
        flag = Sql(f"f{dealt}") if column.bucket is not None else None
        found[column.column] = Numbered(own, flag)
    return found
