"""Servers of other engines: started once, when a test asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.backends.postgres_server import server
from tests.backends.spark_local import session
from tests.conftest import requested_engines


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a Postgres server of the tests' own.

    Skipped where the library is missing and nobody asked for the engine; an engine that was asked
    for and cannot start is an error.
    """
    asked = "postgres" in requested_engines(request.config)
    try:
        import psycopg  # noqa: F401
    except ImportError:
        if asked:
            raise
        pytest.skip("psycopg is not installed: pip install sql-anonymizer[postgres]")
    with server() as address:
        yield address


@pytest.fixture(scope="session")
def spark_session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """A local Spark session; skipped and refused as the Postgres server is."""
    asked = "spark" in requested_engines(request.config)
    try:
        import pyspark  # noqa: F401
    except ImportError:
        if asked:
            raise
        pytest.skip("pyspark is not installed: pip install sql-anonymizer[spark]")
    with session(tmp_path_factory.mktemp("spark")) as opened:
        yield opened


@pytest.fixture
def spark(spark_session: Any) -> Iterator[Any]:
    """The Spark session. What a test left in its catalog is gone before the next one."""
    yield spark_session
    for kind in ("view", "table"):  # a view could hold on to a table
        for row in spark_session.sql(f"show {kind}s").collect():
            name = row["viewName" if kind == "view" else "tableName"]
            spark_session.sql(f"drop {kind} if exists `{name}`")
