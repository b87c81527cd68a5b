"""The words of names, and did-you-mean hints."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

# The words of a column's name.


def words(name: str) -> list[str]:
    """The words of a name: `patientId`, `patient_id` and `PATIENT-ID` have the same.

    Accents are left out: `Größe` is `grosse`.
    """
    letters = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = "".join(c for c in letters if not unicodedata.combining(c))
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", plain)
    return [word for word in re.split(r"[^a-z]+", spaced.lower()) if word]


# Did-you-mean hints: they name allowed values, never the given one.


def closest(given: object, allowed: Iterable[str]) -> str | None:
    """A hint naming the allowed word closest to `given`, or None if none is close."""
    if not isinstance(given, str) or len(given) > 100:
        return None
    words = list(allowed)
    folded = {word.lower(): word for word in reversed(words)}
    near = get_close_matches(given.lower().replace("-", "_"), list(folded), n=1, cutoff=0.6)
    return f"did you mean {folded[near[0]]}?" if near else None
