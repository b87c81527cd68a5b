"""Files that are not the table that they seem: no row is left out in silence, and none is told."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import Call, listing
from tests.selection import some

POLICY = """\
version: 1
source: {file: visits.csv}
columns:
  name: {role: identifier}
  age: {role: quasi}
  s: {role: sensitive, protect: {l_diversity: 2}}
privacy: {k_anonymity: 3}
publish: {name: v, database: release.duckdb}
"""
HEAD = "name,age,s\n"
ROWS = "".join(f"Alice{i} Smith,{i % 9},v{i % 5}\n" for i in range(200))
WIDER = "name,age,s,ward\n" + "".join(f"Zoe{i},{i % 4},v{i % 5},w{i % 2}\n" for i in range(40))
TORN = {
    "a column was added halfway": HEAD + ROWS + WIDER,
    "rows with a fourth cell": HEAD + ROWS + "Bob,1,v1,x\n" * 30,
    "a longer last line": HEAD + ROWS + "Bob,3,v1,x\n",
    "a shorter last line": HEAD + ROWS + "Bob,3\n",
    "a last line of one cell": HEAD + ROWS + "Bob\n",
    "a title": "Visits of 2020\n" + HEAD + ROWS,
    "a title with a semicolon": "Visits; 2020\n" + HEAD + ROWS,
    "a title with two semicolons": "Visits; of all; 2020\n" + HEAD + ROWS,
    "decimal commas and a longer line": "name;age;s\n"
    + "Alice,5;3,5;v1\n" * 100
    + "Bob;3,5;v1;4,5\n"
    + "Alice,5;3,5;v2\n" * 100,
    "cut in its last line": HEAD + ROWS + "Bob,3",
}
WHOLE = {
    "names first": HEAD + ROWS,
    "a comment before": "# of 2020\n\n" + HEAD + ROWS,
    "empty lines before": "\n\n" + HEAD + ROWS,
    "semicolons": (HEAD + ROWS).replace(",", ";"),
    "decimal commas": "age;name;s\n" + "".join(f"{i % 9},5;A{i},7;v{i % 5}\n" for i in range(200)),
    "decimal commas, and tabs": "name\tage\ts\n"
    + "".join(f"A{i},7\t{i % 9},5\tv{i % 5}\n" for i in range(200)),
    "decimal commas and a comment": "# 2,5; 3\n\nname;age;s\n"
    + "".join(f"A{i},7;{i % 9},5;v{i % 5}\n" for i in range(200)),
    "other line ends": (HEAD + ROWS).replace("\n", "\r\n"),
    "cells in quotes": HEAD + "".join(f'"A, {i}",{i % 9},v{i % 5}\n' for i in range(200)),
}
QUOTED = HEAD + "".join(f'"A{i}",{i % 9},"v{i % 5}"\n' for i in range(200))
LONG = HEAD + "".join(f"A{i},{i % 9},v{i % 5}\n" for i in range(30_000))
TORN["cut in its last line, far from the beginning"] = LONG + "Bob,3"
CUT = {
    "in a quoted cell": QUOTED + '"Bob",3,"v1',
    "behind an opening quote": QUOTED + '"Bob",3,"',
    "in a quoted cell, where no other is quoted": HEAD + ROWS + 'Bob,3,"v1',
    "in a quoted cell far from the beginning": LONG + 'Bob,3,"v1',
    "a quote that is not closed before other lines": LONG + 'Bob,3,"v1\n' + ROWS,
}
VERBS = {
    "plan": ("plan", "policy.yml"),
    "run": ("run", "policy.yml"),
    "init": ("init", "visits.csv", "-o", "draft.yml"),
    "assess": ("assess", "visits.csv", "--quasi", "age"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yml").write_text(POLICY)
    return tmp_path


@some(22)
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", TORN)
def test_what_is_not_one_table_is_refused(name: str, verb: str, folder: Path, call: Call) -> None:
    (folder / "visits.csv").write_text(TORN[name])
    before = listing(folder)
    done = call(*VERBS[verb])
    if verb == "init" and name.startswith("a title"):  # which the draft says
        assert done.code == 0
        assert "skip: 1" in (folder / "draft.yml").read_text()
        return
    assert done.code == 2
    assert "file" in done.err or "visits.csv" in done.err
    assert not any(value in done.out + done.err for value in ("Alice", "Bob", "Zoe", "v1"))
    assert listing(folder) == before


def test_a_file_without_names_of_columns_tells_no_row(folder: Path, call: Call) -> None:
    text = "".join(f"Alice{i} Smith,Ward {i % 9},v{i % 5}\n" for i in range(200))
    (folder / "visits.csv").write_text(text)
    for verb in ("plan", "run"):
        done = call(*VERBS[verb])
        assert done.code == 2
        assert "its first line has to name the columns" in done.err
        assert not any(value in done.out + done.err for value in ("Alice", "Ward", "v1"))


@some(2)
@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_table_is_read(name: str, folder: Path, call: Call) -> None:
    (folder / "visits.csv").write_bytes(WHOLE[name].encode())
    assert call("run", "policy.yml", "--format", "json").json["measures"]["rows"] == 200


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", CUT)
def test_a_csv_file_that_was_cut_off_is_refused(
    name: str, verb: str, folder: Path, call: Call
) -> None:
    (folder / "visits.csv").write_text(CUT[name])
    before = listing(folder)
    done = call(*VERBS[verb])
    assert done.code == 2
    assert "quote" in done.err
    assert not any(value in done.out + done.err for value in ("Alice", "Bob", "v1"))
    assert listing(folder) == before


ENDS = {
    "within a line end": (HEAD + ROWS).replace("\n", "\r\n").encode()[:-1],
    "within a letter": (HEAD + ROWS + "Bob,3,Zü").encode()[:-1],
    "in a block that was not written": (HEAD + ROWS + "Bob,3,v1").encode() + b"\0" * 90,
}


@pytest.mark.parametrize("name", ENDS)
def test_a_csv_file_that_ends_within_a_line(name: str, folder: Path, call: Call) -> None:
    (folder / "visits.csv").write_bytes(ENDS[name])
    before = listing(folder)
    for verb in VERBS.values():
        done = call(*verb)
        assert done.code == 2
        assert "ends in the middle of a line: it was cut off" in done.err
    assert listing(folder) == before


def test_a_last_line_without_its_end_is_told(folder: Path, call: Call) -> None:
    """It may be whole: many programs write no line end after the last line."""
    for text, told in ((HEAD + ROWS, False), (HEAD + ROWS + "Bob,3,v1", True)):
        (folder / "visits.csv").write_text(text)
        for verb in ("plan", "run"):
            done = call(*VERBS[verb])
            assert done.code == 0
            assert ("source.file: has no line end after its last line" in done.err) is told


def test_a_cell_in_quotes_far_from_the_beginning(folder: Path, call: Call) -> None:
    """Its quotes are none of its letters, and a comma between them ends no cell."""
    (folder / "visits.csv").write_text(LONG + 'Bob,3,"v1"\n' + 'Bob,3,"v1, v2"\n' * 3)
    assert call("run", "policy.yml").code == 0
    with duckdb.connect("release.duckdb", read_only=True) as connection:
        shown = {s for (s,) in connection.execute("select s from v").fetchall()}
    assert shown == {*(f"v{i}" for i in range(5)), "v1, v2"}


OTHER_FORMS = {
    "a workbook or an archive": b"PK\x03\x04 and more",
    "a workbook of an old form": b"\xd0\xcf\x11\xe0 and more",
    "a Parquet file": b"PAR1 and more",
    "text in UTF-16": (HEAD + ROWS).encode("utf-16"),
}


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_a_file_of_another_form_than_its_name_says(form: str, folder: Path, call: Call) -> None:
    (folder / "visits.csv").write_bytes(OTHER_FORMS[form])
    done = call(*VERBS["run"])
    assert done.code == 2
    assert f"is {form}, not CSV in UTF-8" in done.err


LIST = ",\n".join(f'{{"name": "Z{i}", "age": {i % 9}, "s": "v{i % 5}"}}' for i in range(200))
CUT_LISTS = {
    "behind a comma": f"[{LIST},",
    "behind a comma and a line": f"\n[\n  {LIST},\n  ",
    "behind a record": f"[{LIST}",
    "in a record": f"[{LIST[:-9]}",
    "in a list of a record": f'[{LIST},{{"name": ["Bob"]}},',
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", CUT_LISTS)
def test_a_json_list_that_was_cut_off_is_refused(
    name: str, verb: str, folder: Path, call: Call
) -> None:
    (folder / "visits.json").write_text(CUT_LISTS[name])
    (folder / "policy.yml").write_text(POLICY.replace("visits.csv", "visits.json"))
    before = listing(folder)
    done = call(*(part.replace("visits.csv", "visits.json") for part in VERBS[verb]))
    assert done.code == 2
    assert "is a list that does not end with ]: it was cut off" in done.err
    assert not any(value in done.out + done.err for value in ("Bob", "Z1", "v1"))
    assert listing(folder) == before


@pytest.mark.parametrize("text", [f"[{LIST}]", f"\n [\n{LIST}\n]\n\n", LIST.replace("},", "}")])
def test_a_whole_json_file_is_read(text: str, folder: Path, call: Call) -> None:
    (folder / "visits.json").write_text(text)
    (folder / "policy.yml").write_text(POLICY.replace("visits.csv", "visits.json"))
    assert call("run", "policy.yml", "--format", "json").json["measures"]["rows"] == 200


@pytest.mark.parametrize("text", [f"{LIST[:-9]}", f'{LIST}\n{{"name": "Bob"'])
def test_json_lines_that_were_cut_off_are_refused(text: str, folder: Path, call: Call) -> None:
    (folder / "visits.json").write_text(text.replace("},", "}"))
    (folder / "policy.yml").write_text(POLICY.replace("visits.csv", "visits.json"))
    done = call("run", "policy.yml")
    assert done.code == 2
    assert "a file cannot be read as JSON" in done.err


@pytest.mark.parametrize("form", ["Parquet", "JSON"])
def test_a_file_that_is_not_what_it_is_called_is_told(form: str, folder: Path, call: Call) -> None:
    name = f"visits.{form.lower()}"
    (folder / name).write_text("{nope Alice\n" * 10)
    (folder / "policy.yml").write_text(POLICY.replace("visits.csv", name))
    done = call("run", "policy.yml")
    assert done.code == 2
    assert f"a file cannot be read as {form}" in done.err
    assert "Alice" not in done.err


def test_a_query_that_fails_is_told_as_one(folder: Path, call: Call) -> None:
    with duckdb.connect(str(folder / "visits.duckdb")) as connection:
        connection.execute("create table visits (name text, age int, s text)")
        connection.execute("insert into visits values ('Alice', 4, 'Flu')")
    query = "{query: 'select error(name) as name, age, s from visits'}"
    (folder / "policy.yml").write_text(POLICY.replace("{file: visits.csv}", query))
    done = call("run", "policy.yml", "--database", "visits.duckdb")
    assert done.code == 2
    assert "source.query: the query fails" in done.err
    assert "Alice" not in done.err


@pytest.mark.parametrize(
    ("last", "told"),
    [
        ('{"name": "Alice", "age": "Bob", "s": "v1"}', "has a value of another type"),
        ('{"name": "Alice", "age": 3, "age": 4, "s": "v1"}', "names a key twice"),
    ],
)
def test_a_record_that_does_not_fit_is_told_by_its_number(
    last: str, told: str, folder: Path, call: Call
) -> None:
    rows = "".join(f'{{"name": "Z{i}", "age": {i % 9}, "s": "v"}}\n' for i in range(21_000))
    (folder / "visits.json").write_text(rows + last + "\n")
    (folder / "policy.yml").write_text(POLICY.replace("visits.csv", "visits.json"))
    done = call("run", "policy.yml")
    assert done.code == 2
    assert f"record 21001 of a JSON file {told}" in done.err
    assert not any(value in done.err for value in ("Alice", "Bob", "v1"))


@pytest.mark.parametrize("verb", ["plan", "run"])
def test_a_hint_at_a_query_says_how_a_file_gets_one(verb: str, folder: Path, call: Call) -> None:
    rows = "".join(f"n{n};{n},5;v{n % 5}\n" for n in range(200))
    (folder / "visits.csv").write_text(f"name;age;s\n{rows}")
    policy = (folder / "policy.yml").read_text()
    (folder / "policy.yml").write_text(policy.replace("role: quasi", "role: quasi, kind: numeric"))
    done = call(*VERBS[verb])
    assert done.code == 2
    assert "hint: cast the column in source.query; a file has no query: make a table" in done.err


UNNAMED = {
    "nothing": "",
    "a list of numbers": "[1, 2, 3]",
    "lists": "[[1, 2], [3, 4]]",
    "an empty list": "[]",
    "a number": "5",
    "objects without keys": "[{}, {}]",
    "nulls": "[null, null]",
}


@pytest.mark.parametrize("name", UNNAMED)
def test_a_json_file_without_objects_is_told(name: str, folder: Path, call: Call) -> None:
    (folder / "visits.json").write_text(UNNAMED[name])
    (folder / "policy.yml").write_text(POLICY.replace(".csv", ".json"))
    for verb, where in (("run", "source.file"), ("init", "TABLE")):
        done = call(verb, "policy.yml" if verb == "run" else "visits.json")
        assert done.code == 2
        assert done.err.startswith(f"{where}: holds no objects, whose keys name the columns (hint:")


def test_objects_may_have_a_key_that_is_named_json(folder: Path, call: Call) -> None:
    (folder / "visits.json").write_text("\n".join(f'{{"json": {i % 9}}}' for i in range(90)))
    assert call("assess", "visits.json", "--quasi", "json").code == 0


def test_a_source_file_of_another_format(folder: Path, call: Call) -> None:
    for name in ("visits.txt", "visits.parquet.gz", "visits"):
        (folder / "policy.yml").write_text(POLICY.replace("visits.csv", name))
        done = call("plan", "policy.yml")
        assert done.code == 2
        assert done.err.startswith("source.file: has an unknown file extension (allowed:")
        assert "hint: make a table of it in a database" in done.err


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("visits.txt", "has an unknown file extension (allowed: .parquet, .csv, .tsv, .json"),
        ("days", "is a folder (allowed: .parquet, .csv, .tsv, .json"),
        ("https://example.org/visits.csv", "must be a local path (hint: fetch the file first"),
    ],
)
def test_what_is_no_file_of_a_known_format(table: str, said: str, folder: Path, call: Call) -> None:
    (folder / "visits.txt").write_text('{"age": 34}')
    (folder / "days").mkdir()
    for done in (call("init", table), call("assess", table, "--quasi", "age")):
        assert done.code == 2
        assert done.err.startswith(f"TABLE: {said}")
