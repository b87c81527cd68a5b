"""The labelled tables have the columns that the labels name."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.draft.labelled import REAL, labels, make
from tests.selection import some
from tests.tables import public


def test_twelve_tables_are_labelled() -> None:
    assert set(labels()) == {*REAL, *public.TABLES}
    assert len(labels()) == 12


@some(1)
@pytest.mark.parametrize("name", [*REAL, *public.TABLES])
def test_every_column_has_one_label(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    data = request.getfixturevalue("data_folder") if name in REAL else None
    path = make(tmp_path / "t.duckdb", name, data, 1000)
    with duckdb.connect(str(path), read_only=True) as connection:
        columns = [row[0] for row in connection.execute(f"describe {name}").fetchall()]
    assert set(labels()[name]) == set(columns)
    assert len(columns) == len(set(columns))


@some(3)
@pytest.mark.parametrize("name", public.TABLES)
def test_imitations_have_about_the_rows_of_the_original(name: str, tmp_path: Path) -> None:
    path = public.make(tmp_path / "t.duckdb", name)
    with duckdb.connect(str(path), read_only=True) as connection:
        (rows,) = connection.execute(f"select count(*) from {name}").fetchall()[0]
    assert 0.8 * public.TABLES[name][1] <= rows <= 2.5 * public.TABLES[name][1]
