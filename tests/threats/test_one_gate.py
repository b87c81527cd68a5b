"""Hostile databases: nothing but their own rows is in reach of the SQL they hold, in every verb."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.cli import main
from anonymizer.errors import AnonymizerError, GuaranteeError, TargetError
from anonymizer.process import run_folder
from tests import runs
from tests.selection import some

MARK = "QXMARKSECRET"
TYPES = {"id": "integer", "age": "integer", "name": "varchar", "disease": "varchar"}
PEOPLE = [(i, 20 + i % 12, f"n{i % 5}", ("flu", "cold", "hiv")[i % 3]) for i in range(60)]
COLUMNS: dict[str, Any] = {
    "id": "drop",
    "age": "quasi",
    "name": "keep",
    "disease": {"role": "sensitive", "protect": {"l_diversity": 2}},
}
POLICY = """\
version: 1
source: {{{source}}}
columns:
  id: {{role: drop}}
  age: {{role: quasi, hierarchy: {{builder: cardinality}}}}
  name: {{role: keep}}
  disease: {{role: sensitive, protect: {{l_diversity: 2}}}}
privacy: {{k_anonymity: 3}}
publish: {{name: released, database: out/release.duckdb}}
ledger: private/ledger.duckdb
"""

READINGS = {
    "read_text": "(select content from read_text('{mark}'))",
    "read_blob": "(select content::varchar from read_blob('{mark}'))",
    "read_csv": "(select max(column0) from read_csv('{mark}', header = false))",
    "a file as a table": "(select max(column0) from '{csv}')",
    "read_parquet": "(select max(a) from read_parquet('{parquet}'))",
    "glob": "(select max(file) || '{qx}' from glob('{folder}/*'))",
    "the key of the ledger": "(select content || '{qx}' from read_text('{folder}/private/*.key'))",
    "the folder of the release": "(select max(file) || '{qx}' from glob('{folder}/out/*'))",
    "the release": "(select '{qx}' || max(size) from read_blob('{folder}/out/release.duckdb'))",
    "the folder of the run": "(select max(content) || '{qx}' from read_text('{runs}/*/run.json'))",
    "above the folder of spilled data": (
        "(select max(content) || '{qx}'"
        " from read_text(current_setting('temp_directory') || '/../../run.json'))"
    ),
    "an allowed folder": (
        "(select max(content) || '{qx}'"
        " from read_text(current_setting('allowed_directories')[1] || '/../*'))"
    ),
    "the environment": "getenv('HOME') || '{qx}'",
    "the network": "(select content from read_text('http://127.0.0.1:9/x'))",
    "a scalar macro": "stolen()",
    "a table macro": "(select content from thief())",
    "query": "(select content from query($$from read_text('{mark}')$$))",
    "variables": "error(coalesce(getvariable('secret'), 'none'))",
    "a table of the run": "(select max(draw) || '{qx}' from anon_scratch.main.snapshot)",
    "the ledger": "(select '{qx}' || max(run_id) from anon_ledger.anonymizer_ledger.releases)",
}
"""SQL in the place of a name; what it finds bears the mark."""


def filled(reading: str, folder: Path) -> str:
    return reading.format(
        mark=folder / "mark.txt",
        csv=folder / "mark.csv",
        parquet=folder / "mark.parquet",
        folder=folder,
        runs=run_folder.base_folder(),
        qx=MARK,
    )


def macros(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    mark = folder / "mark.txt"
    connection.execute(f"create macro stolen() as (select content from read_text('{mark}'))")
    connection.execute(f"create macro thief() as table (select content from read_text('{mark}'))")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source whose people are in a table, and files that are none of its business."""
    for name in ("mark.txt", "mark.csv"):
        (tmp_path / name).write_text(f"{MARK}\n")
    duckdb.connect().execute(f"copy (select '{MARK}' as a) to '{tmp_path}/mark.parquet'").fetchall()
    (tmp_path / "out").mkdir()
    (tmp_path / "private").mkdir()
    runs.source(tmp_path, TYPES, PEOPLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hostile(folder: Path, reading: str, name: str = "visits") -> None:
    """The view `visits` over the people, a name of whom is what `reading` finds."""
    with duckdb.connect(str(folder / "source.duckdb"), config={"threads": 1}) as connection:
        macros(connection, folder)
        # (the view is written where nothing is looked up: a table of the run does not exist yet)
        connection.execute(
            f"create view {name} as select id, age,"
            f" case when id = 1 then {filled(reading, folder)} else name end as name, disease"
            " from people"
        )


def written(folder: Path, source: str = "table: visits") -> str:
    (folder / "policy.yml").write_text(POLICY.format(source=source))
    return "policy.yml"


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main.main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, said.out + said.err


def published(folder: Path) -> bytes:
    """Everything that was written, but for what was there."""
    own = ("mark.txt", "mark.csv", "mark.parquet", "source.duckdb")
    return b"".join(
        path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name not in own
    )


@some(1, 8)
@pytest.mark.parametrize("reading", READINGS)
def test_a_view_of_the_source_reaches_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], reading: str
) -> None:
    people = written(folder, "table: people")
    assert called(capsys, "run", people, "--database", "source.duckdb")[0] == 0
    before = (folder / "out" / "release.duckdb").read_bytes()
    try:
        hostile(folder, READINGS[reading])
    except duckdb.Error:
        return  # the engine makes no such view
    given = written(folder)
    code, said = called(capsys, "run", given, "--database", "source.duckdb")
    assert code == 2, said
    assert MARK not in said
    assert (folder / "out" / "release.duckdb").read_bytes() == before
    assert MARK.encode() not in published(folder)


