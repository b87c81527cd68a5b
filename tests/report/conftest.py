"""A small clinic with rare values, and its release."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from tests.report.cases import CASES, Case
from tests.selection import slow

SOURCE = """
create table visits as select
    range as visit, 'Person-' || range as name, range % 5 = 0 as hides,
    case when range % 41 = 0 then null when range = 7 then 98765.4321
        else 20.0 + range % 60 end as age,
    case when range in (3, 4) then 'RARE<TOWN>' else ['north', 'south', 'e|ast'][1 + range % 3] end
        as town,
    date '2020-01-01' + cast(range % 300 as integer) as admitted,
    case when range = 9 then 'Raredisease' else ['flu', 'cold', 'hiv', 'gout'][1 + range % 4] end
        as disease,
    cast(range % 90 as integer) as weight,
    case when range = 11 then 'keeprare' else 'k' || range % 2 end as kept
from range(400)
"""
RARE = ("Person-", "RARE", "Raredisease", "keeprare", "98765", "98,765")
COLUMNS: dict[str, Any] = {
    "visit": {"role": "identifier"},
    "name": {"role": "identifier"},
    "hides": {"role": "drop"},
    "age": {"role": "quasi"},
    "town": {"role": "quasi"},
    "admitted": {"role": "quasi"},
    "disease": {"role": "sensitive", "protect": {"l_diversity": 3}},
    "weight": {"role": "sensitive", "protect": {"t_closeness": {"t": 0.9, "distance": "ordered"}}},
    "kept": {"role": "keep"},
}
WORKLOAD = """
select town, count(*) from visits group by town;  -- by group
select avg(weight) from visits where admitted < date '2020-06-01';
select count(*) from visits where nonsense = 1;
"""


@dataclass(frozen=True)
class Clinic:
    folder: Path
    source: Path
    policy: anonymizer.Policy
    release: anonymizer.Release


def make(folder: Path, **parts: Any) -> Clinic:
    source = folder / "source.duckdb"
    with duckdb.connect(str(source)) as connection:
        connection.execute(SOURCE)
    (folder / "workload.sql").write_text(WORKLOAD)
    policy = {
        "version": 1,
        "source": {"table": "visits"},
        "columns": COLUMNS,
        "privacy": {"k_anonymity": 5},
        "workload": {"sql": "workload.sql"},
        "publish": {"name": "released", "database": "release.duckdb"},
        **parts,
    }
    (folder / "policy.yml").write_text(json.dumps(policy))
    loaded = anonymizer.Policy.load(folder / "policy.yml")
    return Clinic(folder, source, loaded, anonymizer.run(loaded, source, seed=1))


@pytest.fixture(scope="session")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Clinic:
    return make(tmp_path_factory.mktemp("clinic"))


@pytest.fixture(scope="session")
def case_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Case]:
    return cache(lambda name: CASES[name](tmp_path_factory.mktemp("case")))


def parted() -> list[Any]:
    """The first three cases by default."""
    return [pytest.param(name, marks=[slow] if at >= 3 else []) for at, name in enumerate(CASES)]


@pytest.fixture(scope="session", params=parted())
def case(request: pytest.FixtureRequest, case_of: Callable[[str], Case]) -> Case:
    return case_of(request.param)
