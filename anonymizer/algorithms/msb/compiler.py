"""Compiles the algorithm `msb`: from policy and profile to stages, published tables and layout."""

from __future__ import annotations

from anonymizer.algorithms.cells import cell_steps
from anonymizer.algorithms.compiled import Assembly, Compiled, RowWriter
from anonymizer.algorithms.encode import (
    CODED,
    PERSONS,
    coded_stages,
    domain_steps,
    person_stages,
    units_step,
)
from anonymizer.algorithms.msb.dimensions import dimensions, values_step
from anonymizer.algorithms.msb.grouping import (
    Grouping,
    bucket_stages,
    empty_stages,
    grouping_stages,
    refuse_size,
)
from anonymizer.algorithms.msb.guards import (
    diversity_guards,
    enough_for_classes,
    enough_rows,
    level_guards,
)
from anonymizer.algorithms.msb.persons import RECORDS, group_rows_step, record_stages
from anonymizer.algorithms.msb.publishing import exact_rows, layout_of, separate_values
from anonymizer.algorithms.msb.residual import placing_step, residual_stages
from anonymizer.algorithms.partition.partition import Partitioning, partition_stages
from anonymizer.policy import Policy
from anonymizer.policy.algorithms import Msb
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.steps import Stage


def compile_msb(policy: Policy, profile: TableProfile, roles: Roles) -> Compiled:
    """Compile buckets of sensitive vectors, groups from different buckets, and residual records.

    With `person` a record is a person. Xiao and Li (2020) after Yang, Wang and Wang (2008). Raises
    InfeasibleError if the table is too large for the mode.
    """
    options = policy.algorithm
    assert isinstance(options, Msb)
    assert profile.rows is not None
    if options.mode == "exact":
        refuse_size(profile.rows)
    persons = policy.person is not None
    how = Grouping(dimensions(policy, roles), options, RECORDS if persons else CODED)
    stages: tuple[Stage, ...] = (
        *domain_steps(roles),
        *coded_stages(policy, roles, numbered=False),
        *person_stages(policy, roles),
        *(record_stages(roles) if persons else ()),
        *(values_step(d, how.records) for d in how.dimensions),
        *level_guards(how.dimensions),
        *bucket_stages(how),
        enough_rows(how),
        *empty_stages(how),
        *diversity_guards(policy, how),
        *grouping_stages(how),
        *residual_stages(how, profile.rows),
        placing_step(how),
        *([group_rows_step()] if persons else []),
    )
    generalized = options.generalize is not None
    layout, columns = layout_of(policy, roles, generalized=generalized)
    writer: RowWriter = exact_rows(policy, roles, columns)
    if options.generalize is not None:
        stages += _class_stages(policy, roles, profile.rows, how)
        keys = tuple(a.c for a in roles.quasi)
        writer = Assembly(columns, keys, persons=PERSONS if persons else None)
    separated = separate_values(policy, roles, layout, how.records)
    return Compiled(stages, writer, layout, separated=separated)


def _class_stages(policy: Policy, roles: Roles, rows: int, grouping: Grouping) -> tuple[Stage, ...]:
    """Stages that form classes of the published rows by quasi-identifiers, regardless of groups."""
    assert grouping.options.generalize is not None
    k = grouping.options.generalize.k
    how = Partitioning(k=k, split="loss", strict=True)
    return (
        enough_for_classes(grouping, k),
        units_step(policy, [a.c for a in roles.quasi]),
        *partition_stages(roles.quasi, how, rows),
        *cell_steps(roles.quasi, policy.publish.cells),
    )
