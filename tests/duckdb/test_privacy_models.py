"""Every privacy model against the naive oracle, on hundreds of tables with NULLs and ties."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import duckdb
import pytest

from anonymizer.compile import Sql, Table
from anonymizer.guarantees.closeness import TEqual, THierarchical, TOrdered
from anonymizer.guarantees.diversity import DistinctL, EntropyL, RecursiveCL
from anonymizer.guarantees.frequency import (
    Alpha,
    AlphaOfK,
    BetaLikeness,
    DeltaDisclosure,
)
from anonymizer.guarantees.rule import Rule
from anonymizer.guarantees.size import KAnonymity
from tests import models
from tests.judging import judge_sql
from tests.selection import some

TRIALS = 300
SPARSE, DENSE = Table("sparse"), Table("dense")
# leaves a…f in hierarchy order: two levels of inner nodes below the root, unbalanced in width
PATHS = {
    "a": ("ab", "abc", "*"),
    "b": ("ab", "abc", "*"),
    "c": ("c", "abc", "*"),
    "d": ("d", "def", "*"),
    "e": ("ef", "def", "*"),
    "f": ("ef", "def", "*"),
}

Classes = dict[Hashable, list[str | None]]


@dataclass(frozen=True)
class Trials:
    connection: duckdb.DuckDBPyConnection
    classes: dict[int, Classes]
    persons: dict[int, dict[Hashable, list[int]]]


def draw_table(draw: random.Random) -> tuple[Classes, dict[Hashable, list[int]]]:
    letters = "abcdef"[: draw.randint(1, 6)]
    weights = [draw.choice([1, 1, 2, 6]) for _ in letters]
    nulls = draw.choice([0, 0, 0.2, 0.9])
    classes: Classes = {}
    for name in range(draw.randint(1, 5)):
        size = draw.choice([1, 2, 3, 4, 6, 8, 12])
        values = draw.choices(letters, weights, k=size)
        classes[name] = [None if draw.random() < nulls else value for value in values]
    who: dict[Hashable, list[int]] = {
        n: [draw.randint(1, 5) for _ in c] for n, c in classes.items()
    }
    return classes, who


HISTOGRAM = """
create table {name} as
with coded as (
    select trial, class, person, v,
        case when v is null then 0
            else dense_rank() over (partition by trial order by v nulls last) end as value
    from (select {distinct} trial, class, person, v from {source})
), reference as (
    select trial, value, v, count(*) as q,
        coalesce(sum(count(*)) filter (where value > 0) over (partition by trial), 0)::bigint
            as q_known,
        (sum(count(*)) over (partition by trial))::bigint as q_size,
        (count(*) filter (where value > 0) over (partition by trial))::integer as m
    from coded group by trial, value, v
), found as (select trial, class, value, count(*) as n from coded group by all)
select class, r.trial, r.value, coalesce(n, 0) as n, q, q_known, q_size, m,
    -- NULL is a category of its own, wherever its ancestors seem to put it
    coalesce(a1, 'ab') as a1, coalesce(a2, 'abc') as a2, a3
