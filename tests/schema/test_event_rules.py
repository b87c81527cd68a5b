"""A rule on an event column: what is known of one row is secret in the others.

The oracle reads the release alone, knows the hierarchy from the world that it made, and tries every
choice of values that the published cells allow: fewer than l of them must not meet everybody.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import SchemaPolicy
from anonymizer.compile import Table
from anonymizer.contract.layout import Requirement
from anonymizer.contract.reading import in_release
from anonymizer.errors import GuaranteeError, InfeasibleError, SourceError
from anonymizer.independent.fetch import UnreadableError
from anonymizer.independent.judge import judge
from anonymizer.process.document import html, markdown
from anonymizer.release.across_tables import released_tables
from anonymizer.release.integrity import manifest_digest
from anonymizer.release.manifest import Manifest
from anonymizer.review.report.content import NOT_SHOWN, collect
from anonymizer.review.report.page import document
from anonymizer.review.trial import required_of
from anonymizer.run import release_rows, tables
from anonymizer.verification.across_tables import tables_questions
from anonymizer.verification.questions import ask_all
from tests.forging import seal_again
from tests.independent.agreement import compare
from tests.runs import THRIFTY, fill
from tests.schema import hospital
from tests.selection import exhaustive, rounds, some

CODES = [f"{chapter}{tens}{ones}" for chapter in "ABC" for tens in "12" for ones in "01"]
GROUPS = {code: ["one", "two", "three"]["ABC".index(code[0])] for code in CODES}
"""Labels that do not tell which codes they admit."""
QUOTED = {code: f"{code}, or so" for code in CODES}
"""Codes that are published in quotes."""
KINDS = ("prefix", "file", "flat", "quoted")
Rows = Sequence[tuple[int, str | None]]
"""The person and the code of every visit."""
Cells = Sequence[tuple[Any, Any, str | None, int]]
"""The class, the person, the cell and the place of every visit."""


@dataclass(frozen=True)
class World:
    """Persons and their visits, and what is asked of a release of them."""

    folder: Path
    ages: Sequence[int]
    visits: Rows
    kind: str
    l: int
    k: int = 2
    m: int = 1
    cells: str = "text"
    rows: bool = False

    def policy(self, protect: Mapping[str, Any] | None = None, **changes: Any) -> SchemaPolicy:
        what: dict[str, Any] = {"role": "event", "protect": protect or {"eir_l": self.l}}
        if self.kind in ("prefix", "quoted"):
            what["hierarchy"] = {"builder": "prefix", "lengths": [2, 1]}
        if self.kind == "file":
            lines = [f"{code};{code[:2]};{GROUPS[code]};*" for code in CODES]
            (self.folder / "codes.csv").write_text("\n".join(lines) + "\n")
            what["hierarchy"] = {"file": "codes.csv"}
        knows: dict[str, Any] = {"events": self.m, "rows": self.rows}
        given = {
            "version": 1,
            "person": "patients",
            "tables": {
                "patients": {
                    "source": {"table": "main.patients"},
                    "key": "patient_id",
                    "columns": {"patient_id": {"role": "key"}, "age": {"role": "quasi"}},
                },
                "visits": {
                    "source": {"table": "main.visits"},
                    "links": {"patient_id": "patients"},
                    "columns": {
                        "patient_id": {"role": "key"},
                        "what": what,
                        "place": {"role": "keep", "acknowledge_unique": True},
                    },
                },
            },
            "privacy": {"k_anonymity": self.k, "knows": knows},
            "suppression_limit": 1.0,
            "publish": {"database": "release.duckdb", "cells": self.cells},
            **changes,
        }
        made = anonymizer.Policy.model_validate(given, context={"base": self.folder})
        assert isinstance(made, SchemaPolicy)
        return made

    @property
    def file(self) -> Path:
        return self.folder / "release.duckdb"

    def code(self, code: str | None) -> str | None:
        return QUOTED[code] if self.kind == "quoted" and code is not None else code

    def run(self, policy: SchemaPolicy | None = None) -> anonymizer.Release:
        self.file.unlink(missing_ok=True)
        source = self.folder / "source.duckdb"
        source.unlink(missing_ok=True)
        with duckdb.connect(str(source), config={"threads": 1}) as made:
            patients = {"patient_id": "INTEGER", "age": "INTEGER"}
            fill(made, patients, list(enumerate(self.ages)), "patients")
            types = {"patient_id": "INTEGER", "what": "VARCHAR", "place": "INTEGER"}
            rows = [(who, self.code(code), place) for place, (who, code) in enumerate(self.visits)]
            fill(made, types, rows, "visits")
        return anonymizer.run(policy or self.policy(), source, seed=1, limits=THRIFTY)

    def admits(self, cell: str | None, code: str) -> bool:
        """Whether a published cell may stand for a code."""
        if cell is None:
            return False
        if cell.startswith("*"):
            return True
        shown = cell.strip('"').rstrip("*")
        if self.kind == "quoted":
            return code.startswith(shown.split(",")[0])
        if self.kind == "prefix":
            return code.startswith(shown)
        if self.kind == "flat":
            return cell == code
        return cell in (code, code[:2], GROUPS[code])


def world(seed: int, folder: Path, **given: Any) -> World:
    """The world of a seed."""
    r = random.Random(seed)
    size = r.choice([6, 9, 14, 25, 40])
    likely = r.sample(CODES, 3)
    visits: list[tuple[int, str | None]] = []
    for who in range(size):
        for _ in range(r.choice([0, 1, 1, 2, 3])):
            code = r.choice(likely) if r.random() < 0.6 else r.choice(CODES)
            visits.append((who, None if r.random() < 0.05 else code))
    options: dict[str, Any] = {
        "kind": r.choice(KINDS),
        "l": r.choice([2, 2, 3]),
        "k": r.choice([2, 3]),
        "m": r.choice([0, 1, 1, 2, 3]),
        "cells": r.choice(["text", "typed"]),
        "rows": r.random() < 0.2,
    }
    return World(folder, [r.randint(20, 60) for _ in range(size)], visits, **options | given)


def published(file: Path) -> Cells:
    """What a release shows of every visit."""
    with duckdb.connect(str(file), read_only=True, config={"threads": 1}) as made:
        return made.execute(
            "select p.class_id, p.patient_id, v.what, v.place"
            " from visits v join patients p using (patient_id)"
        ).fetchall()


def fewest(world: World, cells: Cells) -> Iterator[int]:
    """For every class, the fewest codes that may meet every person who may have one."""
    for label in {label for label, *_ in cells}:
        held: dict[Any, list[str]] = {}
        for its, who, cell, _ in cells:
            if its == label and cell is not None:
                held.setdefault(who, []).append(cell)
        sure = [own for own in held.values() if not any(c.startswith("*") for c in own)]
        families = [
            {code for code in CODES if any(world.admits(cell, code) for cell in own)}
            for own in sure
        ]
        yield smallest(families)


def smallest(families: Sequence[set[str]]) -> int:
    """The size of a smallest set of codes that meets every family; 0 without any."""
    for size in range(len(CODES) + 1):
        for chosen in combinations(CODES, size):
            if all(not family.isdisjoint(chosen) for family in families):
                return size
    raise AssertionError("a cell admits no code")


def attempt(one: World) -> anonymizer.Release | None:
    """The release of a world; None if no class of it holds the rule, and nothing is published."""
    try:
        return one.run()
    except (InfeasibleError, GuaranteeError) as error:
        refused = [problem.path for problem in error.problems]
    assert {path.removesuffix(".protect") for path in refused} == {"tables.visits.columns.what"}
    assert not one.file.exists()
    return None


@rounds(2, 6, 250)
def test_no_choice_of_values_breaks_the_rule(rounds: int, tmp_path: Path) -> None:
    made = 0
    for seed in range(rounds):
        one = world(seed, tmp_path)
        release = attempt(one)
        if release is None:
            continue
        made += 1
        found = judge(one.file)
        assert found.passed
        assert not compare(release.verification, found.checks).different
        assert all(anonymizer.verify(p, one.file).passed for p in (None, one.policy()))
        cells = published(one.file)
        assert all(achieved >= one.l for achieved in fewest(one, cells))
        # and what is not published: the values themselves
        true = [(label, who, one.visits[place][1], place) for label, who, _, place in cells]
        plain = World(tmp_path, (), (), "flat", one.l)
        assert all(achieved >= one.l for achieved in fewest(plain, true))
    assert made >= rounds // 2


@some(1)
@pytest.mark.parametrize("seed", [5, 10])
def test_cells_of_every_value_are_compared_with_nothing(seed: int, tmp_path: Path) -> None:
    """A star admits everything, and is in no set of cells: it keeps no release from its reader."""
    one = world(seed, tmp_path)
    one.run()
    assert any(str(cell).startswith("*") for _, _, cell, _ in published(one.file))


@some(1)
@pytest.mark.parametrize(("seed", "kind"), [*enumerate(KINDS * 2)])
def test_one_cell_more_or_less(seed: int, kind: str, tmp_path: Path) -> None:
    """A cell is replaced by another one, which breaks the rule: everybody who judges says so."""
    drawn = (
        world(place, tmp_path, kind=kind, l=2, k=2, m=1, cells="text", rows=False)
        for place in range(100 * seed, 100 * seed + 100)
    )
    one, broken = next(
        (one, broken)
        for one in drawn
        if len(one.ages) < 15 and attempt(one) is not None and (broken := breaking(one))
    )
    correct = tmp_path / "correct.duckdb"
    shutil.copyfile(one.file, correct)
    for place, label in {broken[0], broken[-1]}:
        shutil.copyfile(correct, one.file)
        hospital.changed(one.file, f"update visits set what = '{label}' where place = {place}")
        seal_again(one.file, "patients")
        assert judged(one) == {False}


def breaking(one: World) -> list[tuple[int, str]]:
    """The rows in which another cell breaks the rule, with that cell."""
    cells = published(one.file)
    labels = sorted({cell for _, _, cell, _ in cells if cell is not None} | {"*"})
    return [
        (place, label)
        for its, _, cell, place in cells
        for label in labels
        if label != cell and min(fewest(one, _with(cells, its, place, label))) < one.l
    ]


def _with(cells: Cells, its: Any, place: int, label: str) -> Cells:
    """The cells of one class, one of them replaced."""
    return [
        (one, who, label if at == place else cell, at) for one, who, cell, at in cells if one == its
    ]


def judged(one: World, name: str = "eir_l") -> set[bool]:
    """Whether a rule holds by each verifier, with the policy and without."""
    found = set()
    for policy in (one.policy(), None):
        checks = anonymizer.verify(policy, one.file).checks
        found.add(next(c.passed for c in checks if c.name == name))
    return found | {all(c.passed for c in judge(one.file).checks if c.name == name)}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["AB", "AB", "CD", "CD"], ["AB", "AD", "CD", "CB"]),
        (
            ["ABC", "ABC", "AEF", "AEF", "DBF", "DBF", "DEC", "DEC"],
            ["ABC", "ABF", "AEF", "AEC", "DBF", "DBC", "DEC", "DEF"],
        ),
    ],
    ids=["two events", "three events"],
)
def test_what_several_events_give_away_together(
    before: list[str], after: list[str], tmp_path: Path
) -> None:
    """Fewer events than the observer knows have k persons each; all of them have one."""
    names = dict(zip("ABCDEF", CODES, strict=False))
    visits = [(who, names[code]) for who, own in enumerate(before) for code in own]
    one = World(tmp_path, [30] * len(before), visits, "flat", 2, m=len(before[0]))
    one.run()
    assert judged(one, "known_events") == {True}
    shown = [names[code] for own in after for code in own]
    for place, code in enumerate(shown):
        hospital.changed(one.file, f"update visits set what = '{code}' where place = {place}")
    seal_again(one.file, "patients")
    assert judged(one, "known_events") == {False}


PAGE = [(1, "A10"), (2, "A1*"), (2, "B20"), (3, "A10"), (3, "B20"), (4, "A1*"), (4, "*"),
        (5, "C**"), (6, "C**"), (6, "*")]  # fmt: skip
"""The persons and cells of the example in docs/several-tables.md."""
TOLD = [["A10", "A1*"], ["B20"], ["C**"]]
FOUR = [(1, "A10"), (2, "B1*"), (3, "A10"), (4, "B1*")]
INSIDE = [(1, "A10"), (2, "A1*"), (3, "A10"), (4, "A1*")]
SHOWN: dict[str, tuple[Sequence[tuple[int, str | None]], list[list[str]], int, bool]] = {
    "the page": (PAGE, TOLD, 2, True),
    "the page, one more": (PAGE, TOLD, 3, False),
    "the page, less said": (PAGE, [["A10"], ["A1*"], ["B20"], ["C**"]], 2, False),
    "apart": (FOUR, [["A10"], ["B1*"]], 2, True),
    "one in the other": (INSIDE, [["A10"], ["A1*"]], 2, False),
    "said together": (FOUR, [["A10", "B1*"]], 2, False),
    "one not said": (FOUR, [["A10"]], 2, False),
    "nothing said": (FOUR, [], 2, False),
    "anything said apart": ([(1, "A10"), (2, "*")], [["A10"], ["*"]], 2, False),
    "a set": ([(1, "A10"), (2, "{A10, A11}")], [["A10"], ["{A10, A11}"]], 2, False),
    "an end": ([(1, "A10"), (2, "*10")], [["A10"], ["*10"]], 2, False),
    "or NULL": ([(1, "A10"), (2, "B1* or NULL")], [["A10"], ["B1* or NULL"]], 2, False),
    "NULL beside": ([*FOUR, (1, None), (5, None)], [["A10"], ["B1*"]], 2, True),
    "nothing but NULL": ([(1, None), (2, None)], [], 2, False),
    "two of one person": ([(1, "A10"), (1, "B1*"), (2, "A10")], [["A10"], ["B1*"]], 2, False),
}
"""Persons and cells of one class, the cells that are said to have a value in common, l."""


@pytest.fixture(scope="module", params=["text", "typed"])
def seven(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> World:
    """A release of seven persons of one class, without a rule."""
    folder = tmp_path_factory.mktemp("seven")
    rows = [(who, f"Z{who}") for who in range(7)]
    one = World(folder, [30] * 7, rows, "flat", 2, cells=request.param)
    privacy = {"k_anonymity": 2, "knows": {"events": 0}}
    publish = {"database": "release.duckdb", "cells": one.cells}
    one.run(_without_rule(one.policy(privacy=privacy, publish=publish)))
    return one


@some(15)
@pytest.mark.parametrize("name", SHOWN)
def test_cells_that_are_shown(name: str, seven: World, tmp_path: Path) -> None:
    """Judged as they stand, by the statements and in plain Python: what a text shows counts."""
    shown, together, l, holds = SHOWN[name]
    one = replace(seven, folder=tmp_path)
    shutil.copyfile(seven.file, one.file)
    with duckdb.connect(str(one.file)) as made:
        made.execute("delete from visits")
        for place, (who, cell) in enumerate(shown):
            open_ = [cell is None or cell.endswith("NULL")] if one.cells == "typed" else []
            row = [who, cell, *open_, place]
            made.execute(f"insert into visits values ({', '.join('?' * len(row))})", row)
    asked = Requirement("eir_l", "what", {"l": l, "together": together})
    data = manifest(one.file)
    data["tables"]["tables"][1]["requirements"] = [asdict(asked)]
    put(one.file, data)
    found = {c.passed for c in judge(one.file).checks if c.name.startswith("eir_l")}
    assert found == {holds}
    tables = released_tables(Manifest(data))
    assert tables is not None
    with duckdb.connect(str(one.file)) as made:
        checks = ask_all(
            tables_questions(tables, in_release(Table("patients", "main"))),
            lambda text: made.execute(text).fetchall(),
        )
    assert [c.passed for c in checks if c.name == "eir_l"] == [holds]


def _without_rule(policy: SchemaPolicy) -> SchemaPolicy:
    given = policy.to_dict()
    del given["tables"]["visits"]["columns"]["what"]["protect"]
    made = anonymizer.Policy.model_validate(given, context={"base": policy.base})
    assert isinstance(made, SchemaPolicy)
    return made


def manifest(file: Path) -> dict[str, Any]:
    with duckdb.connect(str(file), read_only=True) as made:
        ((text,),) = made.execute("select manifest from patients_manifest").fetchall()
    found: dict[str, Any] = json.loads(text)
    return found


def put(file: Path, data: dict[str, Any]) -> None:
    data["seal"]["digest"] = manifest_digest(data)
    text = json.dumps(data, indent=2, sort_keys=True)
    with duckdb.connect(str(file)) as made:
        made.execute("update patients_manifest set manifest = ?", [text]).fetchall()


def test_labels_that_do_not_tell_are_compared_with_the_file(tmp_path: Path) -> None:
    """Labels of a given tree: what they admit stands in the file that the policy names."""
    one = world(3, tmp_path, kind="file", l=2, k=3, m=1, cells="text", rows=False)
    one.run()
    data = manifest(one.file)
    asked = data["tables"]["tables"][1]["requirements"][0]["parameters"]
    nested = [labels for labels in asked["together"] if len(labels) > 1]
    assert nested
    asked["together"] = [[label] for label in sorted({x for s in asked["together"] for x in s})]
    put(one.file, data)
    with pytest.raises(GuaranteeError) as told:
        anonymizer.verify(one.policy(), one.file)
    assert "tables.visits.columns.what.hierarchy.file: puts cells" in str(told.value)


def test_a_run_that_takes_cells_apart_publishes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a release says of its cells is compared with the source before it is published."""

    def apart(*given: Any) -> dict[str, list[list[str]]]:
        return {
            column: [[label] for label in sorted({x for labels in sets for x in labels})]
            for column, sets in release_rows.together(*given).items()
        }

    monkeypatch.setattr(tables, "together", apart)
    one = world(3, tmp_path, kind="file", l=2, k=3, m=1, cells="text", rows=False)
    with pytest.raises(GuaranteeError) as told:
        one.run()
    assert "source_together" in str(told.value)
    assert not one.file.exists()


