"""The rules of a policy as an algorithm on persons judges them, and the tables that they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anonymizer.algorithms.prepare import CODED, PERSONS, UNITS
from anonymizer.algorithms.protections import column_rules
from anonymizer.algorithms.roles import Roles
from anonymizer.compile import Sql, Table, work
from anonymizer.errors import InfeasibleError, Problem
from anonymizer.plan import Guard, Row, Stage, Step
from anonymizer.policy import Policy
from anonymizer.privacy import (
    Rule,
    Screen,
    conjunction,
    of_basis,
    screen,
    survives_additions,
    table_rules_of,
)
from anonymizer.profile import Sensitive


@dataclass(frozen=True, slots=True)
class JudgedColumn:
    """One sensitive column and what every group has to hold for it."""

    column: Sensitive
    pairs: tuple[Rule, ...]
    """Rules on (person, value) pairs."""
    histogram: tuple[Rule, ...]
    """Rules on the counts of values."""
    null_as_value: bool

    @property
    def index(self) -> int:
        return self.column.index

    @property
    def holdings(self) -> Table:
        """unit, person (its number), value (code), n records."""
        return work(f"holdings_{self.column.index}")

    @property
    def cells(self) -> Table:
        return self.column.cells

    @property
    def reference(self) -> Table:
        return self.column.reference

    @property
    def lowest(self) -> int:
        """The lowest code that counts as a value."""
        return 0 if self.null_as_value else 1

    @property
    def dense(self) -> bool:
        return any(rule.dense for rule in self.histogram)

    @property
    def screen(self) -> Screen | None:
        return conjunction([screen(rule) for rule in self.pairs]) if self.pairs else None

    def with_additions(self) -> JudgedColumn:
        """Without the rules that further persons cannot break."""
        left = tuple(rule for rule in self.pairs if not survives_additions(rule))
        return replace(self, pairs=left)


def judged_columns(policy: Policy, roles: Roles, *, histogram: bool) -> tuple[JudgedColumn, ...]:
    """Every sensitive column with rules on pairs, and with `histogram` those on counts too."""
    made = []
    for column in roles.sensitive:
        described = policy.columns[column.column]
        table = table_rules_of(column.column, _undeclared(policy), described.null_as_value)
        pairs = of_basis(table, "pairs")
        counts = column_rules(policy, column) if histogram else ()
        if pairs or counts:
            made.append(JudgedColumn(column, pairs, counts, described.null_as_value))
    return tuple(made)


def _undeclared(policy: Policy) -> object:
    return policy.privacy


def holding_stages(
    policy: Policy, columns: Sequence[JudgedColumn], keys: Sequence[Sql], *, referenced: bool
) -> tuple[Stage, ...]:
    """The tables of who holds what. `referenced`: the columns' references exist already."""
    stages: list[Stage] = []
    for judged in columns:
        column = judged.column
        context = {
            "coded": CODED,
            "units": UNITS,
            "persons": PERSONS,
            "reference": column.reference,
            "cells": column.cells,
            "holdings": judged.holdings,
            "hierarchy": column.hierarchy,
            "levels": column.levels,
            "column": column.s,
            "keys": list(keys),
            "count": Sql("count(distinct person)"),
        }
        if not (referenced and judged.histogram) and not (
            referenced and column_rules(policy, column)
        ):
            name = column.column
            stages.append(Step(f"values of {name}", "prepare/reference.sql.j2", context))
            stages.append(Step(f"{name} by unit", "prepare/sensitive_cells.sql.j2", context))
        stages.append(
            Step(f"who holds which {column.column}", "persons/holdings.sql.j2", context)
        )
    return (*stages, *(guard for judged in columns for guard in _guards(judged)))
