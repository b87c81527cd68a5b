"""Values as the text of a published cell."""

from __future__ import annotations

from anonymizer.compile import Sql
from anonymizer.hierarchy.text import exact
from anonymizer.source.profile import Attribute


def value_text(value: str, attribute: Attribute) -> Sql:
    """A single value as the text of a cell."""
    if attribute.sql_type == "TIMESTAMP WITH TIME ZONE":
        # in UTC, whatever the time zone of the session
        value = f"(cast(timezone('UTC', {value}) as varchar) || '+00')"
    value = typed(value, attribute.sql_type)
    text = Sql(f"cast({value} as varchar)")
    # a category is in double quotes if it could be misread
    return text if attribute.ordered else exact(text)


def typed(value: str, sql_type: str) -> str:
    """`value`, cast to double if it is one, because engines format doubles differently."""
    return f"cast({value} as {sql_type})" if sql_type in ("FLOAT", "DOUBLE") else value
