"""The ledger for releases of several tables: what two of them tell together is counted."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy, SchemaPolicy
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import GuaranteeError, InfeasibleError
from anonymizer.ledger.session import forget_release, listed
from anonymizer.publish.duckdb.file import FileTarget
from anonymizer.release.published import Release
from tests.runs import THRIFTY, fetch, fill
from tests.schema import hospital
from tests.schema.oracle import left_in_class
from tests.selection import some

LEDGER = "private.duckdb"
TYPES = {
    "patients": {"patient_id": "INTEGER", "age": "INTEGER", "tag": "INTEGER"},
    "visits": {
        "visit_id": "INTEGER",
        "patient_id": "INTEGER",
        "what": "VARCHAR",
        "ward": "VARCHAR",
        "tag": "INTEGER",
    },
    "labs": {"lab_id": "INTEGER", "visit_id": "INTEGER", "test": "VARCHAR", "tag": "INTEGER"},
}
KEYS = {"patients": "patient_id", "visits": "visit_id", "labs": "lab_id"}
LINKS = {"visits": ("patient_id", "patients"), "labs": ("visit_id", "visits")}
EVENTS = {"visits": ("what", "ward"), "labs": ("test",)}


@dataclass
class Seen:
    """What a release shows of every source key: the class, and the looks of rows."""

    classes: dict[int, int]
    rows: dict[int, list[tuple[str, Any, tuple[str, ...]]]]
    """By person: table, what the row is found again by, its cells."""
    counts: dict[int, Counter[str]]
    events: int
    """Known rows against which the release promises something."""


@dataclass
class World:
    """Persons with visits and labs that change between releases."""

    seed: int
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    release: int = 0

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        r = self.draw
        self.k = r.choice([2, 2, 3])
        self.knows = {"events": r.choice([1, 1, 2]), "rows": r.random() < 0.3}
        self.ages = r.choice([1, 2, 3])
        self.values = r.choice([2, 3])
        self.calm = self.seed % 2 == 0
        if self.calm:  # few events that many have, and changes of many at once
            self.ages, self.values = 1, 1
        self.labs = not self.calm and r.random() < 0.4
        self.keyed = self.labs or r.random() < 0.5
        self.rows = {name: [] for name in (TYPES if self.labs else ("patients", "visits"))}
        self.arrive(r.choice([12, 20, 30]))

    def arrive(self, persons: int) -> None:
        for _ in range(persons):
            number = 100 + 7 * len(self.rows["patients"])
            age = 20 + 20 * self.draw.randrange(self.ages)
            self.rows["patients"].append({"patient_id": number, "age": age})
            for _ in range(1 if self.calm else self.draw.choice([0, 1, 1, 2, 3])):
                self.visit(number)

    def visit(self, person: int) -> None:
        number = 5000 + 3 * len(self.rows["visits"])
        self.rows["visits"].append({"visit_id": number, "patient_id": person} | self._event())
        if self.labs and self.draw.random() < 0.6:
            test = self.draw.choice("xy")
            lab = {"lab_id": 9000 + len(self.rows["labs"]), "visit_id": number, "test": test}
            self.rows["labs"].append(lab)

    def _event(self) -> dict[str, str]:
        r = self.draw
        what = r.choice("AB") + str(r.randrange(self.values))
        return {"what": what, "ward": r.choice(["eyes", "ears"]) if self.values == 2 else "eyes"}

    def change(self) -> None:
        """Some events are corrected, some persons are new, some have a visit more."""
        r = self.draw
        self.knows["events"] = r.choice([self.knows["events"]] * 4 + [0, 1, 2, 3])
        if self.calm:
            several = r.sample(self.rows["visits"], r.choice([0, 1, 6, 9]))
            for row in several:
                row["what"] = "A0"
            for row in several[::3]:
                self.visit(row["patient_id"])
            self.arrive(r.choice([0, 5]))
            return
        for row in r.sample(self.rows["visits"], r.choice([0, 0, 1, 2])):
            row.update(self._event())
        self.arrive(r.choice([0, 0, 2, 5]))
        for row in r.sample(self.rows["patients"], r.choice([0, 0, 1])):
            self.visit(row["patient_id"])

    def policy(self, folder: Path, file: str, **rest: Any) -> Policy:
        tables: dict[str, Any] = {}
        for name in self.rows:
            keys = {KEYS[name], LINKS[name][0]} if name in LINKS else {KEYS[name]}
            columns: dict[str, Any] = {column: {"role": "key"} for column in keys}
            columns |= {column: {"role": "event"} for column in EVENTS.get(name, ())}
            columns["tag"] = {"role": "keep", "acknowledge_unique": True}
            given = {"source": {"table": name}, "key": KEYS[name], "columns": columns}
            if name == "patients":
                columns["age"] = {"role": "quasi"}
            else:
                given["links"] = dict([LINKS[name]])
            if name == "visits":
                columns["what"]["hierarchy"] = {"builder": "prefix"}
            if name == "labs" or (name == "visits" and not self.keyed):
                columns[KEYS[name]] = {"role": "drop"}
                del given["key"]
            tables[name] = given
        policy = {
            "version": 1,
            "person": "patients",
            "tables": tables,
            "privacy": {"k_anonymity": self.k, "knows": self.knows},
            "suppression_limit": 1.0,
            "publish": {"database": file},
            **rest,
        }
        return Policy.model_validate(policy, context={"base": folder})

    def write(self, folder: Path) -> Path:
        """The tables as they are now, with tags that no other release has."""
        self.release += 1
        path = folder / f"source{self.release}.duckdb"
        with duckdb.connect(str(path), config={"threads": 1}) as connection:
            for name, rows in self.rows.items():
                for place, row in enumerate(rows):
                    row["tag"] = self.release * 100_000 + place
                shuffled = self.draw.sample(rows, len(rows))
                listed = [tuple(row[c] for c in TYPES[name]) for row in shuffled]
                fill(connection, TYPES[name], listed, name)
        return path

    def seen(self, file: Path) -> Seen:
        """The published rows, led to their source by their tags."""
        with duckdb.connect(str(file), read_only=True, config={"threads": 1}) as connection:
            found = {name: fetch(connection, f"from {name}") for name in self.rows}
        source = {name: {row["tag"]: row for row in rows} for name, rows in self.rows.items()}
        classes = {
            source["patients"][row["tag"]]["patient_id"]: row["class_id"]
            for row in found["patients"]
        }
        owners = {row["visit_id"]: row["patient_id"] for row in self.rows["visits"]}
        held: dict[int, list[tuple[str, Any, tuple[str, ...]]]] = {p: [] for p in classes}
        counts: dict[int, Counter[str]] = {p: Counter() for p in classes}
        for name, events in EVENTS.items():
            numbers: Counter[Any] = Counter()
            cells_of = {
                row["tag"]: tuple(str(row[e]) for e in events) for row in found.get(name, [])
            }
            for tag, cells in sorted(cells_of.items(), key=lambda one: _text(one[1], events)):
                row = source[name][tag]
                person = owners[row["visit_id"]]
                again: Any = row["visit_id"]
                if name == "labs" or not self.keyed:
                    values = (person, *(row[e] for e in events))
                    numbers[values] += 1
                    again = (*values, numbers[values])
                held[person].append((name, again, cells))
                counts[person][name] += 1
        promised = self.knows["events"]
        if not promised:
            held = {person: [] for person in held}  # nobody knows of any row of it
        return Seen(classes, held, counts, promised)


def _text(cells: tuple[str, ...], events: tuple[str, ...]) -> str:
    """The order in which rows with the same true events are numbered."""
    named = sorted(zip(events, cells, strict=True))
    return "".join(f"{len(cell)}:{cell}" for _, cell in named)


def judged(releases: list[Seen], k: int) -> tuple[int, int, int]:
    """Of the persons of the last release: returning, below k by their events, by their numbers."""
    *_, new = releases
    m = min((one.events for one in releases if one.events), default=0)
    returning = by_events = by_numbers = 0
    for person in new.classes:
        mine = [one for one in releases if person in one.classes]
        if len(mine) < 2:
            continue
        returning += 1
        having = [{q for q, c in one.classes.items() if c == one.classes[person]} for one in mine]
        candidates = sorted(set.intersection(*having))
        looks = {q: _looks(mine, q) for q in candidates}
        if looks[person]:
            by_events += left_in_class(candidates, looks, m)[person] < k
        numbers = {q: [one.counts[q] for one in mine] for q in candidates}
        by_numbers += sum(numbers[q] == numbers[person] for q in candidates) < k
    return returning, by_events, by_numbers


def _looks(mine: list[Seen], person: int) -> list[tuple[str, tuple[Any, ...]]]:
    """A row as it looks in every release; None where that does not have it."""
    found: dict[tuple[str, Any], list[Any]] = {}
    for place, one in enumerate(mine):
        for table, again, cells in one.rows[person]:
            found.setdefault((table, again), [None] * len(mine))[place] = cells
    return [(table, tuple(cells)) for (table, _), cells in found.items()]


def absent(releases: list[Seen], k: int) -> tuple[int, int]:
    """Persons whom the differences of the releases tell from others: in groups below k, and all."""

    def groups(of: list[Seen]) -> Counter[tuple[int | None, ...]]:
        people = {person for one in of for person in one.classes}
        return Counter(tuple(one.classes.get(person) for one in of) for person in people)

    sizes = [Counter(one.classes.values()) for one in releases]
    before = groups(releases[:-1])
    below = exposed = 0
    for group, n in groups(releases).items():
        whole = any(c is not None and sizes[i][c] == n for i, c in enumerate(group))
        judged = None in group[:-1] and before[group[:-1]] == n
        if None in group and not whole and not judged:
            exposed += n
            below += n if n < k else 0
    return below, exposed


def played(seed: int, folder: Path) -> Iterator[str]:
    """Up to four releases in a row: what became of each of those after the first."""
    world = World(seed)
    published: list[Seen] = []
    for number in range(4):
        database = world.write(folder)
        alone, kept = world.policy(folder, f"a{number}.duckdb"), f"b{number}.duckdb"
        given: dict[str, Any] = {"seed": seed * 10 + number, "limits": THRIFTY}
        try:
            anonymizer.run(alone, database, **given)
        except InfeasibleError:
            return
        shown = world.seen(folder / f"a{number}.duckdb")
        returning, events, numbers = judged([*published, shown], world.k)
        expected = {
            "privacy.knows.events": events,
            "privacy.knows.rows": numbers if world.knows["rows"] else 0,
        }
        problems: dict[str, str] = {}
        gone: list[str] = []
        try:
            anonymizer.run(world.policy(folder, kept, ledger=LEDGER), database, **given)
        except GuaranteeError as error:
            said = [problem for problem in error.problems if "not in all" not in problem.message]
            problems = {problem.path: problem.message for problem in said}
            gone = [problem.message for problem in error.problems if problem not in said]
            assert not (folder / kept).exists()
        assert set(problems) <= {*expected, "privacy.k_anonymity"}
        alone_below, exposed = absent([*published, shown], world.k)
        told = [message for message in gone if message.startswith("the differences")]
        assert bool(told) == (alone_below > 0)
        assert not told or f"tell {alone_below} of {exposed} persons" in told[0]
        for path, below in expected.items():
            assert (path in problems) == (below > 0), (path, below, problems)
            assert not below or f" {below} of {returning} returning" in problems[path]
        problems |= dict.fromkeys(gone, "absent")
        if not problems:
            assert world.seen(folder / kept) == shown, "the same secret makes the same release"
            published.append(shown)
        if number:
            yield "refused" if problems else "published"
        world.change()


@some(0)
@pytest.mark.parametrize("seed", range(40))
def test_what_releases_tell_together_is_what_their_joins_tell(seed: int, tmp_path: Path) -> None:
    """Nobody is below k to whoever knows rows, or the release is refused with the same figures."""
    list(played(seed, tmp_path))


@pytest.mark.slow
def test_both_outcomes_occur(tmp_path: Path) -> None:
    found: Counter[str] = Counter()
    for seed in (66, 75):
        folder = tmp_path / str(seed)
        folder.mkdir()
        found.update(played(seed, folder))
    assert found["published"] > 1, found
    assert found["refused"] > 1


def policy(folder: Path, changes: dict[str, Any] | None = None, *drop: str) -> SchemaPolicy:
    return hospital.policy(folder, {"ledger": LEDGER, **(changes or {})}, *drop)


@pytest.fixture
def equal(tmp_path: Path) -> Path:
    return hospital.write(tmp_path / "source.duckdb", hospital.alike())


def run(of: Policy | SchemaPolicy, database: Path, seed: int) -> Release:
    return anonymizer.run(of, database, seed=seed, limits=THRIFTY)


def remembered(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(folder / LEDGER), read_only=True) as connection:
        connection.execute("use anonymizer_ledger").fetchall()
        return connection.execute(query).fetchall()


def refused(of: Policy | SchemaPolicy, database: Path, seed: int) -> dict[str, str]:
    with pytest.raises(GuaranteeError) as raised:
        run(of, database, seed)
    return {one.path: f"{one.message}; {one.hint}" for one in raised.value.problems}


@pytest.mark.slow
def test_an_entry_holds_digests_of_every_row(tmp_path: Path, equal: Path) -> None:
    hospital.changed(equal, "update visits set ward = 'marker-7731'")
    release = run(policy(tmp_path), equal, 1)
    (entry,) = listed(tmp_path / LEDGER)
    assert (entry.run_id, entry.state, entry.persons) == (release.run_id, "published", 24)
    assert entry.view == "main.patients"
    assert entry.facets == ("visits.diagnosis",)
    rows = "select source, count(*), count(distinct person), count(by_key), count(distinct cells)"
    assert remembered(tmp_path, f"{rows} from rows group by source order by source") == [
        ("labs", 24, 24, 0, 1),
        ("visits", 24, 24, 24, 1),
    ]
    assert remembered(tmp_path, "select events, rows, tables from schemas") == [
        (1, False, ["visits", "labs"])
    ]
    content = (tmp_path / LEDGER).read_bytes()
    for value in (b"marker-7731", b"2024-01-01", b"iron"):
        assert value not in content


@pytest.mark.slow
def test_equal_releases_pass_and_one_of_them_is_forgotten(tmp_path: Path, equal: Path) -> None:
    first, second = (run(policy(tmp_path), equal, seed) for seed in (1, 2))
    assert [e.state for e in listed(tmp_path / LEDGER)] == ["published", "published"]
    forget_release(tmp_path / LEDGER, first.run_id)
    assert [e.run_id for e in listed(tmp_path / LEDGER)] == [second.run_id]
    for table in ("rows", "schemas", "members", "signatures"):
        assert remembered(tmp_path, f"select distinct release from {table}") == [(2,)]


@pytest.mark.slow
def test_the_same_secret_is_refused(tmp_path: Path, equal: Path) -> None:
    run(policy(tmp_path), equal, 1)
    assert "seed" in refused(policy(tmp_path), equal, 1)


@pytest.mark.slow
def test_a_changed_event_is_told(tmp_path: Path, equal: Path) -> None:
    """One visit moves to another ward: whoever knows it finds the person."""
    hospital.changed(equal, "update visits set ward = 'ears' where visit_id % 20 < 10")
    first = run(policy(tmp_path, {"publish.database": "first.duckdb"}), equal, 1)
    hospital.changed(equal, "update visits set ward = 'ears' where visit_id = 50010")
    problems = refused(policy(tmp_path), equal, 2)
    said = problems.pop("privacy.knows.events")
    assert not problems
    assert "1 of 24 returning persons" in said
    assert "by one known event" in said
    assert "forget" in said
    assert "republish" not in said, "it is not offered with several tables"
    assert not (tmp_path / "release.duckdb").exists()
    forget_release(tmp_path / LEDGER, first.run_id)
    run(policy(tmp_path), equal, 3)


@pytest.mark.slow
def test_a_visit_more_is_told_to_who_counts(tmp_path: Path, equal: Path) -> None:
    counting = {"privacy.knows": {"events": 0, "rows": True}}
    run(policy(tmp_path, counting), equal, 1)
    hospital.changed(
        equal,
        "insert into visits select visit_id + 1, patient_id, day, ward, diagnosis, cost"
        " from visits where visit_id < 50030",
    )
    run(policy(tmp_path, counting), equal, 2)
    # as many persons have two visits, and one of them is another
    hospital.changed(
        equal, "update visits set visit_id = 50031, patient_id = 1003 where visit_id = 50001"
    )
    problems = refused(policy(tmp_path, counting), equal, 3)
    assert set(problems) == {"privacy.knows.rows"}
    assert "4 of 24 returning persons" in problems["privacy.knows.rows"]
    assert remembered(tmp_path, "select count(*), count(cells), count(content) from rows") == [
        (24 + 24 + 27 + 24, 0, 0)
    ]


@pytest.mark.slow
def test_who_knows_three_rows_finds_a_person_whom_two_rows_hide(tmp_path: Path) -> None:
    """What became of three rows is one person's own; what became of two of them is not.

    In the first release everybody has the same rows, and in the second nobody is alone.
    """
    world = World(1)
    world.k, world.knows, world.keyed, world.labs = 2, {"events": 3, "rows": False}, True, False
    kinds = {"000": 6, "110": 6, "101": 6, "011": 6, "010": 3, "001": 3, "100": 1}
    became = [kind for kind, persons in kinds.items() for _ in range(persons)]
    world.rows = {
        "patients": [{"patient_id": person, "age": 40} for person in range(len(became))],
        "visits": [
            {"visit_id": 10 * person + place, "patient_id": person, "what": what, "ward": "eyes"}
            for person in range(len(became))
            for place, what in enumerate("abcc")  # (the third twice)
        ],
    }
    run(world.policy(tmp_path, "first.duckdb", ledger=LEDGER), world.write(tmp_path), 1)
    for visit in world.rows["visits"]:
        visit["what"] = became[visit["patient_id"]][min(visit["visit_id"] % 10, 2)]
    problems = refused(world.policy(tmp_path, "b.duckdb", ledger=LEDGER), world.write(tmp_path), 2)
    assert set(problems) == {"privacy.knows.events"}
    assert " 1 of 31 returning persons" in problems["privacy.knows.events"]
    assert "by three known events" in problems["privacy.knows.events"]


KILLED = """
import json, os, sys
from pathlib import Path
import anonymizer
from anonymizer.publish.duckdb.file import FileTarget

