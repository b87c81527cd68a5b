"""Print what a run on 300 rows costs: statements, modules, changes of module.

python tools/run_cost.py [--modules] [--statements]

Statements are those that DuckDB receives. A module is visited when one of its functions is called
(not where a class is declared on import); it changes where a function is called from a function of
another module of the package. What an import calls is no part of a run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any

import duckdb

ROWS = 300
POLICY = """\
version: 1
source: {table: people}
columns:
  id: {role: drop}
  age: {role: quasi}
  zip: {role: quasi}
  sex: {role: quasi}
  disease: {role: sensitive}
privacy: {k_anonymity: 5}
algorithm: {name: mondrian}
publish: {name: people_k}
"""


def people(database: Path) -> None:
    """Make the table of the run."""
    with duckdb.connect(str(database)) as connection:
        connection.execute(
            "create table people as select i as id, 20 + (i * 37) % 60 as age,"
            " cast(10000 + (i * 7919) % 900 as varchar) as zip, ['F', 'M'][1 + i % 2] as sex,"
            f" 'd' || (i * 31) % 7 as disease from range({ROWS}) as t (i)"
        )


class Profile:
    """Counts calls between modules of the package, and statements, while it is installed."""

    def __init__(self, package: Path) -> None:
        self.package = str(package)
        self.modules: Counter[str] = Counter()
        self.changes: Counter[tuple[str, str]] = Counter()
        self.statements: list[tuple[str, str]] = []
        self.names: dict[str, str | None] = {}

    def module_of(self, frame: FrameType) -> str | None:
        """The path of the frame's module in the package; None outside."""
        file = frame.f_code.co_filename
        if file not in self.names:
            inside = file.startswith(self.package)
            self.names[file] = file[len(self.package) + 1 :] if inside else None
        return self.names[file]

    def imports(self, frame: FrameType) -> bool:
        """Whether a frame belongs to the import of a module of the package."""
        caller: FrameType | None = frame
        while caller is not None:
            if caller.f_code.co_name == "<module>" and self.module_of(caller) is not None:
                return True
            caller = caller.f_back
        return False

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Take one event of `sys.setprofile`."""
        if event != "call" or not frame.f_code.co_flags & CO_OPTIMIZED:
            return  # a return, or the body of a module or class
        module = self.module_of(frame)
        if module is None or self.imports(frame):
            return
        self.modules[module] += 1
        caller = frame.f_back
        while caller is not None and self.module_of(caller) is None:
            caller = caller.f_back
        before = caller and self.module_of(caller)
        if before is not None and before != module:
            self.changes[before, module] += 1

    def listen(self) -> None:
        """Count every statement that a connection of DuckDB executes from now on."""
        execute = duckdb.DuckDBPyConnection.execute

        def counted(connection: Any, query: Any, *arguments: Any, **named: Any) -> Any:
            frame: FrameType | None = sys._getframe(1)
            while frame is not None and self.module_of(frame) is None:
                frame = frame.f_back
            text = getattr(query, "query", query)  # of a statement that was parsed before
            self.statements.append((str(frame and self.module_of(frame)), str(text)))
            return execute(connection, query, *arguments, **named)

        setattr(duckdb.DuckDBPyConnection, "execute", counted)  # noqa: B010


def main() -> None:
    """Run once, and print the three figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", action="store_true", help="list the modules visited")
    parser.add_argument("--statements", action="store_true", help="list the statements")
    options = parser.parse_args()

    from anonymizer.cli import main as command

    package = Path(sys.modules["anonymizer"].__file__ or "").parent
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        people(folder / "people.duckdb")
        (folder / "policy.yml").write_text(POLICY)
        profile = Profile(package)
        profile.listen()
        sys.setprofile(profile)
        try:
            command(
                ["run", str(folder / "policy.yml"), "--database", str(folder / "people.duckdb")]
            )
        except SystemExit as ended:
            if ended.code:
                raise
        finally:
            sys.setprofile(None)
    print(f"statements  {len(profile.statements)}")
    print(f"modules     {len(profile.modules)}")
    print(f"changes     {sum(profile.changes.values())}")
    if options.modules:
        for module, count in profile.modules.most_common():
            print(f"  {count:7} {module}")
        for (before, after), count in profile.changes.most_common(60):
            print(f"  {count:7} {before} -> {after}")
    if options.statements:
        for module, text in profile.statements:
            print(f"  {module}: {' '.join(text.split())[:150]}")


if __name__ == "__main__":
    main()
