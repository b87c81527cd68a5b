"""A copy of the package with the additions of a page, run in a process of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r"<!-- (?:file: (?P<file>\S+)|(?P<how>into|change) (?P<into>\S+?)(?: above)?:"
    r" \"(?P<above>[^\n]*)\") -->\n\n"
    r"```\w+\n(?P<code>.*?)```",
    re.DOTALL,
)
POLICY = """\
version: 1
source: {table: main.people}
columns:
  age: {role: quasi}
  ill: {role: sensitive, PROTECT}
privacy: {k_anonymity: 3}
algorithm: {name: ALGORITHM}
publish: {database: release.duckdb, name: released}
"""
PEOPLE = """
import duckdb
with duckdb.connect("people.duckdb") as opened:
    opened.execute(
        "create table people as"
        " select cast(i as integer) as age, case when i % 10 < 4 then 'a' else 'bcd'[1 + i % 3] end"
        " as ill from range(60) t(i)"
    )
"""


@dataclass(frozen=True)
class Block:
    """One code block of the page: a file of its own, or lines for an existing one."""

    path: str
    above: str | None
    code: str
    instead: bool = False
    """Whether it takes the place of that line."""


def blocks(page: str) -> list[Block]:
    """The code of a page of this folder."""
    text = (Path(__file__).parent / page).read_text(encoding="utf-8")
    return [
        Block(m["file"] or m["into"], m["above"], m["code"], m["how"] == "change")
        for m in BLOCK.finditer(text)
    ]


@dataclass(frozen=True)
class Copy:
    """A folder with the package in it, a table of people, and a policy."""

    folder: Path

    def add(self, *added: Block) -> None:
        for block in added:
            path = self.folder / block.path
            if block.above is None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.code, encoding="utf-8")
            else:
                gap = "" if block.above.startswith(" ") else "\n\n"
                if block.instead:
                    self.change(block.path, f"{block.above}\n", block.code)
                    continue
                self.change(block.path, f"{block.above}\n", f"{block.code}{gap}{block.above}\n")

    def change(self, path: str, old: str, new: str) -> None:
        """Replace what occurs once in a file."""
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, (path, old)
        file.write_text(text.replace(old, new), encoding="utf-8")

    def policy(self, protect: str = "", algorithm: str = "mondrian") -> None:
        rule = f"protect: {{{protect}}}" if protect else "nulls: own_class"
        text = POLICY.replace("PROTECT", rule).replace("ALGORITHM", algorithm)
        (self.folder / "policy.yaml").write_text(text, encoding="utf-8")

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def anonymizer(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.python("-m", "anonymizer", *arguments)

    def run(self) -> subprocess.CompletedProcess[str]:
        """`anonymizer run` on the policy."""
        return self.anonymizer("run", "policy.yaml", "--database", "people.duckdb")

    @property
    def release(self) -> Path:
        return self.folder / "release.duckdb"


def copied(folder: Path) -> Copy:
    """The package as it is, in a folder of its own, with a table to anonymize."""
    for name in ("anonymizer", "templates", "sql"):
        # Other tests write compiled modules and templates while these copies are made.
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    copy = Copy(folder)
    made = copy.python("-c", PEOPLE)
    assert made.returncode == 0, made.stderr
    return copy
