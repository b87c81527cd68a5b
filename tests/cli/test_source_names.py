"""Columns that the engine renames: a policy that names `age` could protect another one."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pandas
import pytest

import anonymizer
from anonymizer.errors import AnonymizerError
from tests.cli.conftest import Call, listing
from tests.cli.test_source_files import POLICY, VERBS

ROWS = "".join(f"Alice{i},{i % 9},v{i % 5},w{i % 3}\n" for i in range(60))
HEADS = {
    "letter case": ("name,Age,age,s", "has the same name for columns 2 and 3"),
    "twice": ("name,age,s,age", "has the same name for columns 2 and 4"),
    "three times": ("age,Age,AGE,s", "has the same name for columns 1, 2 and 3"),
    "spaces": ("name,age,s, age ", "has the same name for columns 2 and 4"),
    "quotes": ('"name","age","a,b","Age"', "has the same name for columns 2 and 4"),
    "a name that is a new one": ("age,age,age_1,s", "has the same name for columns 1 and 2"),
    "none in the first place": (",age,s,w", "has no name for column 1"),
    "none in the last place": ("name,age,s,", "has no name for column 4"),
    "a comment before": ("# of 2020\nname,age,s,AGE", "has the same name for columns 2 and 4"),
    "none in the middle": ("name,,s,age", "has no line of column names"),
    "a number": ("name,2019,s,w", "has no line of column names"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yml").write_text(POLICY)
    return tmp_path


def refused(call: Call, folder: Path, said: str, *verbs: str) -> None:
    before = listing(folder)
    for verb in verbs:
        done = call(*VERBS[verb])
        assert (done.code, done.out) == (2, "")
        assert said in done.err
        assert "hint:" in done.err
        assert "Alice" not in done.err
    assert listing(folder) == before


@pytest.mark.parametrize("name", HEADS)
def test_names_of_a_csv_file_that_would_change(name: str, folder: Path, call: Call) -> None:
    head, said = HEADS[name]
    (folder / "visits.csv").write_text(f"{head}\n{ROWS}")
    refused(call, folder, said, "init")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("head", ["name,age,s,age_1", 'name,"a ""q"", c","na\nme", s ', "a,é,b,s"])
def test_names_that_are_kept(head: str, ending: str, folder: Path, call: Call) -> None:
    text = "\ufeff" + f"{head}\n{ROWS}".replace("\n", ending)
    (folder / "visits.csv").write_bytes(text.encode())
    assert call(*VERBS["init"]).code == 0


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([{"Age": 1, "age": 2}], "several keys age"),
        ([{"Age": 1}, {"age": 2}], "several keys age"),
        ([{"age": 1}, {"AGE": 2, "age_1": 3}], "several keys"),
        ([{"age": 1, "age_1": 2}], None),
        ([{"a~/_1": 1, "a~/": 2}], None),
    ],
)
def test_keys_of_json(records: list[object], said: str | None, folder: Path, call: Call) -> None:
    (folder / "visits.json").write_text("\n".join(json.dumps(one) for one in records * 9))
    done = call("init", "visits.json")
    assert done.code == (0 if said is None else 2)
    assert said is None or said in done.err


def test_columns_of_a_parquet_file(folder: Path, call: Call) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    pair = pa.array([{"age": 1, "Age": 2}] * 9)
    for names, said in (
        (["in", "Age", "age"], "columns 2 and 3"),
        (["in", "", "age"], "no name for column 2"),
        (["in", "old", "age"], None),
    ):
        table = pa.table([pair, pa.array([1] * 9), pa.array([2] * 9)], names=names)
        parquet.write_table(table, "visits.parquet")
        done = call("init", "visits.parquet")
        assert done.code == (0 if said is None else 2)
        assert said is None or said in done.err


QUERIES = {
    "select name, age, s as Age from people": "columns 2 and 3",
    "from people a join people b using (name)": "columns 2 and 4",
    "select name, age, s from people": None,
}


@pytest.mark.parametrize("query", QUERIES)
def test_columns_of_a_query(query: str, folder: Path, call: Call) -> None:
    said = QUERIES[query]
    policy = POLICY.replace("{file: visits.csv}", f'{{query: "{query}"}}')
    (folder / "policy.yml").write_text(policy)
    with duckdb.connect("raw.duckdb") as made:
        made.execute(
            "create table people as select range as name, range % 9 as age, range % 5 as s"
            " from range(60)"
        )
        loaded = anonymizer.Policy.load("policy.yml")
        if said is not None:
            with pytest.raises(AnonymizerError, match=said):
                anonymizer.plan(loaded, made)
    done = call("run", "policy.yml", "--database", "raw.duckdb")
    assert done.code == (0 if said is None else 2)
    assert said is None or said in done.err


def test_columns_of_a_frame() -> None:
    frame = pandas.DataFrame({"Age": [1] * 9, "age": [2] * 9})
    with pytest.raises(AnonymizerError, match="frame: has the same name for columns 1 and 2"):
        anonymizer.anonymize(frame, quasi=["age"], k=3)
