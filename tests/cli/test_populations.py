"""A release whose only guarantee is about a population is judged by whoever has the population."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import Call
from tests.selection import some

POLICY = """\
version: 1
source: {{table: people}}
columns: {{age: {{role: quasi}}, sex: {{role: quasi}}, ill: {{role: keep}}}}
privacy: {{k_map: {{k: 5, population: {{{population}}}}}}}
publish: {{name: v, database: release.duckdb}}
"""
VERBS = {
    "verify": ("verify", "policy.yml"),
    "verify independently": ("verify", "policy.yml", "--independent"),
    "export": ("export", "policy.yml", "-o", "out.csv"),
}
REPORT = ("report", "policy.yml", "-o", "report.md")
GIVEN = ("--population", "everybody.parquet")


@pytest.fixture
def folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Call
) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yml").write_text(POLICY.format(population=request.param))
    with duckdb.connect("source.duckdb") as connection:
        made = "20 + i % 30 as age, 'mf'[1 + i % 2] as sex"
        connection.execute(
            f"create table people as select {made}, i % 5 as ill from range(120) t(i)"
        )
        connection.execute(f"create table everybody as select {made} from range(600) t(i)")
        connection.execute("copy everybody to 'everybody.parquet'")
    assert call("run", "policy.yml", "--database", "source.duckdb").code == 0
    return tmp_path


@some(3)
@pytest.mark.parametrize("folder", ["file: everybody.parquet"], indirect=True)
@pytest.mark.parametrize("verb", [*VERBS.values(), REPORT], ids=[*VERBS, "report"])
def test_a_population_in_a_file_of_the_policy(
    folder: Path, call: Call, verb: tuple[str, ...]
) -> None:
    done = call(*verb)
    assert done.code == 0
    (folder / "everybody.parquet").unlink()
    done = call(*verb)
    assert done.code == 2
    assert "needs the population" in done.err
    assert "--population FILE" in done.err


@some(3)
@pytest.mark.parametrize("folder", ["table: everybody"], indirect=True)
@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_population_in_a_table_of_the_source(
    folder: Path, call: Call, verb: tuple[str, ...]
) -> None:
    done = call(*verb)
    assert done.code == 2
    assert "needs the population, a table of the source" in done.err
    assert "--population FILE" in done.err
    assert not (folder / "out.csv").exists()
    done = call(*verb, *GIVEN)
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("folder", ["table: everybody"], indirect=True)
def test_a_report_reads_a_table_of_the_source(folder: Path, call: Call) -> None:
    done = call(*REPORT)
    assert done.code == 2
    assert "a report also reads a table of the source with --source" in done.err
    assert call(*REPORT, "--source", "source.duckdb").code == 0
    assert "k_map" in (folder / "report.md").read_text()


@pytest.mark.parametrize("folder", ["file: everybody.parquet"], indirect=True)
@pytest.mark.parametrize("verb", ["verify", "export"])
def test_a_population_of_which_too_few_match(folder: Path, call: Call, verb: str) -> None:
    """A later population is judged as it is."""
    with duckdb.connect() as connection:
        fewer = "select 20 as age, 'm' as sex from range(600)"
        connection.execute(f"copy ({fewer}) to '{folder / 'fewer.parquet'}'")
    done = call(*VERBS[verb], "--population", "fewer.parquet")
    assert done.code == 1
    assert "k_map" in done.err
