"""Persons and values are found again where the types of their columns changed, or it is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import EngineError, GuaranteeError
from anonymizer.ledger.protected_columns import same_text
from tests.threats.population import Population, policy

COLUMNS: dict[str, Any] = {
    "id": {"role": "identifier"},
    "age": {"role": "quasi"},
    "district": {"role": "quasi"},
    "disease": {"role": "sensitive", "protect": {"l_diversity": 3}},
}
QUERY = "select {} as id, age, district, disease from visits"
CODED = "md5_number_lower(disease) % 1000"


@pytest.fixture
def people(tmp_path: Path) -> Population:
    population = Population(seed=2, size=60)
    population.write(tmp_path / "source.duckdb")
    return population


def run(folder: Path, *, id_type: str = "integer", disease: str = "disease", **changes: Any) -> Any:
    query = f"select cast(id as {id_type}) as id, age, district, {disease} as disease from visits"
    given = {"columns": COLUMNS, "source": {"query": query}, **changes}
    return anonymizer.run(policy(folder, **given), folder / "source.duckdb")


def others_come(folder: Path, people: Population) -> None:
    people.leave(10)
    people.arrive(10)
    people.write(folder / "source.duckdb")


@pytest.mark.slow
@pytest.mark.parametrize("later", ["double", "float", "decimal(12, 2)", "bigint"])
def test_a_number_is_the_same_person_in_every_type(
    tmp_path: Path, people: Population, later: str
) -> None:
    run(tmp_path)
    others_come(tmp_path, people)
    with pytest.raises(GuaranteeError) as raised:
        run(tmp_path, id_type=later)
    assert any(" of 50 returning persons" in p.message for p in raised.value.problems)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "later", "hint"),
    [
        ({}, {"id_type": "varchar"}, "cast"),
        ({}, {"key": None}, "key or person: id"),
        ({"key": None}, {}, "no key and person"),
    ],
)
def test_persons_who_are_not_found_again(
    tmp_path: Path, people: Population, first: dict[str, Any], later: dict[str, Any], hint: str
) -> None:
    run(tmp_path, **first)
    before = (tmp_path / "release.duckdb").read_bytes()
    others_come(tmp_path, people)
    with pytest.raises(EngineError) as raised:
        run(tmp_path, **later)
    (problem,) = raised.value.problems
    assert problem.path == "ledger"
    assert hint in (problem.hint or "")
    assert "forget" in (problem.hint or "")
    assert (tmp_path / "release.duckdb").read_bytes() == before


@pytest.mark.parametrize(
    "written",
    [
        "upper('p' || id)",
        "'p' || id || ' '",
        pytest.param("'p' || (1000 + id)", marks=pytest.mark.slow),
        pytest.param(
            "case when id % 5 < 2 then 'p' || id else 'P' || id end", marks=pytest.mark.slow
        ),
    ],
)
def test_persons_whose_keys_are_written_differently(
    tmp_path: Path, people: Population, written: str
) -> None:
    """Hardly anybody is recognized: refused with the count, unless the persons are others."""
    run(tmp_path, source={"query": QUERY.format("'p' || id")})
    others_come(tmp_path, people)
    query = {"query": QUERY.format(written)}
    with pytest.raises(GuaranteeError, match=r"recognizes \d+ of the 60 persons") as raised:
        run(tmp_path, source=query)
    (problem,) = raised.value.problems
    assert "new_population: true" in (problem.hint or "")
    if "case" not in written:
        run(tmp_path, source=query, republish={"new_population": True})
        run(tmp_path, source=query)


@pytest.mark.slow
def test_a_new_population_may_have_another_key(tmp_path: Path, people: Population) -> None:
    run(tmp_path)
    run(tmp_path, id_type="varchar", republish={"new_population": True})


@pytest.mark.slow
@pytest.mark.parametrize("later", ["double", "decimal(12, 2)"])
def test_a_value_is_the_same_in_every_type(tmp_path: Path, people: Population, later: str) -> None:
    run(tmp_path, disease=f"cast({CODED} as integer)")
    others_come(tmp_path, people)
    with pytest.raises(GuaranteeError) as raised:
        run(tmp_path, disease=f"cast({CODED} as {later})")
    assert "columns.disease" in {problem.path for problem in raised.value.problems}


@pytest.mark.slow
def test_signatures_are_kept_where_the_type_of_the_value_changes(
    tmp_path: Path, people: Population
) -> None:
    def shown(kind: str) -> dict[int, set[int]]:
        columns = {**COLUMNS, "disease": {"role": "sensitive"}}
        run(tmp_path, disease=f"cast({CODED} as {kind})", columns=columns, republish={"m": 3})
        with duckdb.connect(str(tmp_path / "private.duckdb"), read_only=True) as ledger:
            found = ledger.execute(
                "select person, signature from anonymizer_ledger.members m"
                " join anonymizer_ledger.signatures s"
                " on s.release = m.release and s.grp = m.class_id where person is not null"
                " and m.release = (select max(release) from anonymizer_ledger.releases)"
            ).fetchall()
        return {person: set(signature) for person, signature in found}

    first = shown("integer")
    others_come(tmp_path, people)
    later = shown("double")
    returning = first.keys() & later.keys()
    assert len(returning) == 50
    assert all(first[person] == later[person] for person in returning)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("7", "integer"),
        ("7", "double"),
        ("7", "float"),
        ("7", "decimal(9, 3)"),
        ("-7", "double"),
        ("400000000000000000", "double"),
        ("-400000000000000000", "double"),
        ("16777216", "float"),
        ("1e+300", "double"),
        ("700", "decimal(9, 3)"),
        ("0.5", "double"),
        ("0.5", "decimal(9, 3)"),
        ("0", "decimal(9, 3)"),
        ("'nan'", "double"),
        ("'7.0'", "varchar"),
    ],
)
def test_texts_of_numbers(value: str, kind: str) -> None:
    with duckdb.connect() as connection:
        name = connection.execute(f"select typeof(cast({value} as {kind}))").fetchall()[0][0]
        text = same_text(f"cast(cast({value} as {kind}) as varchar)", name)
        assert connection.execute(f"select {text}").fetchall() == [(value.strip("'"),)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "later"),
    [
        ({"round": 10}, {"round": 4}),
        ({}, {"top_code": 500}),
        ({"bottom_code": 100}, {"bottom_code": 200}),
    ],
)
def test_values_that_are_coarsened_otherwise_are_refused(
    tmp_path: Path, people: Population, first: dict[str, Any], later: dict[str, Any]
) -> None:
    """Their texts differ, so that no comparison of texts finds what both releases leave."""

    def coarsened(options: dict[str, Any]) -> Any:
        sensitive = {**COLUMNS["disease"], **options}
        columns = {**COLUMNS, "disease": sensitive}
        return run(tmp_path, disease=f"cast({CODED} as integer)", columns=columns)

    coarsened(first)
    with pytest.raises(GuaranteeError) as raised:
        coarsened(later)
    (problem,) = (p for p in raised.value.problems if p.path == "columns.disease")
    assert "coarsened otherwise" in problem.message
    assert "forget" in (problem.hint or "")


def masked(folder: Path, people: Population, column: str, value: str, **changes: Any) -> Any:
    """A release with tokens that last, made under one key."""
    key = folder / "tokens.key"
    key.write_text("ab" * 32)
    key.chmod(0o600)
    query = f"select *, {value} as {column} from visits"
    columns = {**COLUMNS, column: {"role": "token", "key_file": "tokens.key"}}
    columns["disease"] = {"role": "drop"}
    return run(folder, source={"query": query}, columns=columns, **changes)


@pytest.mark.slow
@pytest.mark.parametrize("other", ["badge", "gate"])
def test_tokens_that_last_are_joined(tmp_path: Path, people: Population, other: str) -> None:
    """Of another table, whose persons have other keys: the same values have the same tokens."""
    masked(tmp_path, people, "badge", "'B' || id")
    query = f"select 'X' || id as pay, age * 7 % 50 as spent, 'B' || id as {other} from visits"
    columns = {
        "pay": {"role": "identifier"},
        "spent": {"role": "quasi"},
        other: {"role": "token", "key_file": "tokens.key"},
    }
    publish = {"name": "payments", "database": "payments.duckdb"}
    with pytest.raises(GuaranteeError, match=rf"columns\.{other}: tells persons apart"):
        run(tmp_path, source={"query": query}, columns=columns, key="pay", publish=publish)
