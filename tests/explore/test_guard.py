"""Who is let in to the page, and what everybody else gets: nothing."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from anonymizer.explore.server import HEADERS
from tests.explore.conftest import Clinic, Served

pytestmark = pytest.mark.slow

K = {"label": "k", "edits": [{"path": ["privacy", "k_anonymity"], "value": 6}]}


@pytest.fixture
def page(serving: Callable[..., Served]) -> Served:
    return serving()


def test_who_comes_from_elsewhere_gets_nothing(page: Served, clinic: Clinic) -> None:
    before = clinic.files()
    state, change, save = (f"{page.path}api/{name}" for name in ("state", "change", "save"))
    port = page.host.split(":")[1]
    wrong = page.path[:-2] + ("A" if page.path[-2] != "A" else "B") + "/"
    refused: list[tuple[str, dict[str, Any]]] = [
        # other hosts: a name that was made to resolve to this machine, or none
        *((state, {"host": host}) for host in ("evil.example", f"evil.example:{port}",
          f"localhost:{port}", "127.0.0.1", f"127.0.0.1:{int(port) + 1}", None)),
        # other origins, and what a browser says of them
        *((state, {"origin": one}) for one in ("http://evil.example", "null", "http://127.0.0.1",
          f"https://{page.host}", f"http://localhost:{port}")),
        *((state, {"sec_fetch_site": site}) for site in ("cross-site", "same-site")),
        # no token, another one, part of it, or in another place
        *((path, {}) for path in ("/", "/api/state", "/static/desk.js", wrong, f"{wrong}api/state",
          page.path[:-10], page.path.rstrip("/"), f"/{page.path}", "//", "/../", "*")),
        # what changes something comes from the page itself, and as JSON
        (change, {"given": K, "origin": None}),
        (change, {"given": K, "origin": "http://evil.example"}),
        (change, {"given": K, "content_type": "text/plain"}),
        (change, {"given": K, "content_type": "application/x-www-form-urlencoded"}),
        (change, {"given": K, "content_type": None}),
        (save, {"given": {}, "host": "evil.example"}),
        (save, {"given": {}, "method": "PUT"}),
        (save, {"method": "OPTIONS", "origin": "http://evil.example"}),
        (save, {"method": "DELETE"}),
    ]  # fmt: skip
    for path, options in refused:
        status, headers, text = page.ask(path, **options)
        assert status in (400, 403), (path, options)
        assert "adult" not in text
        assert "visits" not in text, (path, options)
        assert not {name for name in headers if name.startswith("access-control")}
    assert page.desk.history.now.number == 0
    assert clinic.files() == before


def test_the_page_itself_is_let_in(page: Served) -> None:
    for path in ("", "api/state", "static/desk.js", "static/desk.css", "static/icon.svg"):
        status, headers, _ = page.ask(page.path + path, sec_fetch_site="same-origin")
        assert status == 200
        assert {name: headers[name] for name in HEADERS} == HEADERS
        assert "server" not in headers
    policy = HEADERS["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    status, found = page.call("change", **K)
    assert (status, found["table"]["k"]) == (200, 6)


def test_it_listens_on_this_machine_only(page: Served) -> None:
    port = int(page.host.split(":")[1])
    assert page.host.startswith("127.0.0.1:")
    assert len(page.path.strip("/")) >= 40
    with socket.socket() as other:
        other.settimeout(2)
        # another address of the loopback network stands for any other interface
        assert other.connect_ex(("127.0.0.2", port)) != 0


def test_no_path_leads_to_another_file(page: Served) -> None:
    for name in ("../explore/desk.js", "..%2f..%2fpyproject.toml", "/etc/passwd", "%2fetc%2fpasswd",
                 "examples.sql", "", "desk.js/", "desk.js%00"):  # fmt: skip
        status, _, text = page.ask(f"{page.path}static/{name}")
        assert status in (400, 404)
        assert "root:" not in text


@pytest.mark.parametrize(
    "given",
    [
        "", "[]", "null", "{", "1", '"x"', "[" * 100_000, "{" + '"a":' * 3, "x" * 300_000,
        '{"edits": [{"path": ["publish"], "value": {"database": "/tmp/x"}}]}',
        '{"edits": [{"path": ["privacy", "k_anonymity"], "value": 1e999}]}',
        '{"edits": [{"path": ["privacy", "k_anonymity"], "value": NaN}]}',
        '{"edits": [{"path": ["privacy", "k_anonymity"], "value": "5; drop table visits"}]}',
        '{"edits": [{"path": ["columns", "age", "protect"], "value": [[[[]]]]}]}',
        '{"edits": [{"path": ["columns", "__proto__", "role"], "value": "quasi"}]}',
        '{"edits": [{"path": ["algorithm"], "value": {"name": "mondrian", "split": "!!python"}}]}',
    ],
)  # fmt: skip
def test_what_nobody_meant_is_refused_and_changes_nothing(page: Served, given: str) -> None:
    if given == '{"edits": [{"path": ["columns", "__proto__", "role"], "value": "quasi"}]}':
        # a column that the source does not have: a state that cannot run, and says so
        status, _, text = page.ask(f"{page.path}api/change", given)
        assert (status, "is not a column of the source" in text) == (200, True)
        return
    status, _, text = page.ask(f"{page.path}api/change", given or " ")
    assert status in (400, 409, 413)
    assert '"errors"' in text
    assert "Traceback" not in text
    assert page.desk.history.now.number == 0


def test_there_are_no_other_calls(page: Served) -> None:
    for name in ("run", "publish", "__class__", "close", "../state"):
        assert page.ask(f"{page.path}api/{name}", {})[0] == 404
