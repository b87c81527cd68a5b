"""Fewer values than any class needs: every algorithm refuses before it searches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import AnonymizerError, InfeasibleError
from tests.runs import policy, run, source

TYPES = {"age": "INTEGER", "town": "VARCHAR", "disease": "VARCHAR"}
PEOPLE = [(i % 6, "abcd"[i % 4], ("Flu", "HIV", None)[i % 3]) for i in range(120)]
TREE = {"file": "towns.csv"}
TOO_MUCH: dict[str, Any] = {
    "l_diversity": 3,
    "entropy_l": 2.5,
    "recursive_cl": {"c": 4, "l": 3},
    "alpha": 0.4,
}


def asked(folder: Path, algorithm: str, protect: dict[str, Any], **more: Any) -> Any:
    (folder / "towns.csv").write_text("a;N;*\nb;N;*\nc;S;*\nd;S;*\n")
    columns: dict[str, Any] = {
        "age": {
            "role": "quasi",
            "hierarchy": {"builder": "intervals", "cuts": [2, 4], "bottom": 0, "top": 6},
        },
        "town": {"role": "quasi", "hierarchy": TREE},
        "disease": {"role": "sensitive", "protect": protect, **more},
    }
    return policy(folder, columns, k=3, algorithm={"name": algorithm}, suppression_limit=0.3)


@pytest.mark.parametrize("algorithm", ["full_domain", "privacyfrost", "mondrian", "lgb"])
@pytest.mark.parametrize("name", ["l_diversity"])
def test_every_algorithm_refuses_at_once(tmp_path: Path, algorithm: str, name: str) -> None:
    given = asked(tmp_path, algorithm, {name: TOO_MUCH[name]})
    with pytest.raises(AnonymizerError, match=_says(name)) as caught:
        run(given, source(tmp_path, TYPES, PEOPLE))
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("name", [name for name in TOO_MUCH if name != "l_diversity"])
def test_every_guarantee_that_needs_several_values(tmp_path: Path, name: str) -> None:
    given = asked(tmp_path, "full_domain", {name: TOO_MUCH[name]})
    with pytest.raises(AnonymizerError, match=_says(name)) as caught:
        run(given, source(tmp_path, TYPES, PEOPLE))
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("protect", [{"l_diversity": 2}, {"alpha": 0.5}, {"entropy_l": 2}])
def test_as_many_values_as_needed_are_not_refused(tmp_path: Path, protect: dict[str, Any]) -> None:
    run(asked(tmp_path, "full_domain", protect), source(tmp_path, TYPES, PEOPLE))


def test_null_may_be_one_of_the_values(tmp_path: Path) -> None:
    given = asked(tmp_path, "full_domain", {"l_diversity": 3}, null_as_value=True)
    run(given, source(tmp_path, TYPES, PEOPLE))


def _says(name: str) -> str:
    said = r"it takes \d different values, \d values? more than the column has"
    return rf"columns.disease.protect.{name}: cannot hold in any class: {said}"


def test_the_hint_of_a_rule_that_the_whole_table_breaks_names_the_key(tmp_path: Path) -> None:
    """Enough values, of which one is too frequent: what one would change is a key of the policy."""
    rows = [(age, town, "HIV" if i < 2 else "Flu") for i, (age, town, _) in enumerate(PEOPLE)]
    columns: dict[str, Any] = {
        "age": "quasi",
        "disease": {"role": "sensitive", "protect": {"l_diversity": 2, "alpha": 0.6}},
        "town": "drop",
    }
    with pytest.raises(AnonymizerError) as caught:
        run(policy(tmp_path, columns, k=3), source(tmp_path, TYPES, rows))
    (problem,) = caught.value.problems
    assert problem.hint is not None
    assert problem.hint.startswith("weaken alpha, l_diversity, or leave these rows out in")
    assert "distinct_l" not in problem.message


FREQUENT = [(i, i % 20, "flu" if i % 20 < 9 else f"ill {i % 7}") for i in range(100)]
"""45 of 100 rows have one value: under alpha 0.4 at least 9 have to be left out."""


def with_a_frequent_value(folder: Path, algorithm: str, limit: float) -> Any:
    whole_rows = algorithm in ("full_domain", "privacyfrost")
    tree = {"hierarchy": {"builder": "cardinality"}} if whole_rows else {}
    columns = {
        "id": "identifier",
        "age": {"role": "quasi", **tree},
        "ill": {"role": "sensitive", "protect": {"alpha": 0.4}},
    }
    return policy(folder, columns, algorithm={"name": algorithm}, key="id", suppression_limit=limit)


@pytest.mark.parametrize(
    ("algorithm", "limit"), [("mondrian", 0), ("mondrian", 0.08), ("full_domain", 0)]
)
def test_how_many_rows_have_to_be_left_out_is_told(
    tmp_path: Path, algorithm: str, limit: float
) -> None:
    database = source(tmp_path, {"id": "int", "age": "int", "ill": "text"}, FREQUENT)
    with pytest.raises(InfeasibleError) as caught:
        run(with_a_frequent_value(tmp_path, algorithm, limit), database)
    told = str(caught.value)
    assert "cannot hold in every class: alpha fails for the table as a whole" in told
    assert "unless 9 rows or more with that value are left out" in told
    assert "or raise suppression_limit so that they may be left out" in told


@pytest.mark.parametrize("algorithm", ["full_domain", "privacyfrost"])
def test_what_is_left_out_may_make_a_rule_hold(tmp_path: Path, algorithm: str) -> None:
    database = source(tmp_path, {"id": "int", "age": "int", "ill": "text"}, FREQUENT)
    release = run(with_a_frequent_value(tmp_path, algorithm, 0.6), database)
    assert release.verification.passed
    assert 9 <= release.measures["suppressed"] <= 60


@pytest.mark.parametrize(
    ("algorithm", "protect", "left_out"),
    [
        ({"name": "mondrian"}, {"alpha": 0.4}, 9),
        ({"name": "mondrian", "strict": False}, {"alpha": 0.4}, 9),
        ({"name": "mondrian", "split": "median"}, {"alpha": 0.4, "t_closeness": 0.3}, 9),
        ({"name": "mondrian"}, {"alpha_k": {"alpha": 0.4, "k": 5}}, 9),
        ({"name": "mondrian"}, {"alpha_k": {"alpha": 0.4, "k": 5, "value": "flu"}}, 9),
        ({"name": "lgb"}, {"l_diversity": 3}, 18),
        ({"name": "lgb"}, {"alpha": 0.4}, 18),
    ],
)
def test_as_few_rows_of_a_frequent_value_as_possible_are_left_out(
    tmp_path: Path, algorithm: dict[str, Any], protect: dict[str, Any], left_out: int
) -> None:
    """45 of 100 are flu: 36 of 91 are no more than 0.4, and 27 of 82 no more than a third."""
    database = source(tmp_path, {"id": "int", "age": "int", "ill": "text"}, FREQUENT)
    given: dict[str, Any] = {"algorithm": algorithm, "key": "id", "suppression_limit": 0.3}
    ill: dict[str, Any] = {"role": "sensitive"}
    if "alpha_k" in protect:
        given |= {"k": None, "privacy": protect}
    else:
        ill["protect"] = protect
    columns = {"id": "identifier", "age": "quasi", "ill": ill}
    release = run(policy(tmp_path, columns, **given), database)
    assert release.verification.passed
    assert release.measures["suppressed"] == left_out
