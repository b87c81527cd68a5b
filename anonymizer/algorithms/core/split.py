"""Divide a large table into parts, which are solved separately."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Literal, TypeAlias

from anonymizer.algorithms.core.encode import UNITS
from anonymizer.algorithms.core.partition import (
    MEMBERS,
    POSITIONS,
    Partitioning,
    choice,
    context_of,
)
from anonymizer.algorithms.core.person_rules import HOLDINGS, PAIRS, SETS, Judging
from anonymizer.algorithms.core.population import COMPARED
from anonymizer.algorithms.core.population import TUPLES as POPULATION
from anonymizer.compile import Sql, lit, work
from anonymizer.source.profile import Attribute, TableProfile
from anonymizer.steps import Composed, Compute, Embedded, Loop, Parts, Row, Stage, Step

# Decides whether a table is divided into parts, and how large a part is.


PartSize: TypeAlias = int | Literal["auto", "all"]
"""The option of the policy."""

AUTO = 250_000
"""Distinct tuples per part with `part_size: auto`: about 250 MB of memory."""
ABOVE = 500_000
"""Number of distinct tuples up to which a table is then solved in one piece."""
SAMPLED = 500
"""Sampled tuples per part, which predict the size of a part to about 5 percent."""
BITS = 32
"""Leading bits of a draw that decide whether a tuple is sampled."""


@dataclass(frozen=True, slots=True)
class Split:
    """The division of a table. It only depends on the policy and the number of rows, so that the
    release does not depend on memory and processors.
    """

    size: int
    """Target number of distinct tuples per part; a part may have a few percent more."""
    above: int
    """Number of distinct tuples up to which the table is one part."""
    rows: int
    """Number of rows of the table, at least the number of distinct tuples."""

    @property
    def at_most(self) -> int:
        """Most parts of the table, if all tuples differ and no part has to be larger."""
        return math.ceil(2 * self.rows / self.size)

    @property
    def sample_size(self) -> int:
        """Number of tuples per part in the sample."""
        return min(self.size, SAMPLED)

    @property
    def threshold(self) -> int:
        """Draws, as numbers of `BITS` bits, below this are in the sample."""
        return self.sample_size * (1 << BITS) // self.size

    @property
    def sample(self) -> int:
        """Largest expected number of tuples in the sample."""
        return max(self.rows * self.sample_size // self.size, 2)


def split_of(part_size: PartSize, profile: TableProfile) -> Split | None:
    """The division of a table; None if it is not divided."""
    rows = profile.rows or 0
    if part_size == "all" or not profile.in_parts:
        return None
    size, above = (AUTO, ABOVE) if part_size == "auto" else (part_size, part_size)
    return Split(size, above, rows) if rows > above else None


# Converts the tree of coarse cuts from rows to an expression for a tuple's leaf, and to nodes.
#
# A node has the number of its first leaf and a level; of the two halves of a cut the left one keeps
# the number, and the right one starts after the sampled tuples of the left. Leaves are numbered
# from left to right, so that a node is a range of leaves.
#
# If no class may mix tuples of different groups (patterns), every group has a separate tree: rows
# of level 0 have the group as `code`, and its first leaf as node. Above these trees are nodes that
# contain several groups, down to the size of a part. Groups without sampled tuples share the leaf
# before the first.


FIRST = 1
LAST = (1 << 62) - 1
"""A number greater than every leaf."""
BEFORE = 0
"""Leaf of the groups without sampled tuples."""
DEEPEST = 200
"""Most levels of cuts that are used, since the nesting of expressions is limited."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One row of the tree."""

    attribute: int
    code: int
    single: bool
    """True if one code is separated from all others, instead of lower from higher codes."""
    right: int
    """Number of the right half."""


@dataclass(frozen=True, slots=True)
class Group:
    """A set of tuples that no class mixes with others."""

    code: int
    first: int
    """Number of its first leaf."""
    sample_size: int
    """Number of its tuples in the sample."""


def groups_of(rows: Sequence[Row]) -> list[Group]:
    """The groups of the sample, in the order of their leaves."""
    found = [Group(code, node, n) for level, node, _, code, _, n in rows if level == 0]
    return sorted(found, key=lambda group: group.first)


def cuts_of(rows: Sequence[Row]) -> dict[tuple[int, int], Cut]:
    """The cuts by level and node. `rows`: level, node, attribute, code, single, units left."""
    return {
        (level, node): Cut(attribute, code, single, node + left)
        for level, node, attribute, code, single, left in rows
        if 0 < level <= DEEPEST
    }


