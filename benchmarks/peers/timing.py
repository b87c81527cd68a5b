"""Timing of a peer's call, inside its environment: only the standard library."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any


def task() -> dict[str, Any]:
    """What to do, from the command line."""
    given: dict[str, Any] = json.loads(sys.argv[1])
    return given


def timed(call: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """The result of a call, with wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return result, {
        "seconds": time.perf_counter() - wall,
        "CPU s": time.process_time() - cpu,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def report(figures: dict[str, Any]) -> None:
    """The figures, as the last line of the output."""
    print(json.dumps(figures))
