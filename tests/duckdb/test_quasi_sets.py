"""Alternative sets of quasi-identifiers: each holds by itself, and nothing is said of all."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.algorithms.lattice import packing
from anonymizer.commands.output import Output
from anonymizer.commands.plan import _lines
from anonymizer.commands.verify import judge_independently
from anonymizer.compile import Table
from anonymizer.contract.checks import verification
from anonymizer.contract.layout import Layout, PublishedColumn, Requirement
from anonymizer.engines.capabilities import refuse
from anonymizer.errors import AnonymizerError, GuaranteeError, NothingToCheckError, PolicyError
from anonymizer.privacy.of_policy.promises import unanswered
from anonymizer.publish.export import export
from anonymizer.review.diff.comparison import compare
from anonymizer.review.lattice import lattice_table
from anonymizer.review.preview import preview
from anonymizer.run.scripts import script
from anonymizer.verification.fast.release import WorkTables, fast_release
from anonymizer.verification.questions import ask_all
from anonymizer.verification.verify import verify_release
from tests.forging import seal_again
from tests.runs import policy, published, run, source
from tests.selection import rounds, some

pytestmark = pytest.mark.usefixtures("fine_figures")

VALUES: dict[str, list[str | None]] = {
    "a": ["11", "12", "21", "22", "31", None],
    "b": ["x1", "x2", "y1", "y3"],
    "c": ["p1", "p2", "q1"],
}
ILLS = ["flu", "cold", "gout", None]
TYPES = {**dict.fromkeys(VALUES, "VARCHAR"), "ill": "VARCHAR", "id": "INTEGER"}
Row = tuple[Any, ...]
Holds = Callable[[Sequence[Any]], bool]


def given(folder: Path, sets: Sequence[Sequence[str]] | None, k: int = 2, **rest: Any) -> Policy:
    tree = {"role": "quasi", "hierarchy": {"builder": "prefix"}}
    ill: dict[str, Any] = {"role": "sensitive", **rest.pop("ill", {})}
    columns = {
        **dict.fromkeys(VALUES, tree),
        "ill": ill,
        "id": {"role": "keep", "acknowledge_unique": True},
    }
    privacy = {"quasi_sets": [list(s) for s in sets]} if sets else {}
    privacy |= rest.pop("privacy", {})
    rest = {"algorithm": {"name": "full_domain"}, **rest}
    return policy(folder, columns, k, privacy=privacy, **rest)


def drawn(draw: random.Random, rows: int) -> list[Row]:
    nulls = draw.random() < 0.3
    return [
        (
            *(draw.choice([v for v in VALUES[c] if v is not None or nulls]) for c in "abc"),
            draw.choice(ILLS),
            number,
        )
        for number in range(rows)
    ]


def shown(value: str | None, level: int) -> str | None:
    """The node of a value at a level; NULL is apart below the root."""
    if level == 2:
        return "*"
    return None if value is None else value[: 2 - level]


def cell_loss(values: Sequence[Any], value: Any, level: int) -> Fraction:
    if level == 2:
        return Fraction(1)
    if value is None:
        return Fraction(0)
    below = {v for v in values if v is not None and v[: 2 - level] == value[: 2 - level]}
    size = len(set(values))
    if level and below == {v for v in values if v is not None}:
        return Fraction(1)
    return Fraction(len(below), size) if len(below) > 1 else Fraction(0)


def left(
    rows: Sequence[Row], levels: Sequence[int], sets: Sequence[Sequence[str]], holds: Holds
) -> list[Row]:
    """The rows that remain when those in a failing class of any set are taken out, and again."""
    kept = list(rows)
    while True:
        gone: set[int] = set()
        for names in sets:
            classes: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
            for row in kept:
                key = tuple(shown(row["abc".index(n)], levels["abc".index(n)]) for n in names)
                classes[key].append(row)
            for members in classes.values():
                if not holds([row[3] for row in members]):
                    gone |= {row[4] for row in members}
        if not gone:
            return kept
        kept = [row for row in kept if row[4] not in gone]


def losses(
    rows: Sequence[Row], sets: Sequence[Sequence[str]], holds: Holds, limit: float
) -> Iterator[tuple[tuple[int, ...], Fraction, int]]:
    """Every node that holds, what it loses, and how many rows it suppresses."""
    columns = [[row[j] for row in rows] for j in range(3)]
    heights = [2 if len(set(column)) > 1 or column[0] is None else 0 for column in columns]
    for levels in itertools.product(*(range(h + 1) for h in heights)):
        kept = left(rows, levels, sets, holds)
        if not kept or len(rows) - len(kept) > limit * len(rows):
            continue
        lost = sum(
            cell_loss(columns[j], row[j], levels[j]) for row in kept for j in range(3)
        ) + 3 * (len(rows) - len(kept))
        yield levels, Fraction(lost) / 3 / len(rows), len(rows) - len(kept)


def of_size(k: int) -> Holds:
    return lambda ills: len(ills) >= k


def diverse(k: int, l: int) -> Holds:
    return lambda ills: len(ills) >= k and len({v for v in ills if v is not None}) >= l


SETS = ([["a", "b"], ["c"]], [["a", "b"], ["b", "c"]], [["a"], ["b"], ["c"]])


@pytest.mark.slow
@rounds(9, 30, 60)
@pytest.mark.parametrize("rules", ["k", "l"])
def test_the_node_that_loses_least(
    tmp_path: Path, rounds: int, rules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "WORD", 4 if rules == "l" else 62)
    draw = random.Random(rules)
    better = suppressed = 0
    for turn in range(rounds):
        rows, sets = drawn(draw, draw.randint(10, 24)), SETS[turn % len(SETS)]
        k, limit = draw.choice([2, 3]), draw.choice([0, 0.15, 0.3])
        holds = of_size(k) if rules == "k" else diverse(k, 2)
        protect = {"ill": {"protect": {"l_diversity": 2}}} if rules == "l" else {}
        rest = {"suppression_limit": limit, **protect}
        database = source(tmp_path, TYPES, rows)
        expected = {levels: (lost, out) for levels, lost, out in losses(rows, sets, holds, limit)}
        if not expected:
            with pytest.raises(AnonymizerError):
                run(given(tmp_path, sets, k, **rest), database)
            continue
        release = run(given(tmp_path, sets, k, **rest), database)
        told = release.measures
        chosen = tuple(told.get(f"level.{c}", 0) for c in "abc")
        assert expected[chosen][0] == min(lost for lost, _ in expected.values()), (rows, sets)
        assert told["suppressed"] == expected[chosen][1]
        kept = left(rows, chosen, sets, holds)
        assert {row["id"] for row in published(release)} == {row[4] for row in kept}
        suppressed += told["suppressed"] > 0
        searched = {**rest, "algorithm": {"name": "full_domain", "budget": 12}}
        told = run(given(tmp_path, sets, k, **searched), database).measures
        least = float(expected[chosen][0])
        assert told["lattice_bound"] <= least + 1e-4
        assert told["lattice_loss"] >= least - 1e-4
        whole = [lost for _, lost, _ in losses(rows, [["a", "b", "c"]], holds, limit)]
        assert not whole or min(whole) >= expected[chosen][0]
        better += bool(whole) and min(whole) > expected[chosen][0]
    assert better
    assert suppressed


CLOSE = {"t_closeness": 0.5}


@pytest.mark.slow
@rounds(4, 20, 40)
def test_every_set_holds_and_is_verified(tmp_path: Path, rounds: int) -> None:
    draw = random.Random(9)
    for turn in range(rounds):
        rows, sets = drawn(draw, 60), SETS[turn % len(SETS)]
        protect: dict[str, float] = draw.choice(
            [CLOSE, {"entropy_l": 1.5}, {"alpha": 0.9}, {"l_diversity": 2}]
        )
        rule = next(iter(protect)).replace("l_diversity", "distinct_l")
        policy_ = given(
            tmp_path,
            sets,
            3,
            ill={"protect": protect},
            suppression_limit=draw.choice([0, 0.5]),
            algorithm={"name": "full_domain", **draw.choice([{}, {"budget": 15}])},
            publish={"cells": draw.choice(["text", "typed"])},
        )
        release = run(policy_, source(tmp_path, TYPES, rows))
        numbers = range(1, len(sets) + 1)
        names = {(check.name, check.column) for check in release.verification.checks}
        assert names >= {(f"k_anonymity_set_{i}", None) for i in numbers}
        assert names >= {(f"{rule}_set_{i}", "ill") for i in numbers}
        assert not names & {("k_anonymity", None), ("k_anonymity_tuples", None), (rule, "ill")}
        found = published(release)
        for i, s in enumerate(sets, 1):
            key = [n for n in found[0] if n.removesuffix("_nullable") in s]
            sizes = Counter(tuple(row[n] for n in key) for row in found)
            (check,) = [c for c in release.verification.checks if c.name == f"k_anonymity_set_{i}"]
            assert check.achieved == min(sizes.values()) >= 3
        again = anonymizer.verify(policy_, tmp_path / "release.duckdb")
        assert again.passed
        alone = anonymizer.verify(None, tmp_path / "release.duckdb", plain=True)
        assert {(c.name, c.column) for c in alone.checks} == {
            (c.name, c.column) for c in again.checks
        }


def table(connection: duckdb.DuckDBPyConnection, rows: Sequence[Row]) -> None:
    connection.execute("create table r (class_id int, a varchar, b varchar, ill varchar)")
    connection.executemany("insert into r values (?, ?, ?, ?)", rows)


def layout(*sets: tuple[str, ...]) -> Layout:
    columns = tuple(
        PublishedColumn(name, "quasi", "categorical", "VARCHAR", name=name) for name in "ab"
    )
    ill = PublishedColumn("ill", "sensitive", "categorical", "VARCHAR", name="ill")
    return Layout("full_domain", "text", (*columns, ill), sets=sets)


REQUIRED = (
    Requirement("k_anonymity", None, {"k": 2}),
    Requirement("distinct_l", "ill", {"l": 2}),
    Requirement("t_closeness", "ill", {"t": 0.5, "distance": "equal"}),
)
# by a alone and by b alone two rows are alike, by both together none
GRID = [(1, "1", "x", "flu"), (2, "1", "y", "gout"), (3, "2", "x", "gout"), (4, "2", "y", "flu")]


@pytest.mark.parametrize("fast", [False, True])
def test_every_set_is_judged_by_its_own_cells(fast: bool) -> None:
    def failed(rows: Sequence[Row], *sets: tuple[str, ...]) -> set[str]:
        with duckdb.connect() as connection:
            table(connection, rows)
            view, described = Table("r", "main"), layout(*sets)
            tables = WorkTables(Table("work_tuples"), Table("work_values"))
            ask = fast_release(view, described, tables) if fast else ask_all

            def run_sql(text: str) -> list[Row]:
                return connection.execute(text).fetchall()

            found = verify_release(run_sql, view, described, REQUIRED, ask=ask)
            return {check.name for check in found.failed}

    assert failed(GRID, ("a",), ("b",)) == set()
    assert "k_anonymity" in failed(GRID)
    assert failed(GRID, ("a", "b"), ("b",)) >= {"k_anonymity_set_1", "distinct_l_set_1"}
    alone = [*GRID, (5, "1", "z", "flu")]
    assert failed(alone, ("a",), ("b",)) == {
        "k_anonymity_set_2",
        "distinct_l_set_2",
    } | ({"t_closeness_set_2"} if "t_closeness_set_2" in failed(alone, ("a",), ("b",)) else set())
    # NULL is a cell like any other, and not one that fits all
    unknown = [(1, None, "x", "flu"), (2, "1", "x", "gout"), (3, "1", "x", "flu")]
    assert {"k_anonymity_set_1"} <= failed(unknown, ("a",), ("b",))
    assert "k_anonymity_set_2" not in failed(unknown, ("a",), ("b",))
    same = [(1, "1", "x", "flu"), (2, "1", "y", "flu"), (3, "2", "x", "flu"), (4, "2", "y", "gout")]
    assert "distinct_l_set_1" in failed(same, ("a",), ("b",))


@pytest.mark.parametrize("sets", [(("a",), ("z",)), (("a",), ())])
def test_sets_of_columns_that_are_not_there(sets: tuple[tuple[str, ...], ...]) -> None:
    with duckdb.connect() as connection:
        table(connection, GRID)
        view = Table("r", "main")
        with pytest.raises(NothingToCheckError):
            verify_release(connection.execute, view, layout(*sets), REQUIRED)  # type: ignore[arg-type]


@pytest.fixture
def made(tmp_path: Path) -> tuple[Policy, Path]:
    rows = drawn(random.Random(3), 60)
    asked = given(tmp_path, SETS[1], 3, suppression_limit=0.3)
    run(asked, source(tmp_path, TYPES, rows))
    return asked, tmp_path / "release.duckdb"


def forge(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Another manifest, under a seal that fits it."""
    with duckdb.connect(str(file)) as connection:
        (text,) = connection.execute("select manifest from people_anonymous_manifest").fetchone()  # type: ignore[misc]
        data = json.loads(text)
        change(data)
        told = json.dumps(data, indent=2, sort_keys=True)
        connection.execute("update people_anonymous_manifest set manifest = ?", [told])
    seal_again(file, "people_anonymous")


