"""The fault matrix: a run is killed before and after every statement and file operation.

    python -m tests.faults.matrix FOLDER [--full] [--kind lgb] [--step N]

One process imports everything and makes one run, so that every kill costs a fork and not a start.
Prints a JSON object; exit code 1 if anything was not as it has to be. `--full`: every kind of run,
killed before and after every point, with a second run after every kill; with `--step N` at every
Nth of these only, for a look in between. Else one kind, killed
before every point and after the last (nothing but Python lies between a point and the next), and
a second run now and then.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.faults.stage import KINDS, NEW_SEED, Stage

RERUN_EVERY = 20


class Points:
    """Counts the places where a run can be struck, and strikes at one of them."""

    def __init__(self, strike_at: tuple[int, str] | None, strike: Callable[[], None]) -> None:
        self.count = 0
        self.strike_at = strike_at
        self.strike = strike

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **options: Any) -> Any:
            self.count += 1
            number = self.count
            if self.strike_at == (number, "before"):
                self.strike()
            result = function(*args, **options)
            if self.strike_at == (number, "after"):
                self.strike()
            return result

        return wrapped

    def install(self) -> None:
        """In this process, which is a fork and will end: statements and file operations."""
        from anonymizer.engines.duckdb.connection import DuckDBEngine

        DuckDBEngine.raw = self.around(DuckDBEngine.raw)  # type: ignore[method-assign]
        Path.replace = self.around(Path.replace)  # type: ignore[method-assign]
        Path.write_text = self.around(Path.write_text)  # type: ignore[method-assign]
        Path.mkdir = self.around(Path.mkdir)  # type: ignore[method-assign]
        Path.unlink = self.around(Path.unlink)  # type: ignore[method-assign]
        os.fsync = self.around(os.fsync)
        shutil.rmtree = self.around(shutil.rmtree)  # type: ignore[assignment]


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fork() -> int:
    """`os.fork`, also in a process of pytest-xdist: its other thread takes no part in the work."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def forked(work: Callable[[], int]) -> tuple[int, int]:
    """Exit code and ending signal of `work` in a fork of this process."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = fork()
    if pid == 0:
        code = 70
        try:
            code = work()
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), status & 0x7F


def count_points(stage: Stage) -> int:
    reader, writer = os.pipe()

    def counted() -> int:
        points = Points(None, kill)
        points.install()
        stage.run()
        os.write(writer, str(points.count).encode())
        return 0

    code, _ = forked(counted)
    os.close(writer)
    text = os.read(reader, 100).decode()
    os.close(reader)
    assert code == 0, "an undisturbed run fails"
    return int(text)


def struck(stage: Stage, at: tuple[int, str]) -> Callable[[], int]:
    def work() -> int:
        Points(at, kill).install()
        stage.run()
        return 0

    return work


def plain(stage: Stage, seed: int) -> Callable[[], int]:
    def work() -> int:
        stage.run(seed)
        return 0

    return work


def play(stage: Stage, temporary: Path, *, every: int, step: int = 1) -> dict[str, Any]:
    """The matrix on one kind of run; how far it is goes to standard error."""
    began = time.process_time() + sum(os.times()[2:4])
    stage.build()
    users, old = stage.users_files(), stage.rows()
    total = count_points(stage)
    new = stage.rows()
    assert old != new, "the runs cannot be told apart"
    stage.restore()
    failures: list[str] = []
    seen = {"old": 0, "new": 0}
    kills = 0
    phases = ("before", "after") if every == 1 else ("before",)
    points = [(n, phase) for n in range(1, total + 1) for phase in phases]
    points += [(total, "after")] if every > 1 else []
    points = points[::-step][::-1]  # the last point, after which the new release stands, is one
    for number, at in enumerate(points, start=1):
        if number % 50 == 0:
            print(f"{stage.kind}: {number} of {len(points)}", file=sys.stderr, flush=True)
        code, ended_by = forked(struck(stage, at))
        if ended_by != signal.SIGKILL:
            failures.append(f"{at}: was not killed ({code})")
            continue
        kills += 1
        failures += [f"{at}: {text}" for text in _state(stage, old, new, users, seen)]
        if number % every == 0 or number == len(points):
            # a third release must not use the secret of the second: a ledger would refuse it
            again = NEW_SEED if stage.rows() == old else NEW_SEED + 1
            code, _ = forked(plain(stage, again)) if not _done(stage, new) else (0, 0)
            if code != 0:
                failures.append(f"{at}: a second run ends with {code}")
            elif again == NEW_SEED and stage.rows() != new:
                failures.append(f"{at}: a second run publishes something else")
            if stage.recorded() not in ([], ["published"] * (2 if again == NEW_SEED else 3)):
                failures.append(f"{at}: the ledger has {stage.recorded()} after a second run")
            if not _done(stage, old):
                clean(stage)
            if left := stage.leftovers(temporary):
                failures.append(f"{at}: {left} are left after a second run")
        stage.restore()
    spent = time.process_time() + sum(os.times()[2:4]) - began
    return {
        "kind": stage.kind,
        "points": total,
        "kills": kills,
        "saw_old": seen["old"],
        "saw_new": seen["new"],
        "failures": failures,
        "cpu_seconds": round(spent, 1),
    }


def _done(stage: Stage, rows: str) -> bool:
    """A replaced source cannot be replaced again."""
    return stage.kind == "replace" and stage.rows() == rows


def clean(stage: Stage) -> None:
    """What the command `clean` does; a run does it at its start as well."""
    if stage.kind == "replace":
        from anonymizer.run.clean import clean as remove

        remove(stage.target)


def _state(
    stage: Stage, old: str, new: str, users: dict[str, str], seen: dict[str, int]
) -> list[str]:
    found = []
    try:
        rows = stage.rows()
    except Exception as error:
        return [f"the target cannot be read: {type(error).__name__}"]
    if rows not in (old, new):
        found.append("the target is neither the old release nor the new one")
    else:
        seen["old" if rows == old else "new"] += 1
    if marked := stage.marked():
        found.append(f"markers in {marked}")
    if stage.users_files() != users:
        found.append("a file of the user's has changed")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="an empty or new folder to work in")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--step", type=int, default=1, help="strike at every Nth point only")
    given = parser.parse_args()
    temporary = given.folder / "temporary"
    temporary.mkdir(parents=True)
    os.environ["ANONYMIZER_TMPDIR"] = str(temporary)
    results = []
    for kind in given.kind or (list(KINDS) if given.full else ["lgb"]):
        stage = Stage(given.folder / kind, kind)
        results.append(
            play(stage, temporary, every=1 if given.full else RERUN_EVERY, step=given.step)
        )
    print(json.dumps(results, indent=2))
    return 1 if any(result["failures"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
