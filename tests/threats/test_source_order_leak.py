"""The order of the source, and of its keys, is in nothing that is published."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runs import Rows, policy, published, run, source

ROWS = 600


def correlation(first: list[float], second: list[float]) -> float:
    """Spearman's rank correlation."""

    def ranks(values: list[float]) -> list[float]:
        place = {value: at for at, value in enumerate(sorted(set(values)))}
        return [float(place[value]) for value in values]

    a, b = ranks(first), ranks(second)
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    covariance = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    spread = sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b)
    return covariance / spread**0.5 if spread else 0.0


NOISE = 4 / ROWS**0.5
"""Four standard deviations of the correlation of unrelated ranks."""


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    """Ages grow with the row number; the kept number says where a row came from."""
    found = {}
    for algorithm in ("mondrian", "lgb"):
        folder = tmp_path_factory.mktemp(algorithm)
        rows = [(i, i // 6, "abcdef"[i % 6], i % 9 == 0) for i in range(ROWS)]
        types = {"id": "INTEGER", "age": "INTEGER", "ill": "VARCHAR", "hide": "BOOLEAN"}
        database = source(folder, types, rows)
        ill: dict[str, Any] = {"role": "sensitive", "protect": {"l_diversity": 2}}
        age: dict[str, Any] = {"role": "quasi"}
        if algorithm == "lgb":
            age |= {"sensitive_when": "hide", "protect": {"l_diversity": 2}}
        columns: dict[str, Any] = {
            "id": {"role": "keep", "acknowledge_unique": True},
            "age": age,
            "ill": ill,
            "hide": "drop",
        }
        given = policy(folder, columns, k=5, algorithm={"name": algorithm})
        found[algorithm] = published(run(given, database))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["mondrian", "lgb"])
def test_source_order_leak(released: dict[str, Rows], algorithm: str) -> None:
    rows = released[algorithm]
    assert abs(correlation(list(range(ROWS)), [row["id"] for row in rows])) < NOISE


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["mondrian", "lgb"])
def test_class_numbers_tell_nothing_of_what_the_classes_hold(
    released: dict[str, Rows], algorithm: str
) -> None:
    ids: dict[int, list[int]] = {}
    for row in released[algorithm]:
        ids.setdefault(row["class_id"], []).append(row["id"])
    middle = [sum(ids[number]) / len(ids[number]) for number in sorted(ids)]
    assert abs(correlation(list(range(len(ids))), middle)) < 4 / len(ids) ** 0.5


@pytest.mark.parametrize("column", ["ill", "age"])
def test_bucket_numbers_and_seats_tell_nothing(released: dict[str, Rows], column: str) -> None:
    """Neither the number of a bucket nor the place of a value in it follows the source."""
    rows = [row for row in released["lgb"] if row[f"{column}_bucket"] is not None]
    buckets = [row[f"{column}_bucket"] for row in rows]
    assert abs(correlation(buckets, [row["id"] for row in rows])) < 5 / len(rows) ** 0.5
    if column == "ill":
        # whose own value stands beside whom: two different values, so half of them by chance
        own = sum(row["ill"] == "abcdef"[row["id"] % 6] for row in rows)
        assert 0.4 < own / len(rows) < 0.6