folder, swaps, given = Path(sys.argv[1]), sys.argv[2] == "True", json.loads(sys.argv[3])
publish = FileTarget.publish

def dies(self, *rest):
    if swaps:
        publish(self, *rest)
    os._exit(9)

FileTarget.publish = dies
policy = anonymizer.Policy.model_validate(given, context={"base": folder})
anonymizer.run(policy, folder / "source.duckdb", seed=1)
"""
"""A run that ends between the entry in the ledger and its confirmation."""


@pytest.mark.slow
@pytest.mark.parametrize("swaps", [True, False])
def test_a_killed_run_is_settled(tmp_path: Path, equal: Path, swaps: bool) -> None:
    given = json.dumps(hospital.given({"ledger": LEDGER}))
    arguments = [sys.executable, "-c", KILLED, str(tmp_path), str(swaps), given]
    assert subprocess.run(arguments, check=False).returncode == 9
    (entry,) = listed(tmp_path / LEDGER)
    assert entry.state == "pending"
    assert remembered(tmp_path, "select count(*) from rows") == [(48,)]
    again = run(policy(tmp_path, {"publish.database": "second.duckdb"}), equal, 2)
    expected = [entry.run_id, again.run_id] if swaps else [again.run_id]
    assert [e.run_id for e in listed(tmp_path / LEDGER)] == expected
    assert {e.state for e in listed(tmp_path / LEDGER)} == {"published"}
    # (the number of an entry that is gone is free again)
    for table in ("rows", "schemas", "members"):
        assert len(remembered(tmp_path, f"select distinct release from {table}")) == len(expected)


@pytest.mark.slow
def test_a_run_that_fails_at_the_swap_is_withdrawn(
    tmp_path: Path, equal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError("no room")

    with monkeypatch.context() as broken:
        broken.setattr(FileTarget, "publish", fails)
        with pytest.raises(OSError, match="no room"):
            run(policy(tmp_path), equal, 1)
    for table in ("releases", "rows", "schemas", "members", "signatures"):
        assert remembered(tmp_path, f"select count(*) from {table}") == [(0,)]
    run(policy(tmp_path), equal, 1)


def alone(folder: Path) -> Policy:
    """The persons' table as a release of one table."""
    roles = dict.fromkeys(("birth_date", "sex", "zip"), "quasi")
    roles |= {"patient_id": "identifier", "name": "identifier", "died": "drop"}
    given = {
        "version": 1,
        "source": {"table": "patients"},
        "key": "patient_id",
        "columns": {name: {"role": role} for name, role in roles.items()},
        "privacy": {"k_anonymity": 3},
        "publish": {"name": "alone", "database": "alone.duckdb"},
        "ledger": LEDGER,
    }
    return Policy.model_validate(given, context={"base": folder})


