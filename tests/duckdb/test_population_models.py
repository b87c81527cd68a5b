"""k-map and delta-presence of releases: guarantees held, figures equal to a naive oracle."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.algorithms.registry import refuse_unsupported
from anonymizer.cli import main
from anonymizer.compile import Table
from anonymizer.contract.checks import Check, NotChecked, Verification
from anonymizer.contract.layout import Requirement
from anonymizer.errors import (
    GuaranteeError,
    InfeasibleError,
    NothingToCheckError,
    PolicyError,
    SourceError,
)
from anonymizer.process.document import block_lines
from anonymizer.release.judge import refuse_unless_passed
from anonymizer.release.published import Release
from anonymizer.verification.guarantees import Members
from anonymizer.verification.release import verify_release
from tests.oracle.cells import Cell, Domain, domain_of, parse, typed_cell
from tests.oracle.population import Figures, figures
from tests.runs import fill, policy, published, run, source
from tests.selection import some

TYPES = {"age": "INTEGER", "zip": "VARCHAR", "sex": "VARCHAR"}
KINDS = {"age": "numeric", "zip": "categorical", "sex": "categorical"}
COLUMNS: dict[str, Any] = {"age": "quasi", "zip": "quasi", "sex": "quasi", "ill": "keep"}
PREFIXED: dict[str, Any] = {
    **COLUMNS,
    "zip": {"role": "quasi", "hierarchy": {"builder": "prefix"}},
}
ZIPS = [f"{a}{b}" for a in "12" for b in "01,"]
PUBLISHED = Table("people_anonymous", "main", None)
Member = tuple[Any, ...]


def seeds(fast: int, all_of_them: int) -> list[Any]:
    slow = [pytest.param(i, marks=pytest.mark.slow) for i in range(fast, all_of_them)]
    return [*range(fast), *slow]


def people(seed: int, members: int = 45, n: int = 16) -> tuple[list[Member], list[Member]]:
    """A population, and a sample of it, so that some values are in the population only."""
    draw = random.Random(seed)
    population = [
        (draw.choice([None, *range(9)]), draw.choice(ZIPS), draw.choice(["f", "m", None]))
        for _ in range(members)
    ]
    return population, draw.sample(population, n)


def made(folder: Path, population: list[Member], rows: list[Member], **given: Any) -> Any:
    """The policy and its database, the population beside the table."""
    types = {**TYPES, "ill": "VARCHAR"}
    database = source(folder, types, [(*row, "abc"[i % 3]) for i, row in enumerate(rows)])
    with duckdb.connect(str(database), config={"threads": 1}) as connection:
        fill(connection, TYPES, population, "everybody")
    return policy(folder, given.pop("columns", COLUMNS), k=None, **given), database


def domains(rows: list[Member], prefixed: bool) -> list[Domain]:
    found = []
    for i, (name, kind) in enumerate(KINDS.items()):
        values = [row[i] for row in rows]
        paths = None
        if prefixed and name == "zip":
            paths = {value: (f"{value[0]}*", "*") for value in values}
        found.append(domain_of(values, kind, paths))
    return found


def judged(
    release: Release, population: list[Member], rows: list[Member], *, prefixed: bool = False
) -> Figures:
    typed = release.manifest.layout.cells == "typed"
    read = []
    for number, row in enumerate(published(release)):
        read.append((tuple(cell(row, name, typed) for name in KINDS), number))
    return figures(read, population, domains(rows, prefixed))


def cell(row: dict[str, Any], name: str, typed: bool) -> Cell:
    if typed and isinstance(row.get(name), str):
        # a node is written as in a text
        return parse(row[name] + (" or NULL" if row[f"{name}_nullable"] else ""), KINDS[name])
    return typed_cell(row, name, KINDS[name]) if typed else parse(row[name], KINDS[name])


def achieved(release: Release, name: str) -> Any:
    (check,) = [c for c in release.verification.checks if c.name == name]
    assert check.passed
    return check.achieved


ALGORITHMS: list[Any] = [
    {},
    pytest.param({"cells": "typed"}, marks=pytest.mark.slow),
    pytest.param({"split": "median"}, marks=pytest.mark.slow),
    {"split": "median", "strict": False},
    pytest.param({"hierarchy": True}, marks=pytest.mark.slow),
    {"hierarchy": True, "cells": "typed"},
]


@some(1, 5)
@pytest.mark.parametrize("options", ALGORITHMS)
@pytest.mark.parametrize("seed", seeds(1, 8))
def test_every_tuple_matches_k_members(tmp_path: Path, seed: int, options: dict[str, Any]) -> None:
    how = dict(options)
    prefixed, cells = how.pop("hierarchy", False), how.pop("cells", "text")
    population, rows = people(seed)
    given, database = made(
        tmp_path, population, rows,
        columns=PREFIXED if prefixed else COLUMNS,
        privacy={"k_map": {"k": 4, "population": "everybody"}},
        algorithm={"name": "mondrian", **how},
        publish={"cells": cells},
    )  # fmt: skip
    release = run(given, database)
    found = judged(release, population, rows, prefixed=prefixed)
    assert found.k_map >= 4
    assert achieved(release, "k_map") == found.k_map
    assert release.measures["classes"] > 1
    assert release.measures["rows"] == len(rows)


@some(1)
@pytest.mark.parametrize("names", [("k1", "units"), ("tuple", "body"), ("well_formed", "grp")])
def test_columns_may_be_named_as_the_judge_names_its_own(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    number, text = names
    rows = [(i % 7, "ab"[i % 2], i) for i in range(60)]
    found = []
    for first, second in (("any", "other"), (number, text)):
        types = {first: "INTEGER", second: "VARCHAR", "id": "INTEGER"}
        database = source(tmp_path, types, rows)
        with duckdb.connect(str(database)) as connection:
            fill(connection, types, rows * 2, "everybody")
        given = policy(
            tmp_path,
            {first: "quasi", second: "quasi", "id": "drop"},
            k=None,
            privacy={"k_map": {"k": 15, "population": "everybody"}},
            algorithm={"name": "mondrian"},
        )
        release = run(given, database)
        found.append(achieved(release, "k_map"))
    assert found[0] == found[1] >= 15


@some(2, 3)
@pytest.mark.parametrize("prefixed", [False, True])
@pytest.mark.parametrize("seed", seeds(1, 12))
def test_presence_stays_within_its_bounds(tmp_path: Path, seed: int, prefixed: bool) -> None:
    population, rows = people(seed)
    bounds = {"min": 0 if seed % 2 else 0.2, "max": 0.6}
    given, database = made(
        tmp_path, population, rows,
        columns=PREFIXED if prefixed else COLUMNS,
        privacy={"delta_presence": {**bounds, "population": "everybody"}},
    )  # fmt: skip
    # where the sample lacks the ends of a range, the whole table leaves members out
    everybody = {name: {row[i] for row in population} for i, name in enumerate(TYPES)}
    present = {name: {row[i] for row in rows} for i, name in enumerate(TYPES)}
    try:
        release = run(given, database)
    except InfeasibleError:
        assert bounds["min"] > 0
        assert everybody != present
        return
    found = judged(release, population, rows, prefixed=prefixed)
    assert found.most is not None
    assert found.most <= Fraction("0.6")
    assert bounds["min"] == 0 or (found.unmatched == 0 and found.least >= Fraction("0.2"))
    figure = achieved(release, "delta_presence")
    assert figure["max"] == pytest.approx(float(found.most), rel=1e-12)
    assert figure["min"] == pytest.approx(float(found.least), rel=1e-12)
    assert bounds["min"] > 0 or release.measures["classes"] > 1


@some(2, 3)
@pytest.mark.parametrize("prefixed", [False, True])
@pytest.mark.parametrize("seed", seeds(1, 8))
def test_the_verifier_finds_what_does_not_hold(tmp_path: Path, seed: int, prefixed: bool) -> None:
    """A release that was made without any population, judged with one that it is no sample of."""
    _, rows = people(seed)
    population = [*people(seed + 100)[0], (4, "99", "f"), (-5, "10", "x"), (99, "11", "m")]
    given, database = made(
        tmp_path, population, rows,
        columns=PREFIXED if prefixed else COLUMNS,
        privacy={"k_anonymity": 3},
    )  # fmt: skip
    release = run(given, database)
    found = judged(release, population, rows, prefixed=prefixed)
    with duckdb.connect(str(release.database), config={"threads": 1}) as connection:
        columns = {name: f"p{i}" for i, name in enumerate(TYPES, start=1)}
        listed = ", ".join(f"{name} as {p}" for name, p in columns.items())
        fill(connection, TYPES, population, "everybody")
        connection.execute(
            f"create table members as select {listed}, count(*) as members"
            " from everybody group by all"
        )
        nodes = {}
        if prefixed:
            pairs = {(row[1], label) for row in rows for label in (row[1], f"{row[1][0]}*")}
            fill(connection, {"value": "VARCHAR", "label": "VARCHAR"}, sorted(pairs), "nodes")
            nodes = {"zip": Table("nodes", "main", None)}
        members = Members(Table("members", "main", None), columns, nodes)

        def ask(name: str, **parameters: Any) -> Any:
            verification = verify_release(
                lambda text: connection.execute(text).fetchall(),
                PUBLISHED,
                release.manifest.layout,
                [Requirement(name, None, parameters)],
                members,
            )
            (check,) = [c for c in verification.checks if c.name == name]
            assert check.failing == len(connection.execute(check.sql).fetchall())
            assert check.passed == (check.failing == 0)
            return check

        for k in (found.k_map, found.k_map + 1):
            check = ask("k_map", k=k)
            assert (check.achieved, check.passed) == (found.k_map, found.k_map >= k)
        check = ask("delta_presence", min=0, max=0.5)
        most = float("inf") if found.most is None else float(found.most)
        assert check.achieved == {"min": pytest.approx(float(found.least)), "max": most}
        assert check.passed == (found.most is not None and found.most <= Fraction(1, 2))
        assert found.unmatched > 0
        check = ask("delta_presence", min=1e-9, max=1)
        assert (check.passed, check.achieved["min"]) == (False, 0)


def test_both_models_and_k_hold_together_for_persons(tmp_path: Path) -> None:
    population, _ = people(7, members=40)
    # every second member is in the table, with two rows each
    rows = [(i, *member) for i, member in enumerate(population) if i % 2 for _ in range(2)]
    types = {"id": "INTEGER", **TYPES}
    database = source(tmp_path, types, rows)
    with duckdb.connect(str(database)) as connection:
        fill(connection, types, [(i, *m) for i, m in enumerate(population)] * 3, "everybody")
    columns = {"id": "drop", **dict.fromkeys(TYPES, "quasi")}
    where = {"population": "everybody"}
    privacy = {
        "k_anonymity": 2,
        "k_map": {"k": 5, **where},
        "delta_presence": {"min": 0, "max": 0.7, **where},
    }
    given = policy(tmp_path, columns, k=None, privacy=privacy, person="id")
    release = run(given, database)
    read = [
        (tuple(parse(row[name], kind) for name, kind in KINDS.items()), row["person_id"])
        for row in published(release)
    ]
    bare = [row[1:] for row in rows]
    found = figures(read, population, domains(bare, False))
    assert achieved(release, "k_map") == found.k_map >= 5
    assert achieved(release, "delta_presence")["max"] == pytest.approx(float(found.most or 9))
    assert found.most is not None
    assert found.most <= Fraction("0.7")
    assert achieved(release, "k_anonymity") >= 2


def test_what_the_whole_table_cannot_hold_is_refused(tmp_path: Path) -> None:
    population, rows = people(1)
    few, database = made(
        tmp_path, rows[:5], rows, privacy={"k_map": {"k": 6, "population": "everybody"}}
    )
    with pytest.raises(InfeasibleError, match="k_map does not hold even for the whole table") as e:
        run(few, database)
    assert "match 5 of 5 members" in str(e.value)
    assert not (tmp_path / "release.duckdb").exists()
    presence = {"min": 0.5, "max": 1, "population": "everybody"}
    rare, database = made(tmp_path, population, rows, privacy={"delta_presence": presence})
    with pytest.raises(InfeasibleError, match="delta_presence"):
        run(rare, database)
    presence = {"min": 0, "max": 0.6, "population": "everybody"}
    likely, database = made(tmp_path, rows, rows, privacy={"delta_presence": presence})
    with pytest.raises(InfeasibleError) as e:
        run(likely, database)
    over = len(rows) - len(rows) * 3 // 5
    assert f"or leave {over:,} units or more out in source.query" in str(e.value)


def test_a_release_that_fails_is_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict is the verifier's: a partition that cuts too far ends with exit code 1."""
    from anonymizer.algorithms import mondrian

    population, rows = people(2)
    given, database = made(
        tmp_path, population, rows, privacy={"k_map": {"k": 9, "population": "everybody"}}
    )
    monkeypatch.setattr(mondrian, "population_rules", lambda *_: None)
    with pytest.raises(GuaranteeError, match="k_map requires 9, the release reaches"):
        run(given, database)
    assert not (tmp_path / "release.duckdb").exists()


