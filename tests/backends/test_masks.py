"""Masks on Postgres: the same values as on DuckDB, for the same data, seed and key files."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

import anonymizer
from tests.backends.tables import load
from tests.masking.runs import KEPT, key_file
from tests.masking.values import column, extremes, table
from tests.runs import THRIFTY, fetch, policy
from tests.selection import some

pytestmark = pytest.mark.postgres

SIZE = 300
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


def values_of(kind: str, dice: Random, size: int = SIZE) -> list[Any]:
    if kind == "VARCHAR":
        return [dice.choice([None, *NOTES]) for _ in range(size)]
    values = column(kind, size, dice)
    if kind in DATES:
        # Python knows no date to which the first and last ones are shifted
        return [None if one in extremes(kind) else one for one in values]
    if kind in REALS:
        # Postgres refuses results that are too small or too large for a double
        return [0.5 if one and not math.isinf(one) and beyond(one) else one for one in values]
    return values


def beyond(number: float) -> bool:
    return not 1e-30 <= abs(number) <= 1e30 and not math.isnan(number)


def columns_of(kinds: tuple[str, ...], dice: Random) -> dict[str, tuple[str, list[Any]]]:
    made = {f"m{n}": (kind, values_of(kind, dice)) for n, kind in enumerate(kinds)}
    return {
        "id": ("INTEGER", list(range(SIZE))),
        "q": ("INTEGER", [n % 30 % 3 for n in range(SIZE)]),
        "who": ("VARCHAR", [f"p{n % 30}" for n in range(SIZE)]),
        **made,
    }


def both(
    folder: Path, address: str, kinds: tuple[str, ...], role: Mapping[str, Any], **rest: Any
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The published rows on DuckDB and on Postgres, by `id`, after both verified them."""
    columns = columns_of(kinds, Random(81))
    key_file(folder, key=b"k" * 32)
    roles = {"id": KEPT, "q": "quasi", "who": "drop"}
    roles |= {name: role for name in columns if name.startswith("m")}
    here = policy(folder, roles, person="who", publish={"name": "masked"}, **rest)
    anonymizer.run(here, table(folder, columns), seed=5, limits=THRIFTY)
    assert anonymizer.verify(here).passed
    rows = list(zip(*(values for _, values in columns.values()), strict=True))
    load(address, {name: kind for name, (kind, _) in columns.items()}, rows, "people")
    there = policy(
        folder, roles, person="who", publish={"name": "masked", "database": None}, **rest
    )
    release = anonymizer.run(there, address, seed=5)
    assert anonymizer.verify(there, address).passed
    names = [name for name in roles if name not in ("q", "who")]
    return shown(folder / "release.duckdb", "", names), shown(None, address, names, release.view)


def shown(
    file: Path | None, address: str, names: list[str], view: str = ""
) -> list[tuple[Any, ...]]:
    """The published columns in the order of the rows of the source; instants in UTC."""
    listed = ", ".join(f'"{name}"' for name in names)
    if file is None:
        import psycopg

        with psycopg.connect(address, options="-c timezone=UTC") as connection:
            rows = connection.execute(f"select {listed} from {view} order by id").fetchall()
    else:
        rows = [tuple(row.values()) for row in fetch_file(file, listed)]
    return [tuple(map(plain, row)) for row in rows]


def fetch_file(file: Path, listed: str) -> list[dict[str, Any]]:
    with duckdb.connect(str(file), read_only=True) as connection:
        connection.execute("set TimeZone = 'UTC'")
        return fetch(connection, f"select {listed} from masked order by id")


def plain(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, dt.datetime) else value


def alike(one: Any, other: Any, kind: str) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        both_nan = math.isnan(one) and math.isnan(other)
        return both_nan or math.isclose(one, other, rel_tol=1e-6 if kind == "FLOAT" else 1e-9)
    return bool(one == other)


@some(4)
@pytest.mark.parametrize("case", CASES)
def test_masks_are_the_same(postgres: str, tmp_path: Path, case: str) -> None:
    kinds, role = CASES[case]
    here, there = both(tmp_path, postgres, kinds, role)
    assert len(here) == len(there) == SIZE
    for place, kind in enumerate(kinds, 1):
        pairs = [(a[place], b[place]) for a, b in zip(here, there, strict=True)]
        odd = [pair for pair in pairs if not alike(*pair, kind)]
        assert not odd, (kind, odd[:3])


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


def test_redacted_names_are_the_same(postgres: str, tmp_path: Path) -> None:
    """Values of text and of numbers in texts, written in several ways, on both engines."""
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
    here = policy(tmp_path, roles, publish={"name": "masked"})
    anonymizer.run(here, table(tmp_path, columns), seed=5, limits=THRIFTY)
    rows = list(zip(*(values for _, values in columns.values()), strict=True))
    load(postgres, {name: kind for name, (kind, _) in columns.items()}, rows, "people")
    there = policy(tmp_path, roles, publish={"name": "masked", "database": None})
    release = anonymizer.run(there, postgres, seed=5)
    assert anonymizer.verify(there, postgres).passed
    made = shown(tmp_path / "release.duckdb", "", ["id", "note"])
    assert made == shown(None, postgres, ["id", "note"], release.view)
    assert made[2][1] == "[name]; [name]]*; [member], and [phone]"
    assert made[1][1] == "saw [name], 患者[name]说"
    assert made[6][1] == "[name]; [name]"
