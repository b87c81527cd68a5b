"""The stages that divide a table into parts.

A tree of coarse cuts is made from a sample of the distinct tuples, by the templates that cut
classes, with half the size of a part instead of k. One statement gives every tuple its leaf, and
numbers the units in the order of the leaves, so that a part is a range of units. The guarantees
are then judged on all tuples of every node of the tree, and a part that fails is merged with its
sibling. Rules that compare a class with the whole table do so in every part, since each part gets
the distribution of the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.partition.partition import (
    MEMBERS,
    POSITIONS,
    Partitioning,
    choice,
    context_of,
)
from anonymizer.algorithms.persons.judging import Judging
from anonymizer.algorithms.persons.rules import HOLDINGS, PAIRS, SETS
from anonymizer.algorithms.population import COMPARED
from anonymizer.algorithms.population import TUPLES as POPULATION
from anonymizer.algorithms.split.size import BITS, Split
from anonymizer.algorithms.split.tree import leaf_sql, nodes_of, parts_of
from anonymizer.compile import Sql, work
from anonymizer.source.profile import Attribute
from anonymizer.steps import Composed, Compute, Loop, Parts, Row, Stage, Step

LEAVES = work("leaves_of_cuts")
NODES = work("nodes_of_cuts")
VERDICTS = work("verdicts_on_nodes")
KINDS = 1 << 20
"""More than the number of patterns in a table."""


def judging_stages(how: Partitioning) -> tuple[Stage, ...]:
    """Stages that write the verdict on every node."""
    shared = {"nodes": NODES, "leaves": LEAVES, "units": UNITS, "apart": how.apart}
    persons, judging = _of_persons(how, shared)
    compared: tuple[Stage, ...] = ()
    if how.population is not None:
        context = {**how.population.context(), **shared}
        compared = (Step("nodes in the population", "split/population_verdicts.sql.j2", context),)
    judged = {
        **shared,
        **persons,
        "k": how.k,
        "verdicts": VERDICTS,
        "protections": how.protections,
        "cells": [p.cells for p in how.protections],
        "references": [p.reference for p in how.protections],
        "compared": COMPARED if compared else None,
    }
    return (*judging, *compared, Step("guarantees in the nodes", "split/verdicts.sql.j2", judged))


def _of_persons(
    how: Partitioning, shared: Mapping[str, Any]
) -> tuple[Mapping[str, Any], tuple[Stage, ...]]:
    if how.persons is None or not how.persons.rules:
        return {"persons": []}, ()
    leaves, nodes = Judging(how.persons, "asked_leaves"), Judging(how.persons, "asked_nodes")
    node = Sql("grp") if how.apart is None else Sql(f"cast(floor(grp / {KINDS}) as bigint)")
    told = {**shared, "most_kinds": KINDS, "node": node, "verdicts": leaves.verdicts}
    stages: tuple[Stage, ...] = (
        Step("leaves to judge", "split/asked_leaves.sql.j2", {**told, "asked": leaves.asked}),
        leaves.counts(),
        Step("nodes to judge", "split/asked_nodes.sql.j2", {**told, "asked": nodes.asked}),
        nodes.counts(),
    )
    return {"persons": [leaves.verdicts, nodes.verdicts], "node": node}, stages


TUPLES = work("tuples")
SAMPLE = work("sampled_tuples")
TREE = work("coarse_cuts")
PARTS = work("parts")


def divided_units(
    attributes: Sequence[Attribute], units: Step, split: Split, how: Partitioning
) -> tuple[Stage, ...]:
    """Stages that replace the step `units`, and write the distinct tuples in order of leaves."""
    coarse = replace(
        how,
        k=max(split.sampled // 2, 1),
        strict=True,
        protections=(),
        persons=None,
        population=None,
    )
    context = {
        **context_of(attributes, coarse, split.sample),
        "units": SAMPLE,
        "tuples": TUPLES,
        "sample": SAMPLE,
        "tree": TREE,
        "above": split.above,
        "threshold": split.threshold,
        "bits": 128 - BITS,
        "unpacked": units.parameters["unpacked"],
        "apart": how.apart,
    }
    return (
        Step(units.name, "split/tuples.sql.j2", {**units.parameters, "tuples": TUPLES}),
        Step("a sample of tuples", "split/sample.sql.j2", context),
        Step("places in the domains", "mondrian/positions.sql.j2", context),
        Step("the sample as one class", "mondrian/open.sql.j2", context),
        Step("no coarse cuts yet", "split/no_tree.sql.j2", context),
        Loop(
            "coarse cuts",
            (
                *choice(coarse, context),
                Step("coarse cuts of a level", "split/grow_tree.sql.j2", context),
                Step("apply coarse cuts", "mondrian/apply_cuts.sql.j2", context),
            ),
            until=Step("large classes", "mondrian/open_classes.sql.j2", context),
            at_most=split.sample,
            asked_first=True,
        ),
        _numbered(attributes, units.parameters, context),
        Step("release memory", "prepare/forget.sql.j2", {"spent": TUPLES}),
        Step("leaves", "split/leaves.sql.j2", {"units": UNITS, "leaves": LEAVES}),
    )


def _numbered(
    attributes: Sequence[Attribute], units: Mapping[str, Any], context: Mapping[str, Any]
) -> Composed:
    def compose(rows: list[Row]) -> Step:
        leaf = leaf_sql(attributes, rows, context["apart"])
        parameters = {**units, "tuples": TUPLES, "leaf": leaf}
        return Step("units in order of leaves", "split/units.sql.j2", parameters)

    return Composed(Step("tree of coarse cuts", "split/tree.sql.j2", context), compose)


def judged_parts(how: Partitioning, split: Split) -> tuple[Stage, ...]:
    """Stages that find the parts: nodes of the tree that satisfy every guarantee."""

    def nodes(rows: list[Row]) -> list[Row]:
        """The nodes of the tree as ranges of leaves."""
        return list(nodes_of(rows, split.sampled))

    def parts(rows: list[Row]) -> list[Row]:
        """The parts; one that fails a guarantee is merged with its sibling."""
        return parts_of(rows)

    numbers = ("BIGINT",) * 4
    return (
        Compute(
            Step("nodes of the tree", "split/tree.sql.j2", {"tree": TREE}),
            nodes,
            NODES,
            tuple(zip(("node", "parent", "first_leaf", "last_leaf"), numbers, strict=True)),
        ),
        *judging_stages(how),
        Compute(
            Step("nodes that hold", "split/judged.sql.j2", {"verdicts": VERDICTS}),
            parts,
            PARTS,
            (("part", "BIGINT"), ("first_leaf", "BIGINT"), ("last_leaf", "BIGINT")),
        ),
    )


def in_parts(
    attributes: Sequence[Attribute],
    how: Partitioning,
    split: Split,
    stages: tuple[Stage, ...],
    whole: tuple[Stage, ...],
    *,
    by_draw: bool = False,
) -> Parts:
    """The stage that solves every part by `stages`, or all units by `whole` as the only part.

    `by_draw`: the stages read the draws of units, and read positions from the domains themselves.
    """
    context = {
        "attributes": tuple(attributes),
        "codes": [a.c for a in attributes],
        "carried": [*([how.apart] if how.apart else []), *([Sql("draw")] if by_draw else [])],
        "units": UNITS,
        "positions": POSITIONS,
        "members": MEMBERS,
        "leaves": LEAVES,
        "parts": PARTS,
    }
    taken = {
        UNITS: Step("units of a part", "split/units_of_part.sql.j2", context, _BOUNDS),
        POSITIONS: Step("places of a part", "split/positions_of_part.sql.j2", context, _BOUNDS),
    }
    for a in attributes if by_draw else ():
        domain = {**context, "domain": a.domain, "code": a.c}
        taken[a.domain] = Step(
            f"values of {a.column} in a part", "split/domain_of_part.sql.j2", domain, _BOUNDS
        )
    by_unit = [p.cells for p in how.protections]
    if how.persons is not None and how.persons.rules:
        by_unit += [HOLDINGS, SETS, PAIRS]
    if how.population is not None:
        taken[POPULATION] = Step(
            "population of a part",
            "split/population_of_part.sql.j2",
            how.population.context(),
            _BOUNDS,
        )
        by_unit += [how.population.extents] if how.population.extents != UNITS else []
    for table in by_unit:
        cells = {"cells": table}
        taken[table] = Step("values of a part", "split/cells_of_part.sql.j2", cells, _BOUNDS)
    return Parts(
        "solve parts",
        bounds=Step("parts as ranges of units", "split/parts.sql.j2", context),
        stages=stages,
        whole=whole,
        taken=taken,
        result=MEMBERS,
        gathered=Step("no classes yet", "split/members.sql.j2", context),
        at_most=split.at_most,
        size=split.size,
        above=split.above,
    )


_BOUNDS = ("first", "last")