@pytest.mark.slow
def test_who_has_the_population_verifies_again(tmp_path: Path) -> None:
    population, rows = people(3)
    given, database = made(
        tmp_path, population, rows,
        privacy={"k_anonymity": 2, "k_map": {"k": 4, "population": "everybody.parquet"}},
    )  # fmt: skip
    file = tmp_path / "everybody.parquet"
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"copy everybody to '{file}'")
    release = run(given, database)
    again = anonymizer.verify(given)
    assert again.passed
    assert again.not_checked == ()
    assert achieved(release, "k_map") in [c.achieved for c in again.checks if c.name == "k_map"]
    # without it nothing is claimed of it
    alone = anonymizer.verify(None, tmp_path / "release.duckdb")
    assert [c.name for c in alone.checks if c.name == "k_map"] == []
    assert [(n.name, "population" in n.reason) for n in alone.not_checked] == [("k_map", True)]
    assert alone.as_dict()["not_checked"][0]["name"] == "k_map"
    file.unlink()
    gone = anonymizer.verify(given)
    assert [n.reason for n in gone.not_checked] == [
        "needs the population, and there is no file everybody.parquet"
    ]
    assert [c["sql"] for c in release.manifest.data["verification"]["checks"]
            if c["name"] == "k_map"] == [None]  # fmt: skip


