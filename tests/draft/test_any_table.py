"""`init` drafts a policy that runs for any table with rows, whatever its columns are."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from anonymizer import Policy, run
from anonymizer.errors import SourceError
from anonymizer.review.draft.table_draft import Draft, draft
from tests.runs import fill
from tests.selection import some
from tests.threats.identifiers import columns

TYPES = {
    "integers": "i",
    "few": "i % 7",
    "negative": "-i",
    "huge": "170141183460469231731687303715884105727::hugeint - i",
    "unsigned": "(18446744073709551615::ubigint - i::ubigint)",
    "decimals": "(i / 8)::decimal(38, 10)",
    "doubles": "case i % 90 when 0 then 'nan'::double when 1 then 'inf'::double else i / 7 end",
    "few doubles": "case i % 9 when 0 then 'nan'::double else i % 5 / 2 end",
    "floats": "(i % 50 / 3)::float",
    "texts": "'value ' || i % 40",
    "many texts": "'value ' || i % 150",
    "unique texts": "'value ' || i",
    "empty texts": "case when i % 3 > 0 then '' else ' ' end",
    "long texts": "repeat('word ', 20) || i",
    "days as text": "(date '2020-01-01' + (i % 200)::int)::varchar",
    "booleans": "i % 3 = 0",
    "dates": "date '2020-01-01' + (i % 300)::int",
    "endless dates": "case i % 9 when 0 then 'infinity' else '2020-01-01'::date + (i % 9)::int end",
    "timestamps": "timestamp '2020-01-01' + to_minutes(i * 999)",
    "zoned": "timestamptz '2020-01-01 00:00:00+00' + to_minutes(i * 999)",
    "times": "time '00:00:00' + to_minutes(i % 900)",
    "uuids": "md5(i::varchar)::uuid",
    "enums": "(['a', 'b', 'c'])[1 + i % 3]::enum('a', 'b', 'c')",
    "intervals": "to_days(i::int)",
    "blobs": "('a' || i)::blob",
    "lists": "[i]",
    "structs": "{'a': i}",
    "maps": "map {'a': i}",
    "json": "('{\"a\":' || i || '}')::json",
    "bits": "i::int::bit",
    "nothing": "null",
    "nulls": "case when i % 2 = 0 then i % 4 end",
    "constant": "1",
    "one value or none": "case when i % 5 = 0 then 'x' end",
}


def drafted(folder: Path, columns: str, rows: int) -> Draft:
    """Draft a policy for a table with these columns, and run it as it is."""
    path = folder / "any.duckdb"
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.execute(f"create table t as select {columns} from range({rows}) r(i)")
    found = draft("t", str(path), base=folder)
    (folder / "policy.yml").write_text(found.text, encoding="utf-8")
    run(Policy.load(folder / "policy.yml"), path)
    return found


@some(1)
@pytest.mark.parametrize("name", TYPES)
def test_a_column_of_any_type_alone_and_beside_others(name: str, tmp_path: Path) -> None:
    for folder, others in ((tmp_path / "alone", ""), (tmp_path / "beside", ", 20 + i % 50 as age")):
        folder.mkdir()
        drafted(folder, f'{TYPES[name]} as "{name}"{others}', 400)


@some(1)
@pytest.mark.parametrize("rows", [2, 3, 7])
def test_a_table_of_few_rows(rows: int, tmp_path: Path) -> None:
    drafted(tmp_path, "i as id, 20 + i as age, i % 2 as hiv", rows)


@pytest.mark.slow
def test_a_table_of_identifiers_only(tmp_path: Path) -> None:
    found = drafted(tmp_path, "i as id, 'user' || i || '@mail.example' as email", 100)
    assert "everybody: {role: quasi}" in found.text
    folder = tmp_path / "taken"
    folder.mkdir()
    found = drafted(folder, "i as everybody, 'user' || i || '@mail.example' as email", 100)
    assert "everybody_: {role: quasi}" in found.text


@pytest.mark.slow
def test_a_file_of_identifiers_only(tmp_path: Path) -> None:
    (tmp_path / "mails.csv").write_text(
        "email\n" + "\n".join(f"user{i}@mail.example" for i in range(50)) + "\n"
    )
    with pytest.raises(SourceError, match="no column with values that can be generalized"):
        draft(str(tmp_path / "mails.csv"), base=tmp_path)


@pytest.mark.parametrize(("rows", "said"), [(0, "has no rows"), (1, "has one row")])
def test_too_few_rows_for_any_release(rows: int, said: str, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "few.duckdb")) as connection:
        connection.execute(f"create table t as select i as id, 'f' as sex from range({rows}) r(i)")
    with pytest.raises(SourceError, match=said):
        draft("t", str(tmp_path / "few.duckdb"), base=tmp_path)


@some(2)
@pytest.mark.parametrize("name", ["Größe \"x\" a.b 'c'", 'a"b', " a", "a.b.c.d"])
def test_a_table_whose_name_has_to_stand_in_quotes(name: str, tmp_path: Path) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    with duckdb.connect(str(tmp_path / "any.duckdb")) as connection:
        connection.execute(f"create table {quoted} as select i % 9 as age from range(90) r(i)")
    with pytest.raises(SourceError, match="is not a table name") as refused:
        draft(name, str(tmp_path / "any.duckdb"), base=tmp_path)
    assert refused.value.problems[0].hint == f"put the whole name in double quotes: '{quoted}'"
    found = draft(quoted, str(tmp_path / "any.duckdb"), base=tmp_path)
    (tmp_path / "policy.yml").write_text(found.text, encoding="utf-8")
    run(Policy.load(tmp_path / "policy.yml"), tmp_path / "any.duckdb")


def test_a_file_without_values_is_told_as_one(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("name,age\n" + ",\n" * 40)
    with pytest.raises(SourceError, match="has no rows"):
        draft(str(tmp_path / "empty.csv"), base=tmp_path)
    (tmp_path / "empty.csv").write_text("name,age\n" + "a,1\nb,2\n" * 20 + ",\n" * 40)
    assert draft(str(tmp_path / "empty.csv"), base=tmp_path).text


def test_names_that_would_end_a_comment(tmp_path: Path) -> None:
    names = ("grade\nof \\a\x85👩\u200d🚀", "grade\nof \\a\x85👩\u200d🚀2")
    columns = ", ".join(f'(i % 5) as "{name}"' for name in names)
    found = drafted(tmp_path, columns, 100)
    assert {one.role for one in found.guesses.values()} == {"quasi", "drop"}


def test_names_that_a_release_has_itself(tmp_path: Path) -> None:
    found = drafted(tmp_path, "i % 5 as class_id, i % 7 as Row_Ref, 20 + i % 50 as age", 100)
    assert found.guesses["class_id"].role == found.guesses["Row_Ref"].role == "drop"
    assert "rename it in source.query" in found.guesses["class_id"].reason


@pytest.mark.slow
def test_the_detectors_of_a_run_say_what_identifies(tmp_path: Path) -> None:
    """A draft gives no column to publish that a run would refuse."""
    kinds = {name: kind for name, kind, _ in columns(True)}
    for planted in (True, False):
        listed = list(columns(planted))
        with duckdb.connect(str(tmp_path / f"{planted}.duckdb")) as connection:
            types = {"age": "INTEGER", **{f"c{i}": "VARCHAR" for i in range(len(listed))}}
            values = zip(*(values for _, _, values in listed), strict=True)
            fill(connection, types, [(20 + i % 9, *row) for i, row in enumerate(values)], "t")
            found = draft("main.t", connection, base=tmp_path)
        held = {
            name
            for i, (name, _, _) in enumerate(listed)
            if (reason := found.guesses[f"c{i}"].reason).startswith("holds ")
            or (
                (planted and "hold a frequent name" in reason)
                and found.guesses[f"c{i}"].role == "identifier"
            )
        }
        assert held == (set(kinds) if planted else set())


@pytest.mark.slow
def test_names_of_columns_in_other_languages(tmp_path: Path) -> None:
    sensitive = ("Haupt-Diagnose", "Nebendiagnosen", "Vorerkrankung", "Bruttogehalt", "malattia")
    quasi = ("Größe", "Staatsangehörigkeit", "Ciudad", "città", "Geslacht")
    columns = ", ".join(
        f"(['E11.9', 'J45', 'I10', 'C50', 'F32'])[1 + i * i // {n} % 5] as \"{name}\""
        for n, name in enumerate(sensitive + quasi, 3)
    )
    found = drafted(tmp_path, columns, 300)
    assert [name for name, one in found.guesses.items() if one.role == "sensitive"] == [*sensitive]
    assert {found.guesses[name].role for name in quasi} == {"quasi"}


def test_free_text_is_nobody(tmp_path: Path) -> None:
    note = "'Der Patient klagt seit dem Tag ' || i // 3 * 2 || ' über Schmerzen und Unruhe'"
    with duckdb.connect(str(tmp_path / "any.duckdb")) as connection:
        connection.execute(
            f"create table t as select i % 40 as age, {note} as note, {note} || i % 2 as remark"
            " from range(300) r(i)"
        )
    found = draft("t", str(tmp_path / "any.duckdb"), base=tmp_path)
    assert found.guesses["remark"].role == "identifier"
    assert "person:" not in found.text


def test_a_household_is_no_person(tmp_path: Path) -> None:
    """Its rows are of several persons, and would be merged into one that nobody is."""
    columns = "i as record_id, i // 3 as {}, 20 + i % 40 as age, i % 2 as sex"
    found = drafted(tmp_path, columns.format("household_id"), 3000)
    assert found.person is None
    assert "merge_person_rows" not in found.text
    assert "# person: household_id   # 3.0 rows per value: if it tells whose" in found.text
    (tmp_path / "any.duckdb").unlink()
    assert drafted(tmp_path, columns.format("person_id"), 3000).person == "person_id"
