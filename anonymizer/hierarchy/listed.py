"""Checks of hierarchies whose values are listed as text in a file, a table or the policy."""

from __future__ import annotations

from anonymizer.compile import Sql, Table
from anonymizer.errors import Problem
from anonymizer.hierarchy.place import Place, counted
from anonymizer.hierarchy.text import from_text
from anonymizer.process.text import many
from anonymizer.steps import Row, Stage


def covered(
    place: Place, listed: Table, *, option: str, spellings: bool = True
) -> tuple[Stage, ...]:
    """Stop unless every value of the source is listed, and no value is listed in two spellings.

    `spellings`: False if the listed texts are known to be different values.
    """
    path = f"{place.path}.{option}"
    typed = from_text(Sql("value"), place.sql_type)

    def lacking(row: Row) -> Problem:
        return Problem(
            path,
            f"lacks {counted(row[0], row[2])} of the column's {row[1]:,}",
            hint="add them; every value of the source needs its place",
        )

    def twice(row: Row) -> Problem:
        return Problem(
            path,
            f"lists {many(row[0], 'value')} of the column in two spellings",
            hint="keep one of them, such as 1 or 01",
        )

    once = place.guard("guard_listed_twice", {"listed": listed, "typed": typed}, twice)
    known = place.guard(
        "guard_lacking", {"values": place.values, "listed": listed, "typed": typed}, lacking
    )
    return (once, known) if spellings else (known,)
