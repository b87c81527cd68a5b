"""Hierarchies of codes: keep the beginning, or the end."""

from __future__ import annotations

from anonymizer.compile import Sql
from anonymizer.hierarchy.place import Place
from anonymizer.hierarchy.text import exact
from anonymizer.plan import Stage
from anonymizer.policy.builders import Prefix, Suffix


def affix(place: Place, spec: Prefix | Suffix) -> tuple[Stage, ...]:
    """Level by level fewer characters (code points) are kept, the rest become `*`.

    Codes of different lengths are filled up to the longest, so `213**` is every code that begins
    with 213. A code shorter than what a level keeps stays as it is. Numbers are taken as text.
    """
    return (
        place.step(
            "affix",
            values=place.values,
            hierarchy=place.hierarchy,
            sql_type=Sql(place.sql_type),
            suffix=spec.builder == "suffix",
            lengths=spec.lengths,
            step=spec.step or 1,
            exact=exact(Sql("text")),
        ),
    )
