"""Compile the algorithm `msb`: guards, grouping of persons, published tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from anonymizer.algorithms.core.cells import Cell, cell_steps
from anonymizer.algorithms.core.compiled import (
    Assembly,
    Compiled,
    RowWriter,
    SeparateTable,
    published_columns,
)
from anonymizer.algorithms.core.encode import (
    CODED,
    PERSONS,
    coded_stages,
    domain_steps,
    person_stages,
    units_step,
)
from anonymizer.algorithms.core.partition import Partitioning, partition_stages
from anonymizer.algorithms.msb.grouping import (
    Dimension,
    Grouping,
    affordable,
    bucket_stages,
    dimensions,
    group_stages,
    refuse_size,
    values_step,
)
from anonymizer.compile import Sql, Table, ident, work
from anonymizer.contract.layout import Layout, PublishedColumn
from anonymizer.errors import InfeasibleError, Problem, SourceError
from anonymizer.guarantees.rule import share_at_most
from anonymizer.policy import Policy
from anonymizer.policy.algorithms import Msb
from anonymizer.policy.fields import separated_tables
from anonymizer.policy.paths import column_path
from anonymizer.process.text import many
from anonymizer.source.profile import Attribute, Sensitive, TableProfile, published_type
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import later_draw
from anonymizer.steps import Guard, Row, Stage, Step

# Guards of this algorithm: counts over the source that rule out a release.


def _level_problem(dimension: Dimension, row: Row) -> Problem:
    twice, without = row
    path = column_path(dimension.column, "protect")
    if twice:
        return Problem(
            f"{path}.levels",
            f"names {twice} values of the data in two levels, written in different ways",
            hint="write each value once, as the column's type prints it",
        )
    return Problem(
        f"{path}.default_level",
        f"is missing: {without} values of the data are in no level",
        hint="default_level: <the level of all values that are not listed>",
    )


def diversity_guards(policy: Policy, how: Grouping) -> tuple[Guard, ...]:
    """Guards that every column has enough different values, and none that is too frequent."""
    guards = []
    for d in how.dimensions:
        wanted = sorted(
            {level.needed for level in (*d.levels, *([d.default] if d.default else []))}
        )
        context = {
            "values": d.values,
            "unit": math.lcm(*wanted),
            "allowed": share_at_most(policy.suppression_limit),
        }
        guards.append(
            Guard(
                Step(f"diversity of {d.column}", "msb/guard_diversity", context),
                lambda row, d=d: _diversity_problem(d, row, policy, how.unit),  # type: ignore[misc]
                InfeasibleError,
            )
        )
    return tuple(guards)


def enough_rows(how: Grouping) -> Guard:
    """A guard that there are enough rows for some record to begin a group."""

    def explain(row: Row) -> Problem:
        least, records = row
        return Problem(
            "privacy.level_l"
            if any(d.levels for d in how.dimensions)
            else column_path(how.dimensions[0].column, "protect", "l_diversity"),
            f"asks for groups of at least {least} {how.unit}, but there are {records} {how.unit}"
            " with a value in every protected column",
            hint=f"lower l, or release more {how.unit}",
        )

    step = Step("enough rows for a group", "msb/guard_rows", how.context)
    return Guard(step, explain, InfeasibleError)


def _diversity_problem(dimension: Dimension, row: Row, policy: Policy, unit: str) -> Problem:
    poor, different, needed, most, known, over = row
    path = column_path(dimension.column, "protect")
    if poor:
        return Problem(
            path,
            f"needs more different values than the {different} of the data: the shares of 1/l"
            " that they may take of a group do not make a whole one",
            hint="lower l, give a value level 0, or drop the column",
        )
    return Problem(
        path,
        f"lets a value take 1/{needed} of the {known} {unit} that have one, but one has {most}:"
        f" at least {over} {unit} would be suppressed, more than suppression_limit"
        f" {policy.suppression_limit:g} allows",
        hint="lower its l or its level, or raise suppression_limit",
    )


def enough_for_classes(how: Grouping, k: int) -> Guard:
    """A guard that k rows (persons) are published, as generalized classes need."""

    def explain(row: Row) -> Problem:
        return Problem(
            "algorithm.generalize.k",
            f"asks for classes of {k} {how.unit}, but {row[0]} {how.unit} are in groups",
            hint=f"lower k, or release more {how.unit}",
        )

    step = Step(
        "enough rows for a class",
        "guards/too_few",
        {"coded": how.records, "count": Sql("count(*)"), "least": k},
    )
    return Guard(step, explain, InfeasibleError)


# Groups persons with several rows: a person is one record, with one value per column.
#
# A group then consists of persons: at most 1/l of them have any one value. All rows of a person
# show the same group, while the tables of values hold one row per person. To an observer who knows
# the members of a group and the number of rows of each, a value is equally likely for all members.
# With a row of values per row of the view, a value would be likelier for persons with more rows.
# For the same reason a person must have one value per sensitive column: if the values of several
# rows were separated and shuffled, a value would again be likelier for persons with more rows.


RECORDS = work("msb_records")
"""One row of every person, in the columns of CODED."""


def record_stages(roles: Roles) -> tuple[Stage, ...]:
    """Stages that write RECORDS; a person with different values in one column stops the run."""
    return (
        *(_one_value(column) for column in roles.sensitive),
        Step("one record per person", "msb/records", {"coded": CODED, "records": RECORDS}),
    )


def _one_value(column: Sensitive) -> Guard:
    def explain(row: Row) -> Problem:
        return Problem(
            column_path(column.column),
            f"differs between the rows of {many(row[0], 'person')}, and msb takes a person as one"
            " record with one value",
            hint="gather a person's values into one in source.query, for instance by"
            " string_agg(distinct ...), or keep them all with eir_l and mondrian or danonyir",
        )

    query = Step(
        f"one value of {column.column} per person",
        "msb/guard_persons",
        {"coded": CODED, "column": column.s},
    )
    return Guard(query, explain, SourceError)


# Publishes the rows with their group, and a separate table for every sensitive column.


Columns = tuple[tuple[str, Sql], ...]

GROUP = Sql("r.group_number")


@dataclass(frozen=True, slots=True)
class ExactRows:
    """The statement that writes rows whose quasi-identifiers are published exactly."""

    columns: Columns
    """Published names and expressions over the row `r` and its cells `c`, in order."""
    cells: tuple[tuple[Sql, Sql], ...]
    attributes: tuple[Attribute, ...]
    persons: Table | None = None
    """The table of persons' numbers, if rows belong to persons."""

    def step(
        self, target: Table, extra: Sequence[tuple[str, Sql]] = (), *, ordered: bool = True
    ) -> Step:
        """The step that writes the rows to `target`, with `extra` columns where it is a link."""
        return Step(
            "write the release",
            "msb/rows",
            {
                "release": target,
                "coded": CODED,
                "domains": [a.domain for a in self.attributes],
                "attributes": self.attributes,
                "cells": self.cells,
                "persons": self.persons,
                "columns": [(sql, ident(name)) for name, sql in (*self.columns, *extra)],
                "ordered": ordered,
            },
        )


