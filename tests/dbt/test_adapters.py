"""The generic tests in the SQL of warehouses on which nothing is anonymized here.

They are parsed by the grammar of each, and were not run on the service.
"""

from __future__ import annotations

from typing import Any

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel

from tests.dbt.rendered import generic_test

ADAPTERS = ("snowflake", "bigquery", "redshift", "databricks", "postgres", "spark")
QUASI: dict[str, Any] = {"quasi": ["sex", "age"]}
SENSITIVE = {**QUASI, "sensitive": "disease"}
TESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "k": ("k_anonymity", {**QUASI, "k": 5}),
    "k of classes": ("k_anonymity", {"class_id": "class_id", "k": 5}),
    "persons": ("person_k_anonymity", {**QUASI, "person": "patient", "k": 5}),
    "distinct": ("l_diversity", {**SENSITIVE, "l": 3}),
    "entropy": ("l_diversity", {**SENSITIVE, "l": 2.5, "kind": "entropy"}),
    "recursive": ("l_diversity", {**SENSITIVE, "l": 3, "c": 1.5, "kind": "recursive"}),
    "equal": ("t_closeness", {**SENSITIVE, "t": 0.2}),
    "ordered": ("t_closeness", {**SENSITIVE, "t": 0.2, "distance": "ordered"}),
    "one step": ("one_step", {"n": 5, "measure": "n", "by": ["sex", "age"]}),
    "small cells": ("no_small_cells", {"n": 5, "measure": "n"}),
}


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("name", TESTS)
def test_a_generic_test_is_in_the_grammar_of_the_warehouse(name: str, adapter: str) -> None:
    test, arguments = TESTS[name]
    text = generic_test(test, "visits", of=adapter, **arguments)
    (parsed,) = sqlglot.parse(text, dialect=adapter, error_level=ErrorLevel.RAISE)
    assert isinstance(parsed, exp.Query)
    assert not list(parsed.find_all(exp.Command, exp.Anonymous, exp.Filter))
    kinds = {str(one) for one in parsed.find_all(exp.DataType)}
    assert kinds <= {str(exp.DataType.build(kind, dialect=adapter)) for kind in KINDS[adapter]}


ALL = ("bigint", "decimal(38, 12)")
KINDS = {
    "snowflake": (*ALL, "numeric(38, 0)", "double precision"),
    "bigquery": ("bigint", "bignumeric", "float64"),
    "redshift": (*ALL, "numeric(38, 0)", "double precision"),
    "databricks": (*ALL, "decimal(38, 0)", "double"),
    "postgres": (*ALL, "numeric(38, 0)", "double precision", "text"),
    "spark": (*ALL, "decimal(38, 0)", "double"),
}
"""Types that each warehouse has."""
