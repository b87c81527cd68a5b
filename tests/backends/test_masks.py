"""Masks on other engines: the values of DuckDB, for the same data, seed and key files."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.engines.spark.connection import SparkEngine
from anonymizer.engines.spark.dialect import DIALECT
from anonymizer.errors import SourceError
from tests.backends.tables import load
from tests.masking.runs import KEPT, key_file
from tests.masking.values import column, extremes, table
from tests.runs import THRIFTY, fetch, policy
from tests.selection import some

SIZE = 300
KEY = bytes(range(9, 233, 7))
"""A key with letters and digits in hexadecimal."""
OPEN = {"acknowledge_unique": True}
WHOLE = ("SMALLINT", "INTEGER", "BIGINT")
REALS = ("FLOAT", "DOUBLE")
DECIMALS = ("DECIMAL(9,2)", "DECIMAL(18,3)", "DECIMAL(18,18)")
DATES = ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")
ALL = (*WHOLE, *REALS, *DECIMALS, *DATES, "VARCHAR", "BOOLEAN", "UUID")
CASES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "tokens": (ALL, {"role": "token", "key_file": "tokens.key"}),
    "tokens of the run": (ALL, {"role": "token"}),
    "uuids": (ALL, {"role": "token", "format": "uuid", "key_file": "tokens.key"}),
    "numbers": (ALL, {"role": "token", "format": "number", "key_file": "tokens.key"}),
    "shifts": (DATES, {"role": "shift", "within": 30}),
    "weeks": (DATES, {"role": "shift", "within": "8 weeks", "keep": ["weekday"]}),
    "top codes": ((*WHOLE, *REALS, "DECIMAL(9,2)"), {"role": "top_code", "at": 37, **OPEN}),
    "bottom codes": (DATES, {"role": "bottom_code", "at": "1990-01-01", **OPEN}),
    "found codes": ((*WHOLE, *DECIMALS, "DATE"), {"role": "top_code", "at_least": 5, **OPEN}),
    "nearest": (WHOLE, {"role": "round", "to": 50, **OPEN}),
    "down": (
        ("DECIMAL(9,2)", "DECIMAL(18,3)"),
        {"role": "round", "to": 0.05, "method": "down", **OPEN},
    ),
    "random": ((*WHOLE, *REALS), {"role": "round", "to": 10, "method": "random", **OPEN}),
    "reals": (REALS, {"role": "round", "to": 0.1, **OPEN}),
    **{
        unit: (DATES, {"role": "round", "to": unit, **OPEN}) for unit in ("year", "quarter", "week")
    },
    "noise": ((*WHOLE, *REALS, "DECIMAL(9,2)"), {"role": "noise", "amount": 3, **OPEN}),
    "shares": (
        ("SMALLINT", "INTEGER", *REALS, "DECIMAL(9,2)"),
        {"role": "noise", "share": 0.1, **OPEN},
    ),
    "between": (("INTEGER", "DOUBLE"), {"role": "noise", "amount": 30, "between": [-100, 100]}),
    "text": (("VARCHAR",), {"role": "redact", **OPEN}),
    "null": (ALL, {"role": "null"}),
    "constant": (ALL, {"role": "constant", "value": "removed"}),
    "a number": (ALL, {"role": "constant", "value": 7}),
}
NOTES = [
    "write to ann.lee@example.org, or x@y.zz",
    "ü 192.168.0.17,192.168.0.18,192.168.0.19",
    "card 4111 1111 1111 1111; IBAN DE89370400440532013000",
    "Tel. +49 30 901820, phone: 030 1234567\nhttps://example.org/x y",
    "nothing, '\\1' and \"2\" 🙂",
    "",
]


Cases = Mapping[str, tuple[tuple[str, ...], dict[str, Any]]]


def values_of(kind: str, dice: Random, engine: str) -> list[Any]:
    if kind == "VARCHAR":
        return [dice.choice([None, *NOTES]) for _ in range(SIZE)]
    values = column(kind, SIZE, dice)
    if kind in DATES:
        # Python knows no date to which the first and last ones are shifted
        return [None if one in extremes(kind) else one for one in values]
    if kind in REALS and engine == "postgres":
        # Postgres refuses results that are too small or too large for a double
        return [0.5 if one and not math.isinf(one) and beyond(one) else one for one in values]
    return values


def beyond(number: float) -> bool:
    return not 1e-30 <= abs(number) <= 1e30 and not math.isnan(number)


@dataclass(frozen=True)
class Masked:
    """A table with columns under the masks of some cases, and the policy over it."""

    folder: Path
    columns: dict[str, tuple[str, list[Any]]]
    roles: dict[str, Any]
    rest: dict[str, Any] = field(default_factory=lambda: {"person": "who"})

    @classmethod
    def of(cls, folder: Path, cases: Cases, engine: str) -> Masked:
        columns: dict[str, tuple[str, list[Any]]] = {
            "id": ("INTEGER", list(range(SIZE))),
            "q": ("INTEGER", [n % 30 % 3 for n in range(SIZE)]),
            "who": ("VARCHAR", [f"p{n % 30}" for n in range(SIZE)]),
        }
        roles: dict[str, Any] = {"id": KEPT, "q": "quasi", "who": "drop"}
        for kinds, role in cases.values():
            # (equal values in several columns under one key have equal tokens)
            dice = Random(81)
            for kind in kinds:
                name = f"m{len(columns)}"
                columns[name] = (kind, values_of(kind, dice, engine))
                roles[name] = role
        key_file(folder, key=KEY)
        return cls(folder, columns, roles)

    @property
    def masked(self) -> list[str]:
        """The key, and the columns that are published in its order."""
        hidden = ("quasi", "drop", "identifier")
        return [name for name, role in self.roles.items() if role not in hidden]

    def policy(self, database: str | None, **rest: Any) -> Policy:
        publish = {"name": "masked", "database": database}
        return policy(self.folder, self.roles, publish=publish, **self.rest, **rest)

    def in_duckdb(self) -> list[tuple[Any, ...]]:
        given = self.policy("release.duckdb")
        anonymizer.run(given, table(self.folder, self.columns), seed=5, limits=THRIFTY)
        assert anonymizer.verify(given).passed
        return shown(self.folder / "release.duckdb", "", self.masked)

    def in_postgres(self, address: str) -> list[tuple[Any, ...]]:
        rows = list(zip(*(values for _, values in self.columns.values()), strict=True))
        load(address, {name: kind for name, (kind, _) in self.columns.items()}, rows, "people")
        given = self.policy(None)
        release = anonymizer.run(given, address, seed=5)
        assert anonymizer.verify(given, address).passed
        return shown(None, address, self.masked, release.view)

    def in_parquet(self) -> None:
        """Write the rows of DuckDB's table to a file, which Spark reads."""
        with duckdb.connect(str(table(self.folder, self.columns)), read_only=True) as connection:
            connection.execute(f"copy people to '{self.folder}/people.parquet' (format parquet)")

    def in_spark(self, spark: Any) -> list[tuple[Any, ...]]:
        self.in_parquet()
        given = self.policy("released", source={"file": "people.parquet"})
        release = anonymizer.run(given, spark, seed=5)
        assert release.verification.passed
        assert anonymizer.verify(given, engine="spark").passed
        return from_files(self.folder / "released" / "masked.parquet", self.masked)