@pytest.mark.slow
def test_a_ledger_of_the_former_version(tmp_path: Path, equal: Path) -> None:
    """It has no tables of rows: they are made, and what it remembers still counts."""
    hospital.changed(equal, "update patients set sex = 'm' where patient_id < 1012")
    run(alone(tmp_path), equal, 1)
    with duckdb.connect(str(tmp_path / LEDGER)) as connection:
        for table in ("rows", "schemas"):
            connection.execute(f"drop table anonymizer_ledger.{table}").fetchall()
    assert len(listed(tmp_path / LEDGER)) == 1
    hospital.changed(equal, "update patients set sex = 'm' where patient_id < 1014")
    # persons are the same by their keys, whatever the form of the release
    problems = refused(policy(tmp_path), equal, 2)
    assert "2 of 24 returning persons" in problems["privacy.k_anonymity"]
    hospital.changed(equal, "update patients set sex = 'f' where patient_id >= 1012")
    run(policy(tmp_path), equal, 3)
    assert len(listed(tmp_path / LEDGER)) == 2


@pytest.mark.slow
def test_a_release_of_one_table_cuts_the_candidates_of_an_event(
    tmp_path: Path, equal: Path
) -> None:
    """Its classes leave k persons, but not k with the ward that the earlier release shows."""
    hospital.changed(equal, "update visits set ward = 'ears' where patient_id < 1010")
    run(policy(tmp_path), equal, 1)
    hospital.changed(equal, "update patients set sex = 'm' where patient_id between 1008 and 1015")
    problems = refused(alone(tmp_path), equal, 2)
    assert set(problems) == {"privacy.knows.events"}
    assert "2 of 24 returning persons" in problems["privacy.knows.events"]
    assert not (tmp_path / "alone.duckdb").exists()


