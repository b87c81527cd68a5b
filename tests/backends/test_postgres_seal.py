"""Digests of rows: the same whichever way they are counted, and different for different rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from anonymizer.engines.base import Limits
from anonymizer.engines.postgres.connection import PostgresEngine
from anonymizer.engines.postgres.session import postgres_engine
from anonymizer.publish.postgres import objects
from tests.backends.tables import query

pytestmark = pytest.mark.postgres


@pytest.fixture
def engine(postgres: str) -> Iterator[PostgresEngine]:
    query(postgres, "drop schema if exists sealed cascade")
    query(postgres, "create schema sealed")
    with postgres_engine(postgres, Limits()) as opened:
        yield opened


def both(engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The digest with rows counted first, and that of rows written first."""
    one = objects._rows_digest(engine, "sealed.rows")
    with monkeypatch.context() as patched:
        patched.setattr(objects, "WRITTEN_ALIKE", frozenset())
        other = objects._rows_digest(engine, "sealed.rows")
    assert one.rows == other.rows
    return one.sha256, other.sha256


def test_texts_that_a_collation_calls_equal_are_told_apart(
    engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release that somebody has changed may have a collation of its own."""
    engine.native(
        "create collation sealed.loose"
        " (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
        "test",
    )
    engine.native("create table sealed.rows (cell text collate sealed.loose)", "test")
    engine.native("insert into sealed.rows values ('a'), ('a')", "test")
    before = both(engine, monkeypatch)
    engine.native("update sealed.rows set cell = 'A' where ctid = '(0,1)'", "test")
    after = both(engine, monkeypatch)
    assert before[0] == before[1]
    assert after[0] == after[1] != before[0]


def test_numbers_that_are_written_in_two_ways(
    engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.native("create table sealed.rows (cell numeric)", "test")
    engine.native("insert into sealed.rows values (1.0), (1.00)", "test")
    one, other = both(engine, monkeypatch)
    assert one == other
    engine.native("update sealed.rows set cell = 1.0", "test")
    assert both(engine, monkeypatch)[0] != one
