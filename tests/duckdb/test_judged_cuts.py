"""Cuts judged by where values begin and end are those judged by histograms, and few of many are."""

from __future__ import annotations

import random
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.algorithms.core import partition, protections
from tests.selection import few, some

ROWS = 240


def table(seed: int) -> duckdb.DuckDBPyConnection:
    draw = random.Random(seed)
    made = duckdb.connect()
    made.execute("create table t (id integer, age integer, town varchar, ill varchar, who integer)")
    made.executemany(
        "insert into t values (?, ?, ?, ?, ?)",
        [
            (
                i,
                draw.choice((None, *range(40))),
                draw.choice("abcdefg"),
                draw.choices((None, *"uvwxyz"), (2, 9, 5, 3, 1, 1, 1))[0],
                draw.randrange(90),
            )
            for i in range(ROWS)
        ],
    )
    return made


def released(seed: int, protect: dict[str, Any], more: dict[str, Any]) -> list[tuple[Any, ...]]:
    policy = {
        "version": 1,
        "source": {"table": "t"},
        "columns": {
            "id": {"role": "drop"},
            "age": {"role": "quasi"},
            "town": {"role": "quasi"},
            "ill": {"role": "sensitive", "protect": protect},
            "who": {"role": "drop"},
        },
        "privacy": {"k_anonymity": 3},
        "publish": {"name": "r"},
        **more,
    }
    # cuts only: the last pass is made under some rules and not under others
    policy["algorithm"] = {"name": "mondrian", "refine": 0, **more.get("algorithm", {})}
    with table(seed) as source:
        anonymizer.run(anonymizer.Policy.model_validate(policy), source, seed=1)
        return source.execute("select * from r order by all").fetchall()


PERSONS = {
    "person": "who",
    "merge_person_rows": True,
    "columns": {
        "id": {"role": "drop"},
        "age": {"role": "quasi"},
        "town": {"role": "quasi"},
        "ill": {"role": "sensitive", "protect": {"l_diversity": 2}},
        "who": {"role": "identifier"},
    },
}


@some(1, 2)
@pytest.mark.parametrize("seed", few(range(2), 1))
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"algorithm": {"name": "mondrian", "compare": 1}},
        {"algorithm": {"name": "mondrian", "split": "median"}},
        {"algorithm": {"name": "mondrian", "split": "median", "strict": False}},
        PERSONS,
    ],
    ids=["loss", "own attribute", "median", "relaxed", "persons"],
)
@pytest.mark.parametrize("l", [2, 3])
def test_ends_tell_what_histograms_tell(
    monkeypatch: pytest.MonkeyPatch, seed: int, more: dict[str, Any], l: int
) -> None:
    by_ends = released(seed, {"l_diversity": l}, more)
    monkeypatch.setattr(protections, "_distinct", lambda rules: 0)
    assert released(seed, {"l_diversity": l}, more) == by_ends


@some(2, 3)
@pytest.mark.parametrize("seed", few(range(3), 1))
@pytest.mark.parametrize("more", [{}, {"algorithm": {"name": "mondrian", "split": "median"}}])
@pytest.mark.parametrize(
    "protect",
    [
        {"t_closeness": 0.3},
        {"t_closeness": {"t": 0.2, "distance": "equal"}},
        {"entropy_l": 2.5},
        {"l_diversity": 3, "t_closeness": 0.5},
    ],
)
def test_the_best_cut_is_found_among_few_or_all(
    monkeypatch: pytest.MonkeyPatch, seed: int, more: dict[str, Any], protect: dict[str, Any]
) -> None:
    of_few = released(seed, protect, more)
    for tried in (0, 1):  # 0: all are judged at once
        monkeypatch.setattr(partition, "JUDGED_FIRST", tried)
        assert released(seed, protect, more) == of_few
