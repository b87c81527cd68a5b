"""Random values of every type, with its extremes, and tables of them."""

from __future__ import annotations

import datetime as dt
import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import duckdb

from anonymizer.compile import lit, quote
from tests.oracle.masks import UTC, Single, text_of

WHOLE = {
    f"{sign}{name}": (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for sign in ("", "U")
    for name, bits in (
        ("TINYINT", 8),
        ("SMALLINT", 16),
        ("INTEGER", 32),
        ("BIGINT", 64),
        ("HUGEINT", 128),
    )
}
"""The ends of every type of whole numbers."""
DECIMALS = {
    f"DECIMAL({digits},{scale})": (digits, scale)
    for digits, scale in ((4, 0), (9, 2), (18, 3), (18, 18), (30, 10), (38, 0), (38, 12), (38, 38))
}
REALS = ("FLOAT", "DOUBLE")
INSTANTS = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE")
DATES = ("DATE", *INSTANTS)
NUMBERS = (*WHOLE, *DECIMALS, *REALS)
ENUM = "ENUM('a', 'B c', 'ß', '')"
TYPES = (*NUMBERS, *DATES, "VARCHAR", "BOOLEAN", "UUID", ENUM)
SIGNS = "abcXYZ0189 .,-'\"\\\n\t%_äßΩжд中文🙂👩‍👩‍👧\u0301\u202e$1[](){}"


def ends(sql_type: str) -> tuple[Decimal | None, Decimal | None]:
    """The smallest and largest value of a type of exact numbers."""
    if sql_type in WHOLE:
        least, most = WHOLE[sql_type]
        return Decimal(least), Decimal(most)
    if sql_type in DECIMALS:
        digits, scale = DECIMALS[sql_type]
        return _exact(1 - 10**digits, scale), _exact(10**digits - 1, scale)
    return None, None


def extremes(sql_type: str) -> list[Any]:
    """Values at the ends of a type, and others that are easily got wrong."""
    if sql_type in WHOLE:
        least, most = WHOLE[sql_type]
        return [least, least + 1, 0, 1, 7, most - 1, most]
    if sql_type in DECIMALS:
        _, scale = DECIMALS[sql_type]
        least_d, most_d = ends(sql_type)
        assert least_d is not None
        assert most_d is not None
        return [least_d, most_d, *(_exact(one, scale) for one in (0, 1, -1))]
    if sql_type in REALS:
        reals = [math.inf, -math.inf, math.nan, 0.0, -0.0, 0.5, 1e-30, 1e30, 16777217.0, 0.1]
        if sql_type == "FLOAT":
            return [Single(one) for one in (*reals, 3.4028234663852886e38)]
        return [*reals, 1.7976931348623157e308, 5e-324, 2.0**52 + 1, 2.0**53 + 2, 1e22]
    if sql_type == "DATE":
        return [dt.date(1, 1, 1), dt.date(9998, 12, 31), dt.date(2000, 2, 29), dt.date(1970, 1, 1)]
    if sql_type in INSTANTS:
        zone = UTC if sql_type.endswith("ZONE") else None
        years = (1700, 2260) if sql_type == "TIMESTAMP_NS" else (1, 9998)
        return [
            dt.datetime(years[0], 1, 1, tzinfo=zone),
            dt.datetime(years[1], 12, 31, 23, 59, 59, tzinfo=zone),
            dt.datetime(2021, 3, 28, 1, 30, tzinfo=zone),
            dt.datetime(1969, 12, 31, 23, 59, 59, tzinfo=zone),
        ]
    if sql_type == "VARCHAR":
        return [
            "",
            " ",
            "'",
            '"',
            "\n",
            "a\nb",
            "\\1",
            "🙂",
            "e\u0301",
            "é",
            "NULL",
            "null",
            "x" * 999,
        ]
    if sql_type == "UUID":
        return [uuid.UUID(int=0), uuid.UUID(int=2**128 - 1)]
    return []


def _exact(ticks: int, scale: int) -> Decimal:
    """So many units of the last digit."""
    return Decimal((int(ticks < 0), tuple(int(sign) for sign in str(abs(ticks))), -scale))


def drawn(sql_type: str, dice: Random) -> Any:
    """A random value of a type."""
    if sql_type in WHOLE:
        least, most = WHOLE[sql_type]
        reach = dice.choice((100, 10_000, most))
        return dice.randint(max(least, -reach), min(most, reach))
    if sql_type in DECIMALS:
        digits, scale = DECIMALS[sql_type]
        most = 10 ** dice.randint(1, digits) - 1
        return _exact(dice.randint(-most, most), scale)
    if sql_type in REALS:
        number = dice.choice(
            (dice.uniform(-1e3, 1e3), dice.gauss(0, 1e7), 10 ** dice.uniform(-9, 15))
        )
        return Single(number) if sql_type == "FLOAT" else number
    if sql_type == "DATE":
        return dt.date(1900, 1, 1) + dt.timedelta(dice.randint(0, 60_000))
    if sql_type in INSTANTS:
        fine = {"TIMESTAMP_S": 10**6, "TIMESTAMP_MS": 1000}.get(sql_type, 1)
        since = dice.randrange(60_000 * 86_400 * 10**6) // fine * fine
        zone = UTC if sql_type.endswith("ZONE") else None
        return dt.datetime(1900, 1, 1, tzinfo=zone) + dt.timedelta(microseconds=since)
    if sql_type == "VARCHAR":
        return "".join(dice.choice(SIGNS) for _ in range(dice.randint(0, 20)))
    if sql_type == "BOOLEAN":
        return dice.random() < 0.5
    if sql_type == "UUID":
        return uuid.UUID(int=dice.getrandbits(128))
    return dice.choice(("a", "B c", "ß", ""))


def column(sql_type: str, size: int, dice: Random, *, nulls: float = 0.05) -> list[Any]:
    """So many values of a type in random order: extremes, random ones, repetitions, NULLs."""
    values = extremes(sql_type)
    while len(values) < size:
        chance = dice.random()
        if chance < nulls:
            values.append(None)
        else:
            values.append(
                dice.choice(values) if chance > 0.95 and values else drawn(sql_type, dice)
            )
    values = values[:size]
    dice.shuffle(values)
    return values


def table(
    folder: Path,
    columns: Mapping[str, tuple[str, Sequence[Any]]],
    *,
    name: str = "people",
    order: Callable[[int], Any] | None = None,
) -> Path:
    """A database with a table of the columns, each a type and its values."""
    path = folder / "source.duckdb"
    rows = list(zip(*(values for _, values in columns.values()), strict=True))
    if order is not None:
        rows = [rows[i] for i in sorted(range(len(rows)), key=order)]
    texts = ", ".join(
        f"({', '.join('null' if v is None else lit(text_of(v)).text for v in row)})" for row in rows
    )
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        fill = ", ".join(
            f"cast({quote(n)} as {kind}) as {quote(n)}" for n, (kind, _) in columns.items()
        )
        named = ", ".join(quote(n) for n in columns)
        connection.execute("set TimeZone = 'UTC'")
        connection.execute(
            f"create or replace table {quote(name)} as select {fill}"
            f" from (values {texts}) as given({named})"
        )
    return path
