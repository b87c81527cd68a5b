"""The open ends of a column's intervals are those of the policy, whatever a manifest says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import GuaranteeError
from anonymizer.publish.export import export
from tests.forging import seal_again
from tests.runs import policy, run, source
from tests.selection import some

COLUMNS: dict[str, Any] = {
    "age": {
        "role": "quasi",
        "hierarchy": {"builder": "intervals", "cuts": [30, 40], "bottom": 20, "top": 50},
    },
    "visits": "keep",
}


@some(1)
@pytest.mark.parametrize(("end", "value"), [("top", 70), ("top", None), ("bottom", None)])
def test_a_manifest_with_other_ends(tmp_path: Path, end: str, value: int | None) -> None:
    rows = [(age, age % 3) for age in range(15, 65)]
    given = policy(tmp_path, COLUMNS, k=2, algorithm={"name": "full_domain"})
    run(given, source(tmp_path, {"age": "INTEGER", "visits": "INTEGER"}, rows))
    assert anonymizer.verify(given).passed
    file = tmp_path / "release.duckdb"
    with duckdb.connect(str(file)) as connection:
        ((text,),) = connection.execute("from people_anonymous_manifest").fetchall()
        data = json.loads(text)
        data["layout"]["columns"][0][end] = value
        text = json.dumps(data, indent=2, sort_keys=True)
        connection.execute("update people_anonymous_manifest set manifest = ?", [text])
    seal_again(file, "people_anonymous")
    said = "columns.age: has intervals with other open ends"
    with pytest.raises(GuaranteeError, match=said):
        anonymizer.verify(given)
    with pytest.raises(GuaranteeError, match=said):
        export(given, tmp_path / "out.csv")
