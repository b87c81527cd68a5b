"""Compiles the algorithm `mondrian`: from policy and profile to stages, assembly and layout."""

from __future__ import annotations

from anonymizer.algorithms.bound.stages import FULL, USUAL, bound_stages
from anonymizer.algorithms.cells import cell_steps
from anonymizer.algorithms.compiled import Assembly, Compiled, published
from anonymizer.algorithms.deal.shares import judged, shares
from anonymizer.algorithms.deal.stages import Dealing
from anonymizer.algorithms.encode import (
    PERSONS,
    coded_stages,
    domain_steps,
    packed_units_step,
    person_stages,
    tuple_keys,
    units_step,
)
from anonymizer.algorithms.guards import enough_units
from anonymizer.algorithms.partition.partition import Partitioning, partition_stages
from anonymizer.algorithms.persons.feasible import feasibility
from anonymizer.algorithms.persons.rules import holding_steps, person_rules
from anonymizer.algorithms.persons.units import extent_steps
from anonymizer.algorithms.population import population_rules, population_stages
from anonymizer.algorithms.protections import column_rules, protections, thinning_steps
from anonymizer.algorithms.refine.boxes import possible
from anonymizer.algorithms.refine.stages import AUTO, refine_stages
from anonymizer.algorithms.split.size import split_of
from anonymizer.algorithms.split.stages import divided_units, in_parts, judged_parts
from anonymizer.compile import Sql
from anonymizer.policy import Mondrian, Policy
from anonymizer.privacy.of_policy.sizes import least_class
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.steps import Stage, Step

BLOCK = 4_000
BLOCK_IN_FULL = 10_000
"""Rows per block in which rows are dealt; larger blocks lose less and take longer."""
DEALT = 100_000
DEALT_IN_FULL = 400_000
"""Number of rows of the table above which no rows are dealt."""


def _judged_by_distribution(policy: Policy, roles: Roles) -> bool:
    """Whether a rule compares a class with the whole table.

    Such rules refuse most cuts of most classes, so later cuts seldom benefit from the other
    attributes that a cut narrows: at t = 0.2, the attribute that is cut is the better guide (NCP
    0.453 against 0.461).
    """
    return any(rule.relative for column in roles.sensitive for rule in column_rules(policy, column))


def _dealing(policy: Policy, profile: TableProfile, roles: Roles) -> Dealing | None:
    """How rows are dealt, if a rule compares a column with the whole table; else None.

    Rows are dealt one by one, so rows with equal values may be separated.
    """
    options = policy.algorithm
    assert isinstance(options, Mondrian)
    if options.refine == 0 or options.split != "loss" or policy.person is not None:
        return None
    if not possible(roles.quasi) or policy.privacy.populations:
        return None
    thorough = options.refine == "full"
    if (profile.rows or 0) > (DEALT_IN_FULL if thorough else DEALT):
        return None
    ruled = [(column, column_rules(policy, column)) for column in roles.sensitive]
    found = [one for one in (shares(*pair) for pair in ruled) if one is not None]
    if len(found) != 1:
        return None
    rules = tuple(judged(column, rules) for column, rules in ruled if rules)
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
        compare=1 if _judged_by_distribution(policy, roles) else options.compare,
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
    layout, columns = published(policy, roles, {})
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
    loop = options.loop if profile.recursive else "driven"
    positions, *cuts = partition_stages(roles.quasi, how, profile.rows, loop)
    refined = refine_stages(roles.quasi, how, options.refine, dealing, recursive=loop != "driven")
    # dealt rows are units, but parts consist of tuples, so the table is not divided then
    divisible = roles.quasi and dealing is None
    split = split_of(options.part_size, profile) if divisible else None
    if split is None:
        return (units,), (positions, *cuts, *refined)
    whole = (*cuts, *refined)
    if options.refine == "auto" and profile.rows > (AUTO.most or 0):
        # refining all parts is as much work as refining the whole table
        refined = ()
    parts = in_parts(roles.quasi, how, split, (*cuts, *refined), whole)
    return divided_units(roles.quasi, units, split, how), (*judged_parts(how, split), parts)
