"""Two releases laid side by side, against an attacker in plain Python who reads both."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer import Policy
from anonymizer.cli import main
from anonymizer.cli.attack import document
from anonymizer.errors import PolicyError
from anonymizer.process.document import terminal
from anonymizer.review.attack import Attack, attack
from anonymizer.review.report.page import attack_sentences
from tests import runs
from tests.oracle import cells
from tests.selection import some

K, L = 4, 2
KINDS = {"age": "numeric", "town": "categorical"}
TYPES = {"person": "integer", "age": "integer", "town": "varchar", "disease": "varchar"}
COLUMNS: dict[str, Any] = {
    "person": "drop",
    "age": "quasi",
    "town": "quasi",
    "disease": {"role": "sensitive", "protect": {"l_diversity": L}},
}


@dataclass(frozen=True)
class Both:
    """A table and two releases of it."""

    folder: Path
    policy: Policy
    before: Policy
    source: Path
    rows: runs.Rows
    releases: tuple[runs.Rows, runs.Rows]

    def attack(self) -> Attack:
        return attack(self.policy, self.source, share=1.0, earlier=self.folder / "earlier.duckdb")


def two(
    folder: Path,
    persons: bool,
    again: dict[str, Any],
    before: dict[str, Any] = COLUMNS,
    after: dict[str, Any] = COLUMNS,
) -> Both:
    draw = random.Random(6)
    rows = []
    for person in range(120):
        age, town = draw.randint(20, 70), draw.choice("abcd")
        disease = draw.choice(["flu", "cold", "gout", "hiv", None])
        for _ in range(draw.randint(1, 3) if persons else 1):
            rows.append((person, age, town, disease))
    source = runs.source(folder, TYPES, rows)
    more = {"person": "person"} if persons else {}
    first = runs.policy(folder, before, K, **more)
    earlier = runs.published(runs.run(first, source))
    (folder / "release.duckdb").rename(folder / "earlier.duckdb")
    second = runs.policy(folder, after, K, **more, **again)
    now = runs.published(runs.run(second, source, seed=2))
    with duckdb.connect(str(source), read_only=True) as connection:
        table = runs.fetch(connection, "from people")
    return Both(folder, second, first, source, table, (earlier, now))


OTHER = {"algorithm": {"name": "mondrian", "split": "median"}}


@pytest.mark.slow
@some(1)
@pytest.mark.parametrize("persons", [False, True])
def test_what_both_leave_is_what_a_naive_attacker_finds(tmp_path: Path, persons: bool) -> None:
    both = two(tmp_path, persons, OTHER)
    judge_against_naive(both, persons)
    assert both.attack().intersection[0].below_k > 0


REVERSED = {name: COLUMNS[name] for name in reversed(COLUMNS)}
WITHOUT_AGE = COLUMNS | {"age": "drop"}
AGE_IS_SECRET = COLUMNS | {"age": {"role": "sensitive"}}


@pytest.mark.slow
@some(1)
@pytest.mark.parametrize(
    ("before", "now"),
    [
        pytest.param(REVERSED, COLUMNS, id="other order"),
        pytest.param(WITHOUT_AGE, COLUMNS, id="fewer columns"),
        pytest.param(AGE_IS_SECRET, COLUMNS, id="sensitive before"),
        pytest.param(COLUMNS, AGE_IS_SECRET, id="quasi before"),
    ],
)
def test_columns_of_both_are_told_apart_by_name(
    tmp_path: Path, before: dict[str, Any], now: dict[str, Any]
) -> None:
    judge_against_naive(two(tmp_path, False, OTHER, before, now), False)


@pytest.mark.slow
def test_releases_that_have_no_quasi_identifier_in_common_are_refused(tmp_path: Path) -> None:
    town_is_secret = COLUMNS | {"town": {"role": "sensitive"}}
    both = two(tmp_path, False, OTHER, AGE_IS_SECRET, town_is_secret)
    with pytest.raises(PolicyError, match="no quasi-identifier in common"):
        both.attack()


def judge_against_naive(both: Both, persons: bool) -> None:
    (found,) = (x for x in both.attack().intersection if x.column == "disease")
    known = [c for c in KINDS if both.policy.columns[c].role == "quasi"]
    common = [c for c in known if both.before.columns[c].role == "quasi"]
    domains = {c: cells.domain_of([r[c] for r in both.rows], KINDS[c]) for c in KINDS}

    def bearers(release: runs.Rows, columns: list[str], target: dict[str, Any]) -> Counter[Any]:
        """By value: the rows, or persons, that could be the target's."""
        held = {
            (row["disease"], row["person_id"] if persons else number)
            for number, row in enumerate(release)
            if all(
                cells.covers(cells.parse(row[c], KINDS[c]), target[c], domains[c])
                for c in known
                if c in row and not any(c in r and isinstance(r[c], int) for r in release)
            )
        }
        return Counter(value for value, _ in held)

    exposed, below_l, below_k, fewest = set(), set(), set(), []
    for number, target in enumerate(both.rows):
        earlier, now = (
            bearers(*release, target)
            for release in zip(both.releases, (common, known), strict=True)
        )
        shared = earlier & now
        left = {value for value in shared if value is not None}
        who = target["person"] if persons else number
        if target["disease"] not in left:
            continue
        fewest.append(shared.total())
        if len(left) == 1 and len([v for v in now if v is not None]) > 1:
            exposed.add(who)
        if len(left) < L:
            below_l.add(who)
        if shared.total() < K:
            below_k.add(who)
    assert (found.exposed, found.below_l) == (len(exposed), len(below_l))
    assert (found.fewest_left, found.below_k) == (min(fewest), len(below_k))
    assert (found.k, found.l) == (K, L)
    assert found.holds == (not below_k and not below_l)
    assert found.targets == len({r["person"] for r in both.rows} if persons else both.rows)


