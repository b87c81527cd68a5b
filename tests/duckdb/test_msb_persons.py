"""`msb` with persons: groups are of persons, each with one value per sensitive column."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import InfeasibleError
from anonymizer.policy import Policy
from anonymizer.release.published import Release
from tests.duckdb.msb_policy import PAPER_L, policy
from tests.selection import some

LEVEL = {"Flu": 0, "HIV": 2, "Cancer": 2}
Visit = tuple[int, int, str, str | None, str | None]


@pytest.fixture
def source() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


def visits(draw: random.Random, persons: int, nulls: float = 0.0) -> list[Visit]:
    """One to five rows of every person, alike but for the visit."""
    found: list[Visit] = []
    for who in range(persons):
        age, sex = draw.randint(20, 80), draw.choice("FM")
        physician = None if draw.random() < nulls else draw.choice(["John", "Bob", "Anne", "Sam"])
        disease = draw.choice(["Flu", "Flu", "Asthma", "Gout", "HIV", "Cancer"])
        found += [(who, age, sex, physician, disease)] * draw.choice([1, 1, 2, 5])
    draw.shuffle(found)
    return found


def fill(source: duckdb.DuckDBPyConnection, rows: list[Visit]) -> None:
    source.execute(
        "create or replace table people"
        " (who integer, age integer, sex varchar, physician varchar, disease varchar)"
    )
    source.executemany("insert into people values (?, ?, ?, ?, ?)", rows)


def of_persons(folder: Path | None, **options: Any) -> Policy:
    made = policy(folder, columns={"who": {"role": "drop"}}, **options)
    return Policy.model_validate({**made.model_dump(exclude_unset=True), "person": "who"})


def run(source: duckdb.DuckDBPyConnection, folder: Path, **options: Any) -> Release:
    return anonymizer.run(of_persons(folder, **options), source, seed=1)


def published(folder: Path) -> dict[str, list[dict[str, Any]]]:
    with duckdb.connect(str(folder / "release.duckdb"), read_only=True) as connection:
        return {
            name: connection.execute(f"from patients{name}").df().to_dict("records")
            for name in ("", "_physician", "_disease")
        }


@some(1)
@pytest.mark.parametrize("mode", ["exact", "batched"])
@pytest.mark.parametrize("seed", range(3))
def test_groups_are_of_persons(
    source: duckdb.DuckDBPyConnection, tmp_path: Path, mode: str, seed: int
) -> None:
    rows = visits(random.Random(seed), 40, nulls=0.1)
    fill(source, rows)
    release = run(source, tmp_path, mode=mode, limit=0.6)
    assert release.verification.passed
    assert {"person_group", "group_sizes", "source_values"} <= {
        check.name for check in release.verification.checks
    }
    made = published(tmp_path)
    groups: dict[int, set[int]] = {}
    for row in made[""]:
        groups.setdefault(row["group_id"], set()).add(row["person_id"])
    members = [who for group in groups.values() for who in group]
    assert len(members) == len(set(members)), "a person is in one group only"
    # all rows of a person or none: every published person has as many rows as one of the source
    sizes = Counter(row["person_id"] for row in made[""])
    originals = Counter(Counter(row[0] for row in rows).values())
    assert not Counter(sizes.values()) - originals
    assert release.measures["suppressed_persons"] == 40 - len(members)
    for name, default in (("physician", 1), ("disease", 1)):
        held: dict[int, list[str | None]] = {}
        for row in made[f"_{name}"]:
            held.setdefault(row["group_id"], []).append(row[name])
        assert {g: len(v) for g, v in held.items()} == {g: len(m) for g, m in groups.items()}
        for values in held.values():
            counts = Counter(value for value in values if isinstance(value, str))
            for value, n in counts.items():
                level = LEVEL.get(value, default) if name == "disease" else default
                assert n * PAPER_L[level] <= sum(counts.values())
    assert release.measures["group_min"] == min(map(len, groups.values()))
    assert release.measures["group_mean"] == pytest.approx(len(members) / len(groups))


def test_many_rows_of_one_person_do_not_count_as_many(
    source: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    # rows would do: four of Flu, four of others; of the persons nobody but one has another value
    rows: list[Visit] = [(i, 30, "F", "John", "Flu") for i in range(4)]
    fill(source, [*rows, *[(9, 30, "F", "Bob", "Gout")] * 4])
    rules = {"physician": {"l_diversity": 2}, "disease": {"l_diversity": 2}}
    with pytest.raises(InfeasibleError, match="of the 5 persons"):
        run(source, tmp_path, protect=rules)


def test_the_way_out_of_the_refusal(source: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    draw = random.Random(3)
    rows: list[Visit] = [
        (i, 30 + i % 9, "F", f"p{i % 7}", f"d{j}")
        for i in range(30)
        for j in draw.sample(range(6), draw.randint(1, 2))
    ]
    fill(source, rows)
    source.execute(
        "create table gathered as select who, age, sex, physician,"
        " string_agg(distinct disease, ', ' order by disease) as disease from people group by all"
    )
    source.execute("drop table people")
    source.execute("alter table gathered rename to people")
    rules = {"physician": {"l_diversity": 2}, "disease": {"l_diversity": 2}}
    release = run(source, tmp_path, protect=rules, limit=0.3)
    assert release.verification.passed
