"""Compile several tables and their counts to the stages of a release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from anonymizer.algorithms.core.cells import Cell, cell_steps, labels_steps, present
from anonymizer.algorithms.core.compiled import (
    Assembly,
    Compiled,
    codes_of,
    named_cells,
    published_columns,
)
from anonymizer.algorithms.core.encode import (
    coded_stages,
    domain_steps,
    packed_units_step,
    tuple_keys,
)
from anonymizer.algorithms.core.guards import enough_units
from anonymizer.algorithms.core.partition import Partitioning, partition_stages
from anonymizer.algorithms.core.person_rules import PersonRules
from anonymizer.algorithms.core.protections import protections
from anonymizer.algorithms.lattice.recode import cell_columns
from anonymizer.algorithms.schema.event_generalization import (
    PLACED,
    EventRule,
    event_rules,
    needed_of_cuts,
    partial_tables,
    raising_stages,
    shared_context,
)
from anonymizer.algorithms.schema.events import (
    EventColumn,
    Weights,
    coded_steps,
    event_cells,
    event_columns,
    event_steps,
    owners_step,
    steps_of,
    tree_stages,
    with_events,
)
from anonymizer.algorithms.schema.rules import (
    FAILING,
    Judged,
    child_protections,
    class_steps,
    holding_stages,
    holding_steps,
    pair_rules,
    ruled_tables,
)
from anonymizer.compile import Sql, Table, ident, sql
from anonymizer.contract.layout import Layout, PublishedColumn
from anonymizer.guarantees.requirements import least_class
from anonymizer.policy import Mondrian, Policy, SchemaPolicy
from anonymizer.policy.fields import ROW_REF
from anonymizer.source.child import Child
from anonymizer.source.profile import TableProfile, published_type
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import later_draw
from anonymizer.steps import Stage, Step

# Publishes the rows of every table except the persons': cells, drawn keys, links.


KEY_DRAW = partial(later_draw, purpose="key")
"""The draw that orders the keys of a table, derived from the draws of its rows."""


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table to write: its layout, and the expressions of its columns."""

    child: Child
    name: str
    """Name of the published table."""
    layout: Layout
    """Its events are quasi-identifiers in the layout, at levels of their hierarchies."""
    columns: tuple[tuple[str, Sql], ...]
    gone: bool
    """True if some of its rows may be left out."""

    def steps(self, above: Table) -> Iterator[Step]:
        """The steps that write `linked` of the child: its rows, each with its original.

        `above`: the same table of its parent; for children of the persons, that of the persons.
        """
        child, attributes = self.child, event_columns(self.child)
        for a in attributes:
            _, *steps = labels_steps(a.attribute)
            yield self._present(a)
            yield from steps
        codes = list(self._codes()) if self.gone else []
        if codes:
            again = {"kept": child.kept, "gone": child.gone, "codes": codes}
            again["coded_again"] = child.kept
            name = f"codes of {child.name} among the rows that are left"
            yield Step(name, "schema/coded_again", again)
        columns = [(expression, ident(name)) for name, expression in self.columns]
        columns.append((Sql("c.row_ref"), ident(ROW_REF)))
        context = {
            "coded": child.coded,
            "kept": child.kept,
            "above": above,
            "placed": PLACED,
            "recodings": [a.recoding for a in attributes],
            "shown": [a.shown for a in attributes],
            "gone": child.gone if self.gone else None,
            "link": child.linked,
            "columns": columns,
            "number": child.number,
            "step_levels": child.step_levels,
            "attributes": attributes,
            "row_ref": ROW_REF,
        }
        yield Step(f"rows of {child.name} with their originals", "schema/rows", context)

    def _codes(self) -> Iterator[tuple[Sql, Sql, Sql]]:
        """Columns coded at a value that a given number of rows reach: computed from all rows, and
        again from those not left out, which changes nothing if enough of them have the code.
        """
        for mask in self.child.roles.masks:
            if "at_least" not in mask.options:
                continue
            top = mask.kind == "top_code"
            order, outer, cut = ("desc", "min", "least") if top else ("asc", "max", "greatest")
            limit = sql(
                f"(select {outer}(v) from (select z.{mask.physical} as v from {{kept}} z"
                " anti join {gone} x on x.row_ref = z.rowid"
                f" where z.{mask.physical} is not null order by v {order}"
                f" limit {mask.options['at_least']}) as beyond)",
                kept=self.child.kept,
                gone=self.child.gone,
            )
            yield mask.physical, limit, Sql(cut)

    def _present(self, a: EventColumn) -> Step:
        context = {
            "coded": self.child.coded,
            "gone": self.child.gone,
            "present": present(a.attribute),
            "code": a.c,
        }
        return Step(f"published values of {a.attribute.column}", "schema/present", context)

    def publish(self, target: Table) -> Step:
        """The step that writes the published table from `linked`."""
        names = [name for name, _ in self.columns]
        context = {"link": self.child.linked, "release": target, "columns": names, "written": []}
        return Step(f"publish {self.child.name}", "link/published", context)


