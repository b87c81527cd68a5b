"""Every figure of an assessment against naive definitions, on random tables with NULLs and ties."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import duckdb
import pytest

from anonymizer.errors import PolicyError, SourceError
from anonymizer.review.assess import Assessment, assess
from anonymizer.review.assess.figures import look_at
from tests import models
from tests.oracle import risk

Check = Callable[[duckdb.DuckDBPyConnection, int], None]
QUASI = ("a", "b b", "c", 'd"')
SEEDS_FAST = range(10)
SEEDS_ALL = range(10, 310)


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as opened:
        yield opened


def make(draw: random.Random, rows: int | None = None) -> list[dict[str, Any]]:
    """Few values, so that there are ties; NULLs; persons of several rows."""
    size = rows or draw.randint(1, 40)
    width = draw.randint(1, 4)
    values = [*"xyz"[: draw.randint(1, 3)], *([None] if draw.random() < 0.5 else [])]
    found = [
        {
            "a": draw.choice([*range(width), None]),
            "b b": draw.choice(["", "p", "q ", None]),
            "c": draw.choice([1.5, -2.0]),
            'd"': draw.random() < 0.3,
            "s": draw.choice(values),
            "pay": draw.choice([-3, 0, 1, 7, 20, None]),
        }
        for _ in range(size)
    ]
    for row in found:
        row["who"] = draw.choice([*range(1, 2 + size // 2), None])
    return found


def store(connection: duckdb.DuckDBPyConnection, rows: list[dict[str, Any]], name: str) -> None:
    connection.execute(
        f'create or replace table {name} (a integer, "b b" varchar, c double, "d""" boolean,'
        " s varchar, pay integer, who integer)"
    )
    connection.executemany(
        f"insert into {name} values (?, ?, ?, ?, ?, ?, ?)", [list(row.values()) for row in rows]
    )


def near(left: Any, right: Any) -> bool:
    if left is None or right is None:
        return left is right
    return math.isclose(float(left), float(right), rel_tol=1e-9, abs_tol=1e-9)


def compare(found: Assessment, rows: list[dict[str, Any]], columns: tuple[str, ...]) -> None:
    classes = risk.classes(rows, columns)
    by_row = [len(some) for some in classes.values()]
    by_unit = risk.sizes(rows, columns, found.person)
    sizes = found.sizes
    assert (sizes.rows, sizes.classes, sizes.k) == (len(rows), len(classes), min(by_row))
    assert sizes.uniques == sum(size == 1 for size in by_row)
    if found.person is None:
        assert (sizes.persons, sizes.person_k, sizes.unique_persons) == (None, None, None)
    else:
        assert sizes.persons == len(risk.units(rows, range(len(rows)), found.person))
        assert sizes.person_k == min(by_unit)
        assert sizes.unique_persons == sum(size == 1 for size in by_unit)
    wanted = risk.prosecutor(by_unit, Fraction(1, 5))
    assert near(found.risk.prosecutor_max, wanted["max"])
    assert near(found.risk.prosecutor_average, wanted["average"])
    assert near(found.risk.prosecutor_above, wanted["above"])
    assert sum(b["classes"] for b in found.size_bins) == len(classes)
    assert found.worst[0]["size"] == min(by_unit)
    for column, figures in found.columns.items():
        held = {n: [rows[i][column] for i in some] for n, some in enumerate(classes.values())}
        people = None
        if found.person is not None:
            people = {n: [rows[i]["who"] for i in some] for n, some in enumerate(classes.values())}
        check_models(figures, held, people)


def check_models(figures: Any, held: dict[int, list[Any]], people: Any) -> None:
    assert figures.distinct_l == models.distinct_l(held).worst
    assert near(figures.entropy_l, models.entropy_l(held, people).worst)
    assert near(figures.recursive_c, models.recursive_cl(held, 2, people).worst)
    assert near(figures.alpha, models.alpha(held, people).worst)
    assert near(figures.t_equal, models.t_closeness(held, "equal", persons=people).worst)
    if figures.t_ordered is not None:
        assert near(figures.t_ordered, models.t_closeness(held, "ordered", persons=people).worst)
    assert near(figures.beta_likeness, models.beta_likeness(held, people).worst)
    assert near(figures.delta_disclosure, models.delta_disclosure(held, people).worst)


