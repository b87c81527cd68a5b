"""Two releases whose rows can be joined on kept columns: none tells persons apart alone."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import GuaranteeError
from tests import runs
from tests.selection import few

TYPES = {
    "id": "INTEGER",
    "age": "INTEGER",
    "zip": "VARCHAR",
    "disease": "VARCHAR",
    "x": "INTEGER",
    "y": "INTEGER",
}
KEPT = ("x", "y")
PROTECTED = {"role": "sensitive", "protect": {"l_diversity": 3}}


def grid() -> list[tuple[Any, ...]]:
    """Five persons of one disease for every age and code; all diseases for every one of these."""
    cells = [(a, z) for a in range(5) for z in range(5) for _ in range(5)]
    return [(i, a, f"z{z}", f"d{(a + z) % 5}", i % 12, i // 12) for i, (a, z) in enumerate(cells)]


def publish(folder: Path, name: str, quasi: str, **columns: Any) -> Any:
    described = {
        "id": "identifier",
        **dict.fromkeys(("age", "zip"), "drop"),
        quasi: "quasi",
        "disease": PROTECTED,
        **dict.fromkeys(KEPT, "keep"),
        **columns,
    }
    policy = runs.policy(
        folder,
        described,
        k=5,
        key="id",
        ledger="private.duckdb",
        publish={"name": name, "database": f"{name}.duckdb"},
    )
    return runs.run(policy, folder / "source.duckdb", seed=name.encode().hex().ljust(64, "0"))


def test_kept_columns_join_the_rows_of_two_releases(tmp_path: Path) -> None:
    runs.source(tmp_path, TYPES, grid())
    publish(tmp_path, "one", "age")
    with pytest.raises(GuaranteeError, match=r"columns.disease: rows joined on x, y with") as told:
        publish(tmp_path, "two", "zip")
    assert "fewer than 3 values for 125 of 125 returning persons" in str(told.value)
    publish(tmp_path, "same", "age")  # the same classes: nothing is left out
    # without them no rows are joined; but all persons of one age and code have one disease
    with pytest.raises(GuaranteeError, match=r"columns.disease: the differences") as apart:
        publish(tmp_path, "apart", "zip", x="drop", y="drop")
    assert "rows joined" not in str(apart.value)


def left_over(one: runs.Rows, two: runs.Rows, by: Iterable[str]) -> int:
    """Fewest values that are left for anybody, counted row by row."""
    columns = tuple(by)

    def told(row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(row[name] for name in columns)

    first = {row["id_kept"]: row for row in one}
    fewest = 99
    for row in two:
        there = first[row["id_kept"]]["class_id"]
        shown = {told(other) for other in one if other["class_id"] == there}
        mine = [other for other in two if other["class_id"] == row["class_id"]]
        values = {other["disease"] for other in mine if told(other) in shown}
        if len(values) < len({other["disease"] for other in mine}):
            fewest = min(fewest, len(values))
    return fewest


@pytest.mark.slow
@pytest.mark.parametrize("seed", few(range(6), 2))
def test_joined_rows_are_counted_as_one_by_one(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    rows = [
        (
            i,
            draw.randrange(draw.choice([2, 6])),
            f"z{draw.randrange(3)}",
            f"d{draw.randrange(4)}",
            draw.randrange(2 + seed % 5),
            draw.randrange(2),
        )
        for i in range(90)
    ]
    runs.source(tmp_path, TYPES, rows)
    # the truth, without a ledger: the same classes, with the key of every row beside it
    shown = {}
    for name, quasi in (("one", "age"), ("two", "zip")):
        other = "zip" if quasi == "age" else "age"
        columns: dict[str, Any] = {
            "id": {"role": "keep", "acknowledge_unique": True},
            quasi: "quasi",
            other: "drop",
            "disease": PROTECTED,
            **dict.fromkeys(KEPT, "keep"),
        }
        given = runs.policy(
            tmp_path, columns, k=5, publish={"name": f"t_{name}", "database": f"t_{name}.duckdb"}
        )
        found = runs.published(runs.run(given, tmp_path / "source.duckdb"))
        shown[name] = [{**row, "id_kept": row["id"]} for row in found]
    fewest = left_over(shown["one"], shown["two"], KEPT)
    publish(tmp_path, "one", "age")
    if fewest >= 3:
        try:
            publish(tmp_path, "two", "zip")
            refused = ""
        except GuaranteeError as error:  # the classes alone may tell too much
            refused = str(error)
        assert "rows joined on" not in refused
        return
    with pytest.raises(GuaranteeError, match="rows joined on x, y"):
        publish(tmp_path, "two", "zip")
