"""Releases of privacyfrost: cells, guarantees, pre-sampling, failures, the trail of the search."""

from __future__ import annotations

import csv
import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from anonymizer import cli
from anonymizer.errors import GuaranteeError, PolicyError
from tests.duckdb.privacyfrost_tables import Case, Tree, random_tree
from tests.models import recursive_cl_holds, t_closeness
from tests.oracle.privacyfrost import Column, presampled
from tests.runs import Rows, classes, policy, published, run, source

FROST = {"name": "privacyfrost"}


def nasty(rows: int = 60, seed: int = 7) -> Case:
    """Values and nodes with quotes, separators and NULLs; most rows are alike."""
    draw = random.Random(seed)
    trees: dict[str, Tree] = {
        'plac"e': {
            v: [up, "*"]
            for v, up in zip(
                ["a;b", 'c"d', " e", "NULL", "f, g"],
                ["{x}", "{x}", "y,z", "y,z", "y,z"],
                strict=True,
            )
        },
        "größe;": random_tree(random.Random(3), ["é", "日本", "'; drop table people; --", "%"]),
        "select": {"1": ["odd", "*"], "2": ["even", "*"], "3": ["odd", "*"]},
    }
    made = []
    for _ in range(rows):
        values = [
            None if draw.random() < 0.1 else draw.choices(list(t), [8, *([1] * (len(t) - 1))])[0]
            for t in trees.values()
        ]
        made.append((*values, draw.choice(["Flu", "HIV", "Cancer", None])))
    return Case(made, trees, 3)


def write_trees(case: Case, folder: Path) -> dict[str, Any]:
    columns: dict[str, Any] = {"id": {"role": "keep", "acknowledge_unique": True}}
    for number, (name, tree) in enumerate(case.trees.items()):
        with (folder / f"tree_{number}.csv").open("w", newline="", encoding="utf-8") as handle:
            csv.writer(handle, delimiter=";").writerows([v, *up] for v, up in tree.items())
        columns[name] = {"role": "quasi", "hierarchy": {"file": f"tree_{number}.csv"}}
    return columns | {"disease": {"role": "sensitive", "acknowledge_unique": True}}


def released(
    case: Case,
    folder: Path,
    algorithm: Mapping[str, Any] = FROST,
    changed: Mapping[str, Mapping[str, Any]] | None = None,
    **rest: Any,
) -> tuple[Rows, dict[str, Any]]:
    """The published rows of a run over the case's rows, and its manifest and findings."""
    columns = write_trees(case, folder)
    for name, options in (changed or {}).items():
        columns[name] = {**columns.get(name, {}), **options}
    types = {"id": "integer", **dict.fromkeys(case.trees, "varchar"), "disease": case.kind}
    database = source(folder, types, [(n, *row) for n, row in enumerate(case.rows)])
    made = run(policy(folder, columns, case.k, algorithm=dict(algorithm), **rest), database)
    assert made.verification.passed
    assert not made.findings.keys() & made.manifest.data.keys()
    return published(made), {**made.manifest.data, **made.findings}


def command(*arguments: object) -> int:
    """The exit code of the command line."""
    with pytest.raises(SystemExit) as ended:
        cli.main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def expected_cell(case: Case, name: str, members: Sequence[int], depth: int) -> str | None:
    """What a class publishes at a depth, by the grammar of cells."""
    tree = case.trees[name]
    at = case.names.index(name)
    values = [case.rows[row][at] for row in members]
    if depth == 0:
        # the root covers whatever the column holds
        return "* or NULL" if None in [row[at] for row in case.rows] else "*"
    if values[0] is None:
        return None
    path = [*reversed(tree[values[0]]), values[0]]
    present = {row[at] for row in case.rows} - {None}
    nodes = {[*reversed(tree[value]), value][depth] for value in present}
    if depth < len(path) - 1 and len(nodes) == 1:
        return "*"
    label = str(path[depth])
    if set(label) & set(',{}[]"') or label.strip(" ") != label or label in ("", "*", "NULL"):
        return '"' + label.replace('"', '""') + '"'
    return label


@pytest.mark.parametrize("partial", [True, False])
def test_released_rows_are_those_of_the_oracle(partial: bool, tmp_path: Path) -> None:
    case = nasty()
    rows, _ = released(case, tmp_path, {**FROST, "partial_domain": partial})
    oracle = case.oracle()
    best = oracle.search()
    assert best is not None
    if partial:
        wanted = oracle.divided(best)
        assert len(wanted) > len(oracle.classes(best)) > 1
    else:
        wanted = {frozenset(members): best for members in oracle.classes(best)}
    assert classes(rows) == frozenset(wanted)
    assert sorted(row["id"] for row in rows) == list(range(len(case.rows)))
    found = {row["id"]: row for row in rows}
    for members, depths in wanted.items():
        for name, depth in zip(case.names, depths, strict=True):
            cells = {found[row][name] for row in members}
            assert cells == {expected_cell(case, name, sorted(members), depth)}
    assert all(found[n]["disease"] == row[-1] for n, row in enumerate(case.rows))


