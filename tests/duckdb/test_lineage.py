"""The OpenLineage event of a release: where its columns come from, and what was done to them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID

import pytest

from anonymizer.cli.report import post_json
from anonymizer.errors import TargetError
from anonymizer.run.verify import lineage
from tests import runs
from tests.schema import hospital

TYPES = {
    "id": "INTEGER", "name": "VARCHAR", "age": "INTEGER", "sex": "VARCHAR", "ill": "VARCHAR",
    "born": "DATE", "visits": "INTEGER", "code": "VARCHAR",
}  # fmt: skip
ROWS = [
    (i, f"Ada {i}", 20 + i % 30, "mf"[i % 2], f"v{i % 5}", "1980-01-02", i % 7, f"c{i % 9}")
    for i in range(120)
]
COLUMNS: dict[str, Any] = {
    "id": "drop",
    "name": "identifier",
    "age": "quasi",
    "sex": "quasi",
    "ill": {"role": "sensitive", "protect": {"l_diversity": 2}},
    "born": {"role": "round", "to": "year"},
    "visits": "keep",
    "code": "token",
}


def made(folder: Path, **more: Any) -> tuple[Any, dict[str, Any]]:
    policy = runs.policy(folder, COLUMNS, **{"k": 3, **more})
    release = runs.run(policy, runs.source(folder, TYPES, ROWS))
    return release, lineage(policy, namespace="ours", sources="theirs")


def transformations(event: dict[str, Any], at: int = 0) -> dict[str, list[tuple[Any, ...]]]:
    fields = event["outputs"][at]["facets"]["columnLineage"]["fields"]
    return {
        name: [
            (one["field"], how["type"], how["subtype"], how["masking"])
            for one in field["inputFields"]
            for how in one["transformations"]
        ]
        for name, field in fields.items()
    }


def test_every_published_column_has_its_source(tmp_path: Path) -> None:
    release, event = made(tmp_path)
    assert event["eventType"] == "COMPLETE"
    assert datetime.fromisoformat(event["eventTime"]).tzinfo is not None
    assert UUID(event["run"]["runId"]).version == 5
    assert event["job"] == {"namespace": "ours", "name": "main.people_anonymous"}
    assert event["inputs"] == [{"namespace": "theirs", "name": "people"}]
    (output,) = event["outputs"]
    assert (output["namespace"], output["name"]) == ("ours", "main.people_anonymous")
    found = transformations(event)
    assert set(found) == set(release.df().columns)
    assert found["age"] == [("age", "DIRECT", "TRANSFORMATION", True)]
    assert found["ill"] == [("ill", "DIRECT", "IDENTITY", False)]
    assert found["visits"] == [("visits", "DIRECT", "IDENTITY", False)]
    assert found["born"] == [("born", "DIRECT", "TRANSFORMATION", True)]
    assert found["code"] == [("code", "DIRECT", "TRANSFORMATION", True)]
    assert found["class_id"] == [
        ("age", "INDIRECT", "GROUP_BY", True), ("sex", "INDIRECT", "GROUP_BY", True),
    ]  # fmt: skip
    filtered = output["facets"]["columnLineage"]["dataset"]
    assert [one["field"] for one in filtered] == ["age", "sex"]
    types = {one["name"]: one["type"] for one in output["facets"]["schema"]["fields"]}
    assert types["age"] == "VARCHAR"
    assert set(types) == set(found)
    # names of what is not published, and values, are in no event
    text = json.dumps(event)
    for hidden in ('"name": "name"', '"field": "name"', '"field": "id"', "Ada", "v1", "1980"):
        assert hidden not in text


def test_typed_cells_and_buckets(tmp_path: Path) -> None:
    release, event = made(
        tmp_path, algorithm={"name": "lgb"}, publish={"cells": "typed", "rename": {"age_lo": "von"}}
    )
    found = transformations(event)
    assert set(found) == set(release.df().columns)
    assert found["von"] == [("age", "DIRECT", "TRANSFORMATION", True)]
    assert found["ill"] == [("ill", "DIRECT", "TRANSFORMATION", True)]
    assert found["ill_bucket"] == [("ill", "INDIRECT", "GROUP_BY", True)]


@pytest.mark.slow
def test_several_tables(tmp_path: Path) -> None:
    hospital.write(tmp_path / "source.duckdb")
    policy = hospital.policy(tmp_path, {"privacy.knows": {"events": 0}})
    hospital.run(policy, tmp_path / "source.duckdb")
    event = lineage(policy)
    assert len(event["inputs"]) == len(event["outputs"]) == len(policy.tables)
    for at, one in enumerate(event["outputs"]):
        for name, inputs in transformations(event, at).items():
            assert inputs, (one["name"], name)
    visits = transformations(event, 1)
    assert visits["patient_id"] == [("patient_id", "DIRECT", "TRANSFORMATION", True)]


class Catalog(BaseHTTPRequestHandler):
    """A data catalog that keeps what it gets."""

    got: ClassVar[list[tuple[str, str, bytes]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.got.append((self.path, self.headers["Content-Type"], body))
        status = int(self.path.rpartition("/")[2]) if self.path.startswith("/status/") else 201
        self.send_response(status)
        if status == 307:
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *given: Any) -> None:
        pass


@pytest.fixture
def catalog() -> Iterator[str]:
    Catalog.got.clear()
    server = HTTPServer(("127.0.0.1", 0), Catalog)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_an_event_is_posted(catalog: str) -> None:
    assert post_json(f"{catalog}/api/v1/lineage", '{"a": "ä"}', "--to") == 201
    assert Catalog.got == [
        ("/api/v1/lineage", "application/json", '{"a": "ä"}'.encode()),
    ]  # fmt: skip


@pytest.mark.parametrize("status", [307, 400, 500])
def test_any_other_answer_is_an_error(catalog: str, status: int) -> None:
    with pytest.raises(TargetError, match=f"--to: answered with status {status}"):
        post_json(f"{catalog}/status/{status}", "{}", "--to")
    assert [path for path, _, _ in Catalog.got] == [f"/status/{status}"]  # no redirect is followed
