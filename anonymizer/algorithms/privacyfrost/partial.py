"""Partial domains: specializes each class of the best table further if all of its parts hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anonymizer.algorithms.lattice.packing import Packing
from anonymizer.algorithms.lattice.publish import CLASS_LEVELS
from anonymizer.algorithms.lattice.recode import TUPLES
from anonymizer.algorithms.partition.partition import MEMBERS
from anonymizer.algorithms.privacyfrost.columns import Searched
from anonymizer.algorithms.privacyfrost.rules import judged_by
from anonymizer.algorithms.privacyfrost.search import DEPTHS, STATE
from anonymizer.compile import Sql, work
from anonymizer.policy import Policy
from anonymizer.source.roles import Roles
from anonymizer.steps import Loop, Stage, Step

DIVIDED = work("divided_classes")
OPEN = work("open_classes")

RECURSIVE_UP_TO = 1_000_000
"""Number of rows up to which one recursive statement divides classes, with the same result."""
IN_TURN_FROM = 50_000
"""Number of rows from which the columns of a class are judged in turn, the largest gain first. With
rules that compare distributions, this is done for any table. The classes are the same.
"""


def class_stages(
    policy: Policy,
    roles: Roles,
    columns: Sequence[Searched],
    packed: Packing,
    k: int,
    *,
    partial: bool,
    rows: int,
) -> tuple[Stage, ...]:
    """Stages that write `members` and `class_levels`.

    With `partial` every class is specialized separately, all in parallel: a column whose values are
    all under one node takes that node; of the columns that can be divided so that every part holds,
    the one with the most parts, weighted by priority, is divided, until none can.
    """
    keys = [Sql("class_id"), Sql("attribute"), Sql("child")]
    rules = judged_by(policy, roles, keys)
    context: dict[str, Any] = {
        "attributes": list(columns),
        "by_rank": sorted(columns, key=lambda a: a.rank),
        "words": packed.words,
        "tuples": TUPLES,
        "depths": DEPTHS,
        "state": STATE,
        "divided": DIVIDED,
        "members": MEMBERS,
        "class_levels": CLASS_LEVELS,
        "k": k,
        "child": Sql(" + ".join(f"(o.{word.w} & m.{word.m})" for word in packed.words)),
        "protections": rules,
        "keys": keys,
        "references": [rule.reference for rule in rules],
        "cells": [rule.cells for rule in rules],
        "in_turn": bool(rules) and (rows >= IN_TURN_FROM or any(rule.dear for rule in rules)),
        "partial": partial,
    }
    dividing: tuple[Stage, ...] = ()
    levels = sum(len(a.fields) for a in columns)
    if partial and levels:
        recursive = rows <= RECURSIVE_UP_TO
        dividing = _recursive(context) if recursive else _driven(context, levels + 1)
    return (
        Step("classes", "privacyfrost/classes.sql.j2", context),
        *dividing,
        Step("classes of units", "privacyfrost/members.sql.j2", context),
        Step("levels of classes", "privacyfrost/class_levels.sql.j2", context),
    )


def _recursive(context: dict[str, Any]) -> tuple[Stage, ...]:
    own = {**context, "open": Sql("division")}
    return (Step("partial-domain de-generalization", "privacyfrost/partial.sql.j2", own),)


def _driven(context: dict[str, Any], at_most: int) -> tuple[Stage, ...]:
    own = {**context, "open": OPEN}
    return (
        Step("open classes", "privacyfrost/open.sql.j2", own),
        Loop(
            "partial-domain de-generalization",
            (
                Step("divide classes", "privacyfrost/divide.sql.j2", own),
                Step("name parts", "privacyfrost/rename.sql.j2", own),
            ),
            until=Step("undivided", "privacyfrost/undivided.sql.j2", own),
            at_most=at_most,
        ),
    )