@pytest.mark.slow
def test_sensitive_rules_hold(tmp_path: Path) -> None:
    """Recursive (c,l) and t with both further distances, judged on the published rows."""
    case = nasty(120)
    case.rows = [(*row[:-1], row[-1] or "Flu") for row in case.rows]
    with (tmp_path / "diseases.csv").open("w") as handle:
        handle.write("Flu;mild;*\nHIV;grave;*\nCancer;grave;*\n")
    protections: list[dict[str, Any]] = [
        {"protect": {"recursive_cl": {"c": 2, "l": 2}}},
        {
            "protect": {"t_closeness": {"t": 0.2, "distance": "hierarchical"}},
            "hierarchy": {"file": "diseases.csv"},
        },
        {"protect": {"t_closeness": {"t": 0.2, "distance": "ordered"}}},
    ]
    paths = {"Flu": ["mild", "*"], "HIV": ["grave", "*"], "Cancer": ["grave", "*"]}
    for options in protections:
        if options is protections[-1]:  # an order: numbers
            numbers = {"Flu": 1, "HIV": 2, "Cancer": 3}
            case.rows = [(*row[:-1], numbers[row[-1]]) for row in case.rows]
        rows, manifest = released(case, tmp_path, changed={"disease": options})
        found: dict[Any, list[Any]] = defaultdict(list)
        for row in rows:
            found[row["class_id"]].append(row["disease"])
        assert len(found) > 1
        if "recursive_cl" in options["protect"]:
            assert all(recursive_cl_holds(values, 2, 2) for values in found.values())
        else:
            distance = options["protect"]["t_closeness"]["distance"]
            worst = t_closeness(found, distance, paths=paths).worst
            assert worst <= Fraction(1, 5)
        verdicts = {t["fails"] for t in manifest["search"] if "fails" in t}
        assert verdicts <= {"class size", "disease"}


# ------------------------------------------------------------------ pre-sampling


@pytest.mark.slow
def test_presampling_removes_what_few_are_like(tmp_path: Path) -> None:
    case = nasty(80)
    case.k = 2
    levels = {'plac"e': 1, "größe;": 1, "select": 1}
    described = [
        Column({v: (*reversed(up), v) for v, up in tree.items()}) for tree in case.trees.values()
    ]
    stay = presampled([row[:-1] for row in case.rows], described, (1, 1, 1), 4)
    assert 0 < len(stay) < len(case.rows)
    rows, manifest = released(
        case,
        tmp_path,
        {**FROST, "presampling_k": 4},
        {name: {"presampling_level": level} for name, level in levels.items()},
        # no row is left for the search to suppress
        suppression_limit=(len(case.rows) - len(stay) + 0.5) / len(case.rows),
    )
    assert sorted(row["id"] for row in rows) == stay
    assert manifest["measures"]["suppressed"] == len(case.rows) - len(stay)
    rest = Case([case.rows[n] for n in stay], case.trees, 2)
    oracle = rest.oracle()
    best = oracle.search()
    assert best is not None
    assert classes(rows) == {frozenset(stay[n] for n in part) for part in oracle.divided(best)}


# ------------------------------------------------------------------ failures


def test_failed_by_minimum_levels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`failed` is exit code 1 with the reason, not a traceback, and publishes nothing."""
    case = nasty()
    changed = {'plac"e': {"minimum_level": 2}, "select": {"minimum_level": 1}}
    wanted = 'failed: no table is safe even at the minimum levels of plac"e, select'
    with pytest.raises(GuaranteeError) as raised:
        released(case, tmp_path, changed=changed)
    assert len(raised.value.problems) == 1
    assert wanted in str(raised.value)
    assert "classes of 3 rows are asked for, and the smallest has at most " in str(raised.value)
    columns = write_trees(case, tmp_path)
    for name, options in changed.items():
        columns[name] |= options
    given = policy(tmp_path, columns, 3, algorithm=FROST).to_dict()
    (tmp_path / "policy.json").write_text(json.dumps(given))
    arguments = ("run", tmp_path / "policy.json", "--database", tmp_path / "source.duckdb")
    assert command(*arguments, "--test-seed", "1") == 1
    assert wanted in capsys.readouterr().err
    assert not (tmp_path / "release.duckdb").exists()


def test_options_that_cannot_be_used_come_together(tmp_path: Path) -> None:
    case = nasty()
    with pytest.raises(PolicyError) as raised:
        released(
            case,
            tmp_path,
            changed={'plac"e': {"minimum_level": 3}, "select": {"priority": 1e-9}},
        )
    said = [str(problem) for problem in raised.value.problems]
    assert said[0].startswith(
        r'columns."plac\"e".minimum_level: cannot be met: the hierarchy has no level 3 (allowed: 0'
    )
    assert said[1].startswith("columns.select.priority: is out of range")
    assert len(said) == 2


# ------------------------------------------------------------------ the trail


def test_a_run_keeps_the_search(tmp_path: Path) -> None:
    case = nasty()
    _, manifest = released(case, tmp_path)
    oracle = case.oracle()
    for table in manifest["search"]:
        assert set(table["levels"]) == set(case.names)
        depths = tuple(table["levels"][name] for name in case.names)
        score, _ = oracle.score_of(depths)
        assert table["score"] == score
        if table["verdict"] != "no better":
            assert (table["verdict"] == "holds") == oracle.check(depths)
    taken = [t for t in manifest["search"] if t["taken"] and t["verdict"] == "holds"]
    assert tuple(taken[-1]["levels"][name] for name in case.names) == oracle.search()
    assert [t["score"] for t in taken] == sorted(t["score"] for t in taken)
    told = json.dumps({name: manifest[name] for name in ("search", "published_levels")})
    values = {v for row in case.rows for v in row if v and len(v) > 1}
    assert not [value for value in values if json.dumps(value)[1:-1] in told]
    # every class is counted once per column
    for levels in manifest["published_levels"]["columns"].values():
        total = sum(level["classes"] for level in levels.values())
        assert total == manifest["measures"]["classes"]
