"""Every engine warns of a source that may mean otherwise than it is read, with the same counts."""

from __future__ import annotations

import datetime as dt
import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import SourceError
from tests.backends.tables import embedded, load, load_into_spark, on_duckdb, on_postgres, policy

TYPES = {
    "who": "VARCHAR",
    "home": "INTEGER",
    "age": "INTEGER",
    "born": "INTEGER",
    "seen": "DATE",
    "size": "DOUBLE",
    "ill": "VARCHAR",
    "wage": "DOUBLE",
}
COLUMNS = {
    "who": "identifier",
    "home": "identifier",
    "age": "quasi",
    "born": "keep",
    "seen": "keep",
    "size": "quasi",
    "ill": {"role": "sensitive", "protect": {"l_diversity": 2}},
    "wage": {"role": "sensitive", "protect": {"t_closeness": 0.9}},
}
SAID = {
    "person: 40 of 160 values are another one but for": "differ only in spelling",
    "columns.home: numbers groups of persons (40 values, on average 4.0": "fill a class",
    "columns.born: is published as it is and tells age (100 % of the rows)": "tells another",
    "columns.seen: has 80 dates before the year 1500": "a wrong century",
    "columns.size: has 160 whole numbers with more digits": "beyond the digits",
    "columns.ill: 3 of 6 values are another one but for": "differ only in spelling",
    "columns.wage: is nearly unique (160 of 160 values": "nearly unique",
}


def rows() -> list[tuple[Any, ...]]:
    made = []
    for i in range(160):
        name = f"Zo\u00eb {i % 120}"
        who = name if i < 120 else [unicodedata.normalize("NFD", name), f"{name.upper()} "][i % 2]
        ill = ["flu", "gout", "Fieber", "FLU", "gout ", " fieber"][i % 6]
        seen = dt.date(2020 if i % 2 else 25, 1 + i // 4 % 12, 1)
        made.append(
            (who, i // 4, 20 + i // 4, 2000 - i // 4, seen, 1e17 + i // 4 * 1000, ill, i / 7)
        )
    return made


def asked(**rest: Any) -> Policy:
    return policy(COLUMNS, TYPES, person="who", privacy={"k_anonymity": 3}, **rest)


def as_expected(warnings: tuple[str, ...]) -> list[str]:
    """The warnings of this page, which have to be those that are expected."""
    found = [w for w in warnings if any(w.startswith(said) for said in SAID)]
    assert {said for said in SAID if any(w.startswith(said) for w in found)} == set(SAID)
    return found


def test_duckdb() -> None:
    release = on_duckdb(asked(), embedded(TYPES, rows(), "people"))
    as_expected(release.warnings)
    assert "meant" not in json.dumps(release.manifest.data)


@pytest.mark.postgres
def test_postgres(postgres: str) -> None:
    load(postgres, TYPES, rows(), "people")
    release = on_postgres(asked(), postgres)
    here = on_duckdb(asked(), embedded(TYPES, rows(), "people"))
    assert as_expected(release.warnings) == as_expected(here.warnings)


@pytest.mark.postgres
def test_a_kept_value_of_many_rows_on_postgres(postgres: str) -> None:
    """By chance these rows agree once in 300^299 cases, which no double of Postgres holds."""
    types = {"place": "VARCHAR", "half": "VARCHAR"}
    rows = [(f"p{i % 300}", f"h{i % 300 // 150}") for i in range(900)]
    load(postgres, types, rows, "people")
    given = policy({"place": "quasi", "half": "keep"}, types, privacy={"k_anonymity": 3})
    here = on_duckdb(given, embedded(types, rows, "people"))
    said = [w for w in here.warnings if not w.startswith("the release stands")]
    assert list(on_postgres(given, postgres).warnings) == said


@pytest.mark.postgres
def test_a_person_of_few_digits_on_postgres(postgres: str) -> None:
    types = {"who": "DOUBLE", "age": "INTEGER"}
    load(postgres, types, [(1e17 + i, i % 5) for i in range(40)], "people")
    with pytest.raises(SourceError, match="person: has, in 40 rows, larger numbers than its type"):
        on_postgres(policy({"age": "quasi"}, types, person="who"), postgres)


@pytest.mark.spark
def test_spark(spark: Any, tmp_path: Path) -> None:
    load_into_spark(spark, tmp_path, TYPES, rows())
    release = anonymizer.run(asked(engine="spark"), spark, seed=1)
    here = on_duckdb(asked(), embedded(TYPES, rows(), "people"))
    assert as_expected(release.warnings) == as_expected(here.warnings)


@pytest.mark.spark
def test_long_numbers_of_a_json_file_on_spark(spark: Any, tmp_path: Path) -> None:
    lines = (json.dumps({"who": 89490200001234567000 + i, "age": i // 10}) for i in range(60))
    (tmp_path / "w.json").write_text("\n".join(lines) + "\n")
    given = {
        "version": 1,
        "engine": "spark",
        "source": {"file": "w.json"},
        "person": "who",
        "columns": {"who": {"role": "identifier"}, "age": {"role": "quasi"}},
        "privacy": {"k_anonymity": 3},
        "publish": {"name": "released", "database": "release"},
    }
    release = anonymizer.run(
        Policy.model_validate(given, context={"base": tmp_path}), spark, seed=1
    )
    assert release.measures["persons"] == 60
