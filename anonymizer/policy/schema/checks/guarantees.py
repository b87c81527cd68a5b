"""Checks of guarantees: k is stated, and `knows` refers to something in the policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from anonymizer.errors import Problem

if TYPE_CHECKING:
    from anonymizer.policy.schema.fields import SchemaFields


OF_PERSONS = {"k_anonymity", "ir_k"}
"""Guarantees about persons, not values."""


def k_needed(policy: SchemaFields) -> Iterator[Problem]:
    """Every guarantee for several tables needs k persons."""
    if policy.privacy.k_anonymity is None:
        said = "is missing: with several tables at least k persons share what is known"
        hint = "privacy: {k_anonymity: 5}, or preset: internal"
        yield Problem("privacy.k_anonymity", said, hint=hint)


def something_to_know(policy: SchemaFields) -> Iterator[Problem]:
    """`knows` refers to columns, rows and rules that the policy has."""
    knows = policy.privacy.knows
    if knows.events and policy.tables and not policy.events:
        said = "is about event columns, and there is none"
        hint = "role: event for what somebody may know of a row"
        yield Problem("privacy.knows.events", said, "0", hint)
    if knows.rows and len(policy.tables) == 1:
        said = "is about the rows of other tables, and there is none"
        yield Problem("privacy.knows.rows", said, "false")
    if knows.sensitive and not knows.anything:
        said = "is about the persons who remain when rows are known, and none may be"
        hint = "knows: {events: 1, sensitive: true}"
        yield Problem("privacy.knows.sensitive", said, "false", hint)
    elif knows.sensitive and not _rules(policy):
        said = "is about the rules of sensitive columns, and there is none"
        hint = "protect: {l_diversity: 3} at a sensitive column"
        yield Problem("privacy.knows.sensitive", said, "false", hint)


def _rules(policy: SchemaFields) -> bool:
    """Whether any rule concerns the values of a sensitive column."""
    if any(table.protected for table in policy.tables.values()):
        return True
    return bool(policy.sensitive and set(policy.privacy.guarantees) - OF_PERSONS)


def as_tree(policy: SchemaFields) -> Iterator[Problem]:
    """Options of mondrian that the tree of classes of whole tuples does not support."""
    if policy.algorithm.must_refine:
        said = "gives rows better classes within one table, not with several tables"
        yield Problem("algorithm.refine", said, "auto, 0", "leave refine out")
    if policy.algorithm.must_divide:
        said = "divides one table, and not several together"
        yield Problem("algorithm.part_size", said, "auto, all", "leave part_size out")
    if not policy.algorithm.strict:
        said = "parts persons with equal quasi-identifiers, who stay together with several tables"
        yield Problem("algorithm.strict", said, "true", "leave strict out")
    if policy.algorithm.loop == "recursive":
        said = "keeps no tree of cuts, which several tables need"
        yield Problem("algorithm.loop", said, "auto, driven", "leave loop out")
