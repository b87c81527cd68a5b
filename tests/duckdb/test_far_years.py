"""Timestamps far from today, in every precision that has room for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from tests import runs
from tests.selection import some

PLAN: dict[str, Any] = {"role": "quasi"}
COLUMNS: dict[str, dict[str, Any]] = {
    "an interval": PLAN,
    "days and years": {**PLAN, "hierarchy": {"builder": "date"}},
    "centres": {**PLAN, "hierarchy": {"builder": "on_the_fly"}},
    "ordered": {
        "role": "sensitive",
        "protect": {"t_closeness": {"t": 0.6, "distance": "ordered"}},
    },
    "shifted": {"role": "shift", "within": "30 days", "per": "person"},
    "rounded": {"role": "round", "to": "year"},
    "cut off": {"role": "top_code", "at": "2100-01-01"},
}


ENDS = {
    "TIMESTAMP_S": ("1500-02-03 04:05:06", "9999-12-31 00:00:00"),
    "TIMESTAMP_MS": ("1500-02-03 04:05:06", "9999-12-31 00:00:00"),
    "TIMESTAMP": ("0001-02-03 04:05:06", "9999-12-31 00:00:00"),
    "TIMESTAMP_NS": ("1678-02-03 04:05:06", "2262-02-10 00:00:00"),
}
"""An early and a late moment of every precision, the last near to the ends of its range."""
# (the decade of such a moment ends beyond what nanoseconds count, and is refused)
CASES = [
    (p, role) for p in ENDS for role in COLUMNS if (p, role) != ("TIMESTAMP_NS", "days and years")
]


@some(1, 5)
@pytest.mark.parametrize(("precision", "role"), CASES)
def test_years_that_nanoseconds_cannot_count(tmp_path: Path, precision: str, role: str) -> None:
    """From DuckDB 2.0.1 on, functions read the coarser types as nanoseconds: to the year 2262."""
    source = tmp_path / "source.duckdb"
    with duckdb.connect(str(source)) as connection:
        connection.execute(
            f"create table people as select i as person, 20 + i % 50 as age, cast(case"
            f" when i % 17 = 0 then timestamp '{ENDS[precision][1]}'"
            f" when i % 19 = 0 then timestamp '{ENDS[precision][0]}'"
            f" else timestamp '2020-01-01' + to_hours(i * 37) end as {precision}) as moment"
            " from range(1, 400) t(i)"
        )
    columns = {"person": "identifier", "age": "quasi", "moment": COLUMNS[role]}
    kind = "pseudonymised" if role == "shifted" else "anonymised"
    given = runs.policy(tmp_path, columns, 4, kind=kind)
    release = runs.run(given, source)
    assert anonymizer.verify(given).passed
    assert len(runs.published(release)) == 399
