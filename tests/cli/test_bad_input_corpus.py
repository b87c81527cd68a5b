"""Bad input in bulk, through the command line: a message with path, exit code 2, nothing written.

The corpus of broken policies goes through every verb that reads one; the rest are command lines,
files and sources that do not fit.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anonymizer.cli import main
from anonymizer.compile.condition import condition
from anonymizer.errors import PolicyError, Problem
from anonymizer.policy import Policy
from anonymizer.policy import yaml_text as loader
from tests.core.test_policy_broken import BASES, MARKER, cases, edited
from tests.selection import some

GOOD = """
version: 1
source: {table: visits}
key: id
columns:
  id: {role: identifier}
  age: {role: quasi}
  zip: {role: quasi}
  disease: {role: sensitive}
privacy: {k_anonymity: 2}
publish: {name: released, database: release.duckdb}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    os.environ["ANONYMIZER_TMPDIR"] = str(folder)
    with duckdb.connect(str(folder / "source.duckdb"), config={"threads": 1}) as connection:
        connection.execute(
            "create table visits as select i as id, i % 9 as age, 'z' || i % 3 as zip,"
            " 'QXVALUE' || i % 4 as disease from range(30) r(i)"
        ).fetchall()
        connection.execute("create table empty as from visits limit 0").fetchall()
        connection.execute(
            "create table nested as select i as id, [i] as age, i as zip,"
            " i as disease from range(9) r(i)"
        ).fetchall()
        connection.execute(
            "create table holes as select i as id, i % 3 as age, 'z' as zip,"
            " null::varchar as disease from range(9) r(i)"
        ).fetchall()
        connection.execute(
            "create table twins as select 7 as id, i % 3 as age, 'z' as zip,"
            " 'QXVALUE' as disease from range(9) r(i)"
        ).fetchall()
        connection.execute(
            "create table odd as select i as id, 'NaN'::double as age, 'z' as zip,"
            " 'QXVALUE' as disease from range(9) r(i)"
        ).fetchall()
    (folder / "policy.yml").write_text(GOOD)
    (folder / "text.txt").write_text("no database")
    (folder / "binary.yml").write_bytes(b"\xff\xfe\x00version")
    (folder / "adir").mkdir()
    return folder


@pytest.fixture(autouse=True)
def _thrift() -> Iterator[None]:
    before = os.environ.get("ANONYMIZER_TMPDIR")
    yield
    if before is None:
        os.environ.pop("ANONYMIZER_TMPDIR", None)
    else:
        os.environ["ANONYMIZER_TMPDIR"] = before


def call(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0), out.getvalue(), err.getvalue()


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    return {p.name: (p.stat().st_size, p.stat().st_mtime_ns) for p in folder.iterdir()}


def refused(folder: Path, *arguments: str, hint: bool = False) -> str:
    """The command ends with 2, a message of our form, no traceback, and no file changed."""
    before = contents(folder)
    code, out, err = call(*arguments)
    assert code == 2, (code, err)
    assert "Traceback" not in out + err
    assert "QXVALUE" not in out + err
    for line in err.splitlines():
        if not line.startswith("warning: "):
            assert ": " in line, line
    assert err.strip()
    if hint:
        assert "hint: " in err or "allowed: " in err, err
    assert contents(folder) == before
    return err


def test_corpus_is_large() -> None:
    assert len(cases()) + len(SOURCES) + len(COMMANDS) + len(TEXTS) >= 300


@pytest.mark.parametrize("case", cases())
def test_broken_policy_on_the_command_line(place: Path, case: dict[str, Any]) -> None:
    policy = edited(BASES[case.get("base", "plain")], case.get("set", {}), case.get("drop", []))
    file = place / "policy.json"
    try:
        file.write_text(json.dumps(policy, default=str))
        err = refused(place, "run", str(file), "--database", str(place / "source.duckdb"))
    finally:
        file.unlink(missing_ok=True)
    assert MARKER not in err.replace(str(place), "")
    expected = case["at"] if isinstance(case["at"], list) else [case["at"]]
    for path in expected:
        assert path.split(".")[0] in err


BROKEN_POLICY = GOOD.replace("k_anonymity: 2", "k_anonimity: 2")


