"""The dbt package in its integration project: built, verified, and left alone where that fails."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.macros.conftest import SCRIPT

pytestmark = pytest.mark.dbt

PACKAGE = Path(__file__).resolve().parent.parent.parent / "sql" / "dbt"
NO_NETWORK = "http://127.0.0.1:9"

# dbt in a process of its own, so that its warnings and its state are not ours
INVOKE = "\nimport sys; from dbt.cli.main import cli; cli(sys.argv[1:])"
# an algorithm that forgets k: the policy's guarantee fails when the rows are judged
FORGET_K = """
import anonymizer.algorithms.mondrian as compiling
careful = compiling.Partitioning
compiling.Partitioning = lambda **options: careful(**{**options, "k": 1})
"""


def called(
    folder: Path, program: str, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own, in the folder of a project and without a network."""
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env={
            **os.environ,
            "DBT_PROFILES_DIR": str(folder),
            "DO_NOT_TRACK": "1",
            "HTTP_PROXY": NO_NETWORK,
            "HTTPS_PROXY": NO_NETWORK,
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def results(folder: Path) -> dict[str, Any]:
    """Every node of the last invocation, by its name."""
    found = json.loads((folder / "target" / "run_results.json").read_text(encoding="utf-8"))
    return {one["unique_id"].split(".")[2]: one for one in found["results"]}


class Project:
    """A copy of the integration project with its own database."""

    def __init__(self, folder: Path) -> None:
        shutil.copytree(
            PACKAGE,
            folder / "dbt",
            ignore=shutil.ignore_patterns("target", "logs", "dbt_packages", "*.duckdb"),
        )
        self.folder = folder / "dbt" / "integration_tests"
        self.database = folder / "warehouse.duckdb"

    def dbt(self, *arguments: str, first: str = "") -> subprocess.CompletedProcess[str]:
        where = {"ANONYMIZER_DBT_DATABASE": str(self.database)}
        return called(self.folder, first + INVOKE, "--no-use-colors", *arguments, **where)

    def query(self, text: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(self.database), read_only=True) as connection:
            connection.execute(SCRIPT.read_text(encoding="utf-8")).fetchall()
            return connection.execute(text).fetchall()

    def results(self) -> dict[str, str]:
        return {name: one["status"] for name, one in results(self.folder).items()}

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("dbt"))
    deps = project.dbt("deps")
    assert deps.returncode == 0, deps.stdout + deps.stderr
    build = project.dbt("build")
    assert build.returncode == 0, build.stdout + build.stderr
    return project


def test_build_publishes_what_holds(built: Project) -> None:
    assert set(built.results().values()) <= {"success", "pass"}
    assert (
        built.query("from anon_k('visits_release', ['age', 'zip', 'sex', 'admitted'])")[0][0] >= 5
    )
    assert (
        built.query(
            "select min(distinct_l) from anon_l('visits_release', ['class_id'], 'disease')"
        )[0][0]
        >= 2
    )
    assert built.query("select count(*) from visits_release") == [(400,)]
    columns = [row[0] for row in built.query("describe visits_release")]
    assert sorted(columns) == ["admitted", "age", "class_id", "disease", "sex", "zip"]
    ((manifest,),) = built.query("select manifest from visits_release_manifest")
    assert json.loads(manifest)["reproducible"] is False
    assert not [*built.database.parent.glob("*.manifest.json")]
    copies = {file.parent.name for file in built.folder.rglob("*.manifest.json")}
    assert copies == {"target"}
    copy = built.folder / "target" / "visits_release.manifest.json"
    assert copy.read_text() == f"{manifest}\n"
    # a view over frozen rows, not over the model's SQL
    ((text,),) = built.query("select sql from duckdb_views() where view_name = 'visits_release'")
    assert "stg_visits" not in text


def test_dbt_says_what_was_published(built: Project) -> None:
    run = built.dbt("run", "--select", "visits_release")
    assert run.returncode == 0, run.stdout
    found = json.loads((built.folder / "target" / "run_results.json").read_text())["results"]
    (node,) = (one for one in found if one["unique_id"].endswith(".visits_release"))
    assert re.match(r"k=\d+, 400 rows, NCP 0\.\d+", node["message"]), node
    assert "replaced the release before" in node["message"]
    assert node["adapter_response"]["rows_affected"] == 400
    assert "replaced: " in run.stdout or "warn" in run.stdout.lower()


