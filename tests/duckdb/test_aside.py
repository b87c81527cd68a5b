"""Figures of a release are computed beside the steps that follow, with the same outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from anonymizer.compile import Statement
from anonymizer.engines.base import Engine, Rows
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.engines.execute import Aside, Event, Work, aside
from anonymizer.errors import EngineError
from tests.runs import policy, published, run, source

TABLE = ("first",)
OTHER = ("second",)
ENDLESS = "select count(*) from range(100000000000) a, range(100000000000) b where a.range % 7 = 8"


def statement(text: str, reads: tuple[str, ...] = (), writes: tuple[str, ...] = ()) -> Statement:
    return Statement(text, "query", frozenset((r,) for r in reads), frozenset((w,) for w in writes))


def work(text: str, told: list[Rows]) -> Work:
    def done(engine: Engine) -> Callable[[], None]:
        rows = engine.raw(text, "test")
        return lambda: told.append(rows)

    return done


@contextmanager
def two_sessions() -> Iterator[tuple[DuckDBEngine, Aside]]:
    with (
        own_connection(None) as engine,
        engine.second() as second,
    ):
        assert second is not None
        with aside(second) as beside:
            yield engine, beside


def test_a_second_session_sees_the_work_tables_and_writes_its_own() -> None:
    told: list[Rows] = []
    with two_sessions() as (engine, beside):
        engine.raw("create table first as select 7 as n", "test")
        made = "create table second as select n + 1 as n from first"
        beside.begin(statement(made, ("first",), ("second",)), work(made, told))
        read = "select n from second"
        beside.begin(statement(read, ("second",)), work(read, told))
        beside.settle()
        assert told[1] == [(8,)]
        assert engine.raw("select n from second", "test") == [(8,)]


@pytest.mark.parametrize(
    ("reads", "writes", "hindered"),
    [
        ((TABLE,), (), False),  # both read it
        ((OTHER,), (), True),  # reads what is being written
        ((), (TABLE,), True),  # writes what is being read
        ((), (OTHER,), True),  # both write it
        ((("third",),), (("third",),), False),
    ],
)
def test_what_has_to_wait(
    reads: tuple[tuple[str]], writes: tuple[tuple[str]], *, hindered: bool
) -> None:
    with two_sessions() as (engine, beside):
        engine.raw("create table first as select 7 as n", "test")
        made = "create table second as select n from first"
        beside.begin(statement(made, ("first",), ("second",)), work(made, []))
        assert beside.hinders(reads, writes) == hindered
        beside.settle()
        assert not beside.hinders(reads, writes)


def test_the_first_failure_is_the_one_that_is_raised() -> None:
    told: list[Rows] = []
    with two_sessions() as (_, beside):
        for text in ("select 1", "select * from missing_one", "select * from missing_two"):
            beside.begin(statement(text), work(text, told))
        with pytest.raises(EngineError):
            beside.settle()
    assert told == [[(1,)]]


def test_what_is_still_at_work_at_the_end_is_interrupted() -> None:
    with two_sessions() as (_, beside):
        for _ in range(2):
            beside.begin(statement(ENDLESS), work(ENDLESS, []))


def test_a_connection_of_the_user_has_no_second_session(tmp_path: Path) -> None:
    import duckdb

    with (
        duckdb.connect(tmp_path / "user.duckdb") as connection,
        DuckDBEngine(connection, owned=False).second() as second,
    ):
        assert second is None


def rows_of_a_table() -> list[tuple[object, ...]]:
    return [(i, i * 37 % 2500, f"c{i * 13 % 40}") for i in range(3000)]


def test_a_release_is_the_same_with_one_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    types = {"id": "INTEGER", "age": "INTEGER", "code": "VARCHAR"}
    columns = {"id": {"role": "drop"}, "age": {"role": "quasi"}, "code": {"role": "quasi"}}
    found = []
    events: list[list[str]] = []
    for name in ("two", "one"):
        if name == "one":
            monkeypatch.setattr(DuckDBEngine, "second", lambda _: nullcontext())
        folder = tmp_path / name
        folder.mkdir()
        database = source(folder, types, rows_of_a_table())
        told: list[Event] = []
        release = run(policy(folder, columns, k=20), database, seed=1, listener=told.append)
        events.append(sorted(event.step.name for event in told))
        found.append((release.measures["ncp_bound"], published(release)))
    assert found[0] == found[1]
    assert found[0][0] > 0
    assert events[0] == events[1]


def test_a_failure_beside_the_run_publishes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(DuckDBEngine):
        def execute(self, statement: Statement, where: str, binds: object = ()) -> Rows:
            raise EngineError.at("engine", "is out of memory")

    whole = DuckDBEngine.second

    @contextmanager
    def broken(self: DuckDBEngine) -> Iterator[DuckDBEngine | None]:
        with whole(self) as second:
            assert second is not None
            yield Broken(second.connection, owned=True)

    monkeypatch.setattr(DuckDBEngine, "second", broken)
    types = {"id": "INTEGER", "age": "INTEGER", "code": "VARCHAR"}
    columns = {"id": {"role": "drop"}, "age": {"role": "quasi"}, "code": {"role": "quasi"}}
    database = source(tmp_path, types, rows_of_a_table())
    given = policy(tmp_path, columns, k=20)
    with pytest.raises(EngineError, match="is out of memory"):
        run(given, database, seed=1)
    assert not (tmp_path / "release.duckdb").exists()
