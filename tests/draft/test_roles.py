"""The drafts of `init` for twelve public tables: roles as labelled by hand, and runs as drafted."""

from __future__ import annotations

import time
from pathlib import Path

import duckdb
import pytest

from anonymizer import Policy, run
from anonymizer.review.draft.table_draft import Draft, draft
from anonymizer.review.preview import preview
from tests.draft.labelled import REAL, labels, make
from tests.duckdb.test_meant import SAID
from tests.selection import exhaustive, few, slow, some
from tests.tables import public

ROWS = 5_000
SECONDS = 60
WHOLE = 150
"""CPU seconds for the whole tables, two of which have some 200,000 rows and 30 columns and more."""
NCP = 0.5
RIGHT = 0.9
LOST = 1 / 20
TABLES = [*REAL, *public.TABLES]
LARGE = ("acs2018_persons", "census_income")
"""Tables of several hundred thousand rows, which take minutes."""


def drafted(name: str, folder: Path, data: Path | None, rows: int | None) -> tuple[Draft, Path]:
    path = make(folder / f"{name}.duckdb", name, data, rows)
    return draft(name, str(path), base=folder), path


@pytest.mark.slow
def test_roles_are_those_of_the_labels(tmp_path: Path, data_folder: Path) -> None:
    right = lost = told = total = 0
    wrong: list[str] = []
    for name in TABLES:
        found, _ = drafted(name, tmp_path, data_folder, ROWS)
        for column, label in labels()[name].items():
            role = found.guesses[column].role
            total += 1
            right += role == label
            told += label in ("quasi", "sensitive")
            lost += label in ("quasi", "sensitive") and role in ("identifier", "drop")
            if role != label:
                wrong.append(f"{name}.{column}: {role} instead of {label}")
    assert total == sum(len(columns) for columns in labels().values())
    assert right / total >= RIGHT, wrong
    assert lost / told <= LOST, wrong


@some(1)
@pytest.mark.parametrize("name", public.TABLES)
def test_roles_of_a_table_that_is_made(name: str, tmp_path: Path) -> None:
    """The same table by table, where no test data are needed."""
    found, _ = drafted(name, tmp_path, None, None)
    wrong = {c: r for c, r in labels()[name].items() if found.guesses[c].role != r}
    assert len(wrong) <= 0.1 * len(found.guesses), wrong


@some(0, 4)
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        *few([(name, ROWS) for name in TABLES], 4, by=3),
        *(pytest.param(name, None, marks=exhaustive if name in LARGE else slow) for name in REAL),
    ],
)
def test_a_draft_runs_as_it_is(
    name: str, rows: int | None, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    data = request.getfixturevalue("data_folder") if name in REAL else None
    found, path = drafted(name, tmp_path, data, rows)
    policy = Policy.loads(found.text, tmp_path)
    before = time.process_time()
    released = run(policy, path)
    assert time.process_time() - before < (WHOLE if rows is None else SECONDS)
    assert released.measures["ncp"] < NCP or "loses too much" in found.text
    for column in policy.sensitive:
        assert not [w for w in released.warnings if f"columns.{column}: is sensitive" in w]


@some(2)
@pytest.mark.parametrize("name", TABLES)
def test_little_is_told_of_a_table_that_is_as_it_is_meant(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    data = request.getfixturevalue("data_folder") if name in REAL else None
    found, path = drafted(name, tmp_path, data, ROWS)
    seen = preview(Policy.loads(found.text, tmp_path), str(path), foresee=False)
    assert sum(any(said in warning for said in SAID) for warning in seen.warnings) <= 1


@pytest.mark.parametrize("written", ["", "cast(", "strftime("])
def test_a_date_without_its_century_is_told_in_a_draft(tmp_path: Path, written: str) -> None:
    seen = "date '0023-01-01' + cast(i % 90 as integer)"
    ends = {"cast(": " as varchar)", "strftime(": ", '%d.%m.%Y')"}
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        connection.execute(
            "create table visits as select 20 + i % 30 as age, i % 3 as ill,"
            f" {written}{seen}{ends.get(written, '')} as seen from range(300) t(i)"
        )
    text = draft("visits", str(tmp_path / "w.duckdb"), base=tmp_path).text
    assert "300 dates before 1500: was the century left out?" in text