def from_files(release: Path, names: list[str]) -> list[tuple[Any, ...]]:
    """The published columns of a folder of Parquet files, as `shown` gives them."""
    listed = ", ".join(f'"{name}"' for name in names)
    with duckdb.connect() as connection:
        connection.execute("set TimeZone = 'UTC'")
        rows = fetch(connection, f"select {listed} from '{release}/*.parquet' order by {listed}")
    return [tuple(map(plain, row.values())) for row in rows]


def shown(
    file: Path | None, address: str, names: list[str], view: str = ""
) -> list[tuple[Any, ...]]:
    """The published columns in the order of the rows of the source; instants in UTC."""
    listed = ", ".join(f'"{name}"' for name in names)
    if file is None:
        import psycopg

        with psycopg.connect(address, options="-c timezone=UTC") as connection:
            rows = connection.execute(f"select {listed} from {view} order by {listed}").fetchall()
    else:
        rows = [tuple(row.values()) for row in fetch_file(file, listed)]
    return [tuple(map(plain, row)) for row in rows]


def fetch_file(file: Path, listed: str) -> list[dict[str, Any]]:
    with duckdb.connect(str(file), read_only=True) as connection:
        connection.execute("set TimeZone = 'UTC'")
        return fetch(connection, f"select {listed} from masked order by {listed}")


