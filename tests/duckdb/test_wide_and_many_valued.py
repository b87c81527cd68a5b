"""Tables with very many columns, and columns with very many values: the same releases, at a cost
that stays in proportion.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.algorithms.core import encode
from anonymizer.engines.base import Limits
from anonymizer.verification import fast
from tests.runs import policy, published, run, source
from tests.selection import some
from tests.tables import customers

SECRET = "5" * 64


@pytest.mark.slow
@some(1, 2)
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