def test_other_sets_than_those_of_the_release(tmp_path: Path, made: tuple[Policy, Path]) -> None:
    asked, file = made
    assert anonymizer.verify(asked, file).passed
    for sets in (None, SETS[0], SETS[2], SETS[1][::-1]):
        with pytest.raises(GuaranteeError, match="quasi_sets"):
            anonymizer.verify(given(tmp_path, sets, 3, suppression_limit=0.3), file)

    def easier(data: dict[str, Any]) -> None:
        data["layout"]["sets"] = [["a"], ["b"], ["c"]]

    forge(file, easier)
    with pytest.raises(AnonymizerError):
        anonymizer.verify(asked, file)


def test_a_manifest_whose_sets_leave_a_column_out(made: tuple[Policy, Path]) -> None:
    _, file = made

    def fewer(data: dict[str, Any]) -> None:
        data["layout"]["sets"] = [["a"], ["b"]]

    with pytest.raises(AnonymizerError):  # nobody can seal it again, or read it
        forge(file, fewer)


def test_rows_of_which_one_set_fails(made: tuple[Policy, Path]) -> None:
    asked, file = made
    with duckdb.connect(str(file)) as connection:
        (name,) = connection.execute(  # type: ignore[misc]
            "select table_name from duckdb_tables() where table_name not like '%manifest%'"
        ).fetchone()
        connection.execute(
            f'delete from "{name}" where c = (select c from "{name}" group by c'
            f' order by count(*), c limit 1) and id > (select min(id) from "{name}" where c ='
            f' (select c from "{name}" group by c order by count(*), c limit 1))'
        )
    seal_again(file, "people_anonymous")
    for policy_ in (asked, None):
        found = anonymizer.verify(policy_, file)
        assert "k_anonymity_set_2" in {check.name for check in found.failed}


