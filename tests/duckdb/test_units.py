"""Further units: every class has rows of several households, which the release does not show."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.algorithms.core import protections
from anonymizer.algorithms.lattice import judging
from anonymizer.contract.layout import Requirement
from anonymizer.errors import AnonymizerError, GuaranteeError, PolicyError, SourceError
from anonymizer.guarantees.requirements import missing_checks
from anonymizer.independent.fetch import UnreadableError
from anonymizer.independent.judge import judge
from anonymizer.release.manifest import Manifest
from anonymizer.release.published import Release
from tests.forging import seal_again
from tests.runs import policy, published, run, source
from tests.selection import few

TYPES = {
    "person": "INTEGER",
    "household": "INTEGER",
    "age": "INTEGER",
    "zip": "VARCHAR",
    "ill": "VARCHAR",
    "number": "INTEGER",
}
COLUMNS: dict[str, Any] = {
    "person": "identifier",
    "household": "identifier",
    "age": {"role": "quasi", "hierarchy": {"builder": "cardinality"}},
    "zip": {"role": "quasi", "hierarchy": {"builder": "prefix"}},
    "ill": {"role": "sensitive", "protect": {"l_diversity": 2}},
    "number": {"role": "keep", "acknowledge_unique": True},
}
Row = tuple[Any, ...]
VIEW = "people_anonymous"


def families() -> list[Row]:
    """Households of five, whose members share age and place with nobody else."""
    return [(i, i // 5, i // 5 * 3 % 40, "ab"[i // 5 % 2], "xyz"[i % 3], i) for i in range(200)]


def anyone(seed: int, *, of_one: bool) -> list[Row]:
    """Random rows; `of_one`: the rows of a person have the same age and place."""
    r = random.Random(seed)
    made: list[Row] = []
    for person in range(60):
        cells = [(r.randrange(6), r.choice("abc")) for _ in range(3)]
        for cell in cells[: r.choice([1, 1, 2, 3])]:
            age, place = cells[0] if of_one else cell
            household = r.choice([None, person // r.choice([1, 3, 6]), r.randrange(12)])
            made.append((person, household, age, place, r.choice("xyz"), len(made)))
    return made


def fewest(release: Release, rows: Sequence[Row]) -> int:
    """The fewest households of a class, counted in Python."""
    households: dict[Any, set[Any]] = defaultdict(set)
    for row in published(release):
        households[row["class_id"]].add(rows[row["number"]][1])
    return min(len(found - {None}) for found in households.values())


def test_a_family_fills_no_class(tmp_path: Path) -> None:
    rows = families()
    database = source(tmp_path, TYPES, rows)
    plain = run(policy(tmp_path, COLUMNS, 5, person="person"), database)
    assert fewest(plain, rows) == 1
    given = policy(tmp_path, COLUMNS, 5, person="person", privacy={"units": {"household": 3}})
    release = run(given, database)
    assert fewest(release, rows) == 3
    (check,) = (one for one in release.verification.checks if one.name == "units")
    assert (check.column, check.required, check.achieved) == ("household", 3, 3)
    assert "household" not in published(release)[0]


MERGES = ("mondrian", "by rows")
FORMS = [
    (algorithm, persons)
    for algorithm in (*MERGES, "full_domain", "privacyfrost")
    for persons in ("rows", "persons", "merged")
    if persons != "merged" or algorithm in MERGES
]


@pytest.mark.parametrize(("algorithm", "persons"), FORMS)
@pytest.mark.parametrize("seed", few(range(12), 2))
def test_every_class_has_the_households(
    seed: int, persons: str, algorithm: str, tmp_path: Path
) -> None:
    rows = anyone(seed, of_one=persons == "persons")
    database = source(tmp_path, TYPES, rows)
    r = random.Random(seed)
    least = r.choice([2, 3, 4])
    more: dict[str, Any] = {"algorithm": {"name": algorithm}, "suppression_limit": 0.3}
    if algorithm == "by rows":
        more = {"algorithm": {"name": "mondrian", "strict": False}, "suppression_limit": 0.6}
    if persons != "rows":
        more |= {"person": "person", "merge_person_rows": persons == "merged"}
    columns = {**COLUMNS, "age": {**COLUMNS["age"], "nulls": "suppress"}}
    if r.random() < 0.5 and algorithm != "privacyfrost":
        columns["ill"] = {"role": "sensitive", "protect": {"alpha": 0.6, "t_closeness": 0.5}}
    given = policy(tmp_path, columns, 2, privacy={"units": {"household": least}}, **more)
    release = run(given, database, seed)
    found = fewest(release, rows)
    (check,) = (one for one in release.verification.checks if one.name == "units")
    assert found == check.achieved
    assert found >= least


@pytest.mark.parametrize("algorithm", ["mondrian", "full_domain"])
def test_a_search_that_forgets_the_rule_publishes_nothing(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = source(tmp_path, TYPES, families())
    given = policy(
        tmp_path, COLUMNS, 5, algorithm={"name": algorithm}, privacy={"units": {"household": 3}}
    )
    kept = protections.column_rules

    def forgets(policy: Any, column: Any) -> Any:
        return () if column.column == "household" else kept(policy, column)

    for module in (protections, judging):
        monkeypatch.setattr(module, "column_rules", forgets)
    with pytest.raises(
        GuaranteeError, match=r"privacy\.units\.household: units requires 3, the release reaches 1"
    ):
        run(given, database)
    assert not (tmp_path / "release.duckdb").exists()


def test_what_was_not_judged_is_found(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, families())
    given = policy(tmp_path, COLUMNS, 5, privacy={"units": {"household": 3}})
    made = run(given, database).verification
    left = made.__class__(True, tuple(one for one in made.checks if one.name != "units"))
    assert list(missing_checks(given, left, source=True)) == [("privacy.units", "units")]
    assert not list(missing_checks(given, left))


def manifest_with(tmp_path: Path, change: Any) -> Path:
    """The release of families, with a manifest that was changed and sealed again."""
    database = source(tmp_path, TYPES, families())
    run(policy(tmp_path, COLUMNS, 5, privacy={"units": {"household": 3}}), database)
    file = tmp_path / "release.duckdb"
    with duckdb.connect(str(file)) as connection:
        ((text,),) = connection.execute(f"select manifest from {VIEW}_manifest").fetchall()
        data = json.loads(text)
        change(data)
        connection.execute(f"update {VIEW}_manifest set manifest = ?", [Manifest(data).text()])
    seal_again(file, VIEW)
    return file


def test_a_recipient_is_told_that_they_were_not_judged(tmp_path: Path) -> None:
    file = manifest_with(tmp_path, lambda data: None)
    found = anonymizer.verify(None, file)
    assert "units" in found.unverified
    assert "units" not in {check.name for check in found.checks}
    second = judge(file)
    assert [one.name for one in second.not_checked] == ["units"]
    assert all(check.failing == 0 for check in second.checks)


def _of_units(data: dict[str, Any]) -> dict[str, Any]:
    (found,) = (one for one in data["requirements"] if one["name"] == "units")
    return dict[str, Any](found)


def _check_of(data: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = (one for one in data["verification"]["checks"] if one["name"] == "units")
    return found


FORGED = {
    "another number": lambda data: _check_of(data).update(required=4),
    "classes that fail": lambda data: _check_of(data).update(failing=1),
    "no check": lambda data: data["verification"]["checks"].remove(_check_of(data)),
    "no requirement": lambda data: data["requirements"].remove(_of_units(data)),
    "only units": lambda data: data.update(requirements=[_of_units(data)]),
}


@pytest.mark.parametrize("how", FORGED)
def test_a_manifest_that_states_them_otherwise(how: str, tmp_path: Path) -> None:
    file = manifest_with(tmp_path, FORGED[how])
    with pytest.raises(AnonymizerError, match=r"manifest\.|privacy\.units: cannot be judged"):
        anonymizer.verify(None, file)
    if how == "only units":
        with pytest.raises(UnreadableError):
            judge(file)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "unlisted": ({"units": {"households": 2}}, r"privacy\.units\.households: is not a column"),
    "published": ({"units": {"zip": 2}}, r"privacy\.units\.zip: is published by the role quasi"),
    "sensitive": ({"units": {"ill": 2}}, r"units\.ill: .*protect: \{l_diversity: 2\}"),
    "person": ({"units": {"person": 2}}, r"units\.person: is the person.*\{k_anonymity: 2\}"),
    "one": ({"units": {"household": 1}}, r"privacy\.units\.household: .*2"),
    "none": ({"units": {}}, r"privacy\.units: names no column"),
}


@pytest.mark.parametrize("how", REFUSED)
def test_what_a_policy_cannot_ask(how: str, tmp_path: Path) -> None:
    privacy, said = REFUSED[how]
    given = {
        "version": 1,
        "source": {"table": "people"},
        "person": "person",
        "columns": {n: c if isinstance(c, dict) else {"role": c} for n, c in COLUMNS.items()},
        "privacy": {"k_anonymity": 2, **privacy},
        "publish": {"database": "release.duckdb"},
    }
    with pytest.raises(PolicyError, match=said):
        anonymizer.Policy.loads(json.dumps(given), base=tmp_path)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"ledger": "l.duckdb"}, "privacy.units: is kept in one release"),
        ({"ledger": "l.duckdb", "republish": {"follow": True}}, "or ledger and republish"),
        ({"ledger": "l.duckdb", "republish": {"append_only": True}}, "or ledger and republish"),
        ({"algorithm": {"name": "lgb"}}, "algorithms that do: mondrian, full_domain"),
        ({"algorithm": {"name": "msb"}}, "privacy.units: is not enforced by msb"),
        ({"columns": {"ill": "sensitive"}, "k": None}, "cannot be the only guarantee"),
    ],
)
def test_what_is_refused_beside_them(more: dict[str, Any], said: str, tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, families())
    rest = {"person": "person", **more}
    columns = {**COLUMNS, **rest.pop("columns", {})}
    k, asked = rest.pop("k", 2), {"units": {"household": 2}}

    def whole() -> None:
        run(policy(tmp_path, columns, k, privacy=asked, **rest), database)

    with pytest.raises((PolicyError, ValueError), match=said):
        whole()


@pytest.mark.parametrize("limit", [0.0, 0.5])
@pytest.mark.parametrize("algorithm", ["mondrian", "full_domain"])
def test_too_few_households_in_the_table(algorithm: str, limit: float, tmp_path: Path) -> None:
    rows = [(i, i % 3 or None, i % 4, "a", "xyz"[i % 3], i) for i in range(30)]
    database = source(tmp_path, TYPES, rows)
    given = policy(
        tmp_path,
        COLUMNS,
        algorithm={"name": algorithm},
        suppression_limit=limit,
        privacy={"units": {"household": 3}},
    )
    said = r"privacy\.units\.household: cannot hold in any class: it takes 3 different values, 1"
    with pytest.raises(SourceError, match=said):
        run(given, database)


def test_a_type_without_values_to_count(tmp_path: Path) -> None:
    database = source(tmp_path, {**TYPES, "household": "INTEGER[]"}, [])
    given = policy(tmp_path, COLUMNS, privacy={"units": {"household": 3}})
    with pytest.raises(SourceError, match=r"privacy\.units\.household: has a type"):
        run(given, database)


def test_the_requirement_names_the_column(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, families())
    given = policy(tmp_path, COLUMNS, 5, privacy={"units": {"household": 3}})
    listed = run(given, database).manifest.requirements
    assert Requirement("units", "household", {"l": 3}) in listed
