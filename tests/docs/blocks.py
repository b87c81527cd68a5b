"""Code blocks of a Markdown page, and how each kind is run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the file it is to be written to (`file=NAME`), its text."""

    language: str
    file: str | None
    code: str


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    for found in FENCE.finditer(page.read_text(encoding="utf-8")):
        language, _, rest = found["info"].partition(" ")
        file = re.search(r"file=(\S+)", rest)
        yield Block(language, file[1] if file else None, found["code"])


def follow(page: Path, folder: Path) -> list[str]:
    """Do in `folder` what a reader of the page does; returns what each command printed.

    Blocks with `file=NAME` are written, `python` blocks are run, and so is every line of a `sh`
    block. Other blocks show output, and are left alone.
    """
    printed: list[str] = []
    for block in blocks(page):
        if block.file is not None:
            (folder / block.file).write_text(block.code, encoding="utf-8")
        elif block.language == "python":
            printed.append(_run([sys.executable, "-c", block.code], folder))
        elif block.language == "sh":
            for line in filter(None, block.code.splitlines()):
                words = line.split()
                assert words[0] == "anonymizer", line
                printed.append(_run([sys.executable, "-m", "anonymizer", *words[1:]], folder))
    return printed


def _run(command: list[str], folder: Path) -> str:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, f"{command[1:]}: {done.stderr}"
    return done.stdout
