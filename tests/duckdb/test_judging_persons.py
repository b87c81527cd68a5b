"""Many groups of persons under EIR l-diversity at once: judged by counts, searched where open."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations

import pytest

from anonymizer.algorithms.core.encode import UNITS
from anonymizer.algorithms.core.partition import _search_halves
from anonymizer.algorithms.core.person_rules import HOLDINGS, PAIRS, SETS, Judging, PersonRules
from anonymizer.compile import ident
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.engines.execute import Executor
from anonymizer.guarantees.identity import EirL
from anonymizer.source.profile import Sensitive
from anonymizer.steps import Step

GROUPS = 1200


def fewest(sets: Iterable[set[int]]) -> int:
    """The size of a minimum hitting set, by trying all sets of values."""
    wanted = [one for one in sets if one]
    values = sorted(set().union(*wanted)) if wanted else []
    return next(
        size
        for size in range(len(values) + 1)
        if any(all(one & set(chosen) for one in wanted) for chosen in combinations(values, size))
    )


@pytest.mark.parametrize(("l", "columns", "large"), [(2, 1, True), (3, 1, False), (4, 2, True)])
def test_groups_are_decided_as_by_trying_all_hitting_sets(
    l: int, columns: int, large: bool
) -> None:
    draw = random.Random(f"{l}{columns}")
    asked: list[tuple[int, int]] = []
    units: list[tuple[int, int]] = []
    pairs: list[tuple[int, int, int, int]] = []
    expected: dict[int, bool] = {}
    for group in range(GROUPS):
        many = draw.randint(2, 8)
        truth = True
        people = range(100 * group, 100 * group + draw.randint(1, 12))
        for person in people:
            unit = person // 2  # two persons are one unit
            if (group, unit) not in asked[-1:]:
                asked.append((group, unit))
                units.append((unit, sum(other // 2 == unit for other in people)))
        for column in range(1, columns + 1):
            sets = []
            most = [0] if draw.random() < 0.1 else [0, 1, 1, 2, 2, 3]
            for person in people:
                held = {draw.randint(1, many) for _ in range(draw.choice(most))}
                sets.append(held)
                pairs += [(person // 2, column, person, v) for v in held or {0}]
            truth = truth and fewest(sets) >= l
        expected[group] = truth and len(people) >= l
    rules = PersonRules(
        tuple(Sensitive(j, f"ill {j}", "varchar", "categorical") for j in range(1, columns + 1)),
        (EirL("ill 1", l),),
        least=l,
    )
    judging = Judging(rules, large=large)
    with own_connection(None, spill=None) as engine:
        for table, names, rows in (
            (judging.groups, "grp bigint, unit bigint", asked),
            (UNITS, "unit bigint, n bigint", units),
            (HOLDINGS, "unit bigint, col integer, person bigint, value integer", pairs),
        ):
            engine.raw(f"create table {ident(table)} ({names})", "test")
            columns_of = [name.split()[0] for name in names.split(", ")]
            engine.load(ident(table).text, columns_of, rows, "test")
        executor = Executor(engine)
        tables = {"holdings": HOLDINGS, "sets": SETS, "value_pairs": PAIRS}
        executor.run(
            [
                Step("sets", "persons/sets", tables),
                Step("pairs", "persons/value_pairs", tables),
                *judging.steps(),
            ]
        )
        verdicts = engine.raw(f"select grp, holds, fails from {ident(judging.verdicts)}", "test")
        searched = engine.raw(f"select grp from {ident(judging.search_results)}", "test")
    found = {group: holds for group, holds, _ in verdicts}
    assert not any(holds and fails for _, holds, fails in verdicts)
    assert all(expected[group] == holds for group, holds, fails in verdicts if holds or fails)
    assert {group for group, *_ in searched} <= {group for group, h, f in verdicts if not (h or f)}
    found |= {group: True for (group,) in searched}
    if large:
        # nobody has a value there
        assert not any(expected[group] for group in expected.keys() - found.keys())
    else:
        assert found.keys() == expected.keys()
    assert all(expected[group] == holds for group, holds in found.items())
    open_groups = sum(not (holds or fails) for _, holds, fails in verdicts)
    assert open_groups < GROUPS / 4
    assert 50 < sum(expected.values()) < GROUPS - 50


def test_halves_are_searched_until_the_best_cut_of_a_class_is_found() -> None:
    apart, alike = [[1], [2], [3]], [[1], [1, 2]]
    rows = [
        (7, 1, 2, 1, apart),
        (7, 1, 3, 1, alike),  # the right half of the best cut is refused
        (7, 2, 4, 1, apart),  # both halves of the next one hold
        (7, 2, 5, 1, apart),
        (7, 3, 6, 1, alike),  # nothing behind it is looked at
        (8, 4, 8, 1, apart),
        (8, 4, 8, 2, alike),  # holds in one column only
    ]
    found = defaultdict(list)
    for group, holds in _search_halves(rows, 2):
        found[holds].append(group)
    assert sorted(found[True]) == [4, 5]
    assert sorted(found[False]) == [3, 8]
