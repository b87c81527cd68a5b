"""A population that grows, shrinks and changes, and what its releases show of it."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from anonymizer import Policy

DISEASES = ("flu", "cold", "cancer", "asthma", "hiv", "ulcer")
Person = tuple[int, int, str]


@dataclass
class Population:
    """People by id: age, district, disease."""

    seed: int
    size: int
    people: dict[int, Person] = field(default_factory=dict)
    changed: set[int] = field(default_factory=set)
    """Whose disease changed while they were there."""
    left: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        self.next_id = 0
        self.arrive(self.size)

    def arrive(self, n: int) -> None:
        for _ in range(n):
            person = (
                self.draw.randint(18, 90),
                self.draw.randint(0, 40),
                # three values are common, three are rare
                self.draw.choices(DISEASES, (5, 5, 4, 2, 1, 1))[0],
            )
            self.people[self.next_id] = person
            self.next_id += 1

    def leave(self, n: int) -> None:
        for one in self.draw.sample(sorted(self.people), n):
            del self.people[one]
            self.left.add(one)

    def fall_ill(self, n: int) -> None:
        for one in self.draw.sample(sorted(self.people), n):
            age, district, _ = self.people[one]
            self.people[one] = (age, district, self.draw.choice(DISEASES))
            self.changed.add(one)

    def write(self, database: Path) -> None:
        with duckdb.connect(str(database)) as connection:
            connection.execute(
                "create or replace table visits"
                " (id integer, age integer, district integer, disease varchar)"
            ).fetchall()
            listed = ", ".join(
                f"({one}, {age}, {district}, '{disease}')"
                for one, (age, district, disease) in self.people.items()
            )
            connection.execute(f"insert into visits values {listed}").fetchall()


def policy(folder: Path, **changes: Any) -> Policy:
    """A policy on `visits`, with a ledger; None leaves a section out."""
    given: dict[str, Any] = {
        "version": 1,
        "source": {"table": "visits"},
        "key": "id",
        "columns": {
            "id": {"role": "identifier"},
            "age": {"role": "quasi"},
            "district": {"role": "quasi"},
            "disease": {"role": "sensitive"},
        },
        "privacy": {"k_anonymity": 3},
        "publish": {"name": "released", "database": "release.duckdb"},
        "ledger": "private.duckdb",
    }
    given |= changes
    return Policy.model_validate(
        {name: value for name, value in given.items() if value is not None},
        context={"base": folder},
    )


Seen = dict[int, tuple[int, frozenset[str]]]
"""Person to the number of the class and the values published in it."""


def observed(folder: Path, people: Mapping[int, Person], ledger: str = "private.duckdb") -> Seen:
    """What the strongest observer knows of the newest release: in which class everybody is, and
    which values the class publishes. Read with the ledger's key, which no observer has."""
    with duckdb.connect(str(folder / ledger), read_only=True) as connection:
        connection.execute(f"attach '{folder}/release.duckdb' as published (read_only)").fetchall()
        values = dict(
            connection.execute(
                "select class_id, list(disease) from published.main.released group by 1"
            ).fetchall()
        )
        members = dict(
            connection.execute(
                "select person, class_id from anonymizer_ledger.members"
                " where person is not null and release = (select max(release)"
                " from anonymizer_ledger.releases)"
            ).fetchall()
        )
    return {
        one: (members[digest], frozenset(values[members[digest]]))
        for digest, one in digests(folder, people, ledger).items()
        if digest in members
    }


def digests(
    folder: Path, people: Mapping[int, Person], ledger: str = "private.duckdb"
) -> dict[int, int]:
    """Whose digest is whose, for an attacker who has the ledger's key."""
    whole = (folder / f"{ledger}.key").read_text().strip()
    key = hashlib.sha256(f"{whole}:statements".encode()).hexdigest()[:32]
    with duckdb.connect() as connection:
        found = connection.execute(
            "select md5_number(concat($key, ':person:', i)), i from unnest($ids) t(i)",
            {"key": key, "ids": sorted(people)},
        )
        return dict(found.fetchall())
