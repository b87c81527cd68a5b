"""What leaves is what was verified: every type in every format, exactly or by the stated rule."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer import Policy
from anonymizer.api import rows_of
from anonymizer.compile import lit
from anonymizer.errors import SourceError, TargetError
from anonymizer.independent.judge import judge
from anonymizer.publish.export import export
from anonymizer.release import formats
from anonymizer.release.published import Release
from tests import runs
from tests.selection import some

HUGE, TWICE = "170141183460469231731687303715884105727", "340282366920938463463374607431768211455"
NINES = "9" * 38
DOUBLES = ("nan", "inf", "-inf", "-0.0", "0.1", "5e-324", "1.7976931348623157e308")
TEXTS = (
    "",
    "NULL",
    "null",
    "\\N",
    " x ",
    "a,b",
    'a"b',
    "a\nb",
    "a\r\nb",
    "\t",
    "é😀",
    "007",
    "#",
    "-",
)
BC = "0044-03-15 (BC)"
MIDNIGHT = f"{BC} 01:02:03"
VALUES: dict[str, tuple[str, ...]] = {
    "BOOLEAN": ("true", "false"),
    "TINYINT": ("-128", "127"),
    "SMALLINT": ("-32768",),
    "INTEGER": ("-2147483648",),
    "BIGINT": ("-9223372036854775808", "9223372036854775807"),
    "HUGEINT": (HUGE, f"-{HUGE}", "18446744073709551611"),
    "HUGEINT of 38 digits": (NINES, f"-{NINES}"),
    "HUGEINT of 64 bits": ("9223372036854775807", "-5"),
    "UTINYINT": ("255",),
    "USMALLINT": ("65535",),
    "UINTEGER": ("4294967295",),
    "UBIGINT": ("18446744073709551615",),
    "UHUGEINT": (TWICE, "5"),
    "UHUGEINT of 38 digits": (NINES, "0"),
    "FLOAT": ("nan", "inf", "-0.0", "0.1", "1e-45", "16777216"),
    "DOUBLE": DOUBLES,
    "DOUBLE of numbers": ("0.1", "-0.0", "inf"),
    "DECIMAL(4,1)": ("999.9", "-0.1"),
    "DECIMAL(9,2)": ("1234567.89",),
    "DECIMAL(18,3)": ("123456789012345.678",),
    "DECIMAL(38,10)": ("1234567890123456789012345678.0123456789", "0.1"),
    "DECIMAL(38,2)": ("12345678.91",),
    "DECIMAL(4,4)": (".1234",),
    "VARCHAR": TEXTS,
    "BLOB": ("\\x00\\xFF", "", "NULL"),
    "BIT": ("101", "00000000000"),
    "DATE": ("infinity", "-infinity", "0001-01-01", "12345-01-01"),
    "DATE before Christ": (BC, "1970-01-01"),
    "DATE of common years": ("0001-01-01", "9999-12-31"),
    "TIME": ("00:00:00", "23:59:59.999999"),
    "TIME of a whole day": ("24:00:00", "12:00:00"),
    "TIME WITH TIME ZONE": ("12:00:00+02", "12:00:00.123456-15:59:59"),
    "TIME_NS": ("12:00:00.123456789",),
    "TIMESTAMP": ("infinity", "-infinity", MIDNIGHT),
    "TIMESTAMP of common years": ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"),
    "TIMESTAMP_S": ("2020-01-01 00:00:01", "9999-12-31 23:59:59"),
    "TIMESTAMP_S of all": ("infinity", MIDNIGHT),
    "TIMESTAMP_MS": ("2020-01-01 00:00:01.123", "2020-01-01 00:00:02"),
    "TIMESTAMP_MS of all": ("-infinity", MIDNIGHT),
    "TIMESTAMP_NS": ("2020-01-01 00:00:01.123456789",),
    "TIMESTAMP_NS of all": ("2020-01-01 00:00:01.123456789", "infinity"),
    "TIMESTAMP WITH TIME ZONE": ("2020-01-01 00:00:01.123456+02",),
    "TIMESTAMP WITH TIME ZONE of all": ("infinity", f"{MIDNIGHT}+00"),
    "TIMESTAMPTZ_NS": ("2020-01-01 00:00:01.123456789+00",),
    "INTERVAL": ("1 year 2 months 3 days 04:05:06.123456", "30 days", "1 month", "-1 day"),
    "UUID": ("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
    "ENUM('a', 'b', '')": ("a", ""),
    "JSON": ('{"a": 1}', "null", "1e400"),
    "BIGNUM": ("1" * 60, "-7"),
    "GEOMETRY": ("POINT (0.1 2)",),
}
"""Values of every type that a release can have; what is after ` of ` or ` before ` is no type."""
ROWS = 45
NESTED = (
    "INTEGER[]",
    "INTEGER[2]",
    "STRUCT(a INTEGER)",
    "MAP(VARCHAR, INTEGER)",
    "UNION(a INTEGER, b VARCHAR)",
    "VARIANT",
)
CAST: dict[str, dict[str, str]] = {
    "parquet": {
        "HUGEINT": "VARCHAR",
        "HUGEINT of 38 digits": "DECIMAL(38,0)",
        "HUGEINT of 64 bits": "DECIMAL(38,0)",
        "UHUGEINT": "VARCHAR",
        "UHUGEINT of 38 digits": "DECIMAL(38,0)",
        "BIT": "VARCHAR",
        "DATE": "VARCHAR",
        "TIME WITH TIME ZONE": "VARCHAR",
        "TIMESTAMP": "VARCHAR",
        "TIMESTAMP_S": "TIMESTAMP",
        "TIMESTAMP_S of all": "VARCHAR",
        "TIMESTAMP_MS": "TIMESTAMP",
        "TIMESTAMP_MS of all": "VARCHAR",
        "TIMESTAMP_NS of all": "VARCHAR",
        "TIMESTAMP WITH TIME ZONE of all": "VARCHAR",
        "INTERVAL": "VARCHAR",
        "BIGNUM": "VARCHAR",
        "GEOMETRY": "VARCHAR",
    }
}
CAST["arrow"] = CAST["parquet"] | {
    "DATE before Christ": "VARCHAR",
    "TIME of a whole day": "VARCHAR",
    "UUID": "VARCHAR",
    "JSON": "VARCHAR",
}
CAST["polars"] = CAST["arrow"] | {"TIME": "TIME_NS"}
CAST["pandas"] = CAST["arrow"] | {
    "HUGEINT of 38 digits": "VARCHAR",
    "HUGEINT of 64 bits": "BIGINT",
    "UHUGEINT of 38 digits": "VARCHAR",
    "FLOAT": "VARCHAR",
    "DOUBLE": "VARCHAR",
    "DECIMAL(4,1)": "DOUBLE",
    "DECIMAL(9,2)": "DOUBLE",
    "DECIMAL(18,3)": "VARCHAR",
    "DECIMAL(38,10)": "VARCHAR",
    "DECIMAL(38,2)": "DOUBLE",
    "DECIMAL(4,4)": "DOUBLE",
    "DATE of common years": "TIMESTAMP",
    "TIME_NS": "VARCHAR",
    "TIMESTAMPTZ_NS": "VARCHAR",
    "UUID": "UUID",
}
"""The types of a column in a format, where they are others than in the release."""


Made = tuple[Policy, Release]


def sql_type(name: str) -> str:
    return re.split(" of | before ", name, maxsplit=1)[0]


def columns(names: tuple[str, ...]) -> dict[str, str]:
    """The name of the column of each type: `x0`, `x1`, ..."""
    return {name: f"x{i}" for i, name in enumerate(names)}


def made(folder: Path, role: Any, names: tuple[str, ...], cells: str = "text") -> Made:
    """A release with a column for each name: its values and NULL, each in several rows."""
    typed = {column: sql_type(name) for name, column in columns(names).items()}
    with duckdb.connect(str(folder / "source.duckdb")) as connection:
        connection.execute("set TimeZone = 'UTC'")
        listed = ", ".join(f"{column} {kind}" for column, kind in typed.items())
        connection.execute(f"create table people (id integer, age integer, {listed})")
        rows = []
        for i in range(ROWS):
            row = [str(i), str(20 + i % 4)]
            for name in names:
                values = (*VALUES[name], None)
                row.append(lit(values[i % len(values)]).text)
            rows.append(f"({', '.join(row)})")
        connection.execute(f"insert into people values {', '.join(rows)}")
    given = runs.policy(
        folder,
        {"id": "drop", "age": "quasi"} | dict.fromkeys(columns(names).values(), role),
        publish={"cells": cells},
    )
    return given, runs.run(given, folder / "source.duckdb")


Found = dict[str, tuple[str, Counter[Any]]]


def read(connection: duckdb.DuckDBPyConnection, relation: str) -> Found:
    """The type of each column, and its values as texts (of decimals, 0.5 for .5)."""
    described = connection.execute(f"describe from {relation}").fetchall()
    kinds = {name: kind for name, kind, *_ in described}
    found = {}
    for name, column in columns(tuple(VALUES)).items():
        query = f"select cast({column} as varchar) from {relation}"
        texts = [text for (text,) in connection.execute(query).fetchall()]
        texts = [f"0{text}" if text and text[0] == "." else text for text in texts]
        found[name] = kinds[column], Counter(texts)
    return found


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Made:
    role = {"role": "keep", "acknowledge": ["uuid"]}
    return made(tmp_path_factory.mktemp("kept"), role, tuple(VALUES))


@pytest.fixture(scope="module")
def files(kept: Made, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("files")
    found = {suffix: folder / f"out.{suffix}" for suffix in ("parquet", "csv")}
    for file in found.values():
        export(kept[0], file)
    return found


FRAMES = [pytest.param(name, marks=pytest.mark.notebook) for name in ("arrow", "polars")]


@pytest.mark.parametrize("form", ["parquet", "csv", *FRAMES, "pandas"])
def test_every_type_leaves_exactly_or_by_the_rule(
    kept: Made, files: dict[str, Path], form: str
) -> None:
    with kept[1]._reading() as (connection, view):
        there = read(connection, view)
    with duckdb.connect() as reader:
        reader.execute("set TimeZone = 'UTC'")
        if form in files:
            options = ", all_varchar = true, allow_quoted_nulls = false" if form == "csv" else ""
            found = read(reader, f"read_{form}({lit(str(files[form]))}{options})")
        else:
            reader.register("frame", rows_of(kept[1], form))
            found = read(reader, "frame")
    wanted = {}
    for name, (kind, texts) in there.items():
        stated = "VARCHAR" if form == "csv" else CAST[form].get(name, kind)
        if (kind, stated) == ("DATE", "TIMESTAMP"):
            texts = Counter({text and f"{text} 00:00:00": n for text, n in texts.items()})
        wanted[name] = stated, texts
    assert found == wanted


def test_the_manifest_tells_what_was_cast(files: dict[str, Path]) -> None:
    data = json.loads(Path(f"{files['parquet']}.manifest.json").read_text())
    (listed,) = data["export"]["files"]
    named = columns(tuple(VALUES))
    assert listed["types"] == {named[name]: kind for name, kind in CAST["parquet"].items()}


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_second_verifier_accepts_what_leaves(files: dict[str, Path], form: str) -> None:
    judged = judge(files[form])
    assert judged.passed, [check for check in judged.checks if not check.passed]


GENERALIZED = (
    "HUGEINT",
    "HUGEINT of 38 digits",
    "UHUGEINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(38,10)",
    "TIME of a whole day",
    "TIMESTAMP_S",
    "TIMESTAMP_S of all",
    "TIMESTAMP_MS",
    "DATE of common years",
    "VARCHAR",
)


@some(6, 8)
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("name", GENERALIZED)
@pytest.mark.parametrize("role", ["sensitive", "list"])
def test_what_is_judged_is_judged_of_the_file(
    tmp_path: Path, role: str, name: str, suffix: str
) -> None:
    protected = {"role": "sensitive", "protect": {"l_diversity": 2}}
    column = protected if role == "sensitive" else {"role": "quasi", "kind": "categorical"}
    cells = "typed" if role == "list" else "text"
    given, release = made(tmp_path, column, (name,), cells)
    assert release.verification.passed
    done = export(given, tmp_path / f"out.{suffix}")
    assert done.files[0].rows == ROWS
    judged = judge(tmp_path / f"out.{suffix}")
    assert judged.passed, [check for check in judged.checks if not check.passed]
    assert json.loads((tmp_path / f"out.{suffix}.manifest.json").read_text())["export"]["files"]


@pytest.mark.parametrize("kind", NESTED)
def test_a_nested_type_is_in_no_release(tmp_path: Path, kind: str) -> None:
    with duckdb.connect(str(tmp_path / "source.duckdb")) as connection:
        connection.execute("create table people (age integer)")
        connection.execute(f"alter table people add column x {kind}")
        connection.execute("insert into people (age) select i % 4 from range(20) t(i)")
    given = runs.policy(tmp_path, {"age": "quasi", "x": "keep"})
    with pytest.raises(SourceError, match=r"columns\.x: has a type that cannot be published"):
        runs.run(given, tmp_path / "source.duckdb")


@pytest.mark.parametrize("name", ["HUGEINT", "TIME WITH TIME ZONE"])
def test_a_file_that_differs_from_the_release_does_not_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The engine makes doubles of the one, and moves the other to UTC, and says nothing."""
    given, _ = made(tmp_path, "keep", (name,))
    monkeypatch.setitem(formats.RULES, "parquet", (formats._Rule(".*"),))
    there = set(tmp_path.iterdir())
    with pytest.raises(TargetError, match="does not hold the rows of the release"):
        export(given, tmp_path / "out.parquet")
    assert set(tmp_path.iterdir()) == there


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_long_text_leaves(tmp_path: Path, suffix: str) -> None:
    """Longer than the lines that the engine reads unasked."""
    rows = [(20 + i % 4, "a, b\n" * (500_000 if i == 7 else 1)) for i in range(20)]
    given = runs.policy(tmp_path, {"age": "quasi", "note": "keep"})
    runs.run(given, runs.source(tmp_path, {"age": "INTEGER", "note": "VARCHAR"}, rows))
    export(given, tmp_path / f"out.{suffix}")
    assert judge(tmp_path / f"out.{suffix}").passed
