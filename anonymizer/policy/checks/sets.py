"""Checks of alternative sets of quasi-identifiers: their columns, and what supports them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from anonymizer.errors import Problem
from anonymizer.policy.algorithms import FullDomain
from anonymizer.policy.paths import column_path, name_text

if TYPE_CHECKING:
    from anonymizer.policy.model import Policy

AT = "privacy.quasi_sets"
APART = "leave quasi_sets out: then all quasi columns are taken as known together"


def columns_of_sets(policy: Policy) -> Iterator[Problem]:
    """Sets contain quasi columns, and each quasi column is in at least one."""
    sets = policy.privacy.quasi_sets
    if sets is None:
        return
    for i, names in enumerate(sets):
        if not names:
            yield Problem(f"{AT}.{i}", "names no column")
        if len(set(names)) < len(names):
            yield Problem(f"{AT}.{i}", "names a column twice")
        for name in dict.fromkeys(names):
            if name not in policy.quasi:
                said = f"names {name_text(name)}, which is no column of the role quasi"
                yield Problem(f"{AT}.{i}", said)
        for j, other in enumerate(sets):
            if i != j and set(names) <= set(other) and (set(names) < set(other) or i > j):
                said = f"has no column that {AT}.{j} lacks, so it holds where that holds"
                yield Problem(f"{AT}.{i}", said, hint="leave it out")
    known = {name for names in sets for name in names}
    for name in policy.quasi:
        if name not in known:
            said = f"is quasi and in no set of {AT}, as if nobody could know it"
            hint = "add it to a set, or give it role keep, sensitive or drop"
            yield Problem(column_path(name, "role"), said, hint=hint)


def where_sets_hold(policy: Policy) -> Iterator[Problem]:
    """Settings that use all columns together, or classes of all columns, are refused."""
    if policy.privacy.quasi_sets is None:
        return
    if not isinstance(policy.algorithm, FullDomain):
        said = f"is not offered with {policy.algorithm.name}, whose classes are of all columns"
        yield Problem(AT, said, hint=f"algorithm: {{name: full_domain}}, or {APART}")
    elif policy.algorithm.optimum in ("c_dm", "dcp"):
        said = "measures the classes of all columns together, and quasi_sets asks for others"
        yield Problem("algorithm.optimum", said, "ncp, glm, distortion")
    for name, given in (
        ("person", policy.person),
        ("ledger", policy.ledger),
        ("republish", policy.republish),
        *((f"privacy.{one}", True) for one in policy.privacy.populations),
    ):
        if given is not None:
            yield Problem(AT, f"is not offered together with {name}", hint=APART)
