"""Judges a batch of lattice nodes: their classes, the rules, suppression and loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from anonymizer.algorithms.lattice.packing import Packing
from anonymizer.algorithms.lattice.recode import LEVELS, LIMITS, ONE, TUPLES, Climbed, climbed
from anonymizer.algorithms.protections import column_rules
from anonymizer.compile import Sql, Table, lit, work
from anonymizer.policy import FullDomain, Policy
from anonymizer.privacy.judge import merge_layers
from anonymizer.privacy.of_policy.sizes import least_class
from anonymizer.privacy.rule import Rule
from anonymizer.source.profile import Level, Sensitive
from anonymizer.source.roles import Roles
from anonymizer.steps import Loop, Step

NODES = work("lattice_nodes")
UNDECIDED = work("lattice_undecided")
JUDGED = work("lattice_judged")
BATCH = work("lattice_batch")
SCREENED = work("lattice_screened")
CLASSES = work("lattice_classes")
FAILING = work("lattice_failing")
VERDICTS = work("lattice_verdicts")
SET_MEMBERS = work("lattice_set_members")
SET_CLASSES = work("lattice_set_classes")


@dataclass(frozen=True, slots=True)
class Judged:
    """The rules of one sensitive column for the classes of many nodes."""

    column: Sensitive
    rules: tuple[Rule, ...]
    of_sets: bool = False
    """Whether the classes are those of sets of columns, instead of all columns."""

    @property
    def number(self) -> Sql:
        return lit(self.column.index)

    @property
    def cells(self) -> Table:
        return self.column.cells

    @property
    def reference(self) -> Table:
        return self.column.reference

    @property
    def histogram(self) -> Table:
        """The table of its values per class."""
        which = "set_histogram" if self.of_sets else "histogram"
        return work(f"lattice_{which}_{self.column.index}")

    @property
    def dense(self) -> bool:
        return any(rule.dense for rule in self.rules)

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels whose ancestors its rules need."""
        return self.column.levels if any(rule.paths for rule in self.rules) else ()

    @property
    def layers(self) -> tuple[tuple[tuple[str, Sql], ...], ...]:
        layers = merge_layers(self.rules, Sql("class_id"))
        return tuple(tuple(layer.items()) for layer in layers)

    @property
    def holds(self) -> Sql:
        return Sql(" and ".join(f"({rule.holds()})" for rule in self.rules))


def judged_columns(policy: Policy, roles: Roles) -> tuple[Judged, ...]:
    """The sensitive columns that have rules."""
    found = (Judged(column, column_rules(policy, column)) for column in roles.sensitive)
    return tuple(one for one in found if one.rules)


def lattice_context(
    policy: Policy, roles: Roles, packed: Packing, columns: Sequence[Judged]
) -> dict[str, Any]:
    """The parameters of all templates that judge nodes."""
    options = policy.algorithm
    optimum = options.optimum if isinstance(options, FullDomain) else "ncp"
    attributes = climbed(roles)
    persons = policy.person is not None
    sets = _sets(policy, attributes, packed)
    return {
        **({"sets": sets} if sets else {}),
        "attributes": attributes,
        "radixes": [lit(weight) for weight in _radixes(packed)],
        "levels": LEVELS,
        "words": packed.words,
        "tuples": TUPLES,
        "limits": LIMITS,
        "recodings": [a.recoding for a in attributes],
        "nodes": NODES,
        "undecided": UNDECIDED,
        "judged": JUDGED,
        "batch": BATCH,
        "screened": SCREENED,
        "classes": CLASSES,
        "failing": FAILING,
        "verdicts": VERDICTS,
        "protections": columns,
        "histograms": [one.histogram for one in columns],
        "references": [one.reference for one in columns],
        "sized": [TUPLES, *(one.cells for one in columns)],
        "k": least_class(policy),
        "persons": persons,
        "records": Sql("records" if persons else "n"),
        "optimum": "c_dm" if optimum == "dcp" else optimum,
        "penalties": _penalties(attributes),
        "measures": [Sql("ncp"), Sql("glm"), Sql("distortion")],
        "monotone": all(rule.upward for one in columns for rule in one.rules),
    }


def _sets(policy: Policy, attributes: Sequence[Climbed], packed: Packing) -> list[tuple[int, ...]]:
    """For every set of quasi-identifiers: its number, and a mask of its columns per word."""
    positions = {a.attribute.column: a.position for a in attributes}
    made: list[tuple[int, ...]] = []
    for number, names in enumerate(policy.privacy.quasi_sets or ()):
        masks = [0] * len(packed.words)
        for name in names:
            masks = [
                m | own for m, own in zip(masks, packed.masks(positions[name], 0), strict=True)
            ]
        made.append((number, *masks))
    return made


