"""The rules of sensitive columns of all tables, also for observers who know rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.algorithms.core.encode import CODED
from anonymizer.algorithms.core.partition import MEMBERS, Protection
from anonymizer.algorithms.core.person_rules import (
    HOLDINGS,
    PAIRS,
    SETS,
    PersonRules,
    numbered_values,
)
from anonymizer.algorithms.core.protections import column_rules, feasible, protection
from anonymizer.algorithms.schema.events import OWNERS
from anonymizer.compile import Sql, Table, work
from anonymizer.errors import InfeasibleError, Problem, SourceError
from anonymizer.guarantees.closeness import TOrdered
from anonymizer.guarantees.identity import EirL, IrK
from anonymizer.guarantees.requirements import of_basis, table_rules_of
from anonymizer.guarantees.rule import Rule, all_hold, merge_layers
from anonymizer.policy import Policy, SchemaPolicy
from anonymizer.policy.paths import table_path, within
from anonymizer.process.text import many
from anonymizer.source.child import Child
from anonymizer.source.profile import Sensitive
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.steps import Guard, Row, Stage, Step

# The rules of the sensitive columns of all tables, with the persons as units.


FAILING = work("failing_classes")


def child_protections(
    children: Sequence[Child],
) -> tuple[tuple[Protection, ...], tuple[Stage, ...]]:
    """The rules that cuts have to satisfy for protected columns of other tables, with stages."""
    made: list[Protection] = []
    stages: list[Stage] = []
    for child in children:
        for column in child.roles.sensitive:
            try:
                rules = column_rules(child.policy, column)
            except SourceError as error:
                raise SourceError(within(child.name, error.problems)) from None
            if not rules:
                continue
            context: dict[str, Any] = {
                "coded": child.kept,
                "kept": child.kept,
                "owners": OWNERS,
                "reference": column.reference,
                "cells": column.cells,
                "hierarchy": column.hierarchy,
                "levels": column.levels,
                "column": column.s,
                "runs": any(isinstance(rule, TOrdered) for rule in rules),
                "count": Sql("count(distinct r.person)"),
            }
            name = f"{child.name}.{column.column}"
            stages += [
                Step(f"values of {name}", "prepare/reference", context),
                feasible(column, rules, table_path(child.name, "columns")),
                Step(f"{name} by unit", "schema/values_by_unit", context),
            ]
            made.append(protection(column, rules))
    return tuple(made), tuple(stages)


Judged = tuple[Table, str, Sensitive, str, bool]
"""The table of a column, its column of persons, the column, its path, whether NULL is a value."""


def holding_steps(
    children: Sequence[Child],
    rules: PersonRules,
    judged: Sequence[Judged],
    partial: set[str],
    further: Sequence[Step] = (),
) -> tuple[Step, ...]:
    """Steps that list the classes in which the remaining rows break a rule, and merge them.

    Only tables of which rows may be left out (`partial`) can break rules that the cuts satisfied.
    `further`: steps that list more classes.
    """
    steps: list[Step] = []
    by_column = {column.index for _, _, column, _, _ in judged}
    for child in children:
        if child.name not in partial:
            continue
        own: list[Step] = []
        for column in child.roles.sensitive:
            counted = column_rules(child.policy, column)
            paired = rules.rules if column.index in by_column else ()
            for one in (counted, paired):
                if one:
                    own += failing_steps(
                        f"{child.name}.{column.column}",
                        column,
                        one,
                        pairs=one is paired,
                        remaining=child.remaining,
                        judged=child.remaining,
                        failing=FAILING,
                    )
        if own:
            remaining = {
                "kept": child.kept,
                "owner": Sql("k.person"),
                "owners": OWNERS,
                "members": MEMBERS,
                "gone": child.gone,
                "source": None,
                "remaining": child.remaining,
            }
            name = f"rows of {child.name} that are left"
            steps += [Step(name, "schema/remaining", remaining), *own]
    steps += further
    if not steps:
        return ()
    shared = {"members": MEMBERS, "failing": FAILING}
    return (
        Step("no class breaks a rule yet", "schema/no_failing", shared),
        *steps,
        Step("merge classes that break a rule", "schema/merged", shared),
    )


def failing_steps(
    name: str,
    column: Sensitive,
    rules: Sequence[Rule],
    *,
    pairs: bool,
    remaining: Table,
    judged: Table,
    failing: Table,
    members: Table = MEMBERS,
) -> tuple[Step, Step]:
    """Steps that add to `failing` the classes of `judged` that break a rule of the column.

    `remaining`: the rows of all classes, with which a rule may compare; `judged`: those rows, in
    the classes or parts of them; `pairs`: rules on pairs of persons and values.
    """
    reference = work(f"left_reference_{column.index}")
    context: dict[str, Any] = {
        "coded": remaining,
        "remaining": judged,
        "members": members,
        "failing": failing,
        "reference": reference,
        "hierarchy": column.hierarchy,
        "levels": column.levels,
        "column": column.s,
        "runs": False,
        "count": Sql("count(distinct r.number)"),
        "pairs": pairs,
        "dense": any(rule.dense for rule in rules),
        "layers": merge_layers(rules, Sql("class_id")),
        "holds": all_hold(rules),
    }
    return (
        Step(f"values of {name} that are left", "prepare/reference", context),
        Step(f"classes that break a rule of {name}", "schema/failing", context),
    )


def pair_rules(
    policy: SchemaPolicy,
    persons: Sequence[Sensitive],
    children: Sequence[Child],
    eir_l: dict[tuple[str, str], int],
    *,
    k: int,
) -> tuple[PersonRules, tuple[Judged, ...]]:
    """The rules on pairs of persons and values, and the columns that they judge.

    `eir_l`: the requirements of single columns, by table and column; the largest applies to all.
    """
    rules: tuple[Rule, ...] = of_basis(
        table_rules_of("any", policy.privacy, declared=Sql("null")), "pairs"
    )
    if policy.privacy.ir_kl is not None:
        # in a class, only persons with a row in the table are counted
        rules += (IrK("any", policy.privacy.ir_kl.k),)
    everywhere = bool(rules)
    if eir_l:
        own = [rule.l for rule in rules if isinstance(rule, EirL)]
        rules = tuple(rule for rule in rules if not isinstance(rule, EirL))
        rules += (EirL("any", l=max([*own, *eir_l.values()])),)
    judged: list[Judged] = []
    for s in persons:
        if everywhere or (policy.person, s.column) in eir_l:
            nulls = policy.persons.columns[s.column].null_as_value
            path = table_path(policy.person, "columns", s.column)
            judged.append((SNAPSHOT, "rowid", s, path, nulls))
    for child in children:
        for s in child.roles.sensitive:
            if everywhere or (child.name, s.column) in eir_l:
                nulls = child.policy.columns[s.column].null_as_value
                path = table_path(child.name, "columns", s.column)
                judged.append((child.kept, "person", s, path, nulls))
    columns = tuple(s for _, _, s, _, _ in judged)
    return PersonRules(columns, rules if columns else (), k, k), tuple(judged)


def holding_stages(rules: PersonRules, judged: Sequence[Judged]) -> tuple[Stage, ...]:
    """Stages that write the values of each person, and guard rules that no class can satisfy."""
    if not judged:
        return ()
    stages: list[Stage] = []
    for table, person, column, _, nulls in judged:
        context = {
            "coded": table,
            "numbered_values": numbered_values(column),
            "column": column.s,
            "null_as_value": nulls,
            "person": Sql(person),
        }
        name = f"values of {column.column}"
        stages.append(Step(name, "persons/numbered_values", context))
    columns = [(table, person, s, numbered_values(s)) for table, person, s, _, _ in judged]
    who = {
        "tables": [table for table, *_ in judged],
        "numbered_values": [values for *_, values in columns],
        "owners": OWNERS,
        "holdings": HOLDINGS,
        "columns": columns,
    }
    stages.append(Step("values of persons", "schema/holdings", who))
    stages.append(Step("value sets", "persons/sets", {"holdings": HOLDINGS, "sets": SETS}))
    if rules.only_hitting:
        pairs = {"sets": SETS, "value_pairs": PAIRS}
        stages.append(Step("pairs of persons and values", "persons/value_pairs", pairs))
    return (*stages, _as_one_class(rules, judged))


def _as_one_class(rules: PersonRules, judged: Sequence[Judged]) -> Guard:
    paths = {column.index: path for _, _, column, path, _ in judged}

    def explain(row: Row) -> Problem:
        column, persons, different, widest, _ = row
        return Problem(
            paths[int(column)],
            "cannot hold its rules on persons in any class: the table as one class fails"
            f" ({many(persons, 'person')} with a value, {many(different, 'different value')},"
            f" the most widespread with {many(widest, 'person')})",
            hint="ask for less, or leave the most widespread values out in source.query",
        )

    assert rules.screen is not None
    screen = {"holdings": HOLDINGS, "fails": rules.screen.fails}
    query = Step("the tables as one class", "persons/whole_table", screen)
    return Guard(query, explain, InfeasibleError)


# The rules of sensitive columns among the persons who remain candidates if rows are known.
#
# Source: LKC-privacy, Mohammed, Fung, Hung and Lee (2009), here with sets of rows instead of items.


CHOICES = work("choices")
AMONG = work("among")
LEFT_OUT = work("left_out")
FAILING_CHOICES = work("failing_choices")


@dataclass(frozen=True, slots=True)
class RuledTable:
    """A table with rules that have to hold among the remaining persons."""

    child: Child | None
    """None for the table of the persons."""
    columns: tuple[tuple[Sensitive, tuple[Rule, ...], bool], ...]
    """Columns, their rules, and whether these are rules on pairs of persons and values."""

    @property
    def name(self) -> str:
        return "persons" if self.child is None else self.child.name

    @property
    def remaining(self) -> Table:
        return work("remaining_persons") if self.child is None else self.child.remaining

    @property
    def relative(self) -> bool:
        """True if the rules depend on rows that are left out in other classes."""
        return any(rule.relative for _, rules, _ in self.columns for rule in rules)


def ruled_tables(
    single: Policy,
    roles: Roles,
    children: Sequence[Child],
    rules: PersonRules,
    judged: Sequence[Judged],
) -> tuple[RuledTable, ...]:
    """All tables with rules on sensitive columns. `single`: the policy of the persons' table."""
    paired = {column.index for _, _, column, _, _ in judged}
    tables: list[RuledTable] = []
    for child, policy, sensitive in (
        (None, single, roles.sensitive),
        *((child, child.policy, child.roles.sensitive) for child in children),
    ):
        columns: list[tuple[Sensitive, tuple[Rule, ...], bool]] = []
        for column in sensitive:
            columns.append((column, column_rules(policy, column), False))
            if column.index in paired:
                columns.append((column, rules.rules, True))
        asked = tuple(one for one in columns if one[1])
        if asked:
            tables.append(RuledTable(child, asked))
    return tuple(tables)


