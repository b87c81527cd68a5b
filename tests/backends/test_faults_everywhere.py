"""A fault in the middle of a run that replaces a release: the old one or the new one, whole.

On every engine: the command says in one line what happened and how to go on, nothing of the run is
left, and the next run gives the rows that this one would have given.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.engines.execute import Listener
from anonymizer.errors import AnonymizerError, EngineError
from anonymizer.run.clean import clean
from tests.backends import duckdb_faults, spark_faults
from tests.backends.duckdb_faults import Files
from tests.backends.faults import SOURCE, at, worded
from tests.backends.postgres_faults import FAULTS, MOMENTS, PUBLISHED_AT, Database, Wire, fault_at
from tests.backends.spark_connect import server
from tests.backends.spark_faults import Lake
from tests.backends.tables import query
from tests.cli.conftest import Call, Done, call
from tests.selection import some

__all__ = ["call"]


@pytest.fixture(scope="module")
def database(postgres: str) -> Database:
    made = Database(postgres.rsplit("/", 1)[0] + "/faults")
    made.build()
    return made


@dataclass(frozen=True)
class Command:
    """The command `run` on the database, as a user calls it."""

    call: Call
    file: Path
    address: str

    def run(self, seed: int, address: str | None = None) -> Done:
        options = ["--format", "json", "--quiet", "--test-seed", str(seed)]
        return self.call("run", str(self.file), "--database", address or self.address, *options)

    def clean(self) -> None:
        """Remove what is left where the session or the server was gone."""
        done = self.call("clean", "--database", self.address, "--format", "json")
        assert done.code == 0


@pytest.fixture
def command(call: Call, tmp_path: Path, database: Database) -> Command:
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(database.policy.to_dict()))
    return Command(call, file, database.address)


def refused(done: Done, says: str) -> None:
    """The command could not work, and says why."""
    assert done.code == 2, done.out + done.err
    worded(done.json["errors"], says, done.out, done.err)


CASES = [
    (fault, moment)
    for fault in FAULTS
    for moment in MOMENTS
    if (fault, moment) != ("statement timeout", "committing")  # which no timeout ends
]


@pytest.mark.postgres
@some(8, 4)
@pytest.mark.parametrize(("fault", "moment"), CASES)
def test_postgres(database: Database, command: Command, fault: str, moment: str) -> None:
    old, new = database.seeds()
    with fault_at(database.address, fault, moment):
        done = command.run(new)
    if moment in PUBLISHED_AT:
        assert done.code == 0
        assert database.standing() == new
    else:
        refused(done, FAULTS[fault][1])
        assert database.standing() == old
    if fault in ("session ended", "server stopped") or moment in PUBLISHED_AT:
        command.clean()
    database.unharmed(new)


MANIFEST = b'insert into "published"."released_manifest"'
WIRES = {
    "cut while the source is read": (Wire([b"snapshot"]), ""),
    "idle": (Wire([b"snapshot"], cut=False, seconds=1), "idle_session_timeout"),
    "cut before the commit": (Wire([MANIFEST, b"commit"]), ""),
    "idle in the transaction": (
        Wire([MANIFEST], cut=False, seconds=1),
        "idle_in_transaction_session_timeout",
    ),
    "cut after the commit": (Wire([MANIFEST, b"commit"], answered=True), ""),
    "cut while the release is written": (Wire([b"staged"]), ""),
}
"""What happens on the way to the server, and the timeout that it meets there."""


@pytest.mark.postgres
@some(3)
@pytest.mark.parametrize("fault", WIRES)
def test_a_wire_to_postgres(database: Database, command: Command, fault: str) -> None:
    old, new = database.seeds()
    wire, timeout = WIRES[fault]
    with limited(database, timeout), wire.before(database.address) as address:
        done = command.run(new, address)
    assert wire.used
    refused(done, "the server ended the connection" if timeout else "the connection was lost")
    if "commit" in fault:  # which the client cannot tell apart
        (error,) = done.json["errors"]
        assert "the old release stands whole, or the new one" in error["message"]
        (kept,) = query(database.address, "select manifest from published.released_manifest")[0]
        assert (json.loads(kept)["run_id"] in error["hint"]) is (fault == "cut after the commit")
    assert database.standing() == (new if fault == "cut after the commit" else old)
    command.clean()
    database.unharmed(new)


@contextmanager
def limited(database: Database, timeout: str) -> Iterator[None]:
    """Sessions that the server ends, or lets wait, for less than half a second."""
    if timeout:
        query(database.address, f"alter database faults set {timeout} = '400ms'")
    try:
        yield
    finally:
        query(database.address, "alter database faults reset all")


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("table", "says"),
    [("public.people", "a table is locked"), ("published.released", "is in use by 1 open")],
)
def test_a_lock_of_postgres(database: Database, command: Command, table: str, says: str) -> None:
    import psycopg

    old, new = database.seeds()
    with limited(database, "lock_timeout"), psycopg.connect(database.address) as holder:
        holder.execute(f"select * from {table}")
        if table == "public.people":
            holder.execute(f"lock table {table}")
        refused(command.run(new), says)
    assert database.standing() == old
    database.unharmed(new)


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("fault", "moment"),
    [("statement cancelled", "verifying it"), ("session ended", "freezing its rows")],
)
def test_a_connection_of_the_users(
    database: Database, command: Command, fault: str, moment: str
) -> None:
    """It is as it was, if the server has not ended it."""
    import psycopg

    old, new = database.seeds()
    settings = "select name, setting from pg_settings where source = 'session' order by 1"
    with psycopg.connect(database.address, application_name="anonymizer") as connection:
        before = connection.execute(settings).fetchall()
        connection.rollback()
        with (
            fault_at(database.address, fault, moment),
            pytest.raises(EngineError, match=FAULTS[fault][1]),
        ):
            anonymizer.run(database.policy, connection, seed=new)
        if fault != "session ended":
            assert not connection.autocommit
            assert connection.execute(settings).fetchall() == before
    assert database.standing() == old
    if fault == "session ended":
        command.clean()
    database.unharmed(new)


@pytest.fixture(scope="module")
def lakes(
    spark_session: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Lake]]:
    """A release in a folder, and one in Spark's catalog."""
    made = {}
    with pytest.MonkeyPatch.context() as patch:
        for place in ("folder", "catalog"):
            folder = tmp_path_factory.mktemp(place)
            lake = Lake(folder, spark_session, catalog=place == "catalog")
            patch.setenv("ANONYMIZER_TMPDIR", str(lake.runs))
            lake.build()
            made[place] = lake
        yield made
    for view in ("released", "released_manifest"):
        spark_session.sql(f"drop view {view}")
    for name in made["catalog"].frozen():
        spark_session.sql(f"drop table {name}")


