"""Nothing of a release depends on what lies beyond a code, or on what a constant stands for."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer

POLICY = """
version: 1
source: {table: people}
key: id
columns:
  id: {role: drop}
  age: {role: quasi, top_code: 80}
  sex: {role: quasi}
  pay: {role: top_code, at: 5000}
  born: {role: bottom_code, at: 1930-01-01}
  note: {role: constant, value: removed}
  mail: {role: "null"}
  stay: {role: round, to: 10, method: down}
  ill: {role: sensitive, protect: {l_diversity: 2}}
privacy: {k_anonymity: 5}
publish: {database: release.duckdb}
"""
SOURCE = """
    create or replace table people as select i as id, i % 2 as sex,
        case when i % 9 = 0 then 81 + (i * {one}) % 30 else 20 + i % 60 end as age,
        case when i % 7 = 0 then 5001 + i * {one} else 1000 + i % 40 end as pay,
        case when i % 5 = 0 then date '1900-01-01' + ((i * {one}) % 9000)::int
            else date '1960-05-01' end as born,
        'note ' || (i * {one}) as note, 'm' || (i * {one}) || '@x.org' as mail,
        i % 30 // 10 * 10 + (i * {one}) % 10 as stay, i % 4 as ill
    from range(400) r(i)
"""


def released(folder: Path, one: int) -> tuple[list[Any], dict[str, Any]]:
    """Rows in their order, and the manifest without what tells the run and its times."""
    folder.mkdir()
    with duckdb.connect(str(folder / "source.duckdb")) as connection:
        connection.execute(SOURCE.format(one=one))
    policy = anonymizer.Policy.loads(POLICY, folder)
    release = anonymizer.run(policy, folder / "source.duckdb", seed=5)
    manifest = json.loads(release.manifest.text())
    for name in ("run_id", "created", "seal"):
        manifest.pop(name, None)
    manifest["measures"] = {
        name: value for name, value in manifest["measures"].items() if "seconds" not in name
    }
    return release.relation().fetchall(), manifest


ENDS = """
version: 1
source: {table: people}
key: id
columns:
  id: {role: drop}
  q: {role: quasi, nulls: suppress}
  m: {role: noise, share: 0.5}
  t: {role: top_code, at_least: 5}
  b: {role: bottom_code, at_least: 5}
privacy: {k_anonymity: 5}
suppression_limit: 0.2
publish: {database: release.duckdb}
"""


@pytest.mark.slow
def test_rows_that_are_left_out_leave_no_trace_in_ends(tmp_path: Path) -> None:
    """The range of noise and codes that are found are those of the rows that are published."""
    made = []
    for one in (0, 3):
        folder = tmp_path / str(one)
        folder.mkdir()
        with duckdb.connect(str(folder / "source.duckdb")) as connection:
            connection.execute(
                "create table people as select i as id, if(i % 9 = 0, null, i % 4) as q,"
                f" if(i % 9 = 0, {one} * 7000, i % 50) as m,"
                f" if(i % 9 = 0, {one} * 900, i % 60) as t,"
                f" if(i % 9 = 0, {one} * -900, i % 60) as b from range(400) r(i)"
            )
        policy = anonymizer.Policy.loads(ENDS, folder)
        release = anonymizer.run(policy, folder / "source.duckdb", seed=5)
        made.append(release.relation().fetchall())
    assert made[0] == made[1]


@pytest.mark.slow
def test_values_that_are_not_published_leave_no_trace(tmp_path: Path) -> None:
    first, second = released(tmp_path / "a", 3), released(tmp_path / "b", 7)
    assert first[0] == second[0]
    assert first[1] == second[1]