from reference as r
join (select distinct trial, class from coded) as c using (trial)
{join} join found as f using (trial, class, value)
left join paths as p on p.leaf = r.v
"""


@pytest.fixture(scope="module")
def trials() -> Iterator[Trials]:
    draw = random.Random(20260)
    classes: dict[int, Classes] = {}
    persons: dict[int, dict[Hashable, list[int]]] = {}
    rows: list[tuple[Any, ...]] = []
    for trial in range(TRIALS):
        classes[trial], persons[trial] = draw_table(draw)
        for name, values in classes[trial].items():
            who = persons[trial][name]
            rows += [(trial, name, p, v) for p, v in zip(who, values, strict=True)]
    draw.shuffle(rows)
    with duckdb.connect() as connection:
        connection.execute("create table data (trial int, class int, person int, v varchar)")
        listed = ", ".join(
            f"({t}, {c}, {p}, {'NULL' if v is None else repr(v)})" for t, c, p, v in rows
        )
        connection.execute(f"insert into data values {listed}")
        paths = ", ".join(str((leaf, *above)) for leaf, above in PATHS.items())
        connection.execute(f"create table paths as from (values {paths}) as p (leaf, a1, a2, a3)")
        for name, join, distinct in (
            ("sparse", "", ""),
            ("dense", "left", ""),
            ("sparse_persons", "", "distinct"),
            ("dense_persons", "left", "distinct"),
        ):
            connection.execute(
                HISTOGRAM.format(name=name, join=join, distinct=distinct, source="data")
            )
        yield Trials(connection, classes, persons)


def judged(trials: Trials, rule: Rule, table: Table) -> dict[tuple[int, int], tuple[bool, Any]]:
    query = judge_sql(table, ["trial", "class"], [rule])
    rows = trials.connection.execute(query.text).fetchall()
    assert all(isinstance(holds, bool) for *_, holds, _ in rows)
    return {(trial, name): (holds, achieved) for trial, name, holds, achieved in rows}


def as_value(classes: Classes) -> Classes:
    """NULL as a value like any other."""
    return {name: ["null" if v is None else v for v in values] for name, values in classes.items()}


def check(
    trials: Trials,
    rule: Rule,
    oracle: Callable[[Classes, dict[Hashable, list[int]] | None], dict[Hashable, Any]],
    holds: Callable[[Any], bool],
    *,
    one_sided: bool = False,
) -> None:
    """Rows and persons, on the histogram without absent values where the rule can do with it."""
    seen = set()
    for suffix in ("", "_persons"):
        kinds = ("dense",) if rule.dense else ("dense", "sparse")
        for kind in kinds:
            found = judged(trials, rule, Table(kind + suffix))
            assert len(found) == sum(map(len, trials.classes.values()))
            for trial, classes in trials.classes.items():
                given = as_value(classes) if rule.null_as_value else classes
                truth = oracle(given, trials.persons[trial] if suffix else None)
                for name, figure in truth.items():
                    got, achieved = found[trial, int(str(name))]
                    seen.add(got)
                    assert got == holds(figure), (trial, name, figure, achieved)
                    assert achieved == pytest.approx(float(figure), abs=1e-12)
    assert one_sided or seen == {True, False}


@pytest.mark.parametrize("k", [1, 2, 6])
def test_k(trials: Trials, k: int) -> None:
    check(trials, KAnonymity(None, k), models.pairs, lambda size: size >= k, one_sided=k == 1)


@pytest.mark.parametrize("null_as_value", [False, True])
@pytest.mark.parametrize("l", [2, 3])
def test_distinct_l(trials: Trials, l: int, null_as_value: bool) -> None:
    check(
        trials,
        DistinctL("v", l, null_as_value=null_as_value),
        lambda classes, _: models.distinct_l(classes).per_class,
        lambda reached: reached >= l,
    )


@pytest.mark.parametrize("null_as_value", [False, True])
@pytest.mark.parametrize("l", [1.5, 2.0, 3.0])
def test_entropy_l(trials: Trials, l: float, null_as_value: bool) -> None:
    rule = EntropyL("v", l, null_as_value=null_as_value)
    check(
        trials,
        rule,
        lambda classes, who: models.entropy_l(classes, who).per_class,
        lambda reached: reached >= l - 1e-9,
    )
    found = judged(trials, rule, SPARSE)
    ties = 0
    for trial, classes in trials.classes.items():
        given = as_value(classes) if null_as_value else classes
        for name, values in given.items():
            got, achieved = found[trial, int(str(name))]
            assert got == models.entropy_l_holds(values, l)
            ties += achieved == pytest.approx(l, abs=1e-13)
    assert ties or l == 1.5


@pytest.mark.parametrize("null_as_value", [False, True])
@pytest.mark.parametrize(("c", "l"), [(1, 2), (2, 2), (1.5, 3), (0.5, 2), (4, 4)])
def test_recursive_cl(trials: Trials, c: float, l: int, null_as_value: bool) -> None:
    bound = Fraction(str(c))
    check(
        trials,
        RecursiveCL("v", c, l, null_as_value=null_as_value),
        lambda classes, who: models.recursive_cl(classes, l, who).per_class,
        lambda ratio: ratio < bound,
    )


@pytest.mark.parametrize("null_as_value", [False, True])
@pytest.mark.parametrize("alpha", [0.2, 0.25, 0.5, 0.75])
def test_alpha(trials: Trials, alpha: float, null_as_value: bool) -> None:
    bound = Fraction(str(alpha))
    check(
        trials,
        Alpha("v", alpha, null_as_value=null_as_value),
        lambda classes, who: models.alpha(classes, who).per_class,
        lambda share: share <= bound,
    )


def test_alpha_of_one_value(trials: Trials) -> None:
    # the lowest code is the least value of the trial, which the oracle has to be told
    def share(classes: Classes, who: dict[Hashable, list[int]] | None) -> dict[Hashable, Any]:
        values = [v for column in classes.values() for v in column if v is not None]
        if not values:
            return dict.fromkeys(classes, math.inf)
        return models.alpha(classes, who, min(values)).per_class

    check(trials, AlphaOfK("v", 0.5, Sql("1")), share, lambda share: share <= Fraction(1, 2))
    none = judged(trials, AlphaOfK("v", 0.5, Sql("(select cast(null as integer))")), SPARSE)
    assert set(none.values()) == {(True, 0.0), (False, math.inf)}


@some(3)
@pytest.mark.parametrize("t", [0.0, 0.1, 0.125, 0.2, 0.25, 0.5])
def test_equal_t(trials: Trials, t: float) -> None:
    check(
        trials,
        TEqual("v", t),
        lambda classes, who: models.t_closeness(classes, persons=who).per_class,
        lambda distance: distance <= Fraction(str(t)),
    )


@pytest.mark.parametrize("t", [0.0, 0.1, 0.125, 0.2, 0.25])
def test_ordered_t(trials: Trials, t: float) -> None:
    check(
        trials,
        TOrdered("v", t),
        lambda classes, who: models.t_closeness(classes, "ordered", persons=who).per_class,
        lambda distance: distance <= Fraction(str(t)),
    )


@some(4)
@pytest.mark.parametrize("height", [1, 2, 3])
@pytest.mark.parametrize("t", [0.0, 0.1, 0.25])
def test_hierarchical_t(trials: Trials, t: float, height: int) -> None:
    # a lower tree: its top level is the root
    paths = {leaf: (*above[: height - 1], "*") for leaf, above in PATHS.items()}
    check(
        trials,
        THierarchical("v", t, height),
        lambda classes, who: (
            models.t_closeness(classes, "hierarchical", persons=who, paths=paths).per_class
        ),
        lambda distance: distance <= Fraction(str(t)),
    )


def test_ties_of_t_are_met(trials: Trials) -> None:
    """The tests above are about ties only if there are some."""
    exact = [
        distance
        for classes in trials.classes.values()
        for distance in models.t_closeness(classes).per_class.values()
    ]
    for t in ("0.1", "0.2", "0.25", "0.5"):
        assert Fraction(t) in exact


@pytest.mark.parametrize("null_as_value", [False, True])
@pytest.mark.parametrize("beta", [0.25, 0.5, 1, 2])
def test_beta_likeness(trials: Trials, beta: float, null_as_value: bool) -> None:
    bound = Fraction(str(beta))
    check(
        trials,
        BetaLikeness("v", beta, null_as_value=null_as_value),
        lambda classes, who: models.beta_likeness(classes, who).per_class,
        lambda gain: gain <= bound,
    )


@pytest.mark.parametrize("null_as_value", [False, True])
@pytest.mark.parametrize("delta", [0.1, 0.7, 1.5])
def test_delta_disclosure(trials: Trials, delta: float, null_as_value: bool) -> None:
    check(
        trials,
        DeltaDisclosure("v", delta, null_as_value=null_as_value),
        lambda classes, who: models.delta_disclosure(classes, who).per_class,
        lambda distance: distance < delta,
    )


def test_several_rules_in_one_query(trials: Trials) -> None:
    rules: list[Rule] = [
        DistinctL("v", 2),
        EntropyL("v", 1.5),
        RecursiveCL("v", 2, 2),
        TOrdered("v", 0.25),
        Alpha("v", 0.5),
        AlphaOfK("v", 0.25),
        BetaLikeness("v", 1),
        DeltaDisclosure("v", 1.0),
        KAnonymity(None, 2),
    ]
    query = judge_sql(DENSE, ["trial", "class"], rules).text
    together = trials.connection.execute(f"from ({query}) order by trial, class").fetchall()
    for at, rule in enumerate(rules):
        alone = judged(trials, rule, DENSE)
        for trial, name, *figures in together:
            assert tuple(figures[2 * at : 2 * at + 2]) == alone[trial, name]


def test_merged_classes_keep_what_both_hold(trials: Trials) -> None:
    """What makes the whole table, as one class, a test of feasibility."""
    draw = random.Random(5)
    groups = {key: draw.randint(0, 1) for key in judged(trials, KAnonymity(None, 1), SPARSE)}
    merged = 0
    for rule in (
        EntropyL("v", 1.5), RecursiveCL("v", 2, 2), TEqual("v", 0.4), TOrdered("v", 0.25),
        THierarchical("v", 0.3, 3), Alpha("v", 0.5), BetaLikeness("v", 1),
        DeltaDisclosure("v", 1.0), DistinctL("v", 2),
    ):  # fmt: skip
        alone = judged(trials, rule, DENSE)
        table = ", ".join(f"({t}, {c}, {g})" for (t, c), g in groups.items())
        union = Sql(
            "select d.trial, g as class, value, sum(n)::bigint as n, q, q_known, q_size, m,"
            " a1, a2, a3 from dense as d"
            f" join (values {table}) as g (trial, class, g) using (trial, class) group by all"
        )
        query = judge_sql(union, ["trial", "class"], [rule])
        for trial, group, holds, _ in trials.connection.execute(query.text).fetchall():
            parts = [alone[key][0] for key, g in groups.items() if key[0] == trial and g == group]
            if all(parts):
                merged += len(parts) > 1
                assert holds, rule
    assert merged > 100


def test_no_rows_at_all() -> None:
    empty = Sql(
        "select 1 as value, 1::bigint as n, 1::bigint as q, 1::bigint as q_known,"
        " 1::bigint as q_size, 1 as m, 1 as a1, 1 as a2 where false"
    )
    rules: list[Rule] = [
        DistinctL("v", 2), EntropyL("v", 2), RecursiveCL("v", 1, 2), Alpha("v", 0.5),
        BetaLikeness("v", 1), DeltaDisclosure("v", 1),
    ]  # fmt: skip
    with duckdb.connect() as connection:
        for rule in rules:
            (row,) = connection.execute(judge_sql(empty, [], [rule]).text).fetchall()
            assert row[0] is False
        for rule in [TEqual("v", 0.1), TOrdered("v", 0.1), THierarchical("v", 0.1, 2)]:
            (row,) = connection.execute(judge_sql(empty, [], [rule]).text).fetchall()
            assert row == (True, 0.0)


def test_entropy_tells_a_near_tie_from_a_tie() -> None:
    with duckdb.connect() as connection:
        for n, holds in (((500, 500), True), ((501, 499), False), ((50001, 49999), False)):
            histogram = Sql(
                f"select value, n from (values (1, {n[0]}), (2, {n[1]})) as h (value, n)"
            )
            query = judge_sql(histogram, [], [EntropyL("v", 2)]).text
            (row,) = connection.execute(query).fetchall()
            assert row[0] is holds


BIG = 10**8


@pytest.mark.parametrize("off", [0, 1])
def test_counts_of_a_hundred_million_are_decided_to_the_unit(off: int) -> None:
    """Two values, half and half of the reference; the class is off by a row, or exact."""
    half = BIG // 2
    rows = [(1, half + off, half), (2, half - off, half)]
    listed = ", ".join(str((v, n, q, BIG, BIG, 2, 0, "x", "*")) for v, n, q in rows)
    histogram = Sql(
        f"select value, n::bigint as n, q::bigint as q, q_known::bigint as q_known,"
        " q_size::bigint as q_size, m, a1, a2"
        f" from (values {listed}) as h (value, n, q, q_known, q_size, m, z, a1, a2)"
    )
    edge = [
        Alpha("v", 0.5), TEqual("v", 0.0), TOrdered("v", 0.0), THierarchical("v", 0.0, 2),
        BetaLikeness("v", 1e-9),
    ]  # fmt: skip
    with duckdb.connect() as connection:
        for rule in edge:
            (row,) = connection.execute(judge_sql(histogram, [], [rule]).text).fetchall()
            assert row[0] is (off == 0), rule
        wide: list[Rule] = [
            RecursiveCL("v", 1.000000001, 2), RecursiveCL("v", 1e300, 2), Alpha("v", 0.500000011),
            BetaLikeness("v", 1e300), DeltaDisclosure("v", 700), TOrdered("v", 0.999999999999),
            EntropyL("v", 1.999999999999),
        ]  # fmt: skip
        for rule in wide:
            (row,) = connection.execute(judge_sql(histogram, [], [rule]).text).fetchall()
            assert row[0] is (off == 0 or getattr(rule, "c", None) != 1.000000001), rule
            assert math.isfinite(row[1])


def test_many_values_and_rows_do_not_overflow() -> None:
    """A million values, 10^8 rows: one class of the rarest against the rest."""
    values = 1_000_000
    with duckdb.connect() as connection:
        connection.execute(
            "create table h as select (i + 1)::integer as value, 100::bigint as q,"
            f" {BIG}::bigint as q_known, {BIG}::bigint as q_size, {values} as m,"
            f" case when i < 500000 then 100 else 0 end::bigint as n, '*' as a1"
            f" from range({values}) as t (i)"
        )
        for rule, distance in (
            (TEqual("v", 0.5), 0.5),
            (TOrdered("v", 0.25000025), 0.25000025),
            (THierarchical("v", 0.5, 1), 0.5),
        ):
            query = judge_sql(Table("h"), [], [rule]).text
            (row,) = connection.execute(query).fetchall()
            assert row[1] == pytest.approx(distance, rel=1e-9)
            assert row[0] is (row[1] <= rule.t)


@pytest.mark.parametrize(
    "rule",
    [
        Alpha("v", 1.0), AlphaOfK("v", 1.0), BetaLikeness("v", 1000), DeltaDisclosure("v", 27),
        DistinctL("v", 1), EntropyL("v", 1.0), RecursiveCL("v", 1000, 1),
    ],
    ids=lambda rule: rule.name,
)  # fmt: skip
def test_a_class_without_any_value_holds_no_rule(rule: Rule) -> None:
    """However weak the parameter: there is nothing that could be diverse."""
    nulls = Sql(
        "select 0 as value, 5::bigint as n, 5::bigint as q, 20::bigint as q_known,"
        " 25::bigint as q_size, 2 as m"
    )
    with duckdb.connect() as connection:
        ((holds, _),) = connection.execute(judge_sql(nulls, [], [rule]).text).fetchall()
        assert holds is False
        counted = replace(rule, null_as_value=True)
        ((holds, _),) = connection.execute(judge_sql(nulls, [], [counted]).text).fetchall()
        assert holds is (rule.name != "delta_disclosure")  # which wants every value in every class