def test_a_release_has_evidence_and_a_file_to_hand_out(built: Project, tmp_path: Path) -> None:
    """By the complete policy in the target folder, which is that of the release."""
    for name in ("visits_release", "visits_inline"):
        policy = built.folder / "target" / f"{name}.policy.yml"
        on = (str(policy), "--database", str(built.database))
        assert tool("verify", *on).returncode == 0
        page = tmp_path / f"{name}.html"
        made = tool("report", *on, "--as", "gdpr", "-o", str(page))
        assert made.returncode == 0, made.stderr
        assert "must not be used" not in page.read_text()
        file = tmp_path / f"{name}.parquet"
        assert tool("export", *on, "-o", str(file)).returncode == 0
        assert tool("verify", "--database", str(file)).returncode == 0


def tool(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "anonymizer", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


LEDGER = """
privacy: {k_anonymity: 5}
key: visit_id
suppression_limit: 0.2
ledger: private.duckdb
"""


def test_a_full_refresh_warns_where_there_is_a_ledger(built: Project) -> None:
    """The flag is used for a seed that changed; here it says that the persons are others."""
    policy = built.folder / "policies" / "visits.yml"
    before = policy.read_text()
    try:
        policy.write_text(LEDGER)
        first = built.dbt("run", "--select", "visits_release")
        assert first.returncode == 0, first.stdout
        assert (policy.parent / "private.duckdb").is_file()
        again = built.dbt("run", "--full-refresh", "--select", "visits_release")
        assert again.returncode == 0, again.stdout
        assert "--full-refresh said that the persons are others" in " ".join(again.stdout.split())
    finally:
        policy.write_text(before)


NOT_INSTALLED = """
import sys
sys.modules["anonymizer"] = None
"""


def test_without_the_package_one_line_says_what_to_install(built: Project) -> None:
    failed = built.dbt("run", "--select", "visits_release", first=NOT_INSTALLED)
    assert failed.returncode == 1
    assert "install it into the environment of dbt" in failed.stdout
    assert "Traceback" not in failed.stdout + failed.stderr


def test_an_enforced_contract_is_refused(built: Project) -> None:
    model = built.folder / "models" / "releases" / "visits_release.sql"
    before = model.read_text()
    try:
        head = "{{ config(contract={'enforced': true}) }}"
        model.write_text(f"{head}\n{before}")
        failed = built.dbt("run", "--select", "visits_release")
        assert failed.returncode != 0
        assert "contract" in failed.stdout
    finally:
        model.write_text(before)


def test_persons_count_where_the_policy_says_so(built: Project) -> None:
    ((k,),) = built.query("from anon_person_k('visits_inline', ['class_id'], 'person_id')")
    assert k >= 3


def test_a_second_run_replaces_the_release(built: Project) -> None:
    before = built.query("select manifest from visits_release_manifest")
    run = built.dbt("run", "--select", "visits_release")
    assert run.returncode == 0, run.stdout
    after = built.query("select manifest from visits_release_manifest")
    assert json.loads(after[0][0])["run_id"] != json.loads(before[0][0])["run_id"]
    tables = built.query(
        "select count(*) from duckdb_tables() where starts_with(table_name, '_visits_release_')"
    )
    assert tables == [(1,)]


def test_a_release_that_violates_k_does_not_replace_the_old_one(built: Project) -> None:
    before = built.query("from visits_release order by all")
    manifest = built.query("select manifest from visits_release_manifest")
    failed = built.dbt("run", "--select", "visits_release", first=FORGET_K)
    assert failed.returncode == 1
    assert built.results()["visits_release"] == "error"
    assert "k_anonymity" in failed.stdout
    assert "nothing was published" in failed.stdout
    assert "Traceback" not in failed.stdout + failed.stderr
    assert built.query("from visits_release order by all") == before
    assert built.query("select manifest from visits_release_manifest") == manifest
    again = built.dbt("test", "--select", "visits_release")
    assert again.returncode == 0, again.stdout


def test_a_policy_that_cannot_work_is_an_error_without_values(built: Project) -> None:
    policy = built.folder / "policies" / "visits.yml"
    before = policy.read_text()
    try:
        policy.write_text(
            "privacy: {k_anonymity: 5}\nsource: {table: x}\ncolumns: {age: {role: quasi}}\n"
        )
        failed = built.dbt("run", "--select", "visits_release")
        assert failed.returncode == 1
        assert "source: is in the policy" in failed.stdout
        assert "columns.age: is in the policy and in the column's meta" in failed.stdout
        assert "patient 0" not in failed.stdout + failed.stderr
    finally:
        policy.write_text(before)
    assert built.query("select count(*) from visits_release") == [(400,)]


@pytest.mark.slow
def test_a_model_that_was_a_table_meanwhile_says_what_to_drop(built: Project) -> None:
    model = built.folder / "models" / "releases" / "visits_release.sql"
    before = model.read_text()
    try:
        model.write_text(before.replace('"anonymized"', '"table"'))
        assert built.dbt("run", "--select", "visits_release").returncode == 0
        model.write_text(before)
        failed = built.dbt("run", "--select", "visits_release")
    finally:
        model.write_text(before)
    assert failed.returncode == 1
    assert "exists and was not published by this tool" in failed.stdout, failed.stdout
    with duckdb.connect(str(built.database)) as connection:
        connection.execute("drop table visits_release")
    assert built.dbt("run", "--select", "visits_release").returncode == 0
    assert built.query("select count(*) from visits_release") == [(400,)]


def _tests(cases: dict[str, tuple[str, dict[str, Any], dict[str, Any]]]) -> str:
    """A properties file with these tests on stg_visits: name -> (test, arguments, config)."""
    entries = [
        {f"anonymizer.{test}": {"name": name, "arguments": arguments, "config": config}}
        for name, (test, arguments, config) in cases.items()
    ]
    return json.dumps({"version": 2, "models": [{"name": "stg_visits", "data_tests": entries}]})


def test_generic_tests_agree_with_the_macros(built: Project) -> None:
    """Every bound holds at what the macro finds, and fails just beyond it; NULLs are there."""
    quasi = ["sex", "age"]
    on = "'stg_visits', ['sex', 'age']"
    (k,) = built.query(f"from anon_k({on})")[0]
    (p,) = built.query(f"from anon_person_k({on}, 'patient')")[0]
    rough = "'stg_visits', ['sex']"
    (distinct, entropy, c) = built.query(f"from anon_l({rough}, 'disease', l := 3)")[0]
    (equal, ordered) = built.query(f"from anon_t({rough}, 'disease')")[0]
    (t_age,) = built.query("select t_ordered from anon_t('stg_visits', ['zip'], 'age')")[0]
    s = {"quasi": ["sex"], "sensitive": "disease"}
    cases: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {}
    bounds: list[tuple[str, str, dict[str, Any], str, Any, Any]] = [
        ("k", "k_anonymity", {"quasi": quasi}, "k", k, k + 1),
        ("person", "person_k_anonymity", {"quasi": quasi, "person": "patient"}, "k", p, p + 1),
        ("distinct", "l_diversity", s, "l", distinct, distinct + 1),
        ("entropy", "l_diversity", {**s, "kind": "entropy"}, "l", entropy - 1e-6, entropy + 1e-6),
        ("recursive", "l_diversity", {**s, "kind": "recursive", "l": 3}, "c", c + 1e-6, c - 1e-6),
        ("equal", "t_closeness", s, "t", equal + 1e-9, equal - 1e-9),
        (
            "ordered",
            "t_closeness",
            {**s, "distance": "ordered"},
            "t",
            ordered + 1e-9,
            ordered - 1e-9,
        ),
        (
            "t_age",
            "t_closeness",
            {"quasi": ["zip"], "sensitive": "age", "distance": "ordered"},
            "t",
            t_age + 1e-9,
            t_age - 1e-9,
        ),
    ]
    for name, test, arguments, bound, holds, fails in bounds:
        cases[f"{name}_holds"] = (test, {**arguments, bound: holds}, {})
        cases[f"{name}_fails"] = (test, {**arguments, bound: fails}, {"store_failures": True})
    cases["only_a_warning"] = ("k_anonymity", {"quasi": quasi, "k": 50}, {"severity": "warn"})
    cases["few_are_fine"] = (
        "k_anonymity",
        {"quasi": quasi, "k": 50},
        {"severity": "warn", "warn_if": ">1000"},
    )
    cases["on_a_part"] = ("k_anonymity", {"quasi": ["sex"], "k": 50}, {"where": "sex = 'male'"})
    cases["raw_columns"] = ("no_raw_columns", {"columns": ["PATIENT", "name"]}, {})
    built.write("models/staging/more.yml", _tests(cases))
    try:
        done = built.dbt("test", "--select", "stg_visits", "--indirect-selection", "cautious")
        found = built.results()
    finally:
        (built.folder / "models/staging/more.yml").unlink()
    assert done.returncode == 1, done.stdout
    expected = {name: "pass" if name.endswith("_holds") else "fail" for name in cases}
    expected |= {"only_a_warning": "warn", "few_are_fine": "pass", "on_a_part": "pass"}
    assert found == expected
    stored = built.query(
        "select table_name, string_agg(column_name, ' ') from duckdb_columns()"
        " where ends_with(schema_name, 'dbt_test__audit') group by all"
    )
    assert len(stored) == 8
    allowed = {"group_number", "units", "persons", "achieved"}  # (no release has these groups)
    assert all(set(columns.split()) <= allowed for _, columns in stored)


DISEASE = {"quasi": ["sex"], "sensitive": "disease"}
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("k_anonymity", {"quasi": ["sex"], "k": -1}, "k: is -1 (allowed: a whole number from 1)"),
    ("k_anonymity", {"quasi": [], "k": 2}, "quasi: is needed, or class_id"),
    ("k_anonymity", {"quasi": "sex", "k": 2}, "quasi: is one text (allowed: a list of columns)"),
    ("k_anonymity", {"quasi": ["town"], "k": 2}, "quasi: the relation has no column town (allowed"),
    ("k_anonymity", {"k": 2}, "quasi: is needed, or class_id"),
    (
        "person_k_anonymity",
        {"quasi": ["sex"], "k": 2, "person": "town"},
        "person: the relation has no column town (allowed",
    ),
    (
        "l_diversity",
        {"quasi": ["sex"], "sensitive": "town", "l": 2},
        "sensitive: the relation has no column town (allowed",
    ),
    ("l_diversity", {**DISEASE, "l": 2, "kind": "x"}, "kind: is not a kind (allowed: distinct, "),
    ("t_closeness", {**DISEASE, "t": 2}, "t: is 2 (allowed: a number from 0 to 1)"),
    ("no_raw_columns", {}, "columns: is needed, or raw"),
    ("no_raw_columns", {"columns": "patient"}, "columns: is no list (allowed: a list of names)"),
]


