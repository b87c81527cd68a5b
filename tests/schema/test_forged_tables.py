"""A correct release of several tables, forged: every change is noticed, and told.

By `verify POLICY`, by `verify` alone where a digest can see it, and by a signature always. The
promises themselves are judged where the forger has sealed the release anew.
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
from anonymizer import SchemaPolicy
from anonymizer.errors import AnonymizerError, GuaranteeError
from anonymizer.publish.rewrite import rewrite
from anonymizer.release.integrity import manifest_digest
from anonymizer.release.signing import new_key
from tests.forging import Place, seal_again
from tests.schema import hospital
from tests.selection import few, some


@pytest.fixture(scope="module")
def correct(tmp_path_factory: pytest.TempPathFactory) -> Place[SchemaPolicy]:
    folder = tmp_path_factory.mktemp("release")
    policy = hospital.policy(folder)
    new_key(folder / "key.pem")
    source = hospital.write(folder / "source.duckdb")
    hospital.run(policy, source, sign=folder / "key.pem")
    return Place(folder, policy)


@pytest.fixture
def forged(correct: Place[SchemaPolicy], tmp_path: Path) -> Place[SchemaPolicy]:
    """A copy of the release, without the file of its manifest beside it."""
    for name in ("release.duckdb", "key.pem.pub"):
        shutil.copyfile(correct.folder / name, tmp_path / name)
    return Place(tmp_path, correct.policy)


@pytest.mark.slow
def test_the_release_itself_holds(forged: Place[SchemaPolicy]) -> None:
    for policy in (forged.policy, None):
        found = anonymizer.verify(policy, forged.file, public_key=forged.key)
        assert (found.passed, found.origin) == (True, "signature")


LABS = "the rows of labs are not those that were judged"
VISITS = "the rows of visits are not those that were judged"
STATEMENTS: dict[str, tuple[list[str], str]] = {
    "a row more": (["insert into labs values (1, 'iron', 1.5)"], LABS),
    "a row twice": (["insert into labs from labs limit 1"], LABS),
    "a row fewer": (["delete from labs where rowid = 0"], LABS),
    "a row for another": (
        ["delete from labs where rowid = 0", "insert into labs values (1, 'iron', 1.5)"],
        LABS,
    ),
    "another cell": (["update labs set test = '*' where rowid = 3"], LABS),
    "another value": (["update labs set value = value + 1 where rowid = 3"], LABS),
    "a link bent": (["update labs set visit_id = visit_id % 3 + 1 where rowid = 3"], LABS),
    "a link to nobody": (["update visits set patient_id = 10000 where rowid = 3"], VISITS),
    "two keys exchanged": (
        [
            "update visits set visit_id ="
            " case visit_id when 1 then 2 else 1 end where visit_id in (1, 2)"
        ],
        VISITS,
    ),
    "the order of the source": (
        ["create or replace table labs as from labs order by all"],
        LABS,
    ),
    "a column more": (
        ["alter table visits add column name varchar"],
        "visits has a column name that its manifest does not tell of",
    ),
    "a column fewer": (
        ["alter table visits drop column ward"],
        "visits lacks the column ward that its manifest tells of",
    ),
    "another type": (["alter table visits alter visit_id type varchar"], "visits is not defined"),
    "no labs": (["drop table labs"], "labs"),
    "labs that are a view": (
        ["alter table labs rename to other", "create view labs as from other"],
        "labs",
    ),
    "a table more": (
        ["create table drugs as select 1 as patient_id, 'aspirin' as drug"],
        "table drugs, which no manifest lists",
    ),
    "a record of a table that came later": (
        [
            "create table drugs as select 1 as patient_id",
            "insert into _anonymizer.objects select release, 'main', 'drugs', 'values', run_id"
            " from _anonymizer.objects limit 1",
        ],
        "drugs",
    ),
    "a comment on a table": (["comment on table labs is 'Ada'"], "labs is not defined"),
    "a constraint": (["alter table labs alter test set not null"], "labs is not defined"),
}


@pytest.mark.slow
@some(1)
@pytest.mark.parametrize("name", few(STATEMENTS, 6, by=3))
def test_a_statement_on_the_file(forged: Place[SchemaPolicy], name: str) -> None:
    statements, says = STATEMENTS[name]
    hospital.changed(forged.file, *statements)
    with pytest.raises(AnonymizerError) as told:
        anonymizer.verify(forged.policy, forged.file)
    assert says in str(told.value)
    with pytest.raises(AnonymizerError):
        anonymizer.verify(None, forged.file)


def tables(data: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = data["tables"]
    return found


def _set(*path: str | int, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        within: Any = tables(data)
        for step in path[:-1]:
            within = within[step]
        within[path[-1]] = to

    return change


def _without_labs(data: dict[str, Any]) -> None:
    del tables(data)["tables"][2]


def _without_rules(data: dict[str, Any]) -> None:
    for one in tables(data)["tables"]:
        one["requirements"] = []


def _of_one_table(data: dict[str, Any]) -> None:
    del data["tables"]


def _more_labs(data: dict[str, Any]) -> None:
    tables(data)["tables"].append({**tables(data)["tables"][2], "table": "labs2", "name": "labs2"})


def _kept(data: dict[str, Any]) -> None:
    column = data["tables"]["tables"][1]["columns"][0]
    column |= {"role": "keep", "kind": "categorical", "hierarchy": False}


# what the forger changes, and what is said with the policy
MANIFESTS: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "a lower k": (_set("k", to=2), "manifest.tables: are not those of the policy"),
    "a higher k": (_set("k", to=50), "manifest.tables: are not those of the policy"),
    "no k": (_set("k", to=None), "manifest.tables: cannot be read"),
    "no known rows": (
        _set("knows", "events", to=0),
        "manifest.tables: are not those of the policy",
    ),
    "more known rows": (
        _set("knows", "events", to=2),
        "manifest.tables: are not those of the policy",
    ),
    "known numbers of rows": (
        _set("knows", "rows", to=True),
        "manifest.tables: are not those of the policy",
    ),
    "a table dropped": (_without_labs, "tables.labs: is not in the release"),
    "a table listed twice": (_more_labs, "tables.labs2: is not in the policy"),
    "no rules": (_without_rules, "manifest.tables: are not those of the policy"),
    "an event that is kept": (_kept, "tables.visits.columns.day: has another role"),
    "an event that is kept, with nodes": (
        _set("tables", 1, "columns", 0, "role", to="keep"),
        "manifest.tables: cannot be read",
    ),
    "an event less": (
        _set("tables", 1, "columns", to=[]),
        "tables.visits.columns.day: has another role",
    ),
    "another link": (
        _set("tables", 2, "links", to={"visit_id": "patients"}),
        "tables.labs: has another key or other links",
    ),
    "a link to itself": (
        _set("tables", 2, "links", to={"visit_id": "labs"}),
        "manifest.tables: cannot be read",
    ),
    "no key": (_set("tables", 1, "key", to=None), "tables.visits: has another key"),
    "another name": (
        _set("tables", 1, "name", to="encounters"),
        "tables.visits: is published under another name",
    ),
    "other persons": (_set("person", to="visits"), "manifest.tables: cannot be read"),
    "a column that is no text": (
        _set("tables", 2, "columns", 0, "column", to=0),
        "manifest.tables: cannot be read",
    ),
    "a kind that there is not": (
        _set("tables", 1, "columns", 0, "kind", to="x"),
        "manifest.tables: cannot be read",
    ),
    "a requirement of none": (
        _set("tables", 1, "requirements", to=[{"name": 1}]),
        "manifest.tables: cannot be read",
    ),
    "a link to nothing": (
        _set("tables", 2, "links", to={"visit_id": None}),
        "manifest.tables: cannot be read",
    ),
    "measures that are none": (
        lambda data: data["measures"]["tables"].update(labs="x"),
        "manifest: cannot be read",
    ),
    "losses that are none": (
        lambda data: data["measures"]["tables"]["labs"].update(ncp=[0.5]),
        "manifest: cannot be read",
    ),
    "no measures of a table": (
        lambda data: data["measures"]["tables"].pop("labs"),
        "manifest.measures.tables: are not those of the release",
    ),
    "no tables at all": (_set("tables", to=[]), "manifest: cannot be read"),
    "a list of nothing": (_set("tables", to=[1]), "manifest: cannot be read"),
    "one table": (_of_one_table, "is of one table, and the release of several"),
}


@some(1)
@pytest.mark.parametrize("name", few(MANIFESTS, 6, by=3))
def test_a_manifest_that_was_changed(forged: Place[SchemaPolicy], name: str) -> None:
    """The digest shows a change, and so does what is judged where the seal was made anew."""
    change, says = MANIFESTS[name]
    data = manifest(forged.file)
    change(data)
    put(forged.file, data)
    for policy in (forged.policy, None):
        with pytest.raises(AnonymizerError, match=r"manifest|tables|policy"):
            anonymizer.verify(policy, forged.file)
    data["seal"]["digest"] = manifest_digest(data)
    put(forged.file, data)
    with pytest.raises(AnonymizerError) as told:
        anonymizer.verify(forged.policy, forged.file)
    assert says in str(told.value)
    assert not passes(forged.file)
    with pytest.raises(AnonymizerError, match=r"not that of this key|cannot be read"):
        anonymizer.verify(None, forged.file, public_key=forged.key)


def manifest(file: Path) -> dict[str, Any]:
    with duckdb.connect(str(file), read_only=True) as connection:
        rows = connection.execute("select manifest from patients_manifest").fetchall()
    found: dict[str, Any] = json.loads(rows[0][0])
    return found


def put(file: Path, data: dict[str, Any]) -> None:
    text = json.dumps(data, indent=2, sort_keys=True)
    with duckdb.connect(str(file)) as connection:
        connection.execute("update patients_manifest set manifest = ?", [text]).fetchall()


def passes(file: Path) -> bool:
    """Whether a recipient who has the file alone is content."""
    try:
        return anonymizer.verify(None, file).passed
    except AnonymizerError:
        return False


# changes of rows after which the seal is made anew: what is judged then
RESEALED: dict[str, tuple[list[str], tuple[str, str | None]]] = {
    "an event of one person": (
        ["update visits set ward = 'eyes', day = '[2024-01-01, 2024-01-01]' where rowid = 3"],
        ("known_events", None),
    ),
    "a cell of another grammar": (
        ["update visits set day = 'in spring' where rowid = 3"],
        ("cell_form", "visits.day"),
    ),
    "a link to nobody": (
        ["update labs set visit_id = 10000 where rowid = 3"],
        ("references", "labs.visit_id"),
    ),
    "a link that is NULL": (
        ["update labs set visit_id = null where rowid = 3"],
        ("references", "labs.visit_id"),
    ),
    "a key twice": (
        ["update visits set visit_id = 2 where visit_id = 1"],
        ("key_dense", "visits"),
    ),
    "keys of the source": (
        [
            "update visits set visit_id = visit_id + 50000",
            "update labs set visit_id = visit_id + 50000",
        ],
        ("key_dense", "visits"),
    ),
    "everybody ill alike": (
        ["update visits set diagnosis = 'A1'"],
        ("distinct_l", "visits.diagnosis"),
    ),
    "a person fewer": (
        ["delete from {rows} where patient_id = 1"],
        ("references", "visits.patient_id"),
    ),
}  # fmt: skip


@some(1)
@pytest.mark.parametrize("name", few(RESEALED, 4, by=2))
def test_rows_that_were_sealed_again(forged: Place[SchemaPolicy], name: str) -> None:
    """What no longer keeps a promise fails by its check, with the policy and without."""
    statements, check = RESEALED[name]
    run_id = manifest(forged.file)["run_id"]
    rows = f'"_patients_{run_id}"'
    hospital.changed(forged.file, *(one.replace("{rows}", rows) for one in statements))
    seal_again(forged.file, "patients")
    for policy in (forged.policy, None):
        found = anonymizer.verify(policy, forged.file)
        assert check in {(one.name, one.column) for one in found.failed}
    with pytest.raises(GuaranteeError, match="is not signed"):
        anonymizer.verify(forged.policy, forged.file, public_key=forged.key)


def test_rows_as_good_need_a_signature(forged: Place[SchemaPolicy]) -> None:
    """What keeps every promise and every figure is a release as good; only a key tells it."""
    hospital.changed(forged.file, "update labs set value = 99 - value")
    seal_again(forged.file, "patients")
    assert anonymizer.verify(forged.policy, forged.file).passed
    with pytest.raises(GuaranteeError, match="is not signed"):
        anonymizer.verify(forged.policy, forged.file, public_key=forged.key)


@pytest.mark.slow
def test_rows_and_figures(forged: Place[SchemaPolicy]) -> None:
    """The figures of a table that the manifest states are looked at as well."""
    data = manifest(forged.file)
    data["measures"]["tables"]["labs"]["rows"] += 1
    data["seal"]["digest"] = manifest_digest(data)
    put(forged.file, data)
    rewrite(forged.file)
    for policy in (forged.policy, None):
        with pytest.raises(GuaranteeError, match=r"manifest\.measures\.tables\.labs"):
            anonymizer.verify(policy, forged.file)
