"""Ctrl-C around the moment at which a release takes its place: before it nothing, after it all."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.ledger import LedgerSession
from anonymizer.process.interrupts import decide, deciding, has_published
from anonymizer.publish.duckdb.file import FileTarget
from tests.faults.stage import Stage
from tests.faults.test_faults import run_command, unharmed
from tests.selection import some

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """A closed terminal ends a run, but for one that was started to outlive it (nohup)."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def sending(number: int, method: Any, *, before: bool) -> Callable[..., Any]:
    """The method, with a signal to this process right before it or after it."""

    def done(*given: Any, **named: Any) -> Any:
        if before:
            os.kill(os.getpid(), number)
        found = method(*given, **named)
        if not before:
            os.kill(os.getpid(), number)
        return found

    return done


@some(1)
@pytest.mark.parametrize("number", SIGNALS)
def test_signal_before_the_swap(
    stage: Stage, temporary: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    old, users = stage.rows(), stage.users_files()
    told = sending(number, FileTarget.identity, before=True)
    monkeypatch.setattr(FileTarget, "identity", told)
    code, said = run_command(stage)
    assert code == 130
    assert "interrupted" in said
    unharmed(stage, temporary, old, users)


@some(2)
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("before", [True, False])
def test_signal_from_the_swap_on(
    stage: Stage, temporary: Path, monkeypatch: pytest.MonkeyPatch, number: int, before: bool
) -> None:
    """The release has begun to take its place: it stands whole, and the command says so."""
    old, users = stage.rows(), stage.users_files()
    monkeypatch.setattr(FileTarget, "swap", sending(number, FileTarget.swap, before=before))
    code, said = run_command(stage)
    assert code == 0, said
    assert stage.rows() != old
    assert stage.users_files() == users
    assert stage.marked() == []
    assert stage.leftovers(temporary) == []


@pytest.mark.parametrize("moment", ["discard", "describe"])
def test_signal_after_the_swap(
    stage: Stage, temporary: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """In the clean-up, and while the command says what it did."""
    from anonymizer.cli import run as verb

    old = stage.rows()
    if moment == "discard":
        told = sending(signal.SIGINT, FileTarget.discard, before=True)
        monkeypatch.setattr(FileTarget, "discard", told)
    else:
        told = sending(signal.SIGINT, verb.describe, before=True)
        monkeypatch.setattr(verb, "describe", told)
    code, said = run_command(stage)
    assert code == 0, said
    assert stage.rows() != old
    assert stage.leftovers(temporary) == []


@some(1)
@pytest.mark.parametrize("kind", ["beside", "ledger", "replace", "tables_beside"])
def test_signal_at_the_commit(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """From Python the interruption comes after everything that belongs to the release."""
    stage = Stage(tmp_path / "stage", kind)
    stage.build()
    old = stage.rows()
    confirmed: list[int] = []
    confirm = LedgerSession.confirm

    def confirming(ledger_session: LedgerSession) -> None:
        confirm(ledger_session)
        confirmed.append(1)

    monkeypatch.setattr(LedgerSession, "confirm", confirming)
    if kind == "ledger":
        told: Any = sending(signal.SIGINT, FileTarget.swap, before=False)
        monkeypatch.setattr(FileTarget, "swap", told)
    else:
        raw = DuckDBEngine.raw

        def committing(engine: DuckDBEngine, text: str, *given: Any) -> Any:
            found = raw(engine, text, *given)
            if text == "commit":
                os.kill(os.getpid(), signal.SIGINT)
            return found

        monkeypatch.setattr(DuckDBEngine, "raw", committing)
    with pytest.raises(KeyboardInterrupt):
        stage.run()
    monkeypatch.undo()
    monkeypatch.setenv("ANONYMIZER_TMPDIR", str(temporary))
    assert stage.rows() != old
    assert stage.leftovers(temporary) == []
    assert len(confirmed) == (1 if kind == "ledger" else 0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@deciding()
def failing() -> None:
    decide()
    raise ValueError("no")


def test_handlers_come_back() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with deciding():
        decide()
        assert signal.getsignal(signal.SIGINT) is not before[0]
        assert not has_published()
    assert [signal.getsignal(number) for number in SIGNALS] == before
    assert has_published()
    with pytest.raises(ValueError, match="no"):
        failing()
    assert [signal.getsignal(number) for number in SIGNALS] == before
    assert not has_published()
    decide()  # outside of a run nothing waits
    assert [signal.getsignal(number) for number in SIGNALS] == before
