"""Checks across the parts of a policy of several tables; all run, and all problems are raised.

A check that reads an invalid part is skipped, so that no mistake is reported twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from anonymizer.errors import Problem
from anonymizer.policy import kinds
from anonymizer.policy.checks import guarantees as of_guarantees
from anonymizer.policy.checks import release as of_release
from anonymizer.policy.problems import Broken
from anonymizer.policy.schema.checks import columns, events, guarantees, keys, release

if TYPE_CHECKING:
    from anonymizer.policy.schema.fields import SchemaFields

Check = Callable[["SchemaFields"], Iterable[Problem]]

CHECKS: tuple[tuple[Check, tuple[str, ...]], ...] = (
    (kinds.agrees, ("kind", "tables", "columns", "algorithm")),
    (keys.persons_table, ("person", "tables", "columns")),
    (keys.one_link, ("person", "tables", "links")),
    (keys.known_tables, ("tables", "links")),
    (keys.no_circle, ("tables", "links")),
    (keys.listed, ("columns", "key", "links")),
    (keys.role_of_keys, ("tables", "key", "links")),
    (keys.one_use, ("person", "tables", "columns", "key", "links")),
    (keys.needed, ("person", "tables", "key", "links")),
    (columns.each_table, ("columns",)),
    (columns.options_fit_role, ()),
    (columns.masks, ("columns",)),
    (columns.roles_fit_table, ("person", "tables")),
    (columns.quasi_needed, ("person", "tables", "columns")),
    (guarantees.k_needed, ("privacy", "preset")),
    (guarantees.something_to_know, ("tables", "columns", "privacy")),
    (events.rules_of_events, ("tables", "columns")),
    (events.not_combined, ("tables", "columns", "privacy", "ledger")),
    (guarantees.as_tree, ("algorithm",)),
    (of_guarantees.identity_reserved, ("tables", "columns", "privacy", "person")),
    (of_guarantees.alpha_k, ("tables", "columns", "privacy")),
    (release.place, ("tables", "publish", "source")),
    (release.views, ("person", "tables", "publish")),
    (release.clashes, ("person", "columns", "publish")),
    (of_release.remembered, ("republish", "ledger")),
)
"""Each check with the sections, of the policy or of any table, that must be valid for it."""


def crosscheck(policy: SchemaFields, broken: Broken = frozenset()) -> list[Problem]:
    """Every contradiction in a policy whose parts are valid by themselves."""
    sections = set(_sections(broken))
    found: dict[Problem, None] = {}
    for check, needs in CHECKS:
        if not sections.intersection(needs):
            found.update(dict.fromkeys(check(policy)))
    return list(found)


def _sections(broken: Broken) -> Iterator[object]:
    """The names of invalid sections; a table that is invalid as a whole counts as `tables`."""
    for place in broken:
        inside = place[:1] == ("tables",) and len(place) > 2
        yield from place[2:3] if inside else place[:1]
