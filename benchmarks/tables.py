"""The tables that are measured: Adult as it is, and larger ones after a fixed recipe."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import duckdb

from benchmarks.common import DATA

ADULT = DATA / "adult_complete.parquet"
NODES = DATA / "adult_hierarchies"
QI5 = ("age", "sex", "race", "marital_status", "education")
QI9 = (*QI5, "native_country", "workclass", "occupation", "income")
QI8 = tuple(name for name in QI9 if name != "occupation")
HIERARCHY = {
    "age": "age",
    "sex": "sex",
    "race": "race",
    "marital_status": "marital-status",
    "education": "education",
    "native_country": "native-country",
    "workclass": "workclass",
    "occupation": "occupation",
    "income": "salary-class",
}


def hierarchy_file(column: str) -> Path:
    """The hierarchy of a column of Adult, one row per value, leaf first."""
    return NODES / f"adult_hierarchy_{HIERARCHY[column]}.csv"


def cache() -> Path:
    """Where made tables and peers' environments are kept between runs."""
    path = Path(os.environ.get("ANONYMIZER_BENCHMARK_CACHE", tempfile.gettempdir()))
    folder = path / "anonymizer-benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def adult(rows: int | None = None) -> Path:
    """Adult with so many rows: copy 0 as it is, further copies changed a little.

    In a further copy age moves by up to 3 years, and each categorical cell is drawn anew from its
    column with probability 0.05. Draws are hashes, so that the table is the same everywhere.
    """
    if rows is None or rows == 30_162:
        return ADULT
    path = cache() / f"adult_{rows}.parquet"
    if path.exists():
        return path
    categories = [name for name in QI9 if name != "age"]
    with duckdb.connect() as connection:
        connection.execute(
            f"create table base as select row_number() over () - 1 as i, {', '.join(QI9)}"
            f" from '{ADULT}'"
        )
        copies = -(-rows // 30_162)

        def drawn(column: str) -> str:
            place = f"1 + cast(floor({_uniform(f'value {column}')} * 30162) as int)"
            return (
                f"case when c > 0 and {_uniform(f'redraw {column}')} < 0.05"
                f" then {column}_pool[{place}] else {column} end as {column}"
            )

        pools = ", ".join(f"list({name} order by i) as {name}_pool" for name in categories)
        moved = (
            f"age + case when c > 0 then cast(floor({_uniform('age')} * 7) as int) - 3 else 0 end"
        )
        connection.execute(
            f"copy (select {moved} as age, {', '.join(map(drawn, categories))}"
            f" from range({copies}) as copies(c), base, (select {pools} from base)"
            f" where c * 30162 + i < {rows}) to '{path}.tmp' (format parquet)"
        )
    Path(f"{path}.tmp").replace(path)
    return path


def _uniform(purpose: str) -> str:
    return f"((hash('{purpose}', c, i) >> 11) / 9007199254740992.0)"


def numbers(rows: int, columns: int = 9) -> Path:
    """A table of numbers with nearly as many different tuples as rows."""
    path = cache() / f"numbers_{rows}_{columns}.parquet"
    if not path.exists():
        cells = ", ".join(
            f"cast(hash({j}, i) % {(100, 50, 1000, 20, 10, 365, 16, 8, 500)[j % 9]} as int) as q{j}"
            for j in range(columns)
        )
        with duckdb.connect() as connection:
            connection.execute(
                f"copy (select {cells} from range({rows}) as t(i)) to '{path}.tmp' (format parquet)"
            )
        Path(f"{path}.tmp").replace(path)
    return path
