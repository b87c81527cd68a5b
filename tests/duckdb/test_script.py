"""Scripts of `anonymizer compile`: executed, they leave the rows of a run, or stop as it does."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from anonymizer.engines.duckdb import script as printed
from anonymizer.engines.duckdb.messages import Rehearsal
from anonymizer.errors import AnonymizerError, PolicyError
from anonymizer.process.secret import Seed
from anonymizer.steps import Loop
from tests.runs import policy, published, run, source
from tests.scripts import (
    FLAT,
    ROWS,
    SETTINGS,
    TYPES,
    by_library,
    by_shell,
    execute,
    given,
    in_shell,
    written,
)
from tests.selection import few, some

WIDEST = 119


@pytest.mark.slow
@some(1, 5)
@pytest.mark.parametrize("name", few(SETTINGS, 10, by=3))
def test_a_script_leaves_the_rows_of_a_run(tmp_path: Path, name: str) -> None:
    database = source(tmp_path, TYPES, ROWS)
    asked = given(tmp_path, name)
    text = written(asked, database)
    # (a path is as long as it is)
    lines = text.replace(str(tmp_path), "").splitlines()
    assert max(map(len, lines)) <= WIDEST
    assert by_library(text) == published(run(asked, database))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "asked"), [("k_map", {"k": 4}), ("delta_presence", {"min": 0.1, "max": 0.9})]
)
def test_a_script_compares_with_a_population(
    tmp_path: Path, name: str, asked: dict[str, object]
) -> None:
    """Of the share of it that may be in the table, and what is told if the table has more."""
    database = source(tmp_path, TYPES, ROWS)
    with duckdb.connect(str(database)) as connection:
        connection.execute("create table everybody as from people union all from people")
    privacy = {name: {**asked, "population": {"table": "everybody"}}}
    chosen = policy(tmp_path, FLAT, 2, privacy=privacy, key="visit")
    assert by_library(written(chosen, database)) == published(run(chosen, database))


@pytest.mark.shell
@pytest.mark.parametrize("name", few(SETTINGS, 3, by=10))
def test_the_shell_executes_it_from_the_first_line_to_the_last(tmp_path: Path, name: str) -> None:
    database = source(tmp_path, TYPES, ROWS)
    asked = given(tmp_path, name)
    text = written(asked, database)
    assert by_shell(tmp_path, _for_the_shell(tmp_path, text, database)) == published(
        run(asked, database)
    )


def _for_the_shell(folder: Path, text: str, database: Path) -> str:
    """The script over a copy of the source that the shell can read: it may be an older DuckDB."""
    copy = folder / "copy.duckdb"
    with duckdb.connect() as connection:
        connection.execute(f"attach '{database}' as source (read_only)")
        connection.execute(f"copy source.people to '{folder / 'people.parquet'}'")
    done = in_shell(
        folder,
        f"attach '{copy}' as target;\n"
        f"create table target.people as from '{folder / 'people.parquet'}';\n",
    )
    assert done.returncode == 0, done.stderr
    assert str(database) in text
    return text.replace(str(database), str(copy))


@pytest.mark.slow
def test_names_do_not_end_comments_or_literals(tmp_path: Path) -> None:
    town, ill = 'to"wn\n; drop table t; --', "il'l\n;$secret"
    folder = tmp_path / "it's"
    folder.mkdir()
    types = {town: "VARCHAR", ill: "VARCHAR"}
    database = source(folder, types, [(f"t{i % 4}", "abc"[i % 3]) for i in range(60)])
    for algorithm in ("lgb", "msb"):
        asked = policy(
            tmp_path,
            {town: "quasi", ill: {"role": "sensitive", "protect": {"l_diversity": 2}}},
            3 if algorithm == "lgb" else None,
            algorithm={"name": algorithm},
        )
        text = written(asked, database)
        assert by_library(text) == published(run(asked, database))


def stopped(text: str, *, secret: str | None = Seed.test(1).secret) -> str:
    """What the first check says that does not hold."""
    with duckdb.connect() as connection:
        if secret is not None:
            connection.execute(f"set variable secret = '{secret}'")
        with pytest.raises(duckdb.InvalidInputException) as caught:
            execute(connection, text)
    return str(caught.value).removeprefix("Invalid Input Error: ")


@pytest.mark.slow
@some(2)
@pytest.mark.parametrize("secret", [None, "", "abc", "g" * 64])
def test_without_a_secret_nothing_is_read(tmp_path: Path, secret: str | None) -> None:
    database = source(tmp_path, TYPES, ROWS)
    text = written(given(tmp_path, "mondrian"), database)
    assert stopped(text, secret=secret).startswith("secret: is not a secret")
    assert "$secret" not in text
    assert text.index("check secret") < text.index("attach")


@pytest.mark.slow
def test_a_check_says_what_a_run_says(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, ROWS)
    asked = given(tmp_path, "key")
    text = written(asked, database)
    with duckdb.connect(str(database)) as connection:
        connection.execute("update people set visit = null where visit in (3, 5)")
        connection.execute("update people set visit = 8 where visit = 9")
    with pytest.raises(AnonymizerError) as caught:
        run(asked, database)
    assert stopped(text) == str(caught.value)


@pytest.mark.slow
def test_a_changed_source_stops_the_script(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, ROWS)
    text = written(given(tmp_path, "mondrian"), database)
    with duckdb.connect(str(database)) as connection:
        connection.execute("delete from people where visit = 3")
    assert stopped(text).startswith("source: is not what the script was made from")


@pytest.mark.slow
def test_a_wider_range_of_ages_stops_the_script(tmp_path: Path) -> None:
    """As many rows and values as before, and losses of intervals that the script has wrong."""
    database = source(tmp_path, TYPES, ROWS)
    columns = {**dict.fromkeys(TYPES, "drop"), "age": FLAT["age"], "ill": "sensitive"}
    privacy, algorithm = {"ir_k": 3}, {"name": "danonyir"}
    text = written(
        policy(tmp_path, columns, None, privacy=privacy, person="who", algorithm=algorithm),
        database,
    )
    with duckdb.connect(str(database)) as connection:
        connection.execute("update people set age = 200 where age = (select max(age) from people)")
    assert stopped(text).startswith("source: is not what the script was made from")


@pytest.mark.slow
def test_the_rows_are_judged_at_the_end(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, ROWS)
    text = written(given(tmp_path, "mondrian"), database)
    begins = text.index("-- The rows of the release are written.")
    tampered = (
        "update anon_scratch.main.staged set ill = 'a' where class_id = 1;\n"
        "update anon_scratch.main.link set ill = 'a' where class_id = 1;\n"
    )
    assert stopped(text[:begins] + tampered + text[begins:]).startswith(
        "columns.ill.protect: distinct_l requires 2, the release reaches 1 (hint: nothing was"
    )
    lost = "delete from anon_scratch.main.staged where class_id = 1;\n"
    assert "would be suppressed, more than the limit of 0" in stopped(
        text[:begins] + lost + text[begins:]
    )


@pytest.mark.slow
def test_a_loop_that_needs_more_rounds_is_not_taken_for_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = source(tmp_path, TYPES, ROWS)

    def none(_: Rehearsal, loop: Loop) -> int:
        del loop
        return 0

    monkeypatch.setattr(Rehearsal, "rounds", none)
    monkeypatch.setattr(printed, "MORE_ROUNDS", 1)
    text = written(given(tmp_path, "lgb ncp"), database)
    assert stopped(text) == (
        "grow groups: is not done after the 1 rounds of this script"
        " (hint: compile the policy again)"
    )


@pytest.mark.shell
def test_the_shell_stops_at_the_first_check_that_fails(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, ROWS)
    text = written(given(tmp_path, "mondrian"), database)
    done = in_shell(tmp_path, f"{text}\nselect 'the end';\n")
    assert done.returncode != 0
    assert "secret: is not a secret" in done.stderr
    assert "the end" not in done.stdout
    assert "Catalog" not in done.stderr


def test_what_remembers_other_releases_has_no_script(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, ROWS)
    asked = policy(
        tmp_path,
        {**FLAT, "ill": "sensitive"},
        2,
        key="visit",
        person="who",
        ledger="ledger.duckdb",
        republish={"m": 2},
    )
    with pytest.raises(AnonymizerError, match="has no script"):
        written(asked, database)


@pytest.mark.parametrize(
    "role",
    [
        {"role": "token"},
        {"role": "noise", "amount": 2},
        {"role": "round", "to": 5, "method": "random"},
    ],
    ids=lambda role: role["role"],
)
def test_what_needs_a_key_has_no_script(tmp_path: Path, role: dict[str, object]) -> None:
    database = source(tmp_path, TYPES, ROWS)
    asked = policy(tmp_path, {**FLAT, "visit": role}, 2)
    with pytest.raises(PolicyError, match=r"columns\.visit: is masked by .*, which needs a key"):
        written(asked, database)
    plain = {"role": "round", "to": 50, "acknowledge_unique": True}
    assert "visit" in written(policy(tmp_path, {**FLAT, "visit": plain}, 2), database)
