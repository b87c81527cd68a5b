"""The time zone of a machine or a session changes nothing of a release, and is left as it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import EngineError

ROWS = """
create table people as
select
    i % 17 as age,
    timestamptz '2024-03-10 00:00:00+00' + to_minutes(cast(13 * i as int)) as seen,
    timestamptz '2024-11-03 00:00:00+00' + to_minutes(cast(7 * i as int)) as came,
    'v' || i % 5 as ill
from range(200) r (i)
"""
ZONES = ("UTC", "America/New_York", "Asia/Kathmandu")


def given(folder: Path, **publish: str) -> Policy:
    columns = {
        "age": {
            "role": "quasi",
            # which day it is hangs on the zone
            "sensitive_when": "cast(seen as date) = date '2024-03-11'",
            "protect": {"l_diversity": 2},
        },
        "came": {"role": "quasi"},
        "seen": {"role": "keep", "acknowledge_unique": True},
        "ill": {"role": "sensitive"},
    }
    policy = {
        "version": 1,
        "source": {"table": "people"},
        "columns": columns,
        "privacy": {"k_anonymity": 3},
        "algorithm": {"name": "lgb"},
        "suppression_limit": 0.5,
        "publish": {"name": "out", **publish},
    }
    return Policy.model_validate(policy, context={"base": folder})


def rows_of(connection: duckdb.DuckDBPyConnection) -> list[tuple[object, ...]]:
    return connection.execute("select * replace (epoch_us(seen) as seen) from out").fetchall()


@pytest.mark.slow
def test_of_a_users_connection(tmp_path: Path) -> None:
    made = []
    for zone in ZONES:
        with duckdb.connect() as connection:
            connection.execute(f"set TimeZone = '{zone}'")
            connection.execute(ROWS)
            anonymizer.run(given(tmp_path), connection, seed=7)
            assert connection.execute("select current_setting('TimeZone')").fetchone() == (zone,)
            made.append(rows_of(connection))
    assert made[0] == made[1] == made[2]


@pytest.mark.slow
def test_of_the_machine(tmp_path: Path) -> None:
    database, release = tmp_path / "people.duckdb", tmp_path / "release.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(ROWS)
    file = tmp_path / "policy.json"
    file.write_text(
        json.dumps(given(tmp_path, database="release.duckdb").to_dict()), encoding="utf-8"
    )
    made = []
    for zone in ZONES:
        command = [sys.executable, "-m", "anonymizer", "run", str(file)]
        command += ["--database", str(database), "--test-seed", "7"]
        subprocess.run(command, env={**os.environ, "TZ": zone}, check=True, capture_output=True)
        with duckdb.connect(str(release), read_only=True) as connection:
            made.append(rows_of(connection))
    assert made[0] == made[1] == made[2]


def test_a_zone_that_is_locked_is_refused_unless_it_is_utc(tmp_path: Path) -> None:
    for zone, fits in (("America/New_York", False), ("Etc/UTC", True)):
        with duckdb.connect() as connection:
            connection.execute(ROWS)
            connection.execute(f"set timezone = '{zone}'")
            connection.execute("set lock_configuration = true")
            if fits:
                assert anonymizer.run(given(tmp_path), connection, seed=1).verification.passed
                continue
            with pytest.raises(
                EngineError, match=r"connection: has other .*\(TimeZone\)"
            ) as raised:
                anonymizer.run(given(tmp_path), connection, seed=1)
            assert "set TimeZone = 'UTC' before" in str(raised.value)
