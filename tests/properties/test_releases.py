"""Whatever table and policy: what is published keeps its promises, judged by naive Python."""

from __future__ import annotations

import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings

from anonymizer import AnonymizerError
from anonymizer.errors import GuaranteeError, InfeasibleError, NothingToCheckError, SourceError
from tests.models import (
    alpha,
    distinct_l,
    entropy_l_holds,
    recursive_cl_holds,
    t_closeness,
)
from tests.oracle.cells import Exact, Null, as_text, covers, domain_of, ordered, parse, typed_cell
from tests.properties.tables import Case, cases
from tests.runs import Rows, published, run

FEW = settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
MANY = settings(FEW, max_examples=400)


def outcome(case: Case) -> tuple[Rows, int] | AnonymizerError:
    """The published rows and the number of suppressed ones, or why there is no release."""
    with tempfile.TemporaryDirectory() as folder:
        given_policy, database = case.job(Path(folder))
        try:
            made = run(given_policy, database)
        except (GuaranteeError, InfeasibleError, NothingToCheckError, SourceError) as error:
            # a count of the source refuses only rules that no class can satisfy
            if isinstance(error, SourceError) and "cannot hold in any class" not in str(error):
                raise
            left = sorted(path.name for path in Path(folder).iterdir())
            assert left == ["source.duckdb"], "a failed run leaves nothing"
            return error
        assert made.verification.passed
        return published(made), made.measures["suppressed"]


def check(case: Case) -> None:
    found = outcome(case)
    if isinstance(found, AnonymizerError):
        event(f"no release: {type(found).__name__}")
        assert may_fail(case) or not isinstance(found, GuaranteeError), str(found)
        return
    event("released")
    rows, suppressed = found
    assert len(rows) + suppressed == len(case.rows)
    check_classes(case, rows)
    check_cells(case, rows)
    check_values(case, rows)
    check_rules(case, rows)


def may_fail(case: Case) -> bool:
    """Buckets of different values that are also close to the whole column need not exist."""
    return case.algorithm["name"] == "lgb" and any(len(rule) > 1 for rule in case.rules.values())


def check_classes(case: Case, rows: Rows) -> None:
    sizes = Counter(row["class_id"] for row in rows)
    assert all(n >= case.k for n in sizes.values())
    assert sorted(sizes) == list(range(1, len(sizes) + 1))
    for number in sizes:
        members = [row for row in rows if row["class_id"] == number]
        for column in case.quasi:
            assert len({cell(case, row, column) for row in members}) == 1


def bucket(row: dict[str, Any], column: str) -> int | None:
    found: int | None = row.get(f"{column}_bucket")
    return found


def cell(case: Case, row: dict[str, Any], column: str) -> Any:
    """The generalized cell; "bucket" where there is none."""
    if bucket(row, column) is not None:
        return "bucket"
    kind = case.kind(column)
    if case.cells == "typed":
        return typed_cell(row, column, kind)
    return parse(row[column], kind)


def check_cells(case: Case, rows: Rows) -> None:
    for column in case.quasi:
        domain = domain_of(case.values(column), case.kind(column))
        for row in rows:
            original = case.value(row["id"], column)
            if bucket(row, column) is None:
                assert covers(cell(case, row, column), original, domain)
                if column in case.flags:
                    assert case.value(row["id"], case.flags[column]) is False
            else:
                promoted = case.algorithm["small_patterns"] == "promote"
                assert promoted or case.value(row["id"], case.flags[column]) is not False


def check_values(case: Case, rows: Rows) -> None:
    """Buckets hold the multiset of the originals; other sensitive values stay with their row."""
    for column in case.columns:
        if case.columns[column]["role"] != "sensitive" and column not in case.flags:
            continue
        bucketed = [row for row in rows if bucket(row, column) is not None]
        originals = [case.value(row["id"], column) for row in bucketed]
        by_bucket: dict[Any, list[Any]] = {}
        for row in bucketed:
            by_bucket.setdefault(bucket(row, column), []).append(row)
        for members in by_bucket.values():
            assert Counter(bucketed_value(case, row, column) for row in members) == Counter(
                as_published(case, case.value(row["id"], column), column) for row in members
            )
        assert Counter(bucketed_value(case, row, column) for row in bucketed) == Counter(
            as_published(case, value, column) for value in originals
        )
        if case.columns[column]["role"] == "sensitive":
            for row in rows:
                if bucket(row, column) is None:
                    assert row[column] == case.value(row["id"], column)


def bucketed_value(case: Case, row: dict[str, Any], column: str) -> Any:
    if column in case.flags:
        if case.cells == "typed":
            return row[f"{column}_value"]
        found = parse(row[column], case.kind(column))
        return None if isinstance(found, Null) else found
    return row[column]


def as_published(case: Case, value: Any, column: str) -> Any:
    if value is not None and column in case.flags and case.cells == "text":
        kind = case.kind(column)
        return Exact(as_text(value) if kind == "categorical" else ordered(value, kind))
    return value


def check_rules(case: Case, rows: Rows) -> None:
    for column, rule in case.rules.items():
        local = case.algorithm["name"] == "lgb"
        groups: dict[Any, list[Any]] = {}
        for row in rows:
            number = bucket(row, column) if local else row["class_id"]
            if number is not None:
                groups.setdefault(number, []).append(bucketed_value(case, row, column))
        if groups:
            check_rule(case, rule, groups, column)


def check_rule(case: Case, rule: dict[str, Any], groups: dict[Any, list[Any]], column: str) -> None:
    if "l_diversity" in rule:
        assert distinct_l(groups).worst >= rule["l_diversity"]
    if "entropy_l" in rule:
        assert all(entropy_l_holds(values, rule["entropy_l"]) for values in groups.values())
    if "recursive_cl" in rule:
        c, l = Fraction(rule["recursive_cl"]["c"]), rule["recursive_cl"]["l"]
        assert all(recursive_cl_holds(values, c, l) for values in groups.values())
    if "alpha" in rule:
        assert alpha(groups).worst <= Fraction(str(rule["alpha"]))
    if "t_closeness" in rule:
        t = rule["t_closeness"]
        if isinstance(t, float):
            assert t_closeness(groups).worst <= Fraction(str(t))
        elif column not in case.flags:
            order = sorted({v for vs in groups.values() for v in vs if v is not None})
            in_order = [None, *order]
            worst = t_closeness(groups, "ordered", order=in_order).worst
            assert worst <= Fraction(str(t["t"]))


@pytest.mark.slow
@FEW
@given(cases("mondrian"))
def test_a_release_of_mondrian_keeps_its_promises(case: Case) -> None:
    check(case)


@pytest.mark.slow
@FEW
@given(cases("lgb"))
def test_a_release_of_lgb_keeps_its_promises(case: Case) -> None:
    check(case)


@pytest.mark.exhaustive
@MANY
@given(cases())
def test_many_releases_keep_their_promises(case: Case) -> None:
    check(case)
