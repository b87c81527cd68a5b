"""Keys and persons of several columns: what one column of their values would give."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.cli import main
from anonymizer.errors import AnonymizerError, NothingToCheckError, PolicyError, SourceError
from anonymizer.ledger.erasure import releases_of
from anonymizer.policy.values import Together

COLUMNS = {
    "tenant": {"role": "identifier"},
    "id": {"role": "identifier"},
    "age": {"role": "quasi"},
    "ill": {"role": "sensitive", "protect": {"l_diversity": 2}},
}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """100 persons of two tenants that number them alike, two rows each; `one` is both columns."""
    file = tmp_path / "w.duckdb"
    with duckdb.connect(str(file)) as con:
        con.execute(
            "create table t as select ['north', 'south'][1 + p % 2] as tenant, p // 2 as id,"
            " 20 + p % 10 as age, ['flu', 'gout', 'acne'][1 + i % 3] as ill"
            " from (select i, i // 2 as p from range(200) r(i))"
        )
        con.execute("create table one as select *, tenant || ' ' || id as whose from t")
    return file


def given(**options: Any) -> Policy:
    made = {
        "version": 1,
        "source": {"table": "t"},
        "person": ["tenant", "id"],
        "columns": COLUMNS,
        "privacy": {"k_anonymity": 5},
        "publish": {"name": "a"},
    }
    return Policy.model_validate({**made, **options})


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command prints that succeeds."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    return "".join(capsys.readouterr())


def cells(release: Any) -> list[tuple[str, ...]]:
    frame = release.df()
    return sorted(tuple(map(str, row)) for row in frame[["age", "ill"]].itertuples(index=False))


def test_they_count_as_one_column_of_both_does(database: Path, tmp_path: Path) -> None:
    place = {"publish": {"name": "a", "database": str(tmp_path / "r.duckdb")}}
    together = anonymizer.run(given(**place), database, seed=1)
    assert together.measures["persons"] == 100
    columns = {**COLUMNS, "whose": {"role": "identifier"}}
    place["publish"]["name"] = "b"
    one = given(source={"table": "one"}, person="whose", columns=columns, **place)
    assert cells(together) == cells(anonymizer.run(one, database, seed=1))
    assert "tenant" not in together.df().columns


def test_a_missing_part_is_a_missing_person(database: Path, tmp_path: Path) -> None:
    with duckdb.connect(str(database)) as con:
        con.execute("update t set tenant = null where id = 3")
    with pytest.raises(SourceError, match="is NULL in 4 rows"):
        anonymizer.run(
            given(publish={"name": "a", "database": str(tmp_path / "r.duckdb")}), database
        )


@pytest.mark.parametrize(
    ("rows", "distinct"),
    [
        ([("a", "b c"), ("a b", "c")], 2),
        ([("1:a", "b"), ("1", "a b")], 2),
        ([("a 1:b", "c"), ("a", "b 1:c")], 2),
        ([("a", "b"), ("a", "b")], 1),
    ],
)
def test_values_of_one_person_only_are_one_text(
    rows: list[tuple[str, str]], distinct: int, tmp_path: Path
) -> None:
    file = tmp_path / "w.duckdb"
    with duckdb.connect(str(file)) as con:
        con.execute("create table t (tenant varchar, id varchar collate nocase, age int, ill int)")
        con.executemany("insert into t values (?, ?, 1, 1)", rows)
    columns = {**COLUMNS, "ill": {"role": "sensitive"}}
    place = {"name": "a", "database": str(tmp_path / "r.duckdb")}
    made = given(columns=columns, privacy={"k_anonymity": 2}, publish=place)
    if distinct < 2:
        with pytest.raises(AnonymizerError):
            anonymizer.run(made, file)
    else:
        assert anonymizer.run(made, file).measures["persons"] == distinct


def test_a_key_of_several_columns_is_unique(database: Path, tmp_path: Path) -> None:
    place = {"name": "a", "database": str(tmp_path / "r.duckdb")}
    with pytest.raises(SourceError, match="key"):
        anonymizer.run(given(person=None, key=["tenant", "id"], publish=place), database)
    with duckdb.connect(str(database)) as con:
        con.execute("create or replace table t as select * from t where rowid % 2 = 0")
    made = anonymizer.run(given(person=None, key=["tenant", "id"], publish=place), database)
    assert made.measures["rows"] == 100


def test_counts_of_persons(database: Path, tmp_path: Path) -> None:
    made = Policy.model_validate(
        {
            "version": 1,
            "source": {"table": "t"},
            "person": ["tenant", "id"],
            "aggregate": {"by": {"tenant": {}}, "measures": {"n": {"count": "persons"}}},
            "protect": {"minimum": 3},
            "publish": {"name": "a", "database": str(tmp_path / "r.duckdb")},
        }
    )
    frame = anonymizer.run(made, database).df()
    assert sorted(frame["n"]) == [50, 50, 100]


def test_the_ledger_finds_and_erases_a_person_by_all_values(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = str(tmp_path / "l.duckdb")
    again = {"ledger": ledger, "republish": {"follow": True}}
    place = {"name": "a", "database": str(tmp_path / "r.duckdb")}
    anonymizer.run(given(publish=place, **again), database)
    with pytest.raises(NothingToCheckError, match=r"has 1 value \(hint: the text of tenant, id\)"):
        releases_of(ledger, "3")
    for words, holds in ((["north", "3"], True), (["north", "300"], False)):
        shown = said(capsys, "ledger", "who", ledger, *words)
        assert ("main.a" in shown) == holds
        assert ("KEY is the text of tenant, id" in shown) != holds
    assert "erased" in said(capsys, "ledger", "erase", ledger, "north", "3")
    assert "main.a" not in said(capsys, "ledger", "who", ledger, "north", "3")


@pytest.mark.parametrize("kind", ["double", "decimal(9, 2)", "bigint", "varchar"])
def test_a_number_is_the_same_in_every_type(database: Path, tmp_path: Path, kind: str) -> None:
    ledger = str(tmp_path / "l.duckdb")
    place = {"name": "a", "database": str(tmp_path / "r.duckdb")}
    again = {"ledger": ledger, "republish": {"follow": True}}
    anonymizer.run(given(publish=place, **again), database)
    with duckdb.connect(str(database)) as con:
        con.execute(f"alter table t alter id type {kind}")
    if kind == "varchar":
        anonymizer.run(given(publish=place, **again), database)
    assert anonymizer.run(given(publish=place, **again), database).measures["persons"] == 100


def test_assess_and_report_count_persons(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["assess", "t", "--database", str(database), "--quasi", "age", "--person", "tenant,id"]
    assert "200 rows of 100 persons" in said(capsys, *words)
    place = {"name": "a", "database": str(tmp_path / "r.duckdb")}
    made = given(publish=place)
    assert anonymizer.assess(made, database).sizes.persons == 100
    release = anonymizer.run(made, database)
    assert release.verification.passed


def test_policy_keeps_the_list() -> None:
    made = given()
    assert made.to_dict()["person"] == ["tenant", "id"]
    assert Policy.model_validate(made.to_dict()) == made
    assert made.digest() == Policy.model_validate(made.to_dict()).digest()
    assert made.digest() != given(person=["id", "tenant"]).digest()
    for name in (copy.deepcopy(made.person), pickle.loads(pickle.dumps(made.person))):
        assert isinstance(name, Together)
        assert name.columns == ("tenant", "id")


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"person": ["tenant"]}, "person"),
        ({"person": ["tenant", "tenant"]}, "person"),
        ({"person": ["tenant", 3]}, "person"),
        ({"person": ["tenant", "idd"]}, "person"),
        ({"columns": {**COLUMNS, "tenant": {"role": "keep"}, "id": {"role": "quasi"}}}, "person"),
        ({"columns": {**COLUMNS, "tenant, id": {"role": "drop"}}}, 'columns."tenant, id"'),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, Any], path: str) -> None:
    with pytest.raises(PolicyError) as caught:
        given(**options)
    assert [one.path for one in caught.value.problems] == [path]
