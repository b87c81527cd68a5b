"""Text that would be published is looked through where it stands: every engine finds the same."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import SourceError
from tests.backends.tables import embedded, load, load_into_spark, on_duckdb, on_postgres, policy
from tests.threats.identifiers import ROWS, columns, kinds

KINDS = [*kinds(True).values(), *kinds(False).values()]
NAMES = {f"c{place}": kind for place, kind in enumerate(KINDS)}
PEOPLE = [f"Ana-{'xyzuvwabcd'[i % 10] * (2 + i // 10)} López" for i in range(ROWS)]
SAID = ("note", "file")
"""Columns that hold the names of others and the numbers of their rows."""
TYPES = {
    "id": "INTEGER",
    "who": "VARCHAR",
    "age": "INTEGER",
    "phone": "INTEGER",
    **dict.fromkeys((*SAID, *NAMES), "VARCHAR"),
}
LOOKED = {"role": "keep", "acknowledge_unique": True}


@cache
def table() -> list[tuple[Any, ...]]:
    """The rows; they are drawn where a test needs them."""
    corpus = [*columns(True), *columns(False)]
    return [
        (
            99900 + i,
            PEOPLE[i],
            20 + i % 3,
            100 + i // 2,
            f"saw {PEOPLE[i - 1]}, no fever",
            f"case {99900 + i}: closed",
            *(values[i] for _, _, values in corpus),
        )
        for i in range(ROWS)
    ]


def asked(**more: Any) -> Policy:
    """Everything is kept."""
    kept: dict[str, Any] = dict.fromkeys(("phone", *SAID, *NAMES), LOOKED)
    return policy({"id": "identifier", "who": "identifier", "age": "quasi", **kept, **more}, TYPES)


def innocent() -> Policy:
    """What raises no alarm is kept, and the telephones, which somebody has looked at."""
    dropped = {name: "drop" for name, kind in NAMES.items() if kind is not None}
    said = {name: {**LOOKED, "acknowledge": ["identifier_value"]} for name in SAID}
    return asked(**dropped, **said, phone={**LOOKED, "acknowledge": ["name"]})


def expected() -> list[str]:
    """What DuckDB says: every planted column is refused, and the one named `phone`."""
    with pytest.raises(SourceError) as refused:
        on_duckdb(asked(), embedded(TYPES, table(), "people"))
    found = sorted(map(str, refused.value.problems))
    planted = [name for name, kind in NAMES.items() if kind is not None]
    assert len(found) == len(planted) + len(SAID) + 1
    assert sum("200 values that contain a value of an identifier" in said for said in found) == 2
    assert sum("100 different values in a column named like" in said for said in found) == 1
    return found


@pytest.mark.slow
@pytest.mark.postgres
def test_postgres(postgres: str) -> None:
    load(postgres, TYPES, table(), "people")
    with pytest.raises(SourceError) as refused:
        on_postgres(asked(), postgres)
    assert sorted(map(str, refused.value.problems)) == expected()
    assert on_postgres(innocent(), postgres).verification.passed


MAIL = "concat('user', i, '@mail.example')"
TYPED = {
    "json": f"json_build_object('to', {MAIL})",
    "bytea": f"convert_to({MAIL}, 'UTF8')",
    "inet": "cast(concat('192.168.7.', i) as inet)",
    "double precision": "cast(4111111111111111 as double precision)",
    "numeric": "cast(4111111111111111 as numeric)",
}


@pytest.mark.postgres
@pytest.mark.parametrize("kind", TYPED)
def test_types_of_postgres(postgres: str, kind: str) -> None:
    import psycopg

    with psycopg.connect(postgres) as connection:
        connection.execute("drop table if exists people")
        made = f"select i % 5 as age, {TYPED[kind]} as x from generate_series(1, 40) i"
        connection.execute(f"create table people as {made}")
    given = policy({"age": "quasi", "x": LOOKED}, {"age": "INTEGER", "x": "VARCHAR"})
    with pytest.raises(SourceError, match=r"columns\.x: seems to contain 40 values"):
        on_postgres(given, postgres)


@pytest.mark.slow
@pytest.mark.spark
def test_spark(spark: Any, tmp_path: Path) -> None:
    load_into_spark(spark, tmp_path, TYPES, table())

    def there(given: Policy) -> Policy:
        content = given.model_dump(mode="json", exclude_unset=True)
        return Policy.model_validate({**content, "engine": "spark"})

    with pytest.raises(SourceError) as refused:
        anonymizer.run(there(asked()), spark, seed=1)
    assert sorted(map(str, refused.value.problems)) == expected()
    assert anonymizer.run(there(innocent()), spark, seed=1).verification.passed
