"""A policy on Postgres makes the release that it makes on DuckDB: row by row, number by number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import AnonymizerError
from anonymizer.publish.export import export
from anonymizer.release.signing import new_key
from anonymizer.run.verify import lineage
from tests.backends.tables import (
    PEOPLE,
    embedded,
    load,
    on_duckdb,
    on_postgres,
    people,
    policy,
    rows_of,
    same_release,
)
from tests.selection import some

pytestmark = pytest.mark.postgres

ROWS = people()
QUASI: dict[str, Any] = {"age": "quasi", "zip": "quasi", "town": "quasi"}
ALL = dict.fromkeys(("age", "born", "seen", "town", "wage", "weight", "member"), "quasi")
ILL = {"role": "sensitive"}
L2 = {"role": "sensitive", "protect": {"l_diversity": 2}}
SEMI = {"role": "quasi", "sensitive_when": "hidden", "protect": {"l_diversity": 2}}
PERSON = {"person": "person", "merge_person_rows": True}
NONE: dict[str, Any] = {"algorithm": {"name": "none"}, "privacy": {}}
OPEN = {"role": "keep", "acknowledge_unique": True}
KEPT = dict.fromkeys(("age", "town", "seen", "member"), OPEN)
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "none": ({**KEPT, "ill": ILL}, NONE),
    "none persons": ({**KEPT, "ill": ILL}, {**NONE, "person": "person"}),
    "relaxed": (
        {**QUASI, "ill": ILL},
        {"algorithm": {"name": "mondrian", "split": "median", "strict": False}},
    ),
    "all types": ({**ALL, "ill": ILL, "zip": "keep"}, {}),
    "typed": ({**ALL, "ill": ILL}, {"publish": {"cells": "typed"}}),
    "persons": (
        {"age": "quasi", "ill": ILL},
        {**PERSON, "privacy": {"ir_kl": {"k": 3, "l": 2}}},
    ),
    "lgb": (
        {"age": SEMI, "zip": "quasi", "ill": L2},
        {"algorithm": {"name": "lgb"}, "suppression_limit": 0.3},
    ),
    "lgb typed": (
        {"age": SEMI, "zip": "quasi", "ill": L2},
        {
            "algorithm": {"name": "lgb"},
            "suppression_limit": 0.3,
            "publish": {"cells": "typed"},
        },
    ),
}


@pytest.fixture(scope="module")
def people_here(postgres: str) -> str:
    load(postgres, PEOPLE, ROWS, "people")
    return postgres


def compare(address: str, columns: dict[str, Any], rest: dict[str, Any]) -> None:
    given = policy(columns, **rest)
    with embedded(PEOPLE, ROWS, "people") as connection:
        expected = on_duckdb(given, connection)
        made = on_postgres(given, address)
        assert made.verification.passed
        same_release(made, address, expected)


@some(5)
@pytest.mark.parametrize("case", list(CASES))
def test_the_release_is_that_of_duckdb(people_here: str, case: str) -> None:
    compare(people_here, *CASES[case])


ADULT = {
    **dict.fromkeys(("age", "sex", "race", "marital_status", "education", "workclass"), "quasi"),
    "occupation": {"role": "sensitive", "protect": {"l_diversity": 3}},
}


@some(1)
@pytest.mark.parametrize("algorithm", [{"name": "mondrian"}, {"name": "lgb"}])
def test_adult(postgres: str, data_folder: Path, algorithm: dict[str, Any]) -> None:
    path = str(data_folder / "adult_train.parquet")
    with duckdb.connect() as connection:
        connection.execute("create table adult as select * from read_parquet(?)", [path])
        relation = connection.table("adult")
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        rows = relation.fetchall()
        types = {name: kind.replace("TINYINT", "SMALLINT") for name, kind in types.items()}
        load(postgres, types, rows, "adult")
        given = policy(ADULT, types, "adult", algorithm=algorithm, privacy={"k_anonymity": 10})
        same_release(on_postgres(given, postgres), postgres, on_duckdb(given, connection))


def test_the_release_verifies_again_from_itself(people_here: str) -> None:
    given = policy({**QUASI, "ill": L2})
    made = on_postgres(given, people_here)
    again = anonymizer.verify(given, people_here)
    assert again.passed
    names = {check.name for check in again.checks}
    assert {"k_anonymity", "distinct_l"} <= names <= {c.name for c in made.verification.checks}
    by_manifest = anonymizer.verify(None, people_here)
    assert by_manifest.passed


def test_a_certificate_and_the_lineage_of_a_release(people_here: str, tmp_path: Path) -> None:
    given = policy({**QUASI, "ill": L2})
    on_postgres(given, people_here)
    new_key(tmp_path / "key.pem")
    certificate = tmp_path / "certificate.json"
    certificate.write_text(anonymizer.certify(given, people_here, sign=tmp_path / "key.pem"))
    for asked in (given, None):
        found = anonymizer.verify(
            asked, people_here, certificate=certificate, public_key=tmp_path / "key.pem.pub"
        )
        assert found.passed
        assert found.origin == "signature"
    (output,) = lineage(given, people_here)["outputs"]
    assert {"age", "zip", "town", "ill"} < set(output["facets"]["columnLineage"]["fields"])
    on_postgres(given, people_here, seed=2)
    with pytest.raises(AnonymizerError, match="certificate"):
        anonymizer.verify(
            None, people_here, certificate=certificate, public_key=tmp_path / "key.pem.pub"
        )


@pytest.mark.parametrize("cells", ["text", "typed"])
def test_duckdb_judges_the_release_as_well(people_here: str, tmp_path: Path, cells: str) -> None:
    columns = {**QUASI, "wage": "quasi", "seen": "quasi", "ill": L2, "weight": "keep"}
    given = policy(columns, publish={"cells": cells}, engine="postgres")
    made = on_postgres(given, people_here)
    file = tmp_path / "release.duckdb"
    done = export(given, file, people_here)
    assert done.files[0].rows == len(ROWS)
    judged = anonymizer.verify(None, file, engine="duckdb")
    assert judged.passed
    assert [c.achieved for c in judged.checks] == [
        c.achieved for c in made.verification.checks[: len(judged.checks)]
    ]
    with duckdb.connect(str(file), read_only=True) as connection:
        carried = connection.execute("from main.people_anonymous").fetchall()
    assert [list(row) for row in carried] == rows_of(made, people_here)
    export(given, tmp_path / "release.parquet", people_here)
    parquet = duckdb.read_parquet(str(tmp_path / "release.parquet")).fetchall()
    assert len(parquet) == len(ROWS)