def leaf_sql(attributes: Sequence[Attribute], rows: Sequence[Row], apart: Sql | None = None) -> Sql:
    """The number of the leaf of a tuple of codes; `apart` is the column of its group."""
    cuts = cuts_of(rows)
    codes = {a.index: str(a.c) for a in attributes}

    def below(level: int, node: int) -> str:
        cut = cuts.get((level, node))
        if cut is None:
            return lit(node).text
        sign = "=" if cut.single else "<="
        return (
            f"case when {codes[cut.attribute]} {sign} {lit(cut.code)}"
            f" then {below(level + 1, node)} else {below(level + 1, cut.right)} end"
        )

    groups = groups_of(rows)
    if apart is None or not groups:
        return Sql(f"cast({below(1, FIRST)} as bigint)")
    whens = " ".join(f"when {lit(g.code)} then {below(1, g.first)}" for g in groups)
    return Sql(f"cast(case {apart} {whens} else {lit(BEFORE)} end as bigint)")


def nodes_of(rows: Sequence[Row], sampled: int = 0) -> Iterator[Row]:
    """Every node: its number, its parent's, its first and its last leaf; the root comes first.

    Several groups are not divided if they have at most `sampled` tuples of the sample in total.
    """
    cuts = cuts_of(rows)
    groups = groups_of(rows)
    # the groups of a node, or its level if it is within one group or there are no groups
    start = BEFORE if groups else FIRST
    waiting: list[tuple[list[Group] | int, int, int, int]] = [(groups or 1, start, LAST, 0)]
    number = 0
    while waiting:
        within, first, last, parent = waiting.pop()
        number += 1
        yield (number, parent, first, last)
        if isinstance(within, list) and len(within) > 1:
            if sum(group.sample_size for group in within) > sampled:
                middle = _middle(within)
                right = within[middle].first
                waiting.append((within[middle:], right, last, number))
                waiting.append((within[:middle], first, right - 1, number))
            continue
        level = within if isinstance(within, int) else 1
        node = within[0].first if isinstance(within, list) else max(first, FIRST)
        cut = cuts.get((level, node))
        if cut is not None:
            waiting.append((level + 1, cut.right, last, number))
            waiting.append((level + 1, first, cut.right - 1, number))


def _middle(groups: Sequence[Group]) -> int:
    """The index at which groups are divided, so that both halves have about as many tuples."""
    *left, whole = accumulate(group.sample_size for group in groups)
    return 1 + min(range(len(left)), key=lambda i: abs(2 * left[i] - whole))


def parts_of(rows: Sequence[Row]) -> list[Row]:
    """The parts: the last nodes that are reached only by cuts whose halves both hold.

    `rows`: node, parent, first leaf, last leaf, whether every guarantee holds. Returns number,
    first and last leaf.
    """
    halves: dict[int, list[Row]] = {}
    for row in rows:
        halves.setdefault(row[1], []).append(row)
    found: list[Row] = []
    waiting = list(halves.get(0, ()))
    while waiting:
        node, _, first, last, _ = waiting.pop()
        below = halves.get(node, [])
        if below and all(row[4] for row in below):
            waiting += sorted(below, key=lambda row: -row[2])
        else:
            found.append((len(found) + 1, first, last))
    return found


# The stages that divide a table into parts.
#
# A tree of coarse cuts is made from a sample of the distinct tuples, by the templates that cut
# classes, with half the size of a part instead of k. One statement gives every tuple its leaf, and
# numbers the units in the order of the leaves, so that a part is a range of units. The guarantees
# are then judged on all tuples of every node of the tree, and a part that fails is merged with its
# sibling. Rules that compare a class with the whole table do so in every part, since each part gets
# the distribution of the table.


LEAVES = work("leaves_of_cuts")
NODES = work("nodes_of_cuts")
VERDICTS = work("verdicts_on_nodes")
KINDS = 1 << 20
"""More than the number of patterns in a table."""


def judging_stages(how: Partitioning) -> tuple[Stage, ...]:
    """Stages that write the verdict on every node."""
    shared = {"nodes": NODES, "leaves": LEAVES, "units": UNITS, "apart": how.separator}
    persons, judging = _of_persons(how, shared)
    compared: tuple[Stage, ...] = ()
    if how.population is not None:
        context = {**how.population.context(), **shared}
        compared = (Step("nodes in the population", "split/population_verdicts", context),)
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
    return (*judging, *compared, Step("guarantees in the nodes", "split/verdicts", judged))


