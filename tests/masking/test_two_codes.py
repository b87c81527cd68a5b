"""A column with a top and a bottom code: two checks of one name, each with its own figures."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer import Policy, SchemaPolicy
from anonymizer.release.signing import new_key

CODES = {
    "role": "sensitive",
    "acknowledge_unique": True,
    "top_code": {"at_least": 5},
    "bottom_code": {"at_least": 3},
}


@pytest.mark.slow
def test_a_release_is_verified_again_and_certified(tmp_path: Path) -> None:
    with duckdb.connect() as source:
        source.execute(
            "create table people as select i % 7 as age, i * 37 % 91 as x from range(80) r(i)"
        )
        given = Policy.model_validate(
            {
                "version": 1,
                "source": {"table": "people"},
                "columns": {"age": {"role": "quasi"}, "x": CODES},
                "privacy": {"k_anonymity": 3},
                "publish": {"database": "release.duckdb"},
            },
            context={"base": tmp_path},
        )
        public = new_key(tmp_path / "own.key")
        made = anonymizer.run(given, source, seed=1, sign=tmp_path / "own.key")
    groups = [check.required for check in made.verification.checks if check.name == "mask_group"]
    assert sorted(map(str, groups)) == ["3", "5"]
    assert anonymizer.verify(given).passed
    assert anonymizer.verify(None, tmp_path / "release.duckdb").passed
    certificate = tmp_path / "certificate.json"
    certificate.write_text(anonymizer.certify(given, sign=tmp_path / "own.key"))
    again = anonymizer.verify(given, public_key=public, certificate=certificate)
    assert again.passed


def test_several_tables_state_the_statement_of_each(tmp_path: Path) -> None:
    with duckdb.connect() as source:
        source.execute("create table people as select i as id, i % 5 as age from range(40) r(i)")
        source.execute("create table visits as select i % 40 as id, i as cost from range(80) r(i)")
        people = {"id": {"role": "key"}, "age": {"role": "quasi"}}
        visits = {"id": {"role": "key"}, "cost": {**CODES, "top_code": 70, "bottom_code": 4}}
        given = SchemaPolicy.model_validate(
            {
                "version": 1,
                "person": "people",
                "tables": {
                    "people": {"source": {"table": "people"}, "key": "id", "columns": people},
                    "visits": {
                        "source": {"table": "visits"},
                        "links": {"id": "people"},
                        "columns": visits,
                    },
                },
                "privacy": {"k_anonymity": 2},
                "publish": {"database": "release.duckdb"},
            },
            context={"base": tmp_path},
        )
        made = anonymizer.run(given, source, seed=1)
    stated = made.manifest.data["verification"]["checks"]
    beyond = [check["sql"] for check in stated if check["name"] == "mask_beyond"]
    assert len(set(beyond)) == 2
    assert anonymizer.verify(given).passed