@pytest.mark.slow
def test_rows_without_a_key_are_found_by_their_events(tmp_path: Path, equal: Path) -> None:
    hidden = {"tables.visits.columns.visit_id": {"role": "drop"}}
    drop = ("tables.visits.key", "tables.labs")
    run(policy(tmp_path, hidden, *drop), equal, 1)
    run(policy(tmp_path, hidden, *drop), equal, 2)
    # of other columns of events nothing can be said, unless both releases name a key
    fewer = {**hidden, "tables.visits.columns.day": {"role": "drop"}}
    problems = refused(policy(tmp_path, fewer, *drop), equal, 3)
    assert "has other event columns" in problems["tables.visits.key"]
    assert "give the table a key" in problems["tables.visits.key"]
    assert not {"privacy.knows.events", "privacy.k_anonymity"} & set(problems)


@pytest.mark.slow
def test_rows_with_a_key_are_found_whatever_their_events(tmp_path: Path, equal: Path) -> None:
    run(policy(tmp_path, None, "tables.labs"), equal, 1)
    fewer = {"tables.visits.columns.day": {"role": "drop"}}
    run(policy(tmp_path, fewer, "tables.labs"), equal, 2)
    # in whose content a row changed while it kept its key, both looks count together
    looks = "select count(distinct (by_key)) from rows"
    assert remembered(tmp_path, looks) == [(24,)]


