"""Broken hierarchies are told in one message; the verbs that show, move and search hierarchies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Call, listing

DATABASE = ("--database", "warehouse.duckdb")
POLICY = """\
version: 1
source: {table: main.visits}
columns:
  patient_id: {role: drop}
  age: {role: quasi, hierarchy: {builder: intervals, cuts: [20, 30, 40]}}
  sex: {role: quasi, hierarchy: {file: tree.csv}}
  disease: {role: sensitive, protect: {l_diversity: 2}}
privacy: {k_anonymity: 4}
algorithm: {name: full_domain}
publish: {name: visits_anonymous, database: release.duckdb}
"""
AGES = "\n".join(f"{age};{age // 10 * 10}-{age // 10 * 10 + 9};*" for age in range(20, 50))
BY_AGE = POLICY.replace("{builder: intervals, cuts: [20, 30, 40]}", "{file: ages.csv}")


@pytest.fixture
def policy(warehouse: Path) -> Callable[..., None]:
    def write(text: str = POLICY, **files: str | bytes) -> None:
        (warehouse / "policy.yml").write_text(text)
        for name, content in {"tree": "f;*\nm;*\n", "ages": AGES, **files}.items():
            raw = content if isinstance(content, bytes) else content.encode()
            (warehouse / f"{name}.csv").write_bytes(raw)

    return write


BROKEN: dict[str, tuple[str, dict[str, str | bytes], str, str]] = {
    "two parents": (
        POLICY,
        {"tree": "f;x;*\nm;y;*\nf;y;*\n"},
        "columns.sex.hierarchy.file",
        "1 value is under two parents",
    ),
    "no root": (POLICY, {"tree": "f;x\nm;y\n"}, "columns.sex.hierarchy.file", "no single root"),
    "gap": (
        BY_AGE,
        {"ages": AGES.replace("20-29", "15-29").replace("30-39", "31-39") + "\n99;99-105;*"},
        "columns.age.hierarchy.file",
        "gap",
    ),
    "below the cuts": (
        POLICY.replace("cuts: [20,", "cuts: [25,"),
        {},
        "columns.age.hierarchy",
        "below the first cut",
    ),
    "no file": (
        POLICY.replace("tree.csv", "other.csv"),
        {},
        "columns.sex.hierarchy.file",
        "there is no file",
    ),
    "none": (
        POLICY.replace("hierarchy: {file: tree.csv}", "kind: categorical"),
        {},
        "columns.sex.hierarchy",
        "is missing",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_hierarchies_are_told_once(
    name: str, policy: Callable[..., None], warehouse: Path, call: Call
) -> None:
    text, files, path, said = BROKEN[name]
    policy(text, **files)
    before = listing(warehouse)
    for verb in ("plan", "run"):
        done = call(verb, "policy.yml", *DATABASE, "--quiet")
        assert done.code == 2, done.err
        problems = [line for line in done.err.splitlines() if not line.startswith("warning")]
        assert len(problems) == 1, done.err
        assert problems[0].startswith(path), done.err
        assert said in problems[0], done.err
    assert listing(warehouse) == before


def test_lattice_judges_every_node(
    policy: Callable[..., None], warehouse: Path, call: Call
) -> None:
    policy()
    done = call("lattice", "policy.yml", *DATABASE, "--format", "json", "--quiet")
    assert done.code == 0, done.err
    found = done.json
    assert len(found["nodes"]) == 3 * 2
    assert found["columns"] == ["age", "sex"]
    ks = [node["k"] for node in found["pareto"]]
    assert ks == sorted(set(ks))
    assert ks[-1] == 80
    costs = [node["ncp"] for node in found["pareto"]]
    assert costs == sorted(set(costs))
    for node in found["nodes"]:
        assert any(f["k"] >= node["k"] and f["ncp"] <= node["ncp"] for f in found["pareto"])
    run = call("run", "policy.yml", *DATABASE, "--format", "json", "--quiet").json
    best = found["optimum"]
    assert best["levels"] == {c: run["measures"][f"level.{c}"] for c in found["columns"]}
    assert best["published_ncp"] == pytest.approx(run["measures"]["ncp"])
    assert best["published_dcp"] == run["measures"]["c_dm"]
    assert best["suppressed"] == run["measures"]["suppressed"]


def test_show_draws_tree_and_levels(policy: Callable[..., None], call: Call) -> None:
    policy()
    shown = ("hierarchy", "show", "age", "--policy", "policy.yml", *DATABASE)
    done = call(*shown)
    assert done.code == 0, done.err
    assert "age (intervals, 2 levels)" in done.out
    assert "[20, 29]  10 values" in done.out
    assert "distortion" in done.out
    found = call(*shown, "--format", "json").json["hierarchies"]
    assert [tree["column"] for tree in found] == ["age"]
    assert sum(n["rows"] for n in found[0]["nodes"] if n["level"] == 1) == 80
    assert len(call("hierarchy", "show", *shown[3:], "--format", "json").json["hierarchies"]) == 2
    published = call(*shown, "--published")
    assert published.code == 2
    assert "has no formula in Table 4" in published.err


@pytest.mark.slow
def test_export_and_import_keep_a_hierarchy(
    policy: Callable[..., None], warehouse: Path, call: Call
) -> None:
    """Out as CSV, in as a table, used from the table: the same release."""
    policy()
    more = ("--policy", "policy.yml", *DATABASE)
    assert call("hierarchy", "export", "age", *more, "-o", "age.csv").code == 0
    assert (warehouse / "age.csv").read_text().splitlines()[0] == "20;[20, 29];*"
    stored = ("hierarchy", "import", "age.csv", "--table", "trees.age", *DATABASE)
    assert call(*stored).code == 0
    assert "trees.age" in call(*stored, "--replace").out
    again = call(*stored)
    assert again.code == 2
    assert "--replace" in again.err
    first = call("run", "policy.yml", *DATABASE, "--test-seed", "1", "--format", "json").json
    policy(POLICY.replace("{builder: intervals, cuts: [20, 30, 40]}", "{table: trees.age}"))
    second = call("run", "policy.yml", *DATABASE, "--test-seed", "1", "--format", "json").json
    for name in ("rows", "classes", "level.age", "level.sex"):
        assert first["measures"][name] == second["measures"][name]


def test_import_refuses_broken_files(
    policy: Callable[..., None], warehouse: Path, call: Call
) -> None:
    policy(tree="f;x;*\nm;y;*\nf;y;*\n")
    before = listing(warehouse)
    done = call("hierarchy", "import", "tree.csv", "--table", "tree", *DATABASE)
    assert done.code == 2
    assert "under two parents" in done.err
    assert listing(warehouse) == before
