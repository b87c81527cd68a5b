"""Questions about a table of counts: from the release alone, and against the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from anonymizer.compile import Sql, Table, ident, lit
from anonymizer.contract.counts_layout import MINIMUM, PRIVACY_LOSS, Counts
from anonymizer.contract.layout import Layout, Requirement
from anonymizer.errors import NothingToCheckError
from anonymizer.policy.aggregate import WITNESS
from anonymizer.verification.questions import FigureColumn, Question, condition

FORM = ("cell_form", "cell_once", "no_reason", "no_small_cells")
ALONE: Mapping[str, tuple[str, ...]] = {
    "rest": (*FORM, "additive", "other_room"),
    "suppress": (*FORM, "one_step", "witness_whole", "witness_agrees", "witness_covers"),
    "round": (*FORM, "additive", "rounded"),
    "dp": (*FORM[:-1], "all_groups", "additive", "budget"),
}
"""By method: the checks of a table of counts."""
SPENT = FigureColumn("achieved", "greatest")
OF_MINIMUM = ("no_small_cells", "one_step")
"""The checks whose figure is compared with the minimum."""
AGAINST_SOURCE = ("source_cells", "source_hidden")
"""The checks that only a run can make, of methods that publish true figures."""
EXACT = ("rest", "suppress")


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
    counts, minimum, epsilon = _asked(layout, requirements)
    parameters = {**_shared(view, layout, counts, minimum), "epsilon": epsilon}
    rounded = {**parameters, "minimum": counts.base}
    least = (FigureColumn("achieved", "least"),)
    return tuple(
        Question(name, None, minimum, f"counts_{name}", parameters, least)
        if name in OF_MINIMUM
        else Question(name, None, counts.base, "counts_no_small_cells", rounded, least)
        if name == "rounded"
        else Question(name, None, counts.noise.budget, "counts_budget", parameters, (SPENT,))
        if name == "budget" and counts.noise is not None
        else condition(name, None, parameters, template=f"counts_{name}")
        for name in _alone(layout)
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
    counts, minimum, _ = _asked(layout, requirements)
    shared = _shared(view, layout, counts, minimum)
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
    asked = AGAINST_SOURCE if layout.algorithm in EXACT else ()
    return tuple(condition(name, None, parameters, template=f"counts_{name}") for name in asked)


def _asked(layout: Layout, requirements: Sequence[Requirement]) -> tuple[Counts, int, float | None]:
    """The form of the counts, and the required minimum, or, if they have noise, epsilon."""
    noise = layout.counts is not None and layout.counts.noise is not None
    asked = [one for one in requirements if one.name == (PRIVACY_LOSS if noise else MINIMUM)]
    if layout.counts is None or len(asked) != len(requirements) or len(asked) != 1:
        said = "is a table of counts, for which one minimum is required, and nothing else"
        raise NothingToCheckError.at("protect", said, hint="was it made by this tool?")
    given = asked[0].parameters
    if noise:
        epsilon = given.get("epsilon")
        if type(epsilon) is not float or not 0 < epsilon < inf or given.get("per_person") != 1:
            raise NothingToCheckError.at("dp", "has no epsilon, or persons in several groups")
        return layout.counts, 0, epsilon
    minimum = given.get("n")
    if type(minimum) is not int or minimum < 2 or given.keys() != {"n"}:
        raise NothingToCheckError.at("protect.minimum", "is not a minimum")
    return layout.counts, minimum, None


def _alone(layout: Layout) -> tuple[str, ...]:
    if layout.algorithm not in ALONE:
        raise NothingToCheckError.at("method", "is no method of a table of counts")
    if (layout.algorithm == "round") != (layout.counts is not None and bool(layout.counts.base)):
        raise NothingToCheckError.at("method", "has no base, or one too many")
    if layout.counts is None or (layout.algorithm == "dp") != (layout.counts.noise is not None):
        raise NothingToCheckError.at("method", "has no noise, or is said to have some")
    if (WITNESS in layout.tables) != ("witness_covers" in ALONE[layout.algorithm]):
        raise NothingToCheckError.at("method", "has no table of witnesses, or one too many")
    asked = ALONE[layout.algorithm]
    if layout.counts.zeros and "all_groups" not in asked:
        return (*asked, "all_groups")
    return asked


def _shared(view: Table, layout: Layout, counts: Counts, minimum: int) -> dict[str, Any]:
    named = layout.tables.get(WITNESS)
    return {
        "data": view,
        "witnesses": Table(named, view.schema, view.catalog) if named is not None else None,
        "finest": (0,) * len(counts.by) in counts.groupings,
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
        "least": counts.least,
        "noise": counts.noise,
        "label": "cell",
    }


def measures_sql(view: Table, counts: Counts) -> str:
    """The query for the figures of a manifest: cells, and persons left out."""
    persons, status = ident(counts.measures[counts.persons - 1].name), ident(counts.status)
    return (
        f"select count(*), cast(coalesce(sum(case when {status} = 'other' then {persons} end), 0)"
        f" as bigint) from {ident(view)}"
    )
