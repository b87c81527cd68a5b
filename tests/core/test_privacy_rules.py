"""From policies to rules, exact parameters, and what buckets need."""

from __future__ import annotations

import math
from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction

import pytest
import sqlglot

from anonymizer.compile import Sql, Table
from anonymizer.guarantees.closeness import TEqual, t_rule
from anonymizer.guarantees.diversity import DistinctL
from anonymizer.guarantees.frequency import Alpha, BetaLikeness
from anonymizer.guarantees.guarantee import RuleInput
from anonymizer.guarantees.identity import EirL
from anonymizer.guarantees.requirements import (
    OF_TABLE,
    bucket_rule,
    of_basis,
    required_guarantees,
    rules_of,
    table_rules_of,
)
from anonymizer.guarantees.rule import (
    DIGITS,
    LARGEST,
    Rule,
    at_least,
    at_most,
    exp_at_most,
    merge_layers,
)
from anonymizer.guarantees.size import KAnonymity
from anonymizer.policy.privacy import Privacy, Protect
from tests.judging import judge_sql
from tests.models import entropy_l_holds, recursive_cl_holds

EVERYTHING = Protect.model_validate(
    {
        "l_diversity": 3,
        "entropy_l": 2.5,
        "recursive_cl": {"c": 4, "l": 3},
        "t_closeness": {"t": 0.2, "distance": "hierarchical"},
        "alpha": 0.5,
        "beta_likeness": 2,
        "delta_disclosure": 1.5,
    }
)
TABLE = Privacy.model_validate(
    {
        "k_anonymity": 5,
        "alpha_k": {"alpha": 0.4, "k": 7},
        "ir_k": 3,
        "ir_kl": {"k": 2, "l": 4},
        "ir_alpha_beta": {"alpha": 0.3, "beta": 0.6},
        "eir_l": 3,
        "eir_alpha_beta": {"alpha": 0.2, "beta": 0.7},
        "k_map": {"k": 9, "population": "main.people"},
        "delta_presence": {"min": 0.1, "max": 0.5, "population": "main.people"},
    }
)


def figures(rule: Rule) -> dict[str, object]:
    """The parameters of a rule."""
    of_groups = ("column", "null_as_value", "members", "in_table")
    return {n: v for n, v in asdict(rule).items() if n not in of_groups}


def test_a_parameter_is_the_decimal_that_was_written() -> None:
    assert at_most(0.2) == at_least(0.2) == Fraction(1, 5)
    assert at_most(4) == 4
    assert at_most(0.1) == Fraction(1, 10)
    assert at_most(12345.678) == Fraction(12345678, 1000)


@pytest.mark.parametrize("number", [1 / 3, 2 / 3, 1e-13, 123456789.123456789, math.pi, 99 / 7])
def test_rounding_is_on_the_strict_side(number: float) -> None:
    exact = Fraction(Decimal(repr(number)))
    assert at_most(number) <= exact <= at_least(number)
    assert at_least(number) - at_most(number) <= max(Fraction(1), exact) * Fraction(10, 10**DIGITS)


def test_extreme_parameters_stay_small_numbers() -> None:
    for number in (1e300, 1e-300, 1e12, 999999999999.9, math.inf):
        for made in (at_most(number), at_least(number), exp_at_most(number)):
            assert made.numerator <= 10 * LARGEST
            assert made.denominator <= 10**DIGITS


@pytest.mark.parametrize("number", [0.1, 0.5, 1.0, 2.5, 20.0])
def test_exponentials_are_just_below(number: float) -> None:
    assert float(exp_at_most(number)) == pytest.approx(math.exp(number), rel=1e-11)
    assert exp_at_most(number) < Fraction(Decimal(number).exp())


def test_every_protection_becomes_a_rule() -> None:
    rules = rules_of("disease", EVERYTHING, height=2)
    assert {rule.name: figures(rule) for rule in rules} == {
        "distinct_l": {"l": 3},
        "entropy_l": {"l": 2.5},
        "recursive_cl": {"c": 4, "l": 3},
        "t_closeness": {"t": 0.2, "height": 2},
        "alpha": {"alpha": 0.5, "only": None},
        "beta_likeness": {"beta": 2},
        "delta_disclosure": {"delta": 1.5},
    }
    assert all(rule.column == "disease" for rule in rules)
    assert [rule.name for rule in rules if rule.dense] == ["t_closeness"]
    assert [rule.name for rule in rules if rule.paths] == ["t_closeness"]
    assert not any(rule.null_as_value for rule in rules)


def test_null_as_value_reaches_every_rule_but_t() -> None:
    rules = rules_of("disease", EVERYTHING, True, height=2)
    assert {rule.name for rule in rules if not rule.null_as_value} == {"t_closeness"}


