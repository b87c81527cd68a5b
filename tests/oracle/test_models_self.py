"""The oracle's privacy models, against worked examples and enumeration."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction as F

import pytest

from tests.oracle import models, persons
from tests.oracle.distances import equal_distance, hierarchical_distance, ordered_distance

# Wang et al. (2018), Table 3: the two classes of the release, persons and diseases.
TABLE3 = {
    "Q1": ["Cancer", "HIV", "Leukaemia", "Heart", "Syphilis"],
    "Q2": ["Hypertension", "Heart", "Hypertension", "Hypertension", "Diabetes"],
}
TABLE3_PERSONS = {"Q1": [2, 5, 6, 6, 7], "Q2": [1, 1, 3, 4, 4]}


def test_k_and_l_leave_nulls_where_they_belong() -> None:
    classes: models.Classes = {1: ["a", "a", None], 2: [None, None], 3: ["a", "b", "c", "c"]}
    assert models.k_anonymity(classes).per_class == {1: 3, 2: 2, 3: 4}
    assert models.distinct_l(classes).per_class == {1: 1, 2: 0, 3: 3}
    assert models.distinct_l(classes).worst == 0
    who = {1: "ppp", 2: "pq", 3: "pqrr"}
    assert models.k_anonymity(classes, who).per_class == {1: 1, 2: 2, 3: 3}
    assert models.k_anonymity({}).worst is None


def test_entropy_l_of_equal_shares_is_their_number() -> None:
    result = models.entropy_l({1: list("abcd"), 2: ["a", "a", None], 3: [None]})
    assert result.per_class == pytest.approx({1: 4.0, 2: 1.0, 3: 0.0})
    for size in range(1, 9):
        assert models.entropy_l_holds(range(size), size)
        assert not models.entropy_l_holds(range(size), size + 0.001)
    assert not models.entropy_l_holds([None], 1)


def test_entropy_l_agrees_with_its_comparison() -> None:
    draw = random.Random(1)
    for _ in range(300):
        values = [draw.choice("abcde") for _ in range(draw.randint(1, 20))]
        achieved = models.entropy_l({0: values}).worst
        assert models.entropy_l_holds(values, achieved - 1e-6)
        assert not models.entropy_l_holds(values, achieved + 1e-6)


def test_recursive_cl_takes_the_commonest_first_and_is_strict() -> None:
    values = list("aaaaaabbc")  # 6, 2, 1: c must exceed 6 for l = 3
    assert models.recursive_cl({0: values}, 3).worst == 6
    assert not models.recursive_cl_holds(values, 6, 3)
    assert models.recursive_cl_holds(values, F(61, 10), 3)
    assert models.recursive_cl({0: values}, 4).worst == math.inf
    assert not models.recursive_cl_holds(values, 100, 4)


def test_t_closeness_of_li_et_al() -> None:
    """Their example: salaries 3k…11k against {3,4,5} and {6,8,11}: 0.375 and 0.167."""
    order = [3, 4, 5, 6, 7, 8, 9, 10, 11]
    classes: models.Classes = {1: [3, 4, 5], 2: [6, 8, 11], 3: [7, 9, 10]}
    result = models.t_closeness(classes, "ordered", order=order)
    assert result.per_class[1] == F(3, 8)
    assert result.per_class[2] == F(1, 6)
    assert models.t_closeness(classes, "equal").per_class == {1: F(2, 3), 2: F(2, 3), 3: F(2, 3)}


def test_t_closeness_treats_null_as_a_category() -> None:
    classes: models.Classes = {1: ["a", None], 2: ["a", "a"]}
    assert models.t_closeness(classes).per_class == {1: F(1, 4), 2: F(1, 4)}
    assert models.t_closeness(classes, "ordered").worst == F(1, 4)
    paths = {"a": ("A", "*"), "b": ("A", "*")}
    assert models.t_closeness(classes, "hierarchical", paths=paths).worst == F(1, 4)
    assert models.t_closeness({1: [5, 5]}, "ordered").worst == 0
    # NULL has the first rank: 1/3 comes from either side of a.
    assert ordered_distance({"a": F(1)}, {v: F(1, 3) for v in ("a", "b", None)}, None) == F(1, 3)


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
    paths = {"a": ("A", "*"), "b": ("A", "*"), "c": ("C", "*"), "d": ("D", "*")}
    equal = {(v, w): F(v != w) for v in names for w in names}
    ordered = {(v, w): F(abs(names.index(v) - names.index(w)), 3) for v in names for w in names}
    tree = {(v, w): F(0) if v == w else F(1, 2) if paths[v] == paths[w] else F(1)
            for v in names for w in names}  # fmt: skip
    for _ in range(60):
        p, q = Counter(draw.choices(names, k=5)), Counter(names) + Counter(draw.choices(names, k=1))
        share_p, share_q = ({v: F(c[v], 5) for v in names} for c in (p, q))
        assert equal_distance(share_p, share_q) == _transport(p, q, equal)
        assert ordered_distance(share_p, share_q, None) == _transport(p, q, ordered)
        assert hierarchical_distance(share_p, share_q, paths) == _transport(p, q, tree)


def test_alpha_beta_delta() -> None:
    classes: models.Classes = {1: ["a", "a", "b", None], 2: ["b", "b", "b", "a"]}
    assert models.alpha(classes).per_class == {1: F(2, 3), 2: F(3, 4)}
    assert models.alpha(classes, value="a").per_class == {1: F(2, 3), 2: F(1, 4)}
    assert models.alpha_k(classes).worst == (F(3, 4), 4)
    # q: a 3/7, b 4/7. Class 1: a gains (2/3 - 3/7) / (3/7) = 5/9.
    assert models.beta_likeness(classes).per_class == {1: F(5, 9), 2: F(5, 16)}
    assert models.enhanced_beta_holds(classes, 0.5) == {1: False, 2: True}
    # Basic likeness of 1 is far below 9, but the enhanced bound is -ln(1/2) at most.
    assert models.enhanced_beta_holds({1: "aa", 2: "bb"}, 9) == {1: False, 2: False}
    assert models.enhanced_beta_holds({1: "ab", 2: "ac"}, 9) == {1: True, 2: True}
    delta = models.delta_disclosure(classes)
    # Largest in class 1: b, 1/3 against 4/7; in class 2: a, 1/4 against 3/7.
    assert delta.per_class == pytest.approx({1: math.log(12 / 7), 2: math.log(12 / 7)})
    assert models.delta_disclosure({1: "aab", 2: "ab"}, base=2).per_class[2] == pytest.approx(
        math.log2(5 / 4)
    )
    assert models.delta_disclosure({1: "ab", 2: "aa"}).worst == math.inf
    assert models.beta_likeness(classes, null_category=True).per_class[1] == F(
        1
    )  # NULL: 1/4 to 1/8


def test_persons_count_once_per_value() -> None:
    classes, who = {1: ["a", "a", "a", "b"]}, {1: ["p", "p", "q", "q"]}
    assert models.alpha(classes).worst == F(3, 4)
    assert models.alpha(classes, who).worst == F(2, 3)
    assert models.recursive_cl(classes, 2, who).worst == 2


def test_levels_of_one_class() -> None:
    levels, level_l = {"HIV": 2, "Flu": 0}, {0: 1, 1: 2, 2: 3}
    classes: models.Classes = {
        1: ["HIV", "Flu", "Flu"],
        2: ["HIV", "Gastritis"],
        3: ["Flu"],
        4: [None],
    }
    result = models.l_sl(classes, levels, level_l, default_level=1)
    assert result.per_class == {1: F(1), 2: F(3, 2), 3: F(1), 4: math.inf}
    with pytest.raises(KeyError):
        models.l_sl(classes, levels, level_l)


def test_identity_reserved_models_of_table_3() -> None:
    assert persons.ir_kl(TABLE3, TABLE3_PERSONS).per_class == {"Q1": (4, 5), "Q2": (3, 3)}
    assert persons.ir_kl(TABLE3, TABLE3_PERSONS).worst == (3, 3)
    assert persons.ir_alpha_beta(TABLE3, TABLE3_PERSONS).worst == (F(2, 5), F(3, 5))
    assert persons.eir_l(TABLE3, TABLE3_PERSONS).per_class == {"Q1": 4, "Q2": 1}
    assert persons.eir_alpha_beta(TABLE3, TABLE3_PERSONS).per_class["Q2"] == (F(2, 5), F(1))
    held = persons.holdings(TABLE3["Q2"], TABLE3_PERSONS["Q2"])
    assert len(list(persons.reasoning_sets(held))) == 4
    assert persons.minimum_hitting_set(held.values()) == {"Hypertension"}


def test_persons_without_a_value_count_for_k_alone() -> None:
    classes, who = {1: ["a", None, None, "b", "b"]}, {1: [1, 1, 2, 3, 3]}
    assert persons.ir_k(classes, who).worst == 3
    assert persons.eir_l(classes, who).worst == 2
    assert persons.eir_alpha_beta(classes, who).worst == (F(1, 2), F(1, 2))  # pairs: 1a 1- 2- 3b
    assert persons.eir_l({1: [None]}, {1: [1]}).worst == 0


def test_theorems_hold_in_both_directions() -> None:
    draw = random.Random(3)
    for _ in range(400):
        rows = sorted({(draw.randint(1, 5), draw.choice("abcde")) for _ in range(8)})
        classes, who = {0: [v for _, v in rows]}, {0: [p for p, _ in rows]}
        held = persons.holdings(classes[0], who[0])
        sets = list(persons.reasoning_sets(held))
        assert persons.eir_l(classes, who).worst == min(len(set(chosen)) for chosen in sets)
        widest = max(max(Counter(chosen).values()) for chosen in sets)
        assert persons.eir_alpha_beta(classes, who).worst[1] == F(widest, len(held))


def test_minimum_hitting_set_is_minimal() -> None:
    sets = [{"x2", "x3"}, {"x2", "x4"}, {"x1", "x2"}]
    assert persons.minimum_hitting_set(sets) == {"x2"}
    pairs = [{1, 2}, {3, 4}, {1, 3}]
    assert len(persons.minimum_hitting_set(pairs)) == 2
    assert not any(all(value in pair for pair in pairs) for value in range(5))
    with pytest.raises(ValueError, match="empty family"):
        persons.minimum_hitting_set([set()])
