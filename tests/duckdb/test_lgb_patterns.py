"""Flag patterns that too few rows share are never published as they are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.algorithms.lgb.compiler import promote, suppress
from anonymizer.errors import GuaranteeError
from tests.runs import Rows, policy, published, run, source

Flags: TypeAlias = "list[tuple[bool | None, bool | None]]"
TYPES = {
    "id": "INTEGER",
    "age": "INTEGER",
    "zip": "VARCHAR",
    "sex": "VARCHAR",
    "hide_age": "BOOLEAN",
    "hide_zip": "BOOLEAN",
}


def release(folder: Path, flags: Flags, **options: Any) -> Rows:
    rows = [(i, 20 + i, f"1{i % 7}", "mf"[i % 2], age, zip_) for i, (age, zip_) in enumerate(flags)]
    limit = options.pop("limit", 0.0)
    columns = {
        "id": {"role": "keep", "acknowledge_unique": True},
        "age": {"role": "quasi", "sensitive_when": "hide_age", "protect": {"l_diversity": 2}},
        "zip": {"role": "quasi", "sensitive_when": "hide_zip", "protect": {"l_diversity": 2}},
        "sex": "quasi",
        "hide_age": "drop",
        "hide_zip": "drop",
    }
    algorithm = {"name": "lgb", **options}
    given_policy = policy(folder, columns, k=3, algorithm=algorithm, suppression_limit=limit)
    return published(run(given_policy, source(folder, TYPES, rows)))


def patterns(rows: Rows) -> Counter[tuple[bool, bool]]:
    return Counter((r["age_bucket"] is not None, r["zip_bucket"] is not None) for r in rows)


FLAGS: Flags = [
    *[(False, False)] * 8,
    *[(True, False)] * 4,
    *[(False, True)] * 2,
    *[(True, True)] * 4,
]


def test_promotion_flags_more_cells_of_the_rows_of_a_small_pattern(tmp_path: Path) -> None:
    rows = release(tmp_path, FLAGS, small_patterns="promote")
    assert patterns(rows) == {(False, False): 8, (True, False): 4, (True, True): 6}
    assert all(row["age_bucket"] is not None for row in rows if row["id"] in (12, 13))


def test_suppression_beyond_the_limit_publishes_nothing(tmp_path: Path) -> None:
    with pytest.raises(GuaranteeError, match="2 of 18 rows would be suppressed"):
        release(tmp_path, FLAGS, small_patterns="suppress", limit=0.1)
    assert not (tmp_path / "release.duckdb").exists()


def test_promotion_says_why_it_does_not_work_out(tmp_path: Path) -> None:
    """Two rows have every cell flagged, and nothing more can be flagged; others are left alone."""
    flags: Flags = [*[(False, False)] * 8, *[(True, True)] * 2]
    said = "2 rows have patterns of sensitive cells that fewer than 3 rows share"
    with pytest.raises(GuaranteeError, match=said):
        release(tmp_path, flags)
    assert not (tmp_path / "release.duckdb").exists()
    assert patterns(release(tmp_path, flags, limit=0.2)) == {(False, False): 8}


def test_a_null_condition_makes_the_cell_sensitive(tmp_path: Path) -> None:
    rows = release(tmp_path, [*[(None, False)] * 4, *[(False, False)] * 4])
    assert patterns(rows) == {(True, False): 4, (False, False): 4}
    assert {row["id"] for row in rows if row["age_bucket"] is not None} == {0, 1, 2, 3}


counts = st.dictionaries(st.integers(0, 15), st.integers(1, 9), min_size=1)


@settings(max_examples=300, deadline=None)
@given(counts, st.integers(1, 8))
def test_promotion_only_adds_flags_and_ends_in_large_patterns(
    found: dict[int, int], k: int
) -> None:
    final = promote(found, k, 15)
    assert set(final) == set(found)
    sizes: Counter[int] = Counter()
    for pattern, target in final.items():
        if target is not None:
            assert target & pattern == pattern
            sizes[target] += found[pattern]
    assert all(size >= k for size in sizes.values())
    assert all(final[pattern] == pattern for pattern, n in found.items() if n >= k)


@settings(max_examples=100, deadline=None)
@given(counts, st.integers(1, 8))
def test_suppression_drops_the_small_and_nothing_else(found: dict[int, int], k: int) -> None:
    assert suppress(found, k) == {p: p if n >= k else None for p, n in found.items()}
