"""The release ledger: what it remembers, what it refuses, and what becomes of it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.cli import main
from anonymizer.compile import Sql, ident
from anonymizer.engines.duckdb.connection import DuckDBEngine, scratch
from anonymizer.errors import AnonymizerError, EngineError, GuaranteeError
from anonymizer.ledger.compare import Comparison
from anonymizer.ledger.entries import Entry
from anonymizer.ledger.protected_columns import Facet
from anonymizer.ledger.session import forget_release, listed
from anonymizer.ledger.store import CREATE, MEMBERS, NEW_MEMBERS, NEW_SIGNATURES, SIGNATURES
from tests.forging import seal_ledger_again
from tests.selection import few, some
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


@pytest.mark.slow
def test_ledger_of_lgb_buckets(tmp_path: Path, people: Population) -> None:
    options: dict[str, Any] = {"columns": PROTECTED, "algorithm": {"name": "lgb"}}
    run(tmp_path, **options)
    with pytest.raises(GuaranteeError) as raised:
        run(tmp_path, **options)  # nobody came or went: new randomness is a second release
    assert [problem.path for problem in raised.value.problems] == ["columns.disease"]
    assert "the one value that must be theirs" in raised.value.problems[0].message


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
def test_ledger_leaves_a_users_connection_as_it_is(tmp_path: Path, people: Population) -> None:
    """Settings are of the whole database, and may be locked: none of them is touched."""
    with duckdb.connect(str(tmp_path / "source.duckdb")) as connection:
        connection.execute("set lock_configuration = true")
        anonymizer.run(policy(tmp_path), connection)
        anonymizer.run(policy(tmp_path), connection)
    assert len(listed(tmp_path / "private.duckdb")) == 2


@pytest.mark.slow
def test_ledger_lets_the_same_classes_pass(tmp_path: Path, people: Population) -> None:
    """Without a protected column the same table has the same classes: nothing new is told."""
    run(tmp_path)
    run(tmp_path)
    assert [e.state for e in listed(tmp_path / "private.duckdb")] == ["published", "published"]


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
def test_a_value_that_many_share_is_no_pseudonym(tmp_path: Path, people: Population) -> None:
    """Whatever the policy acknowledges: five values over sixty persons tell nobody apart."""
    with duckdb.connect(str(tmp_path / "source.duckdb")) as connection:
        connection.execute("alter table visits add column shift integer").fetchall()
        connection.execute("update visits set shift = id % 5").fetchall()
    shift = {"shift": {"role": "keep", "acknowledge_unique": True}}
    columns = {**PROTECTED, **shift, "disease": {"role": "sensitive"}}
    run(tmp_path, columns=columns)
    run(tmp_path, columns=columns)
    with duckdb.connect(str(tmp_path / "source.duckdb")) as connection:
        connection.execute("update visits set shift = 9 where id = 7").fetchall()
    run(tmp_path, columns=columns)
    with pytest.raises(GuaranteeError, match=r"columns.shift: .* 1 of 1 persons"):
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


def test_ledger_that_is_locked(tmp_path: Path, people: Population, monkeypatch: Any) -> None:
    run(tmp_path)
    monkeypatch.setattr("anonymizer.ledger.store.PATIENCE", 0.3)
    with duckdb.connect(str(tmp_path / "private.duckdb")), pytest.raises(EngineError) as raised:
        run(tmp_path)
    assert "locked" in raised.value.problems[0].message


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
def test_ledger_tables_of_a_user_stay(tmp_path: Path, people: Population) -> None:
    del people
    with duckdb.connect(str(tmp_path / "private.duckdb")) as connection:
        connection.execute("create table notes as select 1 as note").fetchall()
    run(tmp_path)
    with duckdb.connect(str(tmp_path / "private.duckdb")) as connection:
        assert connection.execute("from notes").fetchall() == [(1,)]


def test_ledger_for_an_open_connection(tmp_path: Path, people: Population) -> None:
    """Beside the source, on the user's connection: remembered too, and nothing stays attached."""
    del people
    with duckdb.connect(str(tmp_path / "source.duckdb")) as connection:
        chosen = policy(tmp_path, publish={"name": "released"})
        release = anonymizer.run(chosen, connection)
        names = {row[0] for row in connection.execute("show databases").fetchall()}
        assert names == {"source"}
    assert [e.run_id for e in listed(tmp_path / "private.duckdb")] == [release.run_id]


