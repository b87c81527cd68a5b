"""Verification of a release from the release alone, by SQL separate from the algorithms'."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from anonymizer.compile import Table, ident
from anonymizer.contract.checks import NotChecked, RunSql, Verification, verification
from anonymizer.contract.layout import Layout, Requirement
from anonymizer.errors import NothingToCheckError, Problem
from anonymizer.verification.counts_questions import counts_questions
from anonymizer.verification.form import form
from anonymizer.verification.guarantees import (
    NEEDED,
    UNSEEN,
    Members,
    not_checked,
    of_population,
    of_source,
    population_questions,
    questions,
)
from anonymizer.verification.public_grid import grid_questions
from anonymizer.verification.questions import Asking, Question, ask_all

GIVEN = (
    "name POLICY, and the population as a file: in the policy, or by --population FILE; a report"
    " also reads a table of the source with --source"
)


def verify_release(
    run_sql: RunSql,
    view: Table,
    layout: Layout,
    requirements: Sequence[Requirement],
    population: Members | str = NEEDED,
    ask: Asking = ask_all,
) -> Verification:
    """Judge the published rows: conditions of form first, then every requirement.

    `population`: the population, or why its models cannot be judged; they are then listed as not
    checked. `ask`: how the questions are answered; a faster way has to give the same results as the
    plain one (`anonymizer.verification.fast`). Raises `NothingToCheckError` if there is no
    requirement, no class or group, no row, or if the release alone can answer no requirement. Only
    a release of the algorithm `none` has neither.
    """
    asked = _questions(view, layout, requirements)
    left: tuple[NotChecked, ...] = ()
    if isinstance(population, Members):
        asked = (*asked, *population_questions(view, layout, requirements, population))
    else:
        left = not_checked(requirements, population)
    hidden = of_source(requirements)
    if (left or hidden) and len(left) + len(hidden) == len(requirements):
        problems = [
            Problem(f"privacy.{item.name}", f"cannot be judged: {item.reason}", hint=GIVEN)
            for item in left
        ]
        problems += [
            Problem(f"privacy.{item.name}", f"cannot be judged: {UNSEEN}") for item in hidden
        ]
        raise NothingToCheckError(problems)
    empty = (
        layout.counts is None and not run_sql(f"select exists (select 1 from {ident(view)})")[0][0]
    )
    if empty:
        raise NothingToCheckError.at(
            "release", "has no rows", hint="weaken the guarantees, so that rows are left to publish"
        )
    return verification(ask(asked, run_sql), left)


def check_sql(
    view: Table, layout: Layout, requirements: Sequence[Requirement]
) -> list[dict[str, str | None]]:
    """The statement of every check by name and column, for a manifest, without catalogs."""
    bare = replace(view, catalog=None)
    return [
        {"name": question.name, "column": question.column, "sql": question.sql()}
        for question in _questions(bare, layout, requirements)
    ]


def _questions(
    view: Table, layout: Layout, requirements: Sequence[Requirement]
) -> tuple[Question, ...]:
    if layout.counts is not None:
        return counts_questions(view, layout, requirements)
    if layout.classless:
        return tuple(_without_classes(view, layout, requirements))
    if not requirements:
        raise NothingToCheckError.at(
            "privacy", "names no guarantee", hint="privacy: {k_anonymity: 5}"
        )
    if layout.class_id is None and layout.group_id is None:
        raise NothingToCheckError.at(
            "release", "has neither class_id nor group_id", hint="was it made by this tool?"
        )
    others = (*of_population(requirements), *of_source(requirements))
    alone = [item for item in requirements if item not in others]
    guarantees = [q for requirement in alone for q in questions(view, layout, requirement)]
    return (*form(view, layout), *grid_questions(view, layout), *guarantees)


def _without_classes(
    view: Table, layout: Layout, requirements: Sequence[Requirement]
) -> Iterator[Question]:
    """The form of a release that declares that it has no classes and no guarantee."""
    if requirements or layout.class_id is not None or layout.group_id is not None:
        said = "is of the algorithm none, which has no classes that could keep a guarantee"
        raise NothingToCheckError.at("release", said, hint="was it made by this tool?")
    yield from form(view, layout)
