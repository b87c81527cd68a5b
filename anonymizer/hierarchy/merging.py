"""The on-the-fly hierarchy (OTF) of an ordered column."""

from __future__ import annotations

from anonymizer.compile import Sql
from anonymizer.hierarchy.grid import finish, line, refuse_infinite
from anonymizer.hierarchy.merges import merge_neighbours
from anonymizer.hierarchy.place import Place
from anonymizer.steps import Compute, Row, Stage

MERGE_COLUMNS = (("ordinal", "BIGINT"), ("leaf", "BIGINT"), ("joined", "INTEGER"))


def on_the_fly(place: Place) -> tuple[Stage, ...]:
    """OTF: leaves are the distinct values, weighted by their rows; the closest neighbours merge.

    Bounds are the least and the greatest value of a node. Levels: see `merges`.
    """
    scale = line(place)
    merges = place.table("merges")

    def merge(rows: list[Row]) -> list[Row]:
        """Merge the closest neighbours until one node is left."""
        return [*merge_neighbours([(centre, n) for _, centre, n in rows])]

    return (
        *refuse_infinite(place),
        Compute(
            place.step("merge_values", values=place.values, centre=scale.centre(Sql("value"))),
            merge,
            merges,
            MERGE_COLUMNS,
        ),
        place.step("merged", values=place.values, merges=merges, bounds=place.table("bounds")),
        finish(place, points=False),
    )
