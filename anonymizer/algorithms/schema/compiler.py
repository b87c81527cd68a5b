"""Compiles several tables and their counts to the stages of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anonymizer.algorithms.cells import cell_steps
from anonymizer.algorithms.compiled import Assembly, Compiled, published
from anonymizer.algorithms.encode import coded_stages, domain_steps, packed_units_step, tuple_keys
from anonymizer.algorithms.guards import enough_units
from anonymizer.algorithms.partition.partition import Partitioning, partition_stages
from anonymizer.algorithms.persons.rules import PersonRules
from anonymizer.algorithms.protections import protections
from anonymizer.algorithms.schema.candidates import class_steps, ruled_tables
from anonymizer.algorithms.schema.event_rules import EventRule, event_rules, needed_of_cuts
from anonymizer.algorithms.schema.events import (
    coded_steps,
    event_cells,
    event_steps,
    owners_step,
    steps_of,
    with_events,
)
from anonymizer.algorithms.schema.publishing import KEY_DRAW, PublishedTable, published_tables
from anonymizer.algorithms.schema.raising import partial_tables, raising_stages, shared_context
from anonymizer.algorithms.schema.rules import (
    Judged,
    child_protections,
    holding_stages,
    holding_steps,
    pair_rules,
    to_merge,
)
from anonymizer.algorithms.schema.tree import Weights, tree_stages
from anonymizer.compile import Sql
from anonymizer.policy import Mondrian, Policy, SchemaPolicy
from anonymizer.policy.schema.derived import persons_policy
from anonymizer.privacy.of_policy.sizes import least_class
from anonymizer.source.child import Child
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.steps import Stage


@dataclass(frozen=True, slots=True)
class CompiledTables:
    """Compiled tables: the persons' table, and the others in the order of writing."""

    persons: Compiled
    tables: tuple[PublishedTable, ...]


def compile_tables(
    policy: SchemaPolicy,
    single: Policy,
    profile: TableProfile,
    roles: Roles,
    children: Sequence[Child],
) -> CompiledTables:
    """Compile the stages from codes to classes, raised events and cells, and the tables to write.

    `single`: the policy of the persons' table alone, to which `profile` and `roles` belong.
    """
    options = single.algorithm
    assert isinstance(options, Mondrian)
    # (the policy of the persons' table has no guarantees that distinguish persons from rows)
    whole = persons_policy(policy, identity=True)
    k = least_class(whole)
    keys = tuple_keys(roles)
    rules, rule_stages = protections(single, roles, keys, alone=False)
    further, further_stages = child_protections(children)
    persons, judged = pair_rules(policy, roles.sensitive, children, _eir_l(policy), k=k)
    of_events = event_rules(policy, children)
    if of_events and not judged:
        persons, judged = needed_of_cuts(of_events, k)
    every = (*rules, *further)
    how = Partitioning(
        k=k,
        split=options.split,
        strict=True,
        protections=every,
        compare=1 if every else options.compare,
        persons=persons,
    )
    stages: tuple[Stage, ...] = (
        *domain_steps(roles),
        *coded_stages(single, roles, numbered=False, packed=True),
        enough_units(whole, k),
        packed_units_step(single, roles),
        *rule_stages,
        owners_step(keys),
        *further_stages,
        *holding_stages(persons, judged),
        *(step for child in children for step in coded_steps(child)),
        *(event_steps(children) if with_events(children) else ()),
        *_cuts(policy, single, profile, roles, children, how),
        *_raised(policy, single, roles, children, persons, judged, of_events),
        *cell_steps(roles.quasi, single.publish.cells),
    )
    return CompiledTables(
        _persons_table(policy, single, roles, stages), published_tables(policy, children)
    )


def _cuts(
    policy: SchemaPolicy,
    single: Policy,
    profile: TableProfile,
    roles: Roles,
    children: Sequence[Child],
    how: Partitioning,
) -> tuple[Stage, ...]:
    """The cuts of the persons, as a tree weighted with events if observers may know some."""
    assert profile.rows is not None
    knows = policy.privacy.knows
    if knows.events and with_events(children):
        weights = Weights(
            least=least_class(single) * knows.events**2,
            last_step=steps_of(children),
            persons=profile.rows,
            event_cells=event_cells(children),
            events=policy.weight.events,
        )
        return tree_stages(roles.quasi, how, profile.rows, weights)
    options = single.algorithm
    assert isinstance(options, Mondrian)
    loop = options.loop if profile.recursive else "driven"
    return partition_stages(roles.quasi, how, profile.rows, loop)


def _raised(
    policy: SchemaPolicy,
    single: Policy,
    roles: Roles,
    children: Sequence[Child],
    rules: PersonRules,
    judged: Sequence[Judged],
    of_events: Sequence[EventRule],
) -> tuple[Stage, ...]:
    """The generalization of events, under the rules on columns of all tables."""
    knows = policy.privacy.knows
    known = least_class(single)
    partial = partial_tables(children, rows=knows.rows) if knows.anything else set()
    ruled = ruled_tables(single, roles, children, rules, judged) if knows.sensitive else ()
    shared = shared_context(children, events=knows.events, rows=knows.rows, least=known)
    of_numbers = class_steps(ruled, shared) if ruled and knows.rows else ()
    of_cells = [step for rule in of_events for step in rule.steps()]
    return raising_stages(
        children,
        events=knows.events,
        rows=knows.rows,
        least=known,
        ruled=ruled,
        holding=holding_steps(children, rules, judged, partial, (*of_numbers, *of_cells)),
        merged=to_merge(),
    )


def _persons_table(
    policy: SchemaPolicy, single: Policy, roles: Roles, stages: tuple[Stage, ...]
) -> Compiled:
    """The table of the persons, with a drawn number instead of its key."""
    layout, (class_id, *columns) = published(single, roles, {})
    key = policy.persons.key
    assert key is not None, "the policy is checked for the key of its persons"
    number = Sql(f"row_number() over (order by {KEY_DRAW('r.draw')})")
    assembly = Assembly((class_id, (key, number), *columns), tuple(tuple_keys(roles)))
    return Compiled(stages, assembly, replace(layout, key=key))


def _eir_l(policy: SchemaPolicy) -> dict[tuple[str, str], int]:
    """The size of reasoning sets that columns require, by table and column."""
    return {
        (name, column): described.protect.eir_l
        for name, table in policy.tables.items()
        for column, described in table.columns.items()
        if described.protect is not None and described.protect.eir_l is not None
    }
