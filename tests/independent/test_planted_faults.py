"""Every fault that is planted in a correct release is reported, by the check that it breaks."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest

from anonymizer.independent.judge import judge
from tests.independent.faults import FAULTS, Tampered
from tests.independent.planted import RELEASES, make
from tests.selection import some

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: make(name, tmp_path_factory.mktemp(name)) for name in RELEASES}


@pytest.mark.parametrize("name", RELEASES)
def test_the_releases_are_correct(releases: dict[str, Path], name: str) -> None:
    assert judge(releases[name]).passed


def test_there_are_enough_faults() -> None:
    assert len(FAULTS) >= 30
    assert {fault.release for fault in FAULTS.values()} == set(RELEASES)


@some(19)
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_reported(releases: dict[str, Path], name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    path = tmp_path / "release.duckdb"
    shutil.copyfile(releases[fault.release], path)
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        (frozen,) = connection.execute(
            "select table_name from duckdb_tables() where starts_with(table_name, '_people')"
        ).fetchall()[0]
        fault.change(Tampered(connection, f'"{frozen}"'))
    failed = {(check.name, check.column) for check in judge(path).checks if not check.passed}
    for check, column in fault.expected:
        named = {one for one, other in failed if column in (None, other)}
        assert check in named, failed
