"""`anonymizer hierarchy suggest`: what is suggested for which column, and what its levels are."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from anonymizer import Policy
from anonymizer.review.draft.table_draft import draft
from anonymizer.review.hierarchies import BuiltSuggestion, suggest
from tests.draft.labelled import make
from tests.tables import customers, public

COLUMNS = """
    i as id,
    20 + i % 60 as age,
    150 + i % 50 as height,
    48.0 + (i * 37 % 997) / 1000.0 as lat,
    (-120 + (i * 31 % 2000) / 10.0)::double as longitude,
    (['A01.1', 'B20.0', 'C34.9'])[1 + i % 3] || (i % 47) as diagnosis_code,
    printf('%05d', i * 37 % 1000 * 97) as zip,
    'Town ' || chr(65 + (i % 26)::int) || (i % 2600) as town,
    'Job ' || i % 150 as job,
    (i % 50) / 100.0 as share,
    i * 37 % 90000 + 10000 as price,
    time '08:00:00' + to_minutes(i % 600) as at,
    md5(i::varchar)::uuid as token,
    timestamp '2020-01-01' + to_hours(i % 9999) as seen,
    date '1940-01-01' + (i * 7 % 20000)::int as birth_date,
    (date '2020-01-01' + (i % 900)::int)::varchar as day,
    (timestamptz '2020-01-01 00:00+00' + to_days((i % 900)::int)) as zoned,
    i % 2 as flag
"""
EXPECTED = {
    "age": "{builder: divisor, divisors: [5, 10, 50], domain: [0, 79]}",
    "height": "{builder: divisor, divisors: [5, 10], domain: [0, 199]}",
    "lat": "{builder: conventional, min_width: 0.01, domain: [48, 49]}",
    "longitude": "{builder: divisor, divisors: [1, 5, 10, 30], domain: [-180, 180]}",
    "diagnosis_code": "{builder: prefix, lengths: [6, 4]}",
    "zip": "{builder: prefix, lengths: [3, 2, 1]}",
    "town": "{builder: prefix, lengths: [9, 8, 7, 6]}",
    "job": "{builder: frequency}",
    "share": "{builder: conventional, min_width: 0.01, domain: [0.0, 0.64]}",
    "price": "{builder: divisor, divisors: [5000, 10000, 50000], domain: [0, 99999]}",
    "at": "{builder: prefix, lengths: [2]}",
    "seen": "{builder: date, levels: [day, month, quarter]}",
    "birth_date": "{builder: date}",
    "day": "{builder: prefix, lengths: [7, 4]}",
    "zoned": "{builder: date, levels: [month, quarter, year]}",
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("suggest") / "t.duckdb"
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.execute(f"create table t as select {COLUMNS} from range(3000) r(i)")
    return path


def of(path: Path, name: str, columns: tuple[str, ...] = ()) -> dict[str, list[BuiltSuggestion]]:
    found: dict[str, list[BuiltSuggestion]] = {}
    for one in suggest(Policy.loads(draft(name, str(path)).text), str(path), columns):
        found.setdefault(one.column, []).append(one)
    return found


def check(found: dict[str, list[BuiltSuggestion]]) -> None:
    """Levels go up: fewer nodes, more loss, and the root at the end."""
    for several in found.values():
        for one in several:
            if one.suggestion is None or one.refused:
                continue
            nodes = [level.nodes for level in one.levels]
            losses = [level.loss for level in one.levels]
            assert nodes == sorted(nodes, reverse=True), one
            assert losses == sorted(losses), one
            assert nodes[-1] == 1, one
            assert losses[-1] == pytest.approx(1), one
            assert 0 <= losses[0] < 1 or len(losses) == 1, one
            assert one.levels[-1].examples == ("*",)


@pytest.mark.slow
def test_what_is_suggested_for_which_column(table: Path) -> None:
    found = of(table, "t", (*EXPECTED, "flag", "token"))
    check(found)
    first = {name: several[0] for name, several in found.items()}
    told = {name: one.suggestion.text for name, one in first.items() if one.suggestion}
    assert {name: told[name] for name in EXPECTED} == EXPECTED
    assert first["flag"].refused == "no hierarchy: has two values or fewer"
    months = first["seen"].levels[1]
    assert months.examples[0] == "[2020-01-01, 2020-01-31]"


@pytest.mark.slow
def test_every_level_changes_something(table: Path) -> None:
    for several in of(table, "t", ("zip", "town", "seen", "birth_date", "diagnosis_code")).values():
        nodes = [level.nodes for level in several[0].levels]
        assert len(set(nodes)) == len(nodes)


@pytest.mark.slow
def test_customers_and_public_tables(tmp_path: Path) -> None:
    path = customers.make(tmp_path / "customers.duckdb", 2000)
    found = of(path, "customers")
    check(found)
    assert {"date_of_birth", "city", "postcode", "job", "customer_since"} <= set(found)
    for name in ("cgd", "rwm5yr", "fair"):
        path = public.make(tmp_path / f"{name}.duckdb", name)
        check(of(path, name))


def test_tables_of_codes(tmp_path: Path, data_folder: Path) -> None:
    path = make(tmp_path / "c.duckdb", "informs_conditions", data_folder, 5000)
    found = of(path, "informs_conditions", ("icd9_code",))
    check(found)
    told = found["icd9_code"][0]
    assert told.suggestion is not None
    assert told.suggestion.options["builder"] == "prefix"
    assert len(told.levels) == 3


def test_init_drafts_codes_where_few_columns_are_quasi(tmp_path: Path) -> None:
    path = tmp_path / "z.duckdb"
    more = ", ".join(f"(i % {n}) as town{n}" for n in (7, 8, 9, 10, 11, 12))
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        zips = "select i % 60 as age, printf('%05d', i * 37 % 1000 * 97) as zip"
        connection.execute(f"create table few as {zips} from range(3000) r(i)")
        connection.execute(f"create table many as {zips}, {more} from range(3000) r(i)")
    assert "hierarchy: {builder: prefix}" in draft("few", str(path)).text
    assert "hierarchy: {" not in draft("many", str(path)).text


def test_numbers_that_no_bounds_suit(tmp_path: Path) -> None:
    """A column of any numbers has a suggestion, or a true reason why there is none."""
    path = tmp_path / "n.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("""
            create table t as select
                [1e308, -1e308, 1.5][1 + i % 3] as wide,
                [0, 5e-324, 1e-322][1 + i % 3] as narrow,
                (['NaN', '1', 'Infinity'][1 + i % 3])::double as endless,
                i * 170141183460469231731687303715::hugeint as huge
            from range(30) r(i)
        """)
    listed = {name: {"role": "quasi"} for name in ("wide", "narrow", "endless", "huge")}
    policy = Policy.model_validate(
        {
            "version": 1,
            "source": {"table": "t"},
            "columns": listed,
            "privacy": {"k_anonymity": 2},
        }
    )
    found = {one.column: one for one in suggest(policy, path)}
    assert all(one.suggestion is None for one in found.values())
    assert found["endless"].refused == (
        "no hierarchy: has values that are NaN or infinite, which no interval holds"
    )
    for column in ("wide", "narrow", "huge"):
        assert found[column].refused == (
            "no hierarchy: has numbers too large, or too near to each other, for round bounds"
        )
