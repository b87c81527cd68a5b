"""dbt on Postgres: the package's tests, and the page's build with a release between two steps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.backends.conftest import postgres
from tests.backends.tables import query
from tests.dbt.test_dbt_package import FORGET_K, INVOKE, called, results
from tests.docs.blocks import ROOT, blocks

__all__ = ["postgres"]

pytestmark = [pytest.mark.dbt, pytest.mark.postgres]

PAGE = ROOT / "docs" / "how-to" / "dbt-postgres.md"
RUN = "\nimport sys; from anonymizer.cli import main; sys.exit(main())"
STAGED = """
select
    i as visit,
    'patient ' || i / 2 as patient,
    nullif(20 + (i * 37) % 9, 25) as age,
    case when i % 3 = 0 then 'female' else 'male' end as sex,
    (array['Flu', 'Asthma', 'Cancer', null, 'Fracture'])[(i * i) % 11 % 5 + 1] as disease
from generate_series(0, 299) as numbers(i)
"""


class Project:
    """The page's project, in a database of its server."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address = folder, address
        parts = urlsplit(address)
        output = {
            "type": "postgres",
            "host": parts.hostname,
            "port": parts.port,
            "user": parts.username,
            "password": "",
            "dbname": parts.path.strip("/"),
            "schema": "staging",
            "threads": 2,
        }
        files = {block.file: block.code for block in blocks(PAGE) if block.file}
        files["dbt_project.yml"] = json.dumps(
            {"name": "page", "version": "1.0.0", "profile": "page"}
        )
        files["packages.yml"] = json.dumps({"packages": [{"local": str(ROOT / "sql" / "dbt")}]})
        files["profiles.yml"] = json.dumps({"page": {"target": "dev", "outputs": {"dev": output}}})
        for name, text in files.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")

    def call(self, program: str, *arguments: str, first: str = "") -> Any:
        """`dbt` or `anonymizer` in a process of its own."""
        return called(self.folder, first + (INVOKE if program == "dbt" else RUN), *arguments)

    def results(self) -> dict[str, str]:
        return {name: one["status"] for name, one in results(self.folder).items()}


@pytest.fixture(scope="module")
def project(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    made = Project(tmp_path_factory.mktemp("dbt"), postgres)
    deps = made.call("dbt", "deps")
    assert deps.returncode == 0, deps.stdout + deps.stderr
    yield made
    query(postgres, "drop schema if exists staging, published, _anonymizer cascade")


@pytest.fixture(scope="module")
def commands(project: Project) -> list[list[str]]:
    """The commands of the page."""
    (lines,) = [block.code for block in blocks(PAGE) if block.language == "sh"]
    return [line.replace("$DATABASE", project.address).split() for line in lines.splitlines()]


@pytest.fixture(scope="module")
def built(project: Project, commands: list[list[str]]) -> Project:
    """The project after the build of the page."""
    for command in commands:
        done = project.call(*command)
        assert done.returncode == 0, done.stdout + done.stderr
    return project


def test_the_page_works(built: Project, commands: list[list[str]]) -> None:
    assert [command[0] for command in commands] == ["dbt", "anonymizer", "dbt"]
    status = built.results()
    assert set(status.values()) <= {"success", "pass"}
    assert len(status) == 6
    assert query(built.address, "select sum(visits) from staging.visits_by_disease") == [(800,)]


def test_a_guarantee_that_fails_ends_the_build(built: Project, commands: list[list[str]]) -> None:
    """Views of dbt on the release stand in no way: they stay, and read the next one."""
    policy = built.folder / "policies" / "visits.yml"
    before, shown = policy.read_text(), "select * from published.visits_anonymous"
    rows = query(built.address, shown)
    try:
        policy.write_text(before.replace("k_anonymity: 5", "k_anonymity: 9"))
        failed = built.call(*commands[1], first=FORGET_K)
        assert failed.returncode == 1
        assert "k_anonymity" in failed.stderr
        assert "Traceback" not in failed.stdout + failed.stderr
        assert query(built.address, shown) == rows
        again = built.call(*commands[1])
        assert again.returncode == 0, again.stderr
    finally:
        policy.write_text(before)
    assert query(built.address, "select sum(visits) from staging.visits_by_disease") == [(800,)]


def test_a_release_that_somebody_changed_ends_the_build(
    built: Project, commands: list[list[str]]
) -> None:
    """The tests of dbt stop what the verification of the run could not see."""
    (rows,) = query(
        built.address,
        "select tablename from pg_tables where schemaname = 'published' and tablename like '\\_%'",
    )[0]
    query(built.address, f"update published.\"{rows}\" set age = '17' where person_id < 3")
    done = built.call(*commands[-1])
    assert done.returncode == 1
    status = built.results()
    assert "fail" in status.values()
    assert status["visits_by_disease"] == "skipped"


def test_the_materialization_points_to_the_page(project: Project) -> None:
    project.write("models/wrong.sql", '{{ config(materialized="anonymized") }} select 1 as age')
    try:
        done = project.call("dbt", "run", "--select", "wrong")
    finally:
        (project.folder / "models/wrong.sql").unlink()
    assert done.returncode == 1
    assert "docs/how-to/dbt-postgres.md" in done.stdout


@pytest.fixture
def staged(project: Project) -> Iterator[Project]:
    """The project with the table `staged.visits`."""
    query(project.address, "drop schema if exists staged cascade")
    query(project.address, "create schema staged")
    query(project.address, f"create table staged.visits as {STAGED}")
    yield project
    query(project.address, "drop schema staged cascade")


def failed(project: Project, tests: list[dict[str, Any]]) -> str:
    """What dbt says of tests of that table, some of which fail."""
    table = {"name": "visits", "data_tests": tests}
    source = {"name": "staged", "schema": "staged", "tables": [table]}
    project.write("models/staged.yml", json.dumps({"version": 2, "sources": [source]}))
    try:
        done = project.call("dbt", "test", "--select", "source:staged")
    finally:
        (project.folder / "models/staged.yml").unlink()
    assert done.returncode == 1, done.stdout
    return " ".join(done.stdout.split())


def test_a_column_in_other_letters_is_told_with_its_name(staged: Project) -> None:
    """Quoted names are compared as written on Postgres, and the tests quote all names."""
    wrong = {"name": "wrong", "arguments": {"k": 1, "quasi": ["Sex"]}}
    said = "k_anonymity: quasi: the relation has no column Sex (allowed: visit, patient, age, sex,"
    assert said in failed(staged, [{"anonymizer.k_anonymity": wrong}])