def layout_of(policy: Policy, roles: Roles, *, generalized: bool) -> tuple[Layout, Columns]:
    """The layout, and the columns of the view, which has no sensitive columns."""
    layout, columns = published_columns(policy, replace(roles, sensitive=()), {})
    group = policy.generated_name("group_id")
    sensitive = tuple(
        PublishedColumn(
            s.column,
            "sensitive",
            s.kind,
            published_type(s.sql_type),
            name=policy.column_name(s.column),
        )
        for s in roles.sensitive
    )
    layout = replace(
        layout,
        class_id=layout.class_id if generalized else None,
        group_id=group,
        tables=separated_tables(policy),
        columns=(*layout.columns, *sensitive),
    )
    # the first column is the class number, which does not exist without classes
    return layout, ((group, GROUP), *(columns if generalized else columns[1:]))


def exact_rows(policy: Policy, roles: Roles, columns: Columns) -> ExactRows:
    """The statement for rows whose cells are the exact values."""
    typed = policy.publish.cells == "typed"
    cells: list[tuple[Sql, Sql]] = []
    for a in roles.quasi:
        cells += _label_columns(a) if typed else [(Cell(a).out, Sql(f"{a.d}.label"))]
    persons = PERSONS if policy.person is not None else None
    return ExactRows(columns, tuple(cells), roles.quasi, persons)


