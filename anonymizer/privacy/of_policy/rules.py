"""Convert a policy to rules: `protect` of a column, `privacy` of the table."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.compile import Sql
from anonymizer.policy.columns import Column
from anonymizer.policy.privacy import Privacy
from anonymizer.policy.protect import Protect
from anonymizer.privacy.guarantee import Given
from anonymizer.privacy.of_policy.registry import OF_COLUMNS, OF_TABLE, asked
from anonymizer.privacy.rule import Rule


def rules_of(
    column: str, protect: Protect, null_as_value: bool = False, *, height: int = 0
) -> tuple[Rule, ...]:
    """The rules of one column, all judged over its histogram.

    `height`: levels of the column's hierarchy above the leaves (for hierarchical t).
    """
    return tuple(
        rule
        for guarantee, value in asked(OF_COLUMNS, protect)
        for rule in guarantee.rules(Given(value, column, null_as_value, height))
    )


def rules_of_any(column: str, described: Column) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """The rules of one column that the histogram of any group decides; and the other requirements,
    by their fields: they depend on the whole table, on a hierarchy, or on who has which values.
    """
    judged: list[Rule] = []
    beyond: list[str] = []
    for guarantee, value in asked(OF_COLUMNS, described.protect) if described.protect else ():
        rules = tuple(guarantee.rules(Given(value, column, described.null_as_value)))
        found = [r for r in rules if r.basis == "histogram" and not (r.relative or r.paths)]
        judged += found
        if not rules or len(found) < len(rules):
            beyond.append(guarantee.option)
    return tuple(judged), tuple(beyond)


def table_rules_of(
    column: str, privacy: Privacy, null_as_value: bool = False, *, declared: Sql | None = None
) -> tuple[Rule, ...]:
    """The rules of one sensitive column that follow from the table's guarantees.

    `declared`: SQL for the code, in this column, of the value that `alpha_k` names (NULL where the
    column does not have it). Raises `ValueError` (a defect of the caller) if it is missing.
    """
    return tuple(
        rule
        for guarantee, value in asked(OF_TABLE, privacy)
        if guarantee.of_values
        for rule in guarantee.rules(Given(value, column, null_as_value, declared=declared))
    )


def of_basis(rules: Sequence[Rule], *basis: str) -> tuple[Rule, ...]:
    """The rules that are judged over a relation of one of these kinds."""
    return tuple(rule for rule in rules if rule.basis in basis)
