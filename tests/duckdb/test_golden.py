"""The SQL of two algorithms as it was last approved. `tests/frozen` has what policies publish."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonymizer
from tests.runs import policy, source

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
TYPES = {
    "visit": "INTEGER",
    "patient": "INTEGER",
    "age": "INTEGER",
    "born": "DATE",
    "zip": "VARCHAR",
    "sex": "VARCHAR",
    "ward": "VARCHAR",
    "hide": "BOOLEAN",
    "ill": "VARCHAR",
    "cost": "DECIMAL(8,2)",
}
ROWS = [
    (i, i // 2, 20 + i // 2 % 9, [None, "2000-01-01", "2000-03-07"][i // 2 % 3],
     f"101{i // 2 % 8:02}", "mf"[i // 2 % 2], ["A", "B", None][i // 2 % 3],
     i % 4 == 0, ["flu", "cold", "acne", "gout"][i % 4], i % 5)
    for i in range(32)
]  # fmt: skip
COLUMNS: dict[str, dict[str, Any]] = {
    "mondrian": {"age": "quasi", "zip": "quasi"},
    "lgb": {"age": "quasi", "ill": {"role": "sensitive", "protect": {"l_diversity": 2}}},
}


@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_compiled_is_what_was_approved(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    database = source(tmp_path, TYPES, ROWS)
    columns = {**dict.fromkeys(TYPES, "drop"), **COLUMNS[name]}
    text = anonymizer.plan(policy(tmp_path, columns, algorithm={"name": name}), database).sql()
    path = GOLDEN / f"{name}.sql"
    if request.config.getoption("--update-golden"):
        path.write_bytes(text.encode())
    assert text.encode() == path.read_bytes()