@pytest.mark.slow
def test_a_table_under_another_name(tmp_path: Path, equal: Path) -> None:
    run(policy(tmp_path, None, "tables.labs"), equal, 1)
    given = hospital.given({"ledger": LEDGER}, "tables.labs")
    given["tables"]["stays"] = given["tables"].pop("visits")
    renamed = Policy.model_validate(given, context={"base": tmp_path})
    problems = refused(renamed, equal, 2)
    assert "which has visits instead" in problems["tables.stays"]


@pytest.mark.slow
def test_a_kept_column_of_a_further_table(tmp_path: Path, equal: Path) -> None:
    """What names a person in two releases joins them, whichever tables hold it."""
    hospital.changed(
        equal,
        "alter table visits add column nr integer",
        "update visits set nr = patient_id + 7000",
        "update patients set sex = case when patient_id < 1012 then 'm' else 'f' end",
    )
    kept = {"tables.visits.columns.nr": {"role": "keep", "acknowledge_unique": True}}
    run(policy(tmp_path, kept), equal, 1)
    (entry,) = listed(tmp_path / LEDGER)
    assert entry.marks == ("nr",)
    problems = refused(policy(tmp_path, kept), equal, 2)
    assert set(problems) == {"tables.visits.columns.nr"}
    assert "works as a pseudonym" in problems["tables.visits.columns.nr"]
    unsaid: dict[str, Any] = {
        "tables.visits.columns.nr": {"role": "keep"},
        "publish.prefix": "other_",
    }
    unsaid["publish.database"] = "other.duckdb"
    problems = refused(policy(tmp_path, unsaid), equal, 3)
    assert "tells persons apart" in problems["tables.visits.columns.nr"]


