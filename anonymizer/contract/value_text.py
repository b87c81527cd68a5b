"""Values of a policy as text that SQL converts back to the same value."""

from __future__ import annotations


def value_text(value: object) -> str:
    """`true` and `false` in SQL's spelling; any other value as Python writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
