"""Checks of guarantees, and of sets of quasi columns: what is required, and what it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import TYPE_CHECKING, Protocol

from anonymizer.errors import Problem
from anonymizer.policy.algorithms import FullDomain
from anonymizer.policy.paths import column_path, name_text

if TYPE_CHECKING:
    from anonymizer.policy.model import Policy
    from anonymizer.policy.privacy import Privacy
    from anonymizer.policy.protect import Protect

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


PAPER_LEVELS = "level_l: {0: 1, 1: 2, 2: 3}"


class Promising(Protocol):
    """The part of a policy, of one table or of several, that checks of guarantees need."""

    @property
    def privacy(self) -> Privacy: ...

    @property
    def person(self) -> str | None: ...

    @property
    def sensitive(self) -> Sized: ...


def some_guarantee(policy: Policy) -> Iterator[Problem]:
    """A policy names at least one guarantee; there is no default."""
    if policy.algorithm.classless:
        return  # none is possible, and algorithms.none refuses all
    if not policy.privacy.guarantees and not any(c.protect for c in policy.columns.values()):
        yield Problem(
            "privacy",
            "names no guarantee, and no column is protected",
            hint="privacy: {k_anonymity: 5}, or preset: internal",
        )


def identity_reserved(policy: Promising) -> Iterator[Problem]:
    """The identity-reserved guarantees need a person, and all but one a sensitive column."""
    for name in policy.privacy.identity_reserved:
        path = f"privacy.{name}"
        if policy.person is None:
            yield Problem(path, "counts persons, and no person is named", hint="person: <column>")
        if name != "ir_k" and not policy.sensitive:
            hint = "give one column role: sensitive"
            yield Problem(path, "needs a sensitive column, and there is none", hint=hint)


def alpha_k(policy: Promising) -> Iterator[Problem]:
    """(alpha,k) needs a sensitive column to limit."""
    given = policy.privacy.alpha_k
    if given is None:
        return
    if not policy.sensitive:
        hint = "give one column role: sensitive"
        yield Problem("privacy.alpha_k", "needs a sensitive column, and there is none", hint=hint)
    if given.value is not None and len(policy.sensitive) > 1:
        yield Problem(
            "privacy.alpha_k.value",
            "does not say of which sensitive column it is a value",
            hint="leave value out, or protect the column itself: protect: {alpha: 0.5}",
        )


def levels(policy: Policy) -> Iterator[Problem]:
    """The L_sl model: every used level has an l, and the algorithm is msb."""
    level_l = policy.privacy.level_l
    leveled = {
        name: column.protect
        for name, column in policy.columns.items()
        if column.protect is not None and column.protect.levels is not None
    }
    if level_l is not None and not leveled:
        hint = "protect: {levels: {1: […], 0: […]}, default_level: 1}"
        yield Problem("privacy.level_l", "has no column with levels", hint=hint)
    if leveled and level_l is None:
        said = "is missing: the levels of the columns need their l"
        yield Problem("privacy.level_l", said, hint=PAPER_LEVELS)
    for name, protect in leveled.items():
        path = column_path(name, "protect", "levels")
        if policy.algorithm.values_in != "group":
            said = f"is not supported by {policy.algorithm.name}"
            yield Problem(path, said, hint="algorithm: {name: msb}")
        if level_l is not None:
            for place in _without_l(protect, set(level_l)):
                path = column_path(name, "protect", *place)
                yield Problem(path, "is a level without an l", hint="add it to privacy.level_l")


def _without_l(protect: Protect, known: set[int]) -> Iterator[tuple[object, ...]]:
    for level in protect.levels or ():
        if level not in known:
            yield ("levels", level)
    if protect.default_level is not None and protect.default_level not in known:
        yield ("default_level",)
