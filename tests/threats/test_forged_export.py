"""An exported file with its manifest: whatever is changed in either is noticed, and told."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.errors import TargetError
from anonymizer.independent.fetch import ChangedError, UnreadableError
from anonymizer.independent.judge import judge
from anonymizer.publish.export import export
from anonymizer.release.integrity import manifest_digest
from tests import runs
from tests.selection import some

ROWS = [(20 + i % 30, "mf"[i % 2], f"v{i % 5}") for i in range(120)]
TYPES = {"age": "INTEGER", "sex": "VARCHAR", "illness": "VARCHAR"}
COLUMNS: dict[str, Any] = {
    "age": "quasi",
    "sex": "quasi",
    "illness": {"role": "sensitive", "protect": {"l_diversity": 2}},
}
SUFFIXES = (".parquet", ".csv")


@pytest.fixture(scope="module")
def correct(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    policy = runs.policy(folder, COLUMNS, k=3)
    runs.run(policy, runs.source(folder, TYPES, ROWS))
    for suffix in SUFFIXES:
        (folder / suffix).mkdir()
        export(policy, folder / suffix / f"out{suffix}")
    return folder


@pytest.fixture(params=SUFFIXES)
def file(request: pytest.FixtureRequest, correct: Path, tmp_path: Path) -> Path:
    """An exported file in a folder of its own, with its manifest."""
    shutil.copytree(correct / request.param, tmp_path / "out")
    return tmp_path / "out" / f"out{request.param}"


def beside(file: Path) -> Path:
    return file.with_name(f"{file.name}.manifest.json")


def data_of(file: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(beside(file).read_text())
    return data


def put(file: Path, data: dict[str, Any]) -> None:
    beside(file).write_text(json.dumps(data, indent=2, sort_keys=True))


def rows_changed(file: Path, query: str) -> None:
    """Other rows in the place of those of a file; {0} is the file."""
    aside = file.with_name(f"aside{file.suffix}")
    duckdb.sql(f"copy ({query.format(f'{chr(39)}{file}{chr(39)}')}) to '{aside}'")
    aside.replace(file)


def test_the_export_itself_holds(file: Path) -> None:
    assert judge(file).passed
    assert judge(file.parent).passed


def _weaker(data: dict[str, Any]) -> None:
    for asked in data["requirements"]:
        if asked["name"] == "k_anonymity":
            asked["parameters"]["k"] = 2


def _kept(data: dict[str, Any]) -> None:
    data["layout"]["columns"][0]["role"] = "keep"


def _field(*path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        for name in path[:-1]:
            data = data[name]
        data[path[-1]] = value

    return change


MANIFESTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a weaker k": _weaker,
    "another role": _kept,
    "another sentence": _field("certificate", value="Anonymous, whatever anybody knows."),
    "a smaller loss": _field("measures", "ncp", value=0.001),
    "another policy": _field("policy_digest", value="0" * 64),
    "another engine": _field("versions", "duckdb", value="9"),
    "another time": _field("created", value="2020-01-01T00:00:00+00:00"),
    "a field of its own": _field("epsilon", value=0.1),
    "another digest": _field("seal", "digest", value="0" * 64),
    "a seal without a digest": lambda data: data["seal"].pop("digest"),
    "no seal": lambda data: data.pop("seal"),
}


@some(4)
@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_that_was_changed(file: Path, name: str) -> None:
    data = data_of(file)
    MANIFESTS[name](data)
    put(file, data)
    with pytest.raises(UnreadableError, match="manifest"):
        judge(file)


QUERIES = {
    "a value": "select * replace ('v0' as illness) from {0}",
    "a row fewer": "from {0} limit 119",
    "a row twice": "from {0} union all by name from {0}",
    "another order": "from {0} order by illness, age",
    "a column more": "select *, 'Ada' as who from {0}",
    "a column fewer": "select * exclude (illness) from {0}",
}


@some(2)
@pytest.mark.parametrize("name", QUERIES)
def test_rows_that_were_changed(file: Path, name: str) -> None:
    rows_changed(file, QUERIES[name])
    with pytest.raises(ChangedError, match="its digest differs"):
        judge(file)


@pytest.mark.parametrize("left", [0, 4, 0.5, -1])
def test_half_a_file(file: Path, left: float) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * left) if 0 < left < 1 else int(left)])
    with pytest.raises(UnreadableError):
        judge(file)


def test_a_file_that_leads_to_another(file: Path, tmp_path: Path) -> None:
    """A link to what was exported is that; to anything else it is not."""
    kept = tmp_path / f"kept{file.suffix}"
    shutil.copyfile(file, kept)
    file.unlink()
    file.symlink_to(kept)
    assert judge(file).passed
    rows_changed(kept, QUERIES["a value"])
    with pytest.raises(ChangedError, match="its digest differs"):
        judge(file)


def test_rows_and_digests_that_fit_each_other(file: Path) -> None:
    """A column that no manifest tells of is refused, whatever the digests say."""
    rows_changed(file, QUERIES["a column more"])
    data = data_of(file)
    data["export"]["files"][0]["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    data["seal"]["digest"] = manifest_digest(data)
    put(file, data)
    assert not judge(file).passed


def forged_over(file: Path, listed: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """A manifest beside an export that lists another file, too, sealed anew."""
    data = data_of(file)
    change(data)
    digest = hashlib.sha256(listed.read_bytes()).hexdigest()
    data["export"]["files"].append({"name": listed.name, "rows": 1, "sha256": digest})
    data["seal"]["digest"] = manifest_digest(data)
    put(file, data)


def _with_a_table(data: dict[str, Any]) -> None:
    data["layout"]["tables"] = {"mine": "people_anonymous_mine"}
    data["view"] = "main.another"


FORGERIES: dict[str, tuple[str, Callable[[dict[str, Any]], Any]]] = {
    "a file of the user": ("payroll", lambda data: None),
    "a file that is named like that of a column": ("out_mine", lambda data: None),
    "a file of another release": ("out_mine", _with_a_table),
}


@some(3)
@pytest.mark.parametrize("name", FORGERIES)
def test_a_manifest_that_lists_files_of_others_removes_none(
    file: Path, correct: Path, name: str
) -> None:
    stem, change = FORGERIES[name]
    mine = file.with_name(f"{stem}{file.suffix}")
    mine.write_bytes(file.read_bytes())
    forged_over(file, mine, change)
    policy = runs.policy(correct, COLUMNS, k=3)
    before = file.read_bytes(), beside(file).read_bytes()
    with pytest.raises(TargetError, match=r"is not an earlier export of this release.*--force"):
        export(policy, file)
    assert (file.read_bytes(), beside(file).read_bytes()) == before
    export(policy, file, force=True)
    assert mine.read_bytes() == before[0]
    assert judge(file).passed
    export(policy, file)


def test_a_manifest_alone_that_lists_files_of_others(file: Path, correct: Path) -> None:
    mine = file.with_name(f"payroll{file.suffix}")
    mine.write_text("mine")
    forged_over(file, mine, lambda data: None)
    file.unlink()
    with pytest.raises(TargetError, match="is not a manifest of an earlier export of this release"):
        export(runs.policy(correct, COLUMNS, k=3), file)
    assert mine.read_text() == "mine"


def test_the_export_of_another_release_is_not_replaced(file: Path, correct: Path) -> None:
    other = runs.policy(correct, COLUMNS, k=4, publish={"name": "other", "database": "o.duckdb"})
    runs.run(other, correct / "source.duckdb")
    with pytest.raises(TargetError, match="exists and is not an earlier export of this release"):
        export(other, file)
    assert judge(file).passed