def _label_columns(attribute: Attribute) -> list[tuple[Sql, Sql]]:
    cell, value = Cell(attribute), Sql(f"{attribute.d}.value")
    nullable = (cell.out_nullable, Sql(f"{value} is null"))
    if cell.shape == "range":
        return [(cell.out_lo, value), (cell.out_hi, value), nullable]
    if cell.shape == "set":
        return [(cell.out, Sql(f"[{value}]"))]
    return [(cell.out, Sql(f"{attribute.d}.label")), nullable]


@dataclass(frozen=True, slots=True)
class SeparateValues:
    """The statement that writes one sensitive column with the groups of its values."""

    table: str
    group: str
    name: str
    value: Sql
    draw: Sql
    records: Table

    def step(self, target: Table) -> Step:
        """The step that writes the table to `target`."""
        return Step(
            f"write {self.table}",
            "msb/separate",
            {
                "release": target,
                "coded": self.records,
                "group": self.group,
                "name": self.name,
                "value": self.value,
                "draw": self.draw,
            },
        )


def separate_values(
    policy: Policy, roles: Roles, layout: Layout, records: Table
) -> tuple[SeparateTable, ...]:
    """One table per sensitive column, each in a separate order."""
    assert layout.group_id is not None
    return tuple(
        SeparateValues(
            layout.tables[s.column],
            layout.group_id,
            policy.column_name(s.column),
            s.s,
            later_draw("draw", f"table {s.index}"),
            records,
        )
        for s in roles.sensitive
    )


# Compiles the algorithm `msb`: from policy and profile to stages, published tables and layout.


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
        *(
            Guard(
                Step(
                    f"one level for every value of {d.column}",
                    "msb/guard_levels",
                    {"values": d.values, "unlisted": d.default is None},
                ),
                lambda row, d=d: _level_problem(d, row),  # type: ignore[misc]
                SourceError,
            )
            for d in how.dimensions
            if d.levels
        ),
        *bucket_stages(how),
        enough_rows(how),
        *diversity_guards(policy, how),
        *affordable(how),
        *group_stages(how, profile.rows),
        Step(
            "records into groups",
            "msb/place",
            {**how.context, "group_draw": later_draw("draw", "group")},
        ),
        *(
            (Step("rows of persons", "msb/person_rows", {"coded": CODED, "records": RECORDS}),)
            if persons
            else ()
        ),
    )
    generalized = options.generalize is not None
    layout, columns = layout_of(policy, roles, generalized=generalized)
    writer: RowWriter = exact_rows(policy, roles, columns)
    if options.generalize is not None:
        stages += _class_stages(policy, roles, profile, how)
        keys = tuple(a.c for a in roles.quasi)
        writer = Assembly(columns, keys, persons=PERSONS if persons else None)
    separated = separate_values(policy, roles, layout, how.records)
    return Compiled(stages, writer, layout, separated=separated)


def _class_stages(
    policy: Policy, roles: Roles, profile: TableProfile, grouping: Grouping
) -> tuple[Stage, ...]:
    """Stages that form classes of the published rows by quasi-identifiers, regardless of groups."""
    assert grouping.options.generalize is not None
    assert profile.rows is not None
    k = grouping.options.generalize.k
    how = Partitioning(k=k, split="loss", strict=True)
    return (
        enough_for_classes(grouping, k),
        units_step(policy, [a.c for a in roles.quasi]),
        *partition_stages(roles.quasi, how, profile.rows, recursive=profile.recursive),
        *cell_steps(roles.quasi, policy.publish.cells),
    )
