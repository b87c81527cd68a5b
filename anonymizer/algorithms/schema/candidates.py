"""The rules of sensitive columns among the persons who remain candidates if rows are known.

Source: LKC-privacy, Mohammed, Fung, Hung and Lee (2009), here with sets of rows instead of items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.algorithms.encode import CODED
from anonymizer.algorithms.partition.partition import MEMBERS
from anonymizer.algorithms.persons.rules import PersonRules
from anonymizer.algorithms.protections import column_rules
from anonymizer.algorithms.schema.events import OWNERS
from anonymizer.algorithms.schema.rules import FAILING, Judged, failing_steps
from anonymizer.compile import Sql, Table, work
from anonymizer.policy import Policy
from anonymizer.privacy.rule import Rule
from anonymizer.source.child import Child
from anonymizer.source.profile import Sensitive
from anonymizer.source.roles import Roles
from anonymizer.steps import Step

CHOICES = work("choices")
AMONG = work("among")
LEFT_OUT = work("left_out")
FAILING_CHOICES = work("failing_choices")


@dataclass(frozen=True, slots=True)
class Ruled:
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
        """Whether the rules depend on rows that are left out in other classes."""
        return any(rule.relative for _, rules, _ in self.columns for rule in rules)


def ruled_tables(
    single: Policy,
    roles: Roles,
    children: Sequence[Child],
    rules: PersonRules,
    judged: Sequence[Judged],
) -> tuple[Ruled, ...]:
    """All tables with rules on sensitive columns. `single`: the policy of the persons' table."""
    paired = {column.index for _, _, column, _, _ in judged}
    tables: list[Ruled] = []
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
            tables.append(Ruled(child, asked))
    return tuple(tables)


def rule_steps(tables: Sequence[Ruled], shared: Mapping[str, Any]) -> tuple[Step, ...]:
    """Steps that add to `broken` the sets of rows whose holders break a rule."""
    context = {**shared, "choices": CHOICES, "failing": FAILING_CHOICES, "left_out": LEFT_OUT}
    return (
        Step("sets of rows", "schema/choices.sql.j2", context),
        Step("rows left out so far", "schema/left_out.sql.j2", context),
        *_judging(tables),
        Step("sets that break a rule", "schema/broken_rules.sql.j2", context),
    )


def class_steps(tables: Sequence[Ruled], shared: Mapping[str, Any]) -> tuple[Step, ...]:
    """Steps that add to `failing` the classes in which persons with equal numbers break a rule."""
    context = {**shared, "choices": CHOICES, "left_out": LEFT_OUT}
    classes = {**context, "failing": FAILING, "failing_choices": FAILING_CHOICES}
    return (
        Step("persons with equal numbers of rows", "schema/choices_of_numbers.sql.j2", context),
        Step("rows left out", "schema/left_out.sql.j2", {**context, "known": None}),
        *_judging(tables),
        Step("classes with such persons", "schema/failing_classes.sql.j2", classes),
    )


def _judging(tables: Sequence[Ruled]) -> tuple[Step, ...]:
    steps = [Step("no choice breaks a rule yet", "schema/no_failing.sql.j2", NONE_YET)]
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
        steps.append(Step(f"{name} that are left", "schema/remaining.sql.j2", remaining))
        steps.append(Step(f"{name} of those who remain", "schema/among.sql.j2", among))
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

__all__ = ["Ruled", "class_steps", "rule_steps", "ruled_tables"]
