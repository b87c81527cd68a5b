"""A desk over a small clinic with rare and with hostile values, served as for a browser."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.explore.desk import Desk, desk_input, open_desk
from anonymizer.explore.server import AnyDesk, serve, view
from tests.explore.browser import chromium

SCRIPT = "<img src=x onerror=alert(1)>"
HOSTILE = 'town"; drop table visits; --<script>alert(1)</script>'
RARE = ("Person-", "RARETOWN", "Raredisease", "98765", "98,765", "keeprare")
"""Parts of values that only one row has."""
SOURCE = f"""
create table visits as select
    range as visit, 'Person-' || range as name,
    case when range = 7 then 98765.4321 else 20.0 + range % 60 end as age,
    case when range in (3, 4) then 'RARETOWN' when range % 4 = 0 then '{SCRIPT}'
        else ['north', 'south', 'east'][1 + range % 3] end as "{HOSTILE.replace('"', '""')}",
    date '2020-01-01' + cast(range % 300 as integer) as admitted,
    case when range = 9 then 'Raredisease' else ['flu', 'cold', '{SCRIPT}', 'gout'][1 + range % 4]
        end as disease,
    case when range = 11 then 'keeprare' else 'k' || range % 2 end as kept
from range(600)
"""
POLICY = f"""\
# The clinic's visits, as we release them.
version: 1
source: {{table: visits}}
columns:
  visit: {{role: identifier}}    # a number of ours
  name: {{role: identifier}}
  age: {{role: quasi}}           # years
  {json.dumps(HOSTILE)}: {{role: quasi}}
  admitted: {{role: drop}}
  disease: {{role: sensitive, protect: {{l_diversity: 2}}}}
  kept: {{role: keep}}
privacy: {{k_anonymity: 5}}     # inside the house
suppression_limit: 0.05
publish: {{name: released, database: release.duckdb}}
"""


@dataclass(frozen=True)
class Clinic:
    folder: Path

    @property
    def database(self) -> str:
        return str(self.folder / "clinic.duckdb")

    @property
    def policy(self) -> Path:
        return self.folder / "policy.yml"

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(self.folder.iterdir())}

    @contextmanager
    def desk(self, subject: str | None = None, **options: Any) -> Iterator[Desk]:
        begun = desk_input(subject or str(self.policy), self.database, options.pop("target", None))
        with open_desk(begun, self.database, sampled=200, **options) as desk:
            desk.begin()
            yield desk


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with chromium() as made:
        yield made


def made(folder: Path) -> Clinic:
    found = Clinic(folder)
    with duckdb.connect(found.database) as connection:
        connection.execute(SOURCE)
    found.policy.write_text(POLICY)
    return found


@pytest.fixture
def clinic(tmp_path: Path) -> Clinic:
    return made(tmp_path)


def settled(desk: Desk, seconds: float = 120) -> dict[str, Any]:
    """What the page shows once nothing runs."""
    until = time.monotonic() + seconds
    while desk.busy:
        assert time.monotonic() < until
        time.sleep(0.05)
    found = view(desk)
    assert found["defects"] == []
    return found


@dataclass(frozen=True)
class Served:
    """A desk that is served, and how a browser or anybody else asks it."""

    desk: Any
    address: str

    @property
    def host(self) -> str:
        return self.address.split("/")[2]

    @property
    def path(self) -> str:
        return "/" + self.address.split("/", 3)[3]

    def ask(
        self, path: str, given: object = None, method: str | None = None, **headers: str | None
    ) -> tuple[int, dict[str, str], str]:
        """Status, headers and body; headers of None are left out, names have dashes."""
        sent: dict[str, str | None] = {"host": self.host}
        body = None
        if given is not None:
            body = given if isinstance(given, str) else json.dumps(given)
            sent |= {"content-type": "application/json", "origin": f"http://{self.host}"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", int(self.host.split(":")[1]))
        try:
            connection.putrequest(method or ("POST" if body is not None else "GET"), path,
                                  skip_host=True)  # fmt: skip
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if body is not None:
                connection.putheader("content-length", str(len(body.encode())))
            connection.endheaders(body.encode() if body is not None else None)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, found, answer.read().decode()
        finally:
            connection.close()

    def call(self, name: str, **given: Any) -> tuple[int, Any]:
        status, _, text = self.ask(f"{self.path}api/{name}", given)
        return status, json.loads(text)


@contextmanager
def served(desk: AnyDesk) -> Iterator[Served]:
    ready = threading.Event()
    held: list[Any] = []

    def heard(address: str, server: Any) -> None:
        held.extend((address, server))
        ready.set()

    thread = threading.Thread(target=serve, args=(desk, heard))
    thread.start()
    assert ready.wait(20)
    _, server = held
    until = time.monotonic() + 20
    while not server.started and time.monotonic() < until:
        time.sleep(0.02)
    try:
        yield Served(desk, held[0])
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A desk for tests that change nothing: all of its runs are made once."""
    with made(tmp_path_factory.mktemp("unchanged")).desk() as desk, served(desk) as server:
        yield server
        assert desk.history.now.number == 0


@pytest.fixture
def serving(clinic: Clinic) -> Iterator[Callable[..., Served]]:
    with ExitStack() as stack:

        def start(**options: Any) -> Served:
            desk = stack.enter_context(clinic.desk(**options))
            return stack.enter_context(served(desk))

        yield start
