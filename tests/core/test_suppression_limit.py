"""The limit of suppression is the fraction as it is written."""

from __future__ import annotations

import duckdb
import pytest

from anonymizer.errors import GuaranteeError
from anonymizer.guarantees.rule import share_at_most
from anonymizer.release.judge import Suppression, refuse_beyond


def test_exactly_the_limit_is_within_it() -> None:
    """In doubles 0.29 of 100 are 28.999999999999996."""
    for total in (100, 1000, 10**9):
        for percent in range(101):
            limit = percent / 100
            suppressed = percent * total // 100
            refuse_beyond(Suppression("rows", total, total - suppressed), limit)
            if suppressed < total:
                with pytest.raises(GuaranteeError):
                    refuse_beyond(Suppression("rows", total, total - suppressed - 1), limit)


def test_nothing_of_nothing_is_within_every_limit() -> None:
    assert Suppression("rows", 0, 0).within(0.0)
    assert Suppression("rows", 3, 3).within(0.0)
    assert not Suppression("rows", 10**6, 10**6 - 1).within(1e-7)


def test_statements_compute_the_same_limit() -> None:
    wanted = [(percent, percent * 10) for percent in range(101)]
    computed = " union all ".join(
        f"select {percent}, floor({share_at_most(percent / 100).text} * cast(1000 as bigint))"
        for percent in range(101)
    )
    with duckdb.connect() as connection:
        assert connection.execute(f"{computed} order by 1").fetchall() == wanted
