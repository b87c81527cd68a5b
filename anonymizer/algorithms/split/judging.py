"""Judges whether each node of the tree, as one class, satisfies the guarantees.

Rules on persons are preserved under union, so the leaves are judged first, and of the other nodes
only those that contain a failing leaf. Cases that counts leave undecided count as failed, which
makes parts larger. Models of a population are judged by the cells that every node would publish.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.partition.partition import Partitioning
from anonymizer.algorithms.persons.judging import Judging
from anonymizer.algorithms.population import COMPARED
from anonymizer.compile import Sql, work
from anonymizer.steps import Stage, Step

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
    return (
        *judging,
        *compared,
        Step("guarantees in the nodes", "split/verdicts.sql.j2", judged),
    )


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
