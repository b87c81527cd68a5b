"""Worked examples of every model, with values computed by hand from its definition."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from anonymizer.guarantees.requirements import BY_NAME
from anonymizer.independent import definitions, frequencies, persons
from anonymizer.independent.cells import Cell
from anonymizer.independent.definitions import OF_COLUMN, OF_TABLE, Model
from anonymizer.independent.fetch import UnreadableError
from anonymizer.independent.judge import UNITS
from anonymizer.independent.layout import Column, Layout, Requirement
from anonymizer.independent.rows import Release, Row
from anonymizer.independent.rules import Finding, Group, Terms

F = Fraction


def rows(*values: Any) -> tuple[tuple[int, Any], ...]:
    """One row per value, every row a unit of its own."""
    return tuple(enumerate(values))


def of(person_values: Mapping[int, Sequence[Any]]) -> tuple[tuple[int, Any], ...]:
    """Rows of persons."""
    return tuple((who, value) for who, values in person_values.items() for value in values)


def judge(
    model: Model, parameters: Mapping[str, Any], *classes: Any, sql_type: str = "VARCHAR"
) -> list[Finding]:
    """What every class achieves, the classes being the whole release."""
    groups = [Group(i, records) for i, records in enumerate(classes)]
    terms = Terms(Requirement(model.__name__, "disease", parameters))
    rule = model(terms, groups, sql_type)
    return [rule.judge(group) for group in groups]


def test_every_guarantee_has_a_definition_of_its_own() -> None:
    """Without one, `verify --independent` refuses every release that has the guarantee."""
    judged = OF_TABLE.keys() | OF_COLUMN.keys() | definitions.PARAMETERS.keys()
    # (the release does not show the units, so they are listed as not checked)
    assert judged | {UNITS} == BY_NAME.keys()


def test_k_counts_units() -> None:
    three = judge(
        frequencies.k_anonymity, {"k": 3}, rows("a", None, None), of({7: ["a", "b", "c"]})
    )
    assert [(one.achieved["k"], one.holds) for one in three] == [(3, True), (1, False)]


def test_rows_of_nobody_count_for_nobody() -> None:
    nobody = ((None, "a"), (None, "b"), (1, "c"))
    assert judge(frequencies.k_anonymity, {"k": 2}, nobody)[0].achieved["k"] == 1
    assert judge(frequencies.distinct_l, {"l": 2}, nobody)[0].achieved["l"] == 1


def test_distinct_l() -> None:
    found = judge(frequencies.distinct_l, {"l": 2}, rows("a", "a", "b", None), rows("a", None))
    assert [(one.achieved["l"], one.holds) for one in found] == [(2, True), (1, False)]
    (counted,) = judge(frequencies.distinct_l, {"l": 2, "null_as_value": True}, rows("a", None))
    assert counted.holds


def test_entropy_l_is_exact() -> None:
    # three equal shares: exp(H) is 3, and not a rounding error below it
    (equal,) = judge(frequencies.entropy_l, {"l": 3}, rows("a", "b", "c", None))
    assert equal.holds
    assert equal.achieved["l"] == pytest.approx(3)
    # 2, 1, 1: H = ½ ln 2 + 2·¼ ln 4 = 1.5 ln 2, exp(H) = 2√2
    for l, holds in ((2.82, True), (2.83, False)):
        (found,) = judge(frequencies.entropy_l, {"l": Decimal(repr(l))}, rows("a", "a", "b", "c"))
        assert found.achieved["l"] == pytest.approx(2 * math.sqrt(2))
        assert found.holds is holds


def test_recursive_cl() -> None:
    # counts 6, 2, 1: with l = 3 the tail is 1, so that c has to exceed 6
    values = rows(*"aaaaaabbc")
    for c, holds in (("6", False), ("6.1", True)):
        (found,) = judge(frequencies.recursive_cl, {"c": Decimal(c), "l": 3}, values)
        assert (found.achieved["c"], found.holds) == (6, holds)
    (short,) = judge(frequencies.recursive_cl, {"c": 100, "l": 4}, values)
    assert (short.achieved["c"], short.holds) == (math.inf, False)


def test_alpha() -> None:
    first, second = rows("a", "a", "b", None), rows("b", "c", "d", "d")
    found = judge(frequencies.alpha, {"alpha": Decimal("0.5")}, first, second)
    assert [(one.achieved["alpha"], one.holds) for one in found] == [
        (F(2, 3), False),
        (F(1, 2), True),
    ]
    declared = judge(
        frequencies.alpha_k, {"alpha": Decimal("0.5"), "value": "b", "k": 4}, first, second
    )
    assert [(one.achieved["alpha"], one.achieved["k"]) for one in declared] == [
        (F(1, 3), 4),
        (F(1, 4), 4),
    ]
    assert all(one.holds for one in declared)


def test_alpha_counts_a_value_of_a_person_once() -> None:
    # three persons; the first has the diagnosis three times
    (found,) = judge(frequencies.alpha, {"alpha": 1}, of({1: ["a", "a", "a"], 2: ["b"], 3: ["c"]}))
    assert found.achieved["alpha"] == F(1, 3)


def test_alpha_is_compared_as_the_decimal_that_was_written() -> None:
    (found,) = judge(frequencies.alpha, {"alpha": Decimal("0.3")}, rows(*"aaabbbcccd"))
    assert found.holds


def test_t_equal() -> None:
    # q = (½, ¼, ¼); p = (1, 0, 0): ½(½+¼+¼) = ½
    found = judge(frequencies.t_closeness, {"t": Decimal("0.5")}, rows("a", "a"), rows("b", "c"))
    assert [one.achieved["t"] for one in found] == [F(1, 2), F(1, 2)]
    assert all(one.holds for one in found)


def test_t_ordered_is_the_salary_example() -> None:
    """Li et al. 2007, Example 3: nine salaries; {3,4,5} is 0.375 away, {6,8,11} 0.167.

    {7, 9, 10}: the differences pile up to 1, 2, 3, 4, 2, 3, 1, 1, 0 ninths, 17/9 over 8 steps.
    """
    parameters = {"t": Decimal("0.2"), "distance": "ordered"}
    salaries = [(3, 4, 5), (6, 11, 8), (7, 10, 9)]
    numbers = [rows(*((0, F(salary)) for salary in group)) for group in salaries]
    found = judge(frequencies.t_closeness, parameters, *numbers, sql_type="INTEGER")
    assert [one.achieved["t"] for one in found] == [F(3, 8), F(1, 6), F(17, 72)]
    assert [one.holds for one in found] == [False, True, False]


def test_t_ordered_with_one_value_is_0() -> None:
    one = ((0, (0, F(5))), (1, (0, F(5))))
    parameters = {"t": 0, "distance": "ordered"}
    (found,) = judge(frequencies.t_closeness, parameters, one, sql_type="INTEGER")
    assert (found.achieved["t"], found.holds) == (0, True)


def test_t_hierarchical() -> None:
    """Two branches of two leaves, H = 2; class {a, b} of a table {a, b, c, d}.

    Extra: a, b +¼; c, d −¼. Below each branch nothing cancels; at the root ½ moves, at 2/2: ½.
    Class {a, c}: ¼ moves inside each branch, at ½: ¼.
    """
    paths = {"a": ["x", "r"], "b": ["x", "r"], "c": ["y", "r"], "d": ["y", "r"]}
    parameters = {"t": Decimal("0.5"), "distance": "hierarchical", "paths": paths}
    far = judge(frequencies.t_closeness, parameters, rows("a", "b"), rows("c", "d"))
    assert [one.achieved["t"] for one in far] == [F(1, 2), F(1, 2)]
    near = judge(frequencies.t_closeness, parameters, rows("a", "c"), rows("b", "d"))
    assert [one.achieved["t"] for one in near] == [F(1, 4), F(1, 4)]
    # NULL hangs below the root by itself: all of it moves there
    nulls = judge(frequencies.t_closeness, parameters, rows("a", "b"), rows(None, None))
    assert [one.achieved["t"] for one in nulls] == [F(1, 2), F(1, 2)]


def _transport(p: dict[str, int], q: dict[str, int], cost: dict[tuple[str, str], F]) -> F:
    """Earth mover's distance of two equally large multisets, by trying all assignments."""
    total = sum(p.values())
    goods = [v for v, n in p.items() for _ in range(n)]
    found: list[F] = []

    def place(at: int, left: Counter[str], so_far: F) -> None:
        if at == total:
            found.append(so_far)
            return
        for value in list(+left):
            place(at + 1, left - Counter([value]), so_far + cost[goods[at], value])

    place(0, Counter(q), F(0))
    return min(found) / total