def test_a_missing_check_of_one_set_is_a_refusal(made: tuple[Policy, Path]) -> None:
    asked, file = made
    found = anonymizer.verify(asked, file)
    assert not list(unanswered(asked, found))
    left_out = [c for c in found.checks if c.name != "k_anonymity_set_2"]
    (missing,) = unanswered(asked, verification(tuple(left_out)))
    assert missing == ("privacy.k_anonymity", "k_anonymity_set_2")
    for path, names in unanswered(given(file.parent, None, 3), found):
        assert (path, names) == ("privacy.k_anonymity", "k_anonymity")


def test_what_is_told_of_sets(tmp_path: Path, made: tuple[Policy, Path]) -> None:
    asked, file = made
    with duckdb.connect(str(file), read_only=True) as connection:
        (text,) = connection.execute("select manifest from people_anonymous_manifest").fetchone()  # type: ignore[misc]
    told = json.loads(text)
    assert told["layout"]["sets"] == SETS[1]
    assert "set 1 (a, b); set 2 (b, c)" in told["certificate"]
    assert "none who knows columns of several" in told["certificate"]
    assert told["known_attacks"][0].startswith("several sets:")
    found = preview(asked, str(tmp_path / "source.duckdb"))
    assert [one["columns"] for one in found.as_dict()["sets"]] == SETS[1]
    assert found.current is None
    assert any("set 2 (b, c): in the source k = " in line for line in _lines(asked, found))


