"""Parts of a DuckDB file that hold no objects: what was deleted from it can still be read there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from anonymizer.compile import lit
from anonymizer.errors import Problem
from anonymizer.release.objects import Runs

HEADERS = 3 * 4096
"""Bytes before the first block of a DuckDB file."""
REWRITE = "`anonymizer rewrite` writes the file without it, and `anonymizer run` a new one"


def unused_space(runs: Runs, catalog: str) -> Iterator[Problem]:
    """Says where a file has more than the blocks in use. A release is written without any other."""
    ((path,),) = runs.raw(
        f"select path from duckdb_databases() where database_name = {lit(catalog)}", "release"
    )
    if path is None:  # it is in memory
        return
    ((total, free, size),) = runs.raw(
        "select total_blocks, free_blocks, block_size from pragma_database_size()"
        f" where database_name = {lit(catalog)}",
        "release",
    )
    if free:
        said = "its file has unused space, in which what was deleted can be read"
        yield Problem("release", said, hint=REWRITE)
    if Path(path).stat().st_size > HEADERS + total * size:
        said = "its file is longer than what it holds"
        yield Problem("release", said, hint=REWRITE)
