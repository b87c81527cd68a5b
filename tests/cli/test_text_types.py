"""The types of text files: no cell loses a zero, a sign, a digit or a century without a word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import SourceError
from anonymizer.source.files import file_relation
from tests.runs import published
from tests.selection import some

MANY = 21_000
"""More rows than DuckDB looks at before it settles on types."""
READ: dict[str, tuple[list[str], str, Any]] = {
    "a zero in front, far down": (["10115"] * MANY + ["01067"], "VARCHAR", "01067"),
    "a plus, far down": (["41"] * MANY + ["+41"], "VARCHAR", "+41"),
    "a fraction, far down": (["10"] * MANY + ["1.5"], "DOUBLE", 1.5),
    "many digits, far down": (["10"] * MANY + ["9" * 20], "HUGEINT", int("9" * 20)),
    "a fraction and many digits": (["1.5", "9" * 20], "VARCHAR", "9" * 20),
    "more digits than any number": (["1" * 40, "9" * 40], "VARCHAR", "9" * 40),
    "a zero behind a minus": (["7", "-01"], "VARCHAR", "-01"),
    "digits of 16": (["7", "0x1F"], "VARCHAR", "0x1F"),
    "a code like a power": (["12E3", "1E5"], "VARCHAR", "1E5"),
    "powers": (["1.5e3", "1e+05"], "DOUBLE", 100_000.0),
    "blanks around numbers": (["7", " 12 "], "BIGINT", 12),
    "two digits of the day first": (["28.06.24", "29.06.25"], "VARCHAR", "29.06.25"),
    "two digits beside years": (["2025-06-28", "5/1/23"], "VARCHAR", "5/1/23"),
    "two digits and a time": (["28.06.24 12:00:00", "29.06.25 12:00:00"], "VARCHAR",
                              "29.06.25 12:00:00"),
    "a zone, far down": (["2020-01-01 10:00:00"] * MANY + ["2020-01-01 10:00:00+02"], "VARCHAR",
                         "2020-01-01 10:00:00+02"),
    "parts of a microsecond": (["2020-01-01 10:00:00"] * MANY + ["2020-01-01 10:00:00.1234567"],
                               "VARCHAR", "2020-01-01 10:00:00.1234567"),
    "a truth in two ways, far down": (["true", "false"] * MANY + ["1"], "VARCHAR", "1"),
    "truths in one way": (["true", "False"], "BOOLEAN", False),
    "a code with a zero at the end": (["250.1", "250.10"], "VARCHAR", "250.10"),
    "a code with a zero at the end, far down": (["250.1"] * MANY + ["250.10"], "VARCHAR", "250.10"),
    "a code with a fraction of zero, far down": (
        ["250"] * MANY + ["250.0", "250.1"], "VARCHAR", "250.1"),
    "fractions with all decimals": (["250.10", "7.00"], "DOUBLE", 7.0),
    "fractions without zeros at the end": (["250.0", "7.25"], "DOUBLE", 7.25),
    "whole numbers of two programs": (["34", "34.0"], "DOUBLE", 34.0),
    "zeros of two signs": (["-0.0", "0.0", "0.25"], "DOUBLE", 0.25),
    "numbers": (["1", "12"], "BIGINT", 12),
    "fractions": (["0.30000000000000004", ".5"], "DOUBLE", 0.5),
}  # fmt: skip


def read(file: Path) -> tuple[str, Any]:
    """The type of the first column, and its last value."""
    with duckdb.connect() as connection:
        relation = file_relation(file, lambda text, _: connection.sql(text).fetchall(), "file").text
        (_, kind, *_), *_ = connection.sql(f"describe from {relation}").fetchall()
        return str(kind), connection.sql(f"from {relation}").fetchall()[-1][0]


@some(6)
@pytest.mark.parametrize("name", READ)
def test_a_cell_of_a_csv_file_is_what_was_written(name: str, tmp_path: Path) -> None:
    cells, kind, last = READ[name]
    (tmp_path / "w.csv").write_text("a,b\n" + "".join(f"{cell},1\n" for cell in cells))
    assert read(tmp_path / "w.csv") == (kind, last)


@pytest.mark.parametrize("date", ["28.06.2025", "2025-06-28", "6/28/2025"])
def test_a_date_with_four_digits_of_its_year_is_a_date(date: str, tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text(f"a,b\n{date},1\n")
    assert read(tmp_path / "w.csv")[0] == "DATE"


@some(3)
@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ([89490200001234567000, 89490200001234567001], "HUGEINT"),
        ([1] * MANY + [89490200001234567001], "HUGEINT"),
        ([1] * MANY + [1.5], "DOUBLE"),
        ([1.5, 12345678901234567], "VARCHAR"),
        ([int("1" * 45), int("9" * 45)], "VARCHAR"),
        ([1.5, 1e22], "DOUBLE"),
        ([1, 2], "BIGINT"),
        ([34, 34.0, 1.5], "DOUBLE"),
        ([True] * MANY + [1], "VARCHAR"),
    ],
)
def test_a_number_of_a_json_file_keeps_its_digits(
    numbers: list[float], kind: str, tmp_path: Path
) -> None:
    lines = "".join(json.dumps({"a": number, "b": "x"}) + "\n" for number in numbers)
    (tmp_path / "w.json").write_text(lines)
    last = numbers[-1] if kind != "VARCHAR" else str(numbers[-1])
    assert read(tmp_path / "w.json") == (kind, last)


def visits(folder: Path, name: str, **rest: Any) -> anonymizer.Policy:
    given = {
        "version": 1,
        "source": {"file": name},
        "columns": {"id": {"role": "identifier"}, "age": {"role": "quasi"}, **rest.pop("columns")},
        "privacy": {"k_anonymity": 3},
        "publish": {"name": "a", "database": "r.duckdb"},
        **rest,
    }
    return anonymizer.Policy.model_validate(given, context={"base": folder})


def test_codes_are_published_with_their_zeros(tmp_path: Path) -> None:
    rows = (f"{i},{20 + i % 30},{'10115' if i < MANY else '01067'}\n" for i in range(MANY + 900))
    (tmp_path / "w.csv").write_text("id,age,plz\n" + "".join(rows))
    plz = {"role": "quasi", "hierarchy": {"builder": "prefix"}}
    release = anonymizer.run(visits(tmp_path, "w.csv", key="id", columns={"plz": plz}), seed=1)
    assert {row["plz"] for row in published(release)} == {"10115", "01067"}


def test_persons_with_numbers_of_20_digits_are_not_one(tmp_path: Path) -> None:
    rows = [{"id": 89490200001234567000 + i, "age": 20 + i // 10} for i in range(60)]
    (tmp_path / "w.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    release = anonymizer.run(visits(tmp_path, "w.json", person="id", columns={}), seed=1)
    assert release.measures["persons"] == 60


def test_dates_with_two_digits_of_their_year_are_no_dates(tmp_path: Path) -> None:
    rows = (f"{i},{20 + i % 3},{1 + i % 28:02}.{1 + i % 12:02}.25\n" for i in range(300))
    (tmp_path / "w.csv").write_text("id,age,seen\n" + "".join(rows))
    dates = visits(tmp_path, "w.csv", key="id", columns={"seen": {"role": "quasi", "kind": "date"}})
    with pytest.raises(SourceError, match="does not fit the column's type"):
        anonymizer.run(dates)
    texts = visits(tmp_path, "w.csv", key="id", columns={"seen": {"role": "quasi"}})
    release = anonymizer.run(texts, seed=1)
    assert any("columns.seen: is text, and all its values are dates" in w for w in release.warnings)
