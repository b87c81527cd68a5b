"""Where releases of several tables stand: in files with others, beside their source, in memory."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import GuaranteeError, TargetError
from tests import runs
from tests.schema import hospital, judged
from tests.schema.hospital import released
from tests.selection import some

NAMES = ("patients", "visits", "labs")
QUICK = {"privacy.knows": {"events": 0}}
"""Nothing is searched for: what is tested is where the rows go."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hospital.write(tmp_path_factory.mktemp("source") / "source.duckdb")


@pytest.fixture
def source(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(written, tmp_path / "source.duckdb"))


def objects(file: Path) -> set[str]:
    """Tables and views of a database with their schemas, without the run ids of frozen rows."""
    with duckdb.connect(str(file), read_only=True, config={"threads": 1}) as connection:
        rows = connection.execute(
            "select schema_name || '.' || table_name from duckdb_tables() where not internal"
            " union all select schema_name || '.' || view_name from duckdb_views()"
            " where not internal"
        ).fetchall()
    return {re.sub("_[0-9a-f]{16}$", "…", name) for (name,) in rows}


def of_release(prefix: str = "", names: Iterable[str] = NAMES, schema: str = "main") -> set[str]:
    listed = {f"{schema}.{prefix}{name}" for name in names}
    return listed | {f"{schema}._{prefix}patients…", f"{schema}.{prefix}patients_manifest"}


def single(folder: Path, **publish: Any) -> Policy:
    """A release of the patients alone."""
    columns = dict(hospital.GIVEN["tables"]["patients"]["columns"])
    return Policy.model_validate(
        {
            "version": 1,
            "source": {"table": "patients"},
            "columns": {**columns, "patient_id": {"role": "identifier"}},
            "privacy": {"k_anonymity": 3},
            "publish": publish,
        },
        context={"base": folder},
    )


@pytest.mark.slow
def test_several_releases_in_one_file(source: Path, tmp_path: Path) -> None:
    """Two of several tables and one of a single one: each is replaced as a whole, and alone."""
    file = tmp_path / "release.duckdb"
    first = hospital.policy(tmp_path, QUICK)
    second = hospital.policy(tmp_path, {**QUICK, "publish.prefix": "b_"}, "tables.labs")
    third = single(tmp_path, name="alone", database="release.duckdb")
    for policy in (first, second, third):
        runs.run(policy, source) if isinstance(policy, Policy) else hospital.run(policy, source)
    everything = {"_anonymizer.objects", "main.alone", "main._alone…", "main.alone_manifest"}
    everything |= of_release() | of_release("b_", ("patients", "visits"))
    assert objects(file) == everything
    for policy in (first, second, third):
        assert anonymizer.verify(policy).passed
    every = anonymizer.verify(None, file)
    assert every.passed
    assert [check.name for check in every.checks].count("k_anonymity") == 3
    others = ("b_patients", "b_visits", "alone")
    before, replaced = released(file, *others), released(file, *NAMES)
    # the next run has a table less, and takes the place of all tables of the first
    fewer = hospital.policy(tmp_path, QUICK, "tables.labs")
    release = hospital.run(fewer, source, seed=2)
    assert len(release.replaced) == 1
    assert objects(file) == everything - {"main.labs"}
    assert released(file, *others) == before
    now = released(file, "patients", "visits")
    assert now["visits"] != replaced["visits"]
    assert anonymizer.verify(fewer).passed
    assert anonymizer.verify(second).passed
    with pytest.raises(GuaranteeError, match=r"tables\.labs: is not in the release"):
        anonymizer.verify(first)


@pytest.mark.slow
def test_names_of_another_release_are_not_taken(source: Path, tmp_path: Path) -> None:
    hospital.run(hospital.policy(tmp_path, QUICK), source)
    changes = {**QUICK, "publish.names": {"patients": "people", "labs": "tests"}}
    with pytest.raises(TargetError, match=r"publish\.names: visits is a table of the release"):
        hospital.run(hospital.policy(tmp_path, changes), source)
    with pytest.raises(TargetError, match=r"publish\.name: labs is a table of the release"):
        runs.run(single(tmp_path, name="labs", database="release.duckdb"), source)


@some(0)
@pytest.mark.parametrize(
    "publish", [{"schema": "published"}, {"prefix": "anon_"}], ids=["schema", "prefix"]
)
def test_beside_the_source(source: Path, tmp_path: Path, publish: dict[str, Any]) -> None:
    policy = hospital.policy(tmp_path, {**QUICK, "publish": publish})
    own = {f"main.{name}" for name in NAMES}
    before = released(source, *own)
    release = hospital.run(policy, source)
    assert any("a view protects nothing there" in warning for warning in release.warnings)
    names = of_release(publish.get("prefix", ""), schema=publish.get("schema", "main"))
    assert objects(source) == own | names | {"_anonymizer.objects"}
    judged.holds(policy, source)
    first = released(source, *(name for name in names if "…" not in name))
    assert anonymizer.verify(policy, source).passed
    hospital.run(policy, source, seed=2)
    assert objects(source) == own | names | {"_anonymizer.objects"}
    assert released(source, *(name for name in names if "…" not in name)) != first
    assert anonymizer.verify(None, source).passed
    assert released(source, *own) == before
    assert sorted(path.name for path in tmp_path.glob("*.json")) == [
        f"{policy.publish.schema_}.{policy.view('patients')}.manifest.json".removeprefix("main.")
    ]


@pytest.mark.slow
def test_in_memory(tmp_path: Path) -> None:
    """A connection of the user's is used itself; its settings and tables stay."""
    with duckdb.connect(config={"threads": 1}) as connection:
        hospital.fill(connection)
        policy = hospital.policy(tmp_path, {**QUICK, "publish": {"schema": "published"}})
        release = anonymizer.run(policy, connection, seed=1)
        assert len(release.df()) == hospital.PERSONS
        assert anonymizer.verify(policy, connection).passed
        assert anonymizer.verify(None, connection).passed
        (rows,) = connection.execute("select count(*) from published.visits").fetchall()
        assert rows == (len(hospital.tables()["visits"]),)
        connection.execute("update published.labs set value = 1")
        with pytest.raises(GuaranteeError, match="the rows of labs"):
            anonymizer.verify(policy, connection)
    assert list(tmp_path.iterdir()) == []
