"""The server: on this machine only, on a random port, until Ctrl-C."""

from __future__ import annotations

import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from anonymizer.errors import EngineError
from anonymizer.explore.desk import Desk
from anonymizer.process.interrupts import ENDING

ADDRESS = "127.0.0.1"
TOKEN_BYTES = 32


def missing() -> str | None:
    """The name of a library that the page needs and that is not installed."""
    from importlib.util import find_spec

    return next((name for name in ("starlette", "uvicorn") if find_spec(name) is None), None)


def refuse_without_extra() -> None:
    """Raises EngineError if the libraries of the page are not installed."""
    lacking = missing()
    if lacking is not None:
        hint = "python -m pip install 'sql-anonymizer[explore]'"
        raise EngineError.at("explore", f"needs {lacking}, which is not there", hint=hint)


def serve(desk: Desk, ready: Callable[[str, Any], None]) -> None:
    """Serve the desk until it is stopped. `ready` receives the address, and the server to stop."""
    import uvicorn

    from anonymizer.explore.web import application

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.bind((ADDRESS, 0))
        listening.listen()
        host = f"{ADDRESS}:{listening.getsockname()[1]}"
        token = secrets.token_urlsafe(TOKEN_BYTES)
        config = uvicorn.Config(
            application(desk, host, token),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        server.capture_signals = lambda: _ending(server)
        ready(f"http://{host}/{token}/", server)
        try:
            server.run(sockets=[listening])
        finally:
            desk.close()


@contextmanager
def _ending(server: Any) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and a closed terminal end the server normally."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    found = {number: signal.getsignal(number) for number in ENDING}
    before = {number: handler for number, handler in found.items() if handler != signal.SIG_IGN}
    for number in before:
        signal.signal(number, server.handle_exit)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
