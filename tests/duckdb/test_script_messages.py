"""Explanations in Python as expressions of SQL: the same words for the same figures."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import duckdb
import pytest

from anonymizer.compile import lit
from anonymizer.engines.duckdb.messages import columns, message
from anonymizer.errors import InfeasibleError, Problem

NAMES = ["age", "it's"]
BY_NUMBER = {1: "age", 3: "town"}


def _plural(row: Any) -> Problem:
    values = row[0]
    return Problem("p", f"{values:,} value{'s' if values != 1 else ''}", hint=f"{row[1]:g} or less")


def _listed(row: Any) -> Problem:
    number, n = row
    return Problem(f"columns.{NAMES[number - 1]}", f"has {n} more")


def _mapped(row: Any) -> Problem:
    return Problem(f"columns.{BY_NUMBER[row[0]]}", "breaks" if row[1] else "holds")


def _branches(row: Any) -> Problem:
    first, second = row
    if first == second:
        return Problem("p", f"all {first}")
    if first > second * 2 or -second >= 0:
        return Problem("p", f"{-second} and {first + 1}")
    return Problem("p", f"{first} of {second}", allowed="x" * 200)


def _perhaps(row: Any) -> Problem | None:
    return None if row[0] == 0 else Problem("p", f"reaches { ({'l': row[0], 'c': row[1]}) }")


def _raises(row: Any) -> None:
    if row[0] > 0.5 * row[1]:
        raise InfeasibleError([Problem("p", f"{row[0]}"), Problem("q", "as well")])


@pytest.mark.parametrize("explain", [_plural, _listed, _mapped, _branches, _perhaps, _raises])
def test_the_words_are_those_of_python(explain: Callable[[Any], Problem | None]) -> None:
    said = message(explain, 2)
    with duckdb.connect() as connection:
        for row in product([0, 1, 2, 3, 1234567], [0, 1, 2, 5]):
            try:
                found = explain(row)
                expected = None if found is None else str(found)
            except InfeasibleError as error:
                expected = str(error)
            except LookupError:
                continue
            if explain is _listed and row[0] == 0:
                continue
            values = ", ".join(lit(figure).text for figure in row)
            names = ", ".join(columns(2))
            query = f"select {said} from (values ({values})) as found({names})"
            assert connection.execute(query).fetchall() == [(expected,)], row


def test_a_figure_that_is_null_is_none() -> None:
    said = message(lambda row: Problem("p", f"reaches {row[0]}"), 1)
    query = f"select {said} from (values (cast(null as integer))) as found(f1)"
    assert duckdb.execute(query).fetchall() == [("p: reaches None",)]
