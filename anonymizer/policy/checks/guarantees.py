"""Checks of guarantees: what is required, and what it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import TYPE_CHECKING, Protocol

from anonymizer.errors import Problem
from anonymizer.policy.paths import column_path

if TYPE_CHECKING:
    from anonymizer.policy.fields import PolicyFields
    from anonymizer.policy.privacy import Privacy
    from anonymizer.policy.protect import Protect

PAPER_LEVELS = "level_l: {0: 1, 1: 2, 2: 3}"


class Promising(Protocol):
    """The part of a policy, of one table or of several, that checks of guarantees need."""

    @property
    def privacy(self) -> Privacy: ...

    @property
    def person(self) -> str | None: ...

    @property
    def sensitive(self) -> Sized: ...


def some_guarantee(policy: PolicyFields) -> Iterator[Problem]:
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


def levels(policy: PolicyFields) -> Iterator[Problem]:
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