def test_distances_equal_the_cheapest_transport() -> None:
    draw = random.Random(2)
    names = "abcd"
    paths: Any = {"a": ("A", "*"), "b": ("A", "*"), "c": ("C", "*"), "d": ("D", "*")}
    equal = {(v, w): F(v != w) for v in names for w in names}
    ordered = {(v, w): F(abs(names.index(v) - names.index(w)), 3) for v in names for w in names}
    tree = {(v, w): F(0) if v == w else F(1, 2) if paths[v] == paths[w] else F(1)
            for v in names for w in names}  # fmt: skip
    for _ in range(60):
        p, q = Counter(draw.choices(names, k=5)), Counter(names) + Counter(draw.choices(names, k=1))
        shares: Any = [{v: F(c[v], 5) for v in names} for c in (p, q)]
        share_p, share_q = shares
        assert frequencies.equal(share_p, share_q) == _transport(p, q, equal)
        assert frequencies.ordered_distance(share_p, share_q) == _transport(p, q, ordered)
        assert frequencies.hierarchical(share_p, share_q, paths) == _transport(p, q, tree)


def test_t_hierarchical_needs_every_path() -> None:
    parameters = {"t": 1, "distance": "hierarchical", "paths": {"a": ["r"]}}
    (found,) = judge(frequencies.t_closeness, parameters, rows("a", "b"))
    assert not found.holds
    wrong: list[dict[str, Any]] = [
        *({}, {"a": []}, {"a": ["r"], "b": ["x", "r"]}, {"a": "r"}),
        {"a": ["x", "y", "r"], "b": ["x", "z", "r"]},
    ]
    for paths in wrong:
        with pytest.raises(UnreadableError):
            judge(frequencies.t_closeness, {**parameters, "paths": paths}, rows("a"))


