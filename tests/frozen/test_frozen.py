"""Policies give the rows, figures and messages that they gave when they were last approved."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer import Policy, SchemaPolicy
from anonymizer.cli import main
from anonymizer.engines.base import Limits
from tests.frozen import corpus

ONE = Limits(threads=1)
CASES = {
    (file, name): given for file in corpus.files() for name, given in corpus.cases(file).items()
}
ON = {
    engine: {n: given for (_, n), given in CASES.items() if engine in given.get("engines", ())}
    for engine in ("postgres", "spark")
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return corpus.make_template(tmp_path_factory.mktemp("frozen") / "source.duckdb")


@pytest.fixture(scope="module")
def found(request: pytest.FixtureRequest) -> Iterator[dict[str, dict[str, Any]]]:
    """The answers of this run, by file; approved at the end if that was asked for."""
    made: dict[str, dict[str, Any]] = {}
    yield made
    if request.config.getoption("--update-frozen"):
        for file, answers in made.items():
            corpus.write_answers(file, answers)


@pytest.fixture
def approved(request: pytest.FixtureRequest, found: dict[str, dict[str, Any]]) -> Any:
    """Compare an answer with the approved one, as JSON, or take it as the new one."""

    def compare(file: str, name: str, answer: Any) -> None:
        answer = json.loads(json.dumps(answer))
        found.setdefault(file, {})[name] = answer
        if not request.config.getoption("--update-frozen"):
            assert answer == corpus.answers(file).get(name), f"{file}: {name}"

    return compare


def listed(*files: str) -> list[Any]:
    return [pytest.param(*case, id="-".join(case)) for case in CASES if case[0] in files]


def fetched(connection: duckdb.DuckDBPyConnection, place: str) -> tuple[list[str], list[Any]]:
    cursor = connection.execute(f"from {place}")
    return [one[0] for one in cursor.description], cursor.fetchall()


@pytest.mark.parametrize(("file", "name"), listed(*(f for f in corpus.files() if f != "refusals")))
def test_on_duckdb(file: str, name: str, template: Path, tmp_path: Path, approved: Any) -> None:
    source = corpus.prepare(tmp_path, template)

    def rows(release: Any, view: str) -> tuple[list[str], list[Any]]:
        schema = release.view.split(".")[0]
        with duckdb.connect(str(release.database or source), read_only=True) as connection:
            return fetched(connection, f'"{schema}"."{view}"')

    given = CASES[file, name]
    approved(file, name, corpus.run_case(given, tmp_path, source, rows, limits=ONE))


@pytest.mark.parametrize(("file", "name"), listed("refusals"))
def test_refusals(
    file: str,
    name: str,
    template: Path,
    tmp_path: Path,
    approved: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the command line says, and its exit code; nothing is published."""
    corpus.prepare(tmp_path, template)
    monkeypatch.chdir(tmp_path)
    Path("policy.yml").write_text(json.dumps(corpus.policy_of(CASES[file, name])))
    with pytest.raises(SystemExit) as ended:
        main(["run", "policy.yml", "--database", "source.duckdb", "--test-seed", "7"])
    said = capsys.readouterr()
    assert not Path("release.duckdb").exists()
    lines = [line for line in said.err.splitlines() if line.strip()]
    approved(file, name, {"exit": ended.value.code, "stdout": said.out, "stderr": lines})


@pytest.mark.postgres
@pytest.mark.parametrize("name", ON["postgres"])
def test_on_postgres(
    name: str, template: Path, tmp_path: Path, approved: Any, postgres: str
) -> None:
    import psycopg

    from tests.backends.tables import load

    source = corpus.prepare(tmp_path, template)
    with duckdb.connect(str(source), read_only=True) as connection:
        types = {row[0]: row[1] for row in connection.execute("describe people").fetchall()}
        load(postgres, types, connection.execute("from people").fetchall(), "people")

    def rows(release: Any, view: str) -> tuple[list[str], list[Any]]:
        with psycopg.connect(postgres) as connection:
            cursor = connection.execute(f'select * from "{release.view.split(".")[0]}"."{view}"')
            return [one[0] for one in cursor.description or ()], cursor.fetchall()

    given = ON["postgres"][name]
    given = {**given, "publish": {**given.get("publish", {}), "database": None}}
    answer = corpus.run_case(given, tmp_path, postgres, rows, engine="postgres")
    same_rows(name, answer)
    approved("postgres", name, answer)


@pytest.mark.spark
@pytest.mark.parametrize("name", ON["spark"])
def test_on_spark(name: str, template: Path, tmp_path: Path, approved: Any, spark: Any) -> None:
    source = corpus.prepare(tmp_path, template)
    with duckdb.connect(str(source), read_only=True) as connection:
        connection.execute(f"copy people to '{tmp_path / 'people.parquet'}'")

    def rows(release: Any, view: str) -> tuple[list[str], list[Any]]:
        with duckdb.connect() as connection:
            return fetched(connection, f"'{tmp_path}/released/{view}.parquet/*.parquet'")

    given = {**ON["spark"][name], "source": {"file": "people.parquet"}, "like": "people"}
    given["publish"] = {**given.get("publish", {}), "database": "released"}
    answer = corpus.run_case(given, tmp_path, spark, rows)
    same_rows(name, answer)
    approved("spark", name, answer)


def same_rows(name: str, answer: Any) -> None:
    """Whether another engine publishes what DuckDB does."""
    known = {n: of for file in corpus.files() for n, of in corpus.answers(file).items()}
    if name in known:
        assert answer.get("rows") == known[name].get("rows"), answer


OF_ENGINES = {"postgres", "spark"}
"""Words for what the tests above ask for by other means."""


def test_every_option_of_a_policy_is_in_the_corpus() -> None:
    """Each name of an option and each of its keywords, as the schema of policies lists them."""
    names: set[str] = set()
    words: set[str] = set()
    for kind in (Policy, SchemaPolicy):
        schema = kind.model_json_schema()
        for part in [schema, *schema.get("$defs", {}).values()]:
            names |= set(part.get("properties", {}))
            words |= set(keywords(part))
    assert len({name for _, name in CASES}) == len(CASES)
    made = map(corpus.policy_of, CASES.values())
    series = (given.get("series", ()) for given in CASES.values())
    used = {text for one in (*made, *series) for text in corpus.leaves(one)}
    assert sorted((names | words) - used - OF_ENGINES) == []


def keywords(part: Any) -> Iterator[str]:
    """The values of every enumeration and constant."""
    if isinstance(part, dict):
        yield from map(str, part.get("enum", ()))
        if "const" in part:
            yield str(part["const"])
        for of in part.values():
            yield from keywords(of)
    elif isinstance(part, list):
        for of in part:
            yield from keywords(of)
