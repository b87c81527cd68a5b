"""A folder of Parquet files, as Spark publishes it: what is added to it does not pass as released.

Opening a folder needs no Spark, and neither does sealing one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.engines.base import Limits
from anonymizer.errors import AnonymizerError, GuaranteeError, NothingToCheckError
from anonymizer.publish.spark.parquet import ParquetTarget, files_object
from anonymizer.release.integrity import sealed
from anonymizer.release.manifest import Manifest, write_manifest_file
from anonymizer.release.objects import Names
from tests import runs
from tests.forging import Place

ROWS = [(20 + i % 30, "mf"[i % 2], i % 7) for i in range(60)]
TYPES = {"age": "INTEGER", "sex": "VARCHAR", "visits": "INTEGER"}
COLUMNS: dict[str, Any] = {"age": "quasi", "sex": "quasi", "visits": "keep"}
PARTS = 2
RAW = "select 33 as age, 'Ada' as who"


def release(folder: Path, name: str = "people_anonymous") -> Place[Policy]:
    """A release in a folder: rows that DuckDB anonymized, in two files, with a seal of them."""
    database = runs.source(folder, TYPES, ROWS)
    made = runs.policy(folder, COLUMNS, k=3, publish={"name": name, "database": "made.duckdb"})
    manifest = runs.run(made, database).manifest
    policy = runs.policy(
        folder, COLUMNS, k=3, engine="spark", publish={"name": name, "database": "release"}
    )
    place = folder / "release"
    place.mkdir(exist_ok=True)
    names = Names.of(policy, manifest.run_id)
    target = ParquetTarget(names, place)
    target.rows.mkdir()
    with duckdb.connect(str(folder / "made.duckdb"), read_only=True) as connection:
        for part in range(PARTS):
            rows = f"from {name} where visits % {PARTS} = {part}"
            connection.execute(f"copy ({rows}) to '{target.rows}/part-{part}.parquet'")
    data = {key: value for key, value in manifest.data.items() if key != "seal"}
    data["policy_digest"] = policy.digest()
    rows_object = files_object(names, target.rows, Limits())
    whole = sealed(Manifest(data), (rows_object,), alone=True)
    write_manifest_file(target.manifest_file, whole, folder / "aside")
    return Place(place, policy)


@pytest.fixture(scope="module")
def correct(tmp_path_factory: pytest.TempPathFactory) -> Place[Policy]:
    return release(tmp_path_factory.mktemp("folder"))


@pytest.fixture
def forged(correct: Place[Policy], tmp_path: Path) -> Place[Policy]:
    shutil.copytree(correct.folder, tmp_path / "release")
    return Place(tmp_path / "release", correct.policy)


def rows_of(folder: Path) -> Path:
    return folder / "people_anonymous.parquet"


def copied(query: str, file: Path) -> None:
    duckdb.sql(f"copy ({query}) to '{file}' (format parquet)")


def with_a_column(folder: Path) -> None:
    """The same rows, and a column that a reader of the first file alone does not see."""
    part = rows_of(folder) / "part-1.parquet"
    copied(f"select *, 'Ada' as who from '{part}'", folder / "made")
    (folder / "made").replace(part)


def folder_of_files(folder: Path) -> None:
    (rows_of(folder) / "raw.parquet").mkdir()
    copied(RAW, rows_of(folder) / "raw.parquet" / "raw.csv")


def in_the_mark(folder: Path) -> None:
    (rows_of(folder) / "_SUCCESS").write_text("Ada,33")


def beside(folder: Path) -> None:
    (folder / "raw.parquet").mkdir()
    copied(RAW, folder / "raw.parquet" / "part-0.parquet")


FORGERIES: dict[str, Callable[[Path], Any]] = {
    "a column of a later file": with_a_column,
    "a folder that is called like a file": folder_of_files,
    "a mark of success that holds rows": in_the_mark,
    "a hidden file": lambda folder: copied(RAW, rows_of(folder) / ".raw.parquet"),
    "a file of another format": lambda folder: (rows_of(folder) / "raw.csv").write_text("Ada"),
    "a file fewer": lambda folder: (rows_of(folder) / "part-1.parquet").unlink(),
    "a link to nothing": lambda folder: (rows_of(folder) / "x.parquet").symlink_to("nothing"),
    "half a file": lambda folder: (rows_of(folder) / "part-1.parquet").write_bytes(
        (rows_of(folder) / "part-1.parquet").read_bytes()[:200]
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_what_is_added_to_a_folder(forged: Place[Policy], name: str) -> None:
    FORGERIES[name](forged.folder)
    for policy in (forged.policy, None):
        with pytest.raises(AnonymizerError) as told:
            anonymizer.verify(policy, forged.folder, engine="spark")
        assert told.value.exit_code in (1, 2)
        assert "Ada" not in str(told.value)


def test_rows_beside_the_release_are_named(forged: Place[Policy]) -> None:
    """A folder may be the user's own: other data in it is none of the release, and not judged."""
    beside(forged.folder)
    for policy in (forged.policy, None):
        found = anonymizer.verify(policy, forged.folder, engine="spark")
        assert found.passed
        assert found.others == ("raw.parquet",)


def test_the_folder_itself_holds(forged: Place[Policy]) -> None:
    (rows_of(forged.folder) / "_SUCCESS").touch()
    assert anonymizer.verify(forged.policy, forged.folder).passed
    assert anonymizer.verify(None, forged.folder, engine="spark").passed


@pytest.mark.parametrize("text", ["[]", '{"view": 1}', "", '{"view": "main.people_anonymous"}'])
def test_a_manifest_beside_the_release_that_tells_of_none(forged: Place[Policy], text: str) -> None:
    """A release whose manifest cannot be read is not passed over for those that can."""
    (forged.folder / "other.manifest.json").write_text(text)
    for policy in (forged.policy, None):
        with pytest.raises(NothingToCheckError, match=r"manifest: other\.manifest\.json"):
            anonymizer.verify(policy, forged.folder, engine="spark")


def test_another_release_of_the_folder_is_named(tmp_path: Path) -> None:
    """It is judged without a policy, and named with one; changed, it is refused."""
    release(tmp_path, "second")
    place = release(tmp_path)
    found = anonymizer.verify(place.policy, place.folder)
    assert (found.passed, found.others) == (True, ("main.second",))
    file = place.folder / "second.manifest.json"
    data = json.loads(file.read_text())
    data["measures"]["rows"] = 7
    file.write_text(json.dumps(data, indent=2, sort_keys=True))
    with pytest.raises(GuaranteeError, match="digest"):
        anonymizer.verify(None, place.folder, engine="spark")


@pytest.mark.parametrize("name", ["year=2026", "a[1]", "what*?"])
def test_a_folder_whose_path_reads_like_a_pattern(
    correct: Place[Policy], tmp_path: Path, name: str
) -> None:
    """No column is made of its path, and no other folder is read instead."""
    folder = tmp_path / name / "release"
    shutil.copytree(correct.folder, folder)
    assert anonymizer.verify(correct.policy, folder).passed
