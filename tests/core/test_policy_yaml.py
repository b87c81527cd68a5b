"""Reading policy files: YAML 1.2, bounded, duplicate keys refused with their lines."""

from __future__ import annotations

import time
from pathlib import Path

import duckdb
import pytest

from anonymizer.errors import PolicyError, Problem
from anonymizer.policy import Policy
from tests.selection import some

GOOD = """\
version: 1
source: {table: visits}
columns:
  age: {role: quasi}
privacy: {k_anonymity: 5}
"""


def problems_of(text: str) -> tuple[Problem, ...]:
    with pytest.raises(PolicyError) as raised:
        Policy.loads(text)
    assert raised.value.__context__ is None or raised.value.__suppress_context__
    return raised.value.problems


def short(given: object) -> str:
    return repr(given)[:40]


def bomb(levels: int = 9, width: int = 10) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, levels):
        inner = ", ".join([f"*a{level - 1}"] * width)
        lines.append(f"a{level}: &a{level} [{inner}]")
    return "\n".join(lines)


@some(1)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("   \n# only a comment\n", "is empty"),
        ("---\n", "is empty"),
        ("null", "is empty"),
        ("- a7731\n- b7731\n", "must be a mapping"),
        ("just text 7731", "must be a mapping"),
        ("7731", "must be a mapping"),
        ("a: [x7731", "is not valid YAML (line 1"),
        ("a: b7731: c", "is not valid YAML (line 1"),
        ("a: 1\n\tb: x7731", "is not valid YAML (line 2"),
        ('a: "x7731', "is not valid YAML"),
        ("a: x7731\n b: y", "is not valid YAML"),
        ("a: @x7731", "is not valid YAML"),
        ("a: *x7731", "refers to an anchor"),
        ("a: &x7731 [*x7731]", "refers to an anchor"),
        ("a: &x7731 1\nb: &x7731 2", "defines an anchor a second time (line 2)"),
        ("a: !!python/object:os.system x7731", "uses a YAML tag (line 1)"),
        ("a: !x7731 y", "uses a YAML tag"),
        ("a: ! x7731", "uses a YAML tag"),
        ("!!map {a: 7731}", "uses a YAML tag"),
        ("a: !!binary aGVsbG8=", "uses a YAML tag"),
        ("%YAML 1.1\n---\na: x7731", "another YAML version"),
        ("a: 1\n---\nb: x7731", "more than one document (line 2)"),
        ("? [a7731, b]\n: c", "name that is not text (line 1)"),
        ("? {a: 7731}\n: c", "name that is not text"),
        ("a: 7731_0", "is a number in a form that YAML 1.2 does not have (line 1)"),
        ("a: [0.7731_0]", "is a number in a form that YAML 1.2 does not have"),
        ("a: 0b1101110001", "is a number in a form that YAML 1.2 does not have"),
        ("a: -0x7731", "is a number in a form that YAML 1.2 does not have"),
        ("a: {77_31: b}", "is a number in a form that YAML 1.2 does not have"),
        ("a: 2020-99-99", "cannot read"),
        ("a: " + "9" * 6000, "cannot read"),
        ("a: \x00x7731", "cannot read"),
        ("a: " + "[" * 60 + "]" * 60, "nested too deeply"),
        ("a: " + "[" * 100_000, "nested too deeply"),
        ("a: " + "{b: " * 5000, "nested too deeply"),
        ("- " * 3000 + "x", "nested too deeply"),
        (bomb(), "is too large"),
        ("a: [" + "x, " * 120_000 + "]", "is too large"),
        ("a: " + "x" * 1_100_000, "is too large"),
    ],
    ids=short,
)
def test_refused(text: str, says: str) -> None:
    began = time.perf_counter()
    (problem,) = problems_of(text)
    assert time.perf_counter() - began < 30, "bounded before anything is built"
    assert says in problem.message
    assert "7731" not in str(problem)
    assert "\n" not in str(problem)


def test_duplicate_keys_all_with_lines() -> None:
    text = GOOD + "version: 1\npublish: {name: a, name: b}\n"
    text = text.replace("  age: {role: quasi}", "  age: {role: quasi}\n  'age': {role: keep}")
    shown = [(problem.path, problem.message) for problem in problems_of(text)]
    assert sorted(shown) == [
        ("columns.age", "stands twice (lines 4 and 5)"),
        ("publish.name", "stands twice (lines 8 and 8)"),
        ("version", "stands twice (lines 1 and 7)"),
    ]


def test_duplicate_levels_in_other_words() -> None:
    (problem,) = problems_of("a: {2: x7731, 0x2: y}")
    assert "7731" not in str(problem)
    assert "line 1" in problem.message