@pytest.fixture
def lake(lakes: dict[str, Lake], place: str, monkeypatch: pytest.MonkeyPatch) -> Lake:
    monkeypatch.setenv("ANONYMIZER_TMPDIR", str(lakes[place].runs))
    return lakes[place]


def refuses(stage: Lake | Files, seed: int, says: str, listener: Listener | None = None) -> None:
    """A run cannot work, and says why."""
    with pytest.raises(AnonymizerError) as raised:
        stage.run(seed, listener)
    assert raised.value.exit_code == 2
    worded([problem.as_dict() for problem in raised.value.problems], says)


@pytest.mark.spark
@some(1)
@pytest.mark.parametrize("place", ["folder"])
@pytest.mark.parametrize("moment", spark_faults.MOMENTS)
def test_cancelled_jobs_of_spark(lake: Lake, moment: str) -> None:
    old, new = lake.seeds()
    cancel = lake.spark.sparkContext.cancelAllJobs
    with spark_faults.whenever(lake.folder, spark_faults.MOMENTS[moment], cancel) as acted:
        refuses(lake, new, "the statement was interrupted")
    assert acted
    assert lake.standing() == old
    lake.unharmed(new)


@pytest.mark.spark
@some(3)
@pytest.mark.parametrize(("place", "step", "act", "says"), spark_faults.FAULTS)
def test_spark(lake: Lake, step: str, act: Callable[[Lake], None], says: str) -> None:
    old, new = lake.seeds()
    refuses(lake, new, says, at(step, lambda: act(lake)))
    assert lake.standing() == old
    if act is spark_faults.take_manifest:
        (taken,) = lake.place.glob("*.tmp")
        taken.rmdir()
    lake.unharmed(new)


@pytest.mark.spark
@pytest.mark.parametrize("place", ["catalog"])
def test_a_name_of_the_catalog_that_is_taken(lake: Lake) -> None:
    """The view reads the old rows again if the manifest cannot follow it."""
    old, new = lake.seeds()

    def take() -> None:
        lake.spark.sql("drop view released_manifest")
        lake.spark.sql("create table released_manifest as select 1 as mine")

    refuses(lake, new, "a table has taken the name", at("write the release", take))
    assert lake.published() == lake.rows[old]
    assert lake.frozen() == set()
    lake.spark.sql("drop table released_manifest")
    lake.unharmed(new)


@pytest.mark.spark
@pytest.mark.slow
def test_sessions_of_spark_that_end(tmp_path: Path) -> None:
    """Stopped in the middle by somebody else, and the JVM killed."""
    for told in played(tmp_path):
        killed = told["fault"] == "JVM killed"
        worded(told["problems"], "the connection to Spark was lost" if killed else "was stopped")
        assert told["old"], told["fault"]
        # its JVM may still be at work in the folder of a run, which is empty
        left = sorted(path.rpartition("/")[2] for path in told["left"])
        assert left == ["released.manifest.json", "released.parquet", "run.json"][: 3 - killed]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANONYMIZER_TMPDIR", str(tmp_path / "runs"))
        clean(tmp_path / "out")
    assert list((tmp_path / "runs").iterdir()) == []


@pytest.mark.spark
@pytest.mark.slow
def test_a_server_of_spark_that_ends(tmp_path: Path) -> None:
    with server() as (address, process):
        (told,) = played(tmp_path, address, str(process))
    worded(told["problems"], "the connection to Spark was lost")
    assert told["old"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANONYMIZER_TMPDIR", str(tmp_path / "runs"))
        clean(tmp_path / "out")
    assert list((tmp_path / "runs").iterdir()) == []


def played(folder: Path, *server: str) -> list[dict[str, Any]]:
    """What is told of every fault that is played in a process of its own."""
    pytest.importorskip("pyspark")
    ran = subprocess.run(
        [sys.executable, "-m", "tests.backends.spark_faults", str(folder), *server],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


@some(2)
@pytest.mark.parametrize(("kind", "step", "act", "says"), duckdb_faults.FAULTS)
def test_duckdb(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    step: str,
    act: Callable[[Files], None],
    says: str,
) -> None:
    """More in tests/faults, where runs are killed and interrupted, and disks are full."""
    files = Files(tmp_path, kind)
    monkeypatch.setenv("ANONYMIZER_TMPDIR", str(files.runs))
    files.build()
    old, new = files.seeds()
    if says:
        refuses(files, new, says, at(step, lambda: act(files)))
    else:
        files.run(new, at(step, lambda: act(files)))
    assert files.standing() == (old if says else new)
    assert files.left() == []
    files.source.unlink(missing_ok=True)
    files.write(files.source, SOURCE)
    files.unharmed(old)
