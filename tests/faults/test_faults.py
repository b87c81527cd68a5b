"""Full disks, little memory, interruptions, rivals, locks, and a source that changes."""

from __future__ import annotations

import io
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import AnonymizerError, EngineError, TargetError
from anonymizer.policy import AnyPolicy
from anonymizer.publish.duckdb.file import FileTarget
from anonymizer.run import verbs
from tests.faults.matrix import Points, fork, forked
from tests.faults.stage import NEW_SEED, Stage
from tests.selection import few, some

COMMAND = """
version: 1
source: {table: visits}
key: id
columns:
  id: {role: identifier}
  name: {role: identifier}
  note: {role: drop}
  hide: {role: drop}
  age: {role: quasi}
  district: {role: quasi}
  disease: {role: sensitive}
privacy: {k_anonymity: 2}
publish: {name: released, database: release.duckdb}
"""


def run_command(stage: Stage, *, before: Callable[[], None] | None = None) -> tuple[int, str]:
    """Exit code of the command in a fork of this process, and what it wrote to standard error."""
    policy = stage.folder / "policy.yml"
    policy.write_text(COMMAND)
    reader, writer = os.pipe()

    def work() -> int:
        from anonymizer.cli import main

        sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
        if before is not None:
            before()
        try:
            main(["run", str(policy), "--database", str(stage.source), "--threads", "1"])
        except SystemExit as ended:
            os.write(writer, sys.stderr.getvalue().encode()[:60_000])
            return int(ended.code or 0)
        return 99

    code, _ = forked(work)
    os.close(writer)
    with os.fdopen(reader) as said:
        text = said.read()
    policy.unlink()
    return code, text


def unharmed(stage: Stage, temporary: Path, old: str, users: dict[str, str]) -> None:
    """The old release whole, nothing of the user's touched, no marker, nothing left."""
    assert stage.rows() == old
    assert stage.users_files() == users
    assert stage.marked() == []
    assert stage.leftovers(temporary) == []


@pytest.mark.slow
@pytest.mark.parametrize("share", few([0.5, 0.0, 0.9], 1))
def test_faults_disk_full(stage: Stage, temporary: Path, share: float) -> None:
    """No file can grow beyond a share of what the release needs."""
    old, users = stage.rows(), stage.users_files()
    limit = int(share * stage.target.stat().st_size)

    def little_disk() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    code, said = run_command(stage, before=little_disk)
    assert code == 2
    assert "Traceback" not in said
    assert ": " in said
    unharmed(stage, temporary, old, users)
    assert run_command(stage)[0] == 0


def test_faults_memory_limit(tmp_path: Path, temporary: Path) -> None:
    source = tmp_path / "source.duckdb"
    with duckdb.connect(str(source), config={"threads": 1}) as connection:
        connection.execute(
            "create table visits as select i as id, md5(i::varchar) as age from range(60000) r(i)"
        ).fetchall()
    policy = anonymizer.Policy.model_validate(
        {
            "version": 1,
            "source": {"table": "visits"},
            "key": "id",
            "columns": {"id": {"role": "identifier"}, "age": {"role": "quasi"}},
            "privacy": {"k_anonymity": 2},
            "publish": {"name": "released", "database": "release.duckdb"},
        },
        context={"base": tmp_path},
    )
    limits = Limits(threads=1, memory="12MB", temp_size="1MB")
    with pytest.raises(EngineError) as raised:
        anonymizer.run(policy, source, limits=limits)
    assert "memory" in raised.value.problems[0].message
    assert "limits.memory" in (raised.value.problems[0].hint or "")
    assert raised.value.exit_code == 2
    assert not (tmp_path / "release.duckdb").exists()
    assert list(temporary.iterdir()) == []


@some(1)
@pytest.mark.parametrize(
    ("share", "number"),
    [(0.05, signal.SIGINT), (0.5, signal.SIGTERM), (0.8, signal.SIGINT), (0.93, signal.SIGINT)],
)
def test_faults_interrupted(stage: Stage, temporary: Path, share: float, number: int) -> None:
    """Ctrl-C, and a polite kill: a message, exit code 130, and nothing left."""
    old, users = stage.rows(), stage.users_files()

    def interrupt() -> None:
        at = int(share * 90)
        Points((at, "before"), lambda: os.kill(os.getpid(), number)).install()

    code, said = run_command(stage, before=interrupt)
    assert code == 130
    assert "interrupted" in said
    assert "Traceback" not in said
    unharmed(stage, temporary, old, users)


def test_faults_interrupted_inside_a_statement(stage: Stage, temporary: Path) -> None:
    """A statement that takes long ends at once, not when it is done."""
    old, users = stage.rows(), stage.users_files()

    def slow() -> None:
        real = DuckDBEngine.raw

        def raw(self: DuckDBEngine, text: str, where: str, values: Any = None) -> Any:
            if where == "read the source":
                signal.setitimer(signal.ITIMER_REAL, 0.3)
                signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
                text = "select count(*) from range(100000000) a, range(100000000) b"
            return real(self, text, where, values)

        DuckDBEngine.raw = raw  # type: ignore[method-assign]

    began = time.monotonic()
    code, said = run_command(stage, before=slow)
    assert code == 130, said
    assert time.monotonic() - began < 30
    unharmed(stage, temporary, old, users)


