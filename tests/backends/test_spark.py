"""Runs on Spark give the release that DuckDB gives: rows, order, checks and measures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.partition_workers import Recipe
from anonymizer.engines.spark.dialect import DIALECT as SPARK
from anonymizer.release.published import Release
from anonymizer.run.scripts import script
from tests.backends.tables import PEOPLE, close, people
from tests.runs import fill
from tests.selection import some

pytestmark = pytest.mark.spark

COLUMNS = ("age", "sex", "race", "marital_status", "education", "occupation")


@pytest.fixture(autouse=True, params=[0, 1000], ids=["rows on Spark", "few rows in DuckDB"])
def rows_up_to(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Both ways of working on rows: by Spark, and by the DuckDB beside it."""
    up_to: int = request.param
    monkeypatch.setattr("anonymizer.engines.spark.connection.ROWS_UP_TO", up_to)
    return up_to


def adult(folder: Path, source: Path, rows: int = 400) -> Path:
    """A sample of Adult with a key."""
    path = folder / "adult.parquet"
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(
            f"copy (select row_number() over () as id, * from (from '{source}' limit {rows}))"
            f" to '{path}' (format parquet)"
        )
    return path


def people_file(folder: Path) -> Path:
    """NULLs, text of many kinds, dates, times, decimals, and a key."""
    path = folder / "people.parquet"
    with duckdb.connect(config={"threads": 1}) as connection:
        fill(connection, PEOPLE, people(150))
        connection.execute(
            f"copy (select row_number() over () as id, * from people) to '{path}' (format parquet)"
        )
    return path


def policy(path: Path, target: Path, columns: Mapping[str, Any], **rest: Any) -> Policy:
    """A policy over a file in which columns that are not named are dropped."""
    with duckdb.connect() as connection:
        described = connection.execute(f"describe from '{path}'").fetchall()
    given: dict[str, Any] = {row[0]: {"role": "drop"} for row in described}
    for name, column in columns.items():
        given[name] = {"role": column} if isinstance(column, str) else dict(column)
    publish = {"name": "released", "database": str(target), **rest.pop("publish", {})}
    whole = {"version": 1, "source": {"file": str(path)}, "key": "id", "columns": given}
    return Policy.model_validate(
        {"privacy": {"k_anonymity": 4}, **whole, "publish": publish, **rest}
    )


def both(
    spark: Any, folder: Path, path: Path, columns: Mapping[str, Any], **rest: Any
) -> tuple[Release, Release]:
    """The release of Spark and that of DuckDB, compared row by row."""
    one = anonymizer.run(policy(path, folder / "released", columns, **rest), spark, seed=7)
    return one, in_duckdb(one, folder, path, columns, **rest)


def in_duckdb(
    one: Release, folder: Path, path: Path, columns: Mapping[str, Any], **rest: Any
) -> Release:
    """The release of DuckDB, after that of Spark was compared with it."""
    embedded = policy(path, folder / "released.duckdb", columns, **rest)
    other = anonymizer.run(embedded, seed=7, engine="duckdb", limits=Limits(threads=1))
    with duckdb.connect() as connection:
        files = folder / "released" / "released.parquet" / "*.parquet"
        found = connection.execute(f"from '{files}'").fetchall()
    assert found == other.relation().fetchall()
    for mine, theirs in zip(one.verification.checks, other.verification.checks, strict=True):
        assert (mine.name, mine.column) == (theirs.name, theirs.column)
        assert mine.passed, mine.name
        assert close(mine.achieved, theirs.achieved), mine.name
    for name, value in other.measures.items():
        # the bound is measured on DuckDB only
        if not name.startswith(("seconds", "ncp_bound")):
            assert close(one.measures[name], value), name
    return other


def test_mondrian(spark: Any, tmp_path: Path, adult_parquet: Path) -> None:
    columns = dict.fromkeys(COLUMNS, "quasi") | {"income": "sensitive"}
    path = adult(tmp_path, adult_parquet)
    release, _ = both(spark, tmp_path, path, columns)
    # the release is judged again from its files alone, where Spark is not
    again = anonymizer.verify(policy(path, tmp_path / "released", columns), engine="spark")
    assert again.passed
    assert len(again.checks) < len(release.verification.checks)
    assert len(release.df()) == release.measures["rows"] == 400
    assert not list((tmp_path / "released").glob("*.tmp"))
    assert spark.sql("show tables").collect() == []