@pytest.mark.slow
def test_nothing_in_common_is_no_reassurance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = two(tmp_path, False, {}, COLUMNS | {"disease": "drop"})
    found = both.attack()
    assert found.holds
    assert found.uncompared
    text = "\n".join(terminal(document(found)))
    assert "nothing was compared with the earlier release" in text
    assert not any("Beside the earlier release nobody" in said for said in attack_sentences(found))


@pytest.mark.slow
def test_the_same_release_twice_tells_no_more(tmp_path: Path) -> None:
    both = two(tmp_path, False, {})
    found = attack(both.policy, both.source, share=1.0, earlier=tmp_path / "release.duckdb")
    assert found.holds
    assert found.together() == []
    assert all(x.fewest_left is not None and x.fewest_left >= K for x in found.intersection)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["text", "json"])
def test_nothing_reassures_where_somebody_is_exposed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    both = two(tmp_path, False, OTHER)
    (tmp_path / "policy.yml").write_text(
        json.dumps(both.policy.model_dump(mode="json", by_alias=True, exclude_unset=True))
    )
    with pytest.raises(SystemExit) as ended:
        main([
            "attack", str(tmp_path / "policy.yml"), "--database", str(both.source),
            "--earlier", str(tmp_path / "earlier.duckdb"), "--share", "1", "--format", form,
        ])  # fmt: skip
    said = capsys.readouterr()
    assert ended.value.code == 1
    assert "with the earlier release a promise does not hold" in said.err
    (found,) = both.attack().intersection
    if form == "json":
        assert json.loads(said.out)["intersection"][0]["holds"] is False
        return
    assert "no promised bound was passed" not in said.out
    assert f"{found.below_k:,} of {found.targets:,} rows are among fewer than {K}" in said.out
    assert said.out.splitlines()[-1] == "A PROMISED BOUND WAS PASSED"


