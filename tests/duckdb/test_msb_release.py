"""Whole msb runs: what is published, what the verifier finds, what a reader cannot find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.independent.judge import judge
from anonymizer.release.published import Release
from tests.duckdb.msb_policy import PAPER_L, people, policy
from tests.selection import some

LEVEL = {"Flu": 0, "HIV": 2, "Cancer": 2}


@pytest.fixture
def source() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


def run(source: duckdb.DuckDBPyConnection, folder: Path, **options: Any) -> Release:
    return anonymizer.run(policy(folder, **options), source, seed=1)


def tables(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    with duckdb.connect(str(folder / "release.duckdb"), read_only=True) as connection:
        return {
            name: connection.execute(f"from patients{name}").fetchall()
            for name in ("", "_physician", "_disease")
        }


def groups_of(rows: list[tuple[Any, ...]]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for group, value in rows:
        found.setdefault(group, []).append(value)
    return found


@some(2)
@pytest.mark.parametrize("mode", ["exact", "batched"])
@pytest.mark.parametrize("strategy", ["mbf", "msdcf", "mmdcf"])
def test_every_record_once_in_diverse_groups(
    source: duckdb.DuckDBPyConnection, tmp_path: Path, strategy: str, mode: str
) -> None:
    people(source, 90, seed=len(strategy), nulls=0.08)
    release = run(source, tmp_path, strategy=strategy, mode=mode, limit=0.5)
    assert release.verification.passed
    made = tables(tmp_path)
    published = Counter(row[1:] for row in made[""])
    originals = Counter(source.execute("select age::varchar, sex, from people").fetchall())
    assert not published - originals
    assert sum(published.values()) + release.measures["suppressed"] == 90
    sizes = Counter(row[0] for row in made[""])
    assert min(sizes.values()) >= 2
    assert sorted(sizes) == list(range(1, len(sizes) + 1))
    for name, default in (("_physician", 1), ("_disease", 1)):
        held = groups_of(made[name])
        assert {group: len(values) for group, values in held.items()} == dict(sizes)
        for values in held.values():
            counts = Counter(value for value in values if value is not None)
            for value, n in counts.items():
                level = LEVEL.get(value, default) if name == "_disease" else default
                assert n * PAPER_L[level] <= sum(counts.values())


def test_presence_is_said_to_be_disclosed(
    source: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    people(source, 40)
    release = run(source, tmp_path, limit=0.5)
    assert any("presence" in warning for warning in release.warnings)
    assert any("presence" in known for known in release.manifest.data["known_attacks"])


def test_order_of_values_says_nothing(source: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """Neither the view's order nor another table's finds the value of a row in its group."""
    source.execute(
        "create table people as select i::integer as age, 'F' as sex, 'd' || i % 4 as disease,"
        " 'p' || (i * 7 + i // 4) % 5 as physician from range(400) t(i)"
    )
    rules = {"physician": {"l_diversity": 2}, "disease": {"l_diversity": 2}}
    release = run(source, tmp_path, protect=rules, limit=0.1)
    made = tables(tmp_path)
    by_group = {name: groups_of(made[name]) for name in ("_physician", "_disease")}
    place: Counter[int] = Counter()
    hits = together = 0
    for group, age, _ in made[""]:
        i, at = int(age), place[group]
        place[group] += 1
        disease, physician = by_group["_disease"][group][at], by_group["_physician"][group][at]
        hits += disease == f"d{i % 4}"
        together += (disease, physician) in {
            (f"d{j % 4}", f"p{(j * 7 + j // 4) % 5}")
            for j in (int(row[1]) for row in made[""] if row[0] == group)
        }
    sizes = Counter(row[0] for row in made[""])
    by_chance = sum(
        sum(n * n for n in Counter(by_group["_disease"][g]).values()) / size
        for g, size in sizes.items()
    )
    assert release.measures["rows"] > 350
    assert abs(hits - by_chance) < 60  # six standard deviations of 400 draws
    assert together < 0.75 * len(made[""])  # intact vectors would give all of them
    # tables are shuffled as a whole: neighbours are not of neighbouring groups
    order = [row[0] for row in made["_disease"]]
    assert sum(a == b for a, b in pairwise(order)) < 20


def test_nothing_of_a_suppressed_row(source: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """A record that no group can take stands in no table, and counts against the limit."""
    people(source, 40, seed=8)
    source.execute("insert into people values (99, 'F', 'John', 'Plague')")
    source.execute("insert into people select 98, 'M', 'Hook', 'Scurvy' from range(60)")
    release = run(source, tmp_path, limit=0.6)
    assert release.measures["suppressed"] > 0
    made = tables(tmp_path)
    published = sum(row[1] == "98" for row in made[""])
    held = sum(row[1] == "Scurvy" for row in made["_disease"])
    assert published == held < 60
    raw = (tmp_path / "release.duckdb").read_bytes()
    assert published or b"Scurvy" not in raw


def test_a_coarsened_sensitive_column_is_told_and_verified(
    source: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    rows = ", ".join(f"({20 + i % 7}, {(i * 37) % 400}, {(i * 11) % 97})" for i in range(60))
    source.execute(f"create table people as from (values {rows}) as t(age, cost, stay)")
    source.execute("alter table people add column sex varchar")
    rule = {"role": "sensitive", "protect": {"l_diversity": 2}}
    coarse = {
        "cost": {**rule, "round": 50},
        "stay": {**rule, "top_code": {"at_least": 5}, "bottom_code": 3},
    }
    given = policy(tmp_path, protect={name: {} for name in coarse}, columns=coarse, limit=0.5)
    release = anonymizer.run(given, source, seed=1)
    told = {c["column"]: c.get("masks") for c in release.manifest.data["layout"]["columns"]}
    assert told["cost"] == [{"mask": "round", "method": "nearest", "to": 50}]
    assert {mask["mask"] for mask in told["stay"]} == {"top_code", "bottom_code"}
    assert anonymizer.verify(given).passed
    assert judge(tmp_path / "release.duckdb").passed
