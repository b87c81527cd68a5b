"""Checks by macro and by the compiled verifier on the same random tables, NULLs included."""

from __future__ import annotations

import math
import random
from typing import Any

import duckdb
import pytest

from anonymizer.compile import Table
from anonymizer.contract.layout import Layout, PublishedColumn, Requirement
from anonymizer.verification.guarantees import questions
from tests import models
from tests.selection import some

ROUNDS = 5
QUASI = "['class_id']"


def fill(sql: duckdb.DuckDBPyConnection, draw: random.Random, sql_type: str) -> None:
    """A table `release` of random classes; persons stay in one class."""
    pool: list[Any] = list("abcde") if sql_type == "VARCHAR" else [-3, 0, 1, 7, 20]
    pool = pool[: draw.randint(1, 5)] + [None] * draw.randint(0, 1)
    rows = [
        (name, name * 100 + draw.randint(1, 4), f"zone {name}", draw.choice(pool))
        for name in range(1, draw.randint(2, 9))
        for _ in range(draw.randint(1, 8))
    ]
    sql.execute(
        "create or replace table release"
        f" (class_id integer, person_id integer, zone varchar, value {sql_type})"
    )
    sql.executemany("insert into release values (?, ?, ?, ?)", rows)


def achieved(
    sql: duckdb.DuckDBPyConnection,
    name: str,
    parameters: dict[str, Any],
    sql_type: str,
    *,
    person: bool = False,
) -> Any:
    kind = "categorical" if sql_type == "VARCHAR" else "numeric"
    layout = Layout(
        "mondrian",
        "text",
        (
            PublishedColumn("zone", "quasi", "categorical", "VARCHAR", name="zone"),
            PublishedColumn("value", "sensitive", kind, sql_type, name="value"),  # type: ignore[arg-type]
        ),
        person_id="person_id" if person else None,
    )
    column = None if name == "k_anonymity" else "value"
    requirement = Requirement(name, column, parameters)
    question = next(questions(Table("release", "main"), layout, requirement))
    found = question.ask(lambda text: sql.execute(text).fetchall()).achieved
    if isinstance(found, dict):  # beside parts of the requirement
        found = next(v for key, v in found.items() if key not in ("l", "k", "distance"))
    return found


def one(sql: duckdb.DuckDBPyConnection, query: str) -> Any:
    rows = sql.execute(query).fetchall()
    assert len(rows) == 1
    return rows[0][0]


def same(left: Any, right: Any) -> bool:
    return math.isclose(float(left), float(right), rel_tol=1e-12, abs_tol=1e-12)


@some(1)
@pytest.mark.parametrize("sql_type", ["VARCHAR", "INTEGER"])
def test_macros_agree_with_the_verifier(sql: duckdb.DuckDBPyConnection, sql_type: str) -> None:
    draw = random.Random(7)
    for _ in range(ROUNDS):
        fill(sql, draw, sql_type)
        l = draw.randint(1, 4)
        pairs: list[tuple[str, str, dict[str, Any], bool]] = [
            (f"from anon_k('release', {QUASI})", "k_anonymity", {"k": 2}, False),
            (
                f"from anon_person_k('release', {QUASI}, 'person_id')",
                "k_anonymity",
                {"k": 2},
                True,
            ),
            (
                f"select distinct_l from anon_l('release', {QUASI}, 'value')",
                "distinct_l",
                {"l": 2},
                False,
            ),
            (
                f"select entropy_l from anon_l('release', {QUASI}, 'value')",
                "entropy_l",
                {"l": 2},
                False,
            ),
            (
                f"select recursive_c from anon_l('release', {QUASI}, 'value', l := {l})",
                "recursive_cl",
                {"c": 2, "l": l},
                False,
            ),
            (f"from anon_alpha('release', {QUASI}, 'value')", "alpha", {"alpha": 0.5}, False),
            (
                f"select t_equal from anon_t('release', {QUASI}, 'value')",
                "t_closeness",
                {"t": 0.2, "distance": "equal"},
                False,
            ),
            (
                f"select t_ordered from anon_t('release', {QUASI}, 'value')",
                "t_closeness",
                {"t": 0.2, "distance": "ordered"},
                False,
            ),
        ]
        for query, name, parameters, person in pairs:
            if "t_ordered" in query and sql_type == "VARCHAR":
                continue
            found = one(sql, query)
            expected = achieved(sql, name, parameters, sql_type, person=person)
            assert same(found, expected), (query, found, expected)


