"""The context of a release, in words: for evidence, and for nothing else.

No part of it changes what a run does, so it is not part of the policy's digest: a policy whose
context was filled in later is still the one that a release was made with.
"""

from __future__ import annotations

from typing import Annotated

from anonymizer.policy.frozen import AsTuple, Options
from anonymizer.policy.values import PositiveShare, Text


class Context(Options):
    """Who receives the release, and what is known of them. It is printed, and chooses nothing."""

    recipients: Text | None = None
    """Who receives the release."""
    purpose: Text | None = None
    """What the release is used for."""
    knowledge: Text | None = None
    """What recipients could know of a person from elsewhere, and why they might look."""
    controls: Annotated[tuple[Text, ...], AsTuple] | None = None
    """What binds recipients: contracts, access, training, audits."""
    impact: Text | None = None
    """What it would do to a person to be found."""
    stakeholders: Text | None = None
    """Who was asked or told: persons in the table, ethics committees, boards."""
    monitoring: Text | None = None
    """What is done after the release: reviews, new data, incidents."""
    responsible: Text | None = None
    """Who answers for the release, by name or office."""
    acceptable_risk: PositiveShare | None = None
    """The largest risk of re-identification that was found acceptable, between 0 and 1."""
