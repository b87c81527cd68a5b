"""The statements that read a further table: its rows, their persons, and its values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from anonymizer.compile import Sql
from anonymizer.errors import Problem, SourceError
from anonymizer.policy.schema.paths import table_path
from anonymizer.process.text import many
from anonymizer.source.child import Above, Child
from anonymizer.source.looked_through import identifier_columns
from anonymizer.source.masking.expressions import per
from anonymizer.source.masking.stages import masking_stages
from anonymizer.source.masking.values import identifier_columns as sought_columns
from anonymizer.source.masking.values import named_by
from anonymizer.source.profile import Attribute, Sensitive
from anonymizer.source.relation import Relation
from anonymizer.source.snapshot import columns_read, content, key_text, values_step
from anonymizer.steps import Guard, Row, Stage, Step


def read_step(child: Child, source: Relation) -> Step:
    """Read the table once: its events, other columns, key and link."""
    policy, profile = child.policy, child.profile
    columns = columns_read(policy, profile, child.roles)
    columns += [
        (Sql(f"coalesce({key_text(str(mask.options['per']), profile)}, '')"), per(mask))
        for mask in child.roles.masks
        if "per" in mask.options
    ]
    columns.append((Sql(key_text(child.link, profile)), Sql("link")))
    if policy.key is not None:
        identity = Sql(key_text(policy.key, profile))
        columns.append((identity, Sql("own")))
    else:
        identity = content((name for name, _ in profile.columns), profile)
    columns.append((identity, Sql("identity")))
    columns += identifier_columns(policy, profile, child.roles, of_several=True)
    if child.redacts:
        columns += sought_columns(named_by(policy, profile))
    context = {
        "snapshot": child.read,
        "columns": columns,
        "source": source.table or source.sql,
        "relation": source.sql,
    }
    return Step(f"read {child.name}", "prepare/snapshot.sql.j2", context)


def orphans_guard(child: Child, above: Above) -> Guard:
    """The guard that raises SourceError if links lead to no row of the table above."""
    context = {"read": child.read, "above": above.read, "key": above.key}

    def explain(row: Row) -> Problem:
        return Problem(
            table_path(child.name, "links", child.link),
            f"{many(row[0], 'row has', 'rows have')} a link that leads to no row of {child.above}",
            hint=f"mend them in source.query, or tables: {{{child.name}: {{orphans: drop}}}}",
        )

    step = Step(f"orphans of {child.name}", "schema/orphans.sql.j2", context)
    return Guard(step, explain, SourceError)


def reached_step(child: Child, above: Above) -> Step:
    """Select the rows linked to a person of the source, if some may not be."""
    context = {
        "read": child.read,
        "above": above.reached,
        "reached": child.reached,
        "key": above.key,
    }
    return Step(f"rows of {child.name} with persons", "schema/reached.sql.j2", context)


def kept_step(child: Child, above: Above) -> Step:
    """Select the rows linked to a person who may be published."""
    context = {
        "read": child.read,
        "above": above.kept,
        "kept": child.raw,
        "key": above.key,
        "persons": above.persons,
        "keyed": child.keyed,
        "shifts": [
            per(m) for m in child.roles.masks if m.kind == "shift" and not m.options.get("per")
        ],
    }
    return Step(f"rows of {child.name}", "schema/kept.sql.j2", context)


def masked_stages(child: Child, read: Step) -> tuple[Stage, ...]:
    """The steps that mask the columns of a table; `read`: the step that read it."""
    if not child.roles.masks:
        return ()
    names = [name for _, name in read.parameters["columns"]]
    names += [per(m) for m in child.roles.masks if m.kind == "shift" and per(m) not in names]
    names += [Sql(name) for name in ("above", "person")]
    names += [Sql("person_key")] if child.keyed else []
    return masking_stages(
        child.policy, child.roles.masks, names, child.kept, child.raw, alone=False
    )


def values_of(child: Child) -> Iterator[Step]:
    """The steps that collect the distinct values of every event column."""
    for a in child.attributes:
        yield values_step(a.column, a.values, a.q, child.kept)


def flat_step(attribute: Attribute) -> Step:
    """The hierarchy of a categorical column without one: `*` above all values."""
    context = {"values": attribute.values, "hierarchy": attribute.hierarchy}
    return Step(f"hierarchy of {attribute.column}", "schema/flat.sql.j2", context)


def counts_step(child: Child) -> Step:
    """The query that counts rows, and values, NULLs and levels of event columns, and levels of
    sensitive columns.
    """
    of_sensitive = [s.hierarchy for s in child.roles.sensitive if _has_levels(child, s)]
    context = {
        "read": child.read,
        "reached": child.reached,
        "kept": child.kept,
        "values": [a.values for a in child.attributes],
        "hierarchies": [a.hierarchy for a in child.attributes] + of_sensitive,
        "columns": [(a.values, a.hierarchy, a.q) for a in child.attributes],
        "sensitive": of_sensitive,
    }
    return Step(f"counts of {child.name}", "schema/counts.sql.j2", context)


def counted(child: Child, found: list[Row]) -> Child:
    """The table with its counts."""
    figures = {int(number): (int(n), int(nulls), int(height)) for number, n, nulls, height in found}
    attributes = tuple(
        replace(a, distinct=figures[i][0], nulls=figures[i][1], height=figures[i][2])
        for i, a in enumerate(child.attributes, 1)
    )
    read, owned, rows = (figures[i][0] for i in (-2, -1, 0))
    heights = (figures[i][2] for i in range(len(attributes) + 1, len(figures) - 2))
    sensitive = tuple(
        replace(s, height=next(heights)) if _has_levels(child, s) else s
        for s in child.roles.sensitive
    )
    described = replace(child.roles, quasi=attributes, sensitive=sensitive)
    return replace(child, roles=described, rows=rows, owned=owned, orphans=read - owned)


def _has_levels(child: Child, column: Sensitive) -> bool:
    """Whether a sensitive column has a hierarchy for distances."""
    return child.policy.columns[column.column].hierarchy is not None
