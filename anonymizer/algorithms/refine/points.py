"""The units of classes that lose something, with their extents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from anonymizer.algorithms.parts import in_parts
from anonymizer.algorithms.refine.boxes import Boxes, boxes
from anonymizer.compile import Sql
from anonymizer.source.profile import Attribute
from anonymizer.steps import Step

TEMPLATE = "refine/points.sql.j2"


def points_steps(attributes: Sequence[Attribute], context: Mapping[str, Any]) -> Iterator[Step]:
    """Steps that write the units; their domains are joined in parts if there are very many."""
    whole = boxes(attributes)
    columns = {column.name: column for column in whole.columns}
    parts = in_parts(attributes, "refine_points_part")
    for number, (table, some) in enumerate(parts, 1):
        made = boxes(some)
        looked_up = [column for column in made.columns if column.way != "bits"]
        shown = {"points_part": table, "columns": looked_up, "rarity": _rarity(made)}
        shown |= {"domain_of": made.domains, "domains": [one.table for one in made.domains]}
        name = f"units as extents, part {number}"
        yield Step(name, "refine/points_part.sql.j2", {**context, **shown})
        for column in looked_up:
            columns[column.name] = replace(column, of_unit=f"p{number}.{column.name}")
    joined = {
        "columns": list(columns.values()),
        "domain_of": () if parts else whole.domains,
        "domains": [] if parts else [one.table for one in whole.domains],
        "parts": [table for table, _ in parts],
        "rarity": Sql(" + ".join(f"p{number}.rarity" for number, _ in enumerate(parts, 1)))
        if parts
        else _rarity(whole),
    }
    yield Step("units as extents", TEMPLATE, {**context, **joined})


def _rarity(made: Boxes) -> Sql:
    return Sql(" + ".join(f"{one.d}.rarity" for one in made.domains))
