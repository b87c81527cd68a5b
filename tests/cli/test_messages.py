"""What a first user runs into: the message names the place as given, and how to go on."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

from anonymizer.process.text import figure
from tests.cli.conftest import POLICY, Call

DATABASE = ("--database", "warehouse.duckdb")


@pytest.mark.parametrize("verb", [("plan", "policy.yml"), ("assess", "visits")])
def test_a_database_is_named_as_it_was_given(
    warehouse: Path, call: Call, verb: tuple[str, str]
) -> None:
    done = call(*verb, "--database", "/x/nodir/foo.duckdb")
    assert (done.code, done.err) == (2, "--database: there is no file /x/nodir/foo.duckdb\n")
    done = call(*verb, "--database", str(warehouse))
    assert (done.code, done.err) == (2, f"--database: {warehouse} is a folder, not a file\n")


def test_a_release_is_named_as_it_was_given(warehouse: Path, call: Call) -> None:
    for verb in (("verify",), ("report", "policy.yml"), ("export", "policy.yml", "-o", "r.csv")):
        done = call(*verb, "--database", "nodir/r.duckdb")
        assert (done.code, "there is no file nodir/r.duckdb" in done.err) == (2, True), verb


def test_the_options_of_an_attack_are_named(warehouse: Path, call: Call) -> None:
    assert call("run", "policy.yml", *DATABASE).code == 0
    attack = ("attack", "policy.yml", *DATABASE)
    done = call(*attack, "--release", "nodir/r.duckdb")
    assert (done.code, done.err.partition(" (")[0]) == (
        2,
        "--release: there is no file nodir/r.duckdb",
    )
    done = call(*attack, "--release", "policy.yml")
    assert (done.code, done.err.partition(":")[0]) == (2, "--release")
    done = call(*attack, "--earlier", "warehouse.duckdb")
    assert (done.code, done.err.partition(": is missing")[0]) == (2, "--earlier")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("attack", "policy.yml", "--share", "x"), "--share: cannot be read (allowed: a number)"),
        (
            ("approve", "policy.yml", "--by", "me", "--until", "tomorrow"),
            "--until: cannot be read (allowed: YYYY-MM-DD)",
        ),
        (
            ("hierarchy", "show", "--policy", "policy.yml", "--children", "0"),
            "--children: is not a number it takes (allowed: a whole number from 1)",
        ),
        (("export", "policy.yml", "-o", "no/r.csv"), "a folder that does not exist (hint: mkdir"),
        (("key", "new", "no/key.pem"), "a folder that does not exist (hint: mkdir -p no)"),
    ],
)
def test_an_argument_that_cannot_be_used_tells_what_can(
    warehouse: Path, call: Call, given: tuple[str, ...], said: str
) -> None:
    if given[0] == "export":
        assert call("run", "policy.yml", *DATABASE).code == 0
    done = call(*given)
    assert (done.code, said in done.err) == (2, True), done.err


def test_large_figures_are_written_out() -> None:
    shown = (9999.4, 9999.6, 26667.4, 626823.0, 106_195_509.0, 0.03664)
    assert list(map(figure, shown)) == [
        "9999", "10,000", "26,667", "626,823", "106,195,509", "0.03664",
    ]  # fmt: skip


@pytest.mark.parametrize("group", [(), ("hierarchy",), ("ledger",), ("key",)])
def test_commands_are_listed_with_whole_sentences(group: tuple[str, ...], call: Call) -> None:
    listed = call(*group, "--help").out.partition("Commands:")[2]
    assert listed
    assert "..." not in listed


def test_a_release_of_the_policy_is_named_by_the_policy(warehouse: Path, call: Call) -> None:
    """No option was given, so none is to be mended."""
    for verb in (
        ("verify", "policy.yml"),
        ("report", "policy.yml"),
        ("export", "policy.yml", "-o", "r.csv"),
        ("attack", "policy.yml", "--database", "warehouse.duckdb"),
    ):
        done = call(*verb)
        assert (done.code, done.err.partition(": there is no file")[0]) == (2, "publish.database")
        assert str(Path.cwd()) not in done.err, verb
        assert "anonymizer run makes it" in done.err


@pytest.mark.parametrize("name", ["release.parquet", "release.CSV", "release.json"])
def test_a_release_is_not_called_like_a_file_of_rows(
    warehouse: Path, call: Call, name: str
) -> None:
    text = POLICY.replace("release.duckdb", name)
    (warehouse / "policy.yml").write_text(text)
    for verb in ("plan", "run"):
        done = call(verb, "policy.yml", *DATABASE)
        assert (done.code, done.err.partition(":")[0]) == (2, "publish.database")
        assert "anonymizer export" in done.err
    assert not (warehouse / name).exists()


def test_a_database_that_may_not_be_read(
    warehouse: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may read everything, so a file that the engine refuses stands for a closed one."""
    (warehouse / "warehouse.duckdb").write_bytes(b"not for you" * 1000)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    done = call("plan", "policy.yml", *DATABASE)
    assert done.code == 2
    assert done.err == (
        "--database: warehouse.duckdb may not be read by this user (hint: chmod u+r, or run as a"
        " user who may read it)\n"
    )