SOURCE_VERBS = {
    "init": ("init", "visits", "--database", "source.duckdb"),
    "assess": ("assess", "visits", "--database", "source.duckdb", "--quasi", "age,name"),
    "plan": ("plan", "policy.yml", "--database", "source.duckdb"),
    "compile": ("compile", "policy.yml", "--database", "source.duckdb"),
    "run": ("run", "policy.yml", "--database", "source.duckdb"),
    "sweep": ("sweep", "policy.yml", "--database", "source.duckdb", "--vary", "k=2,3"),
    "diff": ("diff", "policy.yml", "other.yml", "--database", "source.duckdb"),
    "hierarchy": ("hierarchy", "show", "policy.yml", "--database", "source.duckdb"),
    "lattice": ("lattice", "policy.yml", "--database", "source.duckdb"),
    "report": ("report", "policy.yml", "--source", "source.duckdb", "-o", "report.md"),
    "attack": ("attack", "policy.yml", "--database", "source.duckdb"),
}


@some(1, 6)
@pytest.mark.parametrize("verb", SOURCE_VERBS)
@pytest.mark.parametrize("kind", ["view", "query"])
def test_no_verb_reads_a_file_for_its_source(
    folder: Path, capsys: pytest.CaptureFixture[str], verb: str, kind: str
) -> None:
    """Through a view of the source, and through `source.query` over it."""
    people = written(folder, "table: people")
    assert called(capsys, "run", people, "--database", "source.duckdb")[0] == 0
    hostile(folder, READINGS["read_text"])
    query = f'query: "select id, age, {filled(READINGS["read_text"], folder)} as name, disease'
    source = "table: visits" if kind == "view" else f'{query} from people"'
    for name in ("other.yml", "policy.yml"):
        written(folder, source)
        if name == "other.yml":
            (folder / "policy.yml").rename(folder / "other.yml")
    code, said = called(capsys, *SOURCE_VERBS[verb])
    if kind == "view" or verb not in ("init", "assess"):
        # (a comparison tells of both sides that they cannot run)
        assert code in (1, 2) if verb in ("diff", "sweep") else code == 2, said
    assert MARK not in said
    assert MARK.encode() not in published(folder)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["hierarchy", "population"])
