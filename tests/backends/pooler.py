"""pgbouncer in front of the tests' Postgres server."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.backends.postgres_server import NoServer, as_server, free_port

CONFIGURATION = """
[databases]
* = host={host} port={port} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
server_reset_query = {reset}
unix_socket_dir =
logfile = {folder}/log
"""


@contextmanager
def pooler(address: str, mode: str, size: int = 3, reset: str = "") -> Iterator[str]:
    """The address of a pool in front of a server; it runs as the server does.

    `reset`: a statement that it runs in a session before another client gets it.
    """
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        raise NoServer("pgbouncer is not installed (Debian: pgbouncer)")
    server, listen = urlsplit(address), free_port()
    folder = Path(tempfile.mkdtemp(prefix="anonymizer-pooler-"))
    made = CONFIGURATION.format(
        host=server.hostname,
        port=server.port,
        user=server.username,
        listen=listen,
        mode=mode,
        size=size,
        reset=reset,
        folder=folder,
    )
    file = folder / "pgbouncer.ini"
    file.write_text(made)
    if os.geteuid() == 0:
        for path in (folder, file):
            shutil.chown(path, "postgres", "postgres")
    running = subprocess.Popen(as_server([program, "-q", str(file)]), cwd=folder)
    try:
        _wait_for(listen, running)
        yield f"postgresql://{server.username}@127.0.0.1:{listen}{server.path}"
    finally:
        running.kill()
        running.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(port: int, running: subprocess.Popen[bytes]) -> None:
    for _ in range(100):
        if running.poll() is not None:
            raise NoServer(f"pgbouncer ended with {running.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise NoServer("pgbouncer does not answer")
