"""Checks of rules on event columns, whose published cells are nodes of a hierarchy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from anonymizer.errors import Problem
from anonymizer.policy.builders import Frequency, Order, Prefix, Suffix, Taxonomy
from anonymizer.policy.paths import column_path
from anonymizer.policy.schema.paths import table_path, within

if TYPE_CHECKING:
    from anonymizer.policy.schema.fields import SchemaFields
    from anonymizer.policy.schema.table import SchemaColumn

RULE = "eir_l"
"""The rule that can be judged in the worst case that generalized cells allow."""
CATEGORIES = "is a rule on values of categories, and the cells of this column are intervals"


def rules_of_events(policy: SchemaFields) -> Iterator[Problem]:
    """A rule on an event column can be judged by its generalized cells."""
    for name, table in policy.tables.items():
        for column in table.events:
            given = table.columns[column]
            if given.protect is not None:
                yield from within(name, _of_column(column, given))


def _of_column(name: str, column: SchemaColumn) -> Iterator[Problem]:
    assert column.protect is not None
    hint = "protect: {eir_l: 3}; or role: sensitive, if nobody can know it of a row"
    asked = [rule for rule, value in column.protect if value is not None]
    for rule in asked:
        if rule != RULE:
            said = "cannot be judged of an event, whose values are generalized"
            yield Problem(column_path(name, "protect", rule), said, RULE, hint)
    if RULE not in asked:
        return
    path = column_path(name, "protect", RULE)
    spec = column.hierarchy
    otherwise = "role: sensitive, if nobody can know it of a row"
    if column.kind in ("numeric", "date"):
        yield Problem(path, CATEGORIES, hint=otherwise)
    elif isinstance(spec, Frequency | Order):
        said = f"cannot be judged of cells that are sets of values, as {spec.builder} makes them"
        yield Problem(path, said, hint="hierarchy: {file: codes.csv}, or builder: prefix")
    elif spec is not None and not isinstance(spec, Prefix | Suffix | Taxonomy):
        yield Problem(path, CATEGORIES, hint=otherwise)


def not_combined(policy: SchemaFields) -> Iterator[Problem]:
    """A rule on an event column is judged in whole classes of one release."""
    ruled = [(name, c) for name, table in policy.tables.items() for c in table.ruled_events]
    if not ruled:
        return
    listed = ", ".join(f"{name}.{column}" for name, column in ruled)
    otherwise = f"or leave out {table_path(ruled[0][0], 'columns', ruled[0][1], 'protect')}"
    if policy.privacy.knows.sensitive:
        said = (
            f"is not offered with a rule on an event column ({listed}): among those who remain, the"
            " known rows would have to be told from the others"
        )
        yield Problem("privacy.knows.sensitive", said, "false", otherwise)
    if policy.ledger is not None:
        said = (
            f"is not offered with a rule on an event column ({listed}): what the generalized cells"
            " of two releases tell together is not compared"
        )
        yield Problem("ledger", said, hint=f"leave ledger out, {otherwise}")