def test_bad_arguments_are_named(built: Project) -> None:
    built.write(
        "models/staging/wrong.yml",
        _tests({f"wrong_{i}": (test, given, {}) for i, (test, given, _) in enumerate(WRONG)}),
    )
    try:
        done = built.dbt("test", "--select", "stg_visits", "--indirect-selection", "cautious")
    finally:
        (built.folder / "models/staging/wrong.yml").unlink()
    said = " ".join(done.stdout.split())
    for test, _, message in WRONG:
        assert f"{test}: {message}" in said, done.stdout


@pytest.mark.slow
def test_show_prints_the_source_and_inline_the_release(built: Project) -> None:
    """As the page on dbt warns: a model is shown by its SQL, which reads raw rows."""
    shown = built.dbt("show", "--select", "visits_release", "--output", "json")
    assert '"zip"' in shown.stdout
    assert "class_id" not in shown.stdout
    released = built.dbt(
        "show", "--inline", "select * from {{ ref('visits_release') }}", "--output", "json"
    )
    assert released.returncode == 0, released.stdout
    assert "class_id" in released.stdout


def test_a_relation_that_is_missing_passes_no_test(built: Project) -> None:
    """It has no columns, and so none that it must not have."""
    built.write("models/gone.sql", "{{ config(enabled=true) }} select 1 as id")
    raw = {"raw": "{{ ref('gone') }}"}
    of_gone = {"anonymizer.no_raw_columns": {"name": "of_gone", "arguments": {"columns": ["x"]}}}
    against = {"anonymizer.no_raw_columns": {"name": "against_gone", "arguments": raw}}
    models = [
        {"name": "gone", "data_tests": [of_gone]},
        {"name": "stg_visits", "data_tests": [against]},
    ]
    built.write("models/gone.yml", json.dumps({"version": 2, "models": models}))
    try:
        done = built.dbt("test", "--select", "gone", "stg_visits")
        found = built.results()
    finally:
        (built.folder / "models/gone.sql").unlink()
        (built.folder / "models/gone.yml").unlink()
    assert done.returncode == 1
    assert (found["of_gone"], found["against_gone"]) == ("error", "error"), done.stdout
    assert "there is no relation" in done.stdout


@pytest.mark.slow
def test_a_collation_makes_no_class_larger(built: Project) -> None:
    """Values that a column's collation takes for equal are told apart by who reads them."""
    built.write(
        "models/collated.sql",
        "{{ config(materialized='table') }}"
        " select case when i % 2 = 0 then 'a' else 'A' end collate nocase as town,"
        " case when i % 2 = 0 then -0.0::double else 0.0::double end as zero from range(4) t(i)",
    )
    tests = [
        {"anonymizer.k_anonymity": {"name": name, "arguments": {"k": k, "quasi": quasi}}}
        for name, k, quasi in (
            ("two_hold", 2, ["town"]),
            ("three_fail", 3, ["town"]),
            ("four_hold", 4, ["zero"]),
        )
    ]
    models = [{"name": "collated", "data_tests": tests}]
    built.write("models/collated.yml", json.dumps({"version": 2, "models": models}))
    try:
        done = built.dbt("build", "--select", "collated")
        found = built.results()
    finally:
        (built.folder / "models/collated.sql").unlink()
        (built.folder / "models/collated.yml").unlink()
    expected = {"collated": "success", "two_hold": "pass", "three_fail": "fail"}
    assert found == {**expected, "four_hold": "pass"}, done.stdout
