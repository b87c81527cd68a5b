"""privacyfrost where rows may be suppressed, and where it goes on within a budget."""

from __future__ import annotations

import csv
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import GuaranteeError, InfeasibleError
from tests.duckdb.privacyfrost_tables import Case, random_case, searched
from tests.duckdb.test_privacyfrost_search import RULES
from tests.oracle.privacyfrost import Rule
from tests.runs import policy, run, source
from tests.selection import few, some

LIMITS = [0.05, 0.1, 0.25, 0.4]


def suppressing(seed: int, **options: Any) -> tuple[Case, Rule]:
    """A random table of which some rows may be suppressed."""
    draw = random.Random(f"suppressing {seed}")
    protect, rule = RULES[seed % len(RULES)]
    case = random_case(draw, partial_domain=draw.random() < 0.7, **options)
    case.protect = protect
    case.policy_options = {"suppression_limit": draw.choice(LIMITS)}
    if protect == RULES[-1][0]:  # an order: numbers
        case.rows = [(*row[:-1], row[-1] and ord(row[-1])) for row in case.rows]
    return case, rule


# ------------------------------------------------------------------ the search


def compare(seed: int, folder: Path) -> str:
    """The statements and the oracle find the same table, and publish the same classes."""
    case, rule = suppressing(seed)
    oracle = case.oracle(rule)
    wanted = oracle.search()
    if wanted is None:
        with pytest.raises((GuaranteeError, InfeasibleError)):
            searched(case, folder)
        return "failed"
    found = searched(case, folder)
    assert found.best == wanted
    score, _ = oracle.score_of(wanted)
    assert found.best_score == pytest.approx(float(score), rel=5e-3)
    left = oracle.remaining(wanted)
    assert left is not None
    assert sorted(row for rows in found.classes for row in rows) == left
    if case.algorithm.get("partial_domain", True):
        assert found.classes == oracle.divided(wanted)
    else:
        assert set(found.classes.values()) == {wanted}
    return "suppresses" if len(left) < len(case.rows) else "whole"


@some(1, 2)
@pytest.mark.parametrize("seed", few(range(10), 3))
def test_same_as_the_oracle(seed: int, tmp_path: Path) -> None:
    compare(seed, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("fine_figures")
def test_same_as_the_oracle_on_hundreds_of_tables(tmp_path: Path) -> None:
    seen = Counter(compare(seed, tmp_path) for seed in range(100, 400))
    assert seen["suppresses"] > 100
    assert seen["whole"] > 20


# ------------------------------------------------------------------ releases


def released(case: Case, folder: Path, **algorithm: Any) -> dict[str, Any]:
    """The measures of a run over the case's rows; its release is verified."""
    columns: dict[str, Any] = {"id": {"role": "keep", "acknowledge_unique": True}}
    for number, (name, tree) in enumerate(case.trees.items()):
        with (folder / f"tree_{number}.csv").open("w", newline="") as handle:
            csv.writer(handle, delimiter=";").writerows([v, *up] for v, up in tree.items())
        columns[name] = {"role": "quasi", "hierarchy": {"file": f"tree_{number}.csv"}}
        columns[name] |= case.columns.get(name, {})
    columns["disease"] = {"role": "sensitive", "acknowledge_unique": True}
    if case.protect:
        columns["disease"]["protect"] = case.protect
    types = {"id": "integer", **dict.fromkeys(case.trees, "varchar"), "disease": case.kind}
    rows = [(number, *row) for number, row in enumerate(case.rows)]
    given = policy(
        folder,
        columns,
        case.k,
        algorithm={"name": "privacyfrost", **case.algorithm, **algorithm},
        **case.policy_options,
    )
    release = run(given, source(folder, types, rows))
    assert release.verification.passed
    return dict(release.measures)


def test_persons_are_suppressed_with_all_of_their_rows(tmp_path: Path) -> None:
    rows = [(who, "ab"[who // 4] if who < 8 else "c", who % 3) for who in [*range(9), *range(9)]]
    tree = tmp_path / "tree.csv"
    tree.write_text("a;*\nb;*\nc;*\n")
    given = policy(
        tmp_path,
        {
            "who": "identifier",
            "place": {"role": "quasi", "hierarchy": {"file": "tree.csv"}},
            "ill": {"role": "sensitive"},
        },
        3,
        person="who",
        suppression_limit=0.12,
        algorithm={"name": "privacyfrost"},
    )
    types = {"who": "integer", "place": "varchar", "ill": "integer"}
    release = run(given, source(tmp_path, types, rows))
    assert release.verification.passed
    assert release.measures["suppressed"] == 2
    assert release.measures["persons"] == 8


# ------------------------------------------------------------------ within a budget


def anytime(seed: int, folder: Path, budget: int) -> str:
    """The table holds, is no worse than that of the search and no better than the best of all
    tables, and the bound is above that.
    """
    case, rule = suppressing(seed)
    if seed % 3 == 0:
        case.policy_options = {}
    oracle = case.oracle(rule)
    tables = [table for table in oracle.tables() if oracle.check(table)]
    plain = oracle.search()
    try:
        measures = released(case, folder, budget=budget)
    except (GuaranteeError, InfeasibleError):
        assert plain is None
        return "failed"
    best = max(oracle.score_of(table) for table in tables)
    found = tuple(
        column.height - measures[f"level.{name}"]
        for name, column in zip(case.names, oracle.columns, strict=True)
    )
    assert found in tables
    check_told(measures, oracle.score_of(found)[0], best[0])
    assert plain is None or oracle.score_of(found) >= oracle.score_of(plain)
    if oracle.score_of(found)[0] < best[0]:
        return "worse"
    return "best" if plain is not None and oracle.score_of(plain)[0] == best[0] else "better"


def check_told(measures: dict[str, Any], score: Fraction, best: Fraction) -> None:
    assert measures["lattice_score"] == pytest.approx(float(score), rel=5.1e-3)
    assert measures["lattice_bound"] >= float(best) * (1 - 1e-9)
    assert 0 <= measures["lattice_gap"] <= 1
    if measures["lattice_gap"] == 0:
        assert score == best


@some(1, 2)
@pytest.mark.usefixtures("fine_figures")
@pytest.mark.parametrize("seed", few(range(40, 52), 3))
def test_budget(seed: int, tmp_path: Path) -> None:
    anytime(seed, tmp_path, 200)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("fine_figures")
def test_most_tables_are_the_best(tmp_path: Path) -> None:
    """Of a hundred and fifty tiny lattices."""
    seen: Counter[str] = Counter()
    for seed in range(500, 650):
        folder = tmp_path / str(seed)
        folder.mkdir()
        seen[anytime(seed, folder, 200)] += 1
    assert seen["worse"] <= 5
    assert seen["better"] >= 5
