"""Renders templates with their filters to statements."""

from anonymizer.compile.sql import (
    SCRATCH,
    NumberedColumn,
    NumberedTable,
    Sql,
    Statement,
    Table,
    as_pattern,
    ident,
    join,
    lit,
    one_file,
    purpose,
    quote,
    render,
    sql,
    work,
)

__all__ = [
    "SCRATCH",
    "NumberedColumn",
    "NumberedTable",
    "Sql",
    "Statement",
    "Table",
    "as_pattern",
    "ident",
    "join",
    "lit",
    "one_file",
    "purpose",
    "quote",
    "render",
    "sql",
    "work",
]
