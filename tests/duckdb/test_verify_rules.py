"""Every guarantee on random releases, class by class against the oracle's definitions."""

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
from tests.selection import rounds, some

VIEW = Table("release", "main")
TABLES = WorkTables(Table("judged", "main"), Table("counted", "main"))
HIERARCHY = {
    "a": ("vowel", "*"),
    "e": ("vowel", "*"),
    "b": ("consonant", "*"),
    "c": ("consonant", "*"),
    "d": ("consonant", "*"),
}


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def layout(sql_type: str, person: bool = False) -> Layout:
    kind = "categorical" if sql_type == "VARCHAR" else "numeric"
    columns = (
        PublishedColumn("zone", "quasi", "categorical", "VARCHAR", name="zone"),
        PublishedColumn("value", "sensitive", kind, sql_type, name="value"),  # type: ignore[arg-type]
    )
    return Layout("mondrian", "text", columns, person_id="person_id" if person else None)


def publish(
    connection: duckdb.DuckDBPyConnection,
    classes: dict[int, list[Any]],
    sql_type: str,
    people: dict[int, list[int]] | None = None,
) -> None:
    connection.execute(
        "create or replace table release "
        f"(class_id integer, person_id integer, zone varchar, value {sql_type})"
    )
    rows = [
        [name, people[name][at] if people else None, f"zone {name}", value]
        for name, values in classes.items()
        for at, value in enumerate(values)
    ]
    if rows:
        connection.executemany("insert into release values (?, ?, ?, ?)", rows)


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


def random_classes(draw: random.Random, sql_type: str) -> dict[int, list[Any]]:
    pool: list[Any] = list("abcde") if sql_type == "VARCHAR" else [-3, 0, 1, 7, 20]
    pool = pool[: draw.randint(1, 5)] + [None] * draw.randint(0, 1)
    return {name: draw.choices(pool, k=draw.randint(1, 7)) for name in range(1, draw.randint(2, 9))}


def random_people(draw: random.Random, classes: dict[int, list[Any]]) -> dict[int, list[int]]:
    """Persons stay in one class."""
    return {
        name: [name * 100 + draw.randint(1, max(1, len(values) - 1)) for _ in values]
        for name, values in classes.items()
    }


def close(left: Any, right: Any) -> bool:
    return math.isclose(float(left), float(right), rel_tol=1e-12, abs_tol=1e-12)


@some(1)
@rounds(5, 12)
@pytest.mark.parametrize("sql_type", ["VARCHAR", "INTEGER"])
@pytest.mark.parametrize("by_person", [False, True])
def test_rules_agree_with_their_definitions(
    connection: duckdb.DuckDBPyConnection, sql_type: str, by_person: bool, rounds: int
) -> None:
    draw = random.Random(1)
    for _ in range(rounds):
        classes = random_classes(draw, sql_type)
        people = random_people(draw, classes) if by_person else None
        publish(connection, classes, sql_type, people)
        shape = layout(sql_type, by_person)

        k = draw.randint(2, 5)
        expected: Any = models.k_anonymity(classes, people)
        check, failed = judge(connection, Requirement("k_anonymity", None, {"k": k}), shape)
        assert check.achieved == expected.worst
        assert failed == {n for n, v in expected.per_class.items() if v < k}

        l = draw.randint(2, 4)
        expected = models.distinct_l(classes)
        check, failed = judge(connection, Requirement("distinct_l", "value", {"l": l}), shape)
        assert check.achieved == expected.worst
        assert failed == {n for n, v in expected.per_class.items() if v < l}

        entropy = draw.choice([1.5, 2, 2.5, 3])
        expected = models.entropy_l(classes, people)
        check, failed = judge(connection, Requirement("entropy_l", "value", {"l": entropy}), shape)
        assert close(check.achieved, expected.worst)
        assert failed == models.failing(classes, people, "entropy_l", l=entropy)

        c = draw.choice([0.5, 1, 1.5, 2, 4])
        expected = models.recursive_cl(classes, l, people)
        check, failed = judge(
            connection, Requirement("recursive_cl", "value", {"c": c, "l": l}), shape
        )
        assert isinstance(check.achieved, dict)
        assert check.achieved["l"] == l
        assert check.achieved["c"] == float(expected.worst)
        assert failed == models.failing(classes, people, "recursive_cl", c=c, l=l)

        alpha = draw.choice([0.25, 0.5, 0.75])
        expected = models.alpha(classes, people)
        check, failed = judge(connection, Requirement("alpha", "value", {"alpha": alpha}), shape)
        assert close(check.achieved, expected.worst)
        assert failed == {n for n, v in expected.per_class.items() if v > Fraction(alpha)}

        only = draw.choice([v for values in classes.values() for v in values])
        if only is not None:
            expected = models.alpha_k(classes, people, only)
            wanted = {"alpha": alpha, "k": k, "value": only}
            check, failed = judge(connection, Requirement("alpha_k", "value", wanted), shape)
            assert isinstance(check.achieved, dict)
            assert close(check.achieved["alpha"], expected.worst[0])
            assert check.achieved["k"] == expected.worst[1]
            assert failed == {
                n for n, (a, size) in expected.per_class.items() if a > Fraction(alpha) or size < k
            }

        beta = draw.choice([0.2, 0.5, 1, 3])
        expected = models.beta_likeness(classes, people)
        rule = Requirement("beta_likeness", "value", {"beta": beta})
        check, failed = judge(connection, rule, shape)
        assert close(check.achieved, expected.worst)
        limit = Fraction(str(beta))
        assert failed == {n for n, v in expected.per_class.items() if v > limit}

        delta = draw.choice([0.5, 1, 2])
        expected = models.delta_disclosure(classes, people)
        rule = Requirement("delta_disclosure", "value", {"delta": delta})
        check, failed = judge(connection, rule, shape)
        assert check.achieved == pytest.approx(expected.worst)
        assert failed == {n for n, v in expected.per_class.items() if not v < delta}


