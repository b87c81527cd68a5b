"""The verifier's statements of guarantees; tests/independent compares them on random releases."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import duckdb
import pytest

from anonymizer.compile import Table
from anonymizer.contract.checks import Check
from anonymizer.contract.layout import Layout, PublishedColumn, Requirement
from anonymizer.errors import NothingToCheckError
from anonymizer.verification.fast import WorkTables, fast_release
from anonymizer.verification.guarantees import questions
from anonymizer.verification.release import check_sql, verify_release
from tests import models
from tests.duckdb.random_classes import (
    HIERARCHY,
    layout,
    publish,
    random_classes,
)

VIEW = Table("release", "main")
TABLES = WorkTables(Table("judged", "main"), Table("counted", "main"))


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def judge(
    connection: duckdb.DuckDBPyConnection, requirement: Requirement, shape: Layout
) -> tuple[Check, set[int]]:
    """The check of the requirement, and the classes that its SQL returns."""

    def run_sql(text: str) -> list[tuple[Any, ...]]:
        return connection.execute(text).fetchall()

    question = next(questions(VIEW, shape, requirement))
    check = question.ask(run_sql)
    assert check.name == requirement.name
    # where two ask of the same column its values are counted once: both find the same
    both = fast_release(VIEW, shape, TABLES)((question, question), run_sql)
    assert both == (check, check)
    offending = connection.execute(check.sql).fetchall()
    assert len(offending) == check.failing
    assert check.passed == (not offending)
    return check, {row[0] for row in offending}


def close(left: Any, right: Any) -> bool:
    return math.isclose(float(left), float(right), rel_tol=1e-12, abs_tol=1e-12)


def test_a_value_without_a_path_fails(connection: duckdb.DuckDBPyConnection) -> None:
    publish(connection, {1: ["a", "b"], 2: ["a", "x"]}, "VARCHAR")
    rule = Requirement("t_closeness", "value", {"t": 0.9, "distance": "hierarchical",
                                                "paths": HIERARCHY})  # fmt: skip
    check, failed = judge(connection, rule, layout("VARCHAR"))
    assert (check.passed, failed) == (False, {1, 2})
    bare = Requirement("t_closeness", "value", {"t": 0.9, "distance": "hierarchical"})
    with pytest.raises(NothingToCheckError, match="paths"):
        judge(connection, bare, layout("VARCHAR"))
    assert "vowel" not in check.sql


def test_null_as_value_counts_nulls(connection: duckdb.DuckDBPyConnection) -> None:
    publish(connection, {1: ["a", None, None]}, "VARCHAR")
    rule = Requirement("distinct_l", "value", {"l": 2})
    assert judge(connection, rule, layout("VARCHAR"))[0].achieved == 1
    rule = Requirement("distinct_l", "value", {"l": 2, "null_as_value": True})
    assert judge(connection, rule, layout("VARCHAR"))[0].achieved == 2


def test_levels_of_groups_agree(connection: duckdb.DuckDBPyConnection) -> None:
    draw = random.Random(5)
    levels, level_l = {2: ["a"], 1: ["b"], 0: ["c"]}, {0: 1, 1: 2, 2: 3}
    column = PublishedColumn("value", "sensitive", "categorical", "VARCHAR", name="value")
    shape = Layout("msb", "text", (column,), class_id=None, group_id="group_id",
                   tables={"value": "release_value"})  # fmt: skip
    for _ in range(10):
        classes = random_classes(draw, "VARCHAR")
        publish(connection, classes, "VARCHAR")
        connection.execute("create or replace table release_value as "
                           "select class_id as group_id, value from release")  # fmt: skip
        connection.execute("alter table release rename class_id to group_id")
        expected = models.level_l(classes, levels, level_l, default_level="1")
        rule = Requirement(
            "level_l",
            "value",
            {"levels": {"2": ["a"], "1": ["b"], "0": ["c"]}, "default_level": 1,
             "level_l": {"0": 1, "1": 2, "2": 3}},
            "group",
        )  # fmt: skip
        check, failed = judge(connection, rule, shape)
        assert close(check.achieved, expected.worst)
        assert failed == {n for n, v in expected.per_class.items() if v > 1}
        frequent = {n for n, v in models.alpha(classes).per_class.items() if v > Fraction(1, 2)}
        empty = {n for n, v in models.distinct_l(classes).per_class.items() if v == 0}
        rule = Requirement("distinct_l", "value", {"l": 2}, "group")
        assert judge(connection, rule, shape)[1] == frequent | empty
    connection.execute("delete from release_value where group_id = 1")
    found = verify_release(lambda q: connection.execute(q).fetchall(), VIEW, shape, [rule])
    assert "group_sizes" in [check.name for check in found.failed]


def test_levels_of_persons_are_of_their_own_class(connection: duckdb.DuckDBPyConnection) -> None:
    """A person counts once for a value, however many rows say it."""
    classes: dict[int, list[Any]] = {
        1: ["a", "a", "b", "c", None],
        2: ["a", "a", "a", "b"],
        3: [None],
    }
    people = {1: [1, 1, 2, 2, 3], 2: [4, 5, 5, 6], 3: [7]}
    publish(connection, classes, "VARCHAR", people)
    levels = {"levels": {"1": ["a"]}, "default_level": 0, "level_l": {"0": 1, "1": 2}}
    rule = Requirement("level_l", "value", levels)
    check, failed = judge(connection, rule, layout("VARCHAR", person=True))
    assert failed == {2, 3}  # a takes 1/3 of class 1, 2/3 of class 2, and class 3 has no value
    assert check.achieved == math.inf


@pytest.mark.parametrize("l", [3, 4, 5])
def test_reasoning_sets_that_greed_overlooks(connection: duckdb.DuckDBPyConnection, l: int) -> None:
    """Few values that meet everybody are found, also where the most widespread is none of them."""
    draw = random.Random(l)
    classes: dict[int, list[Any]] = {}
    people: dict[int, list[int]] = {}
    for name in range(60):
        wide = draw.randint(1, 3)
        sets = [draw.sample("abcdefghi", wide) for _ in range(draw.randint(2 * l - 1, 4 * l))]
        classes[name] = [value for values in sets for value in values]
        people[name] = [100 * name + who for who, values in enumerate(sets) for _ in values]
    publish(connection, classes, "VARCHAR", people)
    expected = {n for n, v in models.eir_l(classes, people).per_class.items() if v < l}
    _, failed = judge(
        connection, Requirement("eir_l", "value", {"l": l}), layout("VARCHAR", person=True)
    )
    assert failed == expected
    assert 5 < len(failed) < 55, "some hold, and some do not"


def test_nothing_to_check(connection: duckdb.DuckDBPyConnection) -> None:
    def run_sql(text: str) -> list[tuple[Any, ...]]:
        return connection.execute(text).fetchall()

    shape, k = layout("VARCHAR"), Requirement("k_anonymity", None, {"k": 2})
    publish(connection, {}, "VARCHAR")
    with pytest.raises(NothingToCheckError, match="no rows"):
        verify_release(run_sql, VIEW, shape, [k])
    publish(connection, {1: ["a", "b"]}, "VARCHAR")
    with pytest.raises(NothingToCheckError, match="names no guarantee"):
        verify_release(run_sql, VIEW, shape, [])
    homeless = Layout("mondrian", "text", shape.columns, class_id=None)
    with pytest.raises(NothingToCheckError, match="class_id"):
        verify_release(run_sql, VIEW, homeless, [k])
    for name in ("k_map", "ir_k", "eir_l"):
        with pytest.raises(NothingToCheckError, match=name):
            verify_release(run_sql, VIEW, shape, [Requirement(name, "value", {"k": 2, "l": 2})])
    with pytest.raises(NothingToCheckError, match="no column"):
        verify_release(run_sql, VIEW, shape, [Requirement("distinct_l", "other", {"l": 2})])


def test_check_sql_runs_under_any_alias(tmp_path: Any) -> None:
    path = tmp_path / "release.duckdb"
    with duckdb.connect(str(path)) as made:
        publish(made, {1: ["a", "b"], 2: ["a", "a"]}, "VARCHAR")
    rules = [
        Requirement("k_anonymity", None, {"k": 2}),
        Requirement("distinct_l", "value", {"l": 2}),
        Requirement("t_closeness", "value", {"t": 0.3, "distance": "ordered"}),
    ]
    texts = check_sql(Table("release", "main", "somewhere"), layout("VARCHAR"), rules)
    assert not any("somewhere" in str(text["sql"]) for text in texts)
    with duckdb.connect() as reader:
        reader.execute(f"attach '{path}' as bob (read_only)")
        found = verify_release(
            lambda q: reader.execute(q).fetchall(),
            Table("release", "main", "bob"),
            layout("VARCHAR"),
            rules,
        )
        reader.execute("use bob")
        for check, text in zip(found.checks, texts, strict=True):
            assert (check.name, check.column, check.sql) == tuple(text.values())
            assert len(reader.execute(check.sql).fetchall()) == check.failing
        assert [check.name for check in found.failed] == ["distinct_l"]
