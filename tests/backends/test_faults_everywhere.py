"""A fault in the middle of a run that replaces a release: the old one or the new one, whole.

On every engine: the command says in one line what happened and how to go on, nothing of the run is
left, and the next run gives the rows that this one would have given.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import anonymizer
from anonymizer.errors import EngineError
from tests.backends.faults import worded
from tests.backends.postgres_faults import FAULTS, MOMENTS, PUBLISHED_AT, Database, Wire, fault_at
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
