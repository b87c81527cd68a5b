"""The checks of the package in one project, on every adapter that runs here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.backends.conftest import postgres
from tests.backends.tables import query
from tests.dbt.checks import BLANKED, COUNTS, VISITS, WRONG, bounds, counted, loaded
from tests.dbt.test_dbt_package import INVOKE, called, results
from tests.docs.blocks import ROOT

__all__ = ["postgres"]

pytestmark = pytest.mark.dbt

NUMBERS = {
    "duckdb": {"number": "i", "text": "varchar", "numbers": "range(300) as numbers (i)"},
    "postgres": {
        "number": "i",
        "text": "text",
        "numbers": "generate_series(0, 299) as numbers (i)",
    },
    "spark": {"number": "id", "text": "string", "numbers": "range(300)"},
}
SCHEMA = "checked"


def output(adapter: str, request: pytest.FixtureRequest) -> dict[str, Any]:
    """The target of a profile."""
    common = {"type": adapter, "schema": SCHEMA, "threads": 1}
    if adapter == "duckdb":
        return {**common, "path": "checks.duckdb"}
    if adapter == "spark":
        return {**common, "method": "session", "host": "NA"}
    address = request.getfixturevalue("postgres")
    drop = f"drop schema if exists {SCHEMA} cascade"
    query(address, drop)
    request.addfinalizer(lambda: query(address, drop))
    at = urlsplit(address)
    there = {"host": at.hostname, "port": at.port, "user": at.username, "password": ""}
    return {**common, **there, "dbname": at.path.strip("/")}


def difference(name: str) -> str:
    """A test of dbt: rows that only the model of counts has, or only the macro of DuckDB."""
    with loaded() as connection:
        found = counted(connection, name)
    columns = ", ".join([*COUNTS[name]["by"], "persons", "status"])
    expected = ", ".join(str(row) for row in found)
    return (
        f"select {columns} from (select {columns}, 1 as way from {{{{ ref('{name}') }}}}"
        f" union all select {columns}, -1 from (values {expected}) as expected ({columns}))"
        f" as both_ways group by {columns} having sum(way) <> 0 or count(*) <> 2"
    )


@pytest.mark.parametrize(
    "adapter", ["duckdb", pytest.param("postgres", marks=pytest.mark.postgres), "spark"]
)
def test_checks_agree_with_the_macros_of_duckdb(
    adapter: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Every bound holds at what the macro finds, and fails just beyond it; NULLs are there."""
    tests: dict[str, list[Any]] = {"visits": [], "blanked": []}
    for name, (table, test, given, bound, holds, fails) in bounds().items():
        tests[table] += [
            {f"anonymizer.{test}": {"name": f"{name}_{end}", "arguments": {**given, bound: value}}}
            for end, value in (("holds", holds), ("fails", fails))
        ]
    models = [{"name": table, "data_tests": those} for table, those in tests.items()]
    target = output(adapter, request)
    files: dict[str, Any] = {
        # (warnings: what is built upon a table is not skipped where its tests fail)
        "dbt_project.yml": {"name": "page", "profile": "page", "data_tests": {"+severity": "warn"}},
        "packages.yml": {"packages": [{"local": str(ROOT / "sql" / "dbt")}]},
        "profiles.yml": {"page": {"target": "dev", "outputs": {"dev": target}}},
        "models/checks.yml": {"version": 2, "models": models},
    }
    head = "{{ config(materialized='table') }}\n"
    files["models/visits.sql"] = head + VISITS.format(**NUMBERS[adapter])
    files["models/blanked.sql"] = head + BLANKED
    for name, (table, given) in {
        **{name: ("visits", given) for name, given in COUNTS.items()},
        **{name: (table, given) for name, (table, given, _) in WRONG.items()},
    }.items():
        call = f"anonymizer.anon_counts(ref('{table}'), **{given})"
        files[f"models/{name}.sql"] = f"{head}{{{{ {call} }}}}"
    files |= {f"tests/{name}_agree.sql": difference(name) for name in COUNTS}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_text(text, encoding="utf-8")
    for arguments in (["deps"], ["build"]):
        done = called(tmp_path, INVOKE, "--no-use-colors", *arguments, SPARK_LOCAL_IP="127.0.0.1")
        assert arguments != ["deps"] or done.returncode == 0, done.stdout + done.stderr
    found = results(tmp_path)
    ends = {"holds": "pass", "fails": "warn"}
    expected = {f"{name}_{end}": ends[end] for name in bounds() for end in ends}
    expected |= {f"{name}_agree": "pass" for name in COUNTS} | dict.fromkeys(WRONG, "error")
    expected |= dict.fromkeys([*tests, *COUNTS], "success")
    assert {name: one["status"] for name, one in found.items()} == expected, done.stdout
    for name, (_, _, words) in WRONG.items():
        assert words in " ".join(found[name]["message"].split()), found[name]
