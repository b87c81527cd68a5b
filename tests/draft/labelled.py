"""Twelve tables whose columns have been given roles by hand: `labels.yml`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import duckdb
from ruamel.yaml import YAML

from tests.tables import public

REAL = {
    "adult": "adult_train",
    "census_income": "census_income_train",
    "informs_persons": "informs_persons",
    "informs_conditions": "informs_conditions",
    "acs2018_persons": "acs2018_persons",
}
"""Tables that are read as they are, and their files among the test data."""


@cache
def labels() -> dict[str, dict[str, str]]:
    """Per table the role of each column."""
    text = Path(__file__).with_name("labels.yml").read_text(encoding="utf-8")
    return {
        table: {column: role for role, columns in roles.items() for column in columns}
        for table, roles in YAML(typ="safe").load(text).items()
    }


def make(database: Path, name: str, data: Path | None, rows: int | None = None) -> Path:
    """Write the table `name` into a database: of a real one whole persons, about `rows` rows."""
    if name not in REAL:
        return public.make(database, name)
    assert data is not None
    file = data / f"{REAL[name]}.parquet"
    with duckdb.connect(str(database), config={"threads": 1}) as connection:
        reading = f"from read_parquet('{file}')"
        some = ""
        if rows is not None:
            (known,) = connection.execute(f"select count(*) {reading}").fetchall()[0]
            whole = "household_id" if "household_id" in labels()[name] else "file_row_number"
            parts = max(1, round(known / rows))
            reading = f"from read_parquet('{file}', file_row_number = true)"
            some = f"where md5_number_lower({whole}::varchar) % {parts} = 0"
        hidden = " exclude (file_row_number)" if rows is not None else ""
        connection.execute(f"create table {name} as select *{hidden} {reading} {some}")
    return database
