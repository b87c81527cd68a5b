"""A Postgres server of the tests' own: a fresh cluster on loopback, gone when they end."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SETTINGS = """
fsync = off
synchronous_commit = off
full_page_writes = off
autovacuum = off
listen_addresses = '127.0.0.1'
max_connections = 30
"""


class NoServer(RuntimeError):
    """The server was asked for and cannot start."""


def program(name: str) -> str:
    """A server program: on the path, or where Debian keeps it."""
    found = shutil.which(name)
    if found:
        return found
    candidates = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    if not candidates:
        raise NoServer(f"{name} is not installed (Debian: postgresql)")
    return str(candidates[-1])


def as_server(command: list[str]) -> list[str]:
    """Postgres refuses to run as root: there it runs as the role that Debian's package makes."""
    if os.geteuid() != 0:
        return command
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(
        as_server(command), cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode != 0:
        raise NoServer(f"{Path(command[0]).name} failed:\n{done.stdout}\n{done.stderr}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def server() -> Iterator[str]:
    """The address of a fresh server's database, whose order of text is not that of code points."""
    folder = Path(tempfile.mkdtemp(prefix="anonymizer-postgres-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        data, port = folder / "data", free_port()
        initdb = [program("initdb"), "-D", str(data), "-U", "postgres", "-A", "trust"]
        _run([*initdb, "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"], folder)
        with (data / "postgresql.conf").open("a") as handle:
            handle.write(f"{SETTINGS}port = {port}\nunix_socket_directories = '{folder}'\n")
        control(data, "start")
        try:
            yield _database(f"postgresql://postgres@127.0.0.1:{port}")
        finally:
            control(data, "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def control(data: Path, action: str) -> None:
    """Start, stop or restart the server of a folder of data; it stops as in a crash."""
    command = [program("pg_ctl"), "-D", str(data), "-w", "-t", "60", "-l", str(data.parent / "log")]
    how = [] if action == "start" else ["-m", "immediate"]
    _run([*command, *how, action], data.parent)


def _database(address: str) -> str:
    """A database that orders text as English does, where the server knows how."""
    import psycopg

    with psycopg.connect(f"{address}/postgres", autocommit=True) as connection:
        if connection.info.server_version < 150000:
            return f"{address}/postgres"
        connection.execute(
            "create database people template template0 locale_provider icu icu_locale 'en-US'"
        )
    return f"{address}/people"
