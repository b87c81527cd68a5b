"""The release ledger: what it remembers, what it refuses, and what becomes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.cli import main
from anonymizer.errors import AnonymizerError, EngineError, GuaranteeError
from anonymizer.ledger.session import forget_release, listed
from tests.forging import seal_ledger_again
from tests.selection import some
from tests.threats.population import Population, digests, policy


@pytest.fixture
def people(tmp_path: Path) -> Population:
    population = Population(seed=2, size=60)
    population.write(tmp_path / "source.duckdb")
    return population


def run(folder: Path, **changes: Any) -> Any:
    return anonymizer.run(policy(folder, **changes), folder / "source.duckdb")


PROTECTED = {
    "id": {"role": "identifier"},
    "age": {"role": "quasi"},
    "district": {"role": "quasi"},
    "disease": {"role": "sensitive", "protect": {"l_diversity": 3}},
}


@pytest.mark.slow
def test_ledger_refuses_what_two_releases_tell(
    tmp_path: Path, people: Population, capsys: pytest.CaptureFixture[str]
) -> None:
    first = run(tmp_path, columns=PROTECTED)
    before = (tmp_path / "release.duckdb").read_bytes()
    people.leave(10)
    people.arrive(10)
    people.write(tmp_path / "source.duckdb")
    with pytest.raises(GuaranteeError) as raised:
        run(tmp_path, columns=PROTECTED)
    problems = {problem.path: problem for problem in raised.value.problems}
    assert set(problems) == {"privacy.k_anonymity", "columns.disease"}
    for problem in problems.values():
        assert " of 50 returning persons" in problem.message
        assert "republish" in (problem.hint or "")
        assert "forget" in (problem.hint or "")
    assert (tmp_path / "release.duckdb").read_bytes() == before
    assert [entry.run_id for entry in listed(tmp_path / "private.duckdb")] == [first.run_id]
    # and on the command line: exit code 1
    written = tmp_path / "policy.yml"
    written.write_text(
        "version: 1\nsource: {table: visits}\nkey: id\ncolumns:\n"
        "  id: {role: identifier}\n  age: {role: quasi}\n  district: {role: quasi}\n"
        "  disease: {role: sensitive}\nprivacy: {k_anonymity: 3}\nledger: private.duckdb\n"
        "publish: {name: released, database: release.duckdb}\n"
    )
    arguments = ["run", str(written), "--database", str(tmp_path / "source.duckdb")]
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 1
    assert "privacy.k_anonymity: with the earlier releases" in capsys.readouterr().err


@some(1)
@pytest.mark.parametrize("algorithm", ["mondrian", "msb"])
def test_ledger_order_tells_nobodys_value(tmp_path: Path, algorithm: str) -> None:
    """No place among the members is that of a row of the release, or of a value remembered."""
    people = Population(seed=3, size=400)
    people.write(tmp_path / "source.duckdb")
    protected = {"role": "sensitive", "protect": {"l_diversity": 3}}
    run(
        tmp_path,
        columns={**PROTECTED, "disease": protected, "district": protected},
        privacy={"k_anonymity": 40} if algorithm == "mondrian" else {},
        algorithm={"name": algorithm},
        suppression_limit=0.2,
    )
    with duckdb.connect(str(tmp_path / "private.duckdb"), read_only=True) as connection:
        members = connection.execute(
            "select person from anonymizer_ledger.members order by rowid"
        ).fetchall()
        signatures = connection.execute(
            "select signature from anonymizer_ledger.signatures"
        ).fetchall()
    known = digests(tmp_path, people.people)
    order = [known[person] for (person,) in members]
    assert order == sorted(order), "they lie as in the source"
    assert max(len(values) for (values,) in signatures) > 2
    assert all(values == sorted(values) for (values,) in signatures)


@pytest.mark.slow
def test_ledger_refuses_the_secret_of_an_earlier_release(
    tmp_path: Path, people: Population
) -> None:
    chosen, source = policy(tmp_path), tmp_path / "source.duckdb"
    anonymizer.run(chosen, source, seed=7)
    with pytest.raises(GuaranteeError) as raised:
        anonymizer.run(chosen, source, seed=7)
    paths = [problem.path for problem in raised.value.problems]
    assert "seed" in paths
    assert "publish" in paths, "the numbers of classes are the same as well"


@pytest.mark.slow
def test_ledger_refuses_a_pseudonym(tmp_path: Path, people: Population) -> None:
    with duckdb.connect(str(tmp_path / "source.duckdb")) as connection:
        connection.execute("alter table visits add column token varchar").fetchall()
        connection.execute("update visits set token = md5(id::varchar)").fetchall()
    token = {"token": {"role": "keep", "acknowledge_unique": True}}
    columns = {**PROTECTED, **token, "disease": {"role": "sensitive"}}
    run(tmp_path, columns=columns)
    with pytest.raises(GuaranteeError) as raised:
        run(tmp_path, columns=columns)
    (problem,) = raised.value.problems
    assert problem.path == "columns.token"
    assert "60 persons" in problem.message
    with duckdb.connect(str(tmp_path / "source.duckdb")) as connection:
        connection.execute("update visits set token = md5('new' || id::varchar)").fetchall()
    run(tmp_path, columns=columns)


@pytest.mark.slow
def test_ledger_forgets_on_request(tmp_path: Path, people: Population) -> None:
    first = run(tmp_path, columns=PROTECTED)
    people.leave(10)
    people.arrive(10)
    people.write(tmp_path / "source.duckdb")
    with pytest.raises(GuaranteeError):
        run(tmp_path, columns=PROTECTED)
    assert forget_release(tmp_path / "private.duckdb", first.run_id).persons == 60
    assert listed(tmp_path / "private.duckdb") == ()
    run(tmp_path, columns=PROTECTED)
    with pytest.raises(AnonymizerError):
        forget_release(tmp_path / "private.duckdb", first.run_id)


@pytest.mark.slow
def test_ledger_holds_no_person(tmp_path: Path, people: Population) -> None:
    """Names are digests under a key that stands in a file of its own, for the owner alone."""
    with duckdb.connect(str(tmp_path / "source.duckdb")) as connection:
        connection.execute("alter table visits alter id type varchar").fetchall()
        connection.execute("update visits set id = 'patient-marker-' || id").fetchall()
    run(tmp_path, columns=PROTECTED)
    key = (tmp_path / "private.duckdb.key").read_text().strip()
    for file in ("private.duckdb", "private.duckdb.key"):
        assert (tmp_path / file).stat().st_mode & 0o777 == 0o600
    ledger = (tmp_path / "private.duckdb").read_bytes()
    assert b"patient-marker" not in ledger
    assert key.encode() not in ledger
    for file in ("release.duckdb", "released.manifest.json"):
        content = (tmp_path / file).read_bytes()
        assert key.encode() not in content
        assert b"private.duckdb" not in content
        assert b"ledger" not in content


@pytest.mark.slow
def test_ledger_without_its_key_is_refused(tmp_path: Path, people: Population) -> None:
    run(tmp_path)
    key = tmp_path / "private.duckdb.key"
    kept = key.read_text()
    for text in (None, "0" * 64 + "\n", "not a key\n"):
        key.unlink(missing_ok=True)
        if text is not None:
            key.write_text(text)
        with pytest.raises(EngineError) as raised:
            run(tmp_path)
        assert raised.value.problems[0].path == "ledger"
        assert "restore" in (raised.value.problems[0].hint or "")
    key.write_text(kept)
    run(tmp_path)


@pytest.mark.slow
def test_ledger_in_a_wrong_place(tmp_path: Path, people: Population) -> None:
    del people
    with duckdb.connect(str(tmp_path / "broken.duckdb")):
        pass
    (tmp_path / "broken.duckdb").write_bytes(b"no database")
    run(tmp_path, ledger=None, publish={"name": "r", "database": "other.duckdb"})
    for place in ("source.duckdb", "nowhere/private.duckdb", "broken.duckdb", "other.duckdb"):
        with pytest.raises(EngineError) as raised:
            run(tmp_path, ledger=place)
        assert raised.value.problems[0].path == "ledger"
    assert not (tmp_path / "release.duckdb").exists()


@pytest.mark.slow
@pytest.mark.parametrize("stands", [True, False])
def test_ledger_settles_a_killed_run(tmp_path: Path, people: Population, stands: bool) -> None:
    """What was remembered but perhaps not published: its target tells."""
    first = run(tmp_path)
    with duckdb.connect(str(tmp_path / "private.duckdb")) as connection:
        connection.execute("update anonymizer_ledger.releases set state = 'pending'").fetchall()
        if not stands:
            connection.execute("update anonymizer_ledger.releases set run_id = 'gone'").fetchall()
    seal_ledger_again(tmp_path / "private.duckdb")
    second = run(tmp_path)
    expected = [first.run_id, second.run_id] if stands else [second.run_id]
    assert [e.run_id for e in listed(tmp_path / "private.duckdb")] == expected
    assert {e.state for e in listed(tmp_path / "private.duckdb")} == {"published"}
    run(tmp_path)  # what was settled is sealed as published


@pytest.mark.slow
def test_ledger_of_lgb_buckets(tmp_path: Path, people: Population) -> None:
    options: dict[str, Any] = {"columns": PROTECTED, "algorithm": {"name": "lgb"}}
    run(tmp_path, **options)
    with pytest.raises(GuaranteeError) as raised:
        run(tmp_path, **options)  # nobody came or went: new randomness is a second release
    assert [problem.path for problem in raised.value.problems] == ["columns.disease"]
    assert "the one value that must be theirs" in raised.value.problems[0].message