@pytest.mark.slow
def test_faults_two_runs_at_once(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one run is about to swap another one publishes: nothing of it gets lost."""
    swap = FileTarget.swap
    rival = stage.policy.model_copy(
        update={"publish": stage.policy.publish.model_copy(update={"name": "rival"})}
    )

    def late(self: FileTarget, replaced: Any) -> None:
        monkeypatch.setattr(FileTarget, "swap", swap)
        # as from another machine, where the lock of this one is not known
        monkeypatch.setattr(verbs, "turn", lambda _: nullcontext())
        code, _ = forked(lambda: _published(rival, stage.source))
        assert code == 0
        swap(self, replaced)

    old = stage.rows()
    monkeypatch.setattr(FileTarget, "swap", late)
    with pytest.raises(TargetError, match="another run"):
        stage.run()
    assert stage.rows() == old
    with duckdb.connect(str(stage.target), read_only=True) as connection:
        names = {row[0] for row in connection.execute("show tables").fetchall()}
    assert {"released", "other", "rival"} <= names
    stage.run()
    with duckdb.connect(str(stage.target), read_only=True) as connection:
        names = {row[0] for row in connection.execute("show tables").fetchall()}
    assert {"released", "other", "rival"} <= names


@pytest.mark.slow
def test_faults_two_runs_beside_one_source(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both read it; the one that wants to write while the other reads is refused."""
    del temporary
    stage = Stage(tmp_path / "stage", "beside")
    stage.build()
    codes = []

    def rival(event: Any) -> None:
        if event.step.name == "write the release":
            codes.append(forked(lambda: _quiet(stage))[0])

    monkeypatch.setattr("anonymizer.process.run_folder.PATIENCE", 0.2)
    anonymizer.run(stage.policy, stage.source, seed=NEW_SEED, listener=rival)
    assert codes == [2]
    assert stage.rows()


def _published(policy: AnyPolicy, source: Path) -> int:
    anonymizer.run(policy, source, seed=5)
    return 0


def _quiet(stage: Stage) -> int:
    try:
        stage.run(9)
    except AnonymizerError as error:
        return error.exit_code
    return 0


def holding(path: Path, *, read_only: bool) -> tuple[int, int]:
    """A process that has a database open; its number, and where to tell it to end."""
    ready, tell = os.pipe(), os.pipe()
    pid = fork()
    if pid == 0:
        with duckdb.connect(str(path), read_only=read_only, config={"threads": 1}) as connection:
            connection.execute("select 1").fetchall()
            os.write(ready[1], b"x")
            os.read(tell[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    return pid, tell[1]


def release_of(held: tuple[int, int]) -> None:
    os.write(held[1], b"x")
    os.waitpid(held[0], 0)


@some(1)
@pytest.mark.parametrize("which", ["target", "source"])
def test_faults_locked(stage: Stage, temporary: Path, which: str) -> None:
    """Another process writes to the target, or to the source."""
    old, users = stage.rows(), stage.users_files()
    held = holding(getattr(stage, which), read_only=False)
    try:
        code, said = run_command(stage)
    finally:
        release_of(held)
    assert code == 2
    assert "lock" in said
    assert "close" in said
    unharmed(stage, temporary, old, users)
    assert run_command(stage)[0] == 0


def test_faults_reader_keeps_its_release(stage: Stage) -> None:
    with duckdb.connect(str(stage.target), read_only=True) as connection:
        before = connection.execute("from released order by all").fetchall()
        code, _ = forked(lambda: _quiet(stage))
        assert code == 0
        assert connection.execute("from released order by all").fetchall() == before
    with duckdb.connect(str(stage.target), read_only=True) as connection:
        assert connection.execute("from released order by all").fetchall() != before


def test_faults_source_changes_during_the_run(stage: Stage) -> None:
    """The source is read once: what comes later is not in the release, nor half of it."""
    source = duckdb.connect(str(stage.source))
    count = source.execute("select count(*) from visits").fetchone()
    changed = []

    def change(event: Any) -> None:
        if event.step.name == "read the source":
            with source.cursor() as other:
                other.execute("update visits set age = 99, disease = 'late'").fetchall()
                other.execute("delete from visits where district = 1").fetchall()
            changed.append(event)

    release = anonymizer.run(stage.policy, source, seed=3, listener=change)
    assert changed
    frame = release.df()
    source.close()
    assert count == (len(frame),)
    assert "late" not in set(frame["disease"])
    assert b"late" not in stage.target.read_bytes()


def test_faults_leftovers_of_another_host_stay(stage: Stage, temporary: Path) -> None:
    """What may belong to a run that is alive is not removed."""
    folder = temporary / "anonymizer-run-0123456789abcdef"
    folder.mkdir(mode=0o700)
    (folder / "run.json").write_text(
        '{"run_id": "0123456789abcdef", "pid": 1, "host": "elsewhere", "started": 0}'
    )
    stage.run()
    assert folder.is_dir()


def test_faults_spilled_data_of_a_killed_run(stage: Stage, temporary: Path) -> None:
    """Raw values that a killed run had spilled are found and removed by the next."""
    at = 40

    def work() -> int:
        def spill_and_die() -> None:
            (folder,) = temporary.glob("anonymizer-run-*")
            (folder / "duckdb_temp_block-1.block").write_bytes(b"QXMARKNAME spilled")
            os.kill(os.getpid(), signal.SIGKILL)

        Points((at, "before"), spill_and_die).install()
        stage.run()
        return 0

    assert forked(work)[1] == signal.SIGKILL
    (folder,) = temporary.glob("anonymizer-run-*")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "duckdb_temp_block-1.block").exists()
    stage.run()
    assert list(temporary.iterdir()) == []
    assert stage.marked() == []
