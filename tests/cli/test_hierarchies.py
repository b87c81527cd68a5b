"""Broken hierarchies are told in one message; the verbs that show, move and search hierarchies."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import duckdb
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
    "no coarsening": (
        POLICY,
        {"tree": "f;x;a;*\nm;x;b;*\n"},
        "columns.sex.hierarchy.file",
        "level 2 is not a coarsening of level 1",
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
    "empty": (POLICY, {"tree": ""}, "columns.sex.hierarchy.file", "empty"),
    "cycle": (
        POLICY,
        {"tree": "f;x;y;*\nm;y;x;*\n"},
        "columns.sex.hierarchy.file",
        "cycle",
    ),
    "not utf-8": (
        POLICY,
        {"tree": "f;\xe9;*\nm;x;*\n".encode("latin-1")},
        "columns.sex.hierarchy.file",
        "not UTF-8",
    ),
    "ragged": (
        POLICY,
        {"tree": "f;x;*\nm;*\n"},
        "columns.sex.hierarchy.file",
        "another number of levels",
    ),
    "lacking": (POLICY, {"tree": "f;*\n"}, "columns.sex.hierarchy.file", "lacks 1"),
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


def test_nothing_that_holds_is_exit_code_1(
    policy: Callable[..., None], warehouse: Path, call: Call
) -> None:
    """The table as a whole holds the rule; with a root per column something always does."""
    policy(POLICY.replace("l_diversity: 2", "t_closeness: 0"))
    assert call("run", "policy.yml", *DATABASE).code == 0
    policy(POLICY.replace("l_diversity: 2", "entropy_l: 3") + "suppression_limit: 0.01\n")
    done = call("run", "policy.yml", *DATABASE, "--format", "json")
    assert done.code == 1, done.err
    assert done.json["errors"][0]["path"] == "privacy"
    assert "holds at no node" in done.json["errors"][0]["message"]
    assert "0 rows to suppress" in done.json["errors"][0]["message"]


@pytest.mark.slow
def test_plan_and_compile_show_the_search(policy: Callable[..., None], call: Call) -> None:
    policy()
    plan = call("plan", "policy.yml", *DATABASE)
    assert plan.code == 0, plan.err
    assert re.search(r"judge nodes.* \(\d+, repeated\): ", plan.out), plan.out
    compiled = call("compile", "policy.yml", *DATABASE)
    assert "anon_scratch.main.lattice_verdicts" in compiled.out
    assert "-- Loop: judge nodes, " in compiled.out


def test_lattice_judges_every_node(
    policy: Callable[..., None], warehouse: Path, call: Call
) -> None:
    policy()
    done = call("plan", "policy.yml", "--lattice", *DATABASE, "--format", "json", "--quiet")
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


def test_lattice_writes_what_it_is_told(
    policy: Callable[..., None], warehouse: Path, call: Call
) -> None:
    policy()
    more = ("-o", "nodes.csv", "--measure", "dcp")
    done = call("plan", "policy.yml", "--lattice", *DATABASE, *more)
    assert done.code == 0, done.err
    assert "optimum by dcp" in done.out
    assert "wrote nodes.csv" in done.out
    rows = list(csv.DictReader((warehouse / "nodes.csv").read_text().splitlines()))
    assert len(rows) == 6
    assert {"level.age", "k", "dcp", "pareto"} <= set(rows[0])
    assert call("plan", "policy.yml", "--lattice", *DATABASE, "-o", "nodes.png").code == 0
    assert (warehouse / "nodes.png").stat().st_size > 1000
    assert call("plan", "policy.yml", "--lattice", *DATABASE, "-o", "nodes.json").code == 0
    assert len(json.loads((warehouse / "nodes.json").read_text())["nodes"]) == 6


def test_lattice_needs_hierarchies(policy: Callable[..., None], call: Call) -> None:
    text = POLICY.replace("full_domain", "mondrian")
    policy(text.replace(", hierarchy: {file: tree.csv}", ""))
    done = call("plan", "policy.yml", "--lattice", *DATABASE)
    assert done.code == 2
    assert done.err.startswith("columns.sex.hierarchy: is missing")
    policy(text)
    assert call("plan", "policy.yml", "--lattice", *DATABASE).code == 0


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


def test_show_tells_what_has_no_hierarchy(policy: Callable[..., None], call: Call) -> None:
    policy()
    more = ("--policy", "policy.yml", *DATABASE)
    done = call("hierarchy", "show", "disease", "years", *more)
    assert done.code == 2
    assert "columns.disease.hierarchy: is missing" in done.err
    assert "columns.years: is not a column of the policy" in done.err


@pytest.mark.slow
def test_export_keeps_a_hierarchy(policy: Callable[..., None], warehouse: Path, call: Call) -> None:
    """As CSV, then as a table, used from the table: the same release."""
    policy()
    more = ("--policy", "policy.yml", *DATABASE)
    assert call("hierarchy", "export", "age", *more, "-o", "age.csv").code == 0
    assert (warehouse / "age.csv").read_text().splitlines()[0] == "20;[20, 29];*"
    first = call("run", "policy.yml", *DATABASE, "--test-seed", "1", "--format", "json").json
    policy(BY_AGE, ages=(warehouse / "age.csv").read_bytes())
    stored = ("hierarchy", "export", "age", *more, "--table", "trees.age")
    assert call(*stored).code == 0
    assert "trees.age" in call(*stored, "--replace").out
    again = call(*stored)
    assert again.code == 2
    assert "--replace" in again.err
    policy(POLICY.replace("{builder: intervals, cuts: [20, 30, 40]}", "{table: trees.age}"))
    second = call("run", "policy.yml", *DATABASE, "--test-seed", "1", "--format", "json").json
    for name in ("rows", "classes", "level.age", "level.sex"):
        assert first["measures"][name] == second["measures"][name]


def test_export_as_a_table_keeps_bounds(
    policy: Callable[..., None], warehouse: Path, call: Call
) -> None:
    policy()
    more = ("--policy", "policy.yml", *DATABASE)
    assert call("hierarchy", "export", "age", *more, "--table", "age_tree").code == 0
    with duckdb.connect(str(warehouse / "warehouse.duckdb")) as connection:
        rows = connection.execute("from age_tree order by value limit 1").fetchall()
        described = connection.execute("describe age_tree").fetchall()
        kinds = connection.execute("select kind from _anonymizer.objects").fetchall()
    assert rows[0][:3] == (20, "[20, 29]", "*")
    names = [row[0] for row in described]
    assert names == ["value", "level_1", "level_2", "lo_1", "hi_1", "lo_2", "hi_2"]
    assert kinds == [("hierarchy",)]
    taken = call("hierarchy", "export", "age", *more, "--table", "visits", "--replace")
    assert taken.code == 2
    assert "not a hierarchy" in taken.err


def test_levels_that_need_not_nest_go_round(
    policy: Callable[..., None], warehouse: Path, call: Call
) -> None:
    given = "{builder: intervals, cuts: [20, 30, 40]}"
    spec = "{builder: divisor, mode: independent, divisors: [4, 6]}"
    policy(POLICY.replace(given, spec))
    more = ("--policy", "policy.yml", *DATABASE)
    done = call("hierarchy", "export", "age", *more, "-o", "age.csv")
    assert done.code == 0, done.err
    assert "nested: false" in done.out
    assert call("hierarchy", "export", "age", *more, "--table", "age_tree").code == 0
    for read in ("{file: age.csv, nested: false}", "{table: age_tree, nested: false}"):
        policy(POLICY.replace(given, read), age=(warehouse / "age.csv").read_bytes())
        assert call("run", "policy.yml", *DATABASE).code == 0
        policy(POLICY.replace(given, read).replace("full_domain", "mondrian"))
        refused = call("plan", "policy.yml", *DATABASE)
        assert refused.err.startswith("columns.age.hierarchy.nested: has levels that need not nest")
