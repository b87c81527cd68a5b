"""Values as the text of a published cell."""

from __future__ import annotations

from anonymizer.compile import Sql, lit
from anonymizer.profile import Attribute


def value_text(value: str, attribute: Attribute) -> Sql:
    """A single value as the text of a cell."""
    if attribute.sql_type == "TIMESTAMP WITH TIME ZONE":
        # in UTC, whatever the time zone of the session
        value = f"(cast(timezone('UTC', {value}) as varchar) || '+00')"
    value = typed(value, attribute.sql_type)
    return Sql(f"cast({value} as varchar)" if attribute.ordered else value_label(value))


def typed(value: str, sql_type: str) -> str:
    """`value`, told to be a double where it is one: engines write doubles in different ways."""
    return f"cast({value} as {sql_type})" if sql_type in ("FLOAT", "DOUBLE") else value


def node_label(label: str, attribute: Attribute) -> str:
    """The label of a node as it stands in a cell: sets as they are, others as a category."""
    return label if attribute.set_nodes else value_label(label)


MISREAD = r'^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]'
"""A category that could be taken for another cell, or for a part of a list."""


def value_label(value: str) -> str:
    """A category as it stands in a cell: in double quotes where it could be misread."""
    text = f"cast({value} as varchar)"
    return (
        f"case when regexp_matches({text}, {lit(MISREAD)})"
        f" then '\"' || replace({text}, '\"', '\"\"') || '\"' else {text} end"
    )
