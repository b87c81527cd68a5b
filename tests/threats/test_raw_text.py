"""Text that is published as it is, and what of persons is written in it: counted and told."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from anonymizer.review.preview import preview
from anonymizer.run.raw_text import DETECTORS
from tests.runs import policy, run, source

MAIL, PHONE, SSN = DETECTORS
FOUND = {
    MAIL: ["jane.doe+x@mail.example.org", "write to a_b@c.de.", "<x@y-z.museum>"],
    PHONE: ["+49 30 1234567", "call (555) 123-4567 now", "555-123-4567", "555.123.4567",
            "+15551234567"],
    SSN: ["123-45-6789", "ssn 123 45 6789, seen", "(123-45-6789)"],
}  # fmt: skip
NOTHING = [
    "flu", "E11.9", "2020-01-02", "2020-01-02 10:11:12", "1234567890", "12345-6789", "a@b", "10:30",
    "3.14159265", "0123-45-67890", "v1.2.3", "80331", "123-4567", "1.000.000,00", "ratio 3 - 4",
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), [(k, t) for k, texts in FOUND.items() for t in texts])
def test_detectors_find(kind: str, text: str) -> None:
    assert [name for name, pattern in DETECTORS.items() if re.search(pattern, text)] == [kind]


@pytest.mark.parametrize("text", NOTHING)
def test_detectors_leave_other_text_alone(text: str) -> None:
    assert not [name for name, pattern in DETECTORS.items() if re.search(pattern, text)]


@pytest.mark.parametrize("role", ["keep", "sensitive"])
def test_raw_text_is_counted_and_told(tmp_path: Path, role: str) -> None:
    texts = ["flu", *FOUND[MAIL], *FOUND[SSN], None]
    data = [(20 + i % 4, texts[i % len(texts)], "x") for i in range(40)]
    types = {"age": "INTEGER", "note": "VARCHAR", "other": "VARCHAR"}
    database = source(tmp_path, types, data)
    columns: dict[str, Any] = {"age": "quasi", "note": role, "other": "keep"}
    given = policy(tmp_path, columns, k=4)
    release = run(given, database)
    for warnings in (release.warnings, preview(given, str(database)).warnings):
        (told,) = [warning for warning in warnings if "looks like" in warning]
        assert told.startswith("columns.note: ")
        assert "15 values with mail addresses" in told
        assert "15 values with social security numbers" in told
        assert "telephone" not in told
        assert not any(text in told for texts in FOUND.values() for text in texts)
    assert not [name for name in release.manifest.data["measures"] if "raw_text" in name]


def test_what_is_not_published_is_not_looked_at(tmp_path: Path) -> None:
    data = [(20 + i % 4, "a@b.de") for i in range(40)]
    database = source(tmp_path, {"age": "INTEGER", "note": "VARCHAR"}, data)
    for role in ("drop", "identifier"):
        release = run(policy(tmp_path, {"age": "quasi", "note": role}, k=4), database)
        assert not [warning for warning in release.warnings if "looks like" in warning]
