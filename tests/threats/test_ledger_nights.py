"""Thirty nights of Adult: what following the table costs, and what the whole series tells."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import duckdb
import pytest

from anonymizer import Policy
from anonymizer.release.published import Release
from tests.runs import policy, run
from tests.selection import exhaustive
from tests.threats.population import digests

K, L = 5, 3
BEGIN, NIGHTS, JOIN, LEAVE = 20_000, 30, 200, 2
QI5 = ("age", "sex", "race", "marital_status", "education")
# (occupation is the sensitive column, so that another column is the ninth)
QI9 = (*QI5, "native_country", "workclass", "income", "relationship")
Classes = dict[int, int]
"""Person to class, of those who are in a release."""


def released_as(folder: Path, quasi: Sequence[str], **more: Any) -> Policy:
    columns: dict[str, Any] = {"id": "identifier", **dict.fromkeys(quasi, "quasi")}
    columns["occupation"] = {"role": "sensitive", "protect": {"l_diversity": L}}
    return policy(folder, columns, k=K, key="id", suppression_limit=0.5, **more)


def write(source: Path, adult: Path, rows: Sequence[int], quasi: Sequence[str]) -> None:
    source.unlink(missing_ok=True)
    with duckdb.connect(str(source)) as connection:
        connection.execute("create table chosen as select unnest($1) as id", [list(rows)])
        connection.execute(
            "create table people as"
            f" select id, {', '.join(quasi)}, occupation"
            f" from (select row_number() over () - 1 as id, * from '{adult}')"
            " semi join chosen using (id) order by id"
        )
        connection.execute("drop table chosen")


def classes_in(folder: Path, of: Mapping[int, int]) -> Classes:
    """The class of everybody in the newest release; `of`: person by digest."""
    with duckdb.connect(str(folder / "private.duckdb"), read_only=True) as connection:
        found = connection.execute(
            "select person, class_id from anonymizer_ledger.members"
            " where release = (select max(release) from anonymizer_ledger.releases)"
        ).fetchall()
    return {of[digest]: number for digest, number in found}


def loss_of_rows(release: Release, quasi: Sequence[str]) -> float:
    """NCP of a cell of the published rows; those that wait or are left out do not count."""
    return fmean(release.measures[f"ncp.{column}"] for column in quasi)


def judge(releases: Sequence[Classes], values: Sequence[str]) -> None:
    """Who is missing in some release could swap with k - 1 others, and everybody else has k
    candidates and l values left in all releases together."""
    histories: dict[tuple[int | None, ...], list[int]] = defaultdict(list)
    for one in set().union(*releases):
        histories[tuple(release.get(one) for release in releases)].append(one)
    members: list[dict[int, set[int]]] = []
    for release in releases:
        members.append(defaultdict(set))
        for one, number in release.items():
            members[-1][number].add(one)
    for history, persons in histories.items():
        if None in history:
            assert len(persons) >= K, history
            assert len({values[one] for one in persons}) >= L, history
        theirs = [of[c] for of, c in zip(members, history, strict=True) if c is not None]
        assert len(set.intersection(*theirs)) >= K
        assert len(set.intersection(*({values[one] for one in of} for of in theirs))) >= L


@exhaustive
@pytest.mark.parametrize("wait", [1, 7])
@pytest.mark.parametrize("quasi", [QI5, QI9], ids=["QI5", "QI9"])
def test_thirty_nights(tmp_path: Path, data_folder: Path, quasi: Sequence[str], wait: int) -> None:
    """The figures of docs/ledger.md are printed: `-s` shows them."""
    adult, source = data_folder / "adult_complete.parquet", tmp_path / "source.duckdb"
    with duckdb.connect() as connection:
        values = [v for (v,) in connection.execute(f"select occupation from '{adult}'").fetchall()]
    draw = random.Random(1)
    outside = draw.sample(range(len(values)), len(values))
    inside, outside = outside[:BEGIN], outside[BEGIN:]
    (tmp_path / "fresh").mkdir()
    fresh = released_as(tmp_path / "fresh", quasi)
    republish = {"follow": True, "wait": wait}
    follows = released_as(tmp_path, quasi, ledger="private.duckdb", republish=republish)
    releases: list[Classes] = []
    of: dict[int, int] = {}
    withdrawn: list[float] = []
    for night in range(NIGHTS + 1):
        if night:
            draw.shuffle(inside)
            inside = inside[LEAVE:] + outside[:JOIN]
            outside = outside[JOIN:]
        write(source, adult, sorted(inside), quasi)
        release = run(follows, source, seed=night)
        of = of or digests(tmp_path, dict.fromkeys(range(len(values)), (0, 0, "")))
        releases.append(classes_in(tmp_path, of))
        assert len(releases[-1]) == release.measures["rows"]
        if night:
            gone = releases[-2].keys() - releases[-1].keys()
            withdrawn.append(len(gone) / len(releases[-2]))
        if night in (10, 20, NIGHTS):
            own = loss_of_rows(release, quasi)
            anew = loss_of_rows(run(fresh, source, seed=night), quasi)
            print(
                f"{len(quasi)} columns, wait {wait}, night {night}:"
                f" withdrawn {fmean(withdrawn):.3%} a night (most {max(withdrawn):.3%}),"
                f" loss {own:.4f} beside {anew:.4f} ({own / anew:.2f} times),"
                f" {len(inside) - len(releases[-1])} of {len(inside)} rows wait or are left out",
                flush=True,
            )
    judge(releases, values)
    assert fmean(withdrawn) < 0.002
