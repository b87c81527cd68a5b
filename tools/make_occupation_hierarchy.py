"""Make benchmarks/hierarchies/occupation_code.csv: occupation code, major group, `*`.

Reads the codes and major groups of the American Community Survey 2018 from the test data
(`acs2018_codes.parquet`, folder in ANONYMIZER_TEST_DATA), and ends with an error where a code that
occurs among the persons has no group. The groups are the data dictionary's: the letters before the
dash in a code's label. Three labels have no such letters (1555, 8000 and 9920, the unemployed), so
each of these codes is a group of its own.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

import duckdb

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("ANONYMIZER_TEST_DATA", ROOT.parent / "shared" / "data"))
TARGET = ROOT / "benchmarks" / "hierarchies" / "occupation_code.csv"

CODES = """
select code, max(major_group)
from read_parquet($codes)
where column_name = 'occupation_code'
  and code in (select occupation_code from read_parquet($persons))
group by code
having min(major_group) = max(major_group)
order by max(major_group), code
"""

PERSONS = "select count(distinct occupation_code) from read_parquet(?)"


def main() -> None:
    """Write the file, groups and codes in order."""
    codes, persons = str(DATA / "acs2018_codes.parquet"), str(DATA / "acs2018_persons.parquet")
    with duckdb.connect() as connection:
        rows = connection.execute(CODES, {"codes": codes, "persons": persons}).fetchall()
        expected = connection.execute(PERSONS, [persons]).fetchone()
    if expected is None or len(rows) != expected[0]:
        raise ValueError(f"{len(rows)} codes have exactly one major group; expected {expected}")
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";", lineterminator="\n")
        writer.writerows((code, group, "*") for code, group in rows)
    print(f"{TARGET}: {len(rows)} codes, {len({group for _, group in rows})} groups")


if __name__ == "__main__":
    main()
