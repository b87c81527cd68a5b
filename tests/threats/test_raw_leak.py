"""Nothing raw leaves: markers in what is not published are looked for in every byte that is."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from tests.runs import policy, run, source

NAME = "Wilhelmina-Identifier"
KEY = 77_123_456_789
DROPPED = "dropped-remark-zq"
LOST = "Suppressed-Town"
LOST_ILL = "suppressed-illness-xk"
LOST_DAY = dt.date(1903, 7, 19)
SECRET = "5ec7e7" + "0123456789abcdef" * 3 + "0123456789"
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
def test_old_releases_leave_no_bytes_in_the_new_file(tmp_path: Path) -> None:
    """What the first release showed and the second does not is gone from the file."""
    given, database = job(tmp_path, "mondrian", "text")
    run(given, database)
    with duckdb.connect(str(database)) as connection:
        connection.execute("update people set ill = 'hives' where ill = 'gout'")
    run(given, database)
    assert scan(tmp_path / "release.duckdb", ("gout",)) == []
    assert scan(tmp_path / "release.duckdb", ("hives",)) == ["hives"]
