"""Hierarchies of sets of values: by frequency, or in a given order."""

from __future__ import annotations

from anonymizer.compile import Sql, lit
from anonymizer.contract.value_text import value_text
from anonymizer.errors import Problem
from anonymizer.hierarchy.listed import covered
from anonymizer.hierarchy.merges import merge_rarest, pair_in_order
from anonymizer.hierarchy.merging import MERGE_COLUMNS
from anonymizer.hierarchy.place import Place
from anonymizer.hierarchy.text import exact, from_text
from anonymizer.policy.builders import Order
from anonymizer.steps import Compute, Row, Stage, Step

MOST_VALUES = 2_000
"""Largest number of values of a frequency hierarchy; each node's label lists all its members."""
MEMBER_COLUMNS = (("value", "VARCHAR"), ("leaf", "BIGINT"), ("joined", "INTEGER"))


def frequency(place: Place) -> tuple[Stage, ...]:
    """Merge the two rarest nodes until one is left, so that frequent values stay separate longest.

    Nodes are published as sets, `{a, b}`. Levels: see `merges`.
    """
    merges, members = place.table("merges"), place.table("members")

    def merge(rows: list[Row]) -> list[Row]:
        """Merge the two rarest nodes until one node is left."""
        return [*merge_rarest([n for _, n in rows])]

    return (
        place.guard(
            "guard_count",
            {"values": place.values, "most": lit(MOST_VALUES)},
            lambda row: Problem(
                place.path,
                f"the column has {row[0]:,} distinct values, too many to publish as sets",
                allowed=f"at most {MOST_VALUES:,} for builder frequency",
                hint="use prefix or a taxonomy",
            ),
        ),
        Compute(place.step("rarest", values=place.values), merge, merges, MERGE_COLUMNS),
        place.step("rare_members", values=place.values, merges=merges, members=members),
        _sets(place),
    )


def order(place: Place, spec: Order) -> tuple[Stage, ...]:
    """Pair neighbours in the given order: nodes of 2, 4, 8, ... values, published as sets."""
    members = place.table("members")
    texts = [value_text(value) for value in spec.values]
    listed = list(zip(texts, range(1, len(texts) + 1), pair_in_order(len(texts)), strict=True))

    def take(_: list[Row]) -> list[Row]:
        """The values in the order in which the policy lists them."""
        return [*listed]

    return (
        Compute(
            place.step("count_values", values=place.values),
            take,
            members,
            MEMBER_COLUMNS,
            given=True,
        ),
        *covered(place, members, option="values"),
        _sets(place),
    )


def _sets(place: Place) -> Step:
    return place.step(
        "sets",
        values=place.values,
        members=place.table("members"),
        hierarchy=place.hierarchy,
        sql_type=Sql(place.sql_type),
        typed=from_text(Sql("m.value"), place.sql_type),
        exact=exact(Sql("text")),
    )
