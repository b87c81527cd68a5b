"""Values as the text of a published cell."""

from __future__ import annotations

from anonymizer.compile import Sql
from anonymizer.profile import Attribute


def value_text(value: str, attribute: Attribute) -> Sql:
    """A single value as the text of a cell."""
    if attribute.sql_type == "TIMESTAMP WITH TIME ZONE":
        # in UTC, whatever the time zone of the session
        value = f"(cast(timezone('UTC', {value}) as varchar) || '+00')"
    return Sql(f"cast({value} as varchar)" if attribute.ordered else value_label(value))


def value_label(value: str) -> str:
    """A category as it stands in a cell: in double quotes where it could be misread."""
    text = f"cast({value} as varchar)"
    return (
        f"case when {text} in ('', '*', 'NULL') or regexp_matches({text}, '[][,{{}}\"]')"
        f" or starts_with({text}, ' ') or ends_with({text}, ' ')"
        f" or ends_with({text}, ' or NULL')"
        f" then '\"' || replace({text}, '\"', '\"\"') || '\"' else {text} end"
    )