def compare_combinations(
    found: Assessment, rows: list[dict[str, Any]], columns: tuple[str, ...]
) -> None:
    together = found.combinations
    assert together is not None
    minimal = risk.minimal_combinations(rows, columns, together.size, found.person)
    assert {s.columns for s in together.subsets} == set(minimal)
    for subset in together.subsets:
        assert subset.minimal == len(minimal[subset.columns])
        alone = risk.singled_out(rows, subset.columns, found.person)
        assert subset.singled_out == len(alone)
        by_unit = [n for n in risk.sizes(rows, subset.columns, found.person) if n]
        assert (subset.classes, subset.k) == (len(by_unit), min(by_unit))
        assert near(subset.average_risk, Fraction(len(by_unit), sum(by_unit)))
    everybody = set().union(*minimal.values())
    assert together.singled_out == len(everybody)
    for name, involved in together.column_involved.items():
        assert involved == len(set().union(*(u for c, u in minimal.items() if name in c)))
    for name, subset in together.without.items():
        rest = tuple(c for c in columns if c != name)
        assert subset.columns == rest
        assert subset.singled_out == len(risk.singled_out(rows, rest, found.person))


def one_table(connection: duckdb.DuckDBPyConnection, seed: int) -> None:
    draw = random.Random(seed)
    rows = make(draw)
    store(connection, rows, "t")
    columns = tuple(draw.sample(QUASI, draw.randint(1, 4)))
    person = "who" if draw.random() < 0.5 and any(r["who"] is not None for r in rows) else None
    # whoever is nobody is left out: the definitions over persons do not say what they are
    if person is not None:
        rows = [row for row in rows if row["who"] is not None]
        store(connection, rows, "t")
    found = assess("t", connection, quasi=columns, sensitive=("s", "pay"), person=person)
    compare(found, rows, columns)
    compare_combinations(found, rows, columns)


@pytest.mark.parametrize("seed", SEEDS_FAST)
def test_figures_equal_the_definitions(connection: duckdb.DuckDBPyConnection, seed: int) -> None:
    one_table(connection, seed)


@pytest.mark.exhaustive
def test_figures_equal_the_definitions_on_hundreds(connection: duckdb.DuckDBPyConnection) -> None:
    for seed in SEEDS_ALL:
        one_table(connection, seed)


def judged_table(connection: duckdb.DuckDBPyConnection, seed: int) -> None:
    draw = random.Random(1000 + seed)
    rows = [row for row in make(draw, 30) if row["who"] is not None]
    store(connection, rows, "t")
    held = {n: [rows[i]["s"] for i in some]
            for n, some in enumerate(risk.classes(rows, ("a",)).values())}  # fmt: skip
    people = {n: [rows[i]["who"] for i in some]
              for n, some in enumerate(risk.classes(rows, ("a",)).values())}  # fmt: skip
    k, l, t, half = draw.randint(1, 6), draw.randint(1, 3), draw.choice([0.1, 0.25, 0.4]), 0.5
    found = assess(
        "t", connection, quasi=("a",), sensitive=("s",), person="who", combined=0,
        require=[f"k={k}, l={l}, t:s={t}", f"alpha=0.5,eir_l={l}", "ir_alpha_beta=0.5/0.5"],
    )  # fmt: skip
    failing = {check.name: check.failing for check in found.checks}
    worst = {
        "k": [v < k for v in models.k_anonymity(held, people).per_class.values()],
        "distinct_l": [v < l for v in models.distinct_l(held).per_class.values()],
        "t_equal": [
            v > Fraction(str(t))
            for v in models.t_closeness(held, persons=people).per_class.values()
        ],
        "alpha": [v > Fraction(half) for v in models.alpha(held, people).per_class.values()],
        "eir_l": [v < l for v in models.eir_l(held, people).per_class.values()],
        "ir_alpha_beta": [
            a > Fraction(half) or b > Fraction(half)
            for a, b in models.ir_alpha_beta(held, people).per_class.values()
        ],
    }
    assert failing == {name: sum(fails) for name, fails in worst.items()}
    assert found.passed == (not any(failing.values()))


