"""The one error of this package."""

from __future__ import annotations


class UnreadableError(Exception):
    """The release or its manifest cannot be judged; the message holds no value of the data."""