def test_a_class_without_a_value_holds_no_rule(sql: duckdb.DuckDBPyConnection) -> None:
    """By NULLs alone no rule is kept: the macros say so as the verifier does."""
    sql.execute(
        "create or replace table release as select i // 4 as class_id, i as person_id,"
        " 'zone ' || i // 4 as zone, case when i > 3 then 'v' || i end as value from range(12) t(i)"
    )
    for query, name, parameters, expected in (
        ("from anon_alpha('release', ['class_id'], 'value')", "alpha", {"alpha": 0.9}, math.inf),
        (
            "select distinct_l from anon_l('release', ['class_id'], 'value')",
            "distinct_l",
            {"l": 2},
            0,
        ),
        (
            "select recursive_c from anon_l('release', ['class_id'], 'value')",
            "recursive_cl",
            {"c": 2, "l": 2},
            math.inf,
        ),
    ):
        assert one(sql, query) == expected
        assert float(achieved(sql, name, parameters, "VARCHAR")) == expected


def test_the_bound_of_eir_l_never_exceeds_the_true_l(sql: duckdb.DuckDBPyConnection) -> None:
    draw = random.Random(3)
    reached = 0
    for _ in range(2 * ROUNDS):
        fill(sql, draw, "VARCHAR")
        classes: dict[Any, list[Any]] = {}
        people: dict[Any, list[Any]] = {}
        for name, person, value in sql.execute(
            "select class_id, person_id, value from release where value is not null"
        ).fetchall():
            classes.setdefault(name, []).append(value)
            people.setdefault(name, []).append(person)
        nobody = one(sql, "select count(distinct class_id) from release") > len(classes)
        true = 0 if nobody else models.eir_l(classes, people).worst
        bound = one(sql, f"from anon_eir_l_bound('release', {QUASI}, 'value', 'person_id')")
        assert bound <= true
        reached += bound == true
    assert reached >= ROUNDS


def test_classes_uniques_and_risk_count_null_as_a_value(sql: duckdb.DuckDBPyConnection) -> None:
    sql.execute(
        "create or replace table t as select * from (values (1, null), (1, null), (1, 'x'),"
        " (null, null), (null, 'y'), (null, 'y'), (null, 'y')) as rows(a, b)"
    )
    assert sorted(sql.execute("from anon_classes('t', ['a', 'b'])").fetchall(), key=repr) == [
        (1, 1, 1, "x"), (2, 2, 1, None), (3, 3, None, "y"), (4, 1, None, None),
    ]  # fmt: skip
    assert sql.execute("from anon_uniques('t', ['a', 'b'])").fetchall() == [(2, 7, 2 / 7)]
    assert sql.execute("from anon_discernibility('t', ['a', 'b'], suppressed := 2)").fetchall() == [
        (1 + 4 + 9 + 1 + 2 * 9,)
    ]
    (row,) = sql.execute("from anon_risk('t', ['a', 'b'], threshold := 0.5)").fetchall()
    assert row == (7, 4, 2, 1.0, 4 / 7, 2, 2 / 7)


def test_a_class_without_a_value_keeps_within_no_share(sql: duckdb.DuckDBPyConnection) -> None:
    """As for `alpha` in a policy: a macro must not tell of a share that any bound admits."""
    sql.execute("create or replace table t as from (values (1, null), (1, null)) as rows(a, s)")
    assert sql.execute("from anon_alpha('t', ['a'], 's')").fetchall() == [(float("inf"),)]