@pytest.mark.parametrize("seed", few(range(12), 5))
def test_ledger_comparison_equals_naive_counting(seed: int) -> None:
    """Random memberships in several releases against a definition written out in Python."""
    draw = random.Random(seed)
    releases = draw.randint(1, 4)
    k, least = draw.randint(2, 4), draw.randint(2, 3)
    people = range(draw.randint(5, 40))
    classes: list[dict[int, int]] = []
    values: list[dict[int, set[int]]] = []
    for _ in range(releases + 1):
        n = draw.randint(1, 6)
        here = {p: draw.randint(1, n) for p in people if draw.random() < 0.8}
        classes.append(here)
        values.append({c: set(draw.sample(range(5), draw.randint(1, 4))) for c in range(1, n + 1)})
    truth = {p: draw.choice(sorted(values[0][c])) for p, c in classes[0].items()}
    narrowed, certain, below = naive(classes, values, truth, k, least)
    problems = "\n".join(str(p) for p in compared(classes, values, truth, k, least))
    assert (f"{narrowed} of" in problems) == (narrowed > 0)
    assert ("privacy.k_anonymity" in problems) == (narrowed > 0)
    assert ("columns.v" in problems) == (below > 0)
    assert not below or f"values of {below} of" in problems
    assert (f"{certain} of them to the one value" in problems) == (certain > 0)


def naive(
    classes: list[dict[int, int]],
    values: list[dict[int, set[int]]],
    truth: dict[int, int],
    k: int,
    least: int,
) -> tuple[int, int, int]:
    narrowed = certain = below = 0
    for person in classes[0]:
        mine = [i for i, here in enumerate(classes) if person in here]
        if len(mine) < 2:
            continue
        sets = [{q for q, c in classes[i].items() if c == classes[i][person]} for i in mine]
        together = set.intersection(*sets)
        narrowed += len(together) < k and len(together) < min(map(len, sets))
        admitted = [values[i][classes[i][person]] for i in mine]
        common = set.intersection(*admitted)
        learned = len(common) < min(map(len, admitted)) and truth[person] in common
        certain += learned and len(common) == 1
        below += learned and len(common) < least
    return narrowed, certain, below


def compared(
    classes: list[dict[int, int]],
    values: list[dict[int, set[int]]],
    truth: dict[int, int],
    k: int,
    least: int,
) -> list[Any]:
    facet = Facet("v", "class", 1, Sql("l.class_id"), Sql("o.s1"), least, path="columns.v")
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        connection.execute("attach ':memory:' as anon_ledger").fetchall()
        with scratch(connection):
            engine = DuckDBEngine(connection, owns_connection=True)
            for text in CREATE:
                engine.raw(text, "test")
            engine.raw(
                f"create table {ident(NEW_MEMBERS)} (person uhugeint, class_id bigint,"
                " number bigint, marks uhugeint[], since integer, t1 bigint)",
                "test",
            )
            engine.raw(
                f"create table {ident(NEW_SIGNATURES)} (facet varchar, grp bigint,"
                " signature bigint[])",
                "test",
            )
            for release, (here, shown) in enumerate(zip(classes, values, strict=True)):
                for person, c in here.items():
                    row = f"{person}, {c}, null, {'' if not release else 'null, '}[]"
                    target = ident(NEW_MEMBERS if not release else MEMBERS)
                    text = (
                        f"({row}, 0, {truth[person]})"
                        if not release
                        else f"({release}, {row}, 0, 0)"
                    )
                    engine.raw(f"insert into {target} values {text}", "test")
                for c, admitted in shown.items():
                    listed_values = f"'v', {c}, {sorted(admitted)}"
                    target = ident(NEW_SIGNATURES if not release else SIGNATURES)
                    text = listed_values if not release else f"{release}, {listed_values}"
                    engine.raw(f"insert into {target} values ({text})", "test")
            entries = [
                Entry(
                    i,
                    f"run{i}",
                    "v",
                    "",
                    "",
                    "",
                    "published",
                    "{}",
                    "",
                    "",
                    False,
                    ("v",),
                    ("class",),
                    (),
                    0,
                    0,
                )
                for i in range(1, len(classes))
            ]
            chosen = policy(Path())
            comparison = Comparison(engine, chosen, (facet,), (), False, k, True)
            # class numbers of this table are no numbers of a release: they coincide by chance
            found = [p for p in comparison.run(entries).problems if p.path != "publish"]
            # those who come or go are counted in test_ledger_series
            return [p for p in found if "not in all" not in p.message]


def test_ledger_naive_counting_can_fail() -> None:
    """Two people of a class of three, split apart by a second release."""
    classes = [{1: 1, 2: 1, 3: 2}, {1: 1, 2: 2, 3: 2}]
    values: list[dict[int, set[int]]] = [{1: {1, 2}, 2: {1}}, {1: {2, 3}, 2: {1, 2, 3}}]
    assert naive(classes, values, {1: 2, 2: 2, 3: 1}, 2, 2) == (1, 1, 1)
    assert len(compared(classes, values, {1: 2, 2: 2, 3: 1}, 2, 2)) == 2
