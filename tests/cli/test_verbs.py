"""Every verb does what its help says, with the exit codes and formats that are promised."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from anonymizer.cli import RETIRED, VERBS
from tests.cli.conftest import POLICY, Call, listing
from tests.forging import seal_again
from tests.selection import some

DATABASE = ("--database", "warehouse.duckdb")
ROOT = Path(__file__).resolve().parents[2]


def write(folder: Path, *changes: tuple[str, str]) -> None:
    text = POLICY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "policy.yml").write_text(text)


@pytest.mark.parametrize("verb", list(VERBS))
def test_every_verb_has_help(verb: str, call: Call) -> None:
    done = call(verb, "--help")
    assert done.code == 0
    assert done.out.startswith(f"Usage: anonymizer {verb}")


@pytest.mark.parametrize("name", RETIRED)
def test_a_retired_verb_names_what_took_its_place(name: str, call: Call) -> None:
    done = call(*name.split(), "--help")
    said = f"anonymizer {name}: is retired (hint: anonymizer {RETIRED[name]})\n"
    assert (done.code, done.out, done.err) == (2, "", said)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ("assess", "visits", "--quasi", "age", "--quasi=zip", *DATABASE),
            "--quasi: is given twice (hint: name all after it, with commas between them)",
        ),
        (
            ("run", "policy.yml", "--test-seed", "1", *DATABASE, "--test-seed", "2"),
            "--test-seed: is given twice (hint: give it once)",
        ),
        (
            ("hierarchy", "export", "age", "--policy", "a.yml", "--policy", "b.yml"),
            "--policy: is given twice (hint: give it once)",
        ),
    ],
)
def test_an_option_that_counts_once_is_not_given_twice(
    given: tuple[str, ...], said: str, call: Call
) -> None:
    done = call(*given)
    assert (done.code, done.out, done.err) == (2, "", f"{said}\n")


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_keeps_its_lines(verb: str, call: Call) -> None:
    out = call(*verb.split(), "--help").out
    assert "\\b" not in out
    assert verb or "anonymizer plan policy.yml --database db       what would" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "policy.yml", *DATABASE, "--vary", "k=4", "-o", "nodir/s.svg"),
        ("plan", "policy.yml", "--lattice", *DATABASE, "-o", "nodir/l.csv"),
        ("compile", "policy.yml", *DATABASE, "-o", "nodir/run.sql"),
        ("report", "policy.yml", "--source", "warehouse.duckdb", "-o", "nodir/r.html"),
        ("compare", "policy.yml", "policy.yml", *DATABASE, "-o", "nodir/d.md"),
        ("init", "visits", *DATABASE, "-o", "nodir/p.yml"),
        ("init", *DATABASE, "-o", "nodir/p.yml"),
        ("schema", "-o", "nodir/s.json"),
        ("hierarchy", "export", "age", "--policy", "policy.yml", *DATABASE, "-o", "nodir/a.csv"),
    ],
    ids=lambda arguments: f"{arguments[0]} {arguments[1].strip('-')} {arguments[-2]}",
)
def test_a_missing_folder_is_told_before_the_work(
    warehouse: Path, call: Call, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    def refused(*arguments: object, **options: object) -> None:
        raise AssertionError("the work began")

    monkeypatch.setattr("anonymizer.engines.duckdb.connection.DuckDBEngine.__init__", refused)
    done = call(*arguments)
    assert done.code == 2, done.err
    *_, option, path = arguments
    assert f"{option}: {path} is in a folder that does not exist" in done.err
    assert "hint: mkdir -p nodir" in done.err


def test_a_target_must_be_a_new_place_of_a_known_form(warehouse: Path, call: Call) -> None:
    (warehouse / "folder.svg").mkdir()
    sweep = ("compare", "policy.yml", *DATABASE, "--vary", "k=4")
    assert "-o: folder.svg is a folder" in call(*sweep, "-o", "folder.svg").err
    lattice = call("plan", "policy.yml", "--lattice", *DATABASE, "-o", "l.txt")
    assert (lattice.code, "-o: has an unknown format (allowed: *.csv" in lattice.err) == (2, True)
    before = listing(warehouse)
    for target in ("policy.yml", "warehouse.duckdb"):
        done = call("compare", "policy.yml", "policy.yml", *DATABASE, "-o", target)
        assert (done.code, "a file that the command reads" in done.err) == (2, True)
    assert listing(warehouse) == before


@pytest.mark.slow
def test_init_drafts_for_a_table_or_for_a_database(warehouse: Path, call: Call) -> None:
    done = call("init", *DATABASE)
    assert done.code == 2
    assert "--database: has one table with rows, visits, and no other one" in done.err
    assert "hint: anonymizer init TABLE drafts a policy for one table" in done.err
    assert "--database: is needed to find tables in" in call("init").err
    with duckdb.connect(str(warehouse / "warehouse.duckdb")) as connection:
        connection.execute("alter table visits rename to patients")
        connection.execute(
            "create table visits as select i % 80 as patient_id, i % 3 as ward from range(160) r(i)"
        )
    before = listing(warehouse)
    told = call("init", *DATABASE, "--format", "json").json
    assert (told["person"], told["left_out"]) == ("patients", {})
    assert told["tables"]["visits"]["links"] == {"patient_id": "patients"}
    assert told["tables"]["visits"]["columns"]["ward"]["role"] == "event"
    assert told["policy"].rstrip() == call("init", *DATABASE).out.rstrip()
    assert listing(warehouse) == before
    wrote = call("init", *DATABASE, "-o", "draft.yml")
    assert "wrote draft.yml: review every link, and the role of every column" in wrote.out
    assert (warehouse / "draft.yml").read_text() == told["policy"]
    assert call("run", "draft.yml", *DATABASE).code == 0
    assert (warehouse / "warehouse_release.duckdb").exists()


def test_version(call: Call) -> None:
    from anonymizer import __version__

    assert call("--version").out.strip().endswith(__version__)


@pytest.mark.slow
def test_plan_and_compile_write_nothing(warehouse: Path, call: Call) -> None:
    before = listing(warehouse)
    plan = call("plan", "policy.yml", *DATABASE)
    assert plan.code == 0
    assert "k = " in plan.out
    compiled = call("compile", "policy.yml", *DATABASE)
    assert compiled.code == 0
    assert "create or replace table" in compiled.out
    assert "$secret" not in compiled.out
    assert "set variable secret = " in compiled.out
    assert listing(warehouse) == before


def test_compile_writes_the_file_it_is_told(warehouse: Path, call: Call) -> None:
    assert call("compile", "policy.yml", *DATABASE, "-o", "run.sql").code == 0
    assert "create or replace table" in (warehouse / "run.sql").read_text()


def test_run_publishes_what_verify_and_export_read(warehouse: Path, call: Call) -> None:
    done = call("run", "policy.yml", *DATABASE, "--quiet")
    assert (done.code, done.err) == (0, "")
    assert "published main.visits_anonymous in release.duckdb" in done.out
    assert "not differential privacy" in done.out
    with duckdb.connect("release.duckdb", read_only=True) as release:
        assert release.sql("select count(*) from visits_anonymous").fetchall() == [(80,)]
        assert release.sql("from visits_anonymous").columns == ["class_id", "age", "sex", "disease"]
    assert call("verify", "policy.yml").code == 0
    assert call("verify", "--database", "release.duckdb").code == 0
    assert call("export", "policy.yml", "-o", "out.parquet").code == 0
    assert duckdb.execute("select count(*) from 'out.parquet'").fetchall() == [(80,)]
    assert (warehouse / "out.parquet.manifest.json").is_file()


def test_json_results_have_the_promised_keys(warehouse: Path, call: Call) -> None:
    run = call("run", "policy.yml", *DATABASE, "--format", "json").json
    assert {"run_id", "view", "verification", "measures"} <= set(run)
    assert run["verification"]["passed"] is True
    names = {"name", "column", "required", "achieved", "passed", "sql"}
    assert all(names <= set(check) for check in run["verification"]["checks"])
    measures = {"rows", "persons", "suppressed", "classes", "class_mean", "class_max"}
    assert measures | {"ncp", "ncp_sum", "glm", "c_dm"} <= set(run["measures"])
    assert call("verify", "policy.yml", "--format", "json").json["passed"] is True
    assert call("plan", "policy.yml", *DATABASE, "--format", "json").code == 0


def test_errors_come_all_at_once_as_text_and_as_json(warehouse: Path, call: Call) -> None:
    write(warehouse, ("{role: quasi}\n  sex", "{role: quazi}\n  sex"), ("k_anonymity: 4", "k: 4"))
    done = call("run", "policy.yml", *DATABASE)
    assert (done.code, done.out) == (2, "")
    assert "columns.age.role" in done.err
    assert "privacy.k" in done.err
    assert "Traceback" not in done.err
    errors = call("run", "policy.yml", *DATABASE, "--format", "json").json["errors"]
    assert len(errors) == 2
    assert all(set(error) == {"path", "message", "allowed", "hint"} for error in errors)


def test_what_cannot_work_is_2_and_leaves_nothing(warehouse: Path, call: Call) -> None:
    write(warehouse, ("k_anonymity: 4", "k_anonymity: 81"))
    before = listing(warehouse)
    for verb in ("plan", "run"):
        done = call(verb, "policy.yml", *DATABASE)
        assert done.code == 2
        assert "k_anonymity" in done.err
    assert listing(warehouse) == before


def test_too_many_suppressed_rows_are_1_and_keep_the_old_release(
    published: Path, call: Call
) -> None:
    release = (published / "release.duckdb").read_bytes()
    with duckdb.connect("warehouse.duckdb") as connection:
        connection.execute("update visits set age = null where patient_id < 20")
    write(published, ("age: {role: quasi}", "age: {role: quasi, nulls: suppress}"))
    done = call("run", "policy.yml", *DATABASE)
    assert done.code == 1
    assert "suppression_limit" in done.err
    assert (published / "release.duckdb").read_bytes() == release


@pytest.mark.parametrize("name", ["full_domain", "privacyfrost"])
def test_rows_left_out_for_their_nulls_are_told_apart_from_a_lattice_where_nothing_holds(
    warehouse: Path, call: Call, name: str
) -> None:
    write(
        warehouse,
        (
            "age: {role: quasi}",
            "age: {role: quasi, nulls: suppress, hierarchy: {builder: conventional}}",
        ),
        ("sex: {role: quasi}", "sex: {role: quasi, hierarchy: {builder: frequency}}"),
        ("privacy:", f"algorithm: {{name: {name}}}\nprivacy:"),
    )
    with duckdb.connect("warehouse.duckdb") as connection:
        connection.execute("update visits set age = null where patient_id < 20")
    done = call("run", "policy.yml", *DATABASE)
    assert done.code == 1
    assert done.err.startswith("suppression_limit: ")
    assert " 20 " in done.err
    assert not (warehouse / "release.duckdb").exists()


def test_verify_without_anything_to_check_is_2(warehouse: Path, call: Call) -> None:
    assert call("verify", "policy.yml").code == 2
    with duckdb.connect("empty.duckdb") as connection:
        connection.execute("create table something (x integer)")
    assert call("verify", "--database", "empty.duckdb").code == 2


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"run_id": 1, "layout": {}}'])
def test_a_manifest_that_cannot_be_read_is_2(published: Path, call: Call, text: str) -> None:
    with duckdb.connect("release.duckdb") as release:
        release.execute("update visits_anonymous_manifest set manifest = $1", [text])
    for arguments in (("verify", "policy.yml"), ("verify", "--database", "release.duckdb")):
        done = call(*arguments)
        assert done.code == 2
        assert done.err.startswith("manifest: cannot be read")


def test_a_cell_out_of_form_is_told_at_its_column(published: Path, call: Call) -> None:
    with duckdb.connect("release.duckdb") as release:
        ((rows,),) = release.sql(
            "select table_name from duckdb_tables() where table_name like '\\_visits%' escape '\\'"
        ).fetchall()
        release.execute(f"update \"{rows}\" set age = '[30,' where class_id = 1")
    seal_again(Path("release.duckdb"), "visits_anonymous")
    done = call("verify", "policy.yml")
    assert done.code == 1
    assert "columns.age: cell_form requires 0" in done.err


def test_a_source_that_is_missing_is_told_under_its_option(published: Path, call: Call) -> None:
    done = call("report", "policy.yml", "--source", "nothing.duckdb")
    assert done.code == 2
    assert done.err.startswith("--source: there is no file nothing.duckdb")


def test_a_changed_release_fails_verification(published: Path, call: Call) -> None:
    with duckdb.connect("release.duckdb") as release:
        found = release.sql(
            "select table_name from duckdb_tables() where table_name like '\\_visits%' escape '\\'"
        ).fetchall()

        # one row alone in what is published of it
        release.execute(
            f"update \"{found[0][0]}\" set age = '99' where rowid ="
            f' (select min(rowid) from "{found[0][0]}" where class_id = 1)'
        )
    done = call("verify", "policy.yml")
    assert done.code == 1
    assert "Traceback" not in done.err


@pytest.mark.slow
def test_seeds(warehouse: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def rows() -> list[tuple[object, ...]]:
        with duckdb.connect("release.duckdb", read_only=True) as release:
            return release.sql("from visits_anonymous").fetchall()

    (warehouse / "seed").write_text("ab" * 32)
    call("run", "policy.yml", *DATABASE, "--seed-file", "seed")
    first = rows()
    monkeypatch.setenv("ANONYMIZER_SEED", "ab" * 32)
    call("run", "policy.yml", *DATABASE)
    assert rows() == first
    monkeypatch.delenv("ANONYMIZER_SEED")
    done = call("run", "policy.yml", *DATABASE, "--test-seed", "7")
    assert "not for publication" in done.out
    assert rows() != first
    refused = call("run", "policy.yml", *DATABASE, "--test-seed", "7", "--seed-file", "seed")
    assert refused.code == 2


def test_clean_removes_what_a_dead_run_left(warehouse: Path, call: Call) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead = warehouse / f"anonymizer-run-{'0' * 16}"
    dead.mkdir(mode=0o700)
    (dead / "run.json").write_text(
        f'{{"run_id": "{"0" * 16}", "pid": {ended.pid}, "process_start": "1",'
        f' "host": "{os.uname().nodename}", "started": 0, "building": null}}'
    )
    (dead / "spill").write_text("rows")
    done = call("clean", "--database", "warehouse.duckdb")
    assert done.code == 0
    assert not dead.exists()
    assert (warehouse / "warehouse.duckdb").exists()


def test_clean_removes_a_folder_that_was_made_again_after_its_run(
    warehouse: Path, call: Call
) -> None:
    """As by a JVM that still writes after its folder was removed: nothing names an owner."""
    folder = warehouse / f"anonymizer-run-{'0' * 16}"
    part = folder / "00001-snapshot" / "part-0.parquet"
    part.parent.mkdir(parents=True)
    part.write_text("rows")
    assert call("run", "policy.yml", *DATABASE).code == 0
    assert part.exists()  # a run takes it if nothing has changed for an hour
    assert call("clean", "--database", "warehouse.duckdb").code == 0
    assert not folder.exists()
    part.parent.mkdir(parents=True)
    part.write_text("rows")
    for path in (part, part.parent, folder):
        os.utime(path, (0, 0))
    assert call("run", "policy.yml", *DATABASE, "--test-seed", "1").code == 0
    assert not folder.exists()


@pytest.mark.parametrize("way", ["clean", "run"])
def test_a_stale_manifest_beside_a_release_is_written_again(
    published: Path, call: Call, way: str
) -> None:
    """As a run leaves it that is killed between its swap and the writing of the file."""
    (file,) = published.glob("*.manifest.json")
    told = file.read_text()
    file.write_text('{"run_id": "another"}')
    if way == "clean":
        done = call("clean", "--database", "release.duckdb")
        assert f"wrote {file} again" in done.out
    else:
        write(published, ("name: ", "name: second_"))
        assert call("run", "policy.yml", *DATABASE).code == 0
    assert file.read_text() == told


def test_unknown_verbs_and_options_are_2_with_a_way_on(warehouse: Path, call: Call) -> None:
    done = call("rum", "policy.yml")
    assert done.code == 2
    assert "did you mean run?" in done.err
    assert call("run", "policy.yml", "--databse", "x").code == 2
    assert call("run").code == 2
    assert call().code == 2


def test_defects_are_70_without_a_traceback(
    warehouse: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anonymizer.run import verbs

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret value 4711")

    monkeypatch.setattr(verbs, "run", broken)
    done = call("run", "policy.yml", *DATABASE)
    assert done.code == 70
    assert "4711" not in done.err
    assert "Traceback" not in done.err
    assert "Traceback" in call("run", "policy.yml", *DATABASE, "--debug").err


LISTENING = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("anonymizer", run_name="__main__", alter_sys=True)
"""
"""The command line; a shell that began the tests in the background had Ctrl-C ignored."""


