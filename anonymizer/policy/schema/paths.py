"""Paths of problems inside one of several tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from anonymizer.errors import Problem
from anonymizer.policy.paths import path_text


def table_path(table: str, *steps: object) -> str:
    """The path of a table, or of something in it."""
    return path_text(("tables", table, *steps))


def within(table: str, problems: Iterable[Problem]) -> Iterator[Problem]:
    """Problems of a single-table policy, with the paths of one of several tables."""
    for problem in problems:
        path = f"{table_path(table)}."
        hint = problem.hint and of_source(path, problem.hint)
        yield replace(problem, path=path + problem.path, hint=hint)


def of_source(path: str, text: str) -> str:
    """A text of a single-table policy, with the `path` of the table before that of its query."""
    return re.sub(r"(?<![\w.])source\.query", lambda found: path + found[0], text)
