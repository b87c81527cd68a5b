"""The errors of this package."""

from __future__ import annotations


class UnreadableError(Exception):
    """The release or its manifest cannot be judged; the message holds no value of the data."""


class ChangedError(UnreadableError):
    """What is there is not what was published, by a digest of its manifest."""