def rule_steps(tables: Sequence[RuledTable], shared: Mapping[str, Any]) -> tuple[Step, ...]:
    """Steps that add to `broken` the sets of rows whose holders break a rule."""
    context = {**shared, "choices": CHOICES, "failing": FAILING_CHOICES, "left_out": LEFT_OUT}
    return (
        Step("sets of rows", "schema/choices", context),
        Step("rows left out so far", "schema/left_out", context),
        *_judging(tables),
        Step("sets that break a rule", "schema/broken_rules", context),
    )


def class_steps(tables: Sequence[RuledTable], shared: Mapping[str, Any]) -> tuple[Step, ...]:
    """Steps that add to `failing` the classes in which persons with equal numbers break a rule."""
    context = {**shared, "choices": CHOICES, "left_out": LEFT_OUT}
    classes = {**context, "failing": FAILING, "failing_choices": FAILING_CHOICES}
    return (
        Step("persons with equal numbers of rows", "schema/choices_of_numbers", context),
        Step("rows left out", "schema/left_out", {**context, "event_rows": None}),
        *_judging(tables),
        Step("classes with such persons", "schema/failing_classes", classes),
    )


def _judging(tables: Sequence[RuledTable]) -> tuple[Step, ...]:
    steps = [Step("no choice breaks a rule yet", "schema/no_failing", NONE_YET)]
    for table in tables:
        child = table.child
        remaining = {
            "kept": CODED if child is None else child.kept,
            "owner": Sql("k.row_ref" if child is None else "k.person"),
            "owners": OWNERS,
            "members": MEMBERS,
            "gone": None if child is None else LEFT_OUT,
            "source": None if child is None else child.number,
            "remaining": table.remaining,
        }
        among = {
            "remaining": table.remaining,
            "choices": CHOICES,
            "among": AMONG,
            "columns": list(dict.fromkeys(column.s for column, _, _ in table.columns)),
        }
        name = f"rows of {table.name}"
        steps.append(Step(f"{name} that are left", "schema/remaining", remaining))
        steps.append(Step(f"{name} of those who remain", "schema/candidate_rows", among))
        for column, rules, pairs in table.columns:
            steps += failing_steps(
                f"{table.name}.{column.column}",
                column,
                rules,
                pairs=pairs,
                remaining=table.remaining,
                judged=AMONG,
                failing=FAILING_CHOICES,
            )
    return tuple(steps)


NONE_YET = {"members": MEMBERS, "failing": FAILING_CHOICES}