def test_further_tables_of_the_source_are_read_apart(folder: Path, what: str) -> None:
    with duckdb.connect(str(folder / "source.duckdb"), config={"threads": 1}) as connection:
        connection.execute("create view honest as select distinct disease, 'ill' as b from people")
        connection.execute(
            "create view lying as select disease,"
            f" (select content from read_text('{folder}/mark.txt')) as b from people group by all"
        )
        connection.execute("create view everybody as from people union all from people")
        connection.execute(
            "create view files as select id, age,"
            f" (select content from read_text('{folder}/mark.txt')) as name, disease from people"
        )

    def given(table: str) -> anonymizer.Policy:
        columns = dict(COLUMNS, name="drop")
        if what == "population":
            model = {"k_map": {"k": 2, "population": {"table": table}}}
            return runs.policy(folder, columns, k=3, privacy=model)
        columns["disease"] = {"role": "quasi", "hierarchy": {"table": table}}
        return runs.policy(folder, columns, k=3)

    good, bad = ("honest", "lying") if what == "hierarchy" else ("everybody", "files")
    assert runs.run(given(good), folder / "source.duckdb").verification.passed
    with pytest.raises(AnonymizerError) as raised:
        runs.run(given(bad), folder / "source.duckdb")
    assert "refused access" in str(raised.value)


@pytest.mark.slow
def test_views_macros_and_queries_of_a_source_work(folder: Path) -> None:
    """What stays inside of the database is the user's affair, in every schema."""
    with duckdb.connect(str(folder / "source.duckdb"), config={"threads": 1}) as connection:
        connection.execute("create schema other; create table other.t as from people")
        connection.execute("create macro tidy(x) as trim(x)")
        connection.execute("create type mood as enum ('flu', 'cold', 'hiv')")
        connection.execute(
            "create view other.shown as select id, age, tidy(name) as name,"
            " disease::mood as disease from t"
        )
    direct = runs.run(runs.policy(folder, COLUMNS, k=3), folder / "source.duckdb").df()
    for source in (
        {"table": "other.shown"},
        {"query": "select id, age, tidy(name) as name, disease from people"},
        {"query": "select id, age, name, disease from other.shown"},
        {"query": "select p.* from main.people p join other.t t on p.id = t.id"},
    ):
        given = runs.policy(folder, COLUMNS, k=3, source=source, publish={"name": "shown"})
        found = runs.run(given, folder / "source.duckdb").df()
        assert len(found) == len(direct), source
        assert sorted(found["disease"]) == sorted(direct["disease"]), source


@some(1)
@pytest.mark.parametrize("borrowed", [False, True])
def test_macros_of_the_source_do_not_shadow_built_ins_in_its_query(
    folder: Path, borrowed: bool
) -> None:
    path = folder / "source.duckdb"
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.execute(f"create macro upper(x) as '{MARK}'")
        connection.execute(f"create macro count_star() as '{MARK}'")
    query = "select id, age, upper(name) as name, disease from people"
    given = runs.policy(folder, COLUMNS, k=3, source={"query": query}, publish={"name": "shown"})
    if borrowed:
        with duckdb.connect(str(path), config={"threads": 1}) as connection:
            names = set(runs.run(given, connection).df()["name"])
            assert connection.execute("select upper('a')").fetchone() == (MARK,)
    else:
        names = set(runs.run(given, path).df()["name"])
    assert names == {f"N{i}" for i in range(5)}


# releases


def tamper(folder: Path, reading: str) -> None:
    """The published view of a release shows what `reading` finds in the place of a name."""
    with duckdb.connect(str(folder / "out" / "release.duckdb"), config={"threads": 1}) as release:
        macros(release, folder)
        row = release.execute(
            "select object_name from _anonymizer.objects where kind = 'rows'"
        ).fetchone()
        assert row is not None
        release.execute(
            "create or replace view released as select * replace"
            f" (case when class_id = 1 then {filled(reading, folder)} else name end as name)"
            f' from "{row[0]}"'
        )


