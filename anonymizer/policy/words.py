"""The words of a column's name."""

from __future__ import annotations

import re


def words(name: str) -> list[str]:
    """The words of a name: `patientId`, `patient_id` and `PATIENT-ID` have the same."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return [word for word in re.split(r"[^a-z]+", spaced.lower()) if word]
