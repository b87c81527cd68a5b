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
from anonymizer.errors import GuaranteeError
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


def test_plain_l_over_several_columns(source: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    people(source, 60)
    rules = {"physician": {"l_diversity": 3}, "disease": {"l_diversity": 3}}
    release = run(source, tmp_path, protect=rules, limit=1.0)
    assert release.verification.passed
    shares = [release.measures[f"worst_share.{name}"] for name in rules]
    assert max(shares) <= release.measures["share_bound.disease"] == pytest.approx(1 / 3)
    checked = {(check.name, check.column) for check in release.verification.checks}
    assert {("distinct_l", "disease"), ("group_sizes", "physician")} <= checked
    assert {("source_values", "disease"), ("source_rows", None)} <= checked


def test_measures_are_the_definitions(source: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    people(source, 80, seed=4)
    release = run(source, tmp_path, limit=1.0, strategy="mbf")
    made = tables(tmp_path)
    needed: dict[int, int] = {}
    for name in ("_physician", "_disease"):
        for group, value in made[name]:
            level = LEVEL.get(value, 1) if name == "_disease" else 1
            needed[group] = max(needed.get(group, 0), PAPER_L[level])
    rows, l = len(made[""]), sum(needed.values())
    assert release.measures["additional_loss"] == pytest.approx((rows - l) / l)
    assert release.measures["suppression_ratio"] == pytest.approx((80 - rows) / 80)
    assert release.measures["groups"] == len(needed)
    assert release.measures["group_mean"] == pytest.approx(rows / len(needed))


def test_singletons_only_when_asked_for(source: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    source.execute(
        "create table people as select (20 + i)::integer as age, 'F' as sex, 'Flu' as disease,"
        " 'any' as physician from range(20) t(i)"
    )
    free = {"levels": {0: ["Flu", "any"]}, "default_level": 1}
    protect = {"physician": free, "disease": free}
    release = run(source, tmp_path, protect=protect)
    assert release.measures["group_min"] == 2
    release = run(source, tmp_path, protect=protect, allow_singletons=True)
    assert release.measures["group_max"] == 1
    assert release.measures["worst_share.disease"] is None


def test_generalized_quasi_identifiers(source: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    people(source, 120, seed=3)
    release = run(source, tmp_path, generalize={"k": 5}, limit=0.2, publish={"cells": "typed"})
    assert release.verification.passed
    frame = release.df()
    assert frame.groupby("class_id").size().min() >= 5
    assert {"group_id", "age_lo", "age_hi"} <= set(frame.columns)
    assert "k_anonymity" in {check.name for check in release.verification.checks}
    assert not any("presence" in warning for warning in release.warnings)
    assert not any("presence" in known for known in release.manifest.data["known_attacks"])


def test_presence_is_said_to_be_disclosed(
    source: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    people(source, 40)
    release = run(source, tmp_path, limit=0.5)
    assert any("presence" in warning for warning in release.warnings)
    assert any("presence" in known for known in release.manifest.data["known_attacks"])


@pytest.mark.parametrize("cells", ["text", "typed"])
def test_beside_the_source_and_again(source: duckdb.DuckDBPyConnection, cells: str) -> None:
    people(source, 50)
    made = policy(None, limit=0.5, publish={"cells": cells})
    for _ in range(2):
        release = anonymizer.run(made, source, seed=2)
    listed = {row[0] for row in source.execute("select name from (show tables)").fetchall()}
    assert {"patients", "patients_disease", "patients_physician", "patients_manifest"} <= listed
    counts = source.execute(
        "select (select count(*) from patients), (select count(*) from patients_disease)"
    ).fetchone()
    assert counts == (release.measures["rows"],) * 2
    other = policy(
        None,
        protect={"disease": {"l_diversity": 2}},
        columns={"physician": {"role": "drop"}},
        limit=0.5,
    )
    anonymizer.run(other, source, seed=2)
    listed = {row[0] for row in source.execute("select name from (show tables)").fetchall()}
    assert "patients_physician" not in listed


def test_a_table_of_the_users_survives(source: duckdb.DuckDBPyConnection) -> None:
    people(source, 30)
    source.execute("create table patients_disease as select 42 as mine")
    with pytest.raises(anonymizer.AnonymizerError, match="not published by this tool"):
        anonymizer.run(policy(None, limit=1.0), source, seed=2)
    assert source.execute("from patients_disease").fetchall() == [(42,)]


@pytest.mark.slow
def test_same_seed_same_release(source: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    people(source, 70, nulls=0.05)
    release = run(source, tmp_path, limit=0.5)
    first = tables(tmp_path)
    source.execute("create or replace table people as from people order by disease, age desc")
    source.execute("set threads = 2")
    assert run(source, tmp_path, limit=0.5).measures["groups"] == release.measures["groups"]
    assert tables(tmp_path) == first
    anonymizer.run(policy(tmp_path, limit=0.5), source, seed=99)
    assert tables(tmp_path) != first


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


def test_more_suppressed_than_allowed(source: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """No single column forbids it, but the two together leave records without a group."""
    source.execute(
        "create table people as select i::integer as age, 'F' as sex,"
        " 'p' || (i * i) % 7 as physician, 'd' || (i * i) % 5 as disease from range(24) t(i)"
    )
    rules = {"physician": {"l_diversity": 3}, "disease": {"l_diversity": 3}}
    with pytest.raises(GuaranteeError, match="suppression_limit") as failed:
        run(source, tmp_path, protect=rules, limit=0.2, mode="exact", strategy="mbf")
    assert failed.value.exit_code == 1
    assert not (tmp_path / "release.duckdb").exists()


def test_null_as_value(source: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    people(source, 80, seed=5, nulls=0.2)
    rules = {"physician": {"l_diversity": 2}, "disease": {"l_diversity": 2}}
    columns = {
        name: {"role": "sensitive", "protect": rules[name], "null_as_value": True} for name in rules
    }
    run(source, tmp_path, protect=rules, columns=columns, limit=0.3)
    for name in ("_physician", "_disease"):
        for values in groups_of(tables(tmp_path)[name]).values():
            assert max(Counter(values).values()) * 2 <= len(values)


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
