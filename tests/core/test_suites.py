"""Every test runs in some stage of `.ci/run`."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.conftest import ENGINES, ON_REQUEST

ROOT = Path(__file__).resolve().parents[2]
SERVICES = (ON_REQUEST | set(ENGINES)) - {"slow", "exhaustive", "duckdb"}
"""Markers of the tests that the test command and the slow tests leave out."""


def suites() -> list[tuple[set[str], list[str]]]:
    """Of every suite of `.ci/run`: the markers it selects, and the paths it looks in."""
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8").replace("\\\n", " ")
    found = []
    for line in map(str.strip, text.splitlines()):
        if " tests/" in line and (line.startswith("suite ") or " -m pytest " in line):
            words = shlex.split(line)
            at = 4 if words[0] == "suite" else len(words) - words[::-1].index("-m")
            selected = SERVICES & set(re.findall(r"\w+", words[at]))
            found.append((selected, [word for word in words if word.startswith("tests/")]))
    return found


def test_every_test_of_a_service_is_in_a_suite() -> None:
    left = []
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        markers = set(re.findall(r"\bmark\.(\w+)", file.read_text(encoding="utf-8"))) & SERVICES
        path = file.relative_to(ROOT).as_posix()
        run = {marker for of, places in suites() for marker in of if path.startswith(tuple(places))}
        left += [(path, marker) for marker in markers if not markers & run]
    assert left == []
