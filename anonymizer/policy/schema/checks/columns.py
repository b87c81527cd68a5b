"""Checks of columns: those of a single table, and the roles that each table may have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from anonymizer.errors import Problem
from anonymizer.policy.checks import columns, masking
from anonymizer.policy.checks.algorithms import unnested
from anonymizer.policy.paths import column_path, name_text, path_text
from anonymizer.policy.schema.paths import table_path, within

if TYPE_CHECKING:
    from anonymizer.policy.schema.fields import SchemaFields
    from anonymizer.policy.schema.table import SchemaTable

ROLES = {
    **columns.ROLES,
    "hierarchy": (("quasi", "event", "sensitive"), None),
    "protect": (("sensitive", "event"), "role: sensitive"),
    "acknowledge": (("keep", "sensitive", "quasi", "event"), None),
    "nulls": (("quasi", "event", "sensitive", "keep"), None),
    "null_as_value": (("sensitive",), None),
    "top_code": (("quasi", "event", "sensitive", "round"), "role: top_code, with at"),
    "bottom_code": (("quasi", "event", "sensitive", "round"), "role: bottom_code, with at"),
    "zip3": (("quasi", "event", "sensitive"), "role: zip3"),
    "round": (("quasi", "event", "sensitive"), "role: round, with to"),
}


def each_table(policy: SchemaFields) -> Iterator[Problem]:
    """The checks of the columns of a single table, for each table."""
    for name, table in policy.tables.items():
        yield from within(name, _of_table(table, policy.engine))


def _of_table(table: SchemaTable, engine: str) -> Iterator[Problem]:
    yield from columns.some_column(table)
    yield from columns.same_but_for_case(table, engine)
    yield from columns.hierarchy_fits_kind(table)
    yield from columns.distance_has_order(table)
    yield from unnested(table, whole=False, otherwise="")


def options_fit_role(policy: SchemaFields) -> Iterator[Problem]:
    """Options are only set for roles that use them."""
    for name, table in policy.tables.items():
        for column, given in table.columns.items():
            yield from within(name, columns.misplaced(column, given, ROLES))


def masks(policy: SchemaFields) -> Iterator[Problem]:
    """Every masking role has its required options."""
    for name, table in policy.tables.items():
        for column, given in table.columns.items():
            yield from within(name, masking.of_column(column, given))
            if given.per is not None and given.per not in table.columns:
                said = "is not a column listed under columns"
                path = column_path(column, "per")
                yield from within(name, [Problem(path, said, hint="list it there")])
            if given.safe_harbor is not None:
                said = "is an option of preset: safe_harbor, which is for one table"
                yield from within(name, [Problem(column_path(column, "safe_harbor"), said)])
            if given.of is not None and given.masks:
                said = f"cannot be combined with {given.masks[0][0]} yet"
                path = column_path(column, "of")
                yield from within(name, [Problem(path, said, hint="round it in source.query")])
    yield from masking.shifted_alike(
        (
            path_text(("tables", name, "columns", column)),
            (name, given.per) if given.per else None,
            given,
        )
        for name, table in policy.tables.items()
        for column, given in table.columns.items()
        if given.role == "shift"
    )


def roles_fit_table(policy: SchemaFields) -> Iterator[Problem]:
    """The role quasi is for the persons' table, the role event for the others."""
    if policy.person not in policy.tables:
        return
    for name, table in policy.tables.items():
        one = name == policy.person
        yield from within(name, _of_persons(table) if one else _of_rows(table, policy.person))
        if not one:
            yield from within(name, _lifted_names(policy, name))


def _of_persons(table: SchemaTable) -> Iterator[Problem]:
    for name, column in table.columns.items():
        if column.role == "event":
            said = "is event, and this table has one row per person"
            yield Problem(column_path(name, "role"), said, hint="role: quasi")
        if column.of is not None:
            said = "is for other tables: these columns are the person's already"
            yield Problem(column_path(name, "of"), said, hint="leave of out")


def _of_rows(table: SchemaTable, persons: str) -> Iterator[Problem]:
    for name, column in table.columns.items():
        lifted = column.role == "quasi" and column.of is not None
        if column.of is not None and not lifted:
            said = f"does not apply to a column of the role {column.role}"
            yield Problem(column_path(name, "of"), said, hint="role: quasi, or leave of out")
        elif column.role == "quasi" and not lifted:
            said = f"is quasi, which stands in the table of the persons, {name_text(persons)}"
            hint = "role: event, which may differ from row to row; or of: person, if it does not"
            yield Problem(column_path(name, "role"), said, hint=hint)
        if column.nulls == "suppress" and not lifted:
            said = "would suppress persons for single rows, which is not offered"
            yield Problem(column_path(name, "nulls"), said, "own_class, forbid")


def _lifted_names(policy: SchemaFields, table: str) -> Iterator[Problem]:
    """The name of a lifted column differs from those of the persons' columns."""
    taken = {name.casefold(): policy.person for name in policy.tables[policy.person].columns}
    for other in list(policy.tables)[: list(policy.tables).index(table)]:
        if other != policy.person:
            taken |= {name.casefold(): other for name in policy.tables[other].lifted}
    for name in policy.tables[table].lifted:
        if name.casefold() in taken:
            said = f"is a column of {name_text(taken[name.casefold()])} as well"
            yield Problem(column_path(name, "of"), said, hint="rename it in source.query")


def quasi_needed(policy: SchemaFields) -> Iterator[Problem]:
    """There is at least one quasi-identifier to form classes of persons."""
    persons = policy.tables.get(policy.person)
    if persons is not None and persons.columns and not (persons.quasi or policy.lifted):
        said = "has no quasi column, and there is nothing to make classes of persons by"
        hint = "give the columns that others may know role: quasi"
        yield Problem(table_path(policy.person, "columns"), said, hint=hint)
