"""Made tables that cost most where a tool counts values or joins columns carelessly."""

from __future__ import annotations

from pathlib import Path

import duckdb

DRAWN = """
with drawn as (
    select range as number,
        [cast(md5_number_lower(concat_ws(':', {seed}, range, part)) % 1000003 as bigint)
         for part in range(5)] as d
    from range({rows})
)
"""

AIRPORTS = f"""
create table airports as {DRAWN}
select
    'A' || number as iata,
    'City ' || d[1] % 6100 as city,
    'S' || d[2] % 56 as state,
    24 + d[3] % 40000 / 1000.0 as latitude,
    -170 + d[4] % 100000 / 1000.0 as longitude
from drawn
order by number
"""

INCOMES = f"""
create table incomes as {DRAWN}
select
    18 + d[1] % 70 as age, d[2] % 16 as education, d[3] % 14 as job, d[4] % 2 as sex,
    10 * (d[5] % 900) as income
from drawn
order by number
"""


def airports(database: Path, rows: int = 3_376, seed: int = 1) -> Path:
    """Places of which nearly every one is in a city of its own."""
    return _made(database, AIRPORTS.format(rows=rows, seed=seed))


def incomes(database: Path, rows: int = 10_000, seed: int = 1) -> Path:
    """A sensitive number of 900 different values."""
    return _made(database, INCOMES.format(rows=rows, seed=seed))


def wide(database: Path, rows: int = 2_000, columns: int = 200, seed: int = 1) -> Path:
    """Hundreds of columns of 2 to 41 values, and an illness."""
    listed = ", ".join(
        f"cast(md5_number_lower(concat_ws(':', {seed}, range, {i})) % {2 + i % 40} as integer)"
        f" as q{i}"
        for i in range(1, columns + 1)
    )
    ill = f"['a', 'b', 'c', 'd', 'e'][1 + cast(md5_number_lower('{seed}' || range) % 5 as integer)]"
    return _made(
        database, f"create table answers as select {listed}, {ill} as ill from range({rows})"
    )


def _made(database: Path, sql: str) -> Path:
    with duckdb.connect(str(database)) as connection:
        connection.execute(sql)
    return database
