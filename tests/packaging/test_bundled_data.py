"""Bundled and benchmark data: the table is the published one, the hierarchies are sound."""

from __future__ import annotations

import csv
import itertools
import runpy
import zipfile
from pathlib import Path

import duckdb
import pytest

ROOT = Path(__file__).resolve().parents[2]
ADULT = ROOT / "anonymizer" / "data" / "hierarchies"
ACS = ROOT / "benchmarks" / "hierarchies"
FILES = sorted([*ADULT.glob("*.csv"), *(p for p in ACS.glob("*.csv") if "_fold." not in p.name)])
MAKER = ROOT / "tools" / "make_demo_data.py"


def read(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=";"))


def values(parquet: Path, column: str) -> set[str]:
    with duckdb.connect() as connection:
        rows = connection.execute(
            f'select distinct "{column}" from read_parquet(?) where "{column}" is not null',
            [str(parquet)],
        ).fetchall()
    return {row[0] for row in rows}


def test_adult_is_the_published_table(adult_parquet: Path, data_folder: Path) -> None:
    with duckdb.connect() as connection:
        ours, theirs = (
            (
                connection.execute("describe from read_parquet(?)", [str(path)]).fetchall(),
                connection.execute("from read_parquet(?)", [str(path)]).fetchall(),
            )
            for path in (adult_parquet, data_folder / "adult_train.parquet")
        )
    assert ours == theirs


def test_adult_has_nulls_and_every_row(adult_parquet: Path) -> None:
    with duckdb.connect() as connection:
        figures = connection.execute(
            "select count(*), count(*) - count(workclass), count(*) - count(occupation),"
            " count(*) - count(native_country) from read_parquet(?)",
            [str(adult_parquet)],
        ).fetchone()
    assert figures == (32_561, 1_836, 1_843, 583)


def test_a_changed_original_is_refused(tmp_path: Path) -> None:
    maker = runpy.run_path(str(MAKER))
    wheel = tmp_path / "changed.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(maker["MEMBER"], "39, State-gov, 77516\n")
    with pytest.raises(ValueError, match="SHA-256"):
        maker["original"](wheel)


def test_original_text_becomes_typed_cells_with_nulls(tmp_path: Path) -> None:
    maker = runpy.run_path(str(MAKER))
    line = "39, ?, 77516, Bachelors, 13, Never-married, ?, Wife, White, Male, 2174, 0, 40, ?, <=50K"
    (tmp_path / "two").write_text(f"{line}\n{line}\n\n")
    assert maker["write_parquet"](tmp_path / "two", tmp_path / "two.parquet") == 2
    with duckdb.connect() as connection:
        rows = connection.execute(
            "select age, workclass, occupation, native_country, income from read_parquet(?)",
            [str(tmp_path / "two.parquet")],
        ).fetchall()
    assert rows == [(39, None, None, None, "<=50K")] * 2


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_hierarchy_is_a_tree_of_equal_depth(path: Path) -> None:
    rows = read(path)
    leaves = [row[0] for row in rows]
    assert len(set(leaves)) == len(leaves)
    assert {len(row) for row in rows} == {len(rows[0])}
    assert {row[-1] for row in rows} == {"*"}
    parents: dict[tuple[int, str], str] = {}
    for row in rows:
        assert all(cell and cell == cell.strip() for cell in row)
        for level, (node, parent) in enumerate(itertools.pairwise(row)):
            assert parents.setdefault((level, node), parent) == parent
    inner = [{row[level] for row in rows} for level in range(len(rows[0]))]
    for level, nodes in enumerate(inner):
        assert all(nodes.isdisjoint(other) for other in inner[level + 1 :])


@pytest.mark.parametrize("path", sorted(ADULT.glob("*.csv")), ids=lambda path: path.stem)
def test_adult_hierarchy_covers_its_column(path: Path, adult_parquet: Path) -> None:
    assert {row[0] for row in read(path)} == values(adult_parquet, path.stem)


@pytest.mark.parametrize(
    "column", ["education", "marital_status", "occupation_code", "race", "relationship"]
)
def test_acs_hierarchy_covers_its_column(column: str, data_folder: Path) -> None:
    leaves = {row[0] for row in read(ACS / f"{column}.csv")}
    assert leaves == values(data_folder / "acs2018_persons.parquet", column)


def test_occupation_groups_are_those_of_the_code_book(data_folder: Path) -> None:
    with duckdb.connect() as connection:
        groups = connection.execute(
            "select code, major_group from read_parquet(?) where column_name = 'occupation_code'",
            [str(data_folder / "acs2018_codes.parquet")],
        ).fetchall()
    assert {(row[0], row[1]) for row in read(ACS / "occupation_code.csv")} <= set(groups)


def test_education_folds_as_its_hierarchy_says() -> None:
    fold = [tuple(row) for row in read(ACS / "education_fold.csv")]
    whole = read(ACS / "education.csv")
    assert fold == [(row[0], row[1]) for row in whole]
    assert len({folded for _, folded in fold}) == 11
    assert {tuple(row[1:]) for row in whole} == {
        tuple(r) for r in read(ACS / "education_folded.csv")
    }