@rounds(5, 15)
@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
@pytest.mark.parametrize("by_person", [False, True])
def test_closeness_is_exact(
    connection: duckdb.DuckDBPyConnection, distance: str, by_person: bool, rounds: int
) -> None:
    draw = random.Random(2)
    for _ in range(rounds):
        sql_type = "VARCHAR" if distance == "hierarchical" else draw.choice(["VARCHAR", "INTEGER"])
        classes = random_classes(draw, sql_type)
        people = random_people(draw, classes) if by_person else None
        publish(connection, classes, sql_type, people)
        paths = HIERARCHY if distance == "hierarchical" else None
        expected = models.t_closeness(classes, distance, persons=people, paths=paths)
        exact = sorted(value for value in expected.per_class.values())
        # a bound that one class meets exactly, if it can be written
        t = float(draw.choice([*exact, Fraction(1, 5)]))
        parameters = {"t": t, "distance": distance, **({"paths": paths} if paths else {})}
        rule = Requirement("t_closeness", "value", parameters)
        check, failed = judge(connection, rule, layout(sql_type, by_person))
        assert isinstance(check.achieved, dict)
        assert close(check.achieved["t"], expected.worst)
        assert check.achieved["distance"] == distance
        limit = Fraction(str(t))
        assert failed == {n for n, v in expected.per_class.items() if v > limit}


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


@pytest.mark.slow
def test_identity_reserved_models_agree(connection: duckdb.DuckDBPyConnection) -> None:
    draw = random.Random(3)
    for _ in range(15):
        classes = random_classes(draw, "VARCHAR")
        classes = {name: values * 2 for name, values in classes.items()}
        for values in classes.values():
            draw.shuffle(values)
        people = random_people(draw, classes)
        publish(connection, classes, "VARCHAR", people)
        shape = layout("VARCHAR", person=True)
        k, l = draw.randint(2, 5), draw.randint(2, 4)

        expected = models.ir_k(classes, people)
        check, failed = judge(connection, Requirement("ir_k", None, {"k": k}), shape)
        assert check.achieved == expected.worst
        assert failed == {n for n, v in expected.per_class.items() if v < k}

        expected = models.ir_kl(classes, people)
        check, failed = judge(connection, Requirement("ir_kl", "value", {"k": k, "l": l}), shape)
        assert check.achieved == {"k": expected.worst[0], "l": expected.worst[1]}
        assert failed == {n for n, (a, b) in expected.per_class.items() if a < k or b < l}

        a, b = draw.choice([0.25, 0.5]), draw.choice([0.4, 0.6])
        for name, oracle in (
            ("ir_alpha_beta", models.ir_alpha_beta),
            ("eir_alpha_beta", models.eir_alpha_beta),
        ):
            expected = oracle(classes, people)
            rule = Requirement(name, "value", {"alpha": a, "beta": b})
            check, failed = judge(connection, rule, shape)
            assert isinstance(check.achieved, dict)
            assert close(check.achieved["alpha"], expected.worst[0])
            assert close(check.achieved["beta"], expected.worst[1])
            assert failed == {
                n
                for n, (x, y) in expected.per_class.items()
                if x > Fraction(str(a)) or y > Fraction(str(b))
            }


@pytest.mark.slow
def test_reasoning_sets_are_searched_exactly(connection: duckdb.DuckDBPyConnection) -> None:
    draw = random.Random(4)
    undecided = 0
    for _ in range(20):
        values = [*"abcdefgh"[: draw.randint(2, 8)], None]
        classes: dict[int, list[Any]] = {}
        people: dict[int, list[int]] = {}
        for name in range(1, 7):
            size = draw.randint(1, 16)
            classes[name] = draw.choices(values, k=size)
            people[name] = [name * 100 + draw.randint(1, 7) for _ in range(size)]
        publish(connection, classes, "VARCHAR", people)
        expected = models.eir_l(classes, people)
        l = draw.randint(2, 5)
        rule = Requirement("eir_l", "value", {"l": l})
        check, failed = judge(connection, rule, layout("VARCHAR", person=True))
        assert failed == {n for n, v in expected.per_class.items() if v < l}
        assert check.achieved == min(l, expected.worst)
        undecided += expected.worst < l
    assert 4 < undecided < 18


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
