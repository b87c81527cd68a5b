"""Faults of a Postgres server, at moments of a run that the server or the wire tells.

No product code is replaced: an event trigger of the database, or a trigger that waits for the
commit, does to its own session what an administrator, a limit or a crash would do.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anonymizer
from anonymizer import Policy
from tests.backends.faults import COLUMNS, MARK, SOURCE, Stage
from tests.backends.postgres_server import control, free_port, program
from tests.backends.tables import PEOPLE, load, query


@dataclass
class Database(Stage):
    """A database of its own."""

    address: str

    @property
    def policy(self) -> Policy:
        return Policy.model_validate(
            {
                "version": 1,
                "engine": "postgres",
                "source": {"table": "people"},
                "columns": COLUMNS,
                "privacy": {"k_anonymity": 4},
                "publish": {"name": "released", "schema": "published"},
            }
        )

    def build(self) -> None:
        server, _, name = self.address.rpartition("/")
        query(f"{server}/postgres", f"create database {name} template template0")
        load(self.address, PEOPLE, SOURCE, "people")
        Stage.build(self)

    def run(self, seed: int) -> object:
        return anonymizer.run(self.policy, self.address, seed=seed)

    def published(self) -> list[Any]:
        return query(self.address, "select * from published.released")

    def passes(self) -> bool:
        return anonymizer.verify(self.policy, self.address).passed

    def left(self) -> list[str]:
        relations = query(
            self.address,
            "select n.nspname || '.' || relname from pg_class c"
            " join pg_namespace n on n.oid = relnamespace"
            " where relkind in ('r', 'v') and n.nspname !~ '^(pg_|information_schema)'"
            " and relname !~ '^(people|released|released_manifest|objects)$'",
        )
        rows = [one for one in relations if one[0].startswith("published._released_")]
        others = (
            "select nspname from pg_namespace where nspname like 'anonymizer_run_%'",
            "select object_name from _anonymizer.objects where kind = 'scratch'",
            "select objid::text from pg_locks where locktype = 'advisory'",
        )
        found = [one for text in others for one in query(self.address, text)]
        return [name for (name,) in [*relations, *found] if [(name,)] != rows]


MOMENTS = {
    "reading the source": r"^anonymizer_run_\w+\.snapshot$",
    "in the algorithm": r"^anonymizer_run_\w+\.members$",
    "writing the release": r"^anonymizer_run_\w+\.staged$",
    "verifying it": r"^anonymizer_run_\w+\.compared$",
    "freezing its rows": r"^published\._released_\w+$",
    "swapping the view": r"^published\.released$",
    "committing": "",
    "cleaning up": "",
}
"""Moments of a run, by the object that has just been made or renamed."""
PUBLISHED_AT = ("cleaning up",)
"""Moments after the release was published: what fails there costs nobody a release."""

SLEEP = "perform pg_sleep(20)"
FAULTS = {
    "session ended": (
        f"perform pg_terminate_backend(pg_backend_pid()); {SLEEP}",
        "the server ended the connection",
    ),
    "statement cancelled": (
        f"perform pg_cancel_backend(pg_backend_pid()); {SLEEP}",
        "the statement was cancelled",
    ),
    "statement timeout": (SLEEP, "the statement was cancelled"),
    "out of temporary space": (
        "perform count(*) from (select md5(i::text) from generate_series(1, 50000) as g (i)"
        " order by 1 offset 1) as sorted",
        "a limit of the server was exceeded",
    ),
    "disk full": (
        f"raise exception 'could not extend file \"{MARK}\"' using errcode = '53100'",
        "the server's disk is full",
    ),
    "server stopped": (
        f"copy (select) to program '{{stop}}'; {SLEEP}",
        "the connection was lost",
    ),
}
"""What happens in the session of a run, and how the run has to say it."""
SETTINGS = {
    "statement timeout": "statement_timeout = '1500ms'",
    "out of temporary space": "temp_file_limit = '64kB'",
}
"""Settings of the database from which some faults come."""

CAUSE = """
create function cause() returns event_trigger language plpgsql
set work_mem = '64kB' as $$ begin
    if current_setting('application_name') = 'anonymizer' and {condition} then
        {fault};
    end if;