def test_t_takes_null_as_a_category() -> None:
    found = judge(frequencies.t_closeness, {"t": Decimal("0.5")}, rows("a", "b"), rows(None, None))
    assert [one.achieved["t"] for one in found] == [F(1, 2), F(1, 2)]


def test_beta_likeness() -> None:
    # q(a) = ½; p(a) = 1: gain 1. In the other class b and c: ½ against ¼: gain 1
    found = judge(frequencies.beta_likeness, {"beta": 1}, rows("a", "a"), rows("b", "c"))
    assert [(one.achieved["beta"], one.holds) for one in found] == [(1, True), (1, True)]
    same = judge(frequencies.beta_likeness, {"beta": 0}, rows("a", "b"), rows("a", "b"))
    assert [(one.achieved["beta"], one.holds) for one in same] == [(0, True), (0, True)]


def test_delta_disclosure() -> None:
    # q = (½, ½); p = (¾, ¼): the worse is |ln ½|
    first, second = rows("a", "a", "a", "b"), rows("a", "b", "b", "b")
    for delta, holds in (("0.69", False), ("0.7", True)):
        found = judge(frequencies.delta_disclosure, {"delta": Decimal(delta)}, first, second)
        assert [one.holds for one in found] == [holds, holds]
        assert found[0].achieved["delta"] == pytest.approx(math.log(2))
    absent = judge(frequencies.delta_disclosure, {"delta": 9}, rows("a", "b"), rows("a", "a"))
    assert [one.holds for one in absent] == [True, False]
    assert absent[1].achieved["delta"] == math.inf