def published_table(
    policy: SchemaPolicy, child: Child, children: Sequence[Child]
) -> PublishedTable:
    """A table other than the persons', with the columns that it publishes."""
    table = policy.tables[child.name]
    above = policy.tables[child.above].key
    events = {a.attribute.column: a for a in event_columns(child)}
    sensitive = {s.column: s for s in child.roles.sensitive}
    kept = {c.column: c for c in child.roles.kept}
    columns: list[tuple[str, Sql]] = []
    described: list[PublishedColumn] = []
    for name in table.columns:
        if name == table.published_key:
            columns.append((name, Sql(f"row_number() over (order by {KEY_DRAW('c.draw')})")))
        elif name == child.link:
            assert above is not None
            columns.append((name, Sql(f"u.{ident(above)}")))
        elif name in events:
            item, cells = _event(policy, child, events[name])
            columns += cells
            described.append(item)
        elif name in sensitive or name in kept:
            one = sensitive[name] if name in sensitive else kept[name]
            physical = sensitive[name].s if name in sensitive else kept[name].k
            columns.append((name, Sql(f"k.{physical}")))
            described.append(
                PublishedColumn(
                    name,
                    "sensitive" if name in sensitive else "keep",
                    sensitive[name].kind if name in sensitive else "categorical",
                    published_type(one.sql_type),
                    name=name,
                    masks=child.roles.mask_descriptions(name),
                )
            )
    layout = Layout(
        algorithm=policy.algorithm.name,
        cells=policy.publish.cells,
        columns=tuple(described),
        class_id=None,
        key=table.published_key,
        links={child.link: child.above},
    )
    gone = child.name in partial_tables(children, rows=policy.privacy.knows.rows)
    return PublishedTable(child, policy.view(child.name), layout, tuple(columns), gone)


def _event(
    policy: SchemaPolicy, child: Child, a: EventColumn
) -> tuple[PublishedColumn, list[tuple[str, Sql]]]:
    """A published event column, and the columns of its cell."""
    attribute, cell = a.attribute, Cell(a.attribute)
    name = attribute.column
    item = PublishedColumn(
        column=name,
        role="quasi",
        kind=attribute.kind,
        sql_type=published_type(attribute.sql_type),
        hierarchy=cell.shape == "node",
        masks=child.roles.mask_descriptions(name),
        **codes_of(child.policy, attribute),
    )
    typed = policy.publish.cells == "typed"
    item, names = named_cells(item, cell.shape, name, typed=typed)
    made = (expression for _, expression in cell_columns(a, policy.publish.cells))
    return item, list(zip(names, made, strict=True))


# Compiles several tables and their counts to the stages of a release.


def compile_tables(
    policy: SchemaPolicy,
    single: Policy,
    profile: TableProfile,
    roles: Roles,
    children: Sequence[Child],
) -> Compiled:
    """Compile the stages from codes to classes, raised events and cells, and the persons' table.

    `single`: the policy of the persons' table alone, to which `profile` and `roles` belong.
    """
    options = single.algorithm
    assert isinstance(options, Mondrian)
    # (the policy of the persons' table has no guarantees that distinguish persons from rows)
    whole = policy.whole
    k = least_class(whole)
    keys = tuple_keys(roles)
    rules, rule_stages = protections(single, roles, keys, alone=False)
    further, further_stages = child_protections(children)
    persons, judged = pair_rules(policy, roles.sensitive, children, policy.reserved, k=k)
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
        *_event_stages(policy, single, roles, children, persons, judged, of_events),
        *cell_steps(roles.quasi, single.publish.cells),
    )
    return _persons_table(policy, single, roles, stages)


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
    return partition_stages(roles.quasi, how, profile.rows, recursive=profile.recursive)


def _event_stages(
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
    shared = shared_context(
        children, events=knows.events, rows=knows.rows, least=known, joined=knows.joined
    )
    of_numbers = class_steps(ruled, shared) if ruled and knows.rows else ()
    of_cells = [step for rule in of_events for step in rule.steps()]
    return raising_stages(
        children,
        events=knows.events,
        rows=knows.rows,
        least=known,
        ruled=ruled,
        holding=holding_steps(children, rules, judged, partial, (*of_numbers, *of_cells)),
        merged=Step("classes merged", "schema/to_merge", {"failing": FAILING}),
        joined=knows.joined,
    )


def _persons_table(
    policy: SchemaPolicy, single: Policy, roles: Roles, stages: tuple[Stage, ...]
) -> Compiled:
    """The table of the persons, with a drawn number instead of its key."""
    layout, (class_id, *columns) = published_columns(single, roles, {})
    key = policy.persons.key
    assert key is not None, "the policy is checked for the key of its persons"
    number = Sql(f"row_number() over (order by {KEY_DRAW('r.draw')})")
    assembly = Assembly((class_id, (key, number), *columns), tuple(tuple_keys(roles)))
    return Compiled(stages, assembly, replace(layout, key=key))
