"""Drafts publish columns that follow from others like them, and run without a warning."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer import Policy

TABLE = """
create table t as select i as id, 20 + i * 7 % 50 as age,
  ['10115', '10117', '20095', '22047', '80331', '80333'][1 + i % 6] as zip,
  ['Berlin', 'Berlin', 'Hamburg', 'Hamburg', 'Munich', {last}][1 + i % 6] as town,
  ['flu', 'gout', 'acne'][1 + i * 5 // 7 % 3] as ill
from range(600) r(i)
"""


@pytest.mark.parametrize(
    ("last", "like"), [("'Munich'", "zip"), ("case when i < 99 then 'Ulm' else 'Munich' end", None)]
)
def test_a_town_follows_from_its_postcode(tmp_path: Path, last: str, like: str | None) -> None:
    file = tmp_path / "w.duckdb"
    with duckdb.connect(str(file)) as con:
        con.execute(TABLE.replace("{last}", last))
    made = anonymizer.init("t", file, base=tmp_path)
    policy = Policy.loads(made.text, tmp_path)
    assert {name: column.like for name, column in policy.columns.items() if column.like} == (
        {"town": like} if like else {}
    )
    release = anonymizer.run(policy, file)
    assert not [one for one in release.warnings if "tells" in one]
    frame = release.df()
    assert frame.groupby(["zip", "town"]).size().min() >= 5


def test_few_rows_show_no_dependency(tmp_path: Path) -> None:
    file = tmp_path / "w.duckdb"
    with duckdb.connect(str(file)) as con:
        con.execute(TABLE.replace("{last}", "'Munich'").replace("range(600)", "range(40)"))
    policy = Policy.loads(anonymizer.init("t", file, base=tmp_path).text, tmp_path)
    assert not [name for name, column in policy.columns.items() if column.like]
