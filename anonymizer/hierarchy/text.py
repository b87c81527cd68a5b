"""How a single value is written in a published set or cell, as SQL."""

from __future__ import annotations

from anonymizer.compile import Sql, sql


def exact(text: Sql) -> Sql:
    """A category as it is published: in double quotes where it could be taken for something else.

    `text` is SQL of type VARCHAR, never NULL.
    """
    return sql(
        "case when regexp_matches({t}, '[,{{}}\\[\\]\"]')"
        " or {t} in ('', '*', 'NULL')"
        " or left({t}, 1) = ' ' or right({t}, 1) = ' '"
        " or right({t}, 8) = ' or NULL'"
        " then '\"' || replace({t}, '\"', '\"\"') || '\"' else {t} end",
        t=text,
    )


def from_text(text: Sql, sql_type: str) -> Sql:
    """A listed text as a value of the column's type; NULL where it is none."""
    if sql_type == "VARCHAR":
        return text
    return sql("try_cast({t} as {type})", t=text, type=Sql(sql_type))
