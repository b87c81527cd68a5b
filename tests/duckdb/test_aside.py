"""Figures of a release are computed beside the steps that follow, with the same outcome."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from anonymizer.compile import Statement
from anonymizer.engines.base import Rows
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.execute import Event, Executor
from anonymizer.errors import EngineError
from anonymizer.steps import Note, Step
from tests.runs import policy, published, run, source


def statement(text: str, reads: tuple[str, ...] = (), writes: tuple[str, ...] = ()) -> Statement:
    return Statement(text, "query", frozenset((r,) for r in reads), frozenset((w,) for w in writes))


def test_a_connection_of_the_user_has_no_second_session(tmp_path: Path) -> None:
    import duckdb

    with (
        duckdb.connect(tmp_path / "user.duckdb") as connection,
        DuckDBEngine(connection, owns_connection=False).second() as second,
    ):
        assert second is None


def test_a_note_without_a_row_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adjacent notes are one statement; figures of one decide whether a run goes on."""
    import duckdb

    texts = {"one": "select 1 as a", "none": "select 2 as b where false", "two": "select 3 as c"}
    monkeypatch.setattr(Executor, "_statement", lambda _, step: statement(texts[step.name]))
    for names, kept in ((("one", "two"), {"a": 1, "c": 3}), (tuple(texts), {"a": 1, "c": 3})):
        with duckdb.connect() as connection:
            executor = Executor(DuckDBEngine(connection, owns_connection=False))
            executor.run([Note(Step(name, name)) for name in names])
            assert executor.notes == kept


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
            yield Broken(second.connection, owns_connection=True)

    monkeypatch.setattr(DuckDBEngine, "second", broken)
    types = {"id": "INTEGER", "age": "INTEGER", "code": "VARCHAR"}
    columns = {"id": {"role": "drop"}, "age": {"role": "quasi"}, "code": {"role": "quasi"}}
    database = source(tmp_path, types, rows_of_a_table())
    given = policy(tmp_path, columns, k=20)
    with pytest.raises(EngineError, match="is out of memory"):
        run(given, database, seed=1)
    assert not (tmp_path / "release.duckdb").exists()
