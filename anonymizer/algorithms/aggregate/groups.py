"""The groups of a table of counts: columns, levels, labels, and the statements that count them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from anonymizer.compile import NumberedColumn, NumberedTable, Sql, ident, lit, sql, work
from anonymizer.contract.counts_layout import CountedColumn
from anonymizer.errors import Problem, SourceError
from anonymizer.hierarchy.scale import scale_of
from anonymizer.policy import AggregatePolicy
from anonymizer.policy.aggregate import NULL, By
from anonymizer.policy.paths import closest, path_text
from anonymizer.policy.values import bound_key
from anonymizer.process.text import many
from anonymizer.source.profile import TableProfile, check_kind, published_type, read_as_text
from anonymizer.source.snapshot import SNAPSHOT, Relation, literal_of_type, source_value
from anonymizer.steps import Guard, Row, Stage, Step

ATOMS = work("atoms")
"""The finest groups, with labels on all levels, persons and rows."""
BELOW = "(below)"
"""What is below the first band: such rows are refused."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """A column of groups; its label on level 0 is `g<index>_0`, on the next one `g<index>_1`."""

    index: int
    column: str
    sql_type: str
    kind: str
    of: By
    levels: int = 1
    """Levels below the total; known once the hierarchy is built."""

    v = NumberedColumn("v")
    """Its value in the snapshot; of bands the label of the finest one."""
    label = NumberedColumn("l")
    number = NumberedColumn("n")
    values = NumberedTable("values")
    hierarchy = NumberedTable("hierarchy")
    leaves = NumberedTable("listed")
    domain = NumberedTable("domain")

    @property
    def name(self) -> str:
        return self.column

    @property
    def level(self) -> str | None:
        """The published column of levels, if there are several."""
        return f"{self.column}_level" if self.levels > 1 else None

    @property
    def names(self) -> tuple[Sql, ...]:
        """The columns of its labels, the finest first."""
        return tuple(Sql(f"g{self.index}_{level}") for level in range(self.levels))

    @property
    def labels(self) -> tuple[tuple[Sql, Sql], ...]:
        """Labels over the counted groups `a` and the joined levels, with their names."""
        return tuple(zip(self.texts("a"), self.names, strict=True))

    def texts(self, alias: str) -> tuple[Sql, ...]:
        """The label of every level, over the counted groups under this alias."""
        value = f"{alias}.{self.v}"
        if self.of.bands is not None:
            above = (_band_above(value, *of) for of in self._coarser())
            made = (Sql(value), *above)
        else:
            made = (_text(value, self.sql_type), *(Sql(f"{a}.label") for a, _, _ in self.joins))
        return tuple(sql("coalesce({v}, {n})", v=one, n=lit(NULL)) for one in made)

    @property
    def band_labels(self) -> list[str]:
        """The labels of its finest bands."""
        return self._band_labels(self.of.bands[0]) if self.of.bands is not None else []

    def _coarser(self) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
        """For each coarser level: the labels of the finest bands, and those above them."""
        bands = self.of.bands or ()
        finest = self._band_labels(bands[0])
        for level in bands[1:]:
            labels = dict(zip(level, self._band_labels(level), strict=True))
            above = [
                labels[max((b for b in level if bound_key(b) <= bound_key(low)), key=bound_key)]
                for low in bands[0]
            ]
            yield finest, above

    def _band_labels(self, bounds: Sequence[Any]) -> list[str]:
        whole = scale_of(self.sql_type) is not None and "INT" in self.sql_type
        plain = whole and all(type(b) is int and b >= 0 for b in bounds)
        closed = (
            (f"{low}-{high - 1}" if high - 1 > low else f"{low}") if plain else f"[{low}, {high})"
            for low, high in pairwise(bounds)
        )
        return [*closed, f"{bounds[-1]}+"]

    @property
    def joins(self) -> tuple[tuple[Sql, Sql, int], ...]:
        """Alias, value and level of every level above the values of a hierarchy."""
        if self.of.hierarchy is None:
            return ()
        return tuple((Sql(f"h{self.index}_{j}"), self.v, j) for j in range(1, self.levels))

    @property
    def read(self) -> Sql:
        """Its value over the source."""
        value = source_value(self.column, self.sql_type)
        if self.of.bands is None:
            return value
        scale, bounds = scale_of(self.sql_type), self.of.bands[0]
        assert scale is not None
        labels = self._band_labels(bounds)
        whens = [
            sql("when {v} >= {b} then {n}", v=value, b=scale.literal(bound), n=lit(name))
            for bound, name in zip(reversed(bounds), reversed(labels), strict=True)
        ]
        if self.sql_type in ("FLOAT", "DOUBLE"):  # NaN is above every bound
            whens.insert(0, sql("when {v} = cast('nan' as double) then {n}", v=value, n=lit(BELOW)))
        cases = " ".join(map(str, whens))
        return Sql(f"case when {value} is null then null {cases} else {lit(BELOW)} end")

    def counted(self, nested: Sequence[tuple[str, ...]] = ()) -> CountedColumn:
        """The column as the release describes it."""
        return CountedColumn(
            self.column, self.levels, self.level, tuple(nested), multiple=self.of.multiple
        )


def _band_above(value: str, finest: Sequence[str], above: Sequence[str]) -> Sql:
    whens = (f"when {lit(low)} then {lit(high)}" for low, high in zip(finest, above, strict=True))
    return Sql(f"case {value} {' '.join(whens)} end")


def _text(value: str, sql_type: str) -> Sql:
    """A value as a label; engines print moments of a zone, and doubles, differently."""
    if sql_type == "TIMESTAMP WITH TIME ZONE":
        return Sql(f"(cast(timezone('UTC', {value}) as varchar) || '+00')")
    return Sql(f"cast({literal_of_type(value, sql_type)} as varchar)")


def shared_column(found: Sequence[Dimension]) -> Dimension | None:
    """The column of which a person may be in several groups, if there is one."""
    return next((d for d in found if d.of.multiple), None)


def dimensions(policy: AggregatePolicy, profile: TableProfile) -> tuple[Dimension, ...]:
    """The columns of groups. Raises SourceError for those that the source does not have."""
    types, found, problems = dict(profile.columns), [], []
    for name in (*policy.by, *((policy.person,) if policy.person is not None else ())):
        path = path_text(("aggregate", "by", name)) if name in policy.by else "person"
        if name not in types:
            hint = closest(name, types)
            problems.append(Problem(path, "is not a column of the source", hint=hint))
    SourceError.refuse(problems)
    for index, (name, of) in enumerate(policy.by.items(), 1):
        sql_type = types[name]
        try:
            kind = check_kind(name, sql_type, None)
        except SourceError as error:
            problems += error.problems
            continue
        path = path_text(("aggregate", "by", name, "bands"))
        if of.bands is not None and not _has_order(of, sql_type, kind):
            said = f"does not fit the column's type {published_type(sql_type)}"
            problems.append(Problem(path, said, allowed="numbers, or dates as YYYY-MM-DD"))
        levels = len(of.bands) if of.bands is not None else 1
        found.append(Dimension(index, name, sql_type, kind, of, levels))
    SourceError.refuse(problems)
    return tuple(found)


def _has_order(of: By, sql_type: str, kind: str) -> bool:
    scale = scale_of(sql_type)
    try:
        if kind == "categorical" or scale is None:
            return False
        for bound in (of.bands or ((),))[0]:
            scale.literal(bound)
    except ValueError:
        return False
    return True


def snapshot_step(
    policy: AggregatePolicy,
    found: Sequence[Dimension],
    more: Iterable[tuple[Sql, Sql]],
    source: Relation,
) -> Step:
    """Read the source: no other column than those of groups, the person, and those of sums."""
    columns = [(d.read, d.v) for d in found]
    if policy.person is not None:
        columns.append((ident(policy.person), Sql("person")))
    columns += more
    return Step(
        "read the source",
        "aggregate/snapshot",
        {
            "snapshot": SNAPSHOT,
            "columns": columns,
            "source": source.table or source.sql,
            "relation": source.sql,
        },
    )


def source_guards(policy: AggregatePolicy, found: Sequence[Dimension]) -> Iterator[Stage]:
    """Refuse rows that are in no group, or of no person, and persons in several groups."""
    for d in found:
        if d.of.bands is not None:
            path = path_text(("aggregate", "by", d.column, "bands"))
            context = {"snapshot": SNAPSHOT, "value": d.v}
            yield guard(
                f"bands of {d.column}",
                "below",
                context,
                path,
                ("row is below the first bound or NaN", "rows are below the first bound or NaN"),
                "begin with a lower bound, or leave such rows out in source.query",
            )
    if policy.person is None:
        return
    yield guard(
        "rows without a person",
        "nobody",
        {"snapshot": SNAPSHOT, "who": Sql("person")},
        "person",
        ("row has no person", "rows have no person"),
        "leave such rows out in source.query",
    )
    values = [d.v for d in found if not d.of.multiple]
    if values:
        yield guard(
            "persons in several groups",
            "several_groups",
            {"snapshot": SNAPSHOT, "values": values},
            "aggregate.by",
            ("person is in several groups", "persons are in several groups"),
            "let source.query choose one row for every person: counts of persons must add up;"
            " or multiple: true, for one column under method: suppress",
        )


def guard(
    name: str,
    template: str,
    context: Mapping[str, Any],
    path: str,
    said: tuple[str, str],
    hint: str,
) -> Guard:
    """A query whose count is a reason not to go on, in the singular and the plural of `said`."""

    def explain(row: Row) -> Problem:
        return Problem(path, many(int(row[0]), *said), hint=hint)

    return Guard(Step(name, f"aggregate/{template}", context), explain, SourceError)


def atoms_stages(policy: AggregatePolicy, found: Sequence[Dimension]) -> tuple[Stage, ...]:
    """Count the finest groups."""
    context = {
        "atoms": ATOMS,
        "snapshot": SNAPSHOT,
        "hierarchies": [d.hierarchy for d in found if d.of.hierarchy is not None],
        "dimensions": found,
        "values": [d.v for d in found],
        "texts": [d.v for d in found if read_as_text(d.sql_type)],
        "person": policy.person is not None,
        "domains": [d.domain for d in found] if policy.lists_zeros else [],
        "shared": shared_column(found) is not None,
    }
    shared = shared_column(found)
    labels = [name for d in found for name in d.names]
    return (
        Step("count the finest groups", "aggregate/atoms", context),
        guard(
            "labels of the tool",
            "own_labels",
            {
                "atoms": ATOMS,
                "labels": labels,
                "shared": shared.names[0] if shared is not None else None,
            },
            "aggregate.by",
            ("group is called", "groups are called"),
            "(all), (other) and (null) are labels of the tool: rename such values in source.query",
        ),
    )
