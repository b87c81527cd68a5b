"""Work tables that save reading the rows again for every check, where any can be made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace

from anonymizer.compile import Table, render
from anonymizer.release.layout import Layout
from anonymizer.verify.columns import cells, flags
from anonymizer.verify.questions import Question
from anonymizer.verify.result import RunSql

PROOFS = frozenset(f"verify/{name}.sql.j2" for name in ("class_cells", "class_flags", "cell_form"))
"""Conditions that the tuples prove."""
FIGURES = frozenset(f"verify/{name}.sql.j2" for name in ("tuples", "size"))
"""The checks whose figures the tuples hold, where rows count and not persons."""
DIGESTED = frozenset({"verify/group_sizes.sql.j2"})
"""Conditions that the digests of groups prove, where rows count and not persons."""
COUNTED = frozenset(
    f"verify/{name}.sql.j2"
    for name in (
        "alpha",
        "beta_likeness",
        "bucket_unique",
        "delta_disclosure",
        "distinct_l",
        "entropy_l",
        "level_l",
        "recursive_cl",
        "t_equal",
        "t_hierarchical",
        "t_ordered",
    )
)
"""The checks that count the values of a column in every class or bucket."""


@dataclass(frozen=True, slots=True)
class Aids:
    """The tables that may be made."""

    tuples: Table
    """The different tuples of every class."""
    counted: Table
    """The values of every class or bucket, counted; one table a column, with a number behind."""
    digests: bool = False
    """Whether the engine has 64-bit digests, as DuckDB does."""


def aided(
    questions: Iterable[Question], view: Table, layout: Layout, aids: Aids, run_sql: RunSql
) -> tuple[Question, ...]:
    """Make the tables that help more than one question, and point the questions at them."""
    asked = tuple(questions)
    if aids.digests:
        asked = tuple(_of_digests(question) for question in asked)
    if layout.class_id is not None:
        run_sql(_tuples_of(view, layout, aids.tuples))
        asked = tuple(_of_tuples(question, aids.tuples) for question in asked)
    return tuple(_of_counts(asked, aids.counted, run_sql))


def _tuples_of(view: Table, layout: Layout, tuples: Table) -> str:
    context = {
        "data": view,
        "group": layout.class_id,
        "tuples": tuples,
        "flags": flags(layout),
        "cells": cells(layout),
    }
    return render("verify/judged_tuples.sql.j2", context).text


def _of_digests(question: Question) -> Question:
    """The question, proved by digests where they are enough."""
    if question.template in DIGESTED and question.parameters["person"] is None:
        return replace(question, provable=True)
    return question


def _of_tuples(question: Question, tuples: Table) -> Question:
    """The question, asked of the tuples where that is enough."""
    if question.template in PROOFS:
        return replace(question, tuples=tuples, provable=True)
    if question.template in FIGURES and question.parameters["person"] is None:
        return replace(question, tuples=tuples)
    return question


def _of_counts(
    questions: tuple[Question, ...], table: Table, run_sql: RunSql
) -> Iterator[Question]:
    """The questions; where several ask of the same column and groups, it is counted once."""
    counting = Counter(_counted(question) for question in questions)
    made: dict[Hashable, Table] = {}
    for question in questions:
        counted = _counted(question)
        if counted is None or counting[counted] == 1:
            yield question
            continue
        if counted not in made:
            made[counted] = replace(table, name=f"{table.name}_{len(made) + 1}")
            context = {**question.parameters, "counted": made[counted]}
            run_sql(render("verify/judged_values.sql.j2", context).text)
        yield replace(question, counted=made[counted])


def _counted(question: Question) -> Hashable:
    """What a question counts, None where it counts something else or persons."""
    asks = question.parameters
    if question.template not in COUNTED or asks["person"] is not None:
        return None
    return asks["data"], asks["group"], asks["column"]
