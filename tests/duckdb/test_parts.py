"""A table that is solved in parts: every guarantee holds, whatever the parts and the workers."""

from __future__ import annotations

import random
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.partition_workers import Recipe
from anonymizer.engines.execute import Event
from anonymizer.errors import EngineError, PolicyError, Problem
from anonymizer.process import run_folder
from anonymizer.run.scripts import script
from anonymizer.run.verbs import run
from tests.runs import THRIFTY, policy, published, source
from tests.selection import some

TREE = {
    "ape": ("mammal", "*"),
    "bat": ("mammal", "*"),
    "cow": ("mammal", "*"),
    "eel": ("fish", "*"),
    "carp": ("fish", "*"),
}
TYPES = {
    "who": "INTEGER",
    "age": "INTEGER",
    "town": "VARCHAR",
    "kind": "VARCHAR",
    "seen": "DATE",
    "ill": "INTEGER",
}
RULES: tuple[dict[str, Any], ...] = (
    {},
    {"l_diversity": 3},
    {"entropy_l": 2},
    {"recursive_cl": {"c": 3, "l": 2}},
    {"t_closeness": 0.4},
    {"t_closeness": {"t": 0.3, "distance": "ordered"}},
    {"beta_likeness": 1},
    {"delta_disclosure": 2.5},
    {"alpha": 0.6, "l_diversity": 2},
)
OPTIONS: tuple[dict[str, Any], ...] = (
    {"refine": "auto"},
    {"refine": "full"},
    {"split": "median"},
    {"strict": False},
    {"refine": 2},
    {"compare": 1},
)


def table(draw: random.Random, rows: int, *, skewed: bool = False) -> list[tuple[Any, ...]]:
    """Ages and towns, of which a tenth is NULL, kinds with a tree, dates, and illnesses.

    `skewed`: one tuple has a third of the rows, and one town half of them.
    """

    def maybe(value: Any) -> Any:
        return None if draw.random() < 0.1 else value

    made = []
    for i in range(rows):
        age, town = maybe(draw.randrange(90)), maybe(draw.choice("abcdefgh"))
        kind, seen = draw.choice(list(TREE)), f"2020-01-{draw.randrange(1, 29):02d}"
        if skewed and i % 3 == 0:
            age, town, kind, seen = 40, "a", "eel", "2020-01-05"
        elif skewed and i % 3 == 1 and draw.random() < 0.5:
            town = "b"
        made.append((i, age, town, kind, seen, draw.randrange(5)))
    return made


def given(folder: Path, rule: dict[str, Any], size: Any = 100, **options: Any) -> anonymizer.Policy:
    more = options.pop("more", {})
    options.setdefault("refine", 0)
    tree = folder / "tree.csv"
    tree.write_text("".join(f"{leaf};{';'.join(path)}\n" for leaf, path in TREE.items()))
    columns: dict[str, Any] = {
        "who": {"role": "keep", "acknowledge_unique": True},
        "age": "quasi",
        "town": "quasi",
        "kind": {"role": "quasi", "hierarchy": {"file": str(tree)}},
        "seen": "quasi",
        "ill": {"role": "sensitive", **({"protect": rule} if rule else {})},
    } | more.pop("columns", {})
    return policy(
        folder,
        columns,
        4,
        algorithm={"name": "mondrian", "part_size": size, **options},
        publish={"rename": {"class_id": "class"}},
        **more,
    )


def released(
    given: anonymizer.Policy, database: Any, limits: Limits = THRIFTY
) -> tuple[list[dict[str, Any]], int]:
    """The published rows, and the number of parts that were solved."""
    parts: list[Event] = []

    def heard(event: Event) -> None:
        if event.stage == "solve parts" and event.round is not None:
            parts.append(event)

    release = run(given, database, seed=1, limits=limits, listener=heard)
    assert release.verification.passed
    assert anonymizer.verify(given).passed
    return published(release), len(parts)


@some(1, 3)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: "-".join(rule) or "k")
def test_rules_hold_in_parts(tmp_path: Path, rule: dict[str, Any]) -> None:
    draw = random.Random(str(rule))
    rows = table(draw, 500)
    found, parts = released(given(tmp_path, rule), source(tmp_path, TYPES, rows))
    assert parts > 1
    assert {row["who"] for row in found} == {row[0] for row in rows}
    assert min(Counter(row["class"] for row in found).values()) >= 4
    assert {row["class"] for row in found} == set(range(1, len({r["class"] for r in found}) + 1))