def test_a_release_with_nothing_else_cannot_be_verified_alone(tmp_path: Path) -> None:
    population, rows = people(4)
    given, database = made(
        tmp_path, population, rows, privacy={"k_map": {"k": 4, "population": "everybody"}}
    )
    run(given, database)
    with pytest.raises(NothingToCheckError, match="k_map"):
        anonymizer.verify(given)


@pytest.mark.slow
def test_a_recipient_names_the_file_of_the_population(tmp_path: Path) -> None:
    population, rows = people(4)
    given, database = made(
        tmp_path, population, rows, privacy={"k_map": {"k": 4, "population": "everybody"}}
    )
    run(given, database)
    file = tmp_path / "people.parquet"
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"copy everybody to '{file}'")
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps(given.to_dict()))

    def verify(*more: str) -> int:
        with pytest.raises(SystemExit) as ended:
            main(["verify", str(policy), *more])
        return int(ended.value.code or 0)

    assert verify() == 2
    assert verify("--population", str(file)) == 0
    assert verify("--population", str(tmp_path / "nowhere.parquet")) == 2
    assert verify("--population", str(policy.with_suffix(".duckdb"))) == 2
    with duckdb.connect() as connection:  # a smaller population: fewer members fit
        connection.execute(f"copy (from '{file}' limit 3) to '{tmp_path}/few.parquet'")
    assert verify("--population", str(tmp_path / "few.parquet")) == 1
    policy.write_text(json.dumps({**given.to_dict(), "privacy": {"k_anonymity": 2}}))
    assert verify("--population", str(file)) == 2


