"""What Spark writes of a run is for nobody else, also after the run has failed or was killed."""

from __future__ import annotations

import json
import os
import secrets
import signal
import stat
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from anonymizer.engines.base import Limits
from anonymizer.engines.spark import source as session
from anonymizer.engines.spark.source import spark_engine
from anonymizer.process import run_folder

pytestmark = pytest.mark.spark

RUN = """
import os, stat, sys, duckdb, anonymizer
from pathlib import Path
source, folder, dies = sys.argv[1], Path(sys.argv[2]), sys.argv[3] == "dies"
os.umask(0o022)
open_to_others = set()
def look(event):
    (run,) = folder.glob("anonymizer-run-*")
    by_spark = (*run.glob("*-snapshot"), *run.glob("*-snapshot/*"), *folder.glob("out/*.tmp/*"))
    for path in (run, *by_spark, *folder.glob("out/*.tmp")):
        if path.exists() and path.stat().st_mode & 0o077:
            open_to_others.add(path.name)
    if dies and any(folder.glob("out/*.tmp/*.parquet")):
        print("left", run.name, flush=True)
        os.kill(os.getpid(), 9)
policy = anonymizer.Policy.model_validate({
    "version": 1, "engine": "spark", "source": {"file": source},
    "columns": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
    "privacy": {"k_anonymity": 3}, "publish": {"name": "made", "database": str(folder / "out")},
})
anonymizer.run(policy, seed=7, listener=look)
print(sorted(open_to_others))
for path in (folder / "out").rglob("*"):
    print(oct(path.stat().st_mode & 0o777), path.is_dir())
"""


def ran(tmp_path: Path, how: str) -> subprocess.CompletedProcess[str]:
    import duckdb

    source = tmp_path / "source.parquet"
    rows = "select i % 30 as age, 'ill' || i % 3 as ill from range(60) t(i)"
    duckdb.execute(f"copy ({rows}) to '{source}' (format parquet)")
    return subprocess.run(
        [sys.executable, "-c", RUN, str(source), str(tmp_path), how],
        env={**os.environ, "ANONYMIZER_TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_what_a_run_writes_is_private_until_it_is_published(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    done = ran(tmp_path, "ends")
    assert done.returncode == 0, done.stderr
    private, *published = done.stdout.splitlines()
    assert private == "[]"
    assert set(published) == {"0o755 True", "0o644 False"}
    assert not list(tmp_path.glob("anonymizer-run-*"))


def test_the_folder_of_a_killed_run_stays_until_its_jvm_has_ended(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    done = ran(tmp_path, "dies")
    assert done.returncode == -signal.SIGKILL, done.stderr
    (folder,) = tmp_path.glob("anonymizer-run-*")
    jvm = json.loads((folder / run_folder.OWNER).read_text())["writer"]
    assert isinstance(jvm, int)
    assert jvm != os.getpid()
    # it ends by itself, since nobody reads what it says
    until = time.monotonic() + 120
    while Path(f"/proc/{jvm}").exists() and time.monotonic() < until:
        time.sleep(0.2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANONYMIZER_TMPDIR", str(tmp_path))
        (built,) = (tmp_path / "out").glob("*.tmp")
        assert run_folder.remove_dead() == [built, folder]
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_task_that_still_writes_makes_no_folder_for_others(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    monkeypatch.setenv("ANONYMIZER_TMPDIR", str(tmp_path))
    monkeypatch.setattr(session, "LAST_TASKS", 0)

    def slow(number: int) -> tuple[int]:
        time.sleep(4)
        return (number,)

    def write(path: Path) -> None:
        rows = spark.sparkContext.parallelize([1, 2], 2).map(slow)
        with suppress(Exception):  # its files are gone
            spark.createDataFrame(rows, "n int").write.parquet(str(path))

    def fails() -> None:
        with spark_engine(None, spark, secrets.token_hex(8), Limits()) as engine:
            folder = engine.work_tables.folder
            writing.append(threading.Thread(target=write, args=(folder / "00001-snapshot",)))
            writing[0].start()
            until = time.monotonic() + 60
            while not any(folder.glob("00001-snapshot/_temporary")) and time.monotonic() < until:
                time.sleep(0.05)
            raise error

    writing: list[threading.Thread] = []
    with pytest.raises(error):
        fails()
    writing[0].join(60)
    (folder,) = tmp_path.glob("anonymizer-run-*")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    # this process, whose JVM it is, is alive
    assert run_folder.remove_dead(abandoned=0) == []
    assert (folder / run_folder.OWNER).is_file()
