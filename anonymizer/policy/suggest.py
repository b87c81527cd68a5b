"""Did-you-mean hints: they name allowed values, never the given one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def closest(given: object, allowed: Iterable[str]) -> str | None:
    """A hint naming the allowed word closest to `given`, or None if none is close."""
    if not isinstance(given, str) or len(given) > 100:
        return None
    words = list(allowed)
    folded = {word.lower(): word for word in reversed(words)}
    near = get_close_matches(given.lower().replace("-", "_"), list(folded), n=1, cutoff=0.6)
    return f"did you mean {folded[near[0]]}?" if near else None