def test_nodes_are_not_judged_without_their_hierarchy(tmp_path: Path) -> None:
    population, rows = people(5)
    given, database = made(
        tmp_path, population, rows, columns=PREFIXED,
        privacy={"k_anonymity": 2, "k_map": {"k": 3, "population": "everybody.csv"}},
    )  # fmt: skip
    file = tmp_path / "everybody.csv"
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"copy (select * from everybody) to '{file}' (header)")
    # in this CSV zip looks like text because of the commas in it
    run(given, database)
    assert "hierarchies" in anonymizer.verify(given).not_checked[0].reason


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"privacy": {"k_map": {"k": 3, "population": "nobody"}}}, SourceError, "population"),
        ({"privacy": {"k_map": {"k": 3, "population": "no.csv"}}}, SourceError, "no file no.csv"),
        ({"privacy": {"k_map": {"k": 3, "population": "other"}}}, SourceError, "zip as INTEGER"),
        ({"privacy": {"k_map": {"k": 3, "population": "other"}}}, SourceError, "no column sex"),
        (
            {
                "privacy": {
                    "k_map": {"k": 3, "population": "everybody"},
                    "delta_presence": {"min": 0, "max": 1, "population": "other"},
                }
            },
            PolicyError,
            "differs from privacy.k_map.population",
        ),
        (
            {
                "privacy": {"k_anonymity": 3, "k_map": {"k": 3, "population": "everybody"}},
                "algorithm": {"name": "lgb", "generalization": "mdp"},
            },
            PolicyError,
            "not a model that the algorithm lgb works towards",
        ),
    ],
)
def test_refusals(
    tmp_path: Path, change: dict[str, Any], error: type[Exception], says: str
) -> None:
    population, rows = people(6)
    given, database = made(tmp_path, population, rows, **change)
    with duckdb.connect(str(database)) as connection:
        fill(connection, {"age": "BIGINT", "zip": "INTEGER"}, [(1, 2)], "other")
    with pytest.raises(error, match=says):
        run(given, database)


