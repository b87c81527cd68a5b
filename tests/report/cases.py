"""Tables of many kinds with their releases and reports, and what is read off a report's bars."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import duckdb

from anonymizer import Policy
from anonymizer.review.report import rendered
from anonymizer.review.report.content import Report, collect
from anonymizer.review.report.distributions import OTHER, Distribution
from tests import runs
from tests.oracle import report as oracle
from tests.oracle.cells import Exact, Null, domain_of, parse
from tests.oracle.workload import Own

KINDS = {
    "town": "categorical", "age": "numeric", "wage": "numeric", "born": "date",
    "test": "categorical", "cost": "numeric", "kept": "categorical",
}  # fmt: skip
TYPES = {
    "person": "integer", "town": "varchar", "age": "integer", "wage": "double", "born": "date",
    "test": "varchar", "cost": "integer", "kept": "varchar",
}  # fmt: skip
COLUMNS: dict[str, Any] = {
    "person": "drop", "town": "quasi", "age": "quasi", "wage": "quasi", "born": "quasi",
    "test": "sensitive", "cost": "sensitive", "kept": "keep",
}  # fmt: skip


OWN = (
    Own("select kept, count(*) from people group by kept", by="kept"),
    Own("select town, count(*) from people group by town", by="town"),
    Own("select sum(age) from people", "sum", "age"),
    Own("select count(age) from people", of="age"),
    Own("select avg(wage) from people where wage >= 50", "avg", "wage",
        where=("wage", lambda wage: wage >= 50)),
    Own("select count(*) from people where born < date '1962-01-01'",
        where=("born", lambda day: day < date(1962, 1, 1))),
    Own("select test, count(*) from people group by test", by="test"),
    Own("select avg(cost) from people", "avg", "cost"),
    Own("select kept, sum(cost) from people group by kept", "sum", "cost", "kept"),
    Own("select town, avg(age) from people group by town", "avg", "age", "town"),
    Own("select count(*) from people where age >= 65", where=("age", lambda age: age >= 65)),
    Own("select cost, count(*) from people group by cost", by="cost"),
    Own("select kept, sum(age) from people group by kept", "sum", "age", "kept"),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Case:
    source: runs.Rows
    release: runs.Rows
    policy: Policy
    report: Report
    warnings: tuple[str, ...]
    apart: dict[str, runs.Rows]
    """The tables of values that are published apart (msb), by their columns."""

    @property
    def person(self) -> str | None:
        return self.policy.person

    @cached_property
    def page(self) -> str:
        return rendered(self.report, "html")

    @cached_property
    def text(self) -> str:
        return rendered(self.report, "md")

    @property
    def quasi(self) -> list[str]:
        return [name for name, column in self.policy.columns.items() if column.role == "quasi"]

    @property
    def classes(self) -> list[str]:
        """What tells the classes of the release apart."""
        return ["class_id"] if "class_id" in self.release[0] else self.quasi

    @property
    def grouped(self) -> runs.Rows:
        """The rows with the numbers of their classes, or of their groups where there are none."""
        return [{"class_id": row.get("group_id"), **row} for row in self.release]


def table(persons: int, seed: int, *, towns: int, several: int = 1) -> list[tuple[Any, ...]]:
    """Persons with `several` rows, each with a town of its own, ages and dates that differ."""
    draw = random.Random(seed)
    rows = []
    for person in range(persons):
        for _ in range(draw.randint(1, several)):
            rows.append((
                person, f"town {draw.randrange(towns)}",
                None if draw.random() < 0.1 else draw.randint(18, 80),
                round(draw.uniform(10, 99), 1), date(1950, 1, 1) + timedelta(draw.randrange(9000)),
                draw.choice(["flu", "cold", "gout", None]), draw.randrange(40),
                draw.choice("xyz"),
            ))  # fmt: skip
    return rows


def made(folder: Path, rows: list[tuple[Any, ...]], **parts: Any) -> Case:
    parts.setdefault("workload", {"sql": [own.sql for own in OWN]})
    database = runs.source(folder, parts.pop("types", TYPES), rows)
    given = runs.policy(folder, parts.pop("columns", COLUMNS), parts.pop("k", 4), **parts)
    release = runs.run(given, database)
    with duckdb.connect(str(database), read_only=True) as connection:
        source = runs.fetch(connection, "from people")
    found = collect(given, source=database)
    with duckdb.connect(str(folder / "release.duckdb"), read_only=True) as connection:
        apart = {
            name: runs.fetch(connection, f"from {table}")
            for name, table in found.layout.tables.items()
        }
    return Case(source, runs.published(release), given, found, release.warnings, apart)


def plain(folder: Path) -> Case:
    """One row each; few rows, so that every category is rare."""
    return made(folder, table(150, 1, towns=60))


def of_persons(folder: Path) -> Case:
    """63 persons with up to six rows, whose towns are published as sets: nothing has a bar."""
    rows = table(63, 2, towns=80, several=6)
    return made(
        folder, rows, k=None, person="person", algorithm={"name": "danonyir"},
        privacy={"ir_k": 7}, merge_person_rows=True,
    )  # fmt: skip


def of_merged_persons(folder: Path) -> Case:
    rows = table(120, 3, towns=12, several=3)
    return made(folder, rows, person="person", merge_person_rows=True)


def giant(folder: Path) -> Case:
    """One class for nearly everybody: a guarantee that only mixing all of them holds."""
    draw = random.Random(4)
    rows = []
    for number in range(400):
        rare = number == 0
        rows.append((
            number, f"town {draw.randrange(30)}", draw.randint(18, 80), float(draw.randint(1, 90)),
            date(1960, 1, 1) + timedelta(draw.randrange(900)), "flu" if not rare else "gout",
            draw.randrange(5), "x",
        ))  # fmt: skip
    test = {"role": "sensitive", "protect": {"t_closeness": {"t": 0.0001, "distance": "equal"}}}
    return made(folder, rows, columns={**COLUMNS, "test": test})


def of_buckets(folder: Path) -> Case:
    """Ages and towns that some hide, and two columns in buckets."""
    draw = random.Random(5)
    hidden = ("hides", "closed")
    rows = [
        (*row, draw.random() < 0.4, draw.random() < 0.3) for row in table(300, 7, towns=6)
    ]  # fmt: skip
    rule = {"protect": {"l_diversity": 3}}
    columns = {
        **COLUMNS, **dict.fromkeys(hidden, "drop"),
        "town": {"role": "quasi", "sensitive_when": "closed", **rule},
        "age": {"role": "quasi", "sensitive_when": "hides", **rule},
        "test": {"role": "sensitive", "protect": {"l_diversity": 2}},
        "cost": {"role": "sensitive", **rule},
    }  # fmt: skip
    return made(
        folder, rows, columns=columns, types={**TYPES, **dict.fromkeys(hidden, "boolean")},
        algorithm={"name": "lgb"}, suppression_limit=0.5,
    )  # fmt: skip


APART = {
    "test": {"role": "sensitive", "protect": {"l_diversity": 3}},
    "cost": {"role": "sensitive", "protect": {"l_diversity": 3}},
}


def of_groups(folder: Path) -> Case:
    """Two columns apart from the rows, which are published as they are."""
    return made(
        folder, table(300, 7, towns=6), columns={**COLUMNS, **APART}, k=None,
        algorithm={"name": "msb"}, suppression_limit=0.5,
    )  # fmt: skip


def of_groups_of_persons(folder: Path) -> Case:
    """The same for persons, in classes; who has the flu has many rows."""
    draw = random.Random(3)
    rows = []
    for row in table(150, 9, towns=6):
        several = draw.randint(1, 6 if row[5] == "flu" else 2)
        rows += [(*row[:7], draw.choice("xyz")) for _ in range(several)]
    return made(
        folder, rows, columns={**COLUMNS, **APART}, k=None, person="person",
        algorithm={"name": "msb", "generalize": {"k": 5}}, suppression_limit=0.5,
    )  # fmt: skip


CASES = {
    "rows": plain,
    "persons with merged rows": of_merged_persons,
    "one giant class": giant,
    "cells in buckets": of_buckets,
    "persons in clusters": of_persons,
    "values in groups": of_groups,
    "values of persons in groups": of_groups_of_persons,
}


@cache
def masses(case: Case, name: str) -> tuple[oracle.Masses, oracle.Masses]:
    kind, values = KINDS[name], [row[name] for row in case.source]
    if name in case.apart:
        if case.person is not None:
            values = list({row[case.person]: row[name] for row in case.source}.values())
        published = [row[name] for row in case.apart[name]]
        return oracle.of_values(values, kind), oracle.of_values(published, kind)
    before = oracle.of_values(values, kind)
    published = [row[name] for row in case.release]
    if case.policy.columns[name].role == "quasi":
        return before, oracle.of_cells(published, domain_of(values, kind))
    return before, oracle.of_values(published, kind)


def near(shown: float | None, exact: Fraction | float, rows: int, whole: bool = True) -> bool:
    """A share as it is rounded; what is nearly nothing is told from nothing.

    `whole`: whether that it is nothing follows from the release.
    """
    assert shown is not None
    step = step_of(rows)
    return abs(shown - float(exact)) <= step / 2 + 1e-9 and (shown == 0) == (whole and exact == 0)


STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)
LITTLE = {round(0.4875 * step, 5): f"<{100 * step:.0f} %" for step in STEPS}
"""What is shown of a share of less than half a step."""


def step_of(units: int, many: int = 4) -> float:
    """The step to which shares are rounded: no less than that of `many` rows (persons)."""
    steps = (step for step in STEPS if step * units >= many or step == 1)
    return 0.001 if units >= 10_000 else next(steps)


def units_of(rows: Sequence[Mapping[str, Any]], person: str | None) -> int:
    return len(rows) if person is None else len({row[person] for row in rows})


def units_shown(case: Case, found: Distribution) -> int:
    """How many rows (persons) the shares of a distribution are of."""
    return units_of(case.source, case.person if found.unit == "persons" else None)


def round_count(n: int) -> int:
    """A count of the source, as it is shown: tens, and two significant digits from a hundred on."""
    if n >= 100:
        return int(float(f"{n:.2g}"))
    return max(10, (n + 5) // 10 * 10) if n else 0


def shown_whole(case: Case, name: str) -> bool:
    """Whether all values of a column are published: no row is left out, no cell generalized."""
    if len(case.release) < len(case.source):
        return False
    if case.policy.columns[name].role != "quasi":
        return True
    cells = (parse(row[name], KINDS[name]) for row in case.release)
    return all(isinstance(cell, Exact | Null) for cell in cells)


def labels(found: Distribution) -> list[str]:
    return [bar.label for bar in found.bars if OTHER not in bar.label and bar.label != "NULL"]


def ends(label: str) -> tuple[float, float]:
    if label == "all":
        return float("-inf"), float("inf")
    if label.startswith("below "):
        return float("-inf"), float(label.removeprefix("below ")) - 0.5
    if label.endswith(" or more"):
        return float(label.removesuffix(" or more")), float("inf")
    low, _, high = label.partition(" – ")
    return float(low), float(high or low)
