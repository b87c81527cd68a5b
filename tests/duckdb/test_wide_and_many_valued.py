"""Tables with very many columns, and columns with very many values: the same releases, at a cost
that stays in proportion.
"""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonymizer
from anonymizer.algorithms.core import encode
from anonymizer.algorithms.core.loss import fold
from anonymizer.algorithms.core.lower_bound import WIDEST
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.source.profile import Attribute
from anonymizer.verification import fast
from tests.runs import policy, published, run, source
from tests.selection import some
from tests.tables import customers

SECRET = "5" * 64


@pytest.mark.slow
@some(1)
@pytest.mark.parametrize("algorithm", ["mondrian", "lgb", "danonyir"])
@pytest.mark.parametrize("cells", ["text", "typed"])
def test_parts_make_the_release_that_one_statement_makes(
    algorithm: str, cells: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(1)
    rows = [
        (i, draw.randint(1, 40), draw.choice("abcde"), draw.choice(["x", None]), draw.choice("pq"))
        for i in range(60)
    ]
    path = source(
        tmp_path,
        {"id": "INTEGER", "age": "INTEGER", "town": "VARCHAR", "job": "VARCHAR", "ill": "VARCHAR"},
        rows,
    )
    persons: dict[str, Any] = {}
    if algorithm == "danonyir":
        persons = {"person": "id", "privacy": {"ir_k": 3}}
    asked = policy(
        tmp_path,
        {"id": "identifier", "age": "quasi", "town": "quasi", "job": "quasi", "ill": "sensitive"},
        k=None if persons else 3,
        algorithm={"name": algorithm},
        publish={"cells": cells},
        **persons,
    )
    whole = published(run(asked, path, seed=SECRET))
    monkeypatch.setattr(encode, "JOINED_AT_ONCE", 2)
    monkeypatch.setattr(fast, "AT_ONCE", 2)
    assert published(run(asked, path, seed=SECRET)) == whole


@pytest.mark.slow
def test_no_statement_joins_all_domains_of_a_wide_table(tmp_path: Path) -> None:
    """Or compares all its columns at once: both take a time that is quadratic in the columns."""
    wide = WIDEST + 1  # (to fewer columns a bound of the loss is told)
    types = {f"x{i}": "INTEGER" for i in range(wide)}
    rows = [tuple((i * 7 + j) % 5 for j in range(wide)) for i in range(40)]
    asked: list[str] = []

    def told(self: DuckDBEngine, text: str, *given: object, **more: object) -> object:
        asked.append(text)
        return raw(self, text, *given, **more)  # type: ignore[arg-type]

    raw = DuckDBEngine.raw
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DuckDBEngine, "raw", told)
        path = source(tmp_path, types, rows)
        assert run(policy(tmp_path, dict.fromkeys(types, "quasi"), k=2), path).measures["rows"]
    joined = [text for text in asked if len(set(re.findall(r"join d\d+ ", text))) > 1]
    assert joined
    for text in joined:
        assert len(set(re.findall(r"join d\d+ ", text))) <= encode.JOINED_AT_ONCE
    assert any("grouping sets" in text for text in asked)
    for text in asked:
        assert len(set(re.findall(r"grouping\(value\d+\)", text))) <= fast.AT_ONCE


@settings(max_examples=60, deadline=None)
@given(st.sets(st.integers(0, 5000), min_size=1, max_size=400), st.integers(1, 3))
def test_folded_sizes_are_near_the_number_of_codes(codes: set[int], columns: int) -> None:
    many = [Attribute(i, f"x{i}", "VARCHAR", "categorical", distinct=5000) for i in (1, 2, 3)]
    packed = fold(many[:columns])
    assert packed.folded == {a.index for a in many[:columns]}
    names = ", ".join(str(a.c) for a in many[:columns])
    rows = ", ".join(f"({', '.join([str(code)] * columns)})" for code in codes)
    ored = ", ".join(f"bit_or({word}) as {name}" for name, word in packed.columns)
    for a in many[:columns]:
        ((size,),) = duckdb.execute(
            f"select {packed.sizes[a.index]} from (select {ored} from (values {rows}) t({names})) u"
        ).fetchall()
        assert 1 <= size <= 5001
        # linear counting, from the first code on; its error grows as bits are set
        assert size == pytest.approx(len(codes), rel=0.6, abs=4)


@pytest.mark.slow
def test_customers_stay_within_a_small_memory(tmp_path: Path) -> None:
    """City, postcode and date of birth have thousands of values: sets of them cost no memory."""
    path = customers.make(tmp_path / "customers.duckdb", 4000)
    quasi = {"city", "postcode", "state", "job", "gender", "date_of_birth"}
    with duckdb.connect(str(path)) as connection:
        names = [row[0] for row in connection.execute("describe customers").fetchall()]
    roles = {name: "quasi" if name in quasi else "drop" for name in names}
    roles["customer_id"] = "identifier"
    asked = policy(tmp_path, roles, k=5, source={"table": "customers"})
    release = anonymizer.run(asked, path, seed=1, limits=Limits(memory="300MB", threads=1))
    assert release.verification.passed
    assert release.measures["ncp"] < 0.05
