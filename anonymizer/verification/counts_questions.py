"""Questions about a table of counts: from the release alone, and against the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from anonymizer.compile import Sql, Table, ident, lit
from anonymizer.contract.counts_layout import (
    DOMINANCE,
    GROUPS,
    INTERVALS,
    MINIMUM,
    PRIVACY_LOSS,
    REQUIRED,
    CountedMeasure,
    Counts,
)
from anonymizer.contract.layout import Layout, Requirement
from anonymizer.errors import NothingToCheckError
from anonymizer.policy.aggregate import WITNESS
from anonymizer.verification.questions import FigureColumn, Question, condition

FORM = ("cell_form", "cell_once", "no_reason", "no_small_cells")
ALL_GROUPS = "all_groups"
ALONE: Mapping[str, tuple[str, ...]] = {
    "rest": (*FORM, "additive", "other_room"),
    "suppress": (*FORM, "one_step", "witness_whole", "witness_agrees", "witness_covers"),
    "round": (*FORM, "additive", "rounded"),
    "dp": (*FORM[:-1], ALL_GROUPS, "additive", "budget"),
}
"""By method: the checks of a table of counts."""
SPENT = FigureColumn("achieved", "greatest")
OF_MINIMUM = ("no_small_cells", "one_step")
"""The checks whose figure is compared with the minimum."""
AGAINST_SOURCE = ("source_cells", "source_hidden")
"""The checks that only a run can make, of methods that publish true figures."""
EXACT = ("rest", "suppress")
SOLVED = "suppress"
"""The method whose sums readers can bound with a solver."""
GROUPS_SHARE = "groups_share"
SOURCE_DOMINANCE = "source_dominance"
"""The checks of requirements that not every table of counts has."""


def checks_alone(
    method: str, requirements: Sequence[Requirement], *, zeros: bool
) -> tuple[str, ...]:
    """The checks that the release alone answers. `zeros`: whether it lists every group."""
    limited = any(item.name == GROUPS for item in requirements)
    more = {ALL_GROUPS: zeros, GROUPS_SHARE: limited}
    return tuple(dict.fromkeys((*ALONE[method], *(name for name in more if more[name]))))


def checks_of_source(method: str, requirements: Sequence[Requirement]) -> tuple[str, ...]:
    """The checks that compare the release with its source."""
    if method not in EXACT:
        return ()
    ruled = any(item.name == DOMINANCE for item in requirements)
    known = any(item.parameters.get("insiders") for item in requirements)
    intervals = INTERVALS[: 1 + known] if method == SOLVED else ()
    return (*AGAINST_SOURCE, *((SOURCE_DOMINANCE, *intervals) if ruled else ()))


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A column of groups in the snapshot: its value, and how the labels of its levels are made."""

    value: Sql
    texts: tuple[Sql, ...]
    """The labels by level, over `s` and the joined hierarchies."""
    hierarchy: Table | None = None
    joins: tuple[tuple[Sql, Sql, int], ...] = ()
    """For each level of the hierarchy: an alias, the value, and the level."""


@dataclass(frozen=True, slots=True)
class SourceSum:
    """What a measure adds up in the snapshot: a column of it, or the rows of a person."""

    measure: str
    value: Sql | None
    """None for rows."""


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
    ) + tuple(_shares(counts, parameters, requirements))


def _shares(
    counts: Counts, parameters: Mapping[str, Any], requirements: Sequence[Requirement]
) -> Iterator[Question]:
    """The questions for the largest share of one value in a published group."""
    names = [d.name for d in counts.by]
    for item in requirements:
        if item.name == GROUPS:
            share = item.parameters.get("share")
            if item.column not in names or not isinstance(share, float) or not 0 < share <= 1:
                raise NothingToCheckError.at("protect.groups", "is no share of a column of groups")
            limited = names.index(item.column) + 1
            others = [i for i in range(1, len(names) + 1) if i != limited]
            asked = {**parameters, "share": share, "limited": limited, "others": others}
            most = (FigureColumn("achieved", "greatest"),)
            yield Question(GROUPS_SHARE, item.column, share, "counts_groups_share", asked, most)


@dataclass(frozen=True, slots=True)
class SourceQuestions:
    """What only a run can ask."""

    asked: tuple[Question, ...]
    sums: Question | None
    """The sums of the cells, for `counts_intervals`."""


