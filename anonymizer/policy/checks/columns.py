"""Checks of single columns: do their options fit their role and kind?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from anonymizer.errors import Problem
from anonymizer.policy.paths import column_path, name_text

if TYPE_CHECKING:
    from anonymizer.policy.columns import Column
    from anonymizer.policy.model import Policy

ORDERED_BUILDERS = ("conventional", "divisor", "cardinality", "on_the_fly", "intervals")
"""Builders of intervals: for numbers and dates."""

NO_STRUCTURE = "add a hierarchy to the column for distance: hierarchical, or distance: equal"


def some_column(policy: Policy) -> Iterator[Problem]:
    """A table has columns."""
    if not policy.columns:
        yield Problem("columns", "is empty", hint="columns: {age: {role: quasi}}")


def same_name(policy: Policy) -> Iterator[Problem]:
    """DuckDB and Spark compare names without case, Postgres does not."""
    if policy.engine == "postgres":
        return
    first: dict[str, str] = {}
    for name in policy.columns:
        other = first.setdefault(name.casefold(), name)
        if other != name:
            said = f"names the same column as {name_text(other)}: {policy.engine} ignores case"
            yield Problem(column_path(name), said)


def options_fit_role(policy: Policy) -> Iterator[Problem]:
    """An option that says nothing for a role is a misunderstanding."""
    for name, column in policy.columns.items():
        for option, roles, hint in _misplaced(column):
            yield Problem(
                column_path(name, option),
                f"does not apply to a column of the role {column.role}",
                f"role {' or '.join(roles)}",
                hint,
            )
        if column.role != "quasi":
            continue
        if column.protect is not None and column.sensitive_when is None:
            yield Problem(
                column_path(name, "protect"),
                "protects nothing: a quasi column is sensitive only under a condition",
                hint="add sensitive_when, or make it role: sensitive",
            )
        if column.protect is None and column.sensitive_when is not None:
            yield Problem(
                column_path(name, "protect"),
                "is missing: the cells that sensitive_when marks need a rule",
                hint="protect: {l_diversity: 3}",
            )
        if column.null_as_value and column.sensitive_when is None:
            yield Problem(
                column_path(name, "null_as_value"),
                "applies to sensitive values only",
                hint="NULLs of a quasi-identifier: nulls: own_class, suppress or forbid",
            )


def _misplaced(column: Column) -> Iterator[tuple[str, tuple[str, ...], str | None]]:
    """Options that say nothing for the column's role, with the roles they are for."""
    rules: tuple[tuple[str, bool, tuple[str, ...], str | None], ...] = (
        ("hierarchy", column.hierarchy is not None, ("quasi", "sensitive"), None),
        ("sensitive_when", column.sensitive_when is not None, ("quasi",), None),
        ("protect", column.protect is not None, ("sensitive", "quasi"), "role: sensitive"),
        ("nulls", column.nulls != "own_class", ("quasi", "sensitive", "keep"), None),
        ("acknowledge_unique", column.acknowledge_unique, ("keep", "sensitive"), None),
        ("null_as_value", column.null_as_value, ("sensitive", "quasi"), None),
        ("priority", column.priority is not None, ("quasi",), None),
        ("minimum_level", column.minimum_level is not None, ("quasi",), None),
        ("presampling_level", column.presampling_level is not None, ("quasi",), None),
    )
    for option, given, roles, hint in rules:
        if given and column.role not in roles:
            yield option, roles, hint


def hierarchy_fits_kind(policy: Policy) -> Iterator[Problem]:
    """Intervals are for ordered kinds, calendar levels for dates."""
    for name, column in policy.columns.items():
        if column.hierarchy is None or column.kind is None:
            continue
        builder, path = column.hierarchy.builder, column_path(name, "hierarchy", "builder")
        if column.kind == "categorical" and builder in ORDERED_BUILDERS:
            yield Problem(
                path,
                f"{builder} makes intervals, which categories do not have",
                "prefix, suffix, taxonomy, frequency, order",
                "kind: numeric, if the values are numbers",
            )
        if column.kind != "date" and builder == "date":
            yield Problem(path, f"date does not fit the kind {column.kind}", hint="kind: date")


def distance_has_order(policy: Policy) -> Iterator[Problem]:
    """The distances of t-closeness need the structure that they measure."""
    for name, column in policy.columns.items():
        rule = column.protect.t_closeness if column.protect is not None else None
        if rule is None:
            continue
        if rule.distance == "hierarchical" and column.hierarchy is None:
            path = column_path(name, "protect", "t_closeness", "distance")
            yield Problem(path, "hierarchical needs a hierarchy", hint=NO_STRUCTURE)
        if column.kind is not None:
            yield from order_of_categories(name, column, column.kind)


def order_of_categories(name: str, column: Column, kind: str) -> Iterator[Problem]:
    """An ordered distance over a kind without order; asked again when the source tells the kind."""
    rule = column.protect.t_closeness if column.protect is not None else None
    if rule is not None and rule.distance == "ordered" and kind == "categorical":
        path = column_path(name, "protect", "t_closeness", "distance")
        # a hierarchy only groups values; a release does not show the order of its leaves
        hint = NO_STRUCTURE if column.hierarchy is None else "distance: hierarchical, or equal"
        yield Problem(path, "ordered needs an order, which categories lack", hint=hint)
