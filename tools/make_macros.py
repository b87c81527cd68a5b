"""Write sql/anonymizer.sql and the list in sql/README.md from the files in sql/macros.

python tools/make_macros.py            write them
python tools/make_macros.py --check    fail where they are not current
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SQL = Path(__file__).resolve().parent.parent / "sql"
HELPERS = ("_source", "_values", "_coded", "_cells", "_losses", "_levels")
"""Private macros, each file after those it needs: a macro's body is bound when it is made."""
HEAD = """\
-- Macros for DuckDB: check, generalize and partition tables of people without leaving SQL.
-- Load them with `duckdb -init anonymizer.sql`, or with `.read anonymizer.sql` in the shell.
-- They are temporary: a database that is open is not changed. The comment above each one
-- says what it does and what it needs. Generated from sql/macros by tools/make_macros.py.
"""
BEGIN, END = "<!-- macros: begin -->\n", "<!-- macros: end -->\n"


@dataclass(frozen=True, slots=True)
class Macro:
    """One public macro: its name and what its file says of it."""

    name: str
    text: str
    example: str
    comment: str
    empty: str | None
    """What a table macro returns on an empty table; None for a scalar macro."""


def macros() -> Iterator[Macro]:
    """The public macros, by name. Raises ValueError where a file lacks a part."""
    for path in sorted((SQL / "macros").glob("anon_*.sql")):
        text = path.read_text(encoding="utf-8")
        is_table = f"comment on macro table {path.stem} is" in text
        yield Macro(
            path.stem,
            text,
            _part(text, r"^-- example +(.+)$", path),
            _part(text, r"^comment on macro .* is\s+'((?:[^']|'')+)';$", path).replace("''", "'"),
            _part(text, r"^-- empty +(.+)$", path) if is_table else None,
        )


def _part(text: str, pattern: str, path: Path) -> str:
    found = re.findall(pattern, text, re.MULTILINE)
    if len(found) != 1:
        raise ValueError(f"{path.name}: {len(found)} matches of {pattern}")
    return str(found[0])


def script() -> str:
    """All macros as one file."""
    helpers = [(SQL / "macros" / f"{name}.sql").read_text(encoding="utf-8") for name in HELPERS]
    return "\n".join([HEAD, *helpers, *(macro.text for macro in macros())])


def readme() -> str:
    """sql/README.md with its list of macros renewed."""
    before, _, rest = (SQL / "README.md").read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = ["| macro | what it gives | on an empty table |", "| --- | --- | --- |"]
    for macro in macros():
        says, _, usage = macro.comment.partition(": ")
        empty = macro.empty or "- (one value in, one out; NULL stays NULL)"
        lines.append(f"| `{usage.removeprefix('from ')}` | {says} | {empty} |")
    return before + BEGIN + "\n" + "\n".join(lines) + "\n\n" + END + after


def main(check: bool) -> int:
    stale = []
    for path, text in ((SQL / "anonymizer.sql", script()), (SQL / "README.md", readme())):
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(path.name)
        if not check:
            path.write_text(text, encoding="utf-8")
    if stale:
        print(", ".join(stale), "not current" if check else "written")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