end $$;
"""
MADE = "exists (select from pg_event_trigger_ddl_commands() where object_identity ~ '{made}')"
AT_COMMIT = """
create function cause_late() returns trigger language plpgsql set work_mem = '64kB' as $$ begin
    {fault};
    return null;
end $$;
create constraint trigger cause_late after insert on _anonymizer.objects
deferrable initially deferred for each row when (new.kind = 'view')
execute function cause_late();
"""


@contextmanager
def fault_at(address: str, fault: str, moment: str) -> Iterator[None]:
    """A fault that happens at every run of the block; a server that it stopped is started again."""
    (folder,) = (Path(row[0]) for row in query(address, "show data_directory"))
    stop = " ".join([program("pg_ctl"), "-D", str(folder), "-m immediate -W stop"])
    given = FAULTS[fault][0].format(stop=stop)
    if moment == "committing":
        script = AT_COMMIT.format(fault=given)
    else:
        made = "true" if moment == "cleaning up" else MADE.format(made=MOMENTS[moment])
        script = CAUSE.format(condition=made, fault=given)
        when = (
            "ddl_command_start when tag in ('DROP SCHEMA')"
            if moment == "cleaning up"
            else "ddl_command_end"
        )
        script += f"create event trigger cause on {when} execute function cause()"
    database = urlsplit(address).path[1:]
    if fault in SETTINGS:
        script += f"; alter database {database} set {SETTINGS[fault]}"
    if fault == "server stopped":
        script += "; checkpoint"  # what was committed outlives the crash
    for text in _statements(script):
        query(address, text)
    try:
        yield
    finally:
        if fault == "server stopped":
            control(folder, "restart")
        for text in (
            f"alter database {database} reset all",
            "drop event trigger if exists cause",
            "drop function if exists cause()",
            "drop function if exists cause_late() cascade",
        ):
            query(address, text)


def _statements(script: str) -> list[str]:
    """The statements of a script, in which functions have bodies of several."""
    parts = script.split("$$")
    outside = [part.replace(";", "\0") if at % 2 == 0 else part for at, part in enumerate(parts)]
    return [text for text in "$$".join(outside).split("\0") if text.strip()]


# A wire to the server that breaks, or holds a message back.


@dataclass
class Wire:
    """What happens on a wire when the client has sent some words, one after the other."""

    words: Sequence[bytes]
    cut: bool = True
    """Whether the wire is cut; else the message is held back for some time."""
    answered: bool = False
    """Whether the server gets the message, and only its answer is lost."""
    seconds: float = 0.0
    used: bool = False

    @contextmanager
    def before(self, address: str) -> Iterator[str]:
        """The address of the wire before a server, all of whose connections it passes on."""
        server, port = urlsplit(address), free_port()
        ends: list[socket.socket] = []
        pumps: list[threading.Thread] = []
        with socket.create_server(("127.0.0.1", port)) as entrance:

            def serve() -> None:
                while True:
                    try:
                        client, _ = entrance.accept()
                    except OSError:  # closed
                        return
                    pair = client, socket.create_connection((server.hostname, server.port))
                    ends.extend(pair)
                    for one, other, listens in ((*pair, True), (*pair[::-1], False)):
                        pumps.append(
                            threading.Thread(target=self._pump, args=(one, other, listens))
                        )
                        pumps[-1].start()

            serving = threading.Thread(target=serve)
            serving.start()
            try:
                yield f"postgresql://{server.username}@127.0.0.1:{port}{server.path}"
            finally:
                entrance.shutdown(socket.SHUT_RDWR)
                serving.join()
                for end in ends:
                    _close(end)
                for pump in pumps:
                    pump.join()

    def _pump(self, one: socket.socket, other: socket.socket, listens: bool) -> None:
        left = list(self.words)
        with suppress(OSError):
            while data := one.recv(1 << 16):
                while listens and left and left[0] in data:
                    left.pop(0)
                    if not left:
                        time.sleep(self.seconds)
                        self.used = True
                if self.used and self.cut and listens != self.answered:
                    break
                other.sendall(data)
        for end in (one, other):
            _close(end)


def _close(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
