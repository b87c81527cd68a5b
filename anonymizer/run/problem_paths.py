"""Paths of problems: in one of several tables, or in a source that is a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from types import MappingProxyType

from anonymizer.algorithms.core.guards import KEYLESS, REPEATED
from anonymizer.errors import AnonymizerError, Problem
from anonymizer.policy import AggregatePolicy, AnyPolicy
from anonymizer.policy.paths import column_path, of_source, path_text, within
from anonymizer.source.roles import ROLES

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
    """The problem, with the path of its table's query in the hint, extended if that is a file."""
    hint = problem.hint or ""
    if "source.query" not in hint or AS_TABLE in hint:
        return problem
    singles = policy.singles
    for path in filter(problem.path.startswith, singles):
        hint = of_source(path, hint)
    problem = replace(problem, hint=hint)
    files = [path for path, one in singles.items() if one.source.kind == "file"]
    if not problem.path.startswith(tuple(files)):
        return problem
    return replace(problem, hint=f"{hint}; {AS_TABLE}")


OF_PARTS = ("columns", "source", "key", "links")
"""First parts of the paths in a single table's policy."""
INSTEAD = {
    REPEATED: "every row of this table has a key of its own: leave others out in source.query",
    KEYLESS: "leave such rows out in source.query, or name another column",
    ROLES: "key, identifier, quasi (of the persons), event (of others), sensitive, keep, drop",
}
"""Texts for a single table, and their replacements for one of several."""
NOTHING_LIFTED: Mapping[str, str] = MappingProxyType({})


@contextmanager
def at_table(name: str, lifted: Mapping[str, str] = NOTHING_LIFTED) -> Iterator[None]:
    """Report errors as those of this table: their paths begin with `tables.<name>`.

    `lifted`: columns that belong to another table of the policy, with the name of that table.
    """
    try:
        yield
    except AnonymizerError as error:
        raise type(error)([_at(name, lifted, problem) for problem in error.problems]) from None


ROLE = "give it role drop"
"""What the hint for a column of rows says."""


@contextmanager
def at_groups(policy: AggregatePolicy) -> Iterator[None]:
    """Report errors of columns at their place in `aggregate.by`."""
    paths = {column_path(name): path_text(("aggregate", "by", name)) for name in policy.by}

    def moved(problem: Problem) -> Problem:
        for old, new in paths.items():
            if problem.path == old or problem.path.startswith(f"{old}."):
                hint = problem.hint and problem.hint.replace(ROLE, "leave it out")
                return replace(problem, path=new + problem.path.removeprefix(old), hint=hint)
        return problem

    try:
        yield
    except AnonymizerError as error:
        error.reword(moved)
        raise


def at_persons(policy: AnyPolicy | None) -> AbstractContextManager[None]:
    """Like `at_table`, for the persons' table with its lifted columns; like `at_groups` for counts.

    Changes nothing for a policy of one table of rows, or without a policy.
    """
    if policy is not None and policy.counts is not None:
        return at_groups(policy.counts)
    if policy is None or not policy.several:
        return nullcontext()
    return at_table(policy.person, policy.lifted)


def _at(name: str, lifted: Mapping[str, str], problem: Problem) -> Problem:
    if problem.path == "publish.name":
        return replace(problem, path="publish.names")
    if problem.path.split(".")[0] not in OF_PARTS:
        return problem
    allowed = INSTEAD.get(problem.allowed or "", problem.allowed)
    hint = INSTEAD.get(problem.hint or "", problem.hint)
    for column, other in lifted.items():
        path = f"{column_path(column)}."
        name = other if f"{problem.path}.".startswith(path) else name
    (found,) = within(name, [replace(problem, allowed=allowed, hint=hint)])
    return found
