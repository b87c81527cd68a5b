"""Releases that continue earlier ones: m-invariance, and classes that only grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anonymizer.algorithms.core.compiled import Compiled
    from anonymizer.policy import Policy
    from anonymizer.source.profile import TableProfile
    from anonymizer.source.roles import Roles


def compile_republish(policy: Policy, profile: TableProfile, roles: Roles) -> Compiled:
    """Compile a policy with `republish`."""
    from anonymizer.republish.append import compile_append
    from anonymizer.republish.m_invariance import compile_invariant

    assert policy.republish is not None
    compiler = compile_append if policy.republish.m is None else compile_invariant
    return compiler(policy, profile, roles)
