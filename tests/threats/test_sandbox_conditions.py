"""Attacks on the sandbox through the one place where a policy holds SQL of its own: conditions."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.compile.condition import condition
from anonymizer.errors import AnonymizerError, Problem
from tests.selection import some

COLUMNS = ["id", "age", "name", "hide"]

ATTACKS = {
    # reading files
    "read a file": "exists (select 1 from read_csv('/etc/passwd'))",
    "read text": "read_text('/etc/passwd') is not null",
    "table function in a subquery": "age in (select 1 from read_parquet('x.parquet'))",
    "file as a table": "age in (select count(*) from '/etc/passwd')",
    "glob": "(select count(*) from glob('/home/*')) > 0",
    "sniff": "(from sniff_csv('/etc/passwd')) is null",
    "other table": "age in (select age from others)",
    # reaching out
    "http": "exists (select 1 from read_csv('http://127.0.0.1/x'))",
    "load": "load_extension('httpfs')",
    "install": "true); install httpfs; select (true",
    "attach": "true); attach '/tmp/x.duckdb' as x; select (true",
    "copy": "true); copy visits to '/tmp/x.csv'; select (true",
    # values carried out by errors
    "error": "error(name) is null",
    "error in a case": "case when age > 3 then error(name) else true end",
    "cast to an enum": "cast(name as enum('a', 'b')) is null",
    "cast to a struct": "cast(name as struct(a integer)) is null",
    "parse json": "json(name) is null",
    "date of a format": "strptime(name, '%Y') is null",
    # waiting and running away
    "sleep": "sleep_ms(10000) is null",
    "recursion": "(with recursive r as (select 1 as i union all select i + 1 from r)"
    " select count(*) from r) > 0",
    "endless range": "len(range(100000000000)) > 0",
    "generate": "len(generate_series(1, 100000000000)) > 0",
    "repeat": "len(repeat(name, 1000000000)) > 0",
    "pad": "len(lpad(name, 2000000000, 'x')) > 0",
    "nested lists": "list_transform([1], lambda x: x) is not null",
    "old lambda": "list_transform([1], x -> x) is not null",
    # state, chance and secrets
    "random": "random() < 0.5",
    "uuid": "uuid() is null",
    "sequence": "nextval('s') > 0",
    "variable": "getvariable('secret') is null",
    "environment": "getenv('HOME') is null",
    "settings": "current_setting('temp_directory') is null",
    "placeholder": "age = $secret",
    "question mark": "age = ?",
    "numbered placeholder": "age = $1",
    "now": "now() is null",
    "query": "(from query('select 1')) = 1",
    "query table": "(from query_table('others')) is null",
    # shapes of SQL
    "subquery": "(select true)",
    "aggregate": "count(*) > 0",
    "aggregate of a column": "sum(age) > 0",
    "aggregate with a filter": "bool_or(hide) filter (age > 3)",
    "window": "row_number() over () > 3",
    "star": "* is null",
    "columns": "columns(*) is null",
    "columns by name": "columns('age') > 3",
    "unpacked": "greatest(*columns(*)) is null",
    "unnest": "unnest([true])",
    "struct": "{'a': 1}.a = 1",
    "method": "name.upper() = 'X'",
    "qualified function": "main.upper(name) = 'X'",
    "system function": "system.main.upper(name) = 'X'",
    "qualified column": "visits.name = 'X'",
    "rowid": "rowid > 3",
    "unknown column": "secret_column",
    "position": "#1 is null",
    "two expressions": "true, true",
    "alias": "true as flag",
    "where": "true) from visits where (true",
    "closing parenthesis": "true) or (true",
    "union": "true) union all (select true",
    "comment": "true) --",
    "block comment": "true /* ",
    "semicolon": "true; select 1",
    "nothing": "",
    "blank": "   ",
    "NUL": "age > 3 \x00",
    "not sql": "the age of the person",
    "long": "age > 3" + " or age > 3" * 2000,
    "deep": "(" * 3000 + "true" + ")" * 3000,
    "prefix minus": "-" * 5000 + "1 > 0",
}
ONLY_FROM_COLUMNS = {"closing parenthesis"}
"""Balanced again by the parentheses around it, it is one expression over nothing."""


@pytest.mark.parametrize("attack", [name for name in ATTACKS if name not in ONLY_FROM_COLUMNS])
def test_sandbox_refuses(attack: str) -> None:
    began = time.monotonic()
    found = condition(ATTACKS[attack], COLUMNS, "columns.age.sensitive_when")
    assert isinstance(found, Problem), f"{attack} is let through: {found}"
    assert found.path == "columns.age.sensitive_when"
    assert "passwd" not in str(found)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "text",
    [
        "age > 3",
        "hide",
        "not hide and age between 3 and 7",
        "name in ('a', 'b') or name like 'x%'",
        "upper(name) = 'X'",
        "coalesce(hide, false)",
        "case when age > 3 then true else hide end",
        "cast(age as varchar) = '3'",
        "age % 2 = 0 and length(name) > 3",
        "name is distinct from 'x'",
    ],
)
def test_sandbox_lets_conditions_pass(text: str) -> None:
    assert not isinstance(condition(text, COLUMNS, "p"), Problem)


def policy(folder: Path, when: str) -> anonymizer.Policy:
    return anonymizer.Policy.model_validate(
        {
            "version": 1,
            "source": {"table": "visits"},
            "key": "id",
            "columns": {
                "id": {"role": "identifier"},
                "name": {"role": "drop"},
                "age": {
                    "role": "quasi",
                    "sensitive_when": when,
                    "protect": {"l_diversity": 2},
                },
            },
            "privacy": {"k_anonymity": 2},
            "algorithm": {"name": "lgb"},
            "publish": {"name": "released", "database": "release.duckdb"},
        },
        context={"base": folder},
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.duckdb"
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.execute(
            "create table visits as select i as id, 'QXSECRET' || i as name, i % 20 as age"
            " from range(40) r(i)"
        ).fetchall()
        # macros of the source that shadow functions of the allow-list
        connection.execute("create macro upper(x) as error(x)").fetchall()
        connection.execute("create macro length(x) as 1").fetchall()
    return path


@pytest.mark.parametrize("when", ["upper(name) = 'X'", "length(name) = 1"])
def test_sandbox_functions_of_the_source_do_not_shadow(
    tmp_path: Path, source: Path, when: str
) -> None:
    """The built-in function is called: no row's name is 1 character long, none raises an error."""
    frame = anonymizer.run(policy(tmp_path, when), source).df()
    assert frame["age_bucket"].isna().all()


