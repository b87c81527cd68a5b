"""The errors of queries that a report tells, computed again by other code.

Random queries are drawn again from their digests, and answered row by row. Of one's own queries
those over one generalized column have one answer; others have the one that is expected, and the
page is allowed a step beside it, because which row gets which value is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from anonymizer.process.document import code
from anonymizer.review.report.content import QUERIES
from anonymizer.review.report.workload import Answer
from tests.oracle import report as oracle
from tests.oracle.cells import domain_of
from tests.oracle.counts import STEPS, answered, steps
from tests.oracle.workload import Errors, Own, errors, of_one, on_average
from tests.report.cases import KINDS, OWN, Case
from tests.selection import some

LISTED = [*(f"< {round(100 * end)} %" for end in STEPS), "50 % or more"]


def floor(case: Case) -> int:
    """The smallest class that the policy allows, 5 where it names no k."""
    privacy = case.policy.privacy
    return privacy.k_anonymity or privacy.ir_k or 5


@pytest.mark.slow
@some(1)
def test_random_queries_have_the_errors_of_a_naive_recipient(case: Case) -> None:
    least, found = 10 * floor(case), case.report.counts
    # the columns in their published order
    columns = [c["column"] for c in case.report.manifest["layout"]["columns"]]
    names = [name for name in columns if name in case.quasi]
    domains = {n: domain_of([row[n] for row in case.source], KINDS[n]) for n in names}
    exact = answered(
        case.source, case.release, domains,
        seed=1, queries=QUERIES, least=least, person=case.person,
    )  # fmt: skip
    unit = "rows" if case.person is None else "persons"
    page, text = case.page, case.text
    if 2 * len(exact.errors) < QUERIES:
        assert found is None
        assert f"most random queries select too few {unit}" in page
        assert "random count queries" not in text
        return
    assert found is not None
    assert (found.queries, found.least, len(exact.errors)) == (QUERIES, least, QUERIES)
    middle = sorted(exact.errors)[QUERIES // 2 - 1 : QUERIES // 2 + 1]
    assert found.mean in steps(sum(exact.errors) / QUERIES)
    assert found.median in steps(sum(middle) / 2)
    assert f"which select {least} {unit} or more" in page
    assert f"{QUERIES} random count queries" in text
    assert f"median error of the answers from the release is {found.median}," in text


@some(20)
@pytest.mark.parametrize("own", OWN, ids=lambda own: own.sql)
def test_own_queries_have_the_errors_of_the_rows(case: Case, own: Own) -> None:
    (shown,) = (answer for answer in case.report.workload if answer.sql == own.sql)
    least = 10 * floor(case)
    released, slack = read(case, own)
    exact = errors(case.source, released, own, case.person, least)
    if exact is None:
        unit = "rows" if case.person is None else "persons"
        assert shown.problem == f"is based on fewer than {least} {unit}"
        assert (shown.median_error, shown.groups) == (None, None)
        return
    assert shown.problem is None
    assert (shown.groups, shown.missing) == (exact.groups, exact.missing)
    if not slack:
        assert shown.invented == exact.invented
    for told, error in pairs(shown, exact):
        allowed = steps(error)
        if slack:
            numbers = {LISTED.index(some) + by for some in allowed for by in (-1, 0, 1)}
            allowed = {LISTED[n] for n in numbers if 0 <= n < len(LISTED)}
        assert told in allowed, error


def pairs(shown: Answer, exact: Errors) -> list[tuple[str | None, float]]:
    return [
        (shown.mean_error, exact.mean),
        (shown.median_error, exact.median),
        (shown.total_error, exact.total),
    ]


@some(2)
def test_the_page_has_the_errors_of_own_queries(case: Case) -> None:
    page, text = case.page, case.text
    for answer in case.report.workload:
        row = page[page.index(f"<code>{escaped(answer.sql)}</code>") :]
        row = row[: row.index("</tr>")]
        line = f"| `{answer.sql}` | "
        if answer.problem:
            assert answer.problem in row
            assert f"{line}**could not be answered: {answer.problem}** | - |" in text
            continue
        for figure in (answer.groups, answer.missing):
            assert f">{figure}<" in row
        assert escaped(f">{answer.median_error}", 1) in row
        assert escaped(f">{answer.total_error}", 1) in row
        assert f"{line}{answer.median_error} | {answer.total_error} |" in text


def escaped(text: str, since: int = 0) -> str:
    body = text[since:].replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#39;")
    return text[:since] + body


def read(case: Case, own: Own) -> tuple[list[tuple[float, Mapping[str, Any]]], bool]:
    """The release as rows of the query's columns, and whether other draws give other rows."""
    spread = [name for name in own.columns if name in case.quasi or name in case.apart]
    if not spread:
        return [(1, row) for row in case.release], False
    if len(own.columns) == 1:
        (name,) = spread
        if name in case.quasi:
            return of_one(case.release, name, domain(case, name)), False
        if case.person is None:
            return [(1, row) for row in case.apart[name]], False
    return on_average(case.release, {name: mass_of(case, name) for name in own.columns}), True


def domain(case: Case, name: str) -> Any:
    return domain_of([row[name] for row in case.source], KINDS[name])


def mass_of(case: Case, name: str) -> Callable[[Any], Mapping[Any, float]]:
    """What a row's cell stands for, with the part of each value."""
    if name in case.apart:
        groups: dict[Any, Counter[Any]] = {}
        for row in case.apart[name]:
            groups.setdefault(row["group_id"], Counter())[row[name]] += 1
        parts = {
            group: {value: n / held.total() for value, n in held.items()}
            for group, held in groups.items()
        }
        return lambda row: parts[row["group_id"]]
    if name not in case.quasi:
        return lambda row: {row[name]: 1.0}
    whole, bucket = domain(case, name), f"{name}_bucket"
    buckets: dict[Any, list[Any]] = {}
    for row in case.release:
        if row.get(bucket) is not None:
            buckets.setdefault(row[bucket], []).append(row[name])

    @cache
    def of_texts(texts: tuple[str | None, ...]) -> Mapping[Any, float]:
        found = oracle.of_cells(texts, whole)
        assert not found.stretches
        return {value: float(part) for value, part in found.points.items() if part}

    return lambda row: of_texts(
        (row[name],) if row.get(bucket) is None else tuple(buckets[row[bucket]])
    )


def test_steps_of_an_error() -> None:
    assert steps(0) == steps(0.0099) == {"< 1 %"}
    assert steps(Fraction(1, 100)) == {"< 1 %", "< 2 %"}
    assert steps(0.49) == {"< 50 %"}
    assert steps(0.51) == {"50 % or more"}


@pytest.mark.parametrize("text", ["age <b>", "a|b", "`a`", "a ``b`` c", "plain"])
def test_names_in_markdown_are_code(text: str) -> None:
    """Nothing is escaped within code but the sign that ends a cell of a table."""
    made = code(text)
    fence = made[: len(made) - len(made.lstrip("`"))]
    assert made.endswith(fence)
    inner = made.removeprefix(fence).removesuffix(fence)
    assert fence not in inner
    assert inner.strip().replace("\\|", "|") == text