def test_yaml_1_2_scalars() -> None:
    policy = Policy.loads(
        """
version: 1
source: {table: visits}
columns:
  on:
    role: quasi
    hierarchy: {builder: order, values: [No, yes, 1:30, 0o17, 2020-01-31, true, _1, "1_0"]}
  No: {role: keep}
privacy: {k_anonymity: 012}
"""
    )
    assert list(policy.columns) == ["on", "No"]
    hierarchy = policy.columns["on"].hierarchy
    assert hierarchy is not None
    assert hierarchy.builder == "order"
    assert hierarchy.values == ("No", "yes", "1:30", 15, "2020-01-31", True, "_1", "1_0")
    assert policy.privacy.k_anonymity == 12


def test_aliases_and_merges_within_bounds() -> None:
    policy = Policy.loads(
        GOOD.replace(
            "  age: {role: quasi}",
            "  age: &q {role: quasi, nulls: suppress}\n  zip: *q\n  sex: {<<: *q, nulls: forbid}",
        )
    )
    assert policy.quasi == ("age", "zip", "sex")
    assert [policy.columns[name].nulls for name in policy.quasi] == [
        "suppress",
        "suppress",
        "forbid",
    ]


def test_json_is_a_policy_too() -> None:
    text = """{"version": 1, "source": {"table": "visits"}, "algorithm": {"name": "msb"},
    "columns": {"age": {"role": "quasi"},
    "job": {"role": "sensitive", "protect": {"levels": {"1": ["a"]}, "default_level": 0}}},
    "privacy": {"level_l": {"0": 1, "1": 2}}}"""
    policy = Policy.loads(text)
    assert dict(policy.privacy.level_l or {}) == {0: 1, 1: 2}
    assert Policy.model_validate_json(text) == policy
    assert Policy.model_validate_json(text.encode()) == policy


def test_load(tmp_path: Path) -> None:
    file = tmp_path / "policy.yml"
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("age", "größe").encode())
    policy = Policy.load(file)
    assert policy.quasi == ("größe",)
    assert policy.base == tmp_path
    assert policy.resolve("x.csv") == tmp_path / "x.csv"
    assert policy == Policy.load(str(file))
    assert Policy.load(file, preset="external").preset == "external"


def load_problem(path: Path) -> Problem:
    with pytest.raises(PolicyError) as raised:
        Policy.load(path)
    (problem,) = raised.value.problems
    return problem


def test_unreadable_files(tmp_path: Path) -> None:
    missing = load_problem(tmp_path / "none.yml")
    assert missing.message == "does not exist"
    assert missing.hint
    assert "folder" in load_problem(tmp_path).message
    latin = tmp_path / "latin.yml"
    latin.write_bytes("version: 1\nname: Stra\xdfe7731\n".encode("latin-1"))
    problem = load_problem(latin)
    assert problem.path == "latin.yml"
    assert problem.message == "is not UTF-8 text (line 2)"
    wide = tmp_path / "wide.yml"
    wide.write_bytes(GOOD.encode("utf-16"))
    assert "is not UTF-8" in load_problem(wide).message
    huge = tmp_path / "huge.yml"
    huge.write_bytes(b"# " + b"x" * 2_000_000)
    assert "too large" in load_problem(huge).message
    database = tmp_path / "release.duckdb"
    with duckdb.connect(str(database)):
        pass
    problem = load_problem(database)
    assert problem.message == "is a DuckDB database, not a policy file"
    assert problem.hint is not None
    assert "--database FILE" in problem.hint
    broken = tmp_path / "broken.yml"
    broken.write_text("a: [")
    assert load_problem(broken).path == "broken.yml"


@pytest.mark.parametrize(
    ("option", "path"),
    [
        ("person:", "person"),
        ("key: # which one?", "key"),
        ("ledger:", "ledger"),
        ("publish: {database: }", "publish.database"),
    ],
)
def test_a_forgotten_value_does_not_drop_what_it_promises(option: str, path: str) -> None:
    """Without `person` rows would count, without `publish.database` the source be the target."""
    problems = problems_of(GOOD + option + "\n")
    assert [problem.path for problem in problems].count(path) == 1
    assert any(problem.message == "is empty" for problem in problems if problem.path == path)


def test_forgotten_values_are_reported_with_all_other_problems() -> None:
    text = GOOD.replace("k_anonymity: 5", "k_anonymity: ") + "person:\nkey: 3\nprivacies: {}\n"
    paths = [problem.path for problem in problems_of(text)]
    assert sorted(paths) == ["key", "person", "privacies", "privacy", "privacy.k_anonymity"]


def test_null_is_no_value_on_purpose() -> None:
    assert Policy.loads(GOOD + "person: null\nkey: ~\n") == Policy.loads(GOOD)
    assert Policy.loads(GOOD + "publish: {database: null}\n") == Policy.loads(GOOD)
