"""Checks across the parts of a policy. All of them run, and their problems are raised together.

If a part is invalid already, the checks that read it are skipped, so that one mistake is
not reported twice in different words; all other checks still run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from anonymizer.errors import Problem
from anonymizer.policy import kinds
from anonymizer.policy.checks import columns, models, release_options, safe_harbor
from anonymizer.policy.problems import Broken

if TYPE_CHECKING:
    from anonymizer.policy.fields import PolicyFields

Check = Callable[["PolicyFields"], Iterable[Problem]]

CHECKS: tuple[tuple[Check, tuple[str, ...]], ...] = (
    (columns.some_column, ("columns",)),
    (columns.same_name, ("engine",)),
    (columns.options_fit_role, ()),
    (columns.alike, ("columns", "algorithm", "privacy", "republish")),
    (columns.hierarchy_fits_kind, ()),
    (columns.distance_has_order, ()),
    (columns.options_given, ("columns", "person")),
    (safe_harbor.stated, ("columns", "preset")),
    (safe_harbor.algorithm, ("columns", "preset", "algorithm")),
    (columns.key_and_person, ("columns", "key", "person")),
    (columns.bare_condition, ("columns",)),
    (columns.person_options, ("person", "merge_person_rows")),
    (columns.semi_sensitive, ("algorithm",)),
    (models.some_guarantee, ("columns", "privacy", "preset")),
    (models.identity_reserved, ("privacy", "person", "columns")),
    (models.alpha_k, ("privacy", "columns")),
    (models.units, ("privacy", "columns", "key", "person", "preset", "ledger", "republish")),
    (models.levels, ("privacy", "columns", "algorithm")),
    (kinds.agrees, ("kind", "columns", "algorithm")),
    (models.none, ("columns", "privacy", "preset", "algorithm", "ledger")),
    (models.quasi_needed, ("columns", "algorithm")),
    (models.hierarchies_needed, ("algorithm",)),
    (models.levels_nest, ("algorithm",)),
    (models.refine, ("algorithm", "privacy", "preset", "columns")),
    (models.part_size, ("algorithm", "privacy", "preset", "columns", "republish")),
    (models.lgb, ("algorithm", "privacy", "preset")),
    (models.privacyfrost_columns, ("algorithm",)),
    (models.weights, ("algorithm",)),
    (models.persons_clustered, ("algorithm", "privacy")),
    (models.msb, ("algorithm", "privacy", "columns")),
    (release_options.place, ("publish", "source", "engine", "ledger")),
    (release_options.remembering_engine, ("ledger", "engine")),
    (release_options.bounds, ("publish", "columns", "algorithm")),
    (release_options.memory, ("republish", "ledger", "person", "key")),
    (
        release_options.continued,
        ("republish", "algorithm", "columns", "privacy", "preset", "publish"),
    ),
    (release_options.collisions, ("columns", "publish", "algorithm", "person")),
)
"""Each check with the sections that must be valid for it."""


def crosscheck(policy: PolicyFields, broken: Broken = frozenset()) -> list[Problem]:
    """Every contradiction in a policy whose parts are valid by themselves."""
    sections = {place[0] for place in broken if place}
    found: dict[Problem, None] = {}
    for check, needs in CHECKS:
        if not sections.intersection(needs):
            found.update(dict.fromkeys(check(policy)))
    return list(found)
