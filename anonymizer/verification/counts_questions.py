"""Questions about a table of counts: from the release alone, and against the source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.compile import Sql, Table, ident, lit
from anonymizer.contract.counts_layout import MINIMUM, Counts
from anonymizer.contract.layout import Layout, Requirement
from anonymizer.errors import NothingToCheckError
from anonymizer.verification.questions import FigureColumn, Question, condition

ALONE = ("cell_form", "cell_once", "no_reason", "no_small_cells", "additive", "other_room")
"""The checks of every table of counts."""
AGAINST_SOURCE = ("source_cells", "source_hidden")
"""The checks that only a run can make."""


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A column of groups in the snapshot: its value, and how the labels of its levels are made."""

    value: Sql
    texts: tuple[Sql, ...]
    """The labels by level, over `s` and the joined hierarchies."""
    hierarchy: Table | None = None
    joins: tuple[tuple[Sql, Sql, int], ...] = ()
    """For each level of the hierarchy: an alias, the value, and the level."""


def counts_questions(
    view: Table, layout: Layout, requirements: Sequence[Requirement]
) -> tuple[Question, ...]:
    """Every question that the release alone answers."""
    counts, minimum = _asked(layout, requirements)
    parameters = _shared(view, counts, minimum)
    least = (FigureColumn("achieved", "least"),)
    return tuple(
        Question(name, None, minimum, f"counts_{name}", parameters, least)
        if name == "no_small_cells"
        else condition(name, None, parameters, template=f"counts_{name}")
        for name in ALONE
    )


def source_questions(
    view: Table,
    layout: Layout,
    requirements: Sequence[Requirement],
    snapshot: Table,
    columns: Sequence[SourceColumn],
    *,
    person: bool,
) -> tuple[Question, ...]:
    """The questions that compare the release with the snapshot."""
    counts, minimum = _asked(layout, requirements)
    shared = _shared(view, counts, minimum)
    by = [
        {
            "name": d.name,
            "level": d.level,
            "levels": d.levels,
            "texts": column.texts,
            "hierarchy": column.hierarchy,
            "joins": column.joins,
        }
        for d, column in zip(counts.by, columns, strict=True)
    ]
    kinds = {"persons": Sql("persons"), "rows": Sql("counted")}
    parameters = {
        **shared,
        "by": by,
        "snapshot": snapshot,
        "hierarchies": [c.hierarchy for c in columns if c.hierarchy is not None],
        "values": [column.value for column in columns],
        "person": person,
        "figures_of": [kinds[one.of] for one in counts.measures],
    }
    return tuple(
        condition(name, None, parameters, template=f"counts_{name}") for name in AGAINST_SOURCE
    )


def _asked(layout: Layout, requirements: Sequence[Requirement]) -> tuple[Counts, int]:
    asked = [item for item in requirements if item.name == MINIMUM]
    if layout.counts is None or len(asked) != len(requirements) or len(asked) != 1:
        said = "is a table of counts, for which one minimum is required, and nothing else"
        raise NothingToCheckError.at("protect", said, hint="was it made by this tool?")
    minimum = asked[0].parameters.get("n")
    if type(minimum) is not int or minimum < 2 or asked[0].parameters.keys() != {"n"}:
        raise NothingToCheckError.at("protect.minimum", "is not a minimum")
    return layout.counts, minimum


def _shared(view: Table, counts: Counts, minimum: int) -> dict[str, Any]:
    return {
        "data": view,
        "by": [
            {
                "index0": number,
                "name": d.name,
                "level": d.level,
                "levels": d.levels,
                "paths": d.paths,
            }
            for number, d in enumerate(counts.by)
        ],
        "measures": [one.name for one in counts.measures],
        "persons": counts.persons,
        "margins": [[lit(level) for level in levels] for levels in counts.groupings],
        "status": counts.status,
        "listed": counts.list_hidden,
        "minimum": minimum,
        "label": "cell",
    }


def measures_sql(view: Table, counts: Counts) -> str:
    """The query for the figures of a manifest: cells, and persons left out."""
    persons, status = ident(counts.measures[counts.persons - 1].name), ident(counts.status)
    return (
        f"select count(*), cast(coalesce(sum(case when {status} = 'other' then {persons} end), 0)"
        f" as bigint) from {ident(view)}"
    )