def test_a_hierarchical_distance_needs_a_hierarchy() -> None:
    with pytest.raises(ValueError, match="hierarchical"):
        t_rule("disease", 0.2, "hierarchical")


def of_table(privacy: Privacy) -> list[Rule]:
    """The rules of every guarantee that the table asks for, those of its columns left out."""
    return [
        rule
        for guarantee, value in required_guarantees(OF_TABLE, privacy)
        for rule in guarantee.rules(RuleInput(value))
    ]


def test_rules_of_the_table() -> None:
    assert [(rule.name, rule.column, figures(rule)) for rule in of_table(TABLE)] == [
        ("k_anonymity", None, {"k": 5}),
        ("k_anonymity", None, {"k": 7}),
        ("ir_k", None, {"k": 3}),
        ("ir_k", None, {"k": 2}),
        ("k_map", None, {"k": 9}),
        ("delta_presence_min", None, {"least": 0.1}),
        ("delta_presence_max", None, {"most": 0.5}),
    ]
    assert of_table(Privacy()) == []


def test_rules_of_the_table_on_a_column() -> None:
    rules = table_rules_of("disease", TABLE)
    assert [(rule.name, rule.basis) for rule in rules] == [
        ("alpha_k", "histogram"),
        ("ir_l", "pairs"),
        ("ir_alpha", "pairs"),
        ("ir_beta", "pairs"),
        ("eir_l", "pairs"),
        ("eir_alpha", "pairs"),
        ("eir_beta", "pairs"),
    ]
    named = Privacy.model_validate({"alpha_k": {"alpha": 0.4, "k": 7, "value": "HIV"}})
    with pytest.raises(ValueError, match="its code"):
        table_rules_of("disease", named)
    (rule,) = table_rules_of("disease", named, declared=Sql("3"))
    assert "value = 3" in rule.holds().text


def test_rules_of_one_name_or_of_two_relations_are_refused() -> None:
    table = Table("h")
    with pytest.raises(ValueError, match="one name"):
        judge_sql(table, ["g"], [DistinctL("a", 2), DistinctL("a", 3)])
    with pytest.raises(ValueError, match="different relations"):
        judge_sql(table, ["g"], [DistinctL("a", 2), EirL("a", 3)])


def test_shared_window_columns_are_computed_once() -> None:
    rules = [TEqual("a", 0.2), BetaLikeness("a", 1.0, null_as_value=True), Alpha("a", 0.5)]
    (only,) = merge_layers(rules, Sql("g"))
    assert [name for name, _ in only] == ["group_size"]
    assert merge_layers([KAnonymity(None, 2)], Sql("g")) == ()


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_the_sql_is_understood_in_every_dialect(dialect: str) -> None:
    columns = rules_of("d", EVERYTHING, height=3)
    on_column = table_rules_of("d", TABLE)
    relations = [
        [*columns, *of_basis(on_column, "histogram")],
        of_basis(on_column, "pairs"),
        [
            rule
            for rule in of_table(TABLE)
            if rule.basis == "classes" and rule.name != "k_anonymity"
        ],
    ]
    for rules in relations:
        text = judge_sql(Table('odd "name"'), ["g", "select"], rules).text
        (made,) = sqlglot.transpile(text, read="duckdb", write=dialect)
        assert sqlglot.parse_one(made, read=dialect).find(sqlglot.exp.Group) is not None


@pytest.mark.parametrize("c", [0.1, 0.3, 0.5, 1, 1.5, 2, 7])
@pytest.mark.parametrize("l", [2, 3, 5])
def test_buckets_for_recursive_diversity_are_as_small_as_can_be(c: float, l: int) -> None:
    protect = Protect.model_validate({"recursive_cl": {"c": c, "l": l}})
    m = bucket_rule("d", protect).m
    exact = Fraction(str(c))
    assert recursive_cl_holds(range(m), exact, l)
    assert not recursive_cl_holds(range(m - 1), exact, l)


@pytest.mark.parametrize("l", [1.5, 2.0, 2.5, 7.0])
def test_buckets_for_entropy_are_as_small_as_can_be(l: float) -> None:
    m = bucket_rule("d", Protect.model_validate({"entropy_l": l})).m
    assert entropy_l_holds(range(m), l)
    assert not entropy_l_holds(range(m - 1), l)


def test_bucket_rules() -> None:
    assert bucket_rule("d", Protect(l_diversity=4)).m == 4
    assert bucket_rule("d", Protect(alpha=0.3)).m == 4
    assert bucket_rule("d", Protect(alpha=0.25)).m == 4
    every = bucket_rule("d", EVERYTHING, height=2)
    assert (every.m, every.unique) == (3, True)
    assert [r.name for r in every.judged] == ["t_closeness", "beta_likeness", "delta_disclosure"]
    only_t = bucket_rule("sex", Protect.model_validate({"t_closeness": 0.2}))
    assert (only_t.m, only_t.unique) == (1, False)
