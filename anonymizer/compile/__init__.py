"""Renders templates with their filters, and checks every rendered statement."""

from anonymizer.compile.numbered import NumberedColumn, NumberedTable
from anonymizer.compile.render import Header, Statement, header, render
from anonymizer.compile.sql import SCRATCH, Sql, Table, ident, join, lit, quote, sql, work

__all__ = [
    "SCRATCH",
    "Header",
    "NumberedColumn",
    "NumberedTable",
    "Sql",
    "Statement",
    "Table",
    "header",
    "ident",
    "join",
    "lit",
    "quote",
    "render",
    "sql",
    "work",
]