def plain(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, dt.datetime) else value


def alike(one: Any, other: Any, kind: str) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        both_nan = math.isnan(one) and math.isnan(other)
        return both_nan or math.isclose(one, other, rel_tol=1e-6 if kind == "FLOAT" else 1e-9)
    return bool(one == other)


@some(4)
@pytest.mark.postgres
@pytest.mark.parametrize("case", CASES)
def test_masks_are_the_same(postgres: str, tmp_path: Path, case: str) -> None:
    made = Masked.of(tmp_path, {case: CASES[case]}, "postgres")
    here, there = made.in_duckdb(), made.in_postgres(postgres)
    assert len(here) == len(there) == SIZE
    for place, name in enumerate(made.masked):
        kind, _ = made.columns[name]
        pairs = [(a[place], b[place]) for a, b in zip(here, there, strict=True)]
        odd = [pair for pair in pairs if not alike(*pair, kind)]
        assert not odd, (kind, odd[:3])


on_spark = pytest.mark.parametrize("rows_up_to", [0, 1000], ids=["rows on Spark", "few rows"])
GROUPS = {
    "tokens": ("tokens", "tokens of the run", "uuids", "numbers"),
    "dates": ("shifts", "bottom codes", "year", "quarter", "week"),
    "numbers": ("top codes", "found codes", "nearest", "down", "random", "reals"),
    "noise": ("weeks", "noise", "shares", "between"),
    "others": ("text", "null", "constant", "a number"),
}
"""The cases by the tables in which Spark has them: a run takes seconds, a column hardly any."""
NOT_IN_FILES = ("UUID",)
"""Types that Spark does not read from files."""
LIKE_TOKENS = ("tokens of the run", "uuids", "numbers")
"""Cases whose texts are those of the tokens, which take seconds each on Spark."""


def of_spark(case: str) -> tuple[tuple[str, ...], dict[str, Any]]:
    kinds, role = CASES[case]
    few = ("BIGINT", "VARCHAR") if case in LIKE_TOKENS else kinds
    return tuple(kind for kind in few if kind not in NOT_IN_FILES), role


@some(4)
@pytest.mark.spark
@on_spark
@pytest.mark.parametrize("group", GROUPS)
def test_masks_are_the_same_on_spark(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_up_to: int, group: str
) -> None:
    monkeypatch.setattr("anonymizer.engines.spark.connection.ROWS_UP_TO", rows_up_to)
    made = Masked.of(tmp_path, {name: of_spark(name) for name in GROUPS[group]}, "spark")
    here, there = made.in_duckdb(), made.in_spark(spark)
    assert len(here) == len(there) == SIZE
    for place, name in enumerate(made.masked):
        pairs = [(a[place], b[place]) for a, b in zip(here, there, strict=True)]
        # (as text: the sign of a zero counts, and no number is the same as itself)
        odd = [pair for pair in pairs if repr(pair[0]) != repr(pair[1])]
        assert not odd, (made.columns[name][0], made.roles[name], odd[:3])


def test_every_case_is_in_a_group() -> None:
    assert sorted(CASES) == sorted(case for cases in GROUPS.values() for case in cases)


NAMES = ["Anna Möller", "Jose\u0301 Ñandú", "李小龙", "O'Neil", "a.b [c]*", "ΣΊΣΥΦΟΣ", None]
NAMES += ["Quist-Ury,  Zoë Ida, MD", "Uwe Zweig"]
TOLD = [
    "Frau ANNA MÖLLER and Anna möller; Mo\u0308ller alone",
    "saw José N\u0303andu\u0301, 患者李小龙说",
    "o’neil; a.b [c]*; 70007, and +49 30 901820",
    "Σίσυφος",
    "",
    None,
    "Zoë Ida Quist-Ury; Zweig, Uwe",
]


