"""Checks and measures mean on Spark what they mean on DuckDB, on releases that hold or do not."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.compile import Table, ident, work
from anonymizer.compile.sql import SCRATCH
from anonymizer.contract.checks import Verification
from anonymizer.contract.layout import Originals, Requirement
from anonymizer.engines.base import ComparedTables, Limits
from anonymizer.engines.spark.connection import SparkEngine
from anonymizer.measure import measure_release
from anonymizer.verification.release import verify_release
from anonymizer.verification.source_comparison import verify_against_source
from tests.backends.tables import close
from tests.duckdb import random_classes as rules
from tests.duckdb import test_verify_form as form
from tests.selection import some

pytestmark = pytest.mark.spark

VIEW, LINK, SOURCE, NODES = (Table(name) for name in ("release", "link", "source", "zip_nodes"))
BAD = (
    "update release set class_id = null where class_id = 1",
    "update release set class_id = 2 where class_id = 1",
    "update release set born = '[2020-05-17, 2020-01-10]' where class_id = 1",
    "update release set born = '2020' where class_id = 1",
    "update release set job = '{b, a}' where class_id = 1",
    "update release set zip = '{100' where class_id = 2",
    "update release set pay_bucket = 1",
    "update release set job_bucket = 1, age_bucket = null where class_id = 2",
    "update link set age = '-99' where age_bucket is null and class_id = 1",
    "update link set note = 'other' where class_id = 2",
    "delete from link where class_id = 3",
)
MODELS = (
    Requirement("k_anonymity", None, {"k": 3}),
    Requirement("distinct_l", "value", {"l": 2}),
    Requirement("entropy_l", "value", {"l": 2}),
    Requirement("recursive_cl", "value", {"c": 1.5, "l": 2}),
    Requirement("t_closeness", "value", {"t": 0.3, "distance": "equal"}),
    Requirement("t_closeness", "value", {"t": 0.3, "distance": "ordered"}),
    Requirement(
        "t_closeness", "value", {"t": 0.3, "distance": "hierarchical", "paths": rules.HIERARCHY}
    ),
    Requirement("alpha", "value", {"alpha": 0.5}),
    Requirement("alpha_k", "value", {"alpha": 0.6, "k": 3}),
    Requirement("beta_likeness", "value", {"beta": 0.7}),
    Requirement("delta_disclosure", "value", {"delta": 0.8}),
    Requirement(
        "level_l", "value", {"levels": {1: ["a"]}, "level_l": {0: 2, 1: 3}, "default_level": 0}
    ),
)
OF_PERSONS = (
    Requirement("ir_k", None, {"k": 2}),
    Requirement("ir_kl", "value", {"k": 2, "l": 2}),
    Requirement("ir_alpha_beta", "value", {"alpha": 0.6, "beta": 0.6}),
    Requirement("eir_alpha_beta", "value", {"alpha": 0.6, "beta": 0.6}),
)


@pytest.fixture(scope="module")
def engine(spark_session: Any) -> Iterator[SparkEngine]:
    from anonymizer.engines.spark.source import spark_engine

    with spark_engine(None, spark_session, secrets.token_hex(8), Limits(threads=1)) as opened:
        opened.all_on_spark = True
        yield opened
    # the session is shared with tests that look at what is in it
    for row in spark_session.sql("show tables").collect():
        if row["isTemporary"]:
            spark_session.catalog.dropTempView(row["tableName"])


@pytest.fixture
def beside(spark_session: Any) -> Iterator[SparkEngine]:
    """Spark with a DuckDB that answers from counts."""
    from anonymizer.engines.spark.source import spark_engine

    with spark_engine(None, spark_session, secrets.token_hex(8), Limits(threads=1)) as opened:
        yield opened


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as opened:
        opened.execute(f"attach ':memory:' as {SCRATCH}")
        yield opened


@pytest.fixture
def shared(
    engine: SparkEngine, connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> Callable[..., None]:
    """Makes Spark see tables of the connection as they are now."""

    def share(*names: str) -> None:
        for name in names:
            path = tmp_path / f"{name}-{secrets.token_hex(4)}.parquet"
            connection.execute(f"copy {name} to '{path}' (format parquet)")
            engine.spark.read.parquet(str(path)).createOrReplaceTempView(name)

    return share


def same(one: Verification, other: Verification) -> None:
    assert len(one.checks) == len(other.checks)
    for mine, theirs in zip(one.checks, other.checks, strict=True):
        assert (mine.name, mine.column, mine.passed, mine.failing) == (
            theirs.name,
            theirs.column,
            theirs.passed,
            theirs.failing,
        )
        assert close(mine.achieved, theirs.achieved), mine.name


def on_duckdb(connection: duckdb.DuckDBPyConnection) -> Callable[[str], list[Any]]:
    return lambda text: connection.execute(text).fetchall()


def on_spark(engine: SparkEngine) -> Callable[[str], list[Any]]:
    return lambda text: engine.raw(text, "verification")


@some(1)
@pytest.mark.parametrize("typed", [False, True])
def test_form_source_and_measures(
    engine: SparkEngine, connection: duckdb.DuckDBPyConnection, shared: Any, typed: bool
) -> None:
    source, release = form.random_release(random.Random(11))
    while len({row["class_id"] for row in release}) < 4:
        source, release = form.random_release(random.Random(len(source)))
    found = form.store(connection, source, release, typed)
    originals = Originals(SOURCE, found.values, found.flags, {"zip": NODES})
    layout = form.lgb_layout(typed)
    # all faults at once: a statement costs Spark most of a second, and every check is asked anyway
    for faults in [()] if typed else [(), BAD]:
        for fault in faults:
            connection.execute(fault)
        shared("source", "release", "link", "zip_nodes")
        judged = [
            verify_release(run, VIEW, layout, form.REQUIRED)
            for run in (on_spark(engine), on_duckdb(connection))
        ]
        same(*judged)
        judged = [
            verify_against_source(run, originals, LINK, VIEW, layout, compared=work("compared"))
            for run in (on_spark(engine), on_duckdb(connection))
        ]
        same(*judged)
        assert all(v.passed for v in judged) == (not faults)
    if typed:
        measured = [
            measure_release(run, VIEW, layout, originals, link=LINK)
            for run in (on_spark(engine), on_duckdb(connection))
        ]
        assert measured[0].keys() == measured[1].keys()
        for name, value in measured[1].items():
            assert close(measured[0][name], value), name


TWICE = ("insert into link from link where class_id = 1",)
"""Staged rows that share an original: references are not unique."""
NOWHERE = ("update link set row_ref = -row_ref where class_id = 1",)


@pytest.mark.parametrize("faults", [(), BAD, TWICE, NOWHERE], ids=["good", "bad", "twice", "lost"])
def test_one_pass_over_rows_says_the_same(
    beside: SparkEngine, connection: duckdb.DuckDBPyConnection, tmp_path: Path, faults: Any
) -> None:
    draw = random.Random(11)
    source, release = form.random_release(draw)
    while len({row["class_id"] for row in release}) < 4:
        source, release = form.random_release(draw)
    found = form.store(connection, source, release, False)
    for fault in faults:
        connection.execute(fault)
    names = {"staged": "release", "link": "link", "originals": "source", "nodes": "zip_nodes"}
    for name, stored in names.items():
        path = tmp_path / f"{name}.parquet"
        connection.execute(f"create table {ident(work(name))} as from {stored}")
        connection.execute(f"copy {stored} to '{path}' (format parquet)")
        beside.work_tables.keep(name, beside.spark.read.parquet(str(path)))
    originals = Originals(
        work("originals"), found.values, found.flags, {"zip": work("nodes")}, distinct={}
    )
    columns = [*found.values.values(), *found.flags.values()]
    beside.compare(ComparedTables("staged", "link", "originals", columns, originals.row_ref))
    assert bool(beside.together) == (faults != TWICE)
    ran = beside.on_spark
    layout = form.lgb_layout(False)
    for judged in (
        [
            verify_release(run, work("staged"), layout, form.REQUIRED)
            for run in (on_spark(beside), on_duckdb(connection))
        ],
        [
            verify_against_source(
                run, originals, work("link"), work("staged"), layout, compared=work("compared")
            )
            for run in (on_spark(beside), on_duckdb(connection))
        ],
    ):
        same(*judged)
    assert not beside.together or beside.on_spark == ran
    assert judged[0].passed == (not faults)


def test_models(engine: SparkEngine, connection: duckdb.DuckDBPyConnection, shared: Any) -> None:
    draw = random.Random(3)
    classes = rules.random_classes(draw, "VARCHAR")
    rules.publish(connection, classes, "VARCHAR", rules.random_people(draw, classes))
    shared("release")
    for required, person in ((MODELS, False), (OF_PERSONS, True)):
        layout = replace(rules.layout("VARCHAR", person=person))
        judged = [
            verify_release(run, VIEW, layout, required)
            for run in (on_spark(engine), on_duckdb(connection))
        ]
        same(*judged)
        assert not judged[0].passed