def test_a_population_of_a_republished_table_is_refused(tmp_path: Path) -> None:
    k_map = {"k_map": {"k": 3, "population": "everybody"}}
    later = policy(
        tmp_path, {"id": "drop", **COLUMNS}, k=None, privacy={"k_anonymity": 2, **k_map},
        person="id", ledger="ledger.duckdb", republish={"append_only": True},
    )  # fmt: skip
    with pytest.raises(PolicyError, match="k_map: is not available with republish"):
        refuse_unsupported(later)


def test_merged_rows_of_a_person_are_judged_by_the_cells_that_cover_them(tmp_path: Path) -> None:
    population, rows = people(9)
    types = {"id": "INTEGER", **TYPES}
    owned = [(i // 2, *row) for i, row in enumerate(rows)]
    database = source(tmp_path, types, owned)
    with duckdb.connect(str(database)) as connection:
        fill(connection, TYPES, population, "everybody")
    given = policy(
        tmp_path, {"id": "drop", **dict.fromkeys(TYPES, "quasi")}, k=None, person="id",
        merge_person_rows=True, privacy={"k_map": {"k": 4, "population": "everybody"}},
    )  # fmt: skip
    release = run(given, database)
    assert achieved(release, "k_map") == judged(release, population, rows).k_map >= 4
    assert release.measures["classes"] > 1


def test_what_was_not_checked_is_said_in_the_lines_of_verify() -> None:
    left = (NotChecked("k_map", "needs the population"),)
    check = Check("distinct_l", "ill", 2, 2, True, "select 1")
    lines = list(block_lines(*Verification(True, (check,), left).blocks()))
    assert lines[-1].strip() == "NOT CHECKED: k_map needs the population"
    with pytest.raises(GuaranteeError, match="cannot be judged"):
        refuse_unless_passed(Verification(True, (check,), left))