@pytest.mark.parametrize("given", ["k5", "foo=5"])
def test_every_name_that_the_pages_use_is_listed(warehouse: Path, call: Call, given: str) -> None:
    done = call("assess", "visits", *DATABASE, "--require", given)
    assert done.code == 2
    assert "distinct_l (or l, l_diversity)" in done.err
    assert "t_equal (or t, t_closeness)" in done.err
    assert "hint: as in k=5" in done.err


@pytest.mark.parametrize("verb", ["run", "assess"])
def test_a_memory_limit_in_which_no_database_opens(warehouse: Path, call: Call, verb: str) -> None:
    """(The file was said to be no database.)"""
    what = {"run": "policy.yml", "assess": "visits"}[verb]
    done = call(verb, what, "--database", "warehouse.duckdb", "--memory-limit", "1kB")
    assert done.code == 2
    assert "the memory limit was reached" in done.err
    assert "raise --memory-limit" in done.err


@pytest.mark.parametrize("option", ["--memory-limit", "--temp-size"])
def test_a_size_that_is_none_is_told_under_its_option(
    warehouse: Path, call: Call, option: str
) -> None:
    done = call("run", "policy.yml", *DATABASE, option, "12XB")
    assert done.code == 2
    assert done.err.startswith(f"{option}: is not a setting the engine accepts")
    assert "as in 4GB" in done.err


def test_a_seed_file_that_is_none_is_named(warehouse: Path, call: Call) -> None:
    seeded = ("run", "policy.yml", *DATABASE, "--seed-file")
    assert call(*seeded, "nope").err == "--seed-file: there is no file nope\n"
    assert call(*seeded, ".").err == "--seed-file: . is a folder, not a file\n"
    (warehouse / "binary").write_bytes(b"\xff\xfe")
    assert call(*seeded, "binary").err.startswith("--seed-file: is not text (allowed: 64 hexa")


def test_a_policy_without_a_version_is_told_its_first_line(warehouse: Path, call: Call) -> None:
    (warehouse / "policy.yml").write_text(POLICY.removeprefix("version: 1\n"))
    done = call("plan", "policy.yml", *DATABASE)
    assert done.err == "version: is missing (hint: begin with version: 1)\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("version: 1\ncolumns:\n  age: {role: quasi\n  sex: {role: quasi}\n", 3),
        ("version: 1\nalgorithm: [a\nsource: b\n", 2),
        ('version: 1\nkey: "patient\nsource: b\n', 2),
    ],
)
def test_what_is_left_open_is_told_where_it_begins(
    warehouse: Path, call: Call, text: str, line: int
) -> None:
    (warehouse / "policy.yml").write_text(text)
    done = call("plan", "policy.yml", *DATABASE)
    assert done.code == 2
    assert f"close every {{, [ and quote: the one that begins in line {line} is still" in done.err


def test_a_bracket_that_nothing_follows_is_not_said_to_begin_there(
    warehouse: Path, call: Call
) -> None:
    (warehouse / "policy.yml").write_text("version: 1\nsource: [\n")
    done = call("plan", "policy.yml", *DATABASE)
    assert "close every {, [ and quote)" in done.err


