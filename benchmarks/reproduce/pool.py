"""Tasks side by side, each in a process of its own for its CPU time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from typing import Any, TypeVar

Task = TypeVar("Task")


def side_by_side(
    what: Callable[[Task], dict[str, Any]], tasks: Sequence[Task], jobs: int
) -> list[dict[str, Any]]:
    """The record of every task, in the order of the tasks. Give the longest first."""
    if jobs <= 1:
        return list(_counted(map(what, tasks), len(tasks)))
    # spawned, not forked: DuckDB has threads
    with get_context("spawn").Pool(jobs) as pool:
        return list(_counted(pool.imap(what, tasks), len(tasks)))


def _counted(records: Iterator[dict[str, Any]], of: int) -> Iterator[dict[str, Any]]:
    for number, record in enumerate(records, start=1):
        if number % 10 == 0 or number == of:
            print(f"  {number} of {of} runs", file=sys.stderr, flush=True)
        yield record
