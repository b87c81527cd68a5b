"""Compile the algorithm `lgb`: local generalization and bucketization (Li and He 2022)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from anonymizer.algorithms.core.cells import cell_steps
from anonymizer.algorithms.core.compiled import Assembly, Compiled, published_columns
from anonymizer.algorithms.core.encode import (
    CODED,
    PERSONS,
    coded_stages,
    domain_steps,
    person_stages,
    units_step,
)
from anonymizer.algorithms.core.guards import enough_units, feasibility
from anonymizer.algorithms.core.lower_bound import bound_stages
from anonymizer.algorithms.core.partition import Partitioning, partition_stages
from anonymizer.algorithms.core.person_rules import holding_steps, person_rules
from anonymizer.algorithms.core.protections import thinning_steps
from anonymizer.algorithms.core.split import divided_units, in_parts, split_of
from anonymizer.algorithms.lgb.buckets import ProtectedColumn, bucket_stages
from anonymizer.algorithms.lgb.generalization import LITERAL, Growth, seed_stages
from anonymizer.compile import Sql, work
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.guarantees.requirements import bucket_rule, least_class
from anonymizer.guarantees.rule import at_most
from anonymizer.policy import Lgb, Policy
from anonymizer.process.text import many
from anonymizer.source.profile import Attribute, Sensitive, TableProfile
from anonymizer.source.roles import Roles
from anonymizer.steps import Compute, Guard, Row, Stage, Step

# Handles flag patterns that too few rows share.
#
# A class holds rows of one pattern only (LGB Definition 8), so a pattern with fewer than k rows
# cannot be published as it is. Promotion flags more cells of those rows, until they belong to a
# pattern that is large enough; the values of these cells are then published in buckets.


def promote(counts: Mapping[int, int], k: int, everything: int) -> dict[int, int | None]:
    """The final pattern of every pattern; None if its rows have to be suppressed.

    `counts` maps a pattern (a bit mask of sensitive cells) to its rows. The smallest pattern is
    promoted first, to the superset that flags the fewest further cells: one that is large enough,
    else the union with another small pattern, else `everything` flagged. Rows of patterns that are
    large enough are unchanged.
    """
    target: dict[int, int] = {pattern: pattern for pattern in counts}
    size = dict(counts)
    while True:
        small = [p for p, n in size.items() if n < k]
        if not small:
            break
        pattern = min(small, key=lambda p: (size[p], -p.bit_count(), p))
        others = [q for q in size if q != pattern]
        large = [q for q in others if q & pattern == pattern and size[q] >= k]
        unions = [pattern | q for q in others if size[q] < k]
        options = large or unions or ([everything] if pattern != everything else [])
        if not options:
            break
        best = min(options, key=lambda q: ((q ^ pattern).bit_count(), -size.get(q, 0), q))
        if best == pattern:
            # another small pattern is a subset of this one: promote that one instead
            pattern, best = _inner([q for q in others if size[q] < k], pattern, size), pattern
        size[best] = size.get(best, 0) + size.pop(pattern)
        for source, at in target.items():
            if at == pattern:
                target[source] = best
    return {source: at if size[at] >= k else None for source, at in target.items()}


def _inner(others: list[int], pattern: int, size: Mapping[int, int]) -> int:
    within = [q for q in others if q | pattern == pattern]
    return min(within, key=lambda q: ((q ^ pattern).bit_count(), size[q], q))


def suppress(counts: Mapping[int, int], k: int) -> dict[int, int | None]:
    """Suppress every small pattern."""
    return {pattern: pattern if n >= k else None for pattern, n in counts.items()}


def pattern_table(k: int, everything: int, mode: str) -> Callable[[list[Row]], list[Row]]:
    """The computation that turns pattern counts into the table of final patterns."""

    def final_patterns(rows: list[Row]) -> list[Row]:
        """Promote or suppress patterns of sensitive cells that fewer than k rows share."""
        counts = {int(pattern): int(n) for pattern, n in rows}
        final = promote(counts, k, everything) if mode == "promote" else suppress(counts, k)
        return [(pattern, target) for pattern, target in sorted(final.items())]

    return final_patterns


# Compiles the algorithm `lgb`: local generalization and bucketization (Li and He 2022), Alg. 1.


PATTERNS = work("patterns")
PATTERN = Sql("pattern")
"""Column of the pattern of a row, and of a unit."""


def compile_lgb(policy: Policy, profile: TableProfile, roles: Roles) -> Compiled:
    """Compile Algorithm 1: patterns, buckets per protected column, classes per pattern."""
    options = policy.algorithm
    assert isinstance(options, Lgb)
    assert profile.rows is not None
    persons = person_rules(policy, roles)
    k = max(least_class(policy), persons.least)
    columns = protected_columns(policy, roles)
    dealt: list[Stage] = []
    for column in columns:
        dealt += bucket_stages(
            column,
            tight=options.ranges == "tight",
            persons=policy.person is not None,
            leaves_out=policy.person is None and not roles.flagged,
        )
    keys = [a.c for a in roles.quasi]
    pattern = [PATTERN] if roles.flagged else []
    how = Partitioning(
        k=k,
        split="median" if options.generalization == "mdp" else "loss",
        strict=True,
        separator=PATTERN if roles.flagged else None,
        persons=persons,
    )
    by_seeds = options.by_seeds
    split = split_of(options.part_size, profile) if roles.quasi else None
    if by_seeds:
        grow = LITERAL if options.literal else Growth()
        classes = seed_stages(roles.quasi, how, grow, rebalance=options.rebalance)
    else:
        recursive = profile.recursive or split is not None  # (a part has a database of its own)
        classes = partition_stages(roles.quasi, how, profile.rows, recursive=recursive)
    units: tuple[Stage, ...] = (units_step(policy, [*pattern, *keys]),)
    if split is not None:
        # the coarse cuts have written the places in the domains
        solved = classes if by_seeds else classes[1:]
        units = divided_units(roles.quasi, units_step(policy, [*pattern, *keys]), split, how)
        classes = (in_parts(roles.quasi, how, split, solved, solved, by_draw=by_seeds),)
    stages: tuple[Stage, ...] = (
        *domain_steps(roles),
        *coded_stages(policy, roles, numbered=True),
        *thinning_steps(policy, profile, roles),
        *person_stages(policy, roles),
        enough_units(policy, k),
        *(pattern_stages(policy, roles, k, profile) if roles.flagged else ()),
        *dealt,
        *units,
        *holding_steps(policy, persons, [*pattern, *keys], PERSONS),
        *feasibility(policy, persons),
        *classes,
        *cell_steps(roles.quasi, policy.publish.cells),
        # (a row with a sensitive cell can only join rows of its pattern)
        *(bound_stages(policy, profile, roles, k) if not roles.flagged else ()),
    )
    layout, expressions = published_columns(policy, roles, {c.column: c for c in columns})
    numbers = PERSONS if policy.person is not None else None
    assembly = Assembly(expressions, tuple(keys), tuple(columns), Sql("r.row_id"), numbers)
    return Compiled(stages, assembly, layout)


def protected_columns(policy: Policy, roles: Roles) -> list[ProtectedColumn]:
    """Columns with sensitive cells and the rule of their buckets, in the order of the policy."""
    sources: dict[str, Attribute | Sensitive] = {a.column: a for a in roles.flagged}
    sources |= {s.column: s for s in roles.sensitive}
    made: list[ProtectedColumn] = []
    for name in policy.columns:
        protect = policy.columns[name].protect
        if name in sources and protect is not None:
            made.append(ProtectedColumn(sources[name], bucket_rule(name, protect), len(made) + 1))
    return made


def pattern_stages(
    policy: Policy, roles: Roles, k: int, profile: TableProfile
) -> tuple[Stage, ...]:
    """The QI partition (LGB Definition 8), with small patterns promoted or suppressed."""
    options = policy.algorithm
    assert isinstance(options, Lgb)
    read = (profile.rows or 0) + profile.left_out
    everything = sum(1 << i for i in range(len(roles.flagged)))
    carried = [s.s for s in roles.sensitive] + [kept.k for kept in roles.kept]
    if policy.person is not None:
        carried.append(Sql("person"))
    context = {
        "coded": CODED,
        "patterns": PATTERNS,
        "attributes": roles.quasi,
        "carried": carried,
        "count": Sql("count(distinct person)" if policy.person is not None else "count(*)"),
        "allowed": max(math.floor(at_most(policy.suppression_limit) * read) - profile.left_out, 0),
    }
    promoted = options.small_patterns == "promote" and policy.person is None
    return (
        Compute(
            Step("patterns of sensitive cells", "lgb/pattern_counts", context),
            pattern_table(k, everything, options.small_patterns),
            PATTERNS,
            (("pattern", "BIGINT"), ("target", "BIGINT")),
        ),
        *((_rare_patterns_guard(context, k),) if promoted else ()),
        Step("rows under their patterns", "lgb/masked", context),
    )


def _rare_patterns_guard(context: Mapping[str, Any], k: int) -> Guard:
    """A guard that promotion succeeds: no rows are left outside the large patterns."""

    def explain(row: Row) -> Problem:
        return Problem(
            "algorithm.small_patterns",
            f"{many(row[0], 'row has a pattern', 'rows have patterns')} of sensitive cells that"
            f" fewer than {k} rows share, and flagging more of their cells joins them to no larger"
            " pattern",
            hint="raise suppression_limit, so that they may be left out, or flag more cells",
        )

    query = Step("rows that no pattern takes", "lgb/stranded", context)
    return Guard(query, explain, GuaranteeError)
