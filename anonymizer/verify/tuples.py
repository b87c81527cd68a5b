"""The different published tuples of every class, made once for the checks that ask of no more."""

from __future__ import annotations

from dataclasses import replace

from anonymizer.compile import Table, render
from anonymizer.release.layout import Layout
from anonymizer.verify.columns import cells, flags
from anonymizer.verify.questions import Question

PROOFS = frozenset(f"verify/{name}.sql.j2" for name in ("class_cells", "class_flags", "cell_form"))
"""Conditions that the tuples prove."""
FIGURES = frozenset(f"verify/{name}.sql.j2" for name in ("tuples", "size"))
"""The checks whose figures they hold, where rows count and not persons."""


def tuples_of(view: Table, layout: Layout, tuples: Table) -> str:
    """The statement that makes the tuples of a release with classes."""
    context = {
        "data": view,
        "group": layout.class_id,
        "tuples": tuples,
        "flags": flags(layout),
        "cells": cells(layout),
    }
    return render("verify/judged_tuples.sql.j2", context).text


def aided(question: Question, tuples: Table) -> Question:
    """The question, asked of the tuples where that is enough."""
    if question.template in PROOFS:
        return replace(question, tuples=tuples, provable=True)
    if question.template in FIGURES and question.parameters["person"] is None:
        return replace(question, tuples=tuples)
    return question
