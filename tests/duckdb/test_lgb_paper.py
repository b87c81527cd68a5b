"""The running example of Li and He (2022) through the whole tool, judged from the release alone."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer import Policy
from anonymizer.measure import exposure_sql
from tests.duckdb.test_verify_form import FIG2_LAYOUT, FIG2_TYPES, VIEW, table
from tests.oracle import figures
from tests.oracle.cells import covers, domain_of, parse, typed_cell
from tests.oracle.lgb import (
    buckets_of,
    check_corollary3,
    exposure,
    lemma2_bound,
    strict_check,
)
from tests.runs import Rows, policy, published, run, source
from tests.selection import some

TYPES = {
    "id": "INTEGER",
    "age": "INTEGER",
    "hide_age": "BOOLEAN",
    "gender": "VARCHAR",
    "zip": "VARCHAR",
    "hide_zip": "BOOLEAN",
    "disease": "VARCHAR",
}
COLUMNS: dict[str, Any] = {
    "id": "drop",
    "age": {"role": "quasi", "sensitive_when": "hide_age", "protect": {"l_diversity": 2}},
    "hide_age": "drop",
    "gender": "quasi",
    "zip": {
        "role": "quasi",
        "hierarchy": {"builder": "prefix"},
        "sensitive_when": "hide_zip",
        "protect": {"l_diversity": 2},
    },
    "hide_zip": "drop",
    "disease": {"role": "sensitive", "protect": {"l_diversity": 2}},
}
DOMAINS = {
    "age": domain_of([row["age"] for row in figures.SOURCE], "numeric"),
    "gender": domain_of(["Male", "Female"], "categorical"),
    "zip": domain_of([row["zip"] for row in figures.SOURCE], "categorical", figures.ZIP_PATHS),
}


def job(folder: Path, cells: str = "text", **options: Any) -> tuple[Policy, Path]:
    """A policy for the table of Fig. 1(b), and a database with it."""
    database = source(folder, TYPES, [tuple(row.values()) for row in figures.SOURCE])
    algorithm = {"name": "lgb", **options}
    return policy(
        folder, COLUMNS, key="id", algorithm=algorithm, publish={"cells": cells}
    ), database


def release(folder: Path, cells: str = "text", **options: Any) -> Rows:
    """The published rows of Fig. 1(b)."""
    made = run(*job(folder, cells, **options))
    assert made.verification.passed
    return published(made)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """A release by Algorithm 3, as the paper's."""
    return release(tmp_path_factory.mktemp("paper"))


@some(1)
@pytest.mark.parametrize(
    "options",
    [
        {"generalization": "mdp"},
        {"generalization": "ncp"},
        {"generalization": "ncp", "rebalance": True},
        {"generalization": "loss", "ranges": "tight"},
        {"generalization": "mdp", "ranges": "tight", "small_patterns": "promote"},
    ],
    ids=lambda options: " ".join(map(str, options.values())),
)
def test_the_table_of_figure_1_satisfies_every_condition_of_corollary_3(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    rows = release(tmp_path, **options)
    assert len(rows) == 8
    assert check_corollary3(rows, figures.REQUIREMENTS) == []


def test_the_release_shows_in_kind_what_figure_2_shows(rows: Rows) -> None:
    assert list(rows[0]) == [
        "class_id",
        "age",
        "age_bucket",
        "gender",
        "zip",
        "zip_bucket",
        "disease",
        "disease_bucket",
    ]
    # no pattern of flags is rarer than k here, so just the flagged cells are in buckets
    for column in figures.FLAGGED:
        bucketed = Counter(row[column] for row in rows if row[f"{column}_bucket"] is not None)
        hidden = [row[column] for row in figures.SOURCE if row[f"hide_{column}"]]
        assert bucketed == Counter(map(str, hidden))
    assert Counter(row["disease"] for row in rows) == Counter(
        row["disease"] for row in figures.SOURCE
    )
    # two classes for each of the four patterns would need sixteen rows: four classes of two
    assert sorted(Counter(row["class_id"] for row in rows).values()) == [2, 2, 2, 2]
    for column in ("age", "zip", "disease"):
        buckets = buckets_of(rows, column)
        assert set(buckets) == set(range(1, len(buckets) + 1))


def test_every_original_is_covered_by_the_cells_of_some_row_of_its_pattern(rows: Rows) -> None:

    def pattern(row: dict[str, Any], hidden: str) -> tuple[bool, ...]:
        return tuple(bool(row[hidden.format(column)]) for column in figures.FLAGGED)

    for original in figures.SOURCE:
        alike = [
            row
            for row in rows
            if tuple(row[f"{column}_bucket"] is not None for column in figures.FLAGGED)
            == pattern(original, "hide_{}")
        ]
        assert any(
            all(
                row.get(f"{column}_bucket") is not None
                or covers(parse(row[column], domain.kind), original[column], domain)
                for column, domain in DOMAINS.items()
            )
            for row in alike
        )


@pytest.mark.slow
def test_typed_cells_publish_the_same_classes_and_buckets_as_text(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    text, typed = release(tmp_path / "a"), release(tmp_path / "b", cells="typed")
    assert [row["class_id"] for row in text] == [row["class_id"] for row in typed]
    for one, other in zip(text, typed, strict=True):
        for column in ("age", "zip", "disease"):
            assert one[f"{column}_bucket"] == other[f"{column}_bucket"]
        assert one["disease"] == other["disease"]
        if one["age_bucket"] is None:
            assert parse(one["age"], "numeric") == typed_cell(other, "age", "numeric")
            assert other["age_value"] is None
        else:
            assert other["age_value"] == int(one["age"])
            assert (other["age_lo"], other["age_hi"]) == (None, None)
        if one["zip_bucket"] is None:
            assert (other["zip"], other["zip_nullable"]) == (one["zip"], False)
            assert other["zip_value"] is None
        else:
            assert other["zip_value"] == one["zip"]
            assert other["zip"] is None
        assert other["gender"] == [one["gender"]] or one["gender"] in ("*", "{Female, Male}")


def test_no_disease_of_anybody_is_more_probable_than_one_half(rows: Rows) -> None:
    for column in ("age", "zip", "disease"):
        assert max(exposure(row, rows, column) for row in rows) <= Fraction(1, 2)
        assert max(lemma2_bound(row, rows, column) for row in rows) <= Fraction(1, 2)


def test_record_1006_of_figure_2_is_measured_at_one_quarter() -> None:
    """Lemma 2, worked: its class meets two buckets of two diseases each, all four different."""
    with duckdb.connect() as connection:
        table(connection, "release", FIG2_TYPES, figures.FIG2)
        disease = next(c for c in FIG2_LAYOUT.columns if c.column == "disease")
        found = connection.execute(exposure_sql(VIEW, FIG2_LAYOUT, disease)).fetchall()
    of_1006 = next(row["class_id"] for row in figures.FIG2 if row["id"] == 1006)
    assert {row[0]: row[1] for row in found}[of_1006] == 0.25


def test_the_measures_of_the_release_are_those_of_the_oracle(tmp_path: Path) -> None:
    made = run(*job(tmp_path))
    rows = published(made)
    for column in ("age", "zip", "disease"):
        worst = max(exposure(row, rows, column) for row in rows)
        assert made.measures[f"lemma2_max.{column}"] == pytest.approx(float(worst))
        left = strict_check(rows, [column])
        assert made.measures[f"strict_min.{column}"] == min(left.values())
