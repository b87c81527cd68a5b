"""Checks of columns: whether their options fit role and kind, and those that others name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

from anonymizer.errors import Problem
from anonymizer.policy.masking import OPTIONS
from anonymizer.policy.paths import column_path, name_text
from anonymizer.policy.suggest import closest

if TYPE_CHECKING:
    from anonymizer.policy.columns import Column
    from anonymizer.policy.fields import PolicyFields

BARE_NAME = re.compile(r"\s*(?:(?P<plain>[^\W\d]\w*)|\"(?P<quoted>(?:[^\"]|\"\")+)\")\s*")
CONSTANTS = {"true", "false", "null"}


def key_and_person(policy: PolicyFields) -> Iterator[Problem]:
    """Key and person are listed columns that are not published unchanged."""
    for option in ("key", "person"):
        name = getattr(policy, option)
        if name is None:
            continue
        column = policy.columns.get(name)
        if column is None:
            hint = closest(name, policy.columns) or "list it there, as role: drop"
            yield Problem(option, "is not a column listed under columns", hint=hint)
        elif column.role not in ("drop", "identifier", "token"):
            said = f"is the {option} and would be published by the role {column.role}"
            yield Problem(column_path(name, "role"), said, "drop, identifier, token")


def bare_condition(policy: PolicyFields) -> Iterator[Problem]:
    """A condition that is only a name must name a listed column."""
    known = {name.casefold() for name in policy.columns}
    for name, column in policy.columns.items():
        found = BARE_NAME.fullmatch(column.sensitive_when or "")
        if found is None or (found["plain"] or "").lower() in CONSTANTS:
            continue
        meant = found["plain"] or found["quoted"].replace('""', '"')
        if meant.casefold() not in known:
            near = closest(meant, policy.columns)
            hint = near or "list the column under columns, as role: drop"
            path = column_path(name, "sensitive_when")
            yield Problem(path, "names a column that is not listed under columns", hint=hint)


def person_options(policy: PolicyFields) -> Iterator[Problem]:
    """Merging the rows of a person needs a person."""
    if policy.merge_person_rows and policy.person is None:
        yield Problem("merge_person_rows", "needs a person", hint="person: <column>")


def semi_sensitive(policy: PolicyFields) -> Iterator[Problem]:
    """Only lgb treats single cells as sensitive."""
    if policy.algorithm.values_in == "bucket":
        return
    for name in policy.semi_sensitive:
        said = f"is not supported by {policy.algorithm.name}: cells are protected one by one by lgb"
        yield Problem(column_path(name, "sensitive_when"), said, hint="algorithm: {name: lgb}")


ORDERED_BUILDERS = ("conventional", "divisor", "cardinality", "on_the_fly", "intervals")
"""Builders of intervals: for numbers and dates."""

NO_STRUCTURE = "add a hierarchy to the column for distance: hierarchical, or distance: equal"


COARSE = ("top_code", "bottom_code", "round", "redact", "zip3")
"""Masking roles that may leave values nearly unchanged."""

ROLES: Mapping[str, tuple[tuple[str, ...], str | None]] = {
    "hierarchy": (("quasi", "sensitive"), None),
    "sensitive_when": (("quasi",), None),
    "protect": (("sensitive", "quasi"), "role: sensitive"),
    "nulls": (("quasi", "sensitive", "keep"), None),
    "acknowledge_unique": (("keep", "sensitive", "noise", *COARSE), None),
    "acknowledge": (("keep", "sensitive", "quasi", *COARSE), None),
    "null_as_value": (("sensitive", "quasi"), None),
    "weight": (("quasi",), None),
    "priority": (("quasi",), None),
    "minimum_level": (("quasi",), None),
    "presampling_level": (("quasi",), None),
    **{
        option: (tuple(mask for mask, has in OPTIONS.items() if option in has), None)
        for options in OPTIONS.values()
        for option in options
    },
    "top_code": (("quasi", "sensitive", "round"), "role: top_code, with at"),
    "bottom_code": (("quasi", "sensitive", "round"), "role: bottom_code, with at"),
    "zip3": (("quasi", "sensitive"), "role: zip3"),
    "round": (("quasi", "sensitive"), "role: round, with to"),
}
"""Options for certain roles only, with these roles and a hint."""


class Table(Protocol):
    """The policy of one table, or one table of a policy of several."""

    @property
    def columns(self) -> Mapping[str, Column]: ...


def some_column(table: Table) -> Iterator[Problem]:
    """A table has at least one column."""
    if not table.columns:
        yield Problem("columns", "is empty", hint="columns: {age: {role: quasi}}")


def same_name(policy: PolicyFields) -> Iterator[Problem]:
    """On DuckDB and Spark, which ignore the case of names, columns differ in more than case."""
    if policy.engine != "postgres":
        yield from same_but_for_case(policy, policy.engine)


def same_but_for_case(table: Table, engine: str) -> Iterator[Problem]:
    """Names that are equal for an engine that ignores case."""
    first: dict[str, str] = {}
    for name in table.columns:
        other = first.setdefault(name.casefold(), name)
        if other != name:
            said = f"names the same column as {name_text(other)}: {engine} ignores case"
            yield Problem(column_path(name), said)


def options_fit_role(policy: PolicyFields) -> Iterator[Problem]:
    """Options are only set for roles that use them."""
    for name, column in policy.columns.items():
        yield from misplaced(name, column)
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


def misplaced(
    name: str, column: Column, roles: Mapping[str, tuple[tuple[str, ...], str | None]] = ROLES
) -> Iterator[Problem]:
    """Options that the column's role does not use, with the roles that use them."""
    fields = type(column).model_fields
    for option, (fitting, hint) in roles.items():
        if column.role in fitting or getattr(column, option) == fields[option].default:
            continue
        said = f"does not apply to a column of the role {column.role}"
        yield Problem(column_path(name, option), said, f"role {' or '.join(fitting)}", hint)


def hierarchy_fits_kind(table: Table) -> Iterator[Problem]:
    """Intervals are for ordered kinds, calendar levels for dates."""
    for name, column in table.columns.items():
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


def distance_has_order(table: Table) -> Iterator[Problem]:
    """The distances of t-closeness need an order or a hierarchy."""
    for name, column in table.columns.items():
        rule = column.protect.t_closeness if column.protect is not None else None
        if rule is None:
            continue
        if rule.distance == "hierarchical" and column.hierarchy is None:
            path = column_path(name, "protect", "t_closeness", "distance")
            yield Problem(path, "hierarchical needs a hierarchy", hint=NO_STRUCTURE)
        if column.kind is not None:
            yield from order_of_categories(name, column, column.kind)


def order_of_categories(name: str, column: Column, kind: str) -> Iterator[Problem]:
    """An ordered distance needs an ordered kind; checked again when the source's kind is known."""
    rule = column.protect.t_closeness if column.protect is not None else None
    if rule is not None and rule.distance == "ordered" and kind == "categorical":
        path = column_path(name, "protect", "t_closeness", "distance")
        # a hierarchy only groups values; a release does not show the order of its leaves
        hint = NO_STRUCTURE if column.hierarchy is None else "distance: hierarchical, or equal"
        yield Problem(path, "ordered needs an order, which categories lack", hint=hint)
