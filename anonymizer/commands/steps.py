"""A short listing of a plan's steps: checks, and steps that differ only by column, share a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SHOWN = 3
"""Largest number of names on a line."""
FEW = 3
"""A prefix of at most this many words before a colon is not informative."""
CHECKS = "counts that stop a run or cause a warning"


@dataclass(slots=True)
class Line:
    """Steps that share a line."""

    says: str
    numbers: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    repeated: bool = False

    def text(self) -> str:
        again = ", repeated" if self.repeated else ""
        return f"  {_listed(self.names)} ({_ranges(self.numbers)}{again}): {self.says}"


def step_lines(steps: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line per purpose, in order of first occurrence, with the numbers of its steps."""
    found: dict[str, Line] = {}
    for number, step in enumerate(steps, start=1):
        says = CHECKS if step.get("check") else _short(step)
        line = found.setdefault(says, Line(says, repeated="steps" in step))
        line.numbers.append(number)
        line.names.append(str(step["name"]))
    yield from (line.text() for line in found.values())


def _short(step: Mapping[str, Any]) -> str:
    """The first clause of a step's purpose; for a loop, of its repeated step."""
    inner = step.get("steps") or ()
    found = str(inner[0]["purpose"] if inner else step["purpose"])
    found = found.split(". ", maxsplit=1)[0].split(" (", maxsplit=1)[0]
    head, _, rest = found.partition(": ")
    return (rest if rest and len(head.split()) < FEW else head).rstrip(".")


def _ranges(numbers: Sequence[int]) -> str:
    """Ranges of numbers: `1, 3-5, 8`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{r[0]}-{r[-1]}" if len(r) > 1 else str(r[0]) for r in runs)


def _listed(names: Sequence[str]) -> str:
    """`values of age, town and 3 more`: a common beginning is written once."""
    different = list(dict.fromkeys(names))
    start, shared, _ = different[0].rpartition(" of ")
    if not all(name.startswith(start + shared) for name in different):
        start = shared = ""
    ends = [name.removeprefix(start + shared) for name in different]
    more = len(ends) - SHOWN
    listed = ", ".join(ends[:SHOWN]) + (f" and {more} more" if more > 0 else "")
    return start + shared + listed