@pytest.fixture
def in_files(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether executors take parts from files; else the driver hands them over."""
    large = 20 if request.param else 1000
    monkeypatch.setattr("anonymizer.engines.spark.connection.LARGE_FROM", large)
    return bool(request.param)


# the tuples of few rows are the driver's, so that they are never in files
in_parts = pytest.mark.parametrize(
    ("rows_up_to", "in_files"),
    [
        pytest.param(0, False, id="rows on Spark-handed over"),
        pytest.param(0, True, id="rows on Spark-tuples in files"),
        pytest.param(1000, False, id="few rows in DuckDB-handed over"),
    ],
    indirect=True,
)


@some(2)
@in_parts
def test_mondrian_in_parts(
    spark: Any,
    tmp_path: Path,
    adult_parquet: Path,
    monkeypatch: pytest.MonkeyPatch,
    in_files: bool,
) -> None:
    handed: list[Any] = []
    hand_over = Recipe.hand_over

    def counted(*given: Any) -> None:
        handed.append(given)
        hand_over(*given)

    monkeypatch.setattr(Recipe, "hand_over", counted)
    rule = {"role": "sensitive", "protect": {"l_diversity": 2}}
    columns = dict.fromkeys(COLUMNS, "quasi") | {"income": rule}
    algorithm = {"name": "mondrian", "part_size": 100, "refine": 1}
    path = adult(tmp_path, adult_parquet)
    given = policy(path, tmp_path / "released", columns, algorithm=algorithm)
    assert "in every part" in anonymizer.plan(given, spark).sql()
    release = anonymizer.run(given, spark, seed=7)
    assert bool(handed) != in_files
    in_duckdb(release, tmp_path, path, columns, algorithm=algorithm)


@some(1)
@in_parts
@pytest.mark.usefixtures("in_files")
def test_lgb_in_parts(spark: Any, tmp_path: Path) -> None:
    columns = {
        "age": {"role": "quasi", "sensitive_when": "hidden", "protect": {"l_diversity": 2}},
        "town": "quasi",
        "born": "quasi",
        "ill": {"role": "sensitive", "protect": {"l_diversity": 2}},
    }
    algorithm = {"name": "lgb", "generalization": "ncp", "part_size": 30}
    path = people_file(tmp_path)
    plan = anonymizer.plan(policy(path, tmp_path, columns, algorithm=algorithm), spark)
    assert "in every part" in plan.sql()
    both(spark, tmp_path, path, columns, algorithm=algorithm)


@some(1)
@in_parts
@pytest.mark.usefixtures("in_files")
def test_persons_in_parts(spark: Any, tmp_path: Path, adult_parquet: Path) -> None:
    path = tmp_path / "visits.parquet"
    with duckdb.connect() as connection:
        rows = f"from '{adult(tmp_path, adult_parquet)}', range(2) copies(copy)"
        kept = (
            f"select id * 2 + copy as id, id as who, {', '.join(COLUMNS)}, (id + copy) % 5 as ill"
        )
        connection.execute(f"copy ({kept} {rows}) to '{path}' (format parquet)")
    columns = dict.fromkeys(COLUMNS, "quasi") | {"ill": "sensitive", "who": "identifier"}
    algorithm = {"name": "mondrian", "part_size": 100}
    privacy = {"k_anonymity": 4, "ir_kl": {"k": 4, "l": 2}}
    both(spark, tmp_path, path, columns, algorithm=algorithm, privacy=privacy, person="who")


def test_mondrian_of_every_type_with_typed_cells(spark: Any, tmp_path: Path) -> None:
    quasi = ("age", "born", "seen", "town", "wage", "member")
    ill = {"role": "sensitive", "protect": {"l_diversity": 2, "t_closeness": 0.6}}
    columns = dict.fromkeys(quasi, "quasi") | {"ill": ill, "weight": "keep"}
    algorithm = {"name": "mondrian", "split": "median"}
    columns["weight"] = {"role": "keep", "acknowledge_unique": True}
    publish = {"cells": "typed"}
    both(spark, tmp_path, people_file(tmp_path), columns, algorithm=algorithm, publish=publish)


def test_lgb_with_buckets(spark: Any, tmp_path: Path) -> None:
    hidden = {"sensitive_when": "hidden", "protect": {"l_diversity": 2}}
    columns = {
        "age": {"role": "quasi", **hidden},
        "town": "quasi",
        "born": "quasi",
        "ill": {"role": "sensitive", "protect": {"l_diversity": 3}},
    }
    algorithm = {"name": "lgb", "generalization": "mdp"}
    both(spark, tmp_path, people_file(tmp_path), columns, algorithm=algorithm)


@some(2)
@pytest.mark.parametrize("options", [{}, {"budget": 30}], ids=["exact", "budget"])
def test_full_domain(
    spark: Any, tmp_path: Path, adult_parquet: Path, options: dict[str, Any]
) -> None:
    columns = {
        "age": {"role": "quasi", "hierarchy": {"builder": "cardinality"}},
        "education": {"role": "quasi", "hierarchy": {"builder": "frequency"}},
        "sex": {"role": "quasi", "hierarchy": {"builder": "frequency"}},
    }
    path = adult(tmp_path, adult_parquet, 300)
    rest: dict[str, Any] = {"algorithm": {"name": "full_domain", **options}}
    both(spark, tmp_path, path, columns, suppression_limit=0.1, **rest)


def test_rows_that_nulls_suppress(spark: Any, tmp_path: Path) -> None:
    columns = {"town": {"role": "quasi", "nulls": "suppress"}, "age": "quasi"}
    path = people_file(tmp_path)
    one, _ = both(spark, tmp_path, path, columns, suppression_limit=0.5)
    assert one.measures["suppressed"] > 0
    persons = {"person": "person", "merge_person_rows": True, "suppression_limit": 0.9}
    both(spark, tmp_path, path, {**columns, "person": "identifier"}, **persons)


@some(2)
@pytest.mark.parametrize("builder", ["prefix", "suffix"])
def test_codes(spark: Any, tmp_path: Path, builder: str) -> None:
    columns = {"code": {"role": "quasi", "hierarchy": {"builder": builder}}, "age": "quasi"}
    path = tmp_path / "codes.parquet"
    with duckdb.connect(config={"threads": 1}) as connection:
        codes = (
            "('1' || i % 4 || i % 3) || case when i % 5 > 0 then cast(i % 2 as varchar) else '' end"
        )
        connection.execute(
            f"copy (select i as id, {codes} as code, i % 30 as age from range(80) t(i))"
            f" to '{path}' (format parquet)"
        )
    both(spark, tmp_path, path, columns)


@some(2)
@pytest.mark.parametrize(
    ("options", "limit"),
    [({"partial_domain": True, "presampling_k": 2}, 0.6), ({"budget": 30}, 0.1)],
    ids=["partial domain", "budget"],
)
def test_privacyfrost(
    spark: Any, tmp_path: Path, adult_parquet: Path, options: dict[str, Any], limit: float
) -> None:
    rule = {"role": "sensitive", "protect": {"l_diversity": 2}}
    columns = {
        "age": {"role": "quasi", "hierarchy": {"builder": "cardinality"}},
        "education": {"role": "quasi", "hierarchy": {"builder": "frequency"}},
        "sex": {"role": "quasi", "hierarchy": {"builder": "frequency"}},
        "income": rule,
    }
    path = adult(tmp_path, adult_parquet, 300)
    rest: dict[str, Any] = {"algorithm": {"name": "privacyfrost", **options}}
    both(spark, tmp_path, path, columns, suppression_limit=limit, **rest)


def test_none_publishes_every_row(spark: Any, tmp_path: Path) -> None:
    columns = {"town": "keep", "age": "keep", "ill": "sensitive", "person": "identifier"}
    asked: dict[str, Any] = {"algorithm": {"name": "none"}, "privacy": {}, "person": "person"}
    one, _ = both(spark, tmp_path, people_file(tmp_path), columns, **asked)
    assert one.kind == "pseudonymised"


def test_compile_lists_the_statements(spark: Any, tmp_path: Path, adult_parquet: Path) -> None:
    given = policy(adult(tmp_path, adult_parquet, 60), tmp_path / "r.duckdb", {"age": "quasi"})
    dialect, text = script(given, spark, None)
    assert dialect == "spark"
    assert text.startswith("-- mondrian over 60 rows: to read, not to run")
    assert "anonymizer_run_snapshot" in text
    assert "-- (in DuckDB beside spark, in its SQL)" in text


def test_digests_tell_the_places_of_nulls(spark: Any) -> None:
    (text,) = SPARK.translate("select hash(a, b) from (values (null, 1), (1, null)) t(a, b)")
    assert len({row[0] for row in spark.sql(text).collect()}) == 2