def with_names(folder: Path) -> Masked:
    """Texts with values of a column of text and one of numbers, written in several ways."""
    columns: dict[str, tuple[str, list[Any]]] = {
        "id": ("INTEGER", list(range(SIZE))),
        "q": ("INTEGER", [n % 3 for n in range(SIZE)]),
        "name": ("VARCHAR", [NAMES[n % len(NAMES)] for n in range(SIZE)]),
        "member": ("INTEGER", [70000 + n for n in range(SIZE)]),
        "note": ("VARCHAR", [TOLD[n % len(TOLD)] for n in range(SIZE)]),
    }
    roles: dict[str, Any] = {
        "id": KEPT,
        "q": "quasi",
        "name": "identifier",
        "member": "identifier",
        "note": "redact",
    }
    return Masked(folder, columns, roles, {})


def check_names(here: list[tuple[Any, ...]], there: list[tuple[Any, ...]]) -> None:
    assert here == there
    assert there[2][1] == "[name]; [name]]*; [member], and [phone]"
    assert there[1][1] == "saw [name], 患者[name]说"
    assert there[6][1] == "[name]; [name]"


@pytest.mark.postgres
def test_redacted_names_are_the_same(postgres: str, tmp_path: Path) -> None:
    made = with_names(tmp_path)
    check_names(made.in_duckdb(), made.in_postgres(postgres))


@pytest.mark.spark
@on_spark
def test_redacted_names_are_the_same_on_spark(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_up_to: int
) -> None:
    monkeypatch.setattr("anonymizer.engines.spark.connection.ROWS_UP_TO", rows_up_to)
    made = with_names(tmp_path)
    check_names(made.in_duckdb(), made.in_spark(spark))
    # and judged from the rows themselves, of which there are too many to be counted
    monkeypatch.setattr("anonymizer.engines.spark.concurrency.ROWS_UP_TO", 0)
    if not rows_up_to:
        made.in_spark(spark)


