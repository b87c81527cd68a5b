"""Checks of columns that other parts name: key, person, and the columns of conditions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from anonymizer.errors import Problem
from anonymizer.policy.paths import column_path
from anonymizer.policy.suggest import closest

if TYPE_CHECKING:
    from anonymizer.policy.model import Policy

BARE_NAME = re.compile(r"\s*(?:(?P<plain>[^\W\d]\w*)|\"(?P<quoted>(?:[^\"]|\"\")+)\")\s*")
CONSTANTS = {"true", "false", "null"}


def key_and_person(policy: Policy) -> Iterator[Problem]:
    """Key and person are listed columns that are not published unchanged."""
    for option in ("key", "person"):
        name = getattr(policy, option)
        if name is None:
            continue
        column = policy.columns.get(name)
        if column is None:
            hint = closest(name, policy.columns) or "list it there, as role: drop"
            yield Problem(option, "is not a column listed under columns", hint=hint)
        elif column.role not in ("drop", "identifier", "token"):
            said = f"is the {option} and would be published by the role {column.role}"
            yield Problem(column_path(name, "role"), said, "drop, identifier, token")


def bare_condition(policy: Policy) -> Iterator[Problem]:
    """A condition that is only a name must name a listed column."""
    known = {name.casefold() for name in policy.columns}
    for name, column in policy.columns.items():
        found = BARE_NAME.fullmatch(column.sensitive_when or "")
        if found is None or (found["plain"] or "").lower() in CONSTANTS:
            continue
        meant = found["plain"] or found["quoted"].replace('""', '"')
        if meant.casefold() not in known:
            near = closest(meant, policy.columns)
            hint = near or "list the column under columns, as role: drop"
            path = column_path(name, "sensitive_when")
            yield Problem(path, "names a column that is not listed under columns", hint=hint)


def person_options(policy: Policy) -> Iterator[Problem]:
    """Merging the rows of a person needs a person."""
    if policy.merge_person_rows and policy.person is None:
        yield Problem("merge_person_rows", "needs a person", hint="person: <column>")


def semi_sensitive(policy: Policy) -> Iterator[Problem]:
    """Only lgb treats single cells as sensitive."""
    if policy.algorithm.values_in == "bucket":
        return
    for name in policy.semi_sensitive:
        said = f"is not supported by {policy.algorithm.name}: cells are protected one by one by lgb"
        yield Problem(column_path(name, "sensitive_when"), said, hint="algorithm: {name: lgb}")