@pytest.mark.slow
@some(1, 3)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("skewed", [True, False])
def test_options_and_skew_in_parts(tmp_path: Path, options: dict[str, Any], skewed: bool) -> None:
    rows = table(random.Random(str(options)), 400, skewed=skewed)
    policy = given(tmp_path, {"l_diversity": 2}, **options)
    found, parts = released(policy, source(tmp_path, TYPES, rows))
    assert parts > 1
    assert len(found) == len(rows)
    if skewed and options.get("strict", True):
        # rows of one tuple have one class
        assert len({row["class"] for row in found if rows[row["who"]][1:5] == rows[0][1:5]}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 4])
def test_workers_and_threads_change_nothing(tmp_path: Path, workers: int) -> None:
    rows = table(random.Random(3), 400, skewed=True)
    policy, database = given(tmp_path, {"l_diversity": 2}), source(tmp_path, TYPES, rows)
    alone, parts = released(policy, database, Limits(threads=1, workers=1))
    assert parts > 2
    several, _ = released(policy, database, Limits(threads=2, memory="4GB", workers=workers))
    assert several == alone


def test_a_failure_in_a_part_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = source(tmp_path, TYPES, table(random.Random(5), 300))
    monkeypatch.setenv("ANONYMIZER_TMPDIR", str(tmp_path))

    interrupted = threading.Event()
    working = threading.Event()

    class Connection:
        def interrupt(self) -> None:
            interrupted.set()

    def solve(recipe: Recipe, file: Path, limits: Limits, opened: Any) -> None:
        if not working.is_set():
            working.set()
            opened(Connection())
            assert interrupted.wait(60)
            opened(None)
        raise EngineError(Problem("parts", "failed"))

    monkeypatch.setattr(Recipe, "solve", solve)
    with pytest.raises(EngineError, match="parts: failed"):
        run(given(tmp_path, {}), database, seed=1, limits=Limits(workers=2))
    assert interrupted.is_set()
    assert not list(tmp_path.glob(f"{run_folder.PREFIX}*"))
    assert not (tmp_path / "release.duckdb").exists()


def test_what_cannot_be_divided_is_refused(tmp_path: Path) -> None:
    later = {"key": "who", "republish": {"m": 2}, "columns": {"who": "identifier"}}
    with pytest.raises(PolicyError, match=r"algorithm.part_size: divides a table that is released"):
        given(tmp_path, {}, more=later)
    with pytest.raises(PolicyError, match="is no size of a part"):
        given(tmp_path, {}, 1)
    with pytest.raises(PolicyError, match="has no script"):
        script(given(tmp_path, {}), source(tmp_path, TYPES, table(random.Random(6), 9)), None)


FLAGGED = {
    "q1": {"role": "quasi", "sensitive_when": "hide", "protect": {"l_diversity": 3}},
    "ill": {"role": "sensitive", "protect": {"l_diversity": 4}},
}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("algorithm", "flagged"),
    [
        ({"name": "mondrian", "refine": 0}, {}),
        *(({"name": "lgb", "generalization": one}, FLAGGED) for one in ("mdp", "loss", "ncp")),
    ],
    ids=str,
)
def test_parts_of_fifty_thousand_tuples_lose_at_most_one_percent_more(
    tmp_path: Path, algorithm: dict[str, Any], flagged: dict[str, Any]
) -> None:
    rows, file = 150_000, tmp_path / "numbers.parquet"
    spread = ", ".join(f"cast(hash(i, {j}) % {97 + 40 * j} as integer) as q{j}" for j in range(5))
    with duckdb.connect() as connection:
        more = "hash(i, 9) % 5 = 0 as hide, i % 50 as ill"
        connection.execute(
            f"copy (select {spread}, {more} from range({rows}) t(i)) to '{file}' (format parquet)"
        )
    dropped = {"ill": {"role": "drop"}, "hide": {"role": "drop"}}
    lost: dict[Any, float] = {}
    for size in ("all", 50_000):
        policy = anonymizer.Policy.model_validate(
            {
                "version": 1,
                "source": {"file": str(file)},
                "columns": {f"q{j}": {"role": "quasi"} for j in range(5)} | dropped | flagged,
                "privacy": {"k_anonymity": 10},
                "algorithm": {**algorithm, "part_size": size},
                "publish": {"name": "release", "database": str(tmp_path / f"{size}.duckdb")},
            }
        )
        lost[size] = run(policy, seed=1).measures["ncp"]
    assert lost[50_000] <= 1.01 * lost["all"]
