"""m-invariant classes lose less than those of the paper: dealt at random, then halved."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from anonymizer.republish.balance import assign
from tests.runs import policy, run, source
from tests.selection import some

M = 3
COLUMNS = {"age": "INTEGER", "sex": "VARCHAR", "district": "VARCHAR"}
DISEASES = ["flu", "gastritis", "bronchitis", "diabetes", "asthma", "migraine"]
Person = tuple[int, int, str, str, str]


def people(seed: int, n: int) -> list[Person]:
    draw = random.Random(seed)
    made = []
    for number in range(n):
        district = draw.randrange(8)
        # some diseases are of the old, and of some districts
        disease = DISEASES[(draw.randrange(4) + (district > 3) * 2) % 6]
        age = draw.randint(20, 60) + 20 * (disease in DISEASES[:2])
        made.append((number, age, draw.choice("fm"), f"d{district}", disease))
    return made


def released(folder: Path, rows: list[Person]) -> dict[str, Any]:
    types = {"id": "BIGINT", **COLUMNS, "disease": "VARCHAR"}
    columns = {"id": "identifier", **dict.fromkeys(COLUMNS, "quasi"), "disease": "sensitive"}
    folder.mkdir()
    given = policy(folder, columns, k=M, key="id", ledger="private.duckdb", republish={"m": M})
    return dict(run(given, source(folder, types, rows)).measures)


def halved(rows: list[Person]) -> float:
    """Mean loss of a cell after Xiao and Tao (2007): random buckets, halved by the widest."""
    ages = [row[1] for row in rows]
    sizes = {2: len({row[2] for row in rows}), 3: len({row[3] for row in rows})}
    span = max(ages) - min(ages)
    by_value: dict[str, list[Person]] = defaultdict(list)
    for row in random.Random(1).sample(rows, len(rows)):
        by_value[row[4]].append(row)
    lost = 0.0

    def codes(part: list[Person], column: int) -> int:
        return len({row[column] for row in part})

    def halve(parts: list[list[Person]]) -> None:
        nonlocal lost
        together = [row for part in parts for row in part]
        width = (max(row[1] for row in together) - min(row[1] for row in together)) / span
        widths = {1: width} | {
            c: (codes(together, c) if codes(together, c) > 1 else 0) / n for c, n in sizes.items()
        }
        if len(parts[0]) == 1:
            lost += len(together) * sum(widths.values())
            return
        widest = max(widths, key=lambda c: widths[c])
        ordered = [sorted(part, key=lambda row: row[widest]) for part in parts]
        middle = len(parts[0]) // 2
        halve([part[:middle] for part in ordered])
        halve([part[middle:] for part in ordered])

    names = sorted(by_value)
    counts = {v: len(by_value[name]) for v, name in enumerate(names)}
    for signature, n in assign(counts, M):
        parts = [[by_value[names[v]].pop() for _ in range(n)] for v in signature]
        halve(parts)
    return lost / (3 * len(rows))


@pytest.mark.slow
def test_classes_lose_at_most_half(tmp_path: Path) -> None:
    rows = people(1, 1500)
    measures = released(tmp_path / "one", rows)
    assert measures.get("counterfeits", 0) == 0
    assert measures["ncp"] <= halved(rows) / 2


@some(1)
@pytest.mark.parametrize(
    "mask", [{"top_code": 50}, {"round": 10}, {"bottom_code": {"at_least": 2}}]
)
def test_counterfeits_stand_beside_coarsened_values(tmp_path: Path, mask: dict[str, Any]) -> None:
    """A counterfeit is no value that was masked; the masks of the others are judged."""
    rows = [(n, 20 + 5 * n, ["flu", "flu", "asthma"][n % 3]) for n in range(9)]
    types = {"id": "BIGINT", "age": "INTEGER", "disease": "VARCHAR"}
    columns = {"id": "identifier", "age": {"role": "quasi", **mask}, "disease": "sensitive"}
    given = policy(tmp_path, columns, k=2, key="id", ledger="private.duckdb", republish={"m": 2})
    made = run(given, source(tmp_path, types, rows))
    assert made.measures["counterfeits"] > 0
    assert made.measures["suppressed"] == 0
