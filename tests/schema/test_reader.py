"""The reader of several tables: agrees with the oracle, and refuses what it does not understand."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.independent import persons as known
from anonymizer.independent.__main__ import main
from anonymizer.independent.fetch import UnreadableError
from anonymizer.independent.judge import judge, judge_opened
from anonymizer.independent.manifest import read_manifest
from anonymizer.independent.rules import Check, Judgement
from tests.schema import oracle
from tests.schema.handmade import RUN, Made, column, rule
from tests.selection import some

EVENT = column("what", "event", hierarchy=True)
DAY = column("day", "event", "date")


def drawn(r: random.Random) -> Made:
    """A few persons in a few classes, with the rows of up to three tables, most of them exposed."""
    made = Made(r.randint(2, 4), r.randint(0, 3), r.random() < 0.5)
    persons = r.randint(1, 9)
    names = [str(r.randint(1, 2)) for _ in range(r.randint(1, 3))]
    classes = [r.randint(1, len(names)) for _ in range(persons)]
    made.persons(
        [(c, p, names[c - 1]) for p, c in enumerate(classes, 1)],
        [column("age", "quasi", "numeric")],
    )
    kinds = r.choice(["a", "ab", "abc", "abcd"])
    parents: list[tuple[str, str, int]] = [("person_id", "persons", persons)]
    for name in ("visits", "labs", "drugs")[: r.randint(0, 3)]:
        link, parent, size = r.choice(parents)
        events = r.random() < 0.8
        count = r.randint(0, 4 * size)
        rows = []
        for number in range(1, count + 1):
            key = r.randint(1, size)
            cells = (r.choice(kinds), r.choice(["2020-01-01", None])) if events else ()
            rows.append((number, key, *cells))
        # tables of a chain cannot be linked to a table without rows
        made.child(name, (link, parent), rows, [EVENT, DAY] if events else [], f"{name}_id")
        if count:
            parents.append((f"{name}_id", name, count))
    return made


def secret(r: random.Random) -> Made:
    """A class with a secret of the persons, and one of their visits."""
    made = Made(2, r.randint(1, 3), sensitive=True)
    persons = r.randint(2, 8)
    made.persons(
        [(1 + p % 2, p, "5", r.choice(["x", "y", None])) for p in range(1, persons + 1)],
        [column("age", "quasi", "numeric"), column("smokes", "sensitive")],
    )
    made.requirements = [rule("smokes", "distinct_l", l=2)]
    visits = [
        (n, r.randint(1, persons), r.choice("ab"), r.choice(["flu", "hiv", "gout", None]))
        for n in range(1, r.randint(2, 4 * persons))
    ]
    columns = [EVENT, column("ill", "sensitive")]
    asked = [rule("ill", "distinct_l", l=2)]
    made.child("visits", ("person_id", "persons"), visits, columns, "visit_id", asked)
    return made


def checks(found: Judgement) -> dict[str, Check]:
    return {check.name: check for check in found.checks if check.column is None}


@pytest.mark.parametrize("start", range(0, 400, 50))
def test_reader_and_oracle_agree(start: int) -> None:
    failing = 0
    for seed in range(start, start + 50):
        made = drawn(random.Random(seed))
        # (of three linked rows the oracle would try too many)
        made.joined = seed % 2 == 1 and made.events < 3
        published = made.published()
        found = checks(judge_opened(made.opened()))
        for suffix, tuples in (("", False), ("_tuples", True)):
            known_rows = oracle.left_by_linked if made.joined else oracle.left_by_events
            lefts = {"known_events": known_rows(published, made.events, tuples=tuples)}
            if made.rows_known:
                lefts["known_rows"] = oracle.left_by_numbers(published, tuples=tuples)
            for name, left in lefts.items():
                check = found[name + suffix]
                fewest = [
                    min(left[one] for one in some) for some in published.classes(tuples=tuples)
                ]
                assert check.achieved == {"k": min(fewest)}, seed
                assert check.failing == sum(one < made.k for one in fewest), seed
                failing += not check.passed
        assert ("known_rows" in found) == made.rows_known
    assert failing > 20


def test_rules_among_those_who_remain() -> None:
    failing = 0
    for seed in range(150):
        made = secret(random.Random(seed))
        published = made.published()
        found = {(one.name, one.column): one for one in judge_opened(made.opened()).checks}
        for suffix, tuples in (("", False), ("_tuples", True)):
            for table, name in (("persons", "smokes"), ("visits", "ill")):
                shown = name if table == "persons" else f"{table}.{name}"
                check = found["known_distinct_l" + suffix, shown]
                fewest = oracle.fewest_values(published, made.events, table, name, tuples=tuples)
                assert check.achieved == {"l": fewest}, seed
                assert check.passed == (fewest is None or fewest >= 2), seed
                failing += not check.passed
    assert failing > 50


@pytest.mark.parametrize("m", [0, 1, 2, 3])
def test_the_persons_below_k_are_the_same(m: int) -> None:
    r = random.Random(m)
    exposed = 0
    for _ in range(150):
        members = range(r.randint(1, 8))
        kinds = [("t", (kind,)) for kind in "abcde"[: r.randint(1, 5)]]
        events = {one: r.choices(kinds, k=r.randint(0, 6)) for one in members}
        left = oracle.left_in_class(members, events, m)
        held = [Counter(events[one]) for one in members]
        assert min(some.bit_count() for some in known.remaining(held, m)) == min(left.values())
        few = [some for some in known.remaining(held, m) if some.bit_count() < 3]
        below = {one for one in members if any(some >> one & 1 for some in few)}
        assert below == {one for one in members if left[one] < 3}
        exposed += len(below)
    assert exposed > 100 or m == 0


def test_counting_and_matching_are_the_same() -> None:
    for known_rows in combinations_with_replacement("abc", 3):
        for rows in combinations_with_replacement("abc", 4):
            choice, there = [("t", (one,)) for one in known_rows], [("t", (one,)) for one in rows]
            assert oracle.fits(choice, Counter(there)) == oracle.fits_by_matching(choice, there)


def test_a_matching_changes_its_mind() -> None:
    admits = lambda value, node: value in node  # noqa: E731
    assert oracle.fits_by_matching(["a", "b"], ["ab", "a"], admits)
    assert not oracle.fits_by_matching(["a", "a"], ["ab", "b"], admits)


# releases by hand ---------------------------------------------------------------------------------


def clinic(cells: str = "text") -> Made:
    """Four persons of one class; two of them with a row twice, all of them with one lab."""
    made = Made(2, 2, rows_known=True, cells=cells)
    age = column("age", "quasi", "numeric")
    events = [EVENT, DAY]
    if cells == "typed":
        age = column("age", "quasi", "numeric", lo="age_lo", hi="age_hi", nullable="age_nullable")
        events = [
            EVENT | {"nullable": "what_nullable"},
            column("day", "event", "date", lo="day_lo", hi="day_hi", nullable="day_nullable"),
        ]
    ages: tuple[Any, ...] = ("[20, 29]",) if cells == "text" else (20, 29, False)
    made.persons([(1, p, *ages, "yes" if p < 3 else "no") for p in (1, 2, 3, 4)], [
        age, column("smokes", "sensitive"),
    ])  # fmt: skip
    made.requirements = [rule("smokes", "distinct_l", l=2)]
    made.tables["persons"]["requirements"] = [rule("smokes", "eir_l", l=2)]

    def visit(number: int, person: int, what: str) -> tuple[Any, ...]:
        if cells == "text":
            return (
                number,
                person,
                what,
                "[2020-01-01, 2020-01-31]",
                "flu" if person % 2 else "hiv",
            )
        days = ("2020-01-01", "2020-01-31", False)
        return (number, person, what, False, *days, "flu" if person % 2 else "hiv")

    rows = [visit(n, p, w) for n, (p, w) in enumerate([(1, "a"), (1, "a"), (2, "a"), (2, "a")], 1)]
    rows += [visit(5, 3, "b"), visit(6, 3, "*"), visit(7, 4, "*"), visit(8, 4, "b")]
    made.child(
        "visits",
        ("person_id", "persons"),
        rows,
        [*events, column("ill", "sensitive")],
        "visit_id",
        [rule("ill", "eir_l", l=2), rule("ill", "distinct_l", l=2)],
    )
    labs = [(visit, "x") for visit in (2, 4, 6, 8)]
    made.child("labs", ("visit_id", "visits"), labs, [column("value", "keep")])
    return made


@pytest.mark.parametrize("cells", ["text", "typed"])
def test_a_correct_release(cells: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = clinic(cells)
    found = judge(made.database(tmp_path / "release.duckdb"))
    assert found.passed, [one for one in found.checks if not one.passed]
    named = {(one.name, one.column) for one in found.checks}
    assert {("references", "visits.person_id"), ("references", "labs.visit_id")} <= named
    assert {("key_dense", "persons"), ("key_dense", "visits")} <= named
    assert {("cell_form", "visits.what"), ("cell_form", "visits.day")} <= named
    assert {("eir_l", "visits.ill"), ("distinct_l_tuples", "visits.ill")} <= named
    assert {("view", "visits"), ("view", "labs"), ("known_rows", None)} <= named
    assert checks(found)["known_events"].achieved == {"k": 2}
    assert main([str(tmp_path / "release.duckdb")]) == 0
    assert "holds  known_events  required k 2, events 2  achieved 2" in capsys.readouterr().out
    for suffix in (".parquet", ".csv"):
        exported = judge(made.folder(tmp_path / suffix, suffix))
        assert list(exported.checks) == [c for c in found.checks if c.name != "view"]


Change = Callable[[Made], None]


def _row(table: str, place: int, **values: Any) -> Change:
    """Other values in one row."""

    def change(made: Made) -> None:
        names = list(made.types[table])
        row = list(made.rows[table][place])
        for name, value in values.items():
            row[names.index(name)] = value
        made.rows[table][place] = tuple(row)

    return change


def _rows(table: str, change: Callable[[list[tuple[Any, ...]]], list[tuple[Any, ...]]]) -> Change:
    def do(made: Made) -> None:
        made.rows[table] = change(made.rows[table])

    return do


FAULTS: dict[str, tuple[Change, Sequence[tuple[str, str | None]]]] = {
    "one event of a person alone": (
        _row("visits", 0, what="c"),
        [("known_events", None), ("known_events_tuples", None)],
    ),
    "an event once instead of twice": (_row("visits", 1, what="b"), [("known_events", None)]),
    "an event that is known in another table only": (
        _row("visits", 4, day="[2020-01-01, 2020-01-30]"),
        [("known_events", None)],
    ),
    "a row more": (
        _rows("labs", lambda rows: [*rows, rows[0]]),
        [("known_rows", None), ("known_rows_tuples", None)],
    ),
    "a row without its parent": (_row("labs", 0, visit_id=99), [("references", "labs.visit_id")]),
    "a row without a key of its parent": (
        _row("labs", 0, visit_id=None),
        [("references", "labs.visit_id")],
    ),
    "a visit of nobody": (_row("visits", 0, person_id=7), [("references", "visits.person_id")]),
    "a key twice": (
        _row("visits", 0, visit_id=2),
        [("key_dense", "visits")],
    ),
    "a key that is missing": (
        _row("visits", 0, visit_id=None),
        [("key_dense", "visits")],
    ),
    "keys with a gap": (_row("visits", 0, visit_id=9), [("key_dense", "visits")]),
    "a person twice": (_row("persons", 0, person_id=2), [("key_dense", "persons")]),
    "persons with a gap": (_row("persons", 0, person_id=9), [("key_dense", "persons")]),
    "a cell of no grammar": (_row("visits", 0, day="2020-01"), [("cell_form", "visits.day")]),
    "a node that lacks quotes": (_row("visits", 0, what="a, b"), [("cell_form", "visits.what")]),
    "one diagnosis for everybody": (
        _rows("visits", lambda rows: [(*row[:-1], "flu") for row in rows]),
        [("eir_l", "visits.ill"), ("distinct_l", "visits.ill"), ("eir_l_tuples", "visits.ill")],
    ),
    "one value of the persons": (
        _rows("persons", lambda rows: [(*row[:-1], "no") for row in rows]),
        [("distinct_l", "smokes"), ("eir_l", "smokes"), ("eir_l_tuples", "smokes")],
    ),
    "a person in a class of their own": (
        _row("persons", 0, class_id=2),
        [("k_anonymity", None), ("known_events", None)],
    ),
}


@some(8)
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_reported(name: str, tmp_path: Path) -> None:
    change, expected = FAULTS[name]
    made = clinic()
    change(made)
    for found in (judge(made.database(tmp_path / "release.duckdb")), judge_opened(made.opened())):
        failed = {(one.name, one.column) for one in found.checks if not one.passed}
        assert set(expected) <= failed


def test_a_table_without_rows() -> None:
    made = clinic()
    made.rows["visits"], made.rows["labs"] = [], []
    assert judge_opened(made.opened()).passed


def test_a_table_whose_key_is_its_link() -> None:
    """The numbers are those of the parent then: some may be missing, none may stand twice."""
    made = clinic()
    made.child("cards", ("person_id", "persons"), [(1,), (2,), (3,), (4,)], [], "person_id")
    assert judge_opened(made.opened()).passed
    made.rows["cards"] = [(1,), (1,), (3,), (4,)]
    failed = [one for one in judge_opened(made.opened()).checks if not one.passed]
    assert ("key_dense", "cards") in [(one.name, one.column) for one in failed]


# what is refused ----------------------------------------------------------------------------------


def _set(*path: str | int, value: object) -> Callable[[dict[str, Any]], None]:
    def change(data: Any) -> None:
        for part in path[:-1]:
            data = data[part]
        data[path[-1]] = value

    return change


VISITS = ("tables", "tables", 1)
MANIFESTS: dict[str, Callable[[dict[str, Any]], None]] = {
    "no tables": _set("tables", value=None),
    "tables that are a list": _set("tables", value=[]),
    "an unknown field": _set("tables", "households", value=[]),
    "an unknown field of a table": _set(*VISITS, "shift", value=7),
    "an unknown field of a column": _set(*VISITS, "columns", 0, "mask", value=True),
    "a column of another role": _set(*VISITS, "columns", 0, "role", value="quasi"),
    "an unknown field of what is known": _set("tables", "knows", "order", value=True),
    "four events": _set("tables", "knows", "events", value=4),
    "events that are true": _set("tables", "knows", "events", value=True),
    "rows that are a number": _set("tables", "knows", "rows", value=1),
    "rows that are missing": _set("tables", "knows", value={"events": 1, "sensitive": False}),
    "another k": _set("tables", "k", value=1),
    "a k that is not promised": _set("tables", "k", value=3),
    "no persons": _set("tables", "person", value="labs"),
    "persons of another view": _set("view", value="main.visits"),
    "a table twice": _set(*VISITS, "table", value="labs"),
    "a name twice": _set(*VISITS, "name", value="LABS"),
    "no link": _set(*VISITS, "links", value={}),
    "two links": _set(*VISITS, "links", value={"person_id": "persons", "visit_id": "labs"}),
    "a link to no table": _set(*VISITS, "links", value={"person_id": "people"}),
    "a circle": _set(*VISITS, "links", value={"person_id": "labs"}),
    "a link of no column": _set(*VISITS, "links", value={"patient": "persons"}),
    "a link to a table without a key": _set(*VISITS, "key", value=None),
    "a key of no column": _set(*VISITS, "key", value="number"),
    "a key that is a column": _set(*VISITS, "key", value="what"),
    "a table that is not there": _set(*VISITS, "name", value="stays"),
    "a rule of a kept column": _set(
        "tables", "tables", 2, "requirements", value=[rule("value", "distinct_l", l=1)]
    ),
    "a rule of an event": _set(*VISITS, "requirements", value=[rule("what", "distinct_l", l=1)]),
    "a rule of no column": _set(*VISITS, "requirements", 0, "column", value=None),
    "a rule of buckets": _set(*VISITS, "requirements", 0, "scope", value="bucket"),
    "an unknown rule": _set(*VISITS, "requirements", 0, "name", value="safety"),
    "rows that are known by their persons' columns": _set(
        "tables", "tables", 0, "columns", value=[EVENT]
    ),
    "an event of the persons": _set("layout", "columns", 0, "role", value="event"),
    "classes without a number": _set("layout", "class_id", value=None),
    "another person": _set("layout", "person_id", value="class_id"),
}


@some(11)
@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_that_is_not_understood_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = clinic()
    data = json.loads(json.dumps(made.manifest()))
    MANIFESTS[name](data)
    made.database(tmp_path / "release.duckdb", data)
    assert main([str(tmp_path / "release.duckdb")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_persons_in_groups_as_well_as_classes_are_refused(tmp_path: Path) -> None:
    """No algorithm makes both of several tables: it would promise nothing that is known."""
    made = Made(2, 0)
    age, team = column("age", "quasi", "numeric"), column("team", "keep", "numeric")
    made.persons([(1, person, "5", 1) for person in range(1, 5)], [age, team])
    assert main([str(made.database(tmp_path / "classes.duckdb"))]) == 0
    data = made.manifest()
    data["layout"] |= {"columns": [age], "group_id": "team"}
    assert main([str(made.database(tmp_path / "groups.duckdb", data))]) == 2


def test_any_change_of_the_tables_is_judged_or_refused() -> None:
    """One or two places at random: never another error."""
    made = clinic()
    opened = made.opened()
    r = random.Random(1)
    whole = json.dumps(made.manifest())
    values: list[Any] = [
        *(None, True, 0, -1, 2.5, "", "person_id", "visit_id", "what", "persons", "visits", "labs"),
        *([], {}, [None], {"a": 1}, ["x"], "quasi", "event", "keep", "numeric", "INTEGER"),
    ]
    refused = 0
    for _ in range(300):
        data = json.loads(whole)
        places = list(_places(data["tables"], ("tables",)))
        for place in r.sample(places, r.choice([1, 1, 2])):
            try:
                _set(*place, value=r.choice(values))(data)
            except (KeyError, IndexError, TypeError):
                continue  # the first of two changes took away the place of the second
        try:
            manifest = read_manifest(json.dumps(data))
            judge_opened(type(opened)(manifest, opened.rows, {}, linked=opened.linked))
        except UnreadableError:
            refused += 1
    assert 100 < refused < 300


def _places(data: Any, path: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
    inner: Any = ()
    if isinstance(data, dict):
        inner = data.items()
    elif isinstance(data, list):
        inner = enumerate(data)
    found = []
    for key, value in inner:
        found += [(*path, key), *_places(value, (*path, key))]
    return found


STATEMENTS = [
    "drop view visits",
    f"drop table _labs_{RUN}",
    f"create table _more_{RUN} as select 1 as a",
    "create table more as select 1 as a",
    "create view more as select 1 as a",
    "create table more_manifest as from persons_manifest",
    f"alter table _visits_{RUN} drop column visit_id",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_file_with_other_tables_is_refused(statement: str, tmp_path: Path) -> None:
    path = clinic().database(tmp_path / "release.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute(statement)
    with pytest.raises(UnreadableError):
        judge(path, "persons")


def test_a_view_that_shows_other_rows_is_reported(tmp_path: Path) -> None:
    path = clinic().database(tmp_path / "release.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create or replace view labs as select * from _labs_{RUN} limit 1")
    failed = {(one.name, one.column) for one in judge(path).checks if not one.passed}
    assert failed == {("view", "labs")}


def test_other_tables_beside_the_source(tmp_path: Path) -> None:
    """In the database of the source, tables of others are nothing of the release."""
    made = clinic()
    data = made.manifest() | {"seal": {"alone": False}}
    path = made.database(tmp_path / "release.duckdb", data)
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table patients as select 1 as a")
        connection.execute("create schema _anonymizer; create table _anonymizer.objects (a text)")
    assert judge(path).passed
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create table _more_{RUN} as select 1 as a")
    with pytest.raises(UnreadableError):
        judge(path)


def test_several_releases_in_a_file(tmp_path: Path) -> None:
    made = clinic()
    path = made.database(tmp_path / "release.duckdb")
    other = Made(2, 0)
    other.persons([(1, 1, "5"), (1, 2, "5")], [column("age", "quasi", "numeric")], name="others")
    other.database(path)
    assert judge(path, "persons").passed
    assert judge(path, "others").passed


def test_a_folder_with_another_table_is_refused(tmp_path: Path) -> None:
    folder = clinic().folder(tmp_path / "out")
    shutil.copyfile(folder / "labs.parquet", folder / "more.parquet")
    with pytest.raises(UnreadableError):
        judge(folder)
    (folder / "more.parquet").unlink()
    (folder / "labs.parquet").unlink()
    with pytest.raises(UnreadableError):
        judge(folder)
