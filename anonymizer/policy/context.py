"""The context of a release, in words, used only as evidence.

It has no effect on a run, so it is not part of the policy's digest: filling it in later does not
make another policy.
"""

from __future__ import annotations

from typing import Annotated

from anonymizer.policy.frozen import AsTuple, Options
from anonymizer.policy.values import PositiveShare, Text


class Context(Options):
    """Who receives the release, and what is known about them: printed, no effect on the run."""

    recipients: Text | None = None
    """Who receives the release."""
    purpose: Text | None = None
    """What the release is used for."""
    knowledge: Text | None = None
    """What recipients could know about a person from elsewhere, and why they might search."""
    controls: Annotated[tuple[Text, ...], AsTuple] | None = None
    """What binds recipients: contracts, access, training, audits."""
    impact: Text | None = None
    """The consequences for a person who is re-identified."""
    stakeholders: Text | None = None
    """Who was consulted or informed: persons in the table, ethics committees, boards."""
    monitoring: Text | None = None
    """What is done after the release: reviews, new data, incidents."""
    responsible: Text | None = None
    """Who is responsible for the release, by name or office."""
    acceptable_risk: PositiveShare | None = None
    """The largest acceptable risk of re-identification, between 0 and 1."""