BAD: dict[str, Callable[[dict[str, Any]], Any]] = {
    "not a list": lambda asked: asked.update(together="A10"),
    "no lists": lambda asked: asked.update(together=["A10"]),
    "no texts": lambda asked: asked.update(together=[[1]]),
    "none": lambda asked: asked.pop("together"),
    "NULL as a value": lambda asked: asked.update(null_as_value=True),
}


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A release of four persons of one class, with a rule."""
    rows = list(enumerate(["A10", "A10", "B10", "B10"]))
    one = World(tmp_path_factory.mktemp("four"), [30] * 4, rows, "prefix", 2)
    one.run()
    return one


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_judged_is_refused(name: str, four: World, tmp_path: Path) -> None:
    one = replace(four, folder=tmp_path)
    shutil.copyfile(four.file, one.file)
    data = manifest(one.file)
    BAD[name](data["tables"]["tables"][1]["requirements"][0]["parameters"])
    put(one.file, data)
    for policy in (one.policy(), None):
        with pytest.raises(GuaranteeError, match="are none that this tool asks for"):
            anonymizer.verify(policy, one.file)
    with pytest.raises(UnreadableError, match=r"manifest\.tables: a rule on an event column"):
        judge(one.file)


def test_reports_state_the_rule_and_list_no_labels(four: World) -> None:
    """What the release lists of its cells are labels; a report shows no statement with them."""
    policy = four.policy()
    assert required_of(policy)["eir_l", "visits.what"] == "l=2"
    found = collect(policy, four.file)
    (check,) = (c for c in found.verification.checks if c.name == "eir_l")
    assert check.passed
    assert check.sql == NOT_SHOWN
    assert "A10" not in html(document(found)) + markdown(document(found))
    assert "its rule holds in every class" in markdown(document(found))


def test_numbers_of_the_source_are_refused(tmp_path: Path) -> None:
    """Where the policy names no kind, the type of the column tells."""
    one = World(tmp_path, [30] * 4, list(enumerate(["1", "2", "3", "4"])), "flat", 2)
    given = one.policy().to_dict()
    given["tables"]["visits"]["source"] = {
        "query": "select patient_id, what::int as what, place from main.visits"
    }
    policy = anonymizer.Policy.model_validate(given, context={"base": tmp_path})
    with pytest.raises(SourceError) as told:
        one.run(policy)  # type: ignore[arg-type]
    assert "tables.visits.columns.what.protect.eir_l: is a rule on values" in str(told.value)


@exhaustive
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_many_worlds(seed: int, tmp_path: Path) -> None:
    one = world(seed, tmp_path)
    if attempt(one) is None:
        return
    assert judged(one) == {True}
    assert all(achieved >= one.l for achieved in fewest(one, published(one.file)))