def test_an_export_names_the_sets(tmp_path: Path, made: tuple[Policy, Path]) -> None:
    asked, _ = made
    export(asked, tmp_path / "out.parquet")
    (beside,) = tmp_path.glob("out*.json")
    assert json.loads(beside.read_text())["layout"]["sets"] == SETS[1]


VERBS: dict[str, Callable[[Policy, Path, Path], Any]] = {
    "report": lambda asked, db, to: anonymizer.report(asked, to / "r.html", source=db),
    "attack": lambda asked, db, _: anonymizer.attack(asked, db),
    "sweep": lambda asked, db, _: anonymizer.sweep(asked, db, vary=["k=2,3"]),
    "assess": lambda asked, db, _: anonymizer.assess(asked, db),
    "lattice": lambda asked, db, _: lattice_table(asked, str(db)),
    "diff": lambda asked, db, _: compare(asked, asked, str(db)),
}


@some(3)
@pytest.mark.parametrize("verb", VERBS)
def test_verbs_that_know_no_sets_refuse(
    tmp_path: Path, made: tuple[Policy, Path], verb: str
) -> None:
    with pytest.raises(PolicyError, match="takes all quasi-identifiers as known together"):
        VERBS[verb](made[0], tmp_path / "source.duckdb", tmp_path)


