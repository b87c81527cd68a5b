"""Several tables of counts of the same persons, and tables of counts beside rows: the ledger."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

from anonymizer.errors import AnonymizerError, EngineError, GuaranteeError
from anonymizer.ledger import counts
from anonymizer.ledger.session import forget_release, listed, spends
from anonymizer.policy import Policy
from anonymizer.publish.duckdb.file import FileTarget
from anonymizer.release.published import Release
from anonymizer.run import verbs
from tests.aggregate.enumeration import covers
from tests.aggregate.releases import WORKED, cells, grid, policy, published
from tests.selection import rounds, some

PERSONS = "id integer, r varchar, c varchar"
METHODS: dict[str, dict[str, Any]] = {
    "rest": {},
    "suppress": {"method": "suppress", "suppress": {"cost": "persons"}},
}
Person = tuple[int, str, str]


def people(counts: Iterable[Iterable[int]] = WORKED, first: int = 0) -> list[Person]:
    return [(number, *row) for number, row in enumerate(grid(counts), first)]


def release(folder: Path, rows: Iterable[Person], by: Any = ("r", "c"), **options: Any) -> Release:
    options = {"person": "id", "ledger": "ledger.duckdb", **options}
    return published(folder, rows, PERSONS, list(by), **options)


def refused(folder: Path, rows: Iterable[Person], by: Any = ("r", "c"), **options: Any) -> str:
    with pytest.raises(AnonymizerError) as raised:
        release(folder, rows, by, **options)
    return " ".join(problem.message for problem in raised.value.problems)


@pytest.mark.parametrize("method", METHODS)
def test_what_is_compared(tmp_path: Path, method: str) -> None:
    """Unchanged data may be published again; not what differs by a few persons who have gone."""
    rows, options = people(), METHODS[method]
    release(tmp_path, rows, **options)
    release(tmp_path, rows, **options)
    said = refused(tmp_path, rows[1:], **options)
    assert "fewer than 5 persons, who have all come or all gone" in said
    assert "19" not in said  # (the figure of r1, c1 that remains)
    # 5 of the first group have gone, and that is enough
    release(tmp_path, rows[5:], **options)
    assert "fewer than 5" in refused(tmp_path, rows[4:], **options)
    assert [(one.state, one.persons) for one in listed(tmp_path / "ledger.duckdb")] == [
        ("published", 292),
        ("published", 292),
        ("published", 287),
    ]


def test_who_moves(tmp_path: Path) -> None:
    """As many persons come as go: no figure changes, and 1 to all may have done so."""
    rows = people()
    release(tmp_path, rows)
    release(tmp_path, [(1000, *rows[0][1:]), *rows[1:]])
    # one person moves from one group to another: that is the difference of both
    assert "fewer than 5" in refused(tmp_path, [(0, "r1", "c2"), *rows[1:]])


def test_other_groups(tmp_path: Path) -> None:
    """True totals beside those that are short, in another table with other columns."""
    rows = people()
    release(tmp_path, rows)
    other = {"publish": {"name": "other", "database": str(tmp_path / "other.duckdb")}}
    said = "fewer than 5 persons"
    assert said in refused(tmp_path, rows, ["r"], **other)
    forget_release(tmp_path / "ledger.duckdb", listed(tmp_path / "ledger.duckdb")[0].run_id)
    release(tmp_path, rows, ["r"], **other)
    assert said in refused(tmp_path, rows)
    release(tmp_path, rows, **METHODS["suppress"])


def test_all_releases_together(tmp_path: Path) -> None:
    """Three sums of two groups of 3 each: two of them leave the groups open, all three do not."""
    kinds = [("y", "n", "y")] * 3 + [("y", "y", "n")] * 3 + [("n", "y", "y")] * 3
    rows = [(number, *kind) for number, kind in enumerate(kinds + [("n", "n", "n")] * 40)]
    columns = "id integer, a varchar, b varchar, c varchar"
    options: dict[str, Any] = {"person": "id", "ledger": "ledger.duckdb"}
    for by in ("a", "b", "a"):
        published(tmp_path, rows, columns, [by], **options)
    with pytest.raises(GuaranteeError, match="it may show that 3 groups have fewer than 5 persons"):
        published(tmp_path, rows, columns, ["c"], **options)


def of_noise(folder: Path, by: Any) -> Any:
    """A policy of counts with noise, without a person."""
    place = {"name": "noisy", "database": str(folder / "noisy.duckdb")}
    spent = {"method": "dp", "dp": {"epsilon": 1, "budget": 2}, "ledger": "ledger.duckdb"}
    return policy(
        folder, by, None, publish=place, aggregate={"measures": {"n": {"count": "rows"}}}, **spent
    )


def test_noise_beside_figures(tmp_path: Path) -> None:
    """Counts with noise spend of a budget; they are in no comparison, and remember nobody."""
    pytest.importorskip("opendp")
    rows, source = people(), tmp_path / "source.duckdb"
    noisy = of_noise(tmp_path, {"r": {"domain": [f"r{n}" for n in range(1, 5)]}})
    release(tmp_path, rows)
    verbs.run(noisy, source)
    release(tmp_path, rows)
    assert "fewer than 5 persons, who have all come or all gone" in refused(tmp_path, rows[1:])
    verbs.run(noisy, source)
    with pytest.raises(GuaranteeError, match="0 is left of the ledger's budget"):
        verbs.run(noisy, source)
    ledger = tmp_path / "ledger.duckdb"
    found = [(one.persons, one.minimum, one.is_counts) for one in listed(ledger)]
    assert found == [(292, 5, True), (0, None, True), (292, 5, True), (0, None, True)]
    assert spends(ledger) == {2: 1.0, 4: 1.0}
    forget_release(ledger, listed(ledger)[1].run_id)
    verbs.run(noisy, source)


def test_the_larger_minimum_counts(tmp_path: Path) -> None:
    rows = people()
    release(tmp_path, rows, minimum=5)
    assert "fewer than 8" in refused(tmp_path, rows[6:], minimum=8, rest={"limit": 1.0})


@pytest.mark.slow
def test_adult(tmp_path: Path, data_folder: Path) -> None:
    """60 of 30,162 persons are others, and 62 of 225 figures differ by 1 to 4."""
    with duckdb.connect(str(tmp_path / "source.duckdb")) as con:
        con.execute(
            "create table adult as select row_number() over () as id, occupation, sex, race"
            f" from '{data_folder}/adult_complete.parquet'"
        )
    given = policy(
        tmp_path, ["occupation", "sex", "race"], person="id", ledger="ledger.duckdb"
    ).to_dict()

    def run(kept: str) -> None:
        changed = {**given, "source": {"query": f"select * from adult where {kept}"}}
        made: Any = Policy.model_validate(changed, context={"base": tmp_path})
        verbs.run(made, tmp_path / "source.duckdb")

    run("id > 60")
    run("id > 60")
    with pytest.raises(GuaranteeError, match="differ from there by fewer than 5 persons"):
        run("id <= 30102")
    run("id > 60")


# The proof.


def test_a_wrong_proof_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that the search gives are not believed."""
    rows, options = people(), METHODS["suppress"]
    release(tmp_path, rows, **options)
    right = counts.tables_of_classes
    for change in (
        lambda found: [],
        lambda found: found[1:],
        lambda found: [*found, found[0]],
        lambda found: [(t, c, 0 if at == 0 else n) for at, (t, c, n) in enumerate(found)],
        lambda found: [(t, c, n + 1) for t, c, n in found],
    ):

        def wrong(*given: Any, change: Any = change) -> Any:
            found, unproven = right(*given)
            assert found
            return change(found), unproven

        monkeypatch.setattr(counts, "tables_of_classes", wrong)
        assert "no table of whole numbers proves" in refused(tmp_path, rows, **options)
    monkeypatch.setattr(counts, "tables_of_classes", right)
    release(tmp_path, rows, **options)


