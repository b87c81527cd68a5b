"""Names and values made to break out of SQL pass through every path as the names they are."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.publish.export import export
from tests.runs import fetch, policy, published, run, source
from tests.selection import few, some

NASTY = [
    "'; drop table people; --",
    '"; drop table people; --',
    '" or 1=1 --',
    "select",
    "with space",
    "größe ü 日本",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "$secret",
    "?",
    "/* open",
    "a\tb\nc",
    "q1",
    "class",
    "%s%(x)s",
    "\\",
]
TABLE = 'people\'; "drop" table x; --'


def columns(local: bool) -> dict[str, Any]:
    """Every nasty name once, in all the roles that there are."""
    names = iter(NASTY)
    found: dict[str, Any] = {next(names): "identifier", next(names): "drop"}
    semi, flag = next(names), next(names)
    found[flag] = "drop"
    found[semi] = {"role": "quasi"}
    if local:
        found[semi] |= {"sensitive_when": flag, "protect": {"l_diversity": 2}}
    found[next(names)] = {"role": "quasi", "hierarchy": {"builder": "prefix"}}
    for _ in range(4):
        found[next(names)] = "quasi"
    sensitive = {"role": "sensitive", "protect": {"l_diversity": 2}}
    found[next(names)] = sensitive
    for name in names:
        found[name] = {"role": "keep", "acknowledge_unique": True}
    for name, column in found.items():
        if column not in ("identifier", "drop"):  # all columns hold the same values
            given = {"role": column} if isinstance(column, str) else column
            found[name] = {**given, "acknowledge": ["identifier_value"]}
    return found


def table(folder: Path) -> Path:
    described = columns(local=True)
    types = dict.fromkeys(described, "VARCHAR")
    for column in described.values():
        if isinstance(column, dict) and "sensitive_when" in column:
            types[column["sensitive_when"]] = "BOOLEAN"
    rows = []
    for i in range(24):
        row: list[Any] = []
        for at, kind in enumerate(types.values()):
            flag = kind == "BOOLEAN"
            row.append(i % 4 == 0 if flag else NASTY[(i * (at + 1) + i // 4) % len(NASTY)])
        rows.append(row)
    return source(folder, types, rows, TABLE)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@some(1)
@pytest.mark.parametrize(
    ("algorithm", "cells"),
    few([("mondrian", "text"), ("lgb", "typed"), ("lgb ncp", "text")], 2),
)
def test_injection(tmp_path: Path, algorithm: str, cells: str) -> None:
    database = table(tmp_path)
    before = database.read_bytes()
    name, _, generalization = algorithm.partition(" ")
    described = columns(local=name == "lgb")
    options = {"name": name} | ({"generalization": generalization} if generalization else {})
    given = policy(
        tmp_path,
        described,
        source={"table": quoted(TABLE)},
        algorithm=options,
        publish={
            "name": 'out"; drop view x; --',
            "schema": "it's a schema",
            "database": 're\'lease "1".duckdb',
            "cells": cells,
        },
    )
    plan = anonymizer.plan(given, database)
    assert plan.sql().count("$secret") >= 1
    release = run(given, database)
    assert release.verification.passed
    assert database.read_bytes() == before
    rows = published(release)
    assert len(rows) == 24
    kept = [c for c, d in described.items() if isinstance(d, dict) and d["role"] == "keep"]
    with duckdb.connect(str(database), read_only=True) as connection:
        originals = fetch(connection, f"from {quoted(TABLE)}")
    for column in kept:
        assert sorted(row[column] for row in rows) == sorted(row[column] for row in originals)
    assert anonymizer.verify(given).passed
    assert anonymizer.verify(None, release.database).passed
    manifest = json.loads(next(tmp_path.glob("*.manifest.json")).read_text())
    assert manifest["view"] == "it's a schema.out\"; drop view x; --"
    made = export(given, tmp_path / "it's out.csv")
    with made.files[0].path.open(newline="") as file:
        exported = list(csv.reader(file))
    assert exported[0] == list(rows[0])
    assert len(exported) == 25
    parquet = export(given, tmp_path / 'o"ut.parquet').files[0].path
    literal = str(parquet).replace("'", "''")
    with duckdb.connect() as connection:
        assert fetch(connection, f"from read_parquet('{literal}')") == rows


def test_a_macro_of_the_source_shadows_no_function(tmp_path: Path) -> None:
    """A macro named like a function that conditions and templates call is not found."""
    types = {"age": "INTEGER", "sex": "VARCHAR", "ill": "VARCHAR"}
    rows = [(20 + i, "mf"[i % 2], "abc"[i % 3]) for i in range(12)]
    database = source(tmp_path, types, rows)
    with duckdb.connect(str(database)) as connection:
        for name in ("lower(x)", "md5_number(x)", "concat(x, y)", "row_number()", "coalesce2(x)"):
            connection.execute(f"create macro {name} as error('shadowed')")
        connection.execute("create macro upper(x) as 'M'")
    described: dict[str, Any] = {
        "age": {
            "role": "quasi",
            "sensitive_when": "upper(sex) = 'F'",
            "protect": {"l_diversity": 2},
        },
        "sex": "quasi",
        "ill": {"role": "sensitive", "protect": {"l_diversity": 2}},
    }
    release = run(policy(tmp_path, described, algorithm={"name": "lgb"}), database)
    assert sum(row["age_bucket"] is not None for row in published(release)) == 6
