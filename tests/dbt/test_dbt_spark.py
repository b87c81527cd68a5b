"""The package's generic tests on Spark, in a session of dbt's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.dbt.test_dbt_package import INVOKE, NO_NETWORK
from tests.docs.blocks import ROOT
from tests.macros.conftest import SCRIPT

pytestmark = pytest.mark.dbt

VISITS = """
select
    {number} as visit,
    concat('patient ', cast({number} % 150 as {text})) as patient,
    nullif(20 + ({number} * 37) % 9, 25) as age,
    case when {number} % 3 = 0 then 'female' else 'male' end as sex,
    case ({number} * {number}) % 11 % 5 when 0 then 'Flu' when 1 then 'Asthma' when 2 then 'Cancer'
        when 4 then 'Fracture' end as disease
from {numbers}
"""
QUASI, S = ["sex", "age"], {"quasi": ["sex"], "sensitive": "disease"}


def bounds() -> dict[str, tuple[str, dict[str, Any], str, Any, Any]]:
    """Tests with what the macros of DuckDB find: the arguments, and a bound that holds and one
    that fails.
    """
    with duckdb.connect() as connection:
        connection.execute(SCRIPT.read_text(encoding="utf-8")).fetchall()
        numbers = "range(300) as numbers (i)"
        made = VISITS.format(number="i", numbers=numbers, text="varchar")
        connection.execute(f"create table visits as {made}")

        def found(text: str) -> tuple[Any, ...]:
            ((*row,),) = connection.execute(f"from {text}").fetchall()
            return tuple(row)

        (k,) = found("anon_k('visits', ['sex', 'age'])")
        (p,) = found("anon_person_k('visits', ['sex', 'age'], 'patient')")
        distinct, entropy, c = found("anon_l('visits', ['sex'], 'disease', l := 3)")
        equal, ordered = found("anon_t('visits', ['sex'], 'disease')")
        smallest = found("(select min(visit) from visits where visit > 0)")[0]
    return {
        "k": ("k_anonymity", {"quasi": QUASI}, "k", k, k + 1),
        "person": ("person_k_anonymity", {"quasi": QUASI, "person": "patient"}, "k", p, p + 1),
        "distinct": ("l_diversity", S, "l", distinct, distinct + 1),
        "entropy": ("l_diversity", {**S, "kind": "entropy"}, "l", entropy - 1e-6, entropy + 1e-6),
        "recursive": (
            "l_diversity",
            {**S, "kind": "recursive", "l": 3},
            "c",
            c + 1e-6,
            c - 1e-6,
        ),
        "equal": ("t_closeness", S, "t", equal + 1e-9, equal - 1e-9),
        "ordered": (
            "t_closeness",
            {**S, "distance": "ordered"},
            "t",
            ordered + 1e-9,
            ordered - 1e-9,
        ),
        "small": ("no_small_cells", {"measure": "visit"}, "n", 2, smallest + 2),
        "raw": ("no_raw_columns", {}, "columns", ["name"], ["PATIENT"]),
    }


def test_generic_tests_agree_with_the_macros_of_duckdb(tmp_path: Path) -> None:
    """Every bound holds at what the macro finds, and fails just beyond it; NULLs are there."""
    tests = [
        {f"anonymizer.{test}": {"name": f"{name}_{end}", "arguments": {**given, bound: value}}}
        for name, (test, given, bound, holds, fails) in bounds().items()
        for end, value in (("holds", holds), ("fails", fails))
        if (name, end) != ("small", "holds")
    ]
    output = {"type": "spark", "method": "session", "schema": "staged", "host": "NA", "threads": 1}
    files = {
        "dbt_project.yml": {"name": "page", "version": "1.0.0", "profile": "page"},
        "packages.yml": {"packages": [{"local": str(ROOT / "sql" / "dbt")}]},
        "profiles.yml": {"page": {"target": "dev", "outputs": {"dev": output}}},
        "models/visits.yml": {"version": 2, "models": [{"name": "visits", "data_tests": tests}]},
    }
    (tmp_path / "models").mkdir()
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    made = VISITS.format(number="id", numbers="range(300)", text="string")
    (tmp_path / "models/visits.sql").write_text(
        f"{{{{ config(materialized='table') }}}}\n{made}", encoding="utf-8"
    )
    for arguments in (["deps"], ["build"]):
        done = subprocess.run(
            [sys.executable, "-c", INVOKE, "--no-use-colors", *arguments],
            cwd=tmp_path,
            env={
                **os.environ,
                "DBT_PROFILES_DIR": str(tmp_path),
                "DO_NOT_TRACK": "1",
                "HTTP_PROXY": NO_NETWORK,
                "HTTPS_PROXY": NO_NETWORK,
                "SPARK_LOCAL_IP": "127.0.0.1",
            },
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert arguments != ["deps"] or done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "target/run_results.json").read_text())
    status = {one["unique_id"].split(".")[2]: one["status"] for one in found["results"]}
    assert status.pop("visits") == "success", done.stdout
    assert status == {name: "pass" if name.endswith("_holds") else "fail" for name in status}, (
        done.stdout
    )
    assert len(status) == len(tests)
