"""A source that may mean otherwise than it is read is told with counts, and no other source is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.errors import SourceError
from anonymizer.review.preview import preview
from tests.runs import policy, run, source
from tests.schema import hospital
from tests.selection import few, some

ILL = {"role": "sensitive", "protect": {"l_diversity": 2}}
SAID = (
    "are another one but for upper and lower case",
    "before the year 1500",
    "with more digits than its type is exact for",
    "repeat another one in every column",
    "one may fill a class",
    "is published as it is and tells",
    "are alone with their values of the columns of role keep",
    "is nearly unique",
)
"""What the warnings of this page have in common."""


def told(
    folder: Path, rows: str, columns: dict[str, Any], k: int | None = 3, **rest: Any
) -> list[str]:
    """The warnings of a plan that are of this page."""
    path = folder / "source.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create or replace table people as {rows}")
        seen = [name for name, *_ in connection.execute("describe people").fetchall()]
    given = policy(folder, {**dict.fromkeys(seen, "drop"), **columns}, k, **rest)
    found = preview(given, str(path), foresee=False)
    SourceError.refuse(found.problems)
    return [warning for warning in found.warnings if any(said in warning for said in SAID)]


BASE = "i as id, 20 + i % 7 as age, ['flu', 'gout', 'asthma'][1 + i * 7 // 3 % 3] as ill"
OF = "from range(210) t(i)"
ROWS = f"(select {BASE} {OF})"
COPIES = (
    "select n % 90 as age, n // 90 % 5 as size, ['flu', 'gout', 'asthma'][1 + n // 450 % 3] as ill"
    " from (select unnest(range({0})) as j, cast(hash(i) % 100000 as integer) as n"
    " from range({1}) t(i))"
)
USUAL: dict[str, Any] = {"id": "identifier", "age": "quasi", "ill": ILL}
CASES: dict[str, tuple[str, str, dict[str, Any], dict[str, Any], str]] = {
    "spellings of a value": (
        f"select {BASE.replace('asthma', 'Flu ')} {OF}",
        f"select {BASE} {OF}",
        USUAL,
        {"key": "id"},
        "columns.ill: 1 of 3 values are another one but for",
    ),
    "spellings of a key": (
        f"select * replace (if(id % 2 = 0, 'a' || id, 'A' || (id - 1)) as id) from {ROWS}",
        f"select * replace ('a' || id as id) from {ROWS}",
        USUAL,
        {"key": "id"},
        "key: 105 of 210 values are another one but for",
    ),
    "spellings of a person": (
        "select * replace ('a' || id // 2 || if(id % 2 = 0, ' ', '') as id,"
        f" 20 + id // 2 % 7 as age) from {ROWS}",
        f"select * replace ('a' || id // 2 as id, 20 + id // 2 % 7 as age) from {ROWS}",
        {**USUAL, "ill": "keep"},
        {"person": "id"},
        "person: 105 of 210 values are another one but for",
    ),
    "a date of a wrong century": (
        f"select {BASE}, date '0023-01-01' + cast(i % 9 as integer) as seen {OF}",
        f"select {BASE}, date '1923-01-01' + cast(i % 9 as integer) as seen {OF}",
        {**USUAL, "seen": "quasi"},
        {"key": "id"},
        "columns.seen: has 210 dates before the year 1500",
    ),
    "a text with a date of a wrong century": (
        f"select {BASE}, '0' || i % 2 || '23-01-07' as seen, '27.06.' || 1 + i % 2 as day {OF}",
        f"select {BASE}, '1923-01-0' || 1 + i % 9 as seen, '27.06.' || 1 + i % 2 as day {OF}",
        {**USUAL, "seen": "keep", "day": "keep"},
        {"key": "id"},
        "columns.seen: has 210 dates before the year 1500",
    ),
    "a time of a wrong century, kept": (
        f"select {BASE}, timestamp '0023-01-01' as seen {OF}",
        f"select {BASE}, timestamp '2023-01-01' as seen {OF}",
        {**USUAL, "seen": "keep"},
        {"key": "id"},
        "columns.seen: has 210 dates before the year 1500",
    ),
    "numbers beyond a double": (
        f"select {BASE}, cast(1e17 + i % 9 * 1000 as double) as size {OF}",
        f"select {BASE}, cast(1e9 + i % 9 * 1000 as double) as size {OF}",
        {**USUAL, "size": "quasi"},
        {"key": "id"},
        "columns.size: has 210 whole numbers with more digits",
    ),
    "numbers beyond a single": (
        f"select {BASE}, cast(20000000 + i % 9 as float) as size {OF}",
        f"select {BASE}, if(i % 9, 20000 + i % 9, cast('nan' as float)) as size {OF}",
        {**USUAL, "size": "keep"},
        {"key": "id"},
        "columns.size: has 210 whole numbers with more digits",
    ),
    "copies of all rows": (
        f"select age, ill from (select {BASE} from range(21) t(i)), range(4)",
        "select 20 + hash(i) % 7 as age, 'ill ' || hash(-i) % 3 as ill from range(84) t(i)",
        {"age": "quasi", "ill": ILL},
        {},
        "source: 67 of 84 rows repeat another one in every column",
    ),
    "copies of some rows": (
        COPIES.format("1 + i % 4", 200),
        COPIES.format("1", 500),
        {"age": "quasi", "size": "quasi", "ill": ILL},
        {},
        "source: ",
    ),
    "a household that fills a class": (
        f"select {BASE.replace('i % 7', 'i // 5')}, i // 5 as household {OF}",
        f"select {BASE}, i // 5 as household {OF}",
        {**USUAL, "household": "identifier"},
        {"person": "id"},
        "columns.household: numbers groups of persons (42 values, on average 5.0 persons",
    ),
    "a kept column that tells another": (
        f"select {BASE}, 2000 - i % 7 as born {OF}",
        f"select {BASE}, 2000 - i % 8 as born {OF}",
        {**USUAL, "born": "keep"},
        {"key": "id"},
        "columns.born: is published as it is and tells age (100 % of the rows)",
    ),
    "a kept column that tells another in part": (
        f"select {BASE}, if(i % 7 = 0, 1, 2) as site, hash(i) % 2 as x {OF}",
        f"select {BASE}, if(i % 8 = 0, 1, 2) as site, hash(i) % 2 as x {OF}",
        {**USUAL, "site": "keep"},
        {"key": "id"},
        "columns.site: is published as it is and tells age (14 % of the rows)",
    ),
    "alone by kept columns": (
        f"select {BASE}, i % 13 as a, i % 15 as b {OF}",
        f"select {BASE}, i % 3 as a, i % 5 as b {OF}",
        {**USUAL, "a": "keep", "b": "keep"},
        {"key": "id"},
        "columns: 180 of 210 rows are alone with their values of the columns of role keep (a, b)",
    ),
    "a sensitive column of different values": (
        f"select {BASE.replace('as ill', 'as x')}, i / 7 as ill {OF}",
        f"select {BASE.replace('as ill', 'as x')}, i // 7 as ill {OF}",
        USUAL,
        {"key": "id"},
        "columns.ill: is nearly unique (210 of 210 values are those of one row or person)",
    ),
    "a sensitive column that tells persons": (
        f"select i // 2 as id, 20 + i // 206 as age, 'ill ' || i // 2 as ill {OF}",
        f"select i // 2 as id, 20 + i // 206 as age, 'ill ' || i // 4 as ill {OF}",
        USUAL,
        {"person": "id"},
        "columns.ill: is nearly unique (105 of 105 values are those of one row or person)",
    ),
}


def test_a_run_tells_the_same_and_its_release_nothing(tmp_path: Path) -> None:
    rows = [(i, 20 + i % 7, f"{'flu' if i % 2 else 'Flu'}") for i in range(60)]
    database = source(tmp_path, {"id": "INTEGER", "age": "INTEGER", "ill": "VARCHAR"}, rows)
    given = policy(tmp_path, USUAL, key="id")
    release = run(given, database)
    assert len(release.warnings) == 1
    assert list(release.warnings) == preview(given, str(database), foresee=False).warnings
    assert "meant" not in str(release.manifest.data)


@some(7)
@pytest.mark.parametrize("name", CASES)
def test_what_may_not_be_meant_is_told_once_and_else_nothing(name: str, tmp_path: Path) -> None:
    wrong, right, columns, rest, said = CASES[name]
    found = told(tmp_path, wrong, columns, **rest)
    assert [warning[: len(said)] for warning in found] == [said]
    assert told(tmp_path, right, columns, **rest) == []


@some(2)
@pytest.mark.parametrize(
    "sql_type",
    ["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"],
)
def test_every_type_of_dates_is_looked_at(sql_type: str, tmp_path: Path) -> None:
    rows = f"select {BASE}, cast('1923-01-0' || 1 + i % 7 as {sql_type}) as seen {OF}"
    columns = {**USUAL, "seen": "quasi"}
    assert told(tmp_path, rows, columns, key="id") == []
    if sql_type != "TIMESTAMP_NS":  # which begins in 1677
        assert len(told(tmp_path, rows.replace("1923", "0023"), columns, key="id")) == 1


def test_what_an_owner_has_looked_at_is_not_told(tmp_path: Path) -> None:
    rows, _, columns, rest, said = CASES["a sensitive column of different values"]
    (warning,) = told(tmp_path, rows, columns, **rest)
    assert warning.startswith(said)
    ill = {**ILL, "acknowledge_unique": True}
    assert told(tmp_path, rows, {**USUAL, "ill": ill}, key="id") == []


def test_a_value_that_nearly_all_rows_have_is_told_by_nothing(tmp_path: Path) -> None:
    """Ten rows are alike by chance then."""
    rows = f"select {BASE}, i // 10 as site, hash(i) % 20 = 0 as vip {OF}"
    columns = {**USUAL, "age": "drop", "vip": "quasi", "site": "keep"}
    assert told(tmp_path, rows, columns, key="id") == []
    told_by = rows.replace("hash(i) % 20 = 0", "i // 10 % 7 = 0")
    (said,) = told(tmp_path, told_by, columns, key="id")
    assert said.startswith("columns.site: is published as it is and tells vip")


def test_the_way_out_for_households_holds(tmp_path: Path) -> None:
    rows, _, columns, rest, _ = CASES["a household that fills a class"]
    (warning,) = told(tmp_path, rows, columns, 5, **rest)
    assert "in 42 of 42 groups that are large enough" in warning
    assert "privacy: {units: {household: 3}} asks for three in every class" in warning
    assert told(tmp_path, rows, columns, 6, **rest) == []
    assert told(tmp_path, rows, columns, 5, **rest, privacy={"units": {"household": 3}}) == []


@pytest.mark.parametrize("sql_type", ["DOUBLE", "FLOAT"])
@pytest.mark.parametrize("field", ["key", "person"])
def test_a_person_whose_number_is_rounded_is_refused(
    field: str, sql_type: str, tmp_path: Path
) -> None:
    database = source(
        tmp_path,
        {"id": sql_type, "age": "INTEGER"},
        [(2.0**60 * (1 + i), i % 3) for i in range(60)],
    )
    given = policy(tmp_path, {"id": "identifier", "age": "quasi"}, **dict[str, Any]({field: "id"}))
    with pytest.raises(
        SourceError, match=f"{field}: has, in 60 rows, larger numbers than its type"
    ):
        run(given, database)


def test_a_preset_refuses_a_kept_column_that_tells_another(tmp_path: Path) -> None:
    rows, other, columns, rest, _ = CASES["a kept column that tells another"]
    columns = {**columns, "ill": "sensitive"}
    with pytest.raises(SourceError, match=r"columns\.born: is published as it is and tells age"):
        told(tmp_path, rows, columns, None, preset="internal", **rest)
    assert told(tmp_path, other, columns, None, preset="internal", **rest) == []


@pytest.mark.parametrize(
    "spelled",
    [
        "chr(160) || 'ill flu'",
        "'ill flu' || chr(9)",
        "'ill  flu'",
        "'ill' || chr(8195) || 'flu' || chr(12288)",
        "chr(65279) || 'ill f' || chr(8203) || 'lu'",
        "chr(65353) || 'll flu'",
    ],
)
def test_what_nobody_sees_makes_no_other_value(tmp_path: Path, spelled: str) -> None:
    """Blanks of all kinds, characters without width, full-width letters."""
    values = f"['ill flu', {spelled}, 'gout'][1 + i % 3]"
    rows = f"select i as id, 20 + i % 7 as age, {values} as ill {OF}"
    (said,) = told(tmp_path, rows, USUAL, key="id")
    assert said.startswith("columns.ill: 1 of 3 values")


@pytest.mark.slow
def test_every_table_is_looked_at(tmp_path: Path) -> None:
    path = hospital.write(tmp_path / "source.duckdb")
    given = hospital.policy(tmp_path)
    before = preview(given, str(path), foresee=False).warnings
    hospital.changed(
        path,
        "update visits set diagnosis = diagnosis || ' ' where patient_id % 2 = 0",
        "update visits set day = cast(day - to_years(2000) as date)",
    )
    after = preview(given, str(path), foresee=False).warnings
    told = sorted(set(after) - set(before))
    assert [warning.partition(":")[0] for warning in told] == [
        "tables.visits.columns.day",
        "tables.visits.columns.diagnosis",
    ]
    assert set(after) <= set(hospital.run(given, path).warnings)


FILES: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "adult_complete": (
        "age workclass education marital_status race sex native_country",
        {"occupation": "sensitive", "hours_per_week": "keep"},
        {},
    ),
    "adult_train": ("age sex race", {"occupation": "sensitive", "education": "keep"}, {}),
    "adult_test": ("age sex workclass", {"income": "sensitive", "race": "keep"}, {}),
    "census_income_train": (
        "age sex race education marital_status",
        {"income": "sensitive", "weeks_worked": "keep", "citizenship": "keep"},
        {},
    ),
    "acs2018_persons": (
        "age sex state race education",
        {"health_insurance": "sensitive", "hours_per_week": "keep", "household_id": "identifier"},
        {},
    ),
    "informs_persons": (
        "birth_year sex race marital_status",
        {"income": "sensitive", "person_id": "identifier", "household_id": "identifier"},
        {"person": "person_id"},
    ),
}
LIKE: dict[str, tuple[str, str, dict[str, str]]] = {
    "titanic": (
        "select 'Mr. ' || i as name, 1 + hash(i) % 3 as pclass, hash(-i) % 2 as sex,"
        " hash(i * 3) % 70 as age, hash(i // 2) % 681 as ticket, hash(i * 5) % 2 as survived"
        " from range(891) t(i)",
        "pclass sex age",
        {"name": "identifier", "ticket": "identifier", "survived": "sensitive"},
    ),
    "german credit": (
        "select 19 + hash(i) % 55 as age, hash(-i) % 4 as status, hash(i * 3) % 4 as job,"
        " hash(i * 5) % 3 as housing, 250 + hash(i * 7) % 18000 as amount,"
        " hash(i * 11) % 2 as risk from range(1000) t(i)",
        "age status job",
        {"housing": "keep", "risk": "sensitive"},
    ),
    "heart disease": (
        "select 29 + hash(i) % 48 as age, hash(-i) % 2 as sex, hash(i * 3) % 4 as cp,"
        " 94 + hash(i * 5) % 107 as trestbps, hash(i * 7) % 5 as num from range(303) t(i)",
        "age sex",
        {"cp": "keep", "num": "sensitive"},
    ),
    "diabetes": (
        "select hash(i) % 17 as pregnancies, 44 + hash(-i) % 155 as glucose,"
        " 18 + (hash(i * 3) % 490) / 10 as bmi, 21 + hash(i * 5) % 60 as age,"
        " hash(i * 7) % 2 as outcome from range(768) t(i)",
        "age bmi",
        {"pregnancies": "keep", "outcome": "sensitive"},
    ),
    "wages": (
        "select i as id, 18 + hash(i) % 62 as age, hash(-i) % 5 as education,"
        " hash(i * 3) % 4 as race, 20 + (hash(i * 5) % 300000) / 1000 as wage,"
        " hash(i * 7) % 2 as health from range(3000) t(i)",
        "age education race",
        {"id": "identifier", "health": "sensitive"},
    ),
    "seats": (
        "select hash(i) % 4 as class, hash(-i) % 2 as sex, if(hash(i * 3) % 20 = 0, 1, 0) as child,"
        " hash(i * 5) % 2 as survived from range(2201) t(i)",
        "class sex child",
        {"survived": "sensitive"},
    ),
}


def _roles(quasi: str, others: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = dict.fromkeys(quasi.split(), "quasi")
    return found | {name: ILL if role == "sensitive" else role for name, role in others.items()}


@pytest.mark.parametrize("name", few(FILES, 2))
def test_nothing_is_told_of_public_tables(name: str, data_folder: Path, tmp_path: Path) -> None:
    quasi, others, rest = FILES[name]
    columns, rows = _roles(quasi, others), f"from '{data_folder / name}.parquet'"
    assert told(tmp_path, rows, columns, suppression_limit=0.5, **rest) == []


@pytest.mark.parametrize("name", LIKE)
def test_nothing_is_told_of_tables_like_public_ones(name: str, tmp_path: Path) -> None:
    rows, quasi, others = LIKE[name]
    assert told(tmp_path, rows, _roles(quasi, others), suppression_limit=0.5) == []


def test_a_later_file_spells_unknown_otherwise(tmp_path: Path) -> None:
    """A policy says which cells of its file are NULL, and the file of the next month has others."""

    def warned(spelling: str, read: dict[str, Any]) -> list[str]:
        rows = [f"{20 + i % 7};{['Ulm', 'Bonn', spelling][i % 3]}" for i in range(90)]
        (tmp_path / "file.csv").write_text("\n".join(["age;town", *rows]))
        given = policy(
            tmp_path,
            {"age": "quasi", "town": "quasi"},
            source={"file": "file.csv", "read": {"delimiter": ";", **read}},
        )
        found = preview(given, None, foresee=False)
        SourceError.refuse(found.problems)
        return [one for one in found.warnings if "a spelling of unknown" in one]

    listed = {"nulls": ["", "k.A."]}
    assert warned("k.A.", listed) == []
    assert warned("n/a", {}) == []  # nothing says that this file has unknown cells
    assert [one[:40] for one in warned(" N/A ", listed)] == [
        "columns.town: has 30 cells with a spelli"
    ]
