"""Hierarchies of codes that keep the beginning, or the end."""

from __future__ import annotations

from anonymizer.compile import Sql
from anonymizer.hierarchy.place import Place
from anonymizer.policy.builders import Prefix, Suffix
from anonymizer.steps import Stage

KEPT = "kept"
"""Work table with the characters that each level keeps."""


def affix(place: Place, spec: Prefix | Suffix) -> tuple[Stage, ...]:
    """Keep fewer characters (code points) at each level; the others become `*`.

    Codes of different lengths are padded to the longest, so `213**` is every code that begins with
    213. A code shorter than what a level keeps is unchanged. Numbers are treated as text.
    """
    kept = place.table(KEPT)
    return (
        place.step(
            "affix_levels",
            values=place.values,
            kept=kept,
            lengths=spec.lengths,
            step=spec.step or 1,
        ),
        place.step(
            "affix",
            values=place.values,
            kept=kept,
            hierarchy=place.hierarchy,
            sql_type=Sql(place.sql_type),
            suffix=spec.builder == "suffix",
        ),
    )
