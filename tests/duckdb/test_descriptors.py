"""Every guarantee's own examples, by its rules, by the verifier and by its definition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import duckdb
import pytest

from anonymizer.algorithms.registry import BY_NAME as ALGORITHMS
from anonymizer.algorithms.registry import check as check_algorithms
from anonymizer.compile import Sql, Table
from anonymizer.contract.layout import Layout, PublishedColumn, Requirement
from anonymizer.errors import RegistryError
from anonymizer.guarantees.guarantee import Example, Guarantee, RuleInput
from anonymizer.guarantees.requirements import (
    BY_NAME,
    FIELDS,
    GUARANTEES,
    check,
    rules_of,
    table_rules_of,
)
from anonymizer.guarantees.rule import Rule
from anonymizer.policy.privacy import Privacy, Protect
from anonymizer.verification.guarantees import (
    Members,
    population_questions,
    questions,
    source_questions,
)
from tests import models
from tests.judging import judge_sql

VIEW = Table("release", "main")
EXAMPLES = [(guarantee, example) for guarantee in GUARANTEES for example in guarantee.examples]
NAMES = [f"{guarantee.name} {number}" for number, (guarantee, _) in enumerate(EXAMPLES)]


@dataclass(frozen=True)
class Rows:
    """A tiny table: values (and persons) by class, and the population's members of each."""

    classes: dict[int, list[str | None]]
    who: dict[int, list[int]]
    members: dict[int, int]


def rows_of(text: str) -> Rows:
    """`aab b.`: classes of values; `1a2b`: with persons; `ab4`: with members."""
    classes: dict[int, list[str | None]] = {}
    who: dict[int, list[int]] = {}
    members: dict[int, int] = {}
    for number, word in enumerate(text.split(), start=1):
        found = re.findall(r"(\d?)([a-z.])", word)
        classes[number] = [None if value == "." else value for _, value in found]
        who[number] = [100 * number + int(person or i) for i, (person, _) in enumerate(found)]
        members[number] = int("0" + word[-1]) if word[-1].isdigit() else 0
    return Rows(classes, who, members)


def union(rows: Rows) -> Rows:
    """All classes as one. A search merges classes, so that a rule must hold of their union."""
    values = [value for one in rows.classes.values() for value in one]
    who = [person for one in rows.who.values() for person in one]
    return Rows({1: values}, {1: who}, {1: sum(rows.members.values())})


def parameters(guarantee: Guarantee, example: Example) -> dict[str, Any]:
    """The requirement's parameters for an example."""
    model: Any = {"protect": Protect, "privacy": Privacy}.get(guarantee.holder)
    if model is None:
        return guarantee.terms_of(example.value)
    held = model.model_validate({guarantee.option: example.value})
    given = {} if guarantee.terms else guarantee.terms_of(getattr(held, guarantee.option))
    return {**given, **example.terms}


def by_definition(guarantee: Guarantee, rows: Rows, terms: dict[str, Any]) -> bool:
    """Whether every class holds by the second verifier."""
    if guarantee.of_population:
        low, high = (Fraction(str(terms.get(name, at))) for name, at in (("min", 0), ("max", 1)))
        return all(
            n >= terms.get("k", 0) and low <= Fraction(len(rows.classes[name]), n) <= high
            for name, n in rows.members.items()
        )
    if guarantee.of_source:
        return all(len({*one} - {None}) >= terms["l"] for one in rows.classes.values())
    counted = any(ask.persons for ask in guarantee.asks)
    return not models.failing(rows.classes, rows.who if counted else None, guarantee.name, **terms)


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def publish(connection: duckdb.DuckDBPyConnection, rows: Rows) -> None:
    connection.execute(
        "create or replace table release (class_id int, person_id int, zone text, value text)"
    )
    connection.execute("create or replace table people (zone text, members int)")
    for number, values in rows.classes.items():
        zone = f"zone {number}"
        listed = zip(rows.who[number], values, strict=True)
        connection.executemany(
            "insert into release values (?, ?, ?, ?)", [[number, p, zone, v] for p, v in listed]
        )
        connection.execute("insert into people values (?, ?)", [zone, rows.members[number]])


def by_verifier(
    connection: duckdb.DuckDBPyConnection, guarantee: Guarantee, terms: dict[str, Any]
) -> bool:
    """Whether the verifier's questions hold; the checks carry the guarantee's name."""
    columns = (
        PublishedColumn("zone", "quasi", "categorical", "VARCHAR", name="zone"),
        PublishedColumn("value", "sensitive", "categorical", "VARCHAR", name="value"),
    )
    counted = any(ask.persons for ask in guarantee.asks)
    layout = Layout("mondrian", "text", columns, person_id="person_id" if counted else None)
    column = "value" if guarantee.of_values or guarantee.of_source else None
    requirement = Requirement(guarantee.name, column, terms)
    if guarantee.of_population:
        people = Members(Table("people", "main"), {"zone": "zone"})
        asked = list(population_questions(VIEW, layout, [requirement], people))
    elif guarantee.of_source:
        groups = {"link": VIEW, "original": VIEW, "row_ref": "rowid"}
        groups |= {"group": "class_id", "label": "class_id"}
        asked = list(source_questions([requirement], {"value": "value"}, groups))
    else:
        asked = list(questions(VIEW, layout, requirement))
    checks = [question.ask(lambda text: connection.execute(text).fetchall()) for question in asked]
    assert guarantee.name in {check.name for check in checks}
    return all(check.passed for check in checks)


