"""What a caller gets: the release as an object, its tables as frames, and as exported files."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import AnonymizerError, GuaranteeError, SourceError, TargetError
from anonymizer.independent.judge import judge
from anonymizer.publish.export import export
from anonymizer.release.published import Release
from tests import runs
from tests.schema import hospital
from tests.selection import some

CHANGES: dict[str, Any] = {"publish.schema": "published", "publish.names": {"visits": "encounters"}}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Release]:
    folder = tmp_path_factory.mktemp("release")
    source = hospital.write(folder / "source.duckdb")
    return folder, hospital.run(hospital.policy(folder, CHANGES), source)


@pytest.mark.slow
def test_tables_of_a_release(made: tuple[Path, Release]) -> None:
    folder, release = made
    assert release.tables == {
        "patients": "published.patients",
        "visits": "published.encounters",
        "labs": "published.labs",
    }
    assert next(iter(release.tables)) == "patients"
    assert list(anonymizer.verify(None, folder / "release.duckdb").kinds) == [
        *release.tables.values()
    ]
    rows = hospital.released(folder / "release.duckdb", *release.tables.values())
    for name, view in release.tables.items():
        assert release.relation(name).fetchall() == [tuple(row.values()) for row in rows[view]]
        assert list(release.df(name).columns) == list(rows[view][0])
        assert len(release.df(name)) == len(rows[view]) == release.measured[name]["rows"]
    assert release.df().equals(release.df("patients"))
    assert release.relation().columns == release.relation("patients").columns
    for read in (release.df, release.relation):
        with pytest.raises(SourceError, match="allowed: patients, visits, labs"):
            read("encounters")


@pytest.mark.slow
def test_the_certificate_says_what_a_known_row_tells(tmp_path: Path) -> None:
    """The surgery has one diagnosis, and its patients have others besides."""
    source = hospital.write(tmp_path / "source.duckdb")
    hospital.changed(source, "update visits set diagnosis = 'C9' where ward = 'surgery'")
    changes = {"privacy.knows": {"events": 1, "joined": False, "sensitive": True}}
    release = hospital.run(hospital.policy(tmp_path, changes), source)
    assert release.verification.passed
    (visits,) = hospital.released(tmp_path / "release.duckdb", "main.visits").values()
    found = {row["diagnosis"] for row in visits if row["ward"] == "surgery"}
    assert found == {"C9"}
    said = release.manifest.data["certificate"]
    assert "what else stands in rows like a known one" in said
    assert "It counts persons" in said


@pytest.mark.slow
def test_as_dict(made: tuple[Path, Release]) -> None:
    _, release = made
    found = json.loads(json.dumps(release.as_dict(), default=str))
    assert list(found["tables"]) == ["patients", "visits", "labs"]
    own = found["tables"]["visits"]
    assert own["view"] == "published.encounters"
    stated = release.manifest.data["measures"]["tables"]["visits"]
    assert (own["rows"], own["suppressed"]) == (stated["rows"], stated["suppressed"])
    assert own["ncp"] == pytest.approx(sum(stated["ncp"].values()) / 2)
    assert found["tables"]["patients"]["rows"] == hospital.PERSONS
    assert f"rows of visits  {own['rows']}" in repr(release)
    html = release._repr_html_()
    assert re.search(rf"rows of visits</th><td[^>]*>{own['rows']}</td>", html)


def test_a_release_of_one_table_has_no_tables(tmp_path: Path) -> None:
    database = runs.source(tmp_path, {"age": "INTEGER"}, [(i % 3,) for i in range(9)])
    release = runs.run(runs.policy(tmp_path, {"age": "quasi"}), database)
    assert not release.tables
    assert not release.measured
    assert "tables" not in release.as_dict()
    assert len(release.df()) == 9
    with pytest.raises(SourceError, match="the release has one table"):
        release.df("people")


@pytest.mark.slow
def test_tables_of_a_connection(tmp_path: Path) -> None:
    with duckdb.connect(config={"threads": 1}) as connection:
        hospital.fill(connection)
        changes = {"publish": {"schema": "published"}, "privacy.knows": {"events": 0}}
        release = anonymizer.run(hospital.policy(tmp_path, changes), connection, seed=1)
        assert len(release.df("labs")) == len(hospital.tables()["labs"])
        assert len(release.relation("labs").fetchall()) == len(hospital.tables()["labs"])


@pytest.mark.slow
def test_little_that_is_left_is_told(tmp_path: Path) -> None:
    """Of tables, and of their columns."""
    source = hospital.write(tmp_path / "source.duckdb")
    changes = {"privacy.k_anonymity": 50, "suppression_limit": 1.0}
    release = hospital.run(hospital.policy(tmp_path, changes), source)
    told = [one for one in release.warnings if "little is left" in one]
    assert any("of the rows of labs are left out" in one for one in told)
    assert any("of the information of visits.day is lost" in one for one in told)


@pytest.fixture
def folder(made: tuple[Path, Release], tmp_path: Path) -> Path:
    shutil.copyfile(made[0] / "release.duckdb", tmp_path / "release.duckdb")
    return tmp_path


def rows_of(file: Path) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        return connection.execute(f"from '{file}'").fetchall()


@some(1)
@pytest.mark.parametrize(
    ("target", "form"),
    [("out", "parquet"), ("out/patients.csv", "csv"), ("out/persons.parquet", "parquet")],
)
def test_export(folder: Path, target: str, form: str) -> None:
    """One file a table, called like it; the second reader judges the folder."""
    policy = hospital.policy(folder, CHANGES)
    if "/" in target:
        (folder / "out").mkdir()
    done = export(policy, folder / target)
    first = "persons" if "persons" in target else "patients"
    assert [file.path.name for file in done.files] == [
        f"{name}.{form}" for name in (first, "encounters", "labs")
    ]
    assert done.manifest == folder / "out" / f"{first}.{form}.manifest.json"
    assert {path.name for path in (folder / "out").iterdir()} == {
        done.manifest.name, *(file.path.name for file in done.files),
    }  # fmt: skip
    views = ("published.patients", "published.encounters", "published.labs")
    rows = hospital.released(folder / "release.duckdb", *views)
    for file, view in zip(done.files, views, strict=True):
        assert file.rows == len(rows[view]) == len(rows_of(file.path))
        assert file.sha256 == hashlib.sha256(file.path.read_bytes()).hexdigest()
        if form == "parquet":
            assert rows_of(file.path) == [tuple(row.values()) for row in rows[view]]
    for path in (folder / "out", done.files[0].path):
        found = judge(path)
        assert all(check.passed for check in found.checks)
        assert {"known_events", "references"} <= {check.name for check in found.checks}
    assert done.as_dict()["files"][1]["rows"] == len(rows["published.encounters"])


@pytest.mark.slow
def test_a_later_export_takes_the_place_of_an_earlier_one(
    made: tuple[Path, Release], folder: Path
) -> None:
    policy = hospital.policy(folder, CHANGES)
    out = folder / "out"
    export(policy, out)
    export(policy, out)
    (out / "mine.txt").write_text("mine")
    # a table less: its file goes, if it is still the exported one
    fewer = hospital.policy(folder, {**CHANGES, "privacy.knows": {"events": 0}}, "tables.labs")
    hospital.run(fewer, made[0] / "source.duckdb")
    done = export(fewer, out)
    assert len(done.files) == 2
    assert {path.name for path in out.iterdir()} == {
        "patients.parquet", "encounters.parquet", "patients.parquet.manifest.json", "mine.txt",
    }  # fmt: skip
    assert all(check.passed for check in judge(out).checks)
    (out / "encounters.parquet").write_bytes(b"mine")
    with pytest.raises(TargetError, match="exists and is not an earlier export"):
        export(fewer, out)
    export(fewer, out, force=True)


def test_what_is_not_exported(folder: Path) -> None:
    policy = hospital.policy(folder, CHANGES)
    (folder / "file").write_text("mine")
    refused: list[tuple[Path, str]] = [
        (folder / "file", "-o: is a file, and not a folder"),
        (folder / "no" / "out", "-o: is in a folder that does not exist"),
        (folder / "out.xlsx", "-o: has an unknown format"),
        (folder / "labs.parquet", "-o: labs.parquet is the name of another table's file"),
    ]
    for target, says in refused:
        with pytest.raises(TargetError) as told:
            export(policy, target)
        assert says in str(told.value)
    hospital.changed(folder / "release.duckdb", "update published.labs set value = 1")
    with pytest.raises(GuaranteeError, match="the rows of labs are not those"):
        export(policy, folder / "out")
    other = hospital.policy(folder, {**CHANGES, "tables.patients.columns.sex": {"role": "drop"}})
    with pytest.raises(AnonymizerError, match=r"tables\.patients\.columns\.sex: is drop"):
        export(other, folder / "out")
    assert {path.name for path in folder.iterdir()} == {"file", "release.duckdb"}


@pytest.mark.parametrize("name", ["a/b", "..", ".hidden", "x" * 130])
def test_names_that_no_file_can_have(folder: Path, name: str) -> None:
    policy = hospital.policy(folder, {**CHANGES, "publish.names": {"visits": name}})
    with pytest.raises(TargetError, match=r"tables\.visits: is published as .* cannot be the name"):
        export(policy, folder / "out")