@pytest.mark.parametrize("verb", ["run", "plan", "compile", "verify", "export"])
def test_every_verb_refuses_a_broken_policy(place: Path, verb: str) -> None:
    file = place / "broken.yml"
    file.write_text(BROKEN_POLICY)
    more = ["-o", str(place / "x.parquet")] if verb == "export" else []
    try:
        err = refused(
            place, verb, str(file), "--database", str(place / "source.duckdb"), *more, hint=True
        )
    finally:
        file.unlink()
    assert "privacy.k_anonimity: " in err
    assert "did you mean k_anonymity" in err


TEXTS = {
    "empty": "",
    "blank": "   \n\n",
    "scalar": "hello",
    "list": "- a\n- b",
    "tab": "version: 1\n\tsource: x",
    "unclosed": "source: {table: visits",
    "duplicate": GOOD + "key: id\n",
    "two documents": GOOD + "---\nversion: 1\n",
    "yaml 1.1": "%YAML 1.1\n---\n" + GOOD,
    "tag": "version: !!python/object/apply:os.system ['true']\n",
    "own tag": "version: !secret x\n",
    "alias bomb": "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [" + "*c, " * 3000 + "*c]\n",
    "cycle": "a: &a [*a]\n",
    "undefined alias": "a: *b\n",
    "deep": "a: " + "[" * 200 + "]" * 200,
    "merge key": "a: &a {x: 1}\nb: {<<: *a}\n",
    "number key": "1: 2\n",
    "null key": "~: 2\n",
    "NUL": "version: \x00\n",
    "control": "version: \x07\n",
    "version text": GOOD.replace("version: 1", "version: '1'"),
    "version 2": GOOD.replace("version: 1", "version: 2"),
    "octal": GOOD.replace("k_anonymity: 2", "k_anonymity: 0o2x"),
    "huge number": GOOD.replace("k_anonymity: 2", "k_anonymity: " + "9" * 400),
    "infinity": GOOD.replace("k_anonymity: 2", "k_anonymity: .inf"),
    "NaN limit": GOOD + "suppression_limit: .nan\n",
    "negative limit": GOOD + "suppression_limit: -0.1\n",
    "date as k": GOOD.replace("k_anonymity: 2", "k_anonymity: 2024-01-01"),
    "password": GOOD.replace("release.duckdb", "postgres://u:pw@host/db"),
    "ledger is the release": GOOD + "ledger: release.duckdb\n",
    "republish without a ledger": GOOD + "republish: {m: 2}\n",
    "republish m of one": GOOD + "ledger: l.duckdb\nrepublish: {m: 1}\n",
    "republish both": GOOD + "ledger: l.duckdb\nrepublish: {m: 2, append_only: true}\n",
    "republish neither": GOOD + "ledger: l.duckdb\nrepublish: {}\n",
    "append_only false": GOOD + "ledger: l.duckdb\nrepublish: {append_only: false}\n",
    "republish with lgb": GOOD + "ledger: l.duckdb\nrepublish: {m: 2}\nalgorithm: {name: lgb}\n",
    "republish relaxed": GOOD
    + "ledger: l.duckdb\nrepublish: {m: 2}\nalgorithm: {name: mondrian, strict: false}\n",
    "republish and keep": GOOD.replace("zip: {role: quasi}", "zip: {role: keep}")
    + "ledger: l.duckdb\nrepublish: {m: 2}\n",
    "republish without sensitive": GOOD.replace(
        "disease: {role: sensitive}", "disease: {role: drop}"
    )
    + "ledger: l.duckdb\nrepublish: {m: 2}\n",
    "republish without identity": GOOD.replace("key: id", "")
    + "ledger: l.duckdb\nrepublish: {m: 2}\n",
    "append_only with l": GOOD.replace(
        "disease: {role: sensitive}", "disease: {role: sensitive, protect: {l_diversity: 2}}"
    )
    + "ledger: l.duckdb\nrepublish: {append_only: true}\n",
    "append_only without k": GOOD.replace("{k_anonymity: 2}", "{ir_k: 2}").replace(
        "key: id", "person: id"
    )
    + "ledger: l.duckdb\nrepublish: {append_only: true}\n",
    "republish and replace": GOOD.replace(
        "publish: {name: released, database: release.duckdb}", "publish: {replace_source: true}"
    )
    + "ledger: l.duckdb\nrepublish: {m: 2}\n",
    "ledger on another engine": GOOD + "ledger: l.duckdb\nengine: postgres\n",
    "replace with a database": GOOD.replace("name: released", "replace_source: true"),
    "replace a query": GOOD.replace("{table: visits}", "{query: 'from visits'}").replace(
        "name: released, database: release.duckdb", "name: r, replace_source: true"
    ),
    "replace without consent": GOOD.replace(
        "name: released, database: release.duckdb", "replace_source: true"
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_broken_text(place: Path, name: str) -> None:
    file = place / "text.yml"
    file.write_text(TEXTS[name])
    try:
        err = refused(place, "run", str(file), "--database", str(place / "source.duckdb"))
    finally:
        file.unlink()
    assert "pw@" not in err


SOURCES: dict[str, tuple[str, str]] = {
    "no such table": ("{table: visits}", "{table: visitors}"),
    "no such schema": ("{table: visits}", "{table: other.visits}"),
    "no such file": ("{table: visits}", "{file: nowhere.parquet}"),
    "file of another kind": ("{table: visits}", "{file: text.txt}"),
    "file that is none": ("{table: visits}", "{file: adir.csv}"),
    "query that is none": ("{table: visits}", "{query: selec 1}"),
    "two statements": ("{table: visits}", "{query: select 1; drop table visits}"),
    "no select": ("{table: visits}", "{query: drop table visits}"),
    "query of a missing table": ("{table: visits}", "{query: select * from nowhere}"),
    "query with an error": ("{table: visits}", "{query: 'select error(disease) from visits'}"),
    "query with a cast": ("{table: visits}", "{query: 'select disease::int from visits'}"),
    "query that reads files": ("{table: visits}", "{query: \"from read_text('/etc/passwd')\"}"),
    "empty table": ("{table: visits}", "{table: empty}"),
    "nested type": ("{table: visits}", "{table: nested}"),
    "keys that repeat": ("{table: visits}", "{table: twins}"),
    "NaN": ("{table: visits}", "{table: odd}"),
    "column not there": ("zip: {role: quasi}", "zipcode: {role: quasi}"),
    "column not listed": ("  zip: {role: quasi}\n", ""),
    "k beyond the table": ("k_anonymity: 2", "k_anonymity: 31"),
    "l beyond the values": (
        "disease: {role: sensitive}",
        "disease: {role: sensitive, protect: {l_diversity: 9}}",
    ),
    "kind that does not fit": ("zip: {role: quasi}", "zip: {role: quasi, kind: numeric}"),
    "hierarchy file missing": (
        "zip: {role: quasi}",
        "zip: {role: quasi, hierarchy: {file: h.csv}}",
    ),
    "publish into nowhere": ("database: release.duckdb", "database: nowhere/release.duckdb"),
    "publish into a text": ("database: release.duckdb", "database: text.txt"),
    "publish into a folder": ("database: release.duckdb", "database: adir"),
    "publish into the source": ("database: release.duckdb", "database: source.duckdb"),
    "ledger nowhere": ("key: id", "key: id\nledger: nowhere/l.duckdb"),
    "ledger is the source": ("key: id", "key: id\nledger: source.duckdb"),
    "unique column kept": (
        "disease: {role: sensitive}",
        "disease: {role: sensitive}\n  id2: {role: keep}",
    ),
    "NULL forbidden": (
        "{table: visits}",
        "{table: holes}\nsuppression_limit: 0\npreset: internal",
    ),
    "m beyond the values": (
        "key: id",
        "key: id\nledger: l.duckdb\nrepublish: {m: 9}",
    ),
}


@some(10)
@pytest.mark.parametrize("name", SOURCES)
def test_source_that_does_not_fit(place: Path, name: str) -> None:
    old, new = SOURCES[name]
    assert old in GOOD
    text = GOOD.replace(old, new)
    if name == "m beyond the values":
        text = text.replace("disease: {role: sensitive}", "disease: {role: sensitive}")
    file = place / "text.yml"
    file.write_text(text)
    private = place / "l.duckdb"
    try:
        if name == "m beyond the values":
            # an empty ledger may have been made before the table was looked at
            code, _, err = call("run", str(file), "--database", str(place / "source.duckdb"))
            assert code == 2, err
            assert "columns.disease: has 4 different values" in err
            assert not (place / "release.duckdb").exists()
        else:
            refused(place, "run", str(file), "--database", str(place / "source.duckdb"))
    finally:
        file.unlink()
        private.unlink(missing_ok=True)
        private.with_name("l.duckdb.key").unlink(missing_ok=True)


COMMANDS: tuple[tuple[str, ...], ...] = (
    ("rum",),
    ("--nothing",),
    ("run",),
    ("run", "{policy}"),
    ("run", "{policy}", "{policy}"),
    ("run", "nowhere.yml", "--database", "{source}"),
    ("run", "{folder}", "--database", "{source}"),
    ("run", "{folder}/binary.yml", "--database", "{source}"),
    ("run", "{policy}", "--database"),
    ("run", "{policy}", "--database", "nowhere.duckdb"),
    ("run", "{policy}", "--database", "{folder}"),
    ("run", "{policy}", "--database", "{folder}/text.txt"),
    ("run", "{policy}", "--databse", "{source}"),
    ("run", "{policy}", "--database", "{source}", "--threads", "0"),
    ("run", "{policy}", "--database", "{source}", "--threads", "many"),
    ("run", "{policy}", "--database", "{source}", "--memory-limit", "much"),
    ("run", "{policy}", "--database", "{source}", "--temp-size", "plenty"),
    ("run", "{policy}", "--database", "{source}", "--preset", "secret"),
    ("run", "{policy}", "--database", "{source}", "--format", "xml"),
    ("run", "{policy}", "--database", "{source}", "--seed-file", "nowhere"),
    ("run", "{policy}", "--database", "{source}", "--seed-file", "{folder}/text.txt"),
    ("run", "{policy}", "--database", "{source}", "--seed-file", "x", "--test-seed", "1"),
    ("run", "{policy}", "--database", "{source}", "--test-seed", "one"),
    ("plan",),
    ("plan", "{policy}", "--database", "nowhere.duckdb"),
    ("compile", "{policy}", "--database", "{source}", "--dialect", "oracle"),
    ("compile", "{policy}", "--database", "{source}", "-o", "{policy}"),
    ("compile", "{policy}", "--database", "{source}", "-o", "nowhere/x.sql"),
    ("verify",),
    ("verify", "{policy}"),
    ("verify", "{policy}", "--database", "nowhere.duckdb"),
    ("verify", "{policy}", "--database", "{source}"),
    ("verify", "--database", "{source}"),
    ("verify", "--database", "{folder}/text.txt"),
    ("verify", "--database", "{folder}"),
    ("export", "{policy}"),
    ("export", "{policy}", "-o", "x.parquet"),
    ("export", "{policy}", "-o", "{folder}/x.txt", "--database", "{source}"),
    ("export", "{policy}", "-o", "nowhere/x.csv", "--database", "{source}"),
    ("clean",),
    ("clean", "--database", "nowhere/x.duckdb"),
    (
        "clean",
        "--rewrite",
    ),
    ("clean", "--rewrite", "--database", "nowhere.duckdb"),
    ("clean", "--rewrite", "--database", "{folder}/text.txt"),
    ("clean", "--rewrite", "--database", "{source}", "--absent", "nowhere.txt"),
    ("clean", "--rewrite", "--database", "{source}", "--absent", "{folder}/binary.yml"),
    ("ledger",),
    ("ledger", "show"),
    ("ledger", "show", "nowhere.duckdb"),
    ("ledger", "show", "{source}"),
    ("ledger", "show", "{folder}/text.txt"),
    ("ledger", "forget", "{source}"),
    ("ledger", "forget", "{source}", "0123"),
    ("schema", "more"),
    ("demo", "{folder}"),
    ("demo", "{folder}/text.txt"),
)


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_command_line_that_cannot_work(place: Path, arguments: tuple[str, ...]) -> None:
    known = {
        "{policy}": str(place / "policy.yml"),
        "{source}": str(place / "source.duckdb"),
        "{folder}": str(place),
    }
    filled = []
    for argument in arguments:
        for name, value in known.items():
            argument = argument.replace(name, value)
        filled.append(argument)
    refused(place, *filled)
    # as one JSON object as well, wherever the verb knows the option
    if "--format" not in filled and len(filled) > 1 and filled[0] not in ("ledger",):
        code, out, _ = call(*filled, "--format", "json")
        assert code == 2
        if out.strip().startswith("{"):
            assert all(e["path"] and e["message"] for e in json.loads(out)["errors"])


LINES = st.lists(
    st.sampled_from(
        [
            "version: 1", "source: {table: t}", "columns:", "  age: {role: quasi}", "privacy:",
            "  k_anonymity: 2", "- a", "&a [1]", "*a", "<<: *a", "? x", ": y", "!!int x", "|", ">-",
            "'", '"', "{", "}", "[", "]", "#", "%YAML 1.2", "---", "...", "\t", "  ", "~", "null",
            "!<tag:x> 1", "a: b: c", "0x1F", "1e400", "-.inf", "2024-02-30", "\u2028", "\ufeff",
            "é: ü", "'a\n b'", "{a: 1, a: 2}", "&a {b: *a}",
        ]
    ),
    max_size=12,
).map("\n".join)  # fmt: skip
quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def problems_of(work: Callable[[], object]) -> tuple[Problem, ...]:
    """The problems of a refusal, at least one; none where the work is done."""
    try:
        work()
    except PolicyError as error:
        return error.problems or (Problem("", ""),)
    return ()


@pytest.mark.slow
@quick
@given(st.one_of(st.text(max_size=200), LINES, st.binary(max_size=200)))
def test_yaml_loader_is_total(text: str | bytes) -> None:
    """Whatever is read: data, or problems with a path. Nothing else comes out."""
    problems = problems_of(
        lambda: loader.parse(loader.decode(text) if isinstance(text, bytes) else text)
    )
    assert all(problem.path and problem.message for problem in problems)


VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
        st.sampled_from(["quasi", "drop", "sensitive", "lgb", "t", "release.duckdb", "5"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(
                st.text(max_size=6),
                st.sampled_from(
                    ["role", "name", "k_anonymity", "protect", "l_diversity", "hierarchy"]
                ),
            ),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=8,
)  # fmt: skip
SECTIONS = [
    "version", "source", "key", "person", "columns", "privacy", "algorithm", "publish", "ledger",
    "republish", "workload", "preset", "engine", "suppression_limit", "merge_person_rows", "other",
]  # fmt: skip


@quick
@given(st.dictionaries(st.sampled_from(SECTIONS), VALUES, max_size=8), st.booleans())
def test_policy_is_total(sections: dict[str, Any], complete: bool) -> None:
    """Whatever the sections hold: a policy, or problems. Never another exception."""
    base = dict(BASES["plain"]) if complete else {}
    given_policy = {**base, **sections}
    if not problems_of(lambda: Policy.model_validate(given_policy)):
        policy = Policy.model_validate(given_policy)
        assert Policy.model_validate(policy.to_dict()) == policy


TOKENS = st.lists(
    st.sampled_from(
        [
            "age", "name", "hide", '"odd name"', "1", "1.5", "'x'", "''", "null", "true", "(", ")",
            "=", "<>", "<", ">=", "and", "or", "not", "is", "in", "between", "like", "case", "when",
            "then", "else", "end", "cast(", "as", "integer", "varchar", "+", "-", "*", "/", "%",
            "||", ",", ".", ";", "--", "/*", "*/", "$x", "?", "select", "from", "visits", "read(",
            "upper(", "sum(", "over", "lambda", "x:", "[", "]", "{", "}", ":", "::", "#1", "\\",
            "$$", "@", "!", "~", "^", "interval", "date", "exists", "\x00", "é", "\n",
        ]
    ),
    max_size=12,
).map(" ".join)  # fmt: skip


@pytest.mark.slow
@settings(quick, max_examples=400)
@given(st.one_of(TOKENS, st.text(max_size=60)))
def test_condition_parser_is_total(text: str) -> None:
    """A condition is refused with a path, or it is one expression over the listed columns."""
    found = condition(text, ["age", "name", "hide", "odd name"], "columns.age.sensitive_when")
    if isinstance(found, Problem):
        assert found.path == "columns.age.sensitive_when"
        assert found.message
        return
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        connection.execute(
            'create table t (age integer, name varchar, hide boolean, "odd name" varchar)'
        )
        try:
            described = connection.execute(f"describe select {found} from t").fetchall()
        except duckdb.Error:
            return  # of wrong types: found out later, by describing it
        assert len(described) == 1
