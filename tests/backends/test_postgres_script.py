"""The printed script runs on Postgres as it is and makes the rows of a run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.engines.postgres.script import PLACE, script
from anonymizer.process.secret import Seed
from tests.backends.tables import PEOPLE, load, on_postgres, people, policy, query, rows_of

pytestmark = pytest.mark.postgres

L2 = {"role": "sensitive", "protect": {"l_diversity": 2}}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "mondrian": ({"age": "quasi", "town": "quasi", "ill": "sensitive"}, {}),
    "lgb": ({"age": "quasi", "ill": L2}, {"algorithm": {"name": "lgb"}}),
    "a query": (
        {"age": "quasi", "town": "quasi", "ill": "sensitive"},
        {
            "source": {"query": "select * from people where age between 1 and 60 -- no others"},
            "publish": {"name": "some_people"},
        },
    ),
}


@pytest.fixture
def address(postgres: str) -> str:
    load(postgres, PEOPLE, people(120), "people")
    return postgres


def run_script(address: str, text: str, folder: Path) -> None:
    secret = f"SET anonymizer.secret = '{Seed.test(7).secret}';\n"
    psql = shutil.which("psql")
    if psql is None:
        import psycopg

        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(secret + text)
        return
    file = folder / "script.sql"
    file.write_text(secret + text, encoding="utf-8")
    arguments = [psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", address, "-f", str(file)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("case", list(CASES))
def test_the_script_makes_the_rows_of_a_run(address: str, tmp_path: Path, case: str) -> None:
    columns, rest = CASES[case]
    given = policy(columns, **rest)
    text = script(anonymizer.plan(given, address), given)
    assert "$loop$" in text
    run_script(address, text, tmp_path)
    made = on_postgres(given, address)
    assert [list(row) for row in query(address, f"select * from {PLACE}.staged")] == rows_of(
        made, address
    )
    query(address, f"drop schema {PLACE} cascade")


def test_a_guard_of_the_script_stops_it(address: str, tmp_path: Path) -> None:
    given = policy(CASES["mondrian"][0])
    text = script(anonymizer.plan(given, address), given)
    query(address, "delete from people where age > 2")
    query(address, "delete from people where age is null")
    query(address, "delete from people where ctid not in (select ctid from people limit 2)")
    with pytest.raises(AssertionError, match="the run stops here"):
        run_script(address, text, tmp_path)


@pytest.mark.parametrize("algorithm", ["mondrian", "lgb"])
def test_a_null_that_came_later_stops_the_script(
    address: str, tmp_path: Path, algorithm: str
) -> None:
    """Statements that were made for a column without NULLs have no code for one."""
    query(address, "delete from people where age is null")
    given = policy({"age": "quasi", "ill": "drop"}, algorithm={"name": algorithm})
    text = script(anonymizer.plan(given, address), given)
    query(address, "update people set age = null where ctid = (select min(ctid) from people)")
    with pytest.raises(AssertionError, match="values as counted: the run stops here"):
        run_script(address, text, tmp_path)
