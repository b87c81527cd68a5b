"""Hints for problems whose source is a file: a file has no `source.query`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from anonymizer.errors import AnonymizerError, Problem
from anonymizer.policy import AnyPolicy
from anonymizer.policy.schema.derived import singles_of

AS_TABLE = (
    "a file has no query: make a table of it in a DuckDB database first, as in create table visits"
    " as from 'visits.csv'"
)


@contextmanager
def at_file(policy: AnyPolicy) -> Iterator[None]:
    """Extend hints that mention `source.query`: they explain how to query a file."""
    try:
        yield
    except AnonymizerError as error:
        error.reword(lambda problem: of_file(policy, problem))
        raise


def of_file(policy: AnyPolicy, problem: Problem) -> Problem:
    """The problem, with an extended hint if its source is a file."""
    hint = problem.hint or ""
    if "source.query" not in hint or AS_TABLE in hint:
        return problem
    files = [path for path, one in singles_of(policy).items() if one.source.kind == "file"]
    if not problem.path.startswith(tuple(files)):
        return problem
    return replace(problem, hint=f"{hint}; {AS_TABLE}")