def test_without_a_solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra."""
    rows = people()
    release(tmp_path, rows, **METHODS["suppress"])
    monkeypatch.setitem(sys.modules, "highspy._core", None)
    with pytest.raises(EngineError, match="highspy is missing") as raised:
        release(tmp_path, rows, ["r"])
    assert raised.value.problems[0].path == "ledger"
    assert "sql-anonymizer[aggregate]" in str(raised.value.problems[0].hint)


def test_too_many_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, options = people(), METHODS["suppress"]
    release(tmp_path, rows, **options)
    monkeypatch.setattr(counts, "MOST_CLASSES", 3)
    assert "different sets of figures" in refused(tmp_path, rows, **options)


# The entry of a table of counts.


def test_persons_are_recognized(tmp_path: Path) -> None:
    rows = people()
    assert "is needed for a ledger" in refused(
        tmp_path,
        rows,
        person=None,
        aggregate={"measures": {"patients": {"count": "rows"}}},
    )
    assert listed(tmp_path / "ledger.duckdb") == ()
    release(tmp_path, rows)
    said = refused(tmp_path, [(row[0] + 10_000, *row[1:]) for row in rows])
    assert "recognizes 0 of the 292 persons" in said
    with pytest.raises(EngineError, match="finds persons by"):
        published(
            tmp_path,
            [(f"{row[0]}", *row[1:]) for row in rows],
            PERSONS.replace("integer", "varchar"),
            ["r", "c"],
            person="id",
            ledger="ledger.duckdb",
        )


def test_nothing_is_recorded_of_what_is_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = people()
    release(tmp_path, rows)
    before = listed(tmp_path / "ledger.duckdb")

    def full(*_: Any, **__: Any) -> None:
        raise EngineError.at("publish.database", "the disk is full")

    monkeypatch.setattr(FileTarget, "publish", full)
    assert "full" in refused(tmp_path, rows)
    assert listed(tmp_path / "ledger.duckdb") == before


CHANGES = {
    "another group": "update {0}.counted_persons set atom = atom + 1"
    " where person = (select min(person) from {0}.counted_persons)",
    "persons exchanged": "update {0}.counted_persons set person = person + 1",
    "fewer persons": "delete from {0}.counted_persons where atom = (select min(atom)"
    " from {0}.counted_cells)",
    "fewer cells": "delete from {0}.counted_cells where cell = (select min(cell)"
    " from {0}.counted_cells)",
    "a figure that was hidden": "update {0}.counted_cells set kind = 0 where kind = 1",
    "a smaller minimum": "update {0}.releases set minimum = 2",
    "other columns": "update {0}.releases set grouped = ['r']",
    "rows instead": "update {0}.releases set grouped = null",
}


@some(3)
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_ledger_is_refused(tmp_path: Path, change: str) -> None:
    rows = people()
    release(tmp_path, rows)
    with duckdb.connect(str(tmp_path / "ledger.duckdb")) as con:
        con.execute(CHANGES[change].format("anonymizer_ledger"))
    assert "is damaged" in refused(tmp_path, rows)


def test_the_ledger_has_no_label(tmp_path: Path) -> None:
    rows = [(number, f"QXMARK{r}", f"QXMARK{c}") for number, r, c in people()]
    release(tmp_path, rows)
    assert b"QXMARK" not in (tmp_path / "ledger.duckdb").read_bytes()
    assert b"QXMARK" in (tmp_path / "release.duckdb").read_bytes()


@some(4)
@pytest.mark.parametrize("options", [*METHODS.values(), {"rest": {"list_hidden": True}}])
@pytest.mark.parametrize("margins", ["all", [["r"], ["r", "c", "age"]]])
def test_the_ledger_has_every_figure(tmp_path: Path, options: dict[str, Any], margins: Any) -> None:
    """Counted from what it stores of persons and cells, also with levels and groups of NULL."""
    (tmp_path / "regions.csv").write_text("r1;north;*\nr2;north;*\nr3;south;*\nr4;south;*\n")
    rows = [
        (n, r if n % 17 else None, "other" if n % 13 == 0 else c, n % 70) for n, r, c in people()
    ]
    rows = [row for row in rows for _ in range(1 + row[0] % 2)]
    by = {
        "r": {"hierarchy": "regions.csv"},
        "c": {},
        "age": {"bands": [[0, 18, 65], [0, 65]]},
    }
    found = published(
        tmp_path,
        rows,
        PERSONS + ", age integer",
        by,
        minimum=3,
        person="id",
        ledger="ledger.duckdb",
        aggregate={"margins": margins},
        **options,
    )
    with duckdb.connect(str(tmp_path / "ledger.duckdb"), read_only=True) as con:
        counted = con.execute(
            "select count(*) as persons from anonymizer_ledger.counted_persons as p"
            " join anonymizer_ledger.counted_cells as c using (atom) where kind > 0 group by c.cell"
            " order by all"
        ).fetchall()
        hidden = con.execute(
            "select count(distinct cell) from anonymizer_ledger.counted_cells where kind = 0"
        ).fetchone()
    figures = found.df()["patients"]
    assert [n for (n,) in counted] == sorted(figures.dropna().astype(int))
    assert hidden == (figures.isna().sum(),)


# Beside rows of the same persons.

COLUMNS: dict[str, Any] = {
    "id": {"role": "identifier"},
    "age": {"role": "quasi"},
    "region": {"role": "quasi"},
    "ill": {"role": "sensitive", "protect": {"l_diversity": 2}},
    "sex": {"role": "keep"},
}


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "source.duckdb")) as con:
        con.execute(
            "create table t as select i as id, 20 + (i * 7) % 40 as age,"
            " 'abc'[1 + i % 3] as region, ['flu', 'cold'][1 + i % 2] as ill,"
            " 'xy'[1 + (i // 3) % 2] as sex from range(200) r(i)"
        )
    return tmp_path


def of_rows(folder: Path, **changes: Any) -> Any:
    given = {
        "version": 1,
        "source": {"table": "t"},
        "key": "id",
        "ledger": "ledger.duckdb",
        "columns": COLUMNS,
        "privacy": {"k_anonymity": 5},
        "publish": {"name": "released", "database": "rows.duckdb"},
        **changes,
    }
    return Policy.model_validate(given, context={"base": folder})


def of_counts(folder: Path, *by: str, **options: Any) -> Any:
    return policy(folder, list(by), **{"person": "id", "ledger": "ledger.duckdb", **options})


def problems(made: Any, database: Path) -> dict[str, str]:
    try:
        verbs.run(made, database)
    except AnonymizerError as error:
        return {problem.path: problem.message for problem in error.problems}
    return {}


def test_counts_after_rows(clinic: Path) -> None:
    """What the rows generalize or protect is not counted; what they show, and drop, is."""
    source = clinic / "source.duckdb"
    assert not problems(of_rows(clinic, columns=COLUMNS | {"age": {"role": "drop"}}), source)
    bands = {"age": {"bands": [0, 40]}}
    assert not problems(policy(clinic, bands, person="id", ledger="ledger.duckdb"), source)
    assert not problems(of_counts(clinic, "sex"), source)
    found = problems(of_counts(clinic, "sex", "region", "ill"), source)
    assert {*found} == {"aggregate.by.region", "aggregate.by.ill"}
    assert "is generalized or protected" in found["aggregate.by.region"]
    with duckdb.connect(str(source)) as con:
        con.execute("update t set id = id + 1000")
    others = {"publish": {"name": "others", "database": str(clinic / "others.duckdb")}}
    assert not problems(of_counts(clinic, "region", **others), source)


def test_rows_after_counts(clinic: Path) -> None:
    source = clinic / "source.duckdb"
    assert not problems(of_counts(clinic, "region"), source)
    found = problems(of_rows(clinic), source)
    assert {*found} == {"columns.region"}
    assert "has its true values in the table of counts main.counts" in found["columns.region"]
    # without a key it is not known whether the persons are the same
    found = problems(of_rows(clinic, key=None), source)
    assert "finds persons by the content of their rows" in found["ledger"]
    assert not problems(of_rows(clinic, columns=COLUMNS | {"region": {"role": "drop"}}), source)
    # series of rows are compared as if there were no counts
    assert not problems(of_rows(clinic, columns=COLUMNS | {"region": {"role": "drop"}}), source)


def test_noise_beside_rows(clinic: Path) -> None:
    """It narrows nothing that rows leave open, and rows do not stop it."""
    pytest.importorskip("opendp")
    source, noisy = clinic / "source.duckdb", of_noise(clinic, {"region": {"domain": [*"abc"]}})
    for made in (noisy, of_rows(clinic), noisy, of_rows(clinic)):
        assert not problems(made, source)


def test_counts_of_the_released_rows(clinic: Path) -> None:
    """They say nothing that the rows do not; a copy of the rows is not known to be the release."""
    assert not problems(of_rows(clinic), clinic / "source.duckdb")
    rows = {"measures": {"patients": {"count": "rows"}}}
    options: dict[str, Any] = {"person": None, "aggregate": rows}
    released = {**options, "source": {"table": "released"}}
    assert not problems(of_counts(clinic, "region", **released), clinic / "rows.duckdb")
    assert not problems(of_counts(clinic, "region", "ill", **released), clinic / "rows.duckdb")
    with duckdb.connect(str(clinic / "copy.duckdb")) as con:
        con.execute(f"attach '{clinic / 'rows.duckdb'}' as r (read_only)")
        con.execute("create table released as from r.released")
    found = problems(of_counts(clinic, "region", **released), clinic / "copy.duckdb")
    assert "is needed for a ledger" in found["person"]
    entries = listed(clinic / "ledger.duckdb")
    assert [(e.is_counts, e.persons) for e in entries] == [(False, 200), (True, 0), (True, 0)]


def test_masked_columns_are_not_counted(clinic: Path) -> None:
    """A value that was rounded is less than the true one."""
    source = clinic / "source.duckdb"
    masked = COLUMNS | {"age": {"role": "round", "to": 10}}
    assert not problems(of_rows(clinic, columns=masked), source)
    assert "is generalized" in problems(of_counts(clinic, "age"), source)["aggregate.by.age"]


def test_a_ledger_of_before_tells_less(clinic: Path) -> None:
    """It has the columns that rows show as they are: any other may be generalized."""
    assert not problems(of_rows(clinic), clinic / "source.duckdb")
    (entry,) = listed(clinic / "ledger.duckdb")
    before = replace(entry, recoded=None)
    assert counts.coarse_columns(before, ["sex", "ill", "age", "ward"]) == ["ill", "age", "ward"]
    assert counts.coarse_columns(entry, ["sex", "ill", "Age", "ward"]) == ["ill", "Age"]


# Releases of a few persons against all tables over their joint groups.


def seen(found: Release, rows: Iterable[Person], places: tuple[int, ...]) -> dict[str, Any]:
    """What a release says: figures of sets of finest groups, and the groups that have a row."""
    atoms = {row[0]: tuple(str(row[i]) for i in places) for row in rows}
    figures = cells(found)
    listed = {atom for atom in atoms.values() if atom in figures}
    true = found.manifest.layout.algorithm == "suppress"
    shown = {atom for atom in listed if true or figures[atom] is not None}
    given = []
    for cell, figure in figures.items():
        left_out = {atom for atom in atoms.values() if atom not in shown}
        inside = {atom for atom in shown if covers(cell, atom)}
        inside = left_out if cell[0] == "(other)" else inside
        if figure is not None:
            assert sum(atom in inside for atom in atoms.values()) == figure
            given.append((inside, figure))
    return {"atoms": atoms, "figures": given, "listed": listed}


def tables(lows: list[int], figures: list[tuple[set[int], int]]) -> Iterator[list[int]]:
    """All tables of whole numbers over the joint groups that agree with the figures."""

    def fill(begun: list[int]) -> Iterator[list[int]]:
        at = len(begun)
        for places, figure in figures:
            value = sum(begun[i] for i in places if i < at)
            value += sum(lows[i] for i in places if i >= at)
            if value > figure or (value < figure and max(places) < at):
                return
        if at == len(lows):
            yield begun
            return
        # (what is in no figure may be anything)
        most = min((figure for places, figure in figures if at in places), default=lows[at] + 4)
        for value in range(lows[at], most + 1):
            yield from fill([*begun, value])

    return fill([])


def is_safe(releases: list[dict[str, Any]], n: int) -> bool:
    """Whether every joint group below n may have n persons, by enumeration."""
    persons = {person for one in releases for person in one["atoms"]}
    counts = Counter(tuple(one["atoms"].get(p) for one in releases) for p in sorted(persons))
    joint = list(counts)
    lows = [
        int(any(a in one["listed"] for a, one in zip(atoms, releases, strict=True)))
        for atoms in joint
    ]
    figures = {
        (frozenset(i for i, atoms in enumerate(joint) if atoms[at] in inside), figure)
        for at, one in enumerate(releases)
        for inside, figure in one["figures"]
    }
    open_ = {i for i, atoms in enumerate(joint) if counts[atoms] < n}
    for table in tables(lows, [(set(places), figure) for places, figure in figures]):
        open_ -= {i for i in open_ if table[i] >= n}
        if not open_:
            return True
    return not open_


def changed(random: Random, rows: list[Person]) -> list[Person]:
    """The persons some time later: some have gone, some have come, some have moved."""
    kept, last = list(rows), max(row[0] for row in rows)
    for _ in range(random.choice([0, 0, 1, 2])):
        kept.pop(random.randrange(len(kept)))
    for number in range(random.choice([0, 0, 0, 1, 3])):
        kept.append((last + 1 + number, *random.choice([("r1", "c1"), ("r1", "c2"), ("r3", "c1")])))
    if random.random() < 0.3:
        at = random.randrange(len(kept))
        kept[at] = (kept[at][0], "r2", "c2")
    return kept


@rounds(6, 40, 300)
def test_against_enumeration(tmp_path: Path, rounds: int) -> None:
    """Published exactly if every joint group below the minimum may have as many."""
    verdicts: Counter[bool] = Counter()
    for number in range(rounds):
        random = Random(number)
        folder = tmp_path / str(number)
        folder.mkdir()
        rows = people([[random.choice([0, 1, 1, 2, 3, 4]) for _ in "ab"] for _ in "ab"])
        rows += people([[3], [0], [0]], 50)[: random.choice([0, 3])]
        if len(rows) < 4:
            continue
        found: list[dict[str, Any]] = []
        for step in range(random.choice([2, 2, 3])):
            by = random.choice([("r", "c"), ("r", "c"), ("r",), ("c",)]) if step else ("r", "c")
            places = tuple(["id", "r", "c"].index(name) for name in by)
            rows = changed(random, rows) if step else rows
            n = random.choice([3, 3, 3, 4])
            options = dict(random.choice([*METHODS.values()]), minimum=n)
            if "method" not in options and random.random() < 0.2:
                options["rest"] = {"list_hidden": True}
            alone = folder / "alone"
            alone.mkdir(exist_ok=True)
            try:
                new = release(alone, rows, by, **options, ledger=None)
            except GuaranteeError:
                continue
            says = seen(new, rows, places)
            try:
                release(folder, rows, by, **options)
                published_ = True
            except GuaranteeError as error:
                if "recognizes" in str(error):
                    continue
                published_ = False
            n = max([n, *(one["n"] for one in found)])
            assert published_ == is_safe([*found, says], n), (number, step, by, options)
            verdicts[published_] += bool(found)
            if published_:
                found.append({**says, "n": n})
    assert min(verdicts[True], verdicts[False]) > 0