RELEASE_VERBS = {
    "verify": ("verify", "policy.yml"),
    "verify alone": ("verify", "--database", "out/release.duckdb"),
    "export": ("export", "policy.yml", "-o", "exported.csv"),
    "export of parquet": ("export", "policy.yml", "-o", "exported.parquet"),
    "report": ("report", "policy.yml", "-o", "report.md"),
    "report beside": ("report", "policy.yml", "--source", "source.duckdb", "-o", "report.json"),
    "attack": ("attack", "policy.yml", "--database", "source.duckdb"),
}


@some(1, 6)
@pytest.mark.parametrize("reading", ["read_text", "glob", "a scalar macro", "a table macro"])
@pytest.mark.parametrize("verb", RELEASE_VERBS)
def test_no_verb_runs_the_sql_of_a_release(
    folder: Path, capsys: pytest.CaptureFixture[str], verb: str, reading: str
) -> None:
    given = written(folder, "table: people")
    assert called(capsys, "run", given, "--database", "source.duckdb")[0] == 0
    tamper(folder, READINGS[reading])
    (folder / "out" / "released.manifest.json").unlink()
    code, said = called(capsys, *RELEASE_VERBS[verb])
    assert code == 1, said
    assert "SQL of its own" in said
    assert MARK not in said
    assert not list(folder.glob("exported*"))
    assert not list(folder.glob("report*"))


@pytest.mark.slow
def test_what_python_reads_of_a_release_reaches_nothing(folder: Path) -> None:
    release = runs.run(
        runs.policy(folder, COLUMNS, k=3, publish={"database": "out/release.duckdb"}),
        folder / "source.duckdb",
    )
    assert len(release.df()) == len(release.relation().fetchall())
    text = f"content from read_text('{folder}/mark.txt')"
    relation = release.relation()
    with pytest.raises(duckdb.Error):
        relation.query("shown", f"select {text}")
    del relation
    with duckdb.connect(str(folder / "out" / "release.duckdb")) as connection:
        connection.execute(f"create or replace view people_anonymous as select {text}")
    for read in (release.df, lambda: release.relation().fetchall()):
        with pytest.raises(duckdb.Error):
            read()


@pytest.mark.slow
@pytest.mark.parametrize("borrowed", [False, True])
def test_macros_of_a_release_do_not_shadow_what_judges_it(
    folder: Path, capsys: pytest.CaptureFixture[str], borrowed: bool
) -> None:
    """A release of single rows whose macros count them as many does not pass."""
    given = written(folder, "table: people")
    assert called(capsys, "run", given, "--database", "source.duckdb")[0] == 0
    policy = anonymizer.Policy.load(folder / given)
    with duckdb.connect(str(folder / "out" / "release.duckdb")) as release:
        row = release.execute(
            "select object_name from _anonymizer.objects where kind = 'rows'"
        ).fetchone()
        assert row is not None
        release.execute(f'delete from "{row[0]}" where rowid > 3')
        for name in ("least", "coalesce", "round", "greatest", "len", "abs"):
            release.execute(f"create or replace macro {name}(x) as 99")
        for name in ("duckdb_tables", "duckdb_views"):
            release.execute(f"create macro {name}() as table select 'x' as table_name")
    if not borrowed:
        with pytest.raises(GuaranteeError, match="which no manifest lists"):
            anonymizer.verify(policy)
        return
    with (
        duckdb.connect(str(folder / "out" / "release.duckdb")) as connection,
        pytest.raises(GuaranteeError, match="which no manifest lists"),
    ):
        anonymizer.verify(policy, connection)