def source_questions(
    view: Table,
    layout: Layout,
    requirements: Sequence[Requirement],
    snapshot: Table,
    columns: Sequence[SourceColumn],
    sums: Sequence[SourceSum] = (),
    *,
    person: bool,
    contributor: Sql | None = None,
) -> SourceQuestions:
    """The questions that compare the release with the snapshot.

    `contributor`: its column of the snapshot; None if every row is of another one.
    """
    counts, minimum, _ = _asked(layout, requirements)
    shared = _shared(view, layout, counts, minimum)
    by = [
        {
            "name": d.name,
            "level": d.level,
            "levels": d.levels,
            "multiple": d.multiple,
            "value": column.value,
            "texts": column.texts,
            "hierarchy": column.hierarchy,
            "joins": column.joins,
        }
        for d, column in zip(counts.by, columns, strict=True)
    ]
    rules = [item.parameters for item in requirements if item.name == DOMINANCE]
    added = {one.measure: (f"t{i}", one) for i, one in enumerate(sums, 1)}
    if bool(rules) != bool(sums):
        raise NothingToCheckError.at("protect.dominance", "does not go with the sums")
    parameters = {
        **shared,
        "by": by,
        "snapshot": snapshot,
        "hierarchies": [c.hierarchy for c in columns if c.hierarchy is not None],
        "values": [column.value for column in columns],
        "person": person,
        "contributor": contributor,
        "limits": any(item.name == GROUPS for item in requirements),
        "sums": [
            {
                "name": Sql(name),
                "added": _added(one, contributor),
                "dominated": Sql(_dominated(name, rules[0])),
                "needed": Sql(_needed(name, rules[0])),
            }
            for name, one in added.values()
        ],
        "recounted": [
            _recounted(one, added[one.name][0] if one.name in added else None)
            for one in counts.measures
            if one.of != "ratio"
        ],
    }
    every = checks_of_source(layout.algorithm, requirements)
    asked = [name for name in every if name not in INTERVALS]
    return SourceQuestions(
        tuple(condition(name, None, parameters, template=f"counts_{name}") for name in asked),
        condition(INTERVALS[0], None, parameters, template="counts_sums_in_source")
        if INTERVALS[0] in every
        else None,
    )


def _added(one: SourceSum, contributor: Sql | None) -> Sql:
    if one.value is None:
        return Sql("count(*)")
    return Sql(f"coalesce({one.value if contributor is None else f'sum({one.value})'}, 0)")


def _dominated(name: str, rule: Mapping[str, Any]) -> str:
    """Whether the largest contributions are too large, over those of a group and their places."""
    if "p" in rule:
        left = f"cast(sum(abs({name})) - {_first(name, 2)} as double)"
        return f"100 * {left} < {lit(float(rule['p']))} * cast({_first(name, 1)} as double)"
    most = f"100 * cast({_first(name, int(rule['n']))} as double)"
    return f"{most} > {lit(float(rule['k']))} * cast(sum(abs({name})) as double)"


def _needed(name: str, rule: Mapping[str, Any]) -> str:
    """How much larger the sum has to be able to be."""
    whole = f"cast(sum(abs({name})) as double)"
    if "p" in rule:
        largest = f"cast({_first(name, 1)} as double)"
        left = f"cast(sum(abs({name})) - {_first(name, 2)} as double)"
        return f"{lit(float(rule['p']))} / 100 * {largest} - {left}"
    most = f"cast({_first(name, int(rule['n']))} as double)"
    return f"100 / {lit(float(rule['k']))} * {most} - {whole}"


def _first(name: str, n: int) -> str:
    return f"sum(case when place_{name} <= {n} then abs({name}) else 0 end)"


def _recounted(one: CountedMeasure, name: str | None) -> dict[str, Sql]:
    """A measure over the groups of the source, and over those that are left out."""
    of_counts = "persons" if one.of == "persons" else "counted"
    other = f"(select {name} from absent_sums)" if name is not None else f"sum({of_counts})"
    return {"shown": Sql(name or of_counts), "other": Sql(other), "kind": Sql(one.sql_type)}