@pytest.mark.slow
def test_a_report_beside_an_earlier_release_blames_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = two(tmp_path, False, OTHER)
    (tmp_path / "policy.yml").write_text(
        json.dumps(both.policy.model_dump(mode="json", by_alias=True, exclude_unset=True))
    )
    with pytest.raises(SystemExit) as ended:
        main([
            "report", str(tmp_path / "policy.yml"), "--source", str(both.source), "--format", "md",
            "--earlier", str(tmp_path / "earlier.duckdb"),
        ])  # fmt: skip
    assert ended.value.code == 1
    said = capsys.readouterr()
    assert "release: does not hold beside the earlier release" in said.err
    assert "This release does not hold beside the earlier one" in said.out


@pytest.mark.slow
@pytest.mark.parametrize("m", [None, 3])
def test_releases_that_continue_an_earlier_one_keep_their_promises(
    tmp_path: Path, m: int | None
) -> None:
    """Classes that only grow keep k together, and m-invariant ones l: no false alarm."""
    draw = random.Random(5)
    rows = [
        (i, draw.randint(20, 70), draw.choice("abcd"), draw.choice(["flu", "cold", "gout", "hiv"]))
        for i in range(200)
    ]
    disease: dict[str, Any] = {"role": "sensitive"}
    more: dict[str, Any] = {"append_only": True}
    if m is not None:
        disease, more = {**disease, "protect": {"l_diversity": m}}, {"m": m}
    given = runs.policy(
        tmp_path, {**COLUMNS, "disease": disease}, K if m is None else None, key="person",
        ledger="ledger.duckdb", republish=more,
    )  # fmt: skip
    source = runs.source(tmp_path, TYPES, rows[:160])
    runs.run(given, source, seed=None)
    (tmp_path / "earlier.duckdb").write_bytes((tmp_path / "release.duckdb").read_bytes())
    source.unlink()
    runs.run(given, runs.source(tmp_path, TYPES, rows), seed=None)
    # somebody new may look as if he were in both; the ledger knows who is
    found = attack(given, source, share=1.0, earlier=tmp_path / "earlier.duckdb")
    assert found.holds
    assert [guess.bound for guess in found.inference] == [None if m is None else 1 / m]
    (item,) = found.intersection
    assert found.of_both
    assert item.targets == 160
    (tmp_path / "ledger.duckdb.key").unlink()
    assert not attack(given, source, share=1.0, earlier=tmp_path / "earlier.duckdb").of_both
    assert (item.k, item.l) == ((K, None) if m is None else (None, m))
    assert item.fewest_left is not None
    assert item.fewest_left >= (item.k or 1)


@pytest.mark.parametrize("role", ["sensitive", pytest.param("keep", marks=pytest.mark.slow)])
def test_who_left_and_who_joined_is_the_difference(tmp_path: Path, role: str) -> None:
    """Stable classes, two who leave and one who joins, against a count in plain Python."""
    rows = [
        (i, 20 + i % 6, "ab"[i % 2], ["flu", "cold", "gout", "hiv"][i // 6 % 4]) for i in range(120)
    ]
    columns = COLUMNS if role == "sensitive" else COLUMNS | {"disease": "keep"}
    given = runs.policy(tmp_path, columns, K)
    releases = []
    for name, table in (("earlier", rows), ("now", [*rows[2:], (999, 20, "a", "rare")])):
        (tmp_path / name).mkdir()
        source = runs.source(tmp_path / name, TYPES, table)
        releases.append(runs.published(runs.run(given, source, seed=2)))
        (tmp_path / f"{name}.duckdb").write_bytes((tmp_path / "release.duckdb").read_bytes())
    before, now = (Counter((r["age"], r["town"], r["disease"]) for r in one) for one in releases)
    found = attack(given, source, share=1.0, earlier=tmp_path / "earlier.duckdb")
    assert found.differences is not None
    gone, come = (before - now).total(), (now - before).total()
    assert (found.differences.gone, found.differences.come) == (gone, come) == (2, 1)
    assert (found.differences.below_k, found.differences.fewest) == (3, 1)
    assert found.differences.below_l == ({"disease": 3} if role == "sensitive" else {})
    assert not found.holds
    assert not found.uncompared
    assert attack(given, source, earlier=tmp_path / "now.duckdb").holds
    assert "among fewer than 4" in "\n".join(terminal(document(found)))
