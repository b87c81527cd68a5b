"""The fewest rows, or persons, that a class can have under the guarantees of a policy."""

from __future__ import annotations

from anonymizer.policy import Policy
from anonymizer.privacy.of_policy.registry import OF_TABLE, asked


def least_class(policy: Policy, otherwise: int = 1) -> int:
    """Fewest rows (persons) of a class: the largest k that the policy names."""
    named = [g.k(value) for g, value in asked(OF_TABLE, policy.privacy) if g.k is not None]
    return max(named, default=otherwise)


def asking_for(policy: Policy, least: int) -> str:
    """The path of the guarantee that requires classes of `least` rows (persons)."""
    fields = (
        g.field
        for g, value in asked(OF_TABLE, policy.privacy)
        if g.k is not None and g.k(value) == least
    )
    return next(fields, "privacy.k_anonymity")


def fewest_persons(policy: Policy) -> int:
    """Fewest persons that a class can have under any of the policy's guarantees."""
    implied = [g.implied(v) for g, v in asked(OF_TABLE, policy.privacy) if g.implied is not None]
    return max(least_class(policy), *implied, 1)
