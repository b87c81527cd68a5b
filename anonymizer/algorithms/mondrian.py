"""Mondrian: multidimensional top-down partitioning (LeFevre et al. 2006), classes in parallel."""

from __future__ import annotations

from anonymizer.algorithms.core.cells import cell_steps
from anonymizer.algorithms.core.compiled import Assembly, Compiled, published_columns
from anonymizer.algorithms.core.encode import (
    PERSONS,
    coded_stages,
    domain_steps,
    packed_units_step,
    person_stages,
    tuple_keys,
    units_step,
)
from anonymizer.algorithms.core.guards import enough_units, feasibility
from anonymizer.algorithms.core.lower_bound import FULL, USUAL, bound_stages
from anonymizer.algorithms.core.partition import Partitioning, partition_stages
from anonymizer.algorithms.core.person_boxes import extent_steps
from anonymizer.algorithms.core.person_rules import holding_steps, person_rules
from anonymizer.algorithms.core.population import population_rules, population_stages
from anonymizer.algorithms.core.proportional_assignment import Dealing, class_rules, shares
from anonymizer.algorithms.core.protections import column_rules, protections, thinning_steps
from anonymizer.algorithms.core.refine import AUTO, possible, refine_stages
from anonymizer.algorithms.core.split import divided_units, in_parts, split_of
from anonymizer.algorithms.descriptor import (
    COMPOSITION,
    DOWNCODING,
    MINIMALITY,
    PART_SIZE,
    REFINEMENT,
    SKEWNESS,
    Algorithm,
)
from anonymizer.compile import Sql
from anonymizer.guarantees.requirements import least_class
from anonymizer.policy import Policy
from anonymizer.policy.algorithms import Mondrian
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.steps import Stage, Step

ALGORITHM = Algorithm(
    options=Mondrian,
    compiler="anonymizer.algorithms.mondrian:compile_mondrian",
    towards=frozenset({"size", "protection", "share", "persons", "population", "units"}),
    distances=frozenset({"equal", "ordered", "hierarchical"}),
    merges_persons=True,
    words="Mondrian: the table is cut again and again along one column at a time, while both"
    " parts keep the guarantees; the rows of a part get the same cells (LeFevre et al. 2006).",
    attacks=(COMPOSITION, DOWNCODING, REFINEMENT, MINIMALITY, SKEWNESS),
    limits=(PART_SIZE,),
)


# Compiles the algorithm `mondrian`: from policy and profile to stages, assembly and layout.


BLOCK = 4_000
BLOCK_IN_FULL = 10_000
"""Rows per block in which rows are dealt; larger blocks lose less and take longer."""
DEALT = 100_000
DEALT_IN_FULL = 400_000
"""Number of rows of the table above which no rows are dealt."""


def _dealing(policy: Policy, profile: TableProfile, roles: Roles) -> Dealing | None:
    """The assignment of rows, if a rule compares a column with the whole table; else None.

    Rows are dealt one by one, so rows with equal values may be separated.
    """
    options = policy.algorithm
    assert isinstance(options, Mondrian)
    if options.refine == 0 or options.split != "loss" or policy.person is not None:
        return None
    if not possible(roles.cut) or policy.privacy.populations:
        return None
    thorough = options.refine == "full"
    if (profile.rows or 0) > (DEALT_IN_FULL if thorough else DEALT):
        return None
    ruled = [(column, column_rules(policy, column)) for column in roles.ruled]
    found = [one for one in (shares(*pair) for pair in ruled) if one is not None]
    if len(found) != 1:
        return None
    rules = tuple(class_rules(column, rules) for column, rules in ruled if rules)
    return Dealing(found[0], rules, BLOCK_IN_FULL if thorough else BLOCK)


def compile_mondrian(policy: Policy, profile: TableProfile, roles: Roles) -> Compiled:
    """Compile codes, units, the partitioning under all rules, and the cells of its classes."""
    options = policy.algorithm
    assert isinstance(options, Mondrian)
    persons = person_rules(policy, roles)
    k = max(least_class(policy), persons.least)
    dealing = _dealing(policy, profile, roles)
    together = options.strict and not policy.merge_person_rows and dealing is None
    keys, units = _units(policy, roles, together=together)
    extents, extent_stages = extent_steps(policy, roles)
    rules, rule_stages = protections(policy, roles, keys)
    population = population_rules(policy, roles, extents)
    how = Partitioning(
        k=k,
        split=options.split,
        strict=options.strict,
        protections=rules,
        # rules by distribution refuse most cuts: later ones seldom benefit from narrower cells
        compare=1
        if any(rule.relative for column in roles.ruled for rule in column_rules(policy, column))
        else options.compare,
        persons=persons,
        population=population,
    )
    divided, cut = _cuts(policy, profile, roles, how, dealing, units)
    stages: tuple[Stage, ...] = (
        *domain_steps(roles),
        *coded_stages(
            policy, roles, numbered=not options.strict or dealing is not None, packed=together
        ),
        *thinning_steps(policy, profile, roles),
        *person_stages(policy, roles, keys if together else None),
        enough_units(policy, k),
        *divided,
        *extent_stages,
        *rule_stages,
        *holding_steps(policy, persons, keys, PERSONS),
        *feasibility(policy, persons),
        *population_stages(population),
        *cut,
        *cell_steps(roles.quasi, policy.publish.cells, extents),
        *bound_stages(policy, profile, roles, k, FULL if options.refine == "full" else USUAL),
    )
    layout, columns = published_columns(policy, roles, {})
    numbers = PERSONS if policy.person is not None else None
    return Compiled(stages, Assembly(columns, tuple(keys), persons=numbers), layout)


def _units(policy: Policy, roles: Roles, *, together: bool) -> tuple[list[Sql], Step]:
    """The columns that identify units, and the step that makes units: tuples if equal rows stay
    `together`, else single rows (persons).
    """
    if together:
        return tuple_keys(roles), packed_units_step(policy, roles)
    keys = [Sql("person")] if policy.person is not None else [Sql("row_id")]
    return keys, units_step(policy, keys, [Sql(f"min({a.c}) as {a.c}") for a in roles.quasi])


def _cuts(
    policy: Policy,
    profile: TableProfile,
    roles: Roles,
    how: Partitioning,
    dealing: Dealing | None,
    units: Step,
) -> tuple[tuple[Stage, ...], tuple[Stage, ...]]:
    """The stages that make units, and those that cut and refine classes, whole or in parts."""
    options = policy.algorithm
    assert isinstance(options, Mondrian)
    assert profile.rows is not None
    # dealt rows are units, but parts consist of tuples, so the table is not divided then
    divisible = roles.cut and dealing is None
    split = split_of(options.part_size, profile) if divisible else None
    recursive = profile.recursive or split is not None  # (every part has a database of its own)
    positions, *cuts = partition_stages(roles.cut, how, profile.rows, recursive=recursive)
    refined = refine_stages(roles.cut, how, options.refine, dealing, recursive=recursive)
    if split is None:
        return (units,), (positions, *cuts, *refined)
    whole = (*cuts, *refined)
    if options.refine == "auto" and profile.rows > (AUTO.most or 0):
        # refining all parts is as much work as refining the whole table
        refined = ()
    parts = in_parts(roles.cut, how, split, (*cuts, *refined), whole)
    return divided_units(roles.cut, units, split, how), (parts,)