def test_delta_disclosure_is_strict() -> None:
    (same,) = judge(frequencies.delta_disclosure, {"delta": 0}, rows("a", "b"))
    assert not same.holds


def test_levels() -> None:
    parameters = {
        "levels": {"2": ["hiv"], "0": ["flu"]},
        "level_l": {"0": 1, "1": 2, "2": 3},
        "default_level": 1,
    }
    found = judge(
        frequencies.level_l,
        parameters,
        rows("hiv", "flu", "flu"),
        rows("hiv", "flu"),
        rows("flu"),
        rows("gout", "flu", None),
    )
    assert [(one.achieved["ratio"], one.holds) for one in found] == [
        (1, True),
        (F(3, 2), False),
        (1, True),
        (1, True),
    ]
    del parameters["default_level"]
    (unknown,) = judge(frequencies.level_l, parameters, rows("gout", "flu"))
    assert not unknown.holds


def test_frequency_l_of_groups() -> None:
    found = judge(frequencies.frequency_l, {"l": 2}, rows("a", "b", "c"), rows("a", "a", "b", None))
    assert [(one.achieved["share"], one.holds) for one in found] == [
        (F(2, 3), True),
        (F(4, 3), False),
    ]


def test_unique_values_of_buckets() -> None:
    found = judge(frequencies.unique, {"l": 2}, rows("a", "b", None, None), of({1: ["a", "a"]}))
    assert [(one.achieved["times"], one.holds) for one in found] == [(1, True), (2, False)]


EMPTY: dict[Model, dict[str, Any]] = {
    frequencies.distinct_l: {"l": 1},
    frequencies.entropy_l: {"l": 1},
    frequencies.recursive_cl: {"c": 9, "l": 1},
    frequencies.frequency_l: {"l": 1},
    frequencies.alpha: {"alpha": 1},
    frequencies.level_l: {"levels": {}, "level_l": {"0": 1}, "default_level": 0},
    frequencies.beta_likeness: {"beta": 9},
    frequencies.delta_disclosure: {"delta": 9},
    persons.ir_kl: {"k": 1, "l": 1},
    persons.ir_alpha_beta: {"alpha": 1, "beta": 1},
    persons.eir_l: {"l": 1},
    persons.eir_alpha_beta: {"alpha": 1, "beta": 1},
}


@pytest.mark.parametrize("model", EMPTY)
def test_a_class_without_any_value_holds_nothing_by_vacuity(model: Model) -> None:
    full, empty = judge(model, EMPTY[model], rows("a", "a"), rows(None, None))
    assert full.holds
    assert not empty.holds
    assert empty.empty
    counted = {**EMPTY[model], "null_as_value": True}
    assert not any(one.empty for one in judge(model, counted, rows("a"), rows(None)))


@pytest.mark.parametrize("model", EMPTY)
def test_a_release_without_any_value_holds_nothing(model: Model) -> None:
    (found,) = judge(model, EMPTY[model], rows(None, None))
    assert not found.holds


def test_ir_kl() -> None:
    (found,) = judge(persons.ir_kl, {"k": 3, "l": 2}, of({1: ["a", "b"], 2: ["a"], 3: [None]}))
    assert (dict(found.achieved), found.holds) == ({"k": 3, "l": 2}, True)


def test_ir_alpha_beta_takes_the_worse_of_rows_and_pairs() -> None:
    # rows: person 1 has 4 of 6; pairs: 2 of 4. Value a: 5 of 6 rows, 3 of 4 pairs
    (found,) = judge(
        persons.ir_alpha_beta,
        {"alpha": Decimal("0.7"), "beta": Decimal("0.8")},
        of({1: ["a", "a", "a", "b"], 2: ["a"], 3: ["a"]}),
    )
    assert dict(found.achieved) == {"alpha": F(4, 6), "beta": F(5, 6)}
    assert not found.holds


def test_eir_alpha_beta() -> None:
    # two of three persons who have a value hold a; the fourth has none
    (found,) = judge(
        persons.eir_alpha_beta,
        {"alpha": Decimal("0.5"), "beta": Decimal("0.7")},
        of({1: ["a", "b"], 2: ["a"], 3: ["c"], 4: [None]}),
    )
    assert dict(found.achieved) == {"alpha": F(2, 5), "beta": F(2, 3)}
    assert found.holds