def rules(guarantee: Guarantee, example: Example) -> tuple[Rule, ...]:
    """The rules that the search is given for an example."""
    option = {guarantee.option: example.value}
    if guarantee.holder == "protect":
        protect = Protect.model_validate(option)
        return rules_of("value", protect, height=2)
    if guarantee.holder == "privacy":
        privacy = Privacy.model_validate(option)
        of_table = guarantee.rules(RuleInput(getattr(privacy, guarantee.option)))
        return (*of_table, *table_rules_of("value", privacy))
    return ()


RELATIONS = {
    "pairs": "select class_id, person_id as person, ascii(value) as value, count(*) as n"
    " from release group by all",
    "classes": "select r.class_id, count(*) as n, any_value(p.members) as population"
    " from release r join people p using (zone) group by all",
    "histogram": """
        with q as (select value as v, count(*) as q from release group by all),
        coded as (
            select v, q, case when v is null then 0
                else dense_rank() over (order by v nulls last) end as value
            from q
        )
        select c.class_id, q.value, count(r.value) + count(*) filter (where q.v is null
                and r.class_id is not null) as n, any_value(q.q) as q,
            (select count(value) from release) as q_known, (select count(*) from release) as q_size,
            (select count(distinct value) from release)::integer as m,
            any_value(case q.v when 'a' then 'x' else 'y' end) as a1, '*' as a2
        from coded q cross join (select distinct class_id from release) c
        left join release r on r.class_id = c.class_id and r.value is not distinct from q.v
        group by all
    """,
}


def by_rules(connection: duckdb.DuckDBPyConnection, made: tuple[Rule, ...]) -> bool:
    holds = True
    for rule in made:
        relation = Sql(RELATIONS[rule.basis])
        found = connection.execute(judge_sql(relation, ["class_id"], [rule]).text).fetchall()
        holds = holds and all(row[1] for row in found)
    return holds


@pytest.mark.parametrize(("guarantee", "example"), EXAMPLES, ids=NAMES)
def test_examples_by_rules_verifier_and_definition(
    connection: duckdb.DuckDBPyConnection, guarantee: Guarantee, example: Example
) -> None:
    terms = parameters(guarantee, example)
    made = rules(guarantee, example)
    assert made or guarantee.holder == "republish" or guarantee.family == "levels"
    for text, holds in ((example.holds, True), (example.fails, False)):
        rows = rows_of(text)
        publish(connection, rows)
        assert by_definition(guarantee, rows, terms) == holds, text
        assert by_verifier(connection, guarantee, terms) == holds, text
        if made:
            assert by_rules(connection, made) == holds, text
    if made:
        rows = union(rows_of(example.holds))
        publish(connection, rows)
        assert by_definition(guarantee, rows, terms), "classes hold, and their union does not"
        assert by_rules(connection, made), "classes hold, and their union does not"


def test_every_field_is_answered_for_once() -> None:
    answered = [field for g in GUARANTEES for field in (g.field, *g.further)]
    assert sorted(answered) == sorted(FIELDS)
    assert [field for g in GUARANTEES for field in g.further] == [
        "protect.default_level",
        "privacy.level_l",
    ]
    with pytest.raises(RegistryError, match=r"protect\.new: no guarantee answers for it"):
        check(GUARANTEES, (*FIELDS, "protect.new"))
    with pytest.raises(RegistryError, match=r"protect\.alpha: several guarantees answer for it"):
        check((*GUARANTEES, BY_NAME["alpha"]), FIELDS)
    with pytest.raises(RegistryError, match=r"protect\.alpha: is no field"):
        check(GUARANTEES, [field for field in FIELDS if field != "protect.alpha"])


def test_every_algorithm_is_made_by_one_package() -> None:
    made = list(ALGORITHMS.values())
    with pytest.raises(RegistryError, match="geneir: 0 packages"):
        check_algorithms([one for one in made if one.name != "geneir"])
    with pytest.raises(RegistryError, match="geneir: 2 packages"):
        check_algorithms([*made, ALGORITHMS["geneir"]])


def test_what_an_algorithm_works_towards_exists() -> None:
    known = {g.family for g in GUARANTEES} | {g.option for g in GUARANTEES}
    for algorithm in ALGORITHMS.values():
        assert algorithm.towards <= known
        assert algorithm.compile.__name__.startswith("compile_")
