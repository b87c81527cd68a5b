"""Nothing raw leaves: markers in what is not published are looked for in every byte that is."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.publish.export import export
from tests.runs import fetch, policy, run, source

NAME = "Wilhelmina-Identifier"
KEY = 77_123_456_789
DROPPED = "dropped-remark-zq"
LOST = "Suppressed-Town"
LOST_ILL = "suppressed-illness-xk"
LOST_DAY = dt.date(1903, 7, 19)
SECRET = "5ec7e7" + "0123456789abcdef" * 3 + "0123456789"
MARKS = (NAME, str(KEY)[:9], DROPPED, LOST, LOST_ILL)
TYPES = {
    "key": "BIGINT",
    "name": "VARCHAR",
    "remark": "VARCHAR",
    "town": "VARCHAR",
    "born": "DATE",
    "gate": "INTEGER",
    "hide": "BOOLEAN",
    "ill": "VARCHAR",
}


def rows() -> list[tuple[Any, ...]]:
    """30 rows that stay and two that are left out, because their `gate` is NULL."""
    found: list[tuple[Any, ...]] = []
    for i in range(32):
        lost = i in (4, 20)
        town = LOST if lost else ["Ulm", "Bonn", "Kiel"][i % 3]
        born = LOST_DAY if lost else dt.date(1980, 1, 1) + dt.timedelta(days=i)
        ill = LOST_ILL if lost else ["flu", "cold", "acne", "gout"][i % 4]
        found.append((KEY + i, f"{NAME} {i}", f"{DROPPED} {i}", town, born,
                      None if lost else i % 2, i % 5 == 0, ill))  # fmt: skip
    return found


def columns(algorithm: str) -> dict[str, Any]:
    town: dict[str, Any] = {"role": "quasi"}
    if algorithm == "lgb":
        town |= {"sensitive_when": "hide", "protect": {"l_diversity": 2}}
    return {
        "key": "identifier",
        "name": "identifier",
        "remark": "drop",
        "town": town,
        "born": "quasi",
        "gate": {"role": "quasi", "nulls": "suppress"},
        "hide": "drop",
        "ill": {"role": "sensitive", "protect": {"l_diversity": 2}},
    }


def scan(path: Path, marks: tuple[str, ...]) -> list[str]:
    """Marks that stand in a file, as text in the encodings a file may hold them in."""
    data = path.read_bytes()
    return [m for m in marks if m.encode() in data or m.encode("utf-16-le") in data]


def job(folder: Path, algorithm: str, cells: str, **publish: Any) -> tuple[Any, Path]:
    database = source(folder, TYPES, rows())
    given = policy(
        folder,
        columns(algorithm),
        key="key",
        algorithm={"name": algorithm},
        suppression_limit=0.1,
        publish={"cells": cells, **publish},
    )
    return given, database


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "cells"), [("mondrian", "typed"), ("lgb", "text")])
def test_raw_leak(tmp_path: Path, algorithm: str, cells: str) -> None:
    given, database = job(tmp_path, algorithm, cells)
    release = run(given, database, seed=SECRET)
    assert release.measures["suppressed"] == 2
    export(given, tmp_path / "out.csv")
    export(given, tmp_path / "out.parquet")
    marks = (*MARKS, str(LOST_DAY), SECRET, SECRET.upper())
    left = sorted(path for path in tmp_path.iterdir() if path != database)
    assert len(left) == 6
    for path in left:
        assert scan(path, marks) == [], path.name
        assert bytes.fromhex(SECRET) not in path.read_bytes()
    assert scan(tmp_path / "release.duckdb", ("Ulm", "acne")) == ["Ulm", "acne"], "scan can find"
    with duckdb.connect(str(release.database), read_only=True) as connection:
        views = fetch(connection, "select sql from duckdb_views() where not internal")
        tables = fetch(connection, "select schema_name as s, table_name as t from duckdb_tables()")
        frozen = [fetch(connection, f'from "{table["s"]}"."{table["t"]}"') for table in tables]
        shown = json.dumps(frozen, default=str)
        types = json.dumps(fetch(connection, "select * from duckdb_columns()"), default=str)
    assert not [mark for mark in marks if mark in json.dumps(views) + shown + types]
    assert len(tables) == 3


@pytest.mark.slow
def test_a_manifest_tells_no_value_and_no_end_of_a_domain(tmp_path: Path) -> None:
    given, database = job(tmp_path, "mondrian", "text")
    release = run(given, database)
    text = (tmp_path / "people_anonymous.manifest.json").read_text()
    published = {"Ulm", "Bonn", "Kiel", "flu", "cold", "acne", "gout", "1980-01-01", "1980-02-01"}
    assert not [value for value in published if f'"{value}"' in text or f"'{value}'" in text]
    assert not [day for day in ("1980-01-01", "1980-02-01") if day in text]
    assert release.run_id in text


@pytest.mark.slow
@pytest.mark.parametrize("place", ["file", "beside"])
def test_the_secret_stands_nowhere(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in what is published, in the plan, in an error, nor in what the listener sees."""
    monkeypatch.setenv("ANONYMIZER_TMPDIR", str(tmp_path))
    publish: dict[str, Any] = {} if place == "file" else {"database": None}
    given, database = job(tmp_path, "lgb", "text", **publish)
    seen: list[Any] = []
    release = run(given, database, seed=SECRET, listener=seen.append)
    said = "".join(event.step.statement().text for event in seen) + repr(seen)
    assert SECRET not in said + repr(release) + json.dumps(release.as_dict(), default=str)
    assert SECRET not in anonymizer.plan(given, database).sql()
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or scan(path, (SECRET,)) == []
    too_much = policy(tmp_path, columns("lgb"), k=33, key="key", algorithm={"name": "lgb"},
                      suppression_limit=0.1)  # fmt: skip
    with pytest.raises(anonymizer.AnonymizerError) as caught:
        run(too_much, database, seed=SECRET)
    assert SECRET not in repr(caught.value)


@pytest.mark.slow
def test_a_secret_in_the_environment_is_used_and_told_by_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, database = job(tmp_path, "mondrian", "text")
    by_argument = run(given, database, seed=SECRET).df().to_csv()
    monkeypatch.setenv("ANONYMIZER_SEED", SECRET)
    release = run(given, database, seed=None)
    assert release.df().to_csv() == by_argument
    assert scan(tmp_path / "people_anonymous.manifest.json", (SECRET,)) == []


@pytest.mark.slow
def test_old_releases_leave_no_bytes_in_the_new_file(tmp_path: Path) -> None:
    """What the first release showed and the second does not is gone from the file."""
    given, database = job(tmp_path, "mondrian", "text")
    run(given, database)
    with duckdb.connect(str(database)) as connection:
        connection.execute("update people set ill = 'hives' where ill = 'gout'")
    run(given, database)
    assert scan(tmp_path / "release.duckdb", ("gout",)) == []
    assert scan(tmp_path / "release.duckdb", ("hives",)) == ["hives"]
