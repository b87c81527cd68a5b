"""Attacks against releases of every algorithm, and against a naive attacker."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.cli import main
from anonymizer.errors import GuaranteeError, NothingToCheckError
from anonymizer.review.attack import attack
from tests.forging import seal_again
from tests.oracle import cells
from tests.selection import some

ROWS = 240
SOURCE = """
create table visits as select
    range as visit, range // 2 as patient, range % 7 = 3 as hides,
    case when range % 23 = 0 then null else 20 + (range * 7919 % 61) end as age,
    ['a', 'b', 'c', 'd, e', 'f'][1 + (range * 31 % 97) % 5] as town,
    case when (range * 17) % 11 < 5 then 'F' else 'M' end as sex,
    ['flu', 'cold', 'hiv', 'asthma', 'gout', null][1 + (range * 13 % 89) % 6] as disease,
    ['x', 'y', 'z', 'w'][1 + (range * 29 % 83) % 4] as drug
from range(240)
"""
COLUMNS: dict[str, Any] = {
    "visit": {"role": "identifier"},
    "patient": {"role": "drop"},
    "hides": {"role": "drop"},
    "age": {"role": "quasi"},
    "town": {"role": "quasi"},
    "sex": {"role": "quasi"},
    "disease": {"role": "sensitive", "protect": {"l_diversity": 3}},
    "drug": {"role": "sensitive", "protect": {"l_diversity": 2}},
}
AGE = {"builder": "conventional"}
KEPT = {"disease": {"role": "drop"}, "drug": {"role": "drop"}}


def policy_of(folder: Path, **parts: Any) -> anonymizer.Policy:
    columns = parts.pop("only", None) or {**COLUMNS, **parts.pop("columns", {})}
    policy = {
        "version": 1,
        "source": {"table": "visits"},
        "columns": columns,
        "privacy": {"k_anonymity": 4},
        "suppression_limit": 0.9,
        "publish": {"name": "released", "database": "release.duckdb"},
        **parts,
    }
    (folder / "policy.yml").write_text(json.dumps(policy))
    return anonymizer.Policy.load(folder / "policy.yml")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SOURCE)
    return path


HIERARCHIES = {
    "age": {"role": "quasi", "hierarchy": AGE},
    "town": {"role": "quasi", "hierarchy": {"builder": "frequency"}},
    "sex": {"role": "quasi", "hierarchy": {"builder": "frequency"}},
}
POLICIES: dict[str, Callable[[Path], anonymizer.Policy]] = {
    "mondrian": lambda f: policy_of(f, algorithm={"name": "mondrian"}),
    "mondrian typed": lambda f: policy_of(
        f, publish={"name": "released", "database": "release.duckdb", "cells": "typed"}
    ),
    "lgb": lambda f: policy_of(
        f,
        algorithm={"name": "lgb", "small_patterns": "promote"},
        columns={
            "age": {
                "role": "quasi",
                "sensitive_when": "hides",
                "nulls": "suppress",
                "protect": {"l_diversity": 3},
            },
        },
    ),
    "full_domain": lambda f: policy_of(
        f, algorithm={"name": "full_domain"}, columns={**HIERARCHIES, **KEPT}
    ),
    "privacyfrost": lambda f: policy_of(
        f, algorithm={"name": "privacyfrost"}, columns={**HIERARCHIES, **KEPT}
    ),
    "msb": lambda f: policy_of(
        f,
        algorithm={"name": "msb"},
        privacy={},
        columns={"drug": {"role": "sensitive", "protect": {"l_diversity": 3}}},
    ),
    "danonyir": lambda f: policy_of(
        f,
        algorithm={"name": "danonyir"},
        privacy={"ir_k": 3},
        person="visit",
        columns={"disease": {"role": "sensitive"}, "drug": {"role": "drop"}},
    ),
    "geneir": lambda f: policy_of(
        f,
        algorithm={"name": "geneir"},
        privacy={"ir_k": 3},
        person="visit",
        columns={"disease": {"role": "sensitive"}, "drug": {"role": "drop"}, **HIERARCHIES},
    ),
}
FAST = ("mondrian", "lgb", "msb")
BOUNDS: dict[str, dict[str, float | None]] = {
    "mondrian": {"disease": None, "drug": None},
    "lgb": {"age": 1 / 3, "disease": 1 / 3, "drug": 1 / 2},
    "msb": {"disease": 1 / 3, "drug": 1 / 3},
}
"""What l_diversity promises of the chance of a value: 1/l where values are dealt, else nothing."""


@some(1)
@pytest.mark.parametrize(
    "name", [n if n in FAST else pytest.param(n, marks=pytest.mark.slow) for n in POLICIES]
)
def test_no_attack_passes_a_promised_bound(name: str, source: Path, tmp_path: Path) -> None:
    policy = POLICIES[name](tmp_path)
    anonymizer.run(policy, source, seed=1)
    found = attack(policy, source, share=1.0)
    assert found.holds
    assert found.linking.targets + 0 >= ROWS - 12
    if found.linking.bound is not None:
        assert found.linking.fewest_candidates is not None
        assert found.linking.fewest_candidates >= 1 / found.linking.bound - 1e-9
    for inference in found.inference:
        assert inference.success is None or 0 <= inference.success <= 1
        assert inference.bound == BOUNDS.get(name, {}).get(inference.column)


TREES = {
    "taxonomy": {"file": "towns.csv"},
    "prefix": {"builder": "prefix", "lengths": [1]},
    "frequency": {"builder": "frequency"},
}


@some(1)
@pytest.mark.parametrize("tree", TREES)
def test_labels_of_inner_nodes_admit_the_values_below_them(tree: str, tmp_path: Path) -> None:
    """Nobody is missed: every published label stands for the values that it was made of."""
    (tmp_path / "towns.csv").write_text(
        "a1;low;*\na2;low;*\na3;low;*\nb1;high;*\nb2;high;*\nb3;high;*\n"
    )
    source = tmp_path / "source.duckdb"
    with duckdb.connect(str(source)) as connection:
        connection.execute(
            "create table visits as select range as visit,"
            " ['a1', 'a2', 'a3', 'b1', 'b2', 'b3'][1 + range % 6] as town from range(18)"
        )
    columns = {
        "visit": {"role": "identifier"},
        "town": {"role": "quasi", "hierarchy": TREES[tree]},
    }
    policy = policy_of(tmp_path, algorithm={"name": "full_domain"}, only=columns)
    anonymizer.run(policy, source, seed=1)
    with duckdb.connect(str(tmp_path / "release.duckdb"), read_only=True) as connection:
        labels = {row[0] for row in connection.execute("select town from released").fetchall()}
    assert labels.isdisjoint({"a1", "a2", "a3", "b1", "b2", "b3", "*"})
    found = attack(policy, source, share=1.0)
    assert found.linking.not_found == 0
    assert found.linking.fewest_candidates == (6 if tree == "frequency" else 9)
    assert found.holds


def naive(
    policy: anonymizer.Policy, source: Path, release: Path
) -> tuple[list[int], dict[str, list[Fraction]]]:
    """For every source row its candidates, and the largest chance of one value, by column."""
    quasi = [c for c in policy.columns if policy.columns[c].role == "quasi"]
    with duckdb.connect(str(source)) as connection:
        cursor = connection.execute("select * from visits")
        names = [d[0] for d in cursor.description]
        every = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    # rows that leave for a NULL are no part of what is anonymized, and nobody looks for them
    leaving = [c for c in quasi if policy.columns[c].nulls == "suppress"]
    originals = [row for row in every if all(row[c] is not None for c in leaving)]
    with duckdb.connect(str(release), read_only=True) as connection:
        cursor = connection.execute("select * from released")
        names = [d[0] for d in cursor.description]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    kinds = {c: "numeric" if c == "age" else "categorical" for c in quasi}
    domains = {c: cells.domain_of([r[c] for r in originals], kinds[c]) for c in quasi}
    buckets: dict[tuple[str, Any], Counter[Any]] = defaultdict(Counter)
    for row in rows:
        for column in ("age", "disease", "drug"):
            if row.get(f"{column}_bucket") is not None:
                buckets[column, row[f"{column}_bucket"]][row[column]] += 1

    def admits(row: dict[str, Any], original: dict[str, Any]) -> bool:
        for c in quasi:
            hidden = policy.columns[c].sensitive_when is not None and original["hides"]
            if row.get(f"{c}_bucket") is not None:
                held = buckets[c, row[f"{c}_bucket"]]
                if not hidden and original[c] is not None and str(original[c]) not in held:
                    return False
            elif not hidden and not cells.covers(
                cells.parse(row[c], kinds[c]), original[c], domains[c]
            ):
                return False
        return True

    counts, chances = [], defaultdict(list)
    for original in originals:
        found = [row for row in rows if admits(row, original)]
        counts.append(len(found))
        for column in ("disease", "drug"):
            belief: dict[Any, Fraction] = defaultdict(Fraction)
            for row in found:
                bucket = row.get(f"{column}_bucket")
                held = buckets[column, bucket] if bucket is not None else Counter([row[column]])
                for value, n in held.items():
                    belief[value] += Fraction(n, held.total())
            known = {v: n for v, n in belief.items() if v is not None}
            if known and original[column] is not None:
                chances[column].append(max(known.values()) / sum(belief.values()))
    return counts, chances


@some(1)
@pytest.mark.parametrize("name", ["mondrian", "lgb"])
def test_success_is_that_of_a_naive_attacker(name: str, source: Path, tmp_path: Path) -> None:
    policy = POLICIES[name](tmp_path)
    anonymizer.run(policy, source, seed=2)
    found = attack(policy, source, share=1.0)
    counts, chances = naive(policy, source, tmp_path / "release.duckdb")
    assert found.linking.fewest_candidates == min(n for n in counts if n)
    assert found.linking.not_found == sum(n == 0 for n in counts)
    expected = sum(Fraction(1, n) for n in counts if n) / len(counts)
    assert found.linking.success == pytest.approx(float(expected))
    for inference in found.inference:
        if inference.column in chances:
            most = float(max(chances[inference.column]))
            assert inference.most_confident == pytest.approx(most, abs=1e-8)


@pytest.mark.slow
def test_an_earlier_release_can_expose(source: Path, tmp_path: Path) -> None:
    policy = POLICIES["mondrian"](tmp_path)
    anonymizer.run(policy, source, seed=1)
    (tmp_path / "release.duckdb").rename(tmp_path / "earlier.duckdb")
    other = policy_of(tmp_path, algorithm={"name": "mondrian", "split": "median"})
    anonymizer.run(other, source, seed=2)
    found = attack(other, source, share=1.0, earlier=tmp_path / "earlier.duckdb")
    for item in found.intersection:
        assert item.values_now is not None
        assert item.values_left is not None
        assert 1 <= item.values_left < item.values_now
    same = attack(other, source, share=1.0, earlier=tmp_path / "release.duckdb")
    assert all(item.values_left == item.values_now for item in same.intersection)


@pytest.mark.slow
def test_a_broken_release_is_found_out(source: Path, tmp_path: Path) -> None:
    """Raw quasi-identifiers under the manifest of a good release: linking passes 1/k."""
    policy = POLICIES["mondrian"](tmp_path)
    anonymizer.run(policy, source, seed=1)
    with duckdb.connect(str(tmp_path / "release.duckdb")) as connection:
        connection.execute(f"attach '{source}' as s (read_only)")
        rows = connection.execute(
            "select object_name from _anonymizer.objects where kind = 'rows'"
        ).fetchall()[0][0]
        connection.execute("drop view released")
        connection.execute(
            f"create or replace table {rows} as"
            " select visit as class_id, cast(age as varchar) as age,"
            " case when town = 'd, e' then '\"d, e\"' else town end as town, sex, disease, drug"
            " from s.visits"
        )
        columns = "class_id, age, town, sex, disease, drug"
        connection.execute(f"create view released as select {columns} from main.{rows}")
    with pytest.raises(GuaranteeError, match="not those that were judged"):
        attack(policy, source, share=0.5)
    seal_again(tmp_path / "release.duckdb", "released")
    found = attack(policy, source, share=0.5)
    assert not found.holds
    assert found.linking.most == 1.0
    with pytest.raises(SystemExit) as ended:
        main(["attack", str(tmp_path / "policy.yml"), "--database", str(source), "--share", "0.5"])
    assert ended.value.code == 1


@pytest.mark.slow
def test_targets_are_drawn_by_the_seed(source: Path, tmp_path: Path) -> None:
    policy = POLICIES["mondrian"](tmp_path)
    anonymizer.run(policy, source, seed=1)
    found = [attack(policy, source, share=0.3, seed=n) for n in (1, 1, 2)]
    assert found[0] == found[1]
    assert 0 < found[2].linking.targets < ROWS


def test_of_a_small_table_all_are_attacked_by_default(tmp_path: Path) -> None:
    source = tmp_path / "small.duckdb"
    with duckdb.connect(str(source)) as connection:
        connection.execute(
            "create table visits as select i as id, 30 + i as age from range(3) r(i)"
        )
    only = {"id": {"role": "identifier"}, "age": {"role": "quasi"}}
    policy = policy_of(tmp_path, only=only, privacy={"k_anonymity": 3})
    anonymizer.run(policy, source)
    found = attack(policy, source)
    assert (found.share, found.linking.targets) == (1.0, 3)
    with pytest.raises(NothingToCheckError, match="draws no target"):
        attack(policy, source, share=0.001)
