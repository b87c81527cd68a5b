"""Attacks on the releases of full_domain: what is suppressed, odd names, NULLs, persons, order."""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer import Policy
from tests.runs import policy, published, run, source
from tests.selection import some

LETTERS = {"builder": "order", "values": ["a", "b", "c", "d"]}
TENS = {"builder": "intervals", "cuts": [0, 10, 20, 30, 40], "top": 50}


def people(seed: random.Random, rows: int) -> list[tuple[Any, ...]]:
    """Age, letter, code, and a mark that is different in every row."""
    return [
        (
            seed.choice([None, *range(5, 35), 77]),
            seed.choice("aaaabbc") if number % 17 else "d",
            seed.choice(["x1", "x2", "y1", None]),
            f"mark-{seed.getrandbits(64):016x}",
        )
        for number in range(rows)
    ]


def given(folder: Path, names: list[str], limit: float = 0.2, **rest: Any) -> Policy:
    age, letter, code, mark = names
    columns = {
        age: {"role": "quasi", "hierarchy": TENS},
        letter: {"role": "quasi", "hierarchy": LETTERS},
        code: {"role": "quasi", "hierarchy": {"builder": "prefix"}},
        mark: {"role": "keep", "acknowledge_unique": True},
    }
    rest = {"algorithm": {"name": "full_domain"}, "suppression_limit": limit, **rest}
    return policy(folder, columns, 4, **rest)


@pytest.mark.parametrize("cells", ["text", "typed"])
def test_nothing_of_a_suppressed_row_is_published(tmp_path: Path, cells: str) -> None:
    rows = people(random.Random(cells), 120)
    names = ["age", "letter", "code", "mark"]
    types = dict(zip(names, ["INTEGER", "VARCHAR", "VARCHAR", "VARCHAR"], strict=True))
    database = source(tmp_path, types, rows)
    release = run(given(tmp_path, names, publish={"cells": cells}), database)
    found = published(release)
    kept = {row["mark"] for row in found}
    lost = {row[3] for row in rows} - kept
    assert 0 < len(lost) <= 24
    assert release.measures["suppressed"] == len(lost) == 120 - len(found)
    raw = (tmp_path / "release.duckdb").read_bytes()
    assert all(mark.encode() in raw for mark in kept)
    assert not [mark for mark in lost if mark.encode() in raw]
    assert (tmp_path / "release.duckdb").with_suffix(".duckdb.wal").exists() is False
    shown = [name for name in found[0] if name not in ("class_id", "mark")]
    tuples = Counter(tuple(str(row[name]) for name in shown) for row in found)
    assert min(tuples.values()) >= 4
    by_class = defaultdict(set)
    for row in found:
        by_class[row["class_id"]].add(tuple(str(row[name]) for name in shown))
    assert all(len(cells_) == 1 for cells_ in by_class.values())
    assert len(by_class) == len(tuples), "full domain: one class per published tuple"
    # every cell of a column is of one level: the published nodes of a column do not overlap
    if cells == "text":
        bounds = {row["age"].removesuffix(" or NULL") for row in found if row["age"] is not None}
        spans = sorted(tuple(map(int, s[1:-1].split(", "))) for s in bounds if s.startswith("["))
        assert all(a[1] < b[0] for a, b in itertools.pairwise(spans))


@some(2, 5)
@pytest.mark.parametrize("name", ["full_domain", "privacyfrost", "geneir"])
@pytest.mark.parametrize("sql_type", ["BOOLEAN", "TIMESTAMP", "DECIMAL(9,2)", "VARCHAR"])
def test_a_category_without_values_keeps_its_type(tmp_path: Path, name: str, sql_type: str) -> None:
    columns = {
        "who": "drop",
        "empty": {"role": "quasi", "kind": "categorical", "hierarchy": {"builder": "frequency"}},
        "age": {"role": "quasi", "hierarchy": TENS},
    }
    types = {"who": "INTEGER", "empty": sql_type, "age": "INTEGER"}
    database = source(tmp_path, types, [(i, None, i % 5) for i in range(20)])
    persons = {"person": "who", "privacy": {"ir_k": 3}} if name == "geneir" else {}
    made = policy(
        tmp_path,
        columns,
        None if persons else 3,
        algorithm={"name": name},
        publish={"cells": "typed"},
        **persons,
    )
    release = run(made, database)
    assert [row["empty"] for row in published(release)] == [[None]] * 20
    with release._reading() as (connection, view):
        found = connection.execute(f"select any_value(typeof(empty)) from {view}").fetchone()
    assert found == (f"{sql_type}[]",)
    assert anonymizer.verify(made).passed


def test_a_person_leaves_with_all_rows(tmp_path: Path) -> None:
    seed = random.Random("persons")
    rows = []
    for person in range(40):
        age, letter = seed.choice([5, 15, 25]), seed.choice("aaabbc" if person else "d")
        rows += [(age, letter, f"p{person}", n) for n in range(seed.randint(1, 4))]
    types = {"age": "INTEGER", "letter": "VARCHAR", "who": "VARCHAR", "visit": "INTEGER"}
    columns = {
        "age": {"role": "quasi", "hierarchy": TENS},
        "letter": {"role": "quasi", "hierarchy": LETTERS},
        "who": "identifier",
        "visit": "keep",
    }
    made = policy(
        tmp_path,
        columns,
        3,
        person="who",
        suppression_limit=0.2,
        algorithm={"name": "full_domain"},
    )
    release = run(made, source(tmp_path, types, rows))
    found = published(release)
    owners: dict[int, set[int]] = defaultdict(set)
    visits: Counter[int] = Counter()
    for row in found:
        owners[row["class_id"]].add(row["person_id"])
        visits[row["person_id"]] += 1
    assert min(len(persons) for persons in owners.values()) >= 3
    lost = Counter(Counter(row[2] for row in rows).values()) - Counter(visits.values())
    assert sum(lost.values()) == release.measures["suppressed_persons"] == 40 - len(visits) > 0
    assert sum(size * count for size, count in lost.items()) == release.measures["suppressed"]


def test_null_rows_left_out_count_towards_the_limit(tmp_path: Path) -> None:
    """Rows that NULLs took leave less to suppress, and none where they took it all."""
    rows: list[tuple[Any, ...]] = [(5, "a", "x", f"m{n}") for n in range(16)]
    rows += [(None, "a", "x", f"n{n}") for n in range(2)]
    rows += [(25, "d", "y", f"o{n}") for n in range(2)]
    names = ["age", "letter", "code", "mark"]
    types = dict(zip(names, ["INTEGER", "VARCHAR", "VARCHAR", "VARCHAR"], strict=True))
    for limit, suppressed in ((0.1, 2), (0.2, 4)):
        folder = tmp_path / str(limit)
        folder.mkdir()
        made = given(folder, names, limit).model_dump(by_alias=True, exclude_unset=True)
        made["columns"]["age"]["nulls"] = "suppress"
        database = source(folder, types, rows)
        release = run(Policy.model_validate(made, context={"base": folder}), database)
        assert release.measures["suppressed"] == suppressed