def _of_persons(
    how: Partitioning, shared: Mapping[str, Any]
) -> tuple[Mapping[str, Any], tuple[Stage, ...]]:
    if how.persons is None or not how.persons.rules:
        return {"persons": []}, ()
    leaves, nodes = Judging(how.persons, "asked_leaves"), Judging(how.persons, "asked_nodes")
    node = Sql("grp") if how.separator is None else Sql(f"cast(floor(grp / {KINDS}) as bigint)")
    told = {**shared, "most_kinds": KINDS, "node": node, "verdicts": leaves.verdicts}
    stages: tuple[Stage, ...] = (
        Step("leaves to judge", "split/asked_leaves", {**told, "asked": leaves.groups}),
        leaves.counts(),
        Step("nodes to judge", "split/asked_nodes", {**told, "asked": nodes.groups}),
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
        k=max(split.sample_size // 2, 1),
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
        "apart": how.separator,
    }
    stages = (
        Step("a sample of tuples", "split/sample", context),
        Step("the sample as one class", "mondrian/open", context),
        Step("no coarse cuts yet", "split/no_tree", context),
        Loop(
            "coarse cuts",
            (
                *choice(coarse, context),
                Step("coarse cuts of a level", "split/grow_tree", context),
                Step("apply coarse cuts", "mondrian/apply_cuts", context),
            ),
            until=Step("large classes", "mondrian/open_classes", context),
            at_most=split.sample,
            asked_first=True,
        ),
        _tree_stage(attributes, units.parameters, context),
        Step("release memory", "prepare/forget", {"spent": TUPLES}),
        Step("leaves", "split/leaves", {"units": UNITS, "leaves": LEAVES}),
    )
    return (
        Step(units.name, "split/tuples", {**units.parameters, "tuples": TUPLES}),
        Step("places in the domains", "mondrian/positions", context),
        Embedded("coarse cuts", stages, (UNITS, LEAVES, TREE)),
    )


def _tree_stage(
    attributes: Sequence[Attribute], units: Mapping[str, Any], context: Mapping[str, Any]
) -> Composed:
    def compose(rows: list[Row]) -> Step:
        leaf = leaf_sql(attributes, rows, context["apart"])
        parameters = {**units, "tuples": TUPLES, "leaf": leaf}
        return Step("units in order of leaves", "split/units", parameters)

    return Composed(Step("tree of coarse cuts", "split/tree", context), compose)


def _find_parts(how: Partitioning, split: Split) -> tuple[Stage, ...]:
    """Stages that find the parts: nodes of the tree that satisfy every guarantee."""

    def nodes(rows: list[Row]) -> list[Row]:
        """The nodes of the tree as ranges of leaves."""
        return list(nodes_of(rows, split.sample_size))

    def parts(rows: list[Row]) -> list[Row]:
        """The parts; one that fails a guarantee is merged with its sibling."""
        return parts_of(rows)

    numbers = ("BIGINT",) * 4
    return (
        Compute(
            Step("nodes of the tree", "split/tree", {"tree": TREE}),
            nodes,
            NODES,
            tuple(zip(("node", "parent", "first_leaf", "last_leaf"), numbers, strict=True)),
        ),
        *judging_stages(how),
        Compute(
            Step("nodes that hold", "split/node_verdicts", {"verdicts": VERDICTS}),
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
) -> Embedded:
    """Stages that find the parts, and solve each by `stages`, or all units by `whole` as the only
    one.

    `by_draw`: the stages read the draws of units, and read positions from the domains themselves.
    """
    context = {
        "attributes": tuple(attributes),
        "codes": [a.c for a in attributes],
        "carried": [
            *([how.separator] if how.separator else []),
            *([Sql("draw")] if by_draw else []),
        ],
        "units": UNITS,
        "positions": POSITIONS,
        "members": MEMBERS,
        "leaves": LEAVES,
        "parts": PARTS,
    }
    taken = {
        UNITS: Step("units of a part", "split/units_of_part", context, _BOUNDS),
        POSITIONS: Step("places of a part", "split/positions_of_part", context, _BOUNDS),
    }
    for a in attributes if by_draw else ():
        domain = {**context, "domain": a.domain, "code": a.c}
        taken[a.domain] = Step(
            f"values of {a.column} in a part", "split/domain_of_part", domain, _BOUNDS
        )
    by_unit = [p.cells for p in how.protections]
    if how.persons is not None and how.persons.rules:
        by_unit += [HOLDINGS, SETS, PAIRS]
    if how.population is not None:
        taken[POPULATION] = Step(
            "population of a part",
            "split/population_of_part",
            how.population.context(),
            _BOUNDS,
        )
        by_unit += [how.population.extents] if how.population.extents != UNITS else []
    for table in by_unit:
        cells = {"cells": table}
        taken[table] = Step("values of a part", "split/cells_of_part", cells, _BOUNDS)
    parts = Parts(
        "solve parts",
        bounds=Step("parts as ranges of units", "split/parts", context),
        stages=stages,
        whole=whole,
        taken=taken,
        result=MEMBERS,
        gathered=Step("no classes yet", "split/members", context),
        at_most=split.at_most,
        size=split.size,
        above=split.above,
    )
    return Embedded("parts", (*_find_parts(how, split), parts), (MEMBERS,))


_BOUNDS = ("first", "last")
