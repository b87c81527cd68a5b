"""Renders templates with their filters, and checks every rendered statement."""

from anonymizer.compile.render import Header, Statement, header, render
from anonymizer.compile.sql import (
    SCRATCH,
    NumberedColumn,
    NumberedTable,
    Sql,
    Table,
    as_pattern,
    ident,
    join,
    lit,
    one_file,
    quote,
    sql,
    work,
)

__all__ = [
    "SCRATCH",
    "Header",
    "NumberedColumn",
    "NumberedTable",
    "Sql",
    "Statement",
    "Table",
    "as_pattern",
    "header",
    "ident",
    "join",
    "lit",
    "one_file",
    "quote",
    "render",
    "sql",
    "work",
]