@pytest.mark.parametrize("verb", ["plan", "run"])
def test_a_ledger_without_its_folder_tells_how_to_make_it(
    warehouse: Path, call: Call, verb: str
) -> None:
    (warehouse / "policy.yml").write_text(f"{POLICY}ledger: private/ledger.duckdb\n")
    done = call(verb, "policy.yml", *DATABASE)
    assert done.code == 2
    assert "ledger: is in a folder that does not exist (hint: mkdir -p private)" in done.err


def test_a_header_in_a_hierarchy_is_suspected(warehouse: Path, call: Call) -> None:
    changed = POLICY.replace("sex: {role: quasi}", "sex: {role: quasi, hierarchy: {file: sex.csv}}")
    (warehouse / "policy.yml").write_text(changed)
    (warehouse / "sex.csv").write_text("sex;all\nf;*\nm;*\n")
    done = call("plan", "policy.yml", *DATABASE)
    assert "hint: the first line may be a header: leave it out" in done.err + done.out
    (warehouse / "sex.csv").write_text("f;x\nm;y\n")
    done = call("plan", "policy.yml", *DATABASE)
    assert "(hint: add a last column of *)" in done.err + done.out


def test_a_table_without_rows_is_said_to_have_none(warehouse: Path, call: Call) -> None:
    """Not that no column of it can be guessed, and no figures of nothing."""
    with duckdb.connect(str(warehouse / "warehouse.duckdb")) as connection:
        connection.execute("delete from visits")
    done = call("assess", "visits", *DATABASE)
    assert done.err == "TABLE: has no rows (hint: there is nothing to assess)\n"
    done = call("plan", "policy.yml", *DATABASE)
    assert done.code == 2
    assert done.out.startswith("the source as it is: no rows\n")


def test_one_class_is_told_in_the_singular(warehouse: Path, call: Call) -> None:
    with duckdb.connect(str(warehouse / "warehouse.duckdb")) as connection:
        connection.execute("update visits set age = 40, sex = 'f'")
    assert "rows in 1 class of equal" in call("plan", "policy.yml", *DATABASE).out


@pytest.mark.slow
def test_many_columns_that_lost_everything_are_told_in_one_line(
    warehouse: Path, call: Call
) -> None:
    names = [f"c{number:02}" for number in range(1, 13)]
    columns = ", ".join(f"i % {number + 1} as {name}" for number, name in enumerate(names, 1))
    with duckdb.connect(str(warehouse / "warehouse.duckdb")) as connection:
        connection.execute(f"create table wide as select {columns} from range(60) as n(i)")
    roles = "\n".join(f"  {name}: {{role: quasi}}" for name in names)
    (warehouse / "wide.yml").write_text(
        f"version: 1\nsource: {{table: wide}}\ncolumns:\n{roles}\nprivacy: {{k_anonymity: 50}}\n"
        "publish: {database: wide_release.duckdb}\n"
    )
    done = call("run", "wide.yml", *DATABASE)
    told = [line for line in done.err.splitlines() if "little is left" in line]
    assert len(told) == 2  # one class, and its columns
    assert "100 % of the information of c01, c02, c03, c04, c05 and 7 more columns" in told[1]


SUBCOMMANDS = {
    ("ledger", "list"): "(allowed: approvals, forget, show; hint: did you mean approvals or show?)",
    ("ledger", "shwo"): "(allowed: approvals, forget, show; hint: did you mean show?)",
    ("key", "make"): "(allowed: new, secret)",
    (
        "hierarchy",
        "sugest",
    ): "(allowed: export, import, show, suggest; hint: did you mean suggest?)",
    ("verfy",): "hint: did you mean verify?)",
}


@pytest.mark.parametrize("given", SUBCOMMANDS)
def test_a_subcommand_that_there_is_not(given: tuple[str, ...], call: Call) -> None:
    done = call(*given)
    of = " ".join(["anonymizer", *given[:-1]])
    assert done.code == 2
    assert done.err.startswith(f"{of}: {given[-1]} is not a command (allowed: ")
    assert done.err.endswith(f"{SUBCOMMANDS[given]}\n")
