"""The figures of observers, before and after a release, as the oracle counts them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import AnonymizerError
from anonymizer.measure.queries import about, about_share
from anonymizer.review.observers import LINKED, attack_tables
from anonymizer.review.report.content import collect
from tests.runs import THRIFTY
from tests.schema import hospital, oracle, truth
from tests.schema.oracle import Child, Published
from tests.schema.random_schemas import PERSON, Schema, draw, owned
from tests.selection import some

RELEASES = 2


def in_source(schema: Schema) -> Published:
    """The tables as they are in the source, with classes of equal quasi-identifiers."""
    person = schema.tables[PERSON]
    needed = [one.name for one in person.of("quasi") if one.described.get("nulls") == "suppress"]
    rows: dict[str, list[dict[str, Any]]] = {}
    left = {
        who for row, who in owned(schema)[PERSON] if all(row[name] is not None for name in needed)
    }
    for name, pairs in owned(schema).items():
        rows[name] = [row for row, who in pairs if who in left]
    numbers: dict[Any, int] = {}
    rows[PERSON] = [
        row
        | {
            "class_id": numbers.setdefault(
                tuple(row[one.name] for one in person.of("quasi")), len(numbers)
            )
        }
        for row in rows[PERSON]
    ]
    children = {
        table.name: Child(
            str(table.link),
            str(table.parent),
            table.key,
            tuple(one.name for one in table.of("event")),
        )
        for table in schema.tables.values()
        if table.parent is not None
    }
    return Published(PERSON, str(person.key), rows, children)


def expected(
    published: Published, k: int, *, events: bool, linked: bool
) -> dict[str, tuple[int, int, int, int, float]]:
    """What the figures of every observer are."""
    lefts = {
        "one event": oracle.left_by_events(published, 1),
        "two events": oracle.left_by_events(published, 2),
        "the number of rows": oracle.left_by_numbers(published),
        "a table without rows": oracle.left_by_absence(published),
        "the set of events": oracle.left_by_all_events(published),
        "the set of events, not the quasi-identifiers": oracle.left_by_all_events(
            published, within_class=False
        ),
    }
    below = [one for one in published.children.values() if one.parent != published.person]
    if linked and any(one.events for one in below):
        lefts[LINKED[0]] = oracle.left_by_linked(published, 1)
        lefts[LINKED[1]] = oracle.left_by_linked(published, 2)
    found = {}
    for name, left in lefts.items():
        if not events and "row" not in name:
            continue
        counts = list(left.values())
        found[name] = (
            len(counts),
            sum(one == 1 for one in counts),
            sum(one < k for one in counts),
            min(counts),
            round(sum(1 / one for one in counts) / len(counts), 6),
        )
    return found


@some(0)
@pytest.mark.parametrize("events", [True, False])
def test_observers(events: bool, tmp_path: Path) -> None:
    """Where no column tells of events, there is still who knows the number of rows."""
    compared = 0
    for seed in range(500, 560):
        schema = draw(seed)
        size = sum(len(table.rows) for table in schema.tables.values())
        told = any(table.of("event") for table in schema.tables.values())
        if told != events or len(schema.tables) == 1 or size > 350:
            continue
        folder = tmp_path / str(seed)
        folder.mkdir()
        database = schema.write(folder)
        policy: Any = Policy.model_validate(schema.policy, context={"base": folder})
        try:
            anonymizer.run(policy, database, seed=seed, limits=THRIFTY)
        except AnonymizerError:
            continue
        found = attack_tables(policy, database, limits=THRIFTY)
        path = folder / "release.duckdb"
        with duckdb.connect(str(path), read_only=True, config={"threads": 1}) as connection:
            published = truth.read(schema, connection)
        sides = ((found.after, published), (found.before, in_source(schema)))
        for observers, tables in sides:
            linked = tables is published
            figures = {
                one.knows: (one.persons, one.alone, one.below, one.fewest, round(one.found, 6))
                for one in observers
            }
            assert figures == expected(tables, schema.k, events=events, linked=linked), seed
        assert found.holds
        compared += 1
        if compared == RELEASES:
            return
    raise AssertionError(f"only {compared} releases")


@pytest.mark.slow
def test_a_report_gives_round_figures_of_the_source(tmp_path: Path) -> None:
    """It is handed on; `attack`, which the owner of the source runs, gives exact ones."""
    database = hospital.write(tmp_path / "source.duckdb", hospital.tables(133))
    policy = hospital.policy(tmp_path)
    hospital.run(policy, database)
    exact = attack_tables(policy, database, limits=THRIFTY).before
    linked = collect(policy, source=database).linked
    assert linked is not None
    shown = linked.before
    assert len(shown) == len(exact) > 0
    for one, told in zip(exact, shown, strict=True):
        assert (told.knows, told.persons, told.fewest) == (one.knows, one.persons, one.fewest)
        assert (told.alone, told.below) == (about(one.alone), about(one.below))
        assert told.found == about_share(one.found, one.persons)
    assert any(one.alone % 10 or one.below % 10 for one in exact)
