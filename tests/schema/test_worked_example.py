"""Five persons and two tables of their rows, small enough to be worked out by hand; k = 2.

All persons are alike, so that they are one class: what differs is what is published of their
visits and labs. `what` is a code (A10, A1*, A**, *); `test` has no hierarchy (Na, *).

The rule: a value that fewer than k persons of the class have is raised to its parent, level by
level. What fewer than k have at the root is not published: the row alone, with what hangs on it;
its person stays. With two known rows also, until nothing changes: of every pair that fewer than k
persons share, the value that fewer persons have is raised.

1. One known row, values that are raised:

       P1  A10 A10 C20    P2  A11 B20    P3  A10 B20    P4  A12 C10    P5  -
       labs: Na at P2's A11, K at P3's B20

   A10 is P1's and P3's: it stays, also where P1 has it twice, for one row is known. A11 (P2) and
   A12 (P4) become A1*, which both have. B20 is P2's and P3's. C20 (P1) and C10 (P4) become C2* and
   C1*, which one person has each, and then C**, which both have. Na and K become *.

2. One known row, a row that is not published:

       P1  B20    P2  B20 A12    P3  A11    P4  A10    P5  A10
       labs: Na at P5's A10

   Na is P5's alone, and so is *: whatever is published of it, who knows it knows the person. There
   is no lab then. A10 is P4's and P5's, A11 (P3) and A12 (P2) become A1*, B20 stays.

3. Two known rows, a pair that one person has:

       P1  A10 B20    P2  A10 B20    P3  A11 B20    P4  A12 B20    P5  B20
       labs: Na at the B20 of P1, P3 and P4

   With one known row: A10 is P1's and P2's, A11 and A12 become A1* (P3, P4), the rest stays. With
   two: A10 and Na are P1's alone. Two persons have A10, three have Na: A10 becomes A1*, which four
   have. A1* and Na are then those of P1, P3 and P4; A1* and B20 those of four; B20 and Na of three.

4. Two known rows that look the same:

       P1  A10    P2  A10    P3  A10    P4  A10    P5  A10
       labs: Na at P1, K at P2, Cl at P3, Mg and Fe at P5

   Each lab is of one person, and becomes *, which four have. With one known row that is all. With
   two known labs P5 is the only person who has two, whatever they show: one of them is not
   published.

5. Two known rows, and what hangs on a row that is not published:

       P1  A10    P2  A10    P3  A10    P4  A10    P5  A10 A10
       labs: Na twice at the A10 of P1 and P2, once at that of P3, and at each of P5's

   P5 is the only person with two visits, whatever they show: one of them is not published, and its
   lab goes with it. Two labs are P1's and P2's still.

6. One known row, and two different answers among those who remain:

       P1  A10    P2  A10    P3  A11    P4  A12    P5  -         smokes: yes, but for P3 and P5

   A11 (P3) and A12 (P4) become *, as all codes begin with A1. A10 is P1's and P2's, who both smoke:
   whoever knows of it knows that. It becomes * as well, which four have, P3 among them.

Here the observer does not know how the rows belong together (`joined: false`). If they do:

7. One known row, and the row above it:

       P1  A10(Na)    P2  A11(Na)    P3  A10 B20    P4  A11    P5  B20

   A10, A11, B20 and Na are two persons' each, but Na at an A10 is P1's alone, and Na at an A11 is
   P2's. A10 and A11 become A1*, which loses less than to publish no test.

8. Two known rows, and whether they have a row above them in common:

       P1, P2  A10(K,Na)    P3, P4  A10(K) A10(Na)    P5  A10

   Two persons have both tests in one visit, and two in two: everything stays.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.independent.judge import judge
from tests.runs import THRIFTY, fetch, fill
from tests.selection import some

Visits = dict[str, str]
Person = tuple[tuple[str, tuple[str, ...]], ...]
"""Every visit with its labs."""

SEVERAL: Visits = {"P1": "A10 A10 C20", "P2": "A11(Na) B20", "P3": "A10 B20(K)", "P4": "A12 C10"}
ALONE: Visits = {"P1": "B20", "P2": "B20 A12", "P3": "A11", "P4": "A10", "P5": "A10(Na)"}
PAIR: Visits = {
    "P1": "A10 B20(Na)",
    "P2": "A10 B20",
    "P3": "A11 B20(Na)",
    "P4": "A12 B20(Na)",
    "P5": "B20",
}
TWICE: Visits = {"P1": "A10(Na)", "P2": "A10(K)", "P3": "A10(Cl)", "P4": "A10", "P5": "A10(Mg,Fe)"}
HANGING: Visits = {
    "P1": "A10(Na,Na)",
    "P2": "A10(Na,Na)",
    "P3": "A10(Na)",
    "P4": "A10",
    "P5": "A10(Na) A10(Na)",
}

EXAMPLES: dict[str, tuple[int, Visits, Visits]] = {
    "values are raised": (
        1,
        SEVERAL,
        {"P1": "A10 A10 C**", "P2": "A1*(*) B20", "P3": "A10 B20(*)", "P4": "A1* C**", "P5": ""},
    ),
    "a row is not published": (
        1,
        ALONE,
        {"P1": "B20", "P2": "A1* B20", "P3": "A1*", "P4": "A10", "P5": "A10"},
    ),
    "a pair, where one row is known": (
        1,
        PAIR,
        PAIR | {"P3": "A1* B20(Na)", "P4": "A1* B20(Na)"},
    ),
    "a pair": (
        2,
        PAIR,
        {
            "P1": "A1* B20(Na)",
            "P2": "A1* B20",
            "P3": "A1* B20(Na)",
            "P4": "A1* B20(Na)",
            "P5": "B20",
        },
    ),
    "two that look the same, where one row is known": (
        1,
        TWICE,
        {"P1": "A10(*)", "P2": "A10(*)", "P3": "A10(*)", "P4": "A10", "P5": "A10(*,*)"},
    ),
    "two that look the same": (
        2,
        TWICE,
        {"P1": "A10(*)", "P2": "A10(*)", "P3": "A10(*)", "P4": "A10", "P5": "A10(*)"},
    ),
    "what hangs on a row": (2, HANGING, HANGING | {"P5": "A10(Na)"}),
}


JOINED: dict[str, tuple[int, Visits, Visits]] = {
    "a row below another": (
        1,
        {"P1": "A10(Na)", "P2": "A11(Na)", "P3": "A10 B20", "P4": "A11", "P5": "B20"},
        {"P1": "A1*(Na)", "P2": "A1*(Na)", "P3": "A1* B20", "P4": "A1*", "P5": "B20"},
    ),
    "two rows below one": (
        2,
        (
            dict.fromkeys(("P1", "P2"), "A10(K,Na)")
            | dict.fromkeys(("P3", "P4"), "A10(K) A10(Na)")
            | {"P5": "A10"}
        ),
        (
            dict.fromkeys(("P1", "P2"), "A10(K,Na)")
            | dict.fromkeys(("P3", "P4"), "A10(K) A10(Na)")
            | {"P5": "A10"}
        ),
    ),
}


def written(text: str) -> Person:
    """`A10(Na,K) B20` as visits with their labs."""
    found = []
    for visit in text.split():
        what, _, labs = visit.rstrip(")").partition("(")
        found.append((what, tuple(sorted(labs.split(","))) if labs else ()))
    return tuple(sorted(found))


def database(folder: Path, visits: Visits, smokers: str = "") -> Path:
    path = folder / "source.duckdb"
    persons: list[tuple[Any, ...]] = []
    stays: list[tuple[Any, ...]] = []
    labs: list[tuple[Any, ...]] = []
    for number in range(1, 6):
        who = f"P{number}"
        persons.append((f"key of {who}", who, "F", "yes" if who in smokers else "no"))
        for what, tests in written(visits.get(who, "")):
            stays.append((700 + len(stays), f"key of {who}", what))
            labs += [(stays[-1][0], test) for test in tests]
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        text = "VARCHAR"
        columns = dict.fromkeys(("patient_id", "who", "sex", "smokes"), text)
        fill(connection, columns, persons, "patients")
        types = {"visit_id": "INTEGER", "patient_id": text, "what": text}
        fill(connection, types, stays, "visits")
        fill(connection, {"visit_id": "INTEGER", "test": text}, labs, "labs")
    return path


def policy(folder: Path, events: int, smokes: Any = None, **knows: Any) -> Policy:
    given: dict[str, Any] = {
        "version": 1,
        "person": "patients",
        "tables": {
            "patients": {
                "source": {"table": "patients"},
                "key": "patient_id",
                "columns": {
                    "patient_id": {"role": "key"},
                    "who": {"role": "keep", "acknowledge_unique": True},
                    "sex": {"role": "quasi"},
                    "smokes": smokes or {"role": "drop"},
                },
            },
            "visits": {
                "source": {"table": "visits"},
                "key": "visit_id",
                "links": {"patient_id": "patients"},
                "columns": {
                    "visit_id": {"role": "key"},
                    "patient_id": {"role": "key"},
                    "what": {"role": "event", "hierarchy": {"builder": "prefix"}},
                },
            },
            "labs": {
                "source": {"table": "labs"},
                "links": {"visit_id": "visits"},
                "columns": {"visit_id": {"role": "key"}, "test": {"role": "event"}},
            },
        },
        "privacy": {"k_anonymity": 2, "knows": {"events": events, **knows}},
        "suppression_limit": 0.2,
        "publish": {"database": "release.duckdb"},
    }
    return Policy.model_validate(given, context={"base": folder})


def published(path: Path) -> dict[str, Person]:
    """Everybody in the release, with visits and labs: drawn numbers only join."""
    with duckdb.connect(str(path), read_only=True, config={"threads": 1}) as connection:
        rows = {name: fetch(connection, f"from {name}") for name in ("patients", "visits", "labs")}
    found = {}
    for person in rows["patients"]:
        visits = []
        for visit in rows["visits"]:
            if visit["patient_id"] == person["patient_id"]:
                labs = [one["test"] for one in rows["labs"] if one["visit_id"] == visit["visit_id"]]
                visits.append((visit["what"], tuple(sorted(labs))))
        found[person["who"]] = tuple(sorted(visits))
    assert len({row["class_id"] for row in rows["patients"]}) == 1
    assert sum(map(len, found.values())) == len(rows["visits"])
    assert sum(len(labs) for of in found.values() for _, labs in of) == len(rows["labs"])
    return found


@pytest.mark.parametrize("name", [*EXAMPLES, *JOINED])
def test_worked_example(name: str, tmp_path: Path) -> None:
    joined = name in JOINED
    events, visits, expected = JOINED[name] if joined else EXAMPLES[name]
    source = database(tmp_path, visits)
    anonymizer.run(policy(tmp_path, events, joined=joined), source, seed=1, limits=THRIFTY)
    found = published(tmp_path / "release.duckdb")
    assert found == {who: written(text) for who, text in expected.items()}
    assert judge(tmp_path / "release.duckdb").passed


@pytest.mark.slow
@some(1)
@pytest.mark.parametrize(("sensitive", "of_two"), [(False, "A10"), (True, "*")])
def test_worked_example_of_rules_among_those_who_remain(
    sensitive: bool, of_two: str, tmp_path: Path
) -> None:
    visits = {"P1": "A10", "P2": "A10", "P3": "A11", "P4": "A12"}
    source = database(tmp_path, visits, smokers="P1 P2 P4")
    smokes = {"role": "sensitive", "protect": {"l_diversity": 2}}
    release = anonymizer.run(
        policy(tmp_path, 1, smokes, sensitive=sensitive), source, seed=1, limits=THRIFTY
    )
    expected = {"P1": of_two, "P2": of_two, "P3": "*", "P4": "*", "P5": ""}
    found = published(tmp_path / "release.duckdb")
    assert found == {who: written(text) for who, text in expected.items()}
    assert judge(tmp_path / "release.duckdb").passed
    asked = {one.name for one in release.verification.checks}
    assert ("known_distinct_l" in asked) == sensitive
    assert anonymizer.verify(None, tmp_path / "release.duckdb").passed
