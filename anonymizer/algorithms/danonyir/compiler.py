"""Compiles the algorithm `danonyir`: from policy and profile to stages, assembly and layout."""

from __future__ import annotations

from anonymizer.algorithms.cells import cell_steps
from anonymizer.algorithms.compiled import Assembly, Compiled, published
from anonymizer.algorithms.danonyir.clustering import Clustering, growth_stages
from anonymizer.algorithms.danonyir.residual import residual_stages
from anonymizer.algorithms.encode import PERSONS, coded_stages, domain_steps, person_stages
from anonymizer.algorithms.guards import enough_units
from anonymizer.algorithms.partition.partition import Partitioning, partition_stages
from anonymizer.algorithms.persons.boxes import Boxes, place_steps, shapes
from anonymizer.algorithms.persons.feasible import feasibility, some_class
from anonymizer.algorithms.persons.rules import PersonRules, holding_steps, person_rules
from anonymizer.algorithms.persons.units import extent_steps, person_units_step
from anonymizer.compile import Sql
from anonymizer.errors import InfeasibleError, Problem
from anonymizer.policy import Danonyir, Policy
from anonymizer.process.text import many
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.steps import Stage

MOST_EXACT = 60_000
"""Number of rows up to which all persons may be clustered in one block, one move per person."""


def compile_danonyir(policy: Policy, profile: TableProfile, roles: Roles) -> Compiled:
    """Compile blocks of similar persons, clusters within them, residual persons, and cells.

    Raises InfeasibleError if the table is too large for `block_size: all`, or a block is smaller
    than a class.
    """
    options = policy.algorithm
    assert isinstance(options, Danonyir)
    assert profile.rows is not None
    keys = [Sql("person")]
    codes = [a.c for a in roles.quasi]
    rules = person_rules(policy, roles)
    _check_block_size(options, profile.rows, rules.least)
    boxes = Boxes(shapes(roles.quasi, profile.rows))
    leaves_out = policy.suppression_limit > 0
    how = Clustering(boxes, rules, codes, options.block_size, profile.rows, leaves_out)
    extents, extent_stages = extent_steps(policy, roles)
    stages: tuple[Stage, ...] = (
        *domain_steps(roles),
        *coded_stages(policy, roles, numbered=False),
        *person_stages(policy, roles),
        enough_units(policy, rules.least),
        *place_steps(boxes.shapes),
        person_units_step(roles, boxes),
        *extent_stages,
        # under EIR l-diversity alone, added persons break nothing, and clusters carry its proof
        *holding_steps(policy, rules, keys),
        *feasibility(policy, rules, exact=False, leaves_out=True),
        *_blocks(roles, options, rules, profile.rows),
        *growth_stages(how),
        *residual_stages(how),
        some_class(),
        *cell_steps(roles.quasi, policy.publish.cells, extents),
    )
    layout, columns = published(policy, roles, {})
    return Compiled(stages, Assembly(columns, tuple(keys), persons=PERSONS), layout)


def _check_block_size(options: Danonyir, rows: int, least: int) -> None:
    path = "algorithm.block_size"
    if options.block_size == "all":
        if rows > MOST_EXACT:
            raise InfeasibleError(
                Problem(
                    path,
                    "all takes one statement after the other for every person, and"
                    f" {many(rows, 'row is', 'rows are')} too many for that",
                    allowed=f"all up to {MOST_EXACT} rows, or a number of persons",
                    hint="leave it out: blocks of 128 persons grow side by side",
                )
            )
    elif options.block_size < least:
        raise InfeasibleError(
            Problem(
                path,
                f"is smaller than a class, which needs {least} persons",
                allowed=f"{least} or more, or all",
                hint="blocks of ten classes or more lose little",
            )
        )


def _blocks(roles: Roles, options: Danonyir, rules: PersonRules, rows: int) -> tuple[Stage, ...]:
    """Stages that make the cuts with the least loss, down to `block_size`.

    Rules that added persons may break have to hold in every block as a whole. Otherwise persons
    could remain that none of its classes can take.
    """
    if options.block_size == "all":
        return ()
    half = max(options.block_size // 2, rules.least)
    judged = rules if rules.rules else None
    how = Partitioning(k=half, split="loss", strict=True, persons=judged, plain=True, compare=1)
    return partition_stages(roles.quasi, how, rows)
