"""Other tools on the same table, each in an environment of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.tables import QI5, QI9, cache, hierarchy_file

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Peer:
    """A tool that pip installs, and the script that calls it."""

    package: str
    requirements: tuple[str, ...]
    script: str


PEERS = (
    Peer("anonypy", ("anonypy==0.2.1", "pandas<3", "pyarrow"), "with_anonypy.py"),
    Peer("anonypyx", ("anonypyx==0.2.11", "pandas", "pyarrow"), "with_anonypyx.py"),
    Peer("anjana", ("anjana==1.2.3", "pyarrow"), "with_anjana.py"),
    Peer("pycanon", ("pycanon==1.3.6", "pyarrow"), "with_pycanon.py"),
)


def environment(peer: Peer) -> Path:
    """The Python of the peer's environment, made where it is missing."""
    folder = cache() / f"peer-{peer.package}"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "--quiet", *peer.requirements]
        subprocess.run(command, check=True)
        (folder / "ready").touch()
    return python


def call(peer: Peer, table: Path, quasi: tuple[str, ...], k: int, out: Path) -> dict[str, Any]:
    """Seconds, CPU seconds and peak memory of one call; the release is written to `out`."""
    task = {
        "table": str(table),
        "quasi": list(quasi),
        "k": k,
        "out": str(out),
        "hierarchies": {name: str(hierarchy_file(name)) for name in quasi},
    }
    done = subprocess.run(
        [str(environment(peer)), str(HERE / peer.script), json.dumps(task)],
        check=False,
        capture_output=True,
        text=True,
        cwd=HERE,
    )
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        return {"failed": done.stderr.strip().splitlines()[-1][:200]}
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


TASKS = {"QI5, k=5": (QI5, 5), "QI9, k=5": (QI9, 5)}
