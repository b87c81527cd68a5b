"""Sums over persons: what is shown, what is left out because one contribution dominates it."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.contract.counts_layout import CountedColumn, CountedMeasure, Counts
from anonymizer.errors import PolicyError, SourceError
from anonymizer.independent import judge
from anonymizer.run.verify import verify
from anonymizer.verification.counts_intervals import interval_checks
from tests.aggregate.releases import copied, failed, policy, published
from tests.selection import rounds

ALL, OTHER = "(all)", "(other)"
BY: dict[str, Any] = {"r": {}, "c": {}}
COLUMNS = "r varchar, c varchar, person varchar, hospital varchar, cost {type}"
MEASURES: dict[str, Any] = {
    "patients": {"count": "persons"},
    "visits": {"count": "rows"},
    "cost": {"sum": "cost", "nonnegative": True},
    "mean": {"ratio": ["cost", "visits"]},
}
P: dict[str, Any] = {"dominance": {"p": 10}}
NK: dict[str, Any] = {"dominance": {"n": 2, "k": 60}}
OPTIONS: tuple[dict[str, Any], ...] = (
    P,
    NK,
    {**P, "contributor": "hospital"},
    {"dominance": {"n": 1, "k": 40}, "contributor": "hospital"},
)
Row = tuple[str, str, str, str, Any]
Rows = Sequence[Row]


def draw(seed: int, persons: int = 260) -> list[Row]:
    """Persons with visits, some groups of which one visit dominates."""
    rng = random.Random(seed)
    found: list[Row] = []
    for i in range(persons):
        place = (f"r{rng.randrange(3)}", f"c{rng.randrange(3)}")
        for _ in range(rng.choice([1, 1, 2, 5])):
            cost: int | None = rng.choice([1, 2, 10, 100])
            if place == ("r1", "c2"):
                cost = 90_000 if rng.random() < 0.02 else 1
            if rng.random() < 0.1:
                cost = None
            found.append((*place, f"p{i}", f"h{rng.randrange(9)}", cost))
    return found


def is_dominated(contributions: Iterable[int], rule: Mapping[str, float]) -> bool:
    """The definition of both rules, exactly."""
    sizes = sorted(map(abs, contributions), reverse=True)
    if "p" in rule:
        return sum(sizes[2:]) * 100 < Fraction(rule["p"]) * (sizes[0] if sizes else 0)
    return sum(sizes[: int(rule["n"])]) * 100 > Fraction(rule["k"]) * sum(sizes)


def totals(rows: Iterable[Row], who: int) -> dict[str, dict[str, int]]:
    """By measure: what everybody contributes."""
    found: dict[str, dict[str, int]] = {"visits": defaultdict(int), "cost": defaultdict(int)}
    for row in rows:
        found["visits"][row[who]] += 1
        found["cost"][row[who]] += row[4] or 0
    return found


def cells(release: Any) -> dict[tuple[str, str], dict[str, Any]]:
    with duckdb.connect(str(release.database), read_only=True) as con:
        found = con.sql(f"from {release.view}")
        return {
            row[:2]: dict(zip(found.columns[2:], row[2:], strict=True)) for row in found.fetchall()
        }


def made(folder: Path, rows: Rows, kind: str = "integer", **options: Any) -> Any:
    aggregate = {"measures": MEASURES, **options.pop("aggregate", {})}
    given = {"person": "person", "aggregate": aggregate, **options}
    return published(folder, rows, COLUMNS.format(type=kind), BY, **given)


@rounds(6, 60, 400)
def test_sums_by_the_definition(tmp_path: Path, rounds: int) -> None:
    """Totals are true, nothing that is shown is dominated, all that is left out has a cause."""
    for seed in range(rounds):
        protect = OPTIONS[seed % len(OPTIONS)]
        rows = draw(seed)
        release = made(tmp_path, rows, protect=protect)
        found = cells(release)
        who = 3 if "contributor" in protect else 2
        under: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in rows:
            under[row[:2]].append(row)
        rule = protect["dominance"]
        wrong = {
            place
            for place, some in under.items()
            if len({row[2] for row in some}) < 5
            or any(is_dominated(by.values(), rule) for by in totals(some, who).values())
        }
        shown = {place for place in under if found.get(place, {}).get("status") == "shown"}
        assert not wrong & shown
        further = [len({row[2] for row in under[place]}) for place in {*under} - shown - wrong]
        assert len(further) <= 1
        for place, figures in found.items():
            if place == (OTHER, OTHER):
                some = [row for at in {*under} - shown for row in under[at]]
            else:
                some = [
                    row
                    for at in shown
                    if all(a in (ALL, b) for a, b in zip(place, at, strict=True))
                    for row in under[at]
                ]
            assert figures["patients"] == len({row[2] for row in some})
            for measure, by in totals(some, who).items():
                if is_dominated(by.values(), rule):
                    assert place == (OTHER, OTHER)
                    assert figures[measure] is None
                else:
                    assert figures[measure] == sum(by.values())
            if figures["cost"] is not None and figures["visits"]:
                assert figures["mean"] == pytest.approx(float(figures["cost"]) / figures["visits"])
            else:
                assert figures["mean"] is None
        assert verify(None, tmp_path / "release.duckdb").passed
        assert judge(tmp_path / "release.duckdb").passed


def test_what_one_person_dominates_is_left_out(tmp_path: Path) -> None:
    rows: list[Row] = [("r1", "c1", f"p{i}", "h", 10) for i in range(9)]
    rows += [("r2", "c1", f"q{i}", "h", 10_000 if i == 0 else 1) for i in range(9)]
    rows += [("r2", "c2", f"s{i}", "h", 7) for i in range(9)]
    release = made(tmp_path, rows, protect=P)
    found = cells(release)
    assert ("r2", "c1") not in found
    assert found[ALL, ALL]["cost"] == 9 * 17
    other = found[OTHER, OTHER]
    assert (other["patients"], other["visits"]) == (9, 9)
    assert other["cost"] is None
    assert other["mean"] is None
    said = release.manifest.data["certificate"]
    assert "at least 10 % of the largest" in said


def test_one_contributor_alone(tmp_path: Path) -> None:
    """Nine patients of one hospital are enough persons, and one contribution."""
    rows: list[Row] = [("r1", "c1", f"p{i}", "h1", 10) for i in range(9)]
    rows += [("r2", "c2", f"q{i}", f"h{i}", 10) for i in range(9)]
    found = cells(made(tmp_path, rows, protect={**P, "contributor": "hospital"}))
    assert ("r1", "c1") not in found
    assert found["r2", "c2"]["cost"] == 90


def test_signs_do_not_cancel(tmp_path: Path) -> None:
    """A sum near zero of large contributions is judged by their sizes."""
    rows: list[Row] = [("r1", "c1", f"p{i}", "h", 10 * (-1) ** i) for i in range(10)]
    rows += [("r2", "c2", "q0", "h", -500), *(("r2", "c2", f"q{i}", "h", 1) for i in range(1, 10))]
    aggregate = {"measures": {**MEASURES, "cost": {"sum": "cost"}}}
    found = cells(made(tmp_path, rows, protect=P, aggregate=aggregate))
    assert found["r1", "c1"]["cost"] == 0
    assert ("r2", "c2") not in found


@pytest.mark.parametrize(
    "kind", ["double", "float", "decimal(12,2)", "bigint", "utinyint", "hugeint"]
)
def test_types(tmp_path: Path, kind: str) -> None:
    whole = "int" in kind
    rows: list[Row] = [
        ("r1", "c1", f"p{i}", "h", None if i == 3 else 3 if whole else "0.25") for i in range(9)
    ]
    release = made(tmp_path, rows, kind, protect=P)
    assert float(cells(release)["r1", "c1"]["cost"]) == (24 if whole else 2)
    given = policy(tmp_path, BY, person="person", aggregate={"measures": MEASURES}, protect=P)
    assert verify(given, tmp_path / "release.duckdb").passed


@pytest.mark.parametrize(
    ("kind", "value", "path", "said"),
    [
        ("double", "nan", "aggregate.measures.cost.sum", "1 value is too large, or no number"),
        ("double", "inf", "aggregate.measures.cost.sum", "1 value is too large, or no number"),
        ("double", "-1e30", "aggregate.measures.cost.sum", "1 value is too large, or no number"),
        ("integer", "-3", "aggregate.measures.cost.nonnegative", "1 value is negative"),
        ("varchar", "3", "aggregate.measures.cost.sum", "which has no sum"),
        ("date", "2024-01-01", "aggregate.measures.cost.sum", "which has no sum"),
    ],
)
def test_values_without_a_sum(tmp_path: Path, kind: str, value: str, path: str, said: str) -> None:
    rows: list[Row] = [("r1", "c1", f"p{i}", "h", value) for i in range(1)]
    rows += [("r1", "c1", f"q{i}", "h", None) for i in range(9)]
    with pytest.raises(SourceError) as raised:
        made(tmp_path, rows, kind, protect=P)
    (problem,) = raised.value.problems
    assert problem.path == path
    assert said in problem.message


def test_rows_without_a_contributor(tmp_path: Path) -> None:
    rows: list[Any] = [("r1", "c1", f"p{i}", None if i == 2 else "h", 1) for i in range(9)]
    with pytest.raises(SourceError, match=r"protect.contributor: 1 row has no contributor"):
        made(tmp_path, rows, protect={**P, "contributor": "hospital"})


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    measures = {**MEASURES, "cost": {"sum": "costs", "nonnegative": True}}
    with pytest.raises(SourceError) as raised:
        made(
            tmp_path,
            draw(1),
            protect={**P, "contributor": "hospitl"},
            aggregate={"measures": measures},
        )
    assert {problem.path for problem in raised.value.problems} == {
        "aggregate.measures.cost.sum",
        "protect.contributor",
    }


def test_signs_and_contributors(tmp_path: Path) -> None:
    measures = {**MEASURES, "cost": {"sum": "cost"}}
    with pytest.raises(PolicyError, match="may be negative, and what one contributes"):
        policy(
            tmp_path,
            BY,
            person="person",
            aggregate={"measures": measures},
            protect={**P, "contributor": "hospital"},
        )


CHANGES = {
    "update t set cost = cost + 1 where r = 'r0' and c = 'c0'": "additive",
    "update t set mean = mean + 1 where r = 'r0' and c = 'c0'": "cell_form",
    "update t set cost = null, mean = null where r = 'r0' and c = 'c0'": "cell_form",
    "update t set cost = -cost, mean = -mean": "cell_form",
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_sums_are_found(tmp_path: Path, change: str) -> None:
    release = made(tmp_path, draw(3), protect=P)
    con = copied(release)
    assert not failed(release, con)
    con.execute(change)
    assert CHANGES[change] in failed(release, con)


@rounds(4, 30, 200)
def test_no_group_has_nearly_one_value(tmp_path: Path, rounds: int) -> None:
    """Of all that is published, at every level, one value is at most that of the stated share."""
    for seed in range(rounds):
        rng = random.Random(seed)
        rows = [
            (
                f"r{rng.randrange(4)}",
                f"c{min(rng.randrange(9), rng.randrange(9)) // 2}",
                f"p{i}",
                "h",
                5,
            )
            for i in range(200)
        ]
        limits = {"c": 0.5, "r": 0.6} if seed % 2 else {"c": 0.4}
        release = made(tmp_path, rows, protect={**P, "groups": limits}, minimum=3)
        found = {place: one for place, one in cells(release).items() if one["status"] == "shown"}
        for name, share in limits.items():
            at = "rc".index(name)
            groups: dict[str, list[int]] = defaultdict(list)
            for place, figures in found.items():
                if place[at] != ALL:
                    groups[place[1 - at]].append(figures["patients"])
            for counts in groups.values():
                assert max(counts) <= share * sum(counts)
        assert verify(None, tmp_path / "release.duckdb").passed
        assert judge(tmp_path / "release.duckdb").passed


def test_a_group_of_one_value_is_left_out(tmp_path: Path) -> None:
    rows = [("r1", "c1", f"p{i}", "h", 1) for i in range(30)]
    rows += [("r2", f"c{i % 3}", f"q{i}", "h", 1) for i in range(30)]
    release = made(tmp_path, rows, protect={**P, "groups": {"c": 0.95}})
    found = cells(release)
    assert not any(place[0] == "r1" for place in found)
    assert found[OTHER, OTHER]["patients"] == 30
    assert "more than 95% of them" in release.manifest.data["certificate"]
    con = copied(release)
    con.execute("insert into t select 'r1', 'c1', 30, 30, 30, 1, 'shown'")
    assert "groups_share" in failed(release, con)


def test_groups_need_the_finest(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"protect.groups: needs the finest groups"):
        policy(tmp_path, BY, aggregate={"margins": [["r"]]}, protect={"groups": {"c": 0.9}})


def needed(contributions: Iterable[int], rule: Mapping[str, float]) -> Fraction:
    """How much larger a sum has to be able to be."""
    sizes = sorted(map(abs, contributions), reverse=True)
    if "p" in rule:
        return Fraction(rule["p"]) / 100 * sum(sizes[:1]) - sum(sizes[2:])
    return 100 / Fraction(rule["k"]) * sum(sizes[: int(rule["n"])]) - sum(sizes)


def largest(
    found: Mapping[Any, Mapping[str, Any]],
    measure: str,
    cell: tuple[str, str],
    known: Mapping[Any, float],
) -> float:
    """The largest sum of a cell in all tables that agree with a release and with what is known."""
    from scipy.optimize import linprog

    atoms = [place for place in found if ALL not in place]
    rows, right = [], []
    for place, figures in found.items():
        value = figures[measure] if figures["status"] == "shown" else known.get(place)
        if value is not None:
            rows.append([float(_within(atom, place)) for atom in atoms])
            right.append(float(value))
    goal = [-float(_within(atom, cell)) for atom in atoms]
    solved = linprog(goal, A_eq=rows or None, b_eq=right or None, method="highs")
    return float("inf") if solved.status == 3 else -solved.fun


def _within(atom: tuple[str, str], place: tuple[str, str]) -> bool:
    return all(a in (ALL, b) for a, b in zip(place, atom, strict=True))


def sparse(seed: int) -> list[Row]:
    """Persons of whom few have costs, some very large: many groups are dominated."""
    rng = random.Random(seed)
    found: list[Row] = []
    for i in range(300):
        place = (f"r{rng.randrange(4)}", f"c{rng.randrange(4)}")
        cost = rng.choice([0, 0, 0, 0, 0, 1, 3, 5, 200]) * 10
        found.append((*place, f"p{i}", f"h{rng.randrange(40)}", cost))
    return found


@rounds(4, 40, 300)
def test_hidden_sums_stay_open(tmp_path: Path, rounds: int) -> None:
    """By a program of its own: no contribution can be estimated, by insiders neither."""
    hidden = 0
    for seed in range(rounds):
        protect = {**OPTIONS[seed % len(OPTIONS)], "insiders": seed % 3 > 0}
        rows = sparse(seed)
        found = cells(made(tmp_path, rows, protect=protect, method="suppress"))
        who = 3 if "contributor" in protect else 2
        inside = {
            place: totals((row for row in rows if _within(row[:2], place)), who)["cost"]
            for place in found
        }
        alone = {
            place: float(sum(by.values()))
            for place, by in inside.items()
            if sum(n > 0 for n in by.values()) == 1 and found[place]["status"] == "hidden"
        }
        for place, by in inside.items():
            need = needed(by.values(), protect["dominance"])
            if need > 0:
                hidden += 1
                assert found[place]["status"] == "hidden"
                wanted = float(sum(by.values()) + need) * (1 - 1e-6)
                assert largest(found, "cost", place, {}) >= wanted
                for other, value in alone.items() if protect["insiders"] else ():
                    most = max(inside[other], key=inside[other].__getitem__)
                    if most != max(by, key=by.__getitem__):
                        assert largest(found, "cost", place, {other: value}) >= wanted
    assert hidden


def test_a_sum_published_again_is_found() -> None:
    """Of four hidden sums one shows all others."""
    counts = Counts(
        (CountedColumn("r", 1), CountedColumn("c", 1)),
        ((0, 0), (0, 1), (1, 0), (1, 1)),
        (CountedMeasure("n", "persons"), CountedMeasure("cost", "sum")),
        "status",
    )
    table = {("a", "x"): 100, ("a", "y"): 40, ("b", "x"): 50, ("b", "y"): 30}

    def judged(shown: set[tuple[str, str]], insiders: bool = False) -> list[int]:
        rows: list[tuple[Any, ...]] = []
        for place in itertools.product(("a", "b", ALL), ("x", "y", ALL)):
            total = sum(n for at, n in table.items() if _within(at, place))
            need = 20 if place == ("a", "x") else -1
            levels = [int(label == ALL) for label in place]
            told = ALL in place or place in shown
            rows.append(
                (
                    place[0],
                    levels[0],
                    place[1],
                    levels[1],
                    told,
                    total,
                    need,
                    place == ("b", "y"),
                    len(rows),
                )
            )
        checks = interval_checks(rows, counts, [True], "select", insiders=insiders)
        return [check.failing for check in checks]

    assert judged(set()) == [0]
    assert judged(set(), insiders=True) == [0, 1]  # who is alone in b, y knows 30, and so all
    assert judged({("b", "y")}) == [1]
    assert judged({*table}) == [1]


def test_who_is_alone_knows_a_sum(tmp_path: Path) -> None:
    """Of a square of hidden sums the one who is alone in a corner can compute the other three."""
    rows: list[Row] = [
        (f"r{i}", f"c{j}", f"p{i}{j}{n}", "h", 10)
        for i, j, n in itertools.product(range(4), range(4), range(20))
    ]
    rows = [row for row in rows if row[:2] not in (("r1", "c1"), ("r2", "c2"))]
    rows += [("r1", "c1", f"q{n}", "h", 300 if n == 0 else 1) for n in range(20)]
    rows += [("r2", "c2", f"s{n}", "h", 200 if n == 0 else 0) for n in range(20)]
    open_to = []
    for insiders in (False, True):
        protect = {**P, "insiders": insiders}
        found = cells(made(tmp_path, rows, protect=protect, method="suppress"))
        open_to.append(largest(found, "cost", ("r1", "c1"), {("r2", "c2"): 200.0}))
    assert open_to[0] == pytest.approx(319)
    assert open_to[1] >= 319 + 30 - 18 - 1e-3


@pytest.mark.parametrize("method", ["rest", "suppress", "round"])
def test_a_rule_for_sums_that_are_not_there(tmp_path: Path, method: str) -> None:
    """A rule for every sum holds of none, and asks for no check."""
    more: dict[str, Any] = {"rest": {"limit": 1.0}} if method == "rest" else {}
    measures: dict[str, Any] = {"patients": {"count": "persons"}}
    release = made(
        tmp_path,
        draw(2),
        protect={} if method == "round" else {**P, "insiders": True},
        method=method,
        aggregate={"measures": measures},
        **more,
    )
    assert release.verification.passed
    assert {item.name for item in release.manifest.requirements} == {"minimum"}