def _asked(layout: Layout, requirements: Sequence[Requirement]) -> tuple[Counts, int, float | None]:
    """The form of the counts, and the required minimum, or, if they have noise, epsilon."""
    noise = layout.counts is not None and layout.counts.noise is not None
    lead, allowed = (PRIVACY_LOSS, (PRIVACY_LOSS,)) if noise else (MINIMUM, REQUIRED)
    asked = [item for item in requirements if item.name == lead]
    others = [item for item in requirements if item.name not in allowed]
    rules = [item.parameters for item in requirements if item.name == DOMINANCE]
    if layout.counts is None or others or len(asked) != 1 or len(rules) > 1:
        said = "is a table of counts, for which one minimum is required, and rules of counts"
        raise NothingToCheckError.at("protect", said, hint="was it made by this tool?")
    _refuse_odd(layout.counts.measures, rules)
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


def _refuse_odd(measures: Sequence[CountedMeasure], rules: Sequence[Mapping[str, Any]]) -> None:
    """Raise NothingToCheckError for sums without a rule, and ratios of other figures."""
    terms = [{*rule} - {"insiders"} for rule in rules]
    summed = any(one.of == "sum" for one in measures)
    if any(one not in ({"p"}, {"n", "k"}) for one in terms) or summed > bool(rules):
        raise NothingToCheckError.at("protect.dominance", "is no rule for the sums")
    plain = {one.name for one in measures if one.of != "ratio"}
    for one in measures:
        if len(one.parts) != 2 * (one.of == "ratio") or not {*one.parts} <= plain:
            raise NothingToCheckError.at("aggregate.measures", "have a ratio of other figures")


def _alone(layout: Layout) -> tuple[str, ...]:
    if layout.algorithm not in ALONE:
        raise NothingToCheckError.at("method", "is no method of a table of counts")
    if (layout.algorithm == "round") != (layout.counts is not None and bool(layout.counts.base)):
        raise NothingToCheckError.at("method", "has no base, or one too many")
    shared = [d for d in layout.counts.by if d.multiple] if layout.counts is not None else []
    if len(shared) > (layout.algorithm == "suppress") or any(d.levels > 1 for d in shared):
        raise NothingToCheckError.at("aggregate.by", "has groups that share persons")
    if layout.counts is None or (layout.algorithm == "dp") != (layout.counts.noise is not None):
        raise NothingToCheckError.at("method", "has no noise, or is said to have some")
    if (WITNESS in layout.tables) != ("witness_covers" in ALONE[layout.algorithm]):
        raise NothingToCheckError.at("method", "has no table of witnesses, or one too many")
    return checks_alone(layout.algorithm, (), zeros=layout.counts.zeros)


def _figures(counts: Counts) -> list[dict[str, Any]]:
    """What the figures of a row must be."""
    names = [one.name for one in counts.measures]
    found: list[dict[str, Any]] = []
    for number, one in enumerate(counts.measures, 1):
        least = counts.least if one.of != "sum" else 0 if one.nonnegative else None
        places = [Sql(str(names.index(part) + 1)) for part in one.parts]
        above, below = (Sql(f"m{at}") for at in places) if places else (None, None)
        judged = number == counts.persons
        found.append(
            {"kind": one.of, "least": least, "judged": judged, "above": above, "below": below}
        )
    return found


def _shared(view: Table, layout: Layout, counts: Counts, minimum: int) -> dict[str, Any]:
    named = layout.tables.get(WITNESS)
    return {
        "data": view,
        "witnesses": Table(named, view.schema, view.catalog) if named is not None else None,
        "finest": (0,) * len(counts.by) in counts.groupings,
        "multiple": any(d.multiple for d in counts.by),
        "by": [
            {
                "index0": number,
                "name": d.name,
                "level": d.level,
                "levels": d.levels,
                "paths": d.paths,
                "multiple": d.multiple,
            }
            for number, d in enumerate(counts.by)
        ],
        "measures": [one.name for one in counts.measures],
        "every": range(1, len(counts.measures) + 1),
        "witnessed": [counts.persons],
        "figures_of_row": _figures(counts),
        "added": [i for i, one in enumerate(counts.measures, 1) if one.of != "ratio"],
        "persons": counts.persons,
        "margins": [[lit(level) for level in levels] for levels in counts.groupings],
        "status": counts.status,
        "listed": counts.list_hidden,
        "minimum": minimum,
        "zeros": counts.zeros,
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