@some(1)
@pytest.mark.parametrize(
    "when", ["cast(name as integer) > 3", "cast(name as date) is null", "age / name > 1"]
)
def test_sandbox_errors_carry_no_value(
    tmp_path: Path, source: Path, when: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The engine's own message quotes the value; ours does not, nor does its exception."""
    from anonymizer.cli import main

    written = tmp_path / "policy.yml"
    written.write_text(
        "version: 1\nsource: {table: visits}\nkey: id\ncolumns:\n"
        "  id: {role: identifier}\n  name: {role: drop}\n"
        f"  age: {{role: quasi, sensitive_when: '{when}', protect: {{l_diversity: 2}}}}\n"
        "privacy: {k_anonymity: 2}\nalgorithm: {name: lgb}\n"
        "publish: {name: released, database: release.duckdb}\n"
    )
    for verb in ("run", "plan", "compile"):
        for form in ("text", "json"):
            with pytest.raises(SystemExit) as ended:
                main([verb, str(written), "--database", str(source), "--format", form])
            assert ended.value.code == 2
            said = capsys.readouterr()
            assert "QXSECRET" not in said.out + said.err
            assert said.err
    with pytest.raises(AnonymizerError) as raised:
        anonymizer.run(policy(tmp_path, when), source)
    assert "QXSECRET" not in str(raised.value)
    assert not (tmp_path / "release.duckdb").exists()


def test_sandbox_of_a_connection_of_ours(tmp_path: Path, source: Path, monkeypatch: Any) -> None:
    """What the allow-list might miss, the engine's own walls keep: files, network, settings."""
    from anonymizer.engines.duckdb.sandbox import own_connection

    outside = tmp_path / "outside.csv"
    outside.write_text("a\n1\n")
    folder = tmp_path / "writable"
    folder.mkdir()
    with own_connection(source, spill=folder, writable=[folder]) as engine:
        for text in (
            f"select * from read_csv('{outside}')",
            f"select * from '{outside}'",
            f"copy (select 1) to '{tmp_path}/written.csv'",
            f"attach '{tmp_path}/new.duckdb' as x",
            "install httpfs",
            "load httpfs",
            "select * from read_csv('http://127.0.0.1:9/x.csv')",
            "set enable_external_access = true",
            "set temp_directory = '/tmp'",
            "set lock_configuration = false",
            "set allowed_configs = ['temp_directory']",
            "set memory_limit = '100GB'",
            "set max_temp_directory_size = '100TB'",
            "set allowed_directories = ['/']",
            "set secret_directory = '/tmp'",
            "insert into anon_source.main.visits values (1, 'x', 2)",
            "drop table anon_source.main.visits",
        ):
            with pytest.raises(AnonymizerError):
                engine.raw(text, "test")
    assert not (tmp_path / "written.csv").exists()
    assert not (tmp_path / "new.duckdb").exists()
