"""Descriptions of the main measures."""

from __future__ import annotations

from anonymizer.contract.layout import Layout

MEASURES = {
    "rows": "rows published",
    "persons": "persons in the release",
    "suppressed": "rows left out",
    "suppressed_persons": "persons left out",
    "suppressed_share": "share left out (of persons, where the policy names them, else of rows)",
    "classes": "classes of equal quasi-identifiers",
    "class_min": "rows in the smallest class",
    "class_mean": "rows in a class, on average",
    "class_max": "rows in the largest class",
    "ncp": "information lost per quasi-identifying cell, from 0 (exact) to 1 (nothing left): NCP",
    "glm": "the same by the generalized loss metric: GLM",
    "c_dm": "discernibility: the sum of squared class sizes (C_DM)",
}
GROUPS = {
    "classes": "groups that share their sensitive values",
    "class_min": "rows in the smallest group",
    "class_mean": "rows in a group, on average",
    "class_max": "rows in the largest group",
    "c_dm": "discernibility: the sum of squared group sizes (C_DM)",
}
"""The same without classes (msb): the rows of a group are not equal."""


def measure_words(layout: Layout) -> dict[str, str]:
    """Descriptions of the main measures of a release."""
    return MEASURES if layout.class_id is not None else MEASURES | GROUPS
