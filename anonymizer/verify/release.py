"""Verification of a release from the release alone, by SQL that no algorithm shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from anonymizer.compile import Table, ident
from anonymizer.errors import NothingToCheckError, Problem
from anonymizer.release.layout import Layout, Requirement
from anonymizer.verify.aids import Aids, aided
from anonymizer.verify.form import form
from anonymizer.verify.population import (
    NEEDED,
    Members,
    not_checked,
    of_population,
    population_questions,
)
from anonymizer.verify.questions import Question, ask_all
from anonymizer.verify.result import NotChecked, RunSql, Verification, verification
from anonymizer.verify.rules import questions


def verify_release(
    run_sql: RunSql,
    view: Table,
    layout: Layout,
    requirements: Sequence[Requirement],
    population: Members | str = NEEDED,
    aids: Aids | None = None,
) -> Verification:
    """Judge the published rows: conditions of form first, then every requirement.

    `population`: what the models of a population are judged with, or why they cannot be; they are
    then listed as not checked. `aids`: work tables, made here, that save reading the rows again for
    every check. Raises `NothingToCheckError` where there is no requirement, no class
    or group, no row, or nothing but requirements that the release alone cannot answer.
    """
    asked = _questions(view, layout, requirements)
    left: tuple[NotChecked, ...] = ()
    if isinstance(population, Members):
        asked = (*asked, *population_questions(view, layout, requirements, population))
    else:
        left = not_checked(requirements, population)
        if len(left) == len(requirements):
            raise NothingToCheckError(
                [
                    Problem(f"privacy.{item.name}", f"cannot be judged: {item.reason}")
                    for item in left
                ]
            )
    if not run_sql(f"select exists (select 1 from {ident(view)})")[0][0]:
        raise NothingToCheckError(
            Problem("release", "has no rows", hint="nothing was published, so nothing can be shown")
        )
    if aids is not None:
        asked = aided(asked, view, layout, aids, run_sql)
    return verification(ask_all(asked, run_sql), left)


def check_sql(
    view: Table, layout: Layout, requirements: Sequence[Requirement]
) -> list[dict[str, str | None]]:
    """The statement of every check by name and column, for a manifest. No catalog is named."""
    bare = replace(view, catalog=None)
    return [
        {"name": question.name, "column": question.column, "sql": question.sql()}
        for question in _questions(bare, layout, requirements)
    ]


def _questions(
    view: Table, layout: Layout, requirements: Sequence[Requirement]
) -> tuple[Question, ...]:
    if not requirements:
        raise NothingToCheckError(
            Problem("privacy", "names no guarantee", hint="privacy: {k_anonymity: 5}")
        )
    if layout.class_id is None and layout.group_id is None:
        raise NothingToCheckError(
            Problem(
                "release", "has neither class_id nor group_id", hint="was it made by this tool?"
            )
        )
    alone = [item for item in requirements if item not in of_population(requirements)]
    guarantees = [q for requirement in alone for q in questions(view, layout, requirement)]
    return (*form(view, layout), *guarantees)
