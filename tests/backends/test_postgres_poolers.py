"""Sessions of a server keep nothing of a run, and poolers that hand them about are refused."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.errors import AnonymizerError, EngineError, GuaranteeError
from anonymizer.release.signing import new_key
from tests.backends.pooler import pooler
from tests.backends.tables import PEOPLE, load, people, policy, query
from tests.cli.conftest import Call, call
from tests.runs import THRIFTY

__all__ = ["call"]

pytestmark = pytest.mark.postgres

COLUMNS: dict[str, Any] = {"age": "quasi", "zip": "quasi", "ill": "sensitive"}
SETTINGS = "select s::text from pg_settings s order by name"
VALUES = "select name, setting from pg_settings order by name"
LOCKS = """
    select locktype, relation, classid, objid, mode from pg_locks
    where pid = pg_backend_pid() and locktype <> 'virtualxid' order by 1, 2, 3, 4, 5
"""
OTHERS = """
    select coalesce(current_setting('anonymizer.secret', true), '')
        || coalesce(current_setting('anonymizer.ledger_key', true), '')
"""
STATEMENTS = "select name from pg_prepared_statements"
IN_A_POOL = {"one session": ("transaction", 1), "some": ("transaction", 3)}
VERBS = {
    "plan": ("plan", "POLICY"),
    "run": ("run", "POLICY"),
    "verify": ("verify", "POLICY"),
    "verify alone": ("verify",),
    "export": ("export", "POLICY", "-o", "out.parquet"),
    "compile": ("compile", "POLICY"),
    "certify": ("certify", "POLICY", "--sign", "key.pem"),
    "lineage": ("report", "POLICY", "--as", "openlineage"),
    "clean": ("clean",),
}


@pytest.fixture(scope="module")
def address(postgres: str) -> str:
    load(postgres, PEOPLE, people(60), "people")
    query(postgres, "drop schema if exists main cascade")
    return postgres


def given(**rest: Any) -> Any:
    return policy(COLUMNS, engine="postgres", **rest)


def state(connection: Any, settings: str = SETTINGS) -> list[Any]:
    """All that a session keeps: settings, locks, prepared statements, and what was bound."""
    return [connection.execute(text).fetchall() for text in (settings, LOCKS, STATEMENTS, OTHERS)]


def states(address: str, count: int) -> list[list[Any]]:
    """The states of so many sessions at a time."""
    import psycopg

    with ExitStack() as held:
        found = []
        for _ in range(count):
            connection = held.enter_context(psycopg.connect(address))
            # in a transaction, which keeps the session; the pooler sets some itself
            found.append(state(connection, VALUES))
        return found


@contextmanager
def locked(address: str) -> Iterator[None]:
    """The source, which nobody can read meanwhile."""
    import psycopg

    with psycopg.connect(address) as connection:
        connection.execute("lock table people in access exclusive mode")
        yield


@pytest.mark.parametrize("case", IN_A_POOL)
def test_a_pool_of_transactions_is_refused_before_anything_is_read(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, case: str
) -> None:
    monkeypatch.chdir(tmp_path)
    new_key(tmp_path / "key.pem")
    mode, size = IN_A_POOL[case]
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(given().to_dict()))
    schemas = "select nspname from pg_namespace order by 1"
    there = query(address, schemas)
    with pooler(address, mode, size) as pool, locked(address):
        before = states(pool, size)
        for verb in VERBS.values():
            arguments = [str(file) if one == "POLICY" else one for one in verb]
            done = call(*arguments, "--database", pool, "--format", "json")
            assert done.code == 2, verb
            (error,) = done.json["errors"]
            assert error["path"] == "--database"
            assert "every transaction in another session" in error["message"], verb
        assert states(pool, size) == before
    assert query(address, schemas) == there
    assert not list(tmp_path.glob("out*"))


@pytest.mark.parametrize("mode", ["transaction", "statement"])
def test_a_users_connection_to_such_a_pool_is_refused(address: str, mode: str) -> None:
    import psycopg

    automatic = mode == "statement"
    with (
        pooler(address, mode) as pool,
        psycopg.connect(pool, autocommit=automatic) as connection,
    ):
        with pytest.raises(EngineError, match="every transaction in another session"):
            anonymizer.run(given(), connection)
        assert connection.autocommit is automatic


def test_a_pool_without_another_session_is_refused(address: str) -> None:
    with (
        pooler(address, "session", 1) as pool,
        pytest.raises(EngineError, match="a second connection"),
    ):
        anonymizer.run(given(), pool)


@pytest.mark.parametrize("reset", ["", "discard all"])
def test_a_pool_of_sessions_gets_them_back_as_they_were(address: str, reset: str) -> None:
    with pooler(address, "session", 2, reset) as pool:
        before = states(pool, 2)
        release = anonymizer.run(given(), pool)
        assert len(release.df()) == release.measures["rows"]
        assert states(pool, 2) == before
        assert anonymizer.verify(given(), pool).passed
        assert states(pool, 2) == before
        with pytest.raises(AnonymizerError):
            anonymizer.run(given(privacy={"k_anonymity": 500}), pool)
        assert states(pool, 2) == before


def test_a_killed_run_leaves_nothing_in_a_pool_of_sessions(address: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(given().to_dict()))
    with pooler(address, "session", 2, "discard all") as pool:
        before = states(pool, 2)
        with locked(address):
            command = [sys.executable, "-m", "anonymizer", "run", str(file), "--database", pool]
            run = subprocess.Popen(command)
            waiting = "select count(*) from pg_locks where not granted"
            for _ in range(300):
                if query(address, waiting) != [(0,)]:
                    break
                time.sleep(0.1)
            run.kill()
            run.wait()
        assert states(pool, 2) == before


@pytest.mark.parametrize("autocommit", [True, False])
@pytest.mark.parametrize("fails", [False, True], ids=["published", "refused"])
def test_a_users_session_is_as_before(address: str, autocommit: bool, fails: bool) -> None:
    import psycopg

    options = "-c work_mem=7MB -c datestyle=german"
    with psycopg.connect(address, options=options, autocommit=True) as connection:
        connection.execute("set jit = on")
        connection.execute("set extra_float_digits = 2")
        connection.execute("set search_path = public")
        connection.execute("select pg_advisory_lock(77)")
        connection.autocommit = autocommit
        before = state(connection)
        connection.rollback()
        rule = {"t_closeness": 0.0} if fails else {}
        columns = {**COLUMNS, "ill": {"role": "sensitive", "protect": rule}} if fails else COLUMNS
        asked = policy(columns, engine="postgres", suppression_limit=0)
        try:
            anonymizer.run(asked, connection, limits=THRIFTY).df()
        except GuaranteeError:
            assert fails
        after = state(connection)
        connection.rollback()
        assert after == before
        assert connection.prepare_threshold == 5
