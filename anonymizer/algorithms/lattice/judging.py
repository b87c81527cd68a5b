"""Judges a batch of lattice nodes: their classes, the rules, suppression and loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.algorithms.core.protections import column_rules
from anonymizer.algorithms.lattice.recode import (
    LEVELS,
    LIMITS,
    ONE,
    TUPLES,
    LatticeColumn,
    Packing,
    lattice_columns,
)
from anonymizer.compile import Sql, Table, lit, work
from anonymizer.guarantees.requirements import least_class
from anonymizer.guarantees.rule import Rule, all_hold, merge_layers
from anonymizer.policy import FullDomain, Policy
from anonymizer.source.profile import Level, Sensitive
from anonymizer.source.roles import Roles
from anonymizer.steps import Loop, Step

NODES = work("lattice_nodes")
UNDECIDED = work("lattice_undecided")
EVALUATIONS = work("lattice_evaluations")
BATCH = work("lattice_batch")
SCREENED = work("lattice_screened")
CLASSES = work("lattice_classes")
FAILING = work("lattice_failing")
VERDICTS = work("lattice_verdicts")


@dataclass(frozen=True, slots=True)
class NodeRules:
    """The rules of one sensitive column for the classes of many nodes."""

    column: Sensitive
    rules: tuple[Rule, ...]

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
        return work(f"lattice_histogram_{self.column.index}")

    @property
    def dense(self) -> bool:
        return any(rule.dense for rule in self.rules)

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels whose ancestors its rules need."""
        return self.column.levels if any(rule.paths for rule in self.rules) else ()

    @property
    def layers(self) -> tuple[tuple[tuple[str, Sql], ...], ...]:
        return merge_layers(self.rules, Sql("class_id"))

    @property
    def holds(self) -> Sql:
        return all_hold(self.rules)


def node_rules(policy: Policy, roles: Roles) -> tuple[NodeRules, ...]:
    """The sensitive columns that have rules."""
    found = (NodeRules(column, column_rules(policy, column)) for column in roles.ruled)
    return tuple(one for one in found if one.rules)


def lattice_context(
    policy: Policy, roles: Roles, packed: Packing, columns: Sequence[NodeRules]
) -> dict[str, Any]:
    """The parameters of all templates that judge nodes."""
    options = policy.algorithm
    optimum = options.optimum if isinstance(options, FullDomain) else "ncp"
    attributes = lattice_columns(roles)
    persons = policy.person is not None
    return {
        "attributes": attributes,
        "radixes": [lit(weight) for weight in _radixes(packed)],
        "levels": LEVELS,
        "words": packed.words,
        "tuples": TUPLES,
        "limits": LIMITS,
        "recodings": [a.recoding for a in attributes],
        "nodes": NODES,
        "undecided": UNDECIDED,
        "evaluations": EVALUATIONS,
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


def _radixes(packed: Packing) -> list[int]:
    """The weight of each column's level in a node's number; that of the last column is 1."""
    weights: list[int] = []
    weight = 1
    for shape in reversed(packed.shapes):
        weights.append(weight)
        weight *= shape.height + 1
    return weights[::-1]


def _penalties(attributes: Sequence[LatticeColumn]) -> list[tuple[Sql, Sql]]:
    """The loss of a suppressed row by each measure that is a sum over cells."""
    cells = lit(sum(a.attribute.scaled_loss(ONE) for a in attributes))
    heights = lit(sum(a.height * a.attribute.scaled_loss(ONE) for a in attributes))
    return [(Sql("ncp"), cells), (Sql("glm"), cells), (Sql("distortion"), heights)]


def judge_stages(context: dict[str, Any], columns: Sequence[NodeRules]) -> tuple[Step | Loop, ...]:
    """Stages that write `classes` of the nodes of `batch`, with what each node would publish.

    Classes smaller than k are suppressed, then those that break a rule of a sensitive column.
    If a rule compares classes with the published rows, suppression changes the comparison: classes
    are judged again until none fails. Suppressed classes stay suppressed.
    """
    stages: list[Step | Loop] = [
        Step("sizes of classes", "lattice/screen", context),
        Step("classes of nodes", "lattice/classes", context),
    ]
    for one in columns:
        own = {**context, "histogram": one.histogram, "cells": one.cells}
        name = f"{one.column.column} by class"
        stages.append(Step(name, "lattice/histogram", own))
    if not columns:
        return tuple(stages)
    applied = (
        Step("classes that break a rule", "lattice/failing", context),
        Step("suppress classes", "lattice/suppress", context),
    )
    if any(rule.relative for one in columns for rule in one.rules):
        until = Step("classes to judge again", "lattice/still_failing", context)
        return (*stages, Loop("suppress until the rest holds", applied, until, MOST_ROUNDS))
    return (*stages, *applied)


MOST_ROUNDS = 1_000_000
"""A bound that is never reached: every round suppresses a class or is the last."""


def verdict_steps(context: dict[str, Any]) -> tuple[Step, ...]:
    """Steps that add the verdicts over `classes` to `judged`."""
    return (
        Step("verdicts", "lattice/verdicts", context),
        Step("remember verdicts", "lattice/add_evaluations", context),
    )
