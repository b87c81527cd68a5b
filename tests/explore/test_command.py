"""The command: what it needs, what it prints, and how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from anonymizer.cli import load
from anonymizer.errors import EngineError
from anonymizer.explore import server
from anonymizer.process.interrupts import ENDING
from tests.explore.conftest import RARE, Clinic

ROOT = Path(__file__).parents[2]


def test_without_the_extra_it_says_how_to_install_it(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "missing", lambda: "uvicorn")
    with pytest.raises(EngineError) as caught:
        load("explore").main([str(clinic.policy)], standalone_mode=False)
    (problem,) = caught.value.problems
    assert problem.hint == "python -m pip install 'sql-anonymizer[explore]'"


def test_the_core_does_not_import_it() -> None:
    code = (
        "import sys, anonymizer.cli, anonymizer.cli.explore, anonymizer.explore.desk;"
        " sys.exit(bool({'starlette', 'uvicorn'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDING, ids=lambda number: signal.Signals(number).name)
def test_it_serves_until_it_is_ended(clinic: Clinic, ending: int) -> None:
    """In a process of its own: the address on standard output, no value anywhere, exit code 0."""
    command = [sys.executable, "-m", "anonymizer", "explore", str(clinic.policy), "--database",
               clinic.database, "--format", "json"]  # fmt: skip
    before = clinic.files()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        lines: list[str] = []
        while not lines or lines[-1] != "}\n":
            lines.append(process.stdout.readline())
            assert lines[-1], process.communicate()[1]
        address = json.loads("".join(lines))["address"]
        try:
            direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with direct.open(f"{address}api/state") as answer:
                assert answer.status == 200
            process.send_signal(ending)
            rest, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    assert not [part for part in RARE if part in rest + said]
    assert address not in said
    assert clinic.files() == before
