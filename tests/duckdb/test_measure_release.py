"""Every measure against the oracle's definition, on the paper's figures and on random releases."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import duckdb
import pytest

from anonymizer.compile import Table
from anonymizer.contract.layout import Layout, Originals, quasi
from anonymizer.measure import exposure_sql, measure_release
from tests.duckdb.test_verify_form import (
    BUCKETS,
    FIG2_LAYOUT,
    FIG2_TYPES,
    KINDS,
    LINK,
    ORIGINALS,
    VIEW,
    domains,
    lgb_layout,
    random_release,
    store,
    table,
)
from tests.oracle import figures
from tests.oracle.lgb import exposure, lemma2_bound, strict_check
from tests.oracle.measures import measure, number, spanned
from tests.oracle.test_measures_self import DOMAINS
from tests.selection import some


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def measured(
    connection: duckdb.DuckDBPyConnection, layout: Layout, originals: Originals, **options: Any
) -> dict[str, float | int | None]:
    def run_sql(text: str) -> list[tuple[Any, ...]]:
        return connection.execute(text).fetchall()

    return measure_release(run_sql, VIEW, layout, originals, **options)


def figure_2(connection: duckdb.DuckDBPyConnection) -> Originals:
    table(connection, "release", FIG2_TYPES, figures.FIG2)
    types = {"age": "INTEGER", "gender": "VARCHAR", "zip": "VARCHAR", "disease": "VARCHAR"}
    table(connection, "source", types, figures.SOURCE)
    pairs = {(z, label) for z, path in figures.ZIP_PATHS.items() for label in (z, *path)}
    nodes = [{"value": value, "label": label} for value, label in sorted(pairs)]
    table(connection, "zip_nodes", {"value": "VARCHAR", "label": "VARCHAR"}, nodes)
    leaves = {"zip": Table("zip_nodes", "main")}
    return Originals(ORIGINALS, {c: c for c in types}, {}, leaves, leaves=leaves)


def test_figure_2(connection: duckdb.DuckDBPyConnection) -> None:
    originals = figure_2(connection)
    found = measured(connection, FIG2_LAYOUT, originals)
    expected = measure(figures.FIG2, DOMAINS)
    assert found["qi_cells"] == expected.cells == 18
    assert found["ncp_sum"] == pytest.approx(float(expected.ncp_sum), abs=1e-12)
    assert found["glm_sum"] == pytest.approx(float(expected.glm_sum), abs=1e-12)
    assert (found["rows"], found["classes"], found["c_dm"]) == (8, 4, 16)
    assert found["lemma2_max.disease"] == 0.5  # both buckets of class 3 hold Pneumonia
    suppressed = measured(connection, FIG2_LAYOUT, originals, suppressed=2)
    cells = 2 * len(quasi(FIG2_LAYOUT))
    assert suppressed["ncp"] == pytest.approx(float((expected.ncp_sum + cells) / (18 + cells)))
    assert suppressed["c_dm"] == 16 + 2 * 10
    # age 24 (or 31) known: of class 3 only one row is left
    assert found["strict_min.age"] == 1


def test_record_1006_of_figure_2(connection: duckdb.DuckDBPyConnection) -> None:
    figure_2(connection)
    disease = FIG2_LAYOUT.columns[-1]
    by_class = connection.execute(exposure_sql(VIEW, FIG2_LAYOUT, disease)).fetchall()
    found = {name: (exposed, bound) for name, exposed, bound, _ in by_class}
    assert found[2] == (0.25, 0.5)
    for row in figures.FIG2:
        expected = (
            exposure(row, figures.FIG2, "disease"),
            lemma2_bound(row, figures.FIG2, "disease"),
        )
        assert found[row["class_id"]] == tuple(map(float, expected))


@some(1)
@pytest.mark.usefixtures("fine_figures")
@pytest.mark.parametrize("typed", [False, True])
def test_random_releases(connection: duckdb.DuckDBPyConnection, typed: bool) -> None:
    draw = random.Random(21)
    for _ in range(10):
        source, release = random_release(draw)
        stored = store(connection, source, release, typed)
        originals = replace(stored, leaves=stored.nodes)
        every = domains(source)
        lost = draw.randint(0, 3)
        found = measured(connection, lgb_layout(typed), originals, link=LINK, suppressed=lost)
        expected = measure(release, every, lost)
        for name in ("rows", "classes", "class_min", "class_max", "c_dm"):
            assert found[name] == getattr(expected, name)
        assert found["qi_cells"] == expected.cells
        for name in ("class_mean", "ncp", "ncp_sum", "glm", "glm_sum"):
            assert found[name] == pytest.approx(float(getattr(expected, name)), abs=1e-12), name
        assert found["persons"] == found["rows"]
        assert found["ncp_nodes"] == found["ncp"]
        sets = node_free(source, release, every, lost)
        assert found["ncp_sets"] == pytest.approx(sets, rel=0.005)  # of three digits
        for column in BUCKETS:
            rows = release
            exposures = [exposure(row, rows, column) for row in rows]
            bounds = [lemma2_bound(row, rows, column) for row in rows]
            assert found[f"lemma2_max.{column}"] == pytest.approx(float(max(exposures)), abs=1e-12)
            assert found[f"lemma2_bound.{column}"] == pytest.approx(float(max(bounds)), abs=1e-12)
            left = strict_check(rows, [column]).values()
            assert found[f"strict_min.{column}"] == min(left, default=None)
            assert found[f"bucket_range.{column}"] == pytest.approx(
                mean_range(source, release, column), abs=1e-12
            )


def node_free(source: list[Any], release: list[Any], every: dict[str, Any], lost: int) -> float:
    """Mean NCP with the set of values of its class in place of every zip node."""
    without_zip = {name: domain for name, domain in every.items() if name != "zip"}
    total = measure(release, without_zip, 0).ncp_sum + lost * len(KINDS)
    size = len(every["zip"].members) + spanned(release, "zip", every["zip"]).has_null
    for row in release:
        held = {s["zip"] for s, r in zip(source, release, strict=True)
                if r["class_id"] == row["class_id"]}  # fmt: skip
        total += number(len(held)) / size if len(held) > 1 else 0
    return float(total / measure(release, every, lost).cells)


def mean_range(source: list[Any], release: list[Any], column: str) -> float:
    """Of the originals, which are the bucket's values in another order."""
    present = sorted({row[column] for row in source if row[column] is not None})
    place = (
        {value: i for i, value in enumerate(present)}
        if column == "job"
        else {v: v for v in present}
    )
    whole = place[present[-1]] - place[present[0]]
    buckets: dict[int, list[float]] = {}
    for row, was in zip(release, source, strict=True):
        if row[f"{column}_bucket"] is not None and was[column] is not None:
            buckets.setdefault(row[f"{column}_bucket"], []).append(place[was[column]])
    spans = [(max(held) - min(held)) / whole for held in buckets.values()]
    return sum(spans) / len(spans) if spans else 0.0


def test_without_buckets_or_rows(connection: duckdb.DuckDBPyConnection) -> None:
    originals = figure_2(connection)
    connection.execute("delete from release")
    found = measured(connection, FIG2_LAYOUT, originals)
    assert (found["rows"], found["classes"], found["ncp"]) == (0, 0, 0)
    assert (found["lemma2_max.age"], found["strict_min.age"]) == (0, None)
    found = measured(connection, FIG2_LAYOUT, originals, suppressed=8)
    assert (found["ncp"], found["c_dm"]) == (1, 64)
