"""The words of a column's name."""

from __future__ import annotations

import re
import unicodedata


def words(name: str) -> list[str]:
    """The words of a name: `patientId`, `patient_id` and `PATIENT-ID` have the same.

    Accents are left out: `Größe` is `grosse`.
    """
    letters = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = "".join(c for c in letters if not unicodedata.combining(c))
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", plain)
    return [word for word in re.split(r"[^a-z]+", spaced.lower()) if word]