DEAF = """
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.process import interrupts
interrupts.IGNORED = 0.5
DuckDBEngine.interrupt = lambda engine: None
"""
"""As if the engine waited for itself after an interruption, which DuckDB 2.0 does now and then."""


@some(1)
@pytest.mark.parametrize(
    ("rows", "under_way", "seconds", "before"),
    [
        (1_000_000, "step 1 of", 0.1, ""),
        (300_000, "places in the domains", 1, ""),
        (300_000, "places in the domains", 0.5, DEAF),
    ],
    ids=["while it reads", "while it partitions", "while the engine does not listen"],
)
def test_ctrl_c_is_130_with_a_message(
    warehouse: Path, rows: int, under_way: str, seconds: float, before: str
) -> None:
    """Two threads: a recursive query that is given up, and not interrupted, waits for ever."""
    with duckdb.connect("warehouse.duckdb") as connection:
        connection.execute(
            "create or replace table visits as select i as patient_id, hash(i) % 90000 as age,"
            " hash(i + 1) % 5 as sex, hash(i + 2) % 900 as disease"
            f" from range({rows}) as t(i)"
        )
    with subprocess.Popen(
        [
            *(sys.executable, "-c", before + LISTENING, "run", "policy.yml", *DATABASE),
            *("--explain", "--threads", "2"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    ) as started:
        assert started.stderr is not None
        try:
            for line in started.stderr:
                if under_way in line:
                    break
            time.sleep(seconds)
            started.send_signal(signal.SIGINT)
            _, err = started.communicate(timeout=60)
        finally:
            started.kill()
    assert started.returncode == 130, err
    assert "interrupted" in err
    assert "Traceback" not in err
    assert not (warehouse / "release.duckdb").exists()
    assert [path.name for path in warehouse.iterdir() if path.name.startswith("anonymizer-")] == []


def test_verify_states_the_database_that_it_verified(published: Path, call: Call) -> None:
    """Also where it is named by the policy alone."""
    stated = call("verify", "policy.yml", "--format", "json").json["database"]
    assert stated == str(published.resolve() / "release.duckdb")
    given = call("verify", "--database", "release.duckdb", "--format", "json").json["database"]
    assert given == "release.duckdb"


@some(1)
@pytest.mark.parametrize(
    ("file", "catalog"),
    [
        ("warehouse.duckdb", "warehouse"),
        ("warehouse.duckdb", '"WAREHOUSE"'),
        ("year.2024.duckdb", "year"),
        ("main.duckdb", "main_db"),
    ],
)
def test_a_table_may_be_named_with_its_catalog(
    file: str, catalog: str, warehouse: Path, call: Call
) -> None:
    """By the name under which the engine attaches the file of the database."""
    (warehouse / "warehouse.duckdb").rename(file)
    with duckdb.connect(file) as connection:
        connection.execute("create view seen as from visits")
        named = connection.execute("select current_catalog()").fetchone()
    assert named is not None
    assert named[0] == catalog.strip('"').lower()
    for table in ("visits", "seen"):
        write(warehouse, ("table: main.visits", f"table: '{catalog}.main.{table}'"))
        done = call("run", "policy.yml", "--database", file, "--quiet")
        assert done.code == 0, done.err
    write(warehouse, ("table: main.visits", "table: other.main.visits"))
    refused = call("plan", "policy.yml", "--database", file)
    assert refused.code == 2
    assert "source.table: is not a table of the source" in refused.err


@some(1)
@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("forms", None),
        ("person_kind", None),
        ("persons", "ledger: is damaged: its table of releases has no column persons"),
    ],
)
def test_a_ledger_without_a_column(
    column: str, said: str | None, warehouse: Path, call: Call
) -> None:
    """One of an earlier version is shown; of a damaged one it is said what is wrong."""
    write(warehouse, ("publish:", "ledger: releases.ledger\npublish:"))
    assert call("run", "policy.yml", *DATABASE, "--quiet").code == 0
    with duckdb.connect("releases.ledger") as connection:
        connection.execute(f"alter table anonymizer_ledger.releases drop column {column}")
    shown = call("ledger", "show", "releases.ledger")
    assert shown.code == (0 if said is None else 2)
    assert (said or "published") in shown.out + shown.err