@pytest.mark.spark
@on_spark
def test_masks_beside_rows_left_out_and_copies(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_up_to: int
) -> None:
    """Codes that depend on the rows left, draws of equal rows, and masks upon masks."""
    monkeypatch.setattr("anonymizer.engines.spark.connection.ROWS_UP_TO", rows_up_to)
    places = [n // 3 for n in range(SIZE)]
    columns: dict[str, tuple[str, list[Any]]] = {
        "q": ("INTEGER", [None if n % 20 == 19 else n % 4 for n in places]),
        "age": ("INTEGER", [n * 7 % 97 for n in places]),
        "pay": ("DECIMAL(9,2)", [Decimal(n * 37 % 9000).scaleb(-2) for n in places]),
        "day": ("DATE", [dt.date(1930, 1, 1) + dt.timedelta(n * 311) for n in places]),
        "far": ("DOUBLE", [float(n * n) / 7 for n in places]),
    }
    roles: dict[str, Any] = {
        "q": {"role": "quasi", "nulls": "suppress"},
        "age": {"role": "quasi", "top_code": 90, "round": 5},
        "pay": {"role": "noise", "amount": 2, **OPEN},
        "day": {"role": "round", "to": "year", "bottom_code": "1936-01-01", **OPEN},
        "far": {"role": "top_code", "at_least": 9, **OPEN},
    }
    made = Masked(tmp_path, columns, roles, {"suppression_limit": 0.5})
    shown = (made.in_duckdb(), made.in_spark(spark))
    here, there = (sorted(map(repr, rows)) for rows in shown)
    assert here == there
    assert len(set(here)) > 200  # (each copy has noise of its own)


@pytest.mark.spark
def test_masks_of_a_release_in_a_catalog_are_verified_on_spark(spark: Any, tmp_path: Path) -> None:
    cases = {name: of_spark(name) for name in CASES if name not in ("tokens", "shifts", "weeks")}
    made = Masked.of(tmp_path, cases, "spark")
    for name, role in made.roles.items():
        if isinstance(role, dict) and role["role"] in ("round", "top_code", "bottom_code"):
            made.roles[name] = {**role, "acknowledge": ["identifier_value"]}
    made.in_parquet()
    given = made.policy(None, source={"file": "people.parquet"})
    release = anonymizer.run(given, spark, seed=5)
    again = anonymizer.verify(given, spark)
    assert again.passed
    checks = {check.name for check in again.checks}
    assert {name for name in checks if name.startswith("mask_")} == {
        "mask_beyond",
        "mask_between",
        "mask_constant",
        "mask_form",
        "mask_group",
        "mask_patterns",
        "mask_rounded",
    }
    assert len(release.df()) == SIZE


@pytest.mark.spark
def test_masks_that_would_differ_are_refused(spark: Any, tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "copy (select i as q, cast(i as decimal(18, 3)) as pay, cast(i as double) as far,"
            f" encode('a') as scan from range(20) t(i)) to '{tmp_path}/odd.parquet'"
        )

    def refused(**roles: Any) -> str:
        columns = {**dict.fromkeys(("q", "pay", "far", "scan"), "drop"), "q": "quasi", **roles}
        publish = {"name": "masked", "database": "released"}
        given = policy(tmp_path, columns, source={"file": "odd.parquet"}, publish=publish)
        with pytest.raises(SourceError) as error:
            anonymizer.run(given, spark, seed=5)
        return str(error.value)

    noise = {"role": "noise", "amount": 30}
    assert "columns.pay: noise on DECIMAL(18,3) would have other last digits" in refused(pay=noise)
    assert "columns.scan: a token of BLOB would be another on Spark" in refused(scan="token")
    assert "columns.scan: BLOB would give a row other random numbers" in refused(far=noise)
    assert not (tmp_path / "released").exists()


@pytest.mark.spark
def test_plans_show_no_key(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonymizer.engines.spark.connection.ROWS_UP_TO", 0)
    plans: list[str] = []
    values: set[str] = set()
    frame_of = SparkEngine._frame

    def observed(self: SparkEngine, translated: str, given: Mapping[str, Any]) -> Any:
        frame = frame_of(self, translated, given)
        plans.append(frame._jdf.queryExecution().toString().lower())
        values.update(given.values())
        return frame

    monkeypatch.setattr(SparkEngine, "_frame", observed)
    tokens = (("VARCHAR",), CASES["tokens"][1])
    noise = (("INTEGER",), CASES["noise"][1])
    Masked.of(tmp_path, {"tokens": tokens, "noise": noise}, "spark").in_spark(spark)
    assert len(values) > 3
    assert any("sha2" in plan for plan in plans)
    assert not [plan for plan in plans if any(value[:64] in plan for value in values)]


@pytest.mark.spark
def test_doubles_have_the_texts_of_duckdb(spark: Any, tmp_path: Path) -> None:
    """Also those of which old versions of Java print too many digits, or not the nearest."""
    dice = Random(3)
    numbers = [2.0**n for n in range(-1074, 1024)]
    numbers += [float(f"{digit}e{n}") for digit in range(1, 10) for n in range(-323, 308, 7)]
    numbers += [10 ** dice.uniform(-30, 30) for _ in range(3000)]
    numbers += [-(10 ** dice.uniform(15, 26)) for _ in range(3000)]
    numbers += [5e-324 * n for n in range(60)] + [math.inf, -math.inf, math.nan]
    file = tmp_path / "numbers.parquet"
    with duckdb.connect() as connection:
        connection.execute("create table numbers as select unnest(?::double[]) as x", [numbers])
        connection.execute(f"copy numbers to '{file}' (format parquet)")
        expected = connection.execute("select x::varchar from numbers").fetchall()
    spark.read.parquet(str(file)).createOrReplaceTempView("numbers")
    (text,) = DIALECT.translate("select cast(cast(x as double) as varchar) from numbers")
    found = spark.sql(text).collect()
    spark.catalog.dropTempView("numbers")
    assert sorted(row[0] for row in found) == sorted(row[0] for row in expected)