@pytest.mark.slow
def test_a_target_whose_tables_are_views_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To carry over another release would run its SQL beside the ledger."""
    given = written(folder, "table: people")
    assert called(capsys, "run", given, "--database", "source.duckdb")[0] == 0
    with duckdb.connect(str(folder / "out" / "release.duckdb")) as release:
        row = release.execute(
            "select object_name from _anonymizer.objects where kind = 'rows'"
        ).fetchone()
        assert row is not None
        release.execute("drop view released")
        release.execute(f'drop table "{row[0]}"')
        release.execute(
            f"create view \"{row[0]}\" as from read_text('{folder}/private/ledger.duckdb.key')"
        )
        release.execute(f'create view released as from "{row[0]}"')
    other = runs.policy(
        folder, COLUMNS, k=3, publish={"name": "second", "database": "out/release.duckdb"}
    )
    with pytest.raises(TargetError, match="did not publish"):
        runs.run(other, folder / "source.duckdb")


@pytest.mark.slow
def test_a_ledger_with_views_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = written(folder, "table: people")
    assert called(capsys, "run", given, "--database", "source.duckdb")[0] == 0
    with duckdb.connect(str(folder / "private" / "ledger.duckdb")) as ledger:
        row = ledger.execute(
            "select schema_name, table_name from duckdb_tables() where table_name = 'members'"
        ).fetchone()
        assert row is not None
        schema, name = row
        ledger.execute(f"alter table {schema}.{name} rename to hidden")
        ledger.execute(
            f"create view {schema}.{name} as select content from read_text('{folder}/mark.txt')"
        )
    for arguments in (
        ("run", given, "--database", "source.duckdb"),
        ("ledger", "show", "private/ledger.duckdb"),
    ):
        code, said = called(capsys, *arguments)
        assert (code, MARK in said) == (2, False), said


def test_a_script_says_what_a_view_of_the_source_stands_for(folder: Path) -> None:
    with duckdb.connect(str(folder / "source.duckdb"), config={"threads": 1}) as connection:
        connection.execute("create view shown as from people")
    given = runs.policy(folder, COLUMNS, k=3, source={"table": "shown"})
    text = anonymizer.plan(given, folder / "source.duckdb").sql()
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        connection.execute(f"attach '{folder}/source.duckdb' as anon_source (read_only)")
        connection.execute("attach ':memory:' as anon_scratch; use anon_scratch.main")
        for statement in connection.extract_statements(text)[:2]:
            connection.execute(statement, {"secret": "0"} if "$secret" in statement.query else None)
        assert connection.execute("select count(*) from snapshot").fetchone() == (60,)


@pytest.mark.slow
def test_comments_and_types_of_a_source_stay_there(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Comments, and values that a type lists and no row has, are part of no release."""
    with duckdb.connect(str(folder / "source.duckdb"), config={"threads": 1}) as connection:
        connection.execute(f"create type kind as enum ('flu', 'cold', 'hiv', '{MARK}')")
        connection.execute("alter table people alter disease type kind using disease::kind")
        connection.execute(f"comment on table people is '{MARK}'")
        connection.execute(f"comment on column people.disease is '{MARK}'")
        connection.execute(f"comment on type kind is '{MARK}'")
    given = written(folder, "table: people")
    for arguments in (
        ("run", given, "--database", "source.duckdb"),
        ("report", given, "--source", "source.duckdb", "-o", "report.md"),
        ("init", "people", "--database", "source.duckdb"),
        ("export", given, "-o", "out/released.parquet"),
    ):
        code, said = called(capsys, *arguments)
        assert code == 0, said
        assert MARK not in said
    assert MARK.encode() not in published(folder)


@pytest.mark.parametrize("expression", ["getenv('HOME')", "stolen()"])
def test_generated_columns_reach_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], expression: str
) -> None:
    with duckdb.connect(str(folder / "source.duckdb"), config={"threads": 1}) as connection:
        macros(connection, folder)
        try:
            connection.execute(
                "create table visits (id integer, age integer, disease varchar, given varchar,"
                f" name varchar generated always as ({expression}))"
            )
        except duckdb.Error:
            return  # the engine makes no such column
        connection.execute("insert into visits select id, age, disease, name from people")
    code, said = called(capsys, "run", written(folder), "--database", "source.duckdb")
    home = os.environ.get("HOME", "nowhere")
    assert code == 2, said
    assert MARK not in said
    assert home.encode() not in published(folder)
