"""Descriptors for names that end in the number of their object."""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.compile.sql import Sql, Table, work


@dataclass(frozen=True, slots=True)
class NumberedColumn:
    """An attribute of a class: the name of a column, ending in the object's number."""

    prefix: str
    number: str = "index"
    """The attribute that holds the number."""

    def __get__(self, one: object, owner: type) -> Sql:
        return Sql(f"{self.prefix}{getattr(one, self.number)}")


@dataclass(frozen=True, slots=True)
class NumberedTable:
    """The same for the name of a work table."""

    prefix: str
    number: str = "index"

    def __get__(self, one: object, owner: type) -> Table:
        return work(f"{self.prefix}_{getattr(one, self.number)}")
