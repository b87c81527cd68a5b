"""Compiles the algorithm `lgb`: local generalization and bucketization (Li and He 2022), Alg. 1."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from anonymizer.algorithms.bound.stages import bound_stages
from anonymizer.algorithms.cells import cell_steps
from anonymizer.algorithms.compiled import Assembly, Compiled, published
from anonymizer.algorithms.encode import (
    CODED,
    PERSONS,
    coded_stages,
    domain_steps,
    person_stages,
    units_step,
)
from anonymizer.algorithms.guards import enough_units
from anonymizer.algorithms.lgb.buckets import Protected, bucket_stages
from anonymizer.algorithms.lgb.patterns import pattern_table
from anonymizer.algorithms.lgb.seeds import seed_stages
from anonymizer.algorithms.partition.partition import Partitioning, partition_stages
from anonymizer.algorithms.persons.feasible import feasibility
from anonymizer.algorithms.persons.rules import holding_steps, person_rules
from anonymizer.algorithms.protections import thinning_steps
from anonymizer.algorithms.split.size import split_of
from anonymizer.algorithms.split.stages import divided_units, in_parts, judged_parts
from anonymizer.compile import Sql, work
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.policy import Lgb, Policy
from anonymizer.privacy.exact import at_most
from anonymizer.privacy.of_policy.buckets import bucket_rule
from anonymizer.privacy.of_policy.sizes import least_class
from anonymizer.process.text import many
from anonymizer.source.profile import Attribute, Sensitive, TableProfile
from anonymizer.source.roles import Roles
from anonymizer.steps import Compute, Guard, Row, Stage, Step

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
        apart=PATTERN if roles.flagged else None,
        persons=persons,
    )
    by_seeds = options.generalization == "ncp"
    if by_seeds:
        classes = seed_stages(roles.quasi, how, rebalance=options.rebalance)
    else:
        loop: Literal["auto", "driven"] = "auto" if profile.recursive else "driven"
        classes = partition_stages(roles.quasi, how, profile.rows, loop)
    units: tuple[Stage, ...] = (units_step(policy, [*pattern, *keys]),)
    split = split_of(options.part_size, profile) if roles.quasi else None
    if split is not None:
        # the coarse cuts have written the places in the domains
        solved = classes if by_seeds else classes[1:]
        units = divided_units(roles.quasi, units_step(policy, [*pattern, *keys]), split, how)
        parts = in_parts(roles.quasi, how, split, solved, solved, by_draw=by_seeds)
        classes = (*judged_parts(how, split), parts)
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
    layout, expressions = published(policy, roles, {c.column: c for c in columns})
    numbers = PERSONS if policy.person is not None else None
    assembly = Assembly(expressions, tuple(keys), tuple(columns), Sql("r.row_id"), numbers)
    return Compiled(stages, assembly, layout)


def protected_columns(policy: Policy, roles: Roles) -> list[Protected]:
    """Columns with sensitive cells and the rule of their buckets, in the order of the policy."""
    sources: dict[str, Attribute | Sensitive] = {a.column: a for a in roles.flagged}
    sources |= {s.column: s for s in roles.sensitive}
    made: list[Protected] = []
    for name in policy.columns:
        protect = policy.columns[name].protect
        if name in sources and protect is not None:
            made.append(Protected(sources[name], bucket_rule(name, protect), len(made) + 1))
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
            Step("patterns of sensitive cells", "lgb/pattern_counts.sql.j2", context),
            pattern_table(k, everything, options.small_patterns),
            PATTERNS,
            (("pattern", "BIGINT"), ("target", "BIGINT")),
        ),
        *((_stranded(context, k),) if promoted else ()),
        Step("rows under their patterns", "lgb/masked.sql.j2", context),
    )


def _stranded(context: Mapping[str, Any], k: int) -> Guard:
    """A guard that promotion succeeds: no rows are left outside the large patterns."""

    def explain(row: Row) -> Problem:
        return Problem(
            "algorithm.small_patterns",
            f"{many(row[0], 'row has a pattern', 'rows have patterns')} of sensitive cells that"
            f" fewer than {k} rows share, and flagging more of their cells joins them to no larger"
            " pattern",
            hint="raise suppression_limit, so that they may be left out, or flag more cells",
        )

    query = Step("rows that no pattern takes", "lgb/stranded.sql.j2", context)
    return Guard(query, explain, GuaranteeError)