def population_table(connection: duckdb.DuckDBPyConnection, seed: int) -> None:
    draw = random.Random(2000 + seed)
    everybody = make(draw, 60)
    rows = draw.sample(everybody, 20)
    if seed % 4 == 0:  # a population that lacks some of the table's classes
        everybody = [row for row in everybody if row["a"] != rows[0]["a"]]
    if not everybody:
        return
    store(connection, rows, "t")
    store(connection, everybody, "everybody")
    columns = ("a", "b b")
    found = assess("t", connection, quasi=columns, population="everybody", combined=0)
    wanted = risk.population(rows, everybody, columns)
    assert found.population is not None
    assert found.population.k_map == wanted["k_map"]
    assert near(found.population.presence_max, wanted["presence_max"])
    assert near(found.population.presence_min, wanted["presence_min"])
    assert found.population.uniques == wanted["uniques"]
    assert near(found.risk.marketer, wanted["marketer"])
    if wanted["k_map"]:
        assert near(found.risk.journalist_max, Fraction(1, int(wanted["k_map"])))


def estimated_table(connection: duckdb.DuckDBPyConnection, seed: int) -> None:
    draw = random.Random(3000 + seed)
    rows = make(draw)
    store(connection, rows, "t")
    fraction = draw.choice([0.1, 0.5, 1.0])
    found = assess("t", connection, quasi=("a", "c"), fraction=fraction, combined=0)
    by_row = risk.sizes(rows, ("a", "c"))
    chance, estimated = risk.zayatz(by_row, Fraction(str(fraction)))
    alone = sum(size == 1 for size in by_row)
    assert found.risk.population_uniques_estimated == pytest.approx(float(estimated), rel=1e-6)
    expected = float(chance * alone / len(rows))
    assert found.risk.population_unique_share == pytest.approx(expected, rel=1e-6)
    if fraction == 1.0:
        assert chance in (0, 1)


CHECKED = (judged_table, population_table, estimated_table)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("check", CHECKED)
def test_requirements_population_and_uniqueness(
    connection: duckdb.DuckDBPyConnection, seed: int, check: Check
) -> None:
    check(connection, seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("check", CHECKED)
def test_requirements_population_and_uniqueness_on_hundreds(
    connection: duckdb.DuckDBPyConnection, check: Check
) -> None:
    for seed in range(4, 204):
        check(connection, seed)


def test_mixed_columns_and_unknown_names(connection: duckdb.DuckDBPyConnection) -> None:
    store(connection, make(random.Random(1), 5), "t")
    with pytest.raises(SourceError, match="did you mean"):
        assess("t", connection, quasi=("a",), sensitive=("payy",))
    with pytest.raises(SourceError, match="twice"):
        assess("t", connection, quasi=("a", "A"))
    with pytest.raises(SourceError, match="not a table"):
        assess("tt", connection, quasi=("a",))
    with pytest.raises(PolicyError, match="known name"):
        assess("t", connection, quasi=("a",), require=["q=3"])
    with pytest.raises(PolicyError, match="--person"):
        assess("t", connection, quasi=("a",), require=["person_k=3"])
    with pytest.raises(PolicyError, match="population"):
        assess("t", connection, quasi=("a",), require=["k_map=3"])
    connection.execute("create table nobody as from t where false")
    with pytest.raises(SourceError, match="no rows"):
        assess("nobody", connection, quasi=("a",))
    assert connection.execute("select count(*) from duckdb_tables()").fetchall() == [(2,)]


def test_no_value_is_shown(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(
        "create table t as select 'secret' || range as a, 'hidden' || (range % 2) as s"
        " from range(50)"
    )
    found = assess("t", connection, quasi=("a",), sensitive=("s",))
    text = str(found.as_dict())
    assert "secret" not in text
    assert "hidden" not in text
    assert found.combinations is not None
    assert found.combinations.singled_out == 50


def test_as_many_combinations_as_can_be_looked_at() -> None:
    assert look_at(8, 3) == 3
    assert look_at(20, 3) == 2
    assert look_at(3, 9) == 3
    assert look_at(1000, 3) == 1


def test_columns_are_guessed(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(
        "create table patients as select range as patient_id, 'n' || range as name,"
        " 20 + range % 50 as age, 'z' || (range % 7) as zip, 'd' || (range % 5) as disease"
        " from range(200)"
    )
    found = assess("patients", connection)
    assert found.guessed
    assert set(found.quasi) == {"age", "zip"}
    assert found.sensitive == ("disease",)