def test_eir_l_is_the_minimum_hitting_set() -> None:
    """Wang et al. 2018, Table 3: everybody has hypertension, so that one value explains all."""
    hypertension = {1: ["flu", "hypertension"], 2: ["hypertension"], 3: ["cancer", "hypertension"]}
    parted = {1: ["a", "b"], 2: ["b", "c"], 3: ["d"], 4: ["e", "d"]}
    found = judge(persons.eir_l, {"l": 2}, of(hypertension), of(parted))
    assert [(one.achieved["l"], one.holds) for one in found] == [(1, False), (2, True)]


def test_hitting_sets_equal_enumeration() -> None:
    r = random.Random(7)
    for _ in range(400):
        families = [frozenset(r.sample("abcdefg", r.randint(1, 4))) for _ in range(r.randint(1, 8))]
        smallest = next(
            size
            for size in range(8)
            for chosen in itertools.combinations("abcdefg", size)
            if all(family & set(chosen) for family in families)
        )
        # every choice of one value per person has that many different values, and one has no more
        fewest = min(len(set(choice)) for choice in itertools.product(*families))
        assert persons.hitting_set(families, 99) == smallest == fewest
        assert persons.hitting_set(families, 2) == min(smallest, 2)


def _release(*cells: tuple[Cell, int]) -> Release:
    layout = Layout(
        algorithm="mondrian",
        cells="text",
        columns=(Column("age", "quasi", "numeric", "INTEGER", name="age"),),
        class_id="class_id",
        person_id=None,
        group_id=None,
        tables={},
    )
    listed = [cell for cell, n in cells for _ in range(n)]
    made = tuple(Row(i, 1, None, None, {"age": c}, {}, {}) for i, c in enumerate(listed))
    return Release(layout, made, {}, {}, {}, {})


def test_populations() -> None:
    def value(n: int) -> tuple[int, Fraction]:
        return 0, F(n)

    release = _release((Cell("interval", (value(1), value(4))), 2), (Cell("exact", (value(9),)), 1))
    members = definitions.Members(
        (((value(1),), 3), ((value(4),), 1), ((value(9),), 2), ((None,), 1))
    )
    k_map = Terms(Requirement("k_map", None, {"k": 3}))
    found = definitions.judge_population(k_map, release, members)
    assert (found.achieved["k"], found.failing) == (2, 1)
    parameters = {"min": 0, "max": Decimal("0.5")}
    presence = Terms(Requirement("delta_presence", None, parameters))
    found = definitions.judge_population(presence, release, members)
    assert dict(found.achieved) == {"min": F(1, 2), "max": F(1, 2)}
    assert not found.failing
    # a member whom no tuple admits is known to be absent
    presence = Terms(Requirement("delta_presence", None, {**parameters, "min": Decimal("0.1")}))
    found = definitions.judge_population(presence, release, members)
    assert (found.achieved["min"], found.failing) == (0, 1)


@pytest.mark.parametrize(
    "given", [None, "3", True, Decimal("NaN"), Decimal("1e999999999"), Decimal(-1), [], {}]
)
def test_parameters_are_checked(given: Any) -> None:
    with pytest.raises(UnreadableError):
        judge(frequencies.entropy_l, {"l": given}, rows("a"))


KNOWN: dict[Model, dict[str, Any]] = {
    **EMPTY,
    frequencies.k_anonymity: {"k": 1},
    frequencies.alpha_k: {"alpha": 1, "k": 1},
    frequencies.t_closeness: {"t": 1, "distance": "equal"},
}


@pytest.mark.parametrize("model", KNOWN)
def test_unknown_parameters_are_refused(model: Model) -> None:
    judge(model, KNOWN[model], rows("a", "a"))
    with pytest.raises(UnreadableError):
        judge(model, {**KNOWN[model], "except": "flu"}, rows("a", "a"))