def test_the_independent_reader_refuses(made: tuple[Policy, Path]) -> None:
    asked, file = made
    with pytest.raises(NothingToCheckError, match="has a field that this reader does not know"):
        judge_independently(Output(), asked, str(file), None, origin="policy", state=None)


@pytest.mark.slow
def test_the_script_judges_every_set(tmp_path: Path, made: tuple[Policy, Path]) -> None:
    _, text = script(made[0], tmp_path / "source.duckdb", None)
    assert "-- check k_anonymity_set_1: judged" in text
    assert "-- check k_anonymity_set_2: judged" in text
    assert "-- check k_anonymity: " not in text


def said(folder: Path, sets: Any, **rest: Any) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        given(folder, None, privacy={"quasi_sets": sets}, **rest)
    return [str(one) for one in caught.value.problems]


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ([["a", "b", "c"]], "privacy.quasi_sets: names fewer than two sets"),
        ([], "privacy.quasi_sets: names fewer than two sets"),
        ([["a", "b"], ["c"], []], "privacy.quasi_sets.2: names no column"),
        ([["a", "b"], ["c", "c"]], "privacy.quasi_sets.1: names a column twice"),
        ([["a", "b"], ["c", "d"]], "privacy.quasi_sets.1: names d, which is no column"),
        ([["a", "b"], ["c", "ill"]], "privacy.quasi_sets.1: names ill, which is no column"),
        ([["a", "b", "c"], ["c"]], "privacy.quasi_sets.1: has no column that"),
        ([["a", "b", "c"], ["c", "b", "a"]], "privacy.quasi_sets.1: has no column that"),
        ([["a"], ["b"]], "columns.c.role: is quasi and in no set of privacy.quasi_sets"),
        ("a, b", "privacy.quasi_sets: must be a list"),
        (["a", "b"], "privacy.quasi_sets.0: must be a list"),
    ],
)
def test_sets_that_are_refused(tmp_path: Path, sets: Any, expected: str) -> None:
    found = said(tmp_path, sets)
    assert [one for one in found if one.startswith(expected)], found


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        *(
            ({"algorithm": {"name": name}}, f"privacy.quasi_sets: is not offered with {name}")
            for name in ("mondrian", "lgb", "privacyfrost")
        ),
        (
            {"algorithm": {"name": "full_domain", "optimum": "dcp"}},
            "algorithm.optimum: measures the classes of all columns together",
        ),
        ({"person": "id"}, "privacy.quasi_sets: is not offered together with person"),
        ({"ledger": "private.duckdb"}, "privacy.quasi_sets: is not offered together with ledger"),
        (
            {"republish": {"append_only": True}, "ledger": "x.duckdb", "key": "id"},
            "privacy.quasi_sets: is not offered together with republish",
        ),
    ],
)
def test_what_takes_no_sets(tmp_path: Path, rest: dict[str, Any], expected: str) -> None:
    found = said(tmp_path, [["a", "b"], ["c"]], **rest)
    assert [one for one in found if one.startswith(expected)], found


@pytest.mark.parametrize("engine", ["postgres", "spark"])
def test_other_engines_refuse_sets(tmp_path: Path, engine: str) -> None:
    asked = given(tmp_path, [["a", "b"], ["c"]])
    with pytest.raises(PolicyError, match=r"privacy.quasi_sets"):
        refuse(asked, engine)
