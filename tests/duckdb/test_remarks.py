"""What a run tells besides: NULL conditions and columns that look like person keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anonymizer.review.preview import preview
from anonymizer.review.report.content import collect
from tests.runs import policy, run, source
from tests.selection import some

TYPES = {"patient_id": "INTEGER", "age": "INTEGER", "hide": "BOOLEAN", "ill": "VARCHAR"}
COLUMNS: dict[str, Any] = {
    "patient_id": "drop",
    "age": "quasi",
    "hide": "drop",
    "ill": "sensitive",
}


def rows(persons: int, *, n: int = 24) -> list[tuple[Any, ...]]:
    flags = [True, False, False, None]
    return [(i % persons, 20 + i % 5, flags[i % 4], "abc"[i % 3]) for i in range(n)]


def test_the_rows_whose_condition_is_null_are_counted_and_told(tmp_path: Path) -> None:
    age = {"role": "quasi", "sensitive_when": "hide", "protect": {"l_diversity": 2}}
    given = policy(tmp_path, {**COLUMNS, "age": age, "ill": "drop"}, algorithm={"name": "lgb"},
                   person=None)  # fmt: skip
    database = source(tmp_path, TYPES, rows(24))
    release = run(given, database)
    # whose condition is NULL, and whose is true, is published nowhere
    assert not any(name.startswith("null_conditions") for name in release.measures)
    assert "null_conditions" not in str(release.manifest.data)
    said = "columns.age.sensitive_when is NULL in 6 rows: their cells count as sensitive"
    assert said in release.warnings
    assert said in preview(given, str(database)).warnings
    assert release.measures["rows"] == 24


@some(2)
@pytest.mark.parametrize(
    ("column", "role", "persons", "told"),
    [
        ("patient_id", "drop", 8, True),
        ("patient_id", "identifier", 20, True),
        ("patient_id", "drop", 24, False),  # one row per person
        ("patient_id", "identifier", 2, False),  # a category, whatever its name says
        ("remark", "drop", 20, False),  # neither an identifier nor named like one
        ("remark", "identifier", 20, True),
    ],
)
def test_a_repeating_person_key_is_told(
    tmp_path: Path, column: str, role: str, persons: int, told: bool
) -> None:
    columns = {column: role, **{name: r for name, r in COLUMNS.items() if name != "patient_id"}}
    types = dict(zip(columns, TYPES.values(), strict=True))
    release = run(policy(tmp_path, columns), source(tmp_path, types, rows(persons)))
    said = [warning for warning in release.warnings if f"person: {column}" in warning]
    assert bool(said) == told
    if told:
        assert f"{persons} values in 24 rows" in said[0]
    assert not [name for name in release.measures if "values" in name]


@some(3)
@pytest.mark.parametrize(
    ("form", "more", "told"),
    [
        ("{0}", {}, "numbers"),
        ("-{0}.5", {}, "numbers"),
        ("1.{0:03},75", {}, "numbers"),
        ("2024-01-{0}", {}, "dates"),
        ("{0}.01.2024", {}, "dates"),
        ("{0}", {"hierarchy": {"builder": "prefix"}}, None),
        ("x{0}", {}, None),
        ("2024-01-{0}x", {}, None),
    ],
)
def test_text_that_holds_numbers_or_dates_is_told(
    tmp_path: Path, form: str, more: dict[str, Any], told: str | None
) -> None:
    given = policy(tmp_path, {"size": {"role": "quasi", **more}, "ill": "drop"})
    data = [(form.format(10 + i % 12) if i else None, "a") for i in range(60)]
    database = source(tmp_path, {"size": "VARCHAR", "ill": "VARCHAR"}, data)
    release = run(given, database)
    said = [f"columns.size: is text, and all its values are {told}:"] if told else []
    assert [warning[: len(said[0])] for warning in release.warnings if said] == said
    assert said or release.warnings == ()
    assert release.warnings == tuple(preview(given, str(database)).warnings)
    assert "written_as" not in str(release.manifest.data)


@some(2)
@pytest.mark.parametrize(
    ("sql_type", "first", "told"),
    [
        ("HUGEINT", 10**30, True),
        ("DECIMAL(38,1)", 10**30, True),
        ("BIGINT", 2**60, True),
        ("BIGINT", 2**40, False),
        ("DECIMAL(18,3)", 10**9, False),
        ("HUGEINT", 0, False),
    ],
)
def test_numbers_that_are_alike_as_doubles_are_told(
    tmp_path: Path, sql_type: str, first: int, told: bool
) -> None:
    given = policy(tmp_path, {"size": "quasi", "ill": "drop"})
    database = source(
        tmp_path, {"size": sql_type, "ill": "VARCHAR"}, [(first + i % 9, "a") for i in range(60)]
    )
    found = [w for w in run(given, database).warnings if "alike in their first 16 digits" in w]
    assert [w.partition(":")[0] for w in found] == ["columns.size"] * told


@pytest.mark.slow
@some(2)
@pytest.mark.parametrize(
    ("ill", "privacy", "told"),
    [
        ("sensitive", {}, True),
        ({"role": "sensitive", "protect": {"l_diversity": 2}}, {}, False),
        ("sensitive", {"alpha_k": {"alpha": 0.6, "k": 2}}, False),
        ("keep", {}, False),
    ],
)
def test_a_sensitive_column_without_a_rule_is_told(
    tmp_path: Path, ill: Any, privacy: dict[str, Any], told: bool
) -> None:
    given = policy(tmp_path, {**COLUMNS, "ill": ill}, key="patient_id", privacy=privacy)
    database = source(tmp_path, TYPES, rows(24))
    release = run(given, database)
    said = [warning for warning in release.warnings if warning.startswith("columns.ill: ")]
    assert len(said) == told
    if told:
        assert "everybody in a class may have the same value" in said[0]
        assert "protect: {l_diversity: 3}" in said[0]
    assert list(release.warnings) == preview(given, str(database)).warnings
    assert set(said) <= set(collect(given).warnings)


@some(1)
@pytest.mark.parametrize(("algorithm", "told"), [("mondrian", True), ("full_domain", False)])
def test_a_hierarchy_that_shapes_no_cell_is_told(
    tmp_path: Path, algorithm: str, told: bool
) -> None:
    """Top coding that does not happen must not look as if it had."""
    age = {"role": "quasi", "hierarchy": {"builder": "intervals", "cuts": [20, 22, 24], "top": 24}}
    given = policy(tmp_path, {**COLUMNS, "age": age}, algorithm={"name": algorithm})
    database = source(tmp_path, TYPES, rows(24, n=25))
    release = run(given, database)
    says = "columns.age.hierarchy: is not used"
    for warnings in (release.warnings, preview(given, str(database)).warnings):
        found = [warning for warning in warnings if says in warning]
        assert bool(found) == told
        assert all(one.endswith("have them with kind: categorical") for one in found)
    report = collect(given)
    assert any(says in warning for warning in report.warnings) == told
    (said,) = (column["says"] for column in report.columns if column["column"] == "age")
    assert ("as ranges or sets" if told else "as nodes of its hierarchy") in said


@pytest.mark.parametrize(("key", "told"), [("patient_id", False), ("visit_id", True)])
def test_names_beside_a_key_of_persons_are_no_persons(tmp_path: Path, key: str, told: bool) -> None:
    """Where every row is another person, as a draft says, several may have one name."""
    types = {key: "INTEGER", "last_name": "VARCHAR", "age": "INTEGER"}
    data = [(i, f"n{i % 8}", 20 + i % 5) for i in range(40)]
    columns = {key: "identifier", "last_name": "identifier", "age": "quasi"}
    given = policy(tmp_path, columns, key=key)
    warnings = preview(given, str(source(tmp_path, types, data))).warnings
    assert any("person: last_name" in warning for warning in warnings) == told