@pytest.mark.slow
def test_values_of_a_further_table(tmp_path: Path, equal: Path) -> None:
    """What two classes have in common of a diagnosis is counted as for one table."""
    run(policy(tmp_path, {"privacy.knows.events": 0}), equal, 1)
    hospital.changed(
        equal,
        "update visits set diagnosis = case when diagnosis = 'A0' then 'A0' else 'Z' end",
    )
    problems = refused(policy(tmp_path, {"privacy.knows.events": 0}), equal, 2)
    assert set(problems) == {"tables.visits.columns.diagnosis"}
    assert "values of 6 of 24 returning persons" in problems["tables.visits.columns.diagnosis"]


@pytest.mark.slow
def test_as_many_statements_whatever_the_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither rows nor classes nor events make the ledger ask more."""
    asked: list[str] = []
    raw = DuckDBEngine.raw

    def counting(self: DuckDBEngine, text: str, where: str, *rest: Any) -> Any:
        asked.append(where)
        return raw(self, text, where, *rest)

    monkeypatch.setattr(DuckDBEngine, "raw", counting)
    found = set()
    for size in ((24, 1, 1), (200, 4, 8)):
        folder = tmp_path / str(size)
        folder.mkdir()
        database = hospital.write(folder / "source.duckdb", hospital.alike(*size))
        for seed in (1, 2):
            asked.clear()
            run(policy(folder), database, seed)
        found.add(asked.count("ledger"))
    assert len(found) == 1
