"""Quasi-identifiers for the search, pre-sampling of rows, and the record of a search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from anonymizer.algorithms.core.compiled import Finding
from anonymizer.algorithms.core.encode import CODED
from anonymizer.algorithms.lattice.recode import Field, LatticeColumn, Packing, lattice_columns
from anonymizer.compile import Sql, Table, lit
from anonymizer.contract.rounding import coarse
from anonymizer.errors import GuaranteeError, PolicyError, Problem
from anonymizer.guarantees.rule import share_at_most
from anonymizer.policy import Policy, PrivacyFrost
from anonymizer.policy.paths import column_path
from anonymizer.source.roles import Roles
from anonymizer.steps import Guard, Row, Stage, Step

# The quasi-identifiers for the search: priorities, and levels counted from the root.


SMALLEST, LARGEST = Decimal("0.000001"), Decimal(10**12)
"""Bounds of priorities for which scores are exact in 38 digits with 12 decimals."""


@dataclass(frozen=True, slots=True)
class SearchColumn:
    """One quasi-identifier: its parameters in the search and its columns in the tables."""

    lattice_column: LatticeColumn
    rank: int
    """0 for the highest priority; equal priorities follow the order of the policy."""
    weight: Decimal
    """The priority v."""
    floor: int
    """The coarsest depth allowed (the paper's minimum level)."""
    sample_depth: int
    """The depth of the pre-sampling (the paper's u)."""
    fields: tuple[Field, ...]
    """Its fields in the packed tuples, from level 0 (the values) up."""

    @property
    def number(self) -> Sql:
        return self.lattice_column.number

    @property
    def height(self) -> int:
        return self.lattice_column.height

    @property
    def priority(self) -> Sql:
        return lit(self.weight)

    @property
    def depth(self) -> Sql:
        """Its depth in a table of the search."""
        return Sql(f"d{self.lattice_column.attribute.index}")

    @property
    def best(self) -> Sql:
        """Its depth in the best table so far."""
        return Sql(f"b{self.lattice_column.attribute.index}")

    @property
    def chosen(self) -> Sql:
        """Its depth in the table from which a step continues."""
        return Sql(f"chosen_{self.lattice_column.attribute.index}")

    @property
    def level(self) -> Sql:
        """Its level, counted from the values, in a class."""
        return self.lattice_column.level

    @property
    def domain(self) -> Table:
        return self.lattice_column.attribute.domain

    @property
    def c(self) -> Sql:
        return self.lattice_column.c

    @property
    def d(self) -> Sql:
        """Alias of its domain."""
        return self.lattice_column.attribute.d

    @property
    def g(self) -> Sql:
        """Its node at the levels of the pre-sampling."""
        return Sql(f"node_{self.lattice_column.attribute.index}")

    @property
    def node(self) -> Sql:
        """Expression over its domain: its node at the depth of the pre-sampling."""
        level = self.height - self.sample_depth
        if level == 0:
            return Sql(f"{self.d}.code")
        return Sql("0") if level == self.height else Sql(f"{self.d}.a{level}")

    @property
    def parting(self) -> Sql:
        """Expression for the highest level at which a class differs, over the differing bits."""
        whens = " ".join(
            f"when m{field.word} & {field.mask} <> 0 then {field.level}"
            for field in reversed(self.fields)
        )
        return Sql(f"case {whens} end" if whens else "cast(null as integer)")

    def whole(self, word: int) -> Sql:
        """All of its bits in one word of a tuple."""
        return lit(sum(field.mask for field in self.fields if field.word == word))

    def parting_mask(self, word: int) -> Sql:
        """Expression for the bits of that level in one word of a tuple."""
        whens = " ".join(
            f"when m{field.word} & {field.mask} <> 0 then {field.mask if field.word == word else 0}"
            for field in reversed(self.fields)
        )
        return Sql(f"case {whens} else 0 end" if whens else "0")


def search_columns(policy: Policy, roles: Roles, packed: Packing) -> tuple[SearchColumn, ...]:
    """The quasi-identifiers. Raises PolicyError for bad priorities, levels and hierarchies."""
    columns = lattice_columns(roles)
    problems = [problem for a in columns for problem in _problems(policy, a, packed)]
    if problems:
        raise PolicyError(problems)
    weights = [_priority(policy, a) for a in columns]
    order = sorted(range(len(columns)), key=lambda i: -weights[i])
    made = []
    for a, weight in zip(columns, weights, strict=True):
        column = policy.columns[a.attribute.column]
        sampled = a.height if column.presampling_level is None else column.presampling_level
        made.append(
            SearchColumn(
                lattice_column=a,
                rank=order.index(a.position),
                weight=weight,
                floor=column.minimum_level or 0,
                sample_depth=min(sampled, a.height),
                fields=packed.fields[a.position],
            )
        )
    return tuple(made)


def _priority(policy: Policy, a: LatticeColumn) -> Decimal:
    given = policy.columns[a.attribute.column].priority
    return Decimal(1) if given is None else Decimal(repr(given))


def _problems(policy: Policy, a: LatticeColumn, packed: Packing) -> Iterator[Problem]:
    name = a.attribute.column
    column = policy.columns[name]
    if not packed.shapes[a.position].nests:
        yield Problem(
            column_path(name, "hierarchy"),
            "has levels that do not nest, and privacyfrost goes down from node to node",
            hint="mode: chain for divisors, or algorithm: {name: full_domain}",
        )
    if column.minimum_level is not None and column.minimum_level > a.height:
        yield Problem(
            column_path(name, "minimum_level"),
            f"cannot be met: the hierarchy has no level {column.minimum_level}",
            allowed=f"0 (the root) to {a.height} (the values)",
        )
    if not SMALLEST <= _priority(policy, a) <= LARGEST:
        yield Problem(
            column_path(name, "priority"),
            "is out of range",
            allowed=f"{SMALLEST} to {LARGEST:,}",
            hint="only the ratios of the priorities matter",
        )


# The record of a search: the tables it considered and the one it chose, without values.


def findings(
    roles: Roles, columns: Sequence[SearchColumn], context: Mapping[str, Any]
) -> tuple[Finding, ...]:
    """The manifest's `search` (levels count from the root) and `published_levels`."""
    return (
        Finding(
            "search",
            Step("tables of the search", "privacyfrost/tables", context),
            _search(roles, columns),
        ),
        Finding(
            "published_levels",
            Step("levels as published", "privacyfrost/final", context),
            _result_maker(columns),
        ),
    )


def _search(roles: Roles, columns: Sequence[SearchColumn]) -> Callable[[list[Row]], Any]:
    names = [a.lattice_column.attribute.column for a in columns]
    sensitive = {s.index: s.column for s in roles.ruled}

    def table(row: Row) -> dict[str, Any]:
        round_, phase, moved, *depths, score, better, holds, seen, broken, taken = row
        verdict = "holds" if holds else "fails" if better else "no better"
        told: dict[str, Any] = {
            "step": round_,
            "phase": phase,
            "column": None if moved is None else names[moved],
            "levels": dict(zip(names, depths, strict=True)),
            "score": _number(score),
            "verdict": verdict,
            "evaluations": seen,
            "taken": taken,
        }
        if seen and not holds:
            told["fails"] = (
                "rules of sensitive columns"
                if broken == -1
                else sensitive.get(broken, "class size")
            )
        return told

    def tell(rows: list[Row]) -> list[dict[str, Any]]:
        return [table(row) for row in rows]

    return tell


def _result_maker(columns: Sequence[SearchColumn]) -> Callable[[list[Row]], Any]:
    names = [a.lattice_column.attribute.column for a in columns]

    def tell(rows: list[Row]) -> dict[str, Any]:
        found: dict[str, dict[str, dict[str, int]]] = {name: {} for name in names}
        for attribute, depth, classes, cells, _ in rows:
            found[names[attribute]][str(depth)] = {"classes": classes, "cells": cells}
        return {"score": _number(rows[0][-1]) if rows else None, "columns": found}

    return tell


def _number(score: Decimal) -> int | float:
    """The score, rounded for publication, since it depends on rows that may be suppressed."""
    told = coarse(float(score))
    return int(told) if told.is_integer() else told


# Pre-sampling (Kiyomoto and Miyake 2014, §5.1): rows of small classes are suppressed first.


def presampling_stages(
    policy: Policy, columns: Sequence[SearchColumn], everything: Table
) -> tuple[Stage, ...]:
    """Stages that remove the isolated rows from `coded`, if there can be any.

    They count as suppressed, as do rows of `everything` left out because of NULLs; more than the
    limit stops the run before the search.
    """
    options = policy.algorithm
    assert isinstance(options, PrivacyFrost)
    if options.presampling_k < 2:
        return ()
    context = {
        "everything": everything,
        "coded": CODED,
        "domains": [a.domain for a in columns],
        "attributes": list(columns),
        "codes": [a.c for a in columns],
        "count": Sql("count(distinct person)" if policy.person is not None else "count(*)"),
        "least": options.presampling_k,
        "share": share_at_most(policy.suppression_limit),
    }
    unit = "persons" if policy.person is not None else "rows"

    def explain(row: Row) -> Problem:
        removed, total = row
        if removed == total:
            said = f"removes all {total} {unit}"
        else:
            said = (
                f"removes {removed} of {total} {unit} as isolated, more than the suppression limit"
                f" of {policy.suppression_limit:g}"
            )
        return Problem(
            "algorithm.presampling_k",
            said,
            hint="lower it, lower the columns' presampling_level, or raise suppression_limit",
        )

    return (
        Step("pre-sampling", "privacyfrost/presample", context),
        Guard(
            Step("size of the pre-sampling", "privacyfrost/removed", context),
            explain,
            GuaranteeError,
        ),
    )
