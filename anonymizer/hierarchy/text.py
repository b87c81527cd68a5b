"""The text of a single value in a published set or cell, as SQL."""

from __future__ import annotations

from anonymizer.compile import Sql, lit, sql

MISREAD = r'^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]'
"""A category that could be mistaken for another cell, or for part of a list."""


def exact(text: Sql) -> Sql:
    """A category as it is published: in double quotes if it could be misread.

    `text` is SQL of type VARCHAR, never NULL.
    """
    return sql(
        "case when regexp_matches({t}, {misread})"
        " then '\"' || replace({t}, '\"', '\"\"') || '\"' else {t} end",
        t=text,
        misread=lit(MISREAD),
    )


def from_text(text: Sql, sql_type: str) -> Sql:
    """Convert a listed text to a value of the column's type; NULL if it is not one."""
    if sql_type == "VARCHAR":
        return text
    return sql("try_cast({t} as {type})", t=text, type=Sql(sql_type))
