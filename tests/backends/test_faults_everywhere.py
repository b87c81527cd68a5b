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
from typing import Any

import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import EngineError
from tests.backends.postgres_faults import FAULTS, MARK, MOMENTS, PUBLISHED_AT, Wire, fault_at
from tests.backends.tables import PEOPLE, load, people, policy, query
from tests.cli.conftest import Call, Done, call
from tests.selection import some

__all__ = ["call"]

COLUMNS: dict[str, Any] = {
    "age": "quasi",
    "zip": "quasi",
    "ill": {"role": "sensitive", "protect": {"l_diversity": 2}},
}
SEEDS = (1, 2)


def asked() -> Policy:
    return policy(COLUMNS, engine="postgres", publish={"name": "released", "schema": "published"})


@dataclass(frozen=True)
class Database:
    """A database of its own with a source, and a release that runs replace again and again."""

    address: str
    rows: dict[int, list[Any]]
    """The rows of the release, by the seed of its run."""

    def published(self) -> list[Any]:
        return query(self.address, "select * from published.released")

    def standing(self) -> int:
        """The seed whose release is published; it is complete, and passes its verification."""
        (seed,) = (seed for seed, rows in self.rows.items() if rows == self.published())
        assert anonymizer.verify(asked(), self.address, engine="postgres").passed
        return seed

    def seeds(self) -> tuple[int, int]:
        """The seed of the release that is published, and that of the next one."""
        old = self.standing()
        (new,) = {*SEEDS} - {old}
        return old, new

    def left(self) -> list[str]:
        """What is neither the source nor the one release."""
        relations = query(
            self.address,
            "select n.nspname || '.' || relname from pg_class c"
            " join pg_namespace n on n.oid = relnamespace"
            " where relkind in ('r', 'v') and n.nspname !~ '^(pg_|information_schema)'",
        )
        names = {name for (name,) in relations}
        names -= {
            "public.people",
            "published.released",
            "published.released_manifest",
            "_anonymizer.objects",
        }
        rows = [name for name in names if name.startswith("published._released_")]
        schemas = query(
            self.address, "select nspname from pg_namespace where nspname like 'anonymizer_run_%'"
        )
        scratch = query(
            self.address, "select object_name from _anonymizer.objects where kind = 'scratch'"
        )
        locks = query(self.address, "select objid::text from pg_locks where locktype = 'advisory'")
        return [
            *sorted(names)[0 if len(rows) != 1 else 1 :],
            *(name for (name,) in [*schemas, *scratch, *locks]),
        ]


@pytest.fixture(scope="module")
def database(postgres: str) -> Database:
    query(postgres, "create database faults template template0")
    address = postgres.rsplit("/", 1)[0] + "/faults"
    load(address, PEOPLE, people(60), "people")
    made = Database(address, {})
    for seed in SEEDS:
        anonymizer.run(asked(), address, seed=seed)
        made.rows[seed] = made.published()
    return made


@dataclass(frozen=True)
class Command:
    """The command `run` on the database, as a user calls it."""

    call: Call
    file: Path

    def run(self, address: str, seed: int, *more: str) -> Done:
        options = ["--database", address, "--format", "json", "--quiet", "--test-seed", str(seed)]
        return self.call("run", str(self.file), *options, *more)


@pytest.fixture
def command(call: Call, tmp_path: Path) -> Command:
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(asked().to_dict()))
    return Command(call, file)


def refused(done: Done, says: str) -> None:
    """The command has ended with one problem, in words of its own."""
    assert done.code == 2, done.out + done.err
    (error,) = done.json["errors"]
    assert says in error["message"]
    assert error["path"]
    assert error["hint"]
    assert MARK not in done.out + done.err
    assert "Traceback" not in done.err


def unharmed(database: Database, command: Command, seed: int, *, clean: bool = False) -> None:
    """Nothing is left, once leftovers of a lost session are removed, and a run publishes `seed`."""
    if clean:
        cleaned = command.call("clean", "--database", database.address, "--format", "json")
        assert cleaned.code == 0
    assert database.left() == []
    assert command.run(database.address, seed).code == 0
    assert database.standing() == seed
    assert database.left() == []


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
        done = command.run(database.address, new)
    if moment in PUBLISHED_AT:
        assert done.code == 0
        assert database.standing() == new
    else:
        refused(done, FAULTS[fault][1])
        assert database.standing() == old
    lost = fault in ("session ended", "server stopped") or moment in PUBLISHED_AT
    unharmed(database, command, new, clean=lost)


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
        done = command.run(address, new)
    assert wire.used
    refused(done, "the server ended the connection" if timeout else "the connection was lost")
    if "commit" in fault:  # which the client cannot tell apart
        (error,) = done.json["errors"]
        assert "the old release stands whole, or the new one" in error["message"]
        (kept,) = query(database.address, "select manifest from published.released_manifest")[0]
        assert (json.loads(kept)["run_id"] in error["hint"]) is (fault == "cut after the commit")
    assert database.standing() == (new if fault == "cut after the commit" else old)
    unharmed(database, command, new, clean=True)


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
        refused(command.run(database.address, new), says)
    assert database.standing() == old
    unharmed(database, command, new)


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
            anonymizer.run(asked(), connection, seed=new)
        if fault != "session ended":
            assert not connection.autocommit
            assert connection.execute(settings).fetchall() == before
    assert database.standing() == old
    unharmed(database, command, new, clean=fault == "session ended")