def _radixes(packed: Packing) -> list[int]:
    """The weight of each column's level in a node's number; that of the last column is 1."""
    weights: list[int] = []
    weight = 1
    for shape in reversed(packed.shapes):
        weights.append(weight)
        weight *= shape.height + 1
    return weights[::-1]


def _penalties(attributes: Sequence[Climbed]) -> list[tuple[Sql, Sql]]:
    """The loss of a suppressed row by each measure that is a sum over cells."""
    cells = lit(sum(a.attribute.scaled(ONE) for a in attributes))
    heights = lit(sum(a.height * a.attribute.scaled(ONE) for a in attributes))
    return [(Sql("ncp"), cells), (Sql("glm"), cells), (Sql("distortion"), heights)]


def judge_stages(context: dict[str, Any], columns: Sequence[Judged]) -> tuple[Step | Loop, ...]:
    """Stages that write `classes` of the nodes of `batch`, with what each node would publish.

    Classes smaller than k are suppressed, then those that break a rule of a sensitive column.
    If a rule compares classes with the published rows, suppression changes the comparison: classes
    are judged again until none fails. Suppressed classes stay suppressed.
    """
    whole = "set_whole" if "sets" in context else "classes"
    stages: list[Step | Loop] = [
        Step("sizes of classes", screen_of(context), context),
        Step("classes of nodes", f"lattice/{whole}.sql.j2", context),
    ]
    for one in columns:
        own = {**context, "histogram": one.histogram, "cells": one.cells}
        name = f"{one.column.column} by class"
        stages.append(Step(name, "lattice/histogram.sql.j2", own))
    if "sets" in context:
        return (*stages, _sets_judged(context, columns))
    if not columns:
        return tuple(stages)
    applied = (
        Step("classes that break a rule", "lattice/failing.sql.j2", context),
        Step("suppress classes", "lattice/suppress.sql.j2", context),
    )
    if any(rule.relative for one in columns for rule in one.rules):
        until = Step("classes to judge again", "lattice/still_failing.sql.j2", context)
        return (*stages, Loop("suppress until the rest holds", applied, until, MOST_ROUNDS))
    return (*stages, *applied)


def screen_of(context: dict[str, Any]) -> str:
    """The template that counts the sizes of classes, of all columns or of sets of columns."""
    return "lattice/set_screen.sql.j2" if "sets" in context else "lattice/screen.sql.j2"


def _sets_judged(context: dict[str, Any], columns: Sequence[Judged]) -> Loop:
    """Suppress the rows in a failing class of any set, until no class fails.

    Rows that one set suppresses are missing in the classes of the others. If larger classes always
    satisfy the rules as well, the remaining rows are the most that can remain.
    """
    own = {**context, "set_members": SET_MEMBERS, "set_classes": SET_CLASSES}
    steps = [
        Step("classes in their sets", "lattice/set_members.sql.j2", own),
        Step("classes of sets", "lattice/set_classes.sql.j2", own),
    ]
    of_sets = [replace(one, of_sets=True) for one in columns]
    for one, of_set in zip(columns, of_sets, strict=True):
        tables = {"histogram": one.histogram, "set_histogram": of_set.histogram}
        name = f"{one.column.column} by class of a set"
        steps.append(Step(name, "lattice/set_histogram.sql.j2", {**own, **tables}))
    if columns:
        histograms = [one.histogram for one in of_sets]
        judged = {"classes": SET_CLASSES, "protections": of_sets, "histograms": histograms}
        name = "classes of sets that break a rule"
        steps.append(Step(name, "lattice/failing.sql.j2", {**own, **judged}))
    steps.append(Step("suppress classes", "lattice/set_suppress.sql.j2", own))
    until = Step("classes to judge again", "lattice/set_failing.sql.j2", own)
    return Loop("suppress until every set holds", tuple(steps), until, MOST_ROUNDS)


MOST_ROUNDS = 1_000_000
"""A bound that is never reached: every round suppresses a class or is the last."""


def verdict_steps(context: dict[str, Any]) -> tuple[Step, ...]:
    """Steps that add the verdicts over `classes` to `judged`."""
    return (
        Step("verdicts", "lattice/verdicts.sql.j2", context),
        Step("remember verdicts", "lattice/remember.sql.j2", context),
    )
