"""The errors of this package."""

from __future__ import annotations


class UnreadableError(Exception):
    """The release or its manifest cannot be judged; the message contains no value of the data."""


class ChangedError(UnreadableError):
    """The release is not what was published, by a digest of its manifest."""
