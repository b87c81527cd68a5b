"""Descriptions of the main measures."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

from anonymizer.contract.layout import Layout
from anonymizer.measure.proofs import LINKED, RECORDS

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
    "ncp_weighted": "the same by the weights of the columns",
    "ncp_weighted_bound": "a lower bound of what any grouping into classes of at least k rows loses"
    " by the weights of the columns (estimated from a sample: less three standard errors)",
    "ncp_bound": "a lower bound of what any grouping into classes of at least k rows loses"
    " (estimated from a sample: less three standard errors)",
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
"""Descriptions for releases without classes (msb), whose groups have unequal rows."""


def measure_words(layout: Layout) -> dict[str, str]:
    """Descriptions of the main measures of a release."""
    return MEASURES if layout.class_id is not None else MEASURES | GROUPS


def proved_sentence(measures: Mapping[str, Any], unit: str) -> str:
    """What the cells of a release prove of single rows; empty if nothing was measured."""
    found = measures.get(RECORDS)
    if not isinstance(found, int):
        return ""
    if not found:
        return f"Its cells prove no complete record that fewer than k {unit} may share."
    records = f"{found:,} complete records" if found > 1 else "one complete record"
    return (
        f"Its cells prove {records} that fewer than k {unit} may share: the bounds of intervals,"
        " and the members of sets, are values of rows of the class."
    )


def linked_sentence(measures: Mapping[str, Any]) -> str:
    """What rows tell that are known to belong together; empty if nothing was measured."""
    found = measures.get(LINKED)
    if not isinstance(found, int):
        return ""
    return (
        f"To an observer who also knows how the rows belong together, {found:,} of"
        f" {measures['rows']:,} persons are among fewer than k."
    )


def least_sentence(measures: Mapping[str, Any]) -> str:
    """The loss relative to the lower bound for classes of k rows; empty if unknown.

    The bound depends on k alone and ignores the cost of other rules.
    """
    by = "ncp_weighted" if "ncp_weighted" in measures else "ncp"
    bound, ncp = measures.get(f"{by}_bound"), measures.get(by)
    # (a manifest that was tampered with may contain anything)
    if not isinstance(bound, int | float) or not isinstance(ncp, int | float) or bound <= 0:
        return ""
    if not ncp < 100 * bound:  # the bound is too small to be meaningful
        return ""
    # rounded up, so that the statement is true
    times = f"{ceil(10 * ncp / bound) / 10:g}"
    said = f"at most {times} times the smallest that classes of at least k rows could have"
    if by == "ncp_weighted":
        said = f"by the weights of the columns {said}"
    drawn = ""
    if measures.get(f"{by}_bound_sample"):
        drawn = "; the bound is estimated from a sample, less three standard errors"
    return f"{said} (lower bound {bound:.3g}){drawn}"
