"""The rules of sensitive columns in algorithms that keep rows whole: references, cells, checks."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.algorithms.mondrian.partition import Protection
from anonymizer.algorithms.prepare import CODED, UNITS
from anonymizer.algorithms.roles import Roles
from anonymizer.compile import Sql
from anonymizer.errors import InfeasibleError, Problem
from anonymizer.plan import Guard, Row, Stage, Step
from anonymizer.policy import Policy
from anonymizer.privacy import Rule, merge_layers, rules_of
from anonymizer.privacy.distinct_l import DistinctL
from anonymizer.privacy.rules import of_basis, table_rules_of
from anonymizer.profile import Sensitive


def protections(
    policy: Policy, roles: Roles, keys: Sequence[Sql]
) -> tuple[tuple[Protection, ...], tuple[Stage, ...]]:
    """What the partitioning has to keep for every protected column, and the stages it needs."""
    made: list[Protection] = []
    stages: list[Stage] = []
    person = policy.person is not None
    for column in roles.sensitive:
        rules = column_rules(policy, column)
        if not rules:
            continue
        context = {
            "coded": CODED,
            "units": UNITS,
            "reference": column.reference,
            "cells": column.cells,
            "hierarchy": column.hierarchy,
            "levels": column.levels,
            "column": column.s,
            "keys": list(keys),
            "count": Sql("count(distinct r.person)" if person else "count(*)"),
        }
        stages += [
            Step(f"values of {column.column}", "prepare/reference.sql.j2", context),
            _guard(column, rules),
            Step(f"{column.column} by unit", "prepare/sensitive_cells.sql.j2", context),
        ]
        part = Sql("class_id, attribute, code, single, side")
        made.append(
            Protection(
                index=column.index,
                cells=column.cells,
                reference=column.reference,
                dense=any(rule.dense for rule in rules),
                layers=tuple(tuple(layer.items()) for layer in merge_layers(rules, part)),
                holds=Sql(" and ".join(f"({rule.holds()})" for rule in rules)),
                distinct=_distinct(rules),
            )
        )
    return tuple(made), tuple(stages)


def column_rules(policy: Policy, column: Sensitive) -> tuple[Rule, ...]:
    """The rules of one sensitive column: its own, and those of the table that look at values."""
    described = policy.columns[column.column]
    rules: tuple[Rule, ...] = ()
    if described.protect is not None:
        rules = rules_of(
            column.column, described.protect, described.null_as_value, height=column.height
        )
    table = table_rules_of(column.column, policy.privacy, described.null_as_value)
    return rules + of_basis(table, "histogram")


def _distinct(rules: Sequence[Rule]) -> int:
    """How many different values are asked for, where nothing else is; else 0."""
    if all(isinstance(rule, DistinctL) and not rule.null_as_value for rule in rules):
        return max(rule.l for rule in rules if isinstance(rule, DistinctL))
    return 0


def _guard(column: Sensitive, rules: Sequence[Rule]) -> Guard:
    def explain(row: Row) -> Problem:
        different, most, known = row
        names = ", ".join(sorted({rule.name for rule in rules}))
        return Problem(
            f"columns.{column.column}.protect",
            f"cannot hold in any class: {names} fails for the table as a whole"
            f" ({different} different values, the most frequent in {most} of {known} rows)",
            hint="lower l, or protect it by t_closeness",
        )

    layers = merge_layers(rules, Sql(""))
    context = {
        "reference": column.reference,
        "layers": tuple(tuple(layer.items()) for layer in layers),
        "holds": Sql(" and ".join(f"({rule.holds()})" for rule in rules)),
    }
    return Guard(
        Step(f"feasibility of {column.column}", "guards/rule.sql.j2", context),
        explain,
        InfeasibleError,
    )
