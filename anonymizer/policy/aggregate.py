"""Fields of a policy of a table of counts: groups, measures, protection, and the method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise, product
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from anonymizer.errors import Problem
from anonymizer.policy.document import Document
from anonymizer.policy.hierarchies import Hierarchy, Order, Taxonomy
from anonymizer.policy.kinds import ANONYMISED, ReleaseKind
from anonymizer.policy.paths import closest, path_text
from anonymizer.policy.problems import Broken
from anonymizer.policy.publish import Context, Publish, Source, without_default
from anonymizer.policy.values import (
    AsTuple,
    Bound,
    DataValue,
    FrozenMap,
    Identity,
    LocalPath,
    OneOf,
    Options,
    Positive,
    PositiveShare,
    Refused,
    Share,
    Shorthand,
    Text,
    ascending,
    fail,
)

ALL = "(all)"
OTHER = "(other)"
NULL = "(null)"
LABELS = (ALL, OTHER, NULL)
"""Labels of the tool: a total, the persons left out, and the group of NULL."""
STATUS = "status"
WITNESS = "witness"
"""The further table that proves a release of hidden figures, and its column with the number of
the table of whole numbers that a row belongs to."""
METHODS = ("rest", "suppress", "round", "dp")
SINGLE_VALUES = ("avg", "mean", "median", "quantile", "min", "max", "mode", "first", "last")
"""Aggregates that show the values of single persons."""
MOST_COLUMNS = 6
MOST_MARGINS = 4_096
"""Groupings of a release; six columns with three levels each have as many."""
LEAST_EPSILON, MOST_EPSILON = 1e-6, 10.0
"""Below, every figure is noise of millions; above, one count in 10,000 has any noise."""


def _levels_of_bands(given: object) -> object:
    """One list of bounds, or a list of lists, the finest level first."""
    if (
        isinstance(given, list | tuple)
        and given
        and all(isinstance(x, list | tuple) for x in given)
    ):
        return tuple(tuple(level) for level in given)
    return (tuple(given),) if isinstance(given, list | tuple) else given


def _nested(given: tuple[tuple[Any, ...], ...]) -> tuple[tuple[Any, ...], ...]:
    for number, (finer, coarser) in enumerate(pairwise(given), 1):
        if finer[0] != coarser[0] or not {*coarser} < {*finer}:
            raise fail(
                f"has levels that do not nest: {number} and {number + 1}",
                hint="let every bound of a level be a bound of the one before it",
            )
    return given


OF_FILE = BeforeValidator(lambda given: {"file": given} if isinstance(given, str) else given)
Bounds = Annotated[tuple[Bound, ...], Field(min_length=1), AfterValidator(ascending)]


def _domain(given: object) -> object:
    if not isinstance(given, list | tuple):
        raise fail("is not a list of values", hint="domain: [F, M]")
    if len({one if one is None else str(one) for one in given}) < len(given):
        raise fail("lists a value twice")
    return tuple(given)


class By(Options):
    """A column whose values make groups, and its levels."""

    hierarchy: Annotated[Hierarchy, OF_FILE, Shorthand({"type": "string"})] | None = None
    """The levels above the values, which become margins; the path of a file is short for it."""
    bands: (
        Annotated[
            tuple[Bounds, ...],
            BeforeValidator(_levels_of_bands),
            AfterValidator(_nested),
            Shorthand({"type": "array", "items": {"type": ["number", "string"]}}),
        ]
        | None
    ) = None
    """Lower bounds of the bands; or several lists, the finest level first."""
    domain: (
        Annotated[tuple[DataValue | None, ...], BeforeValidator(_domain), Field(min_length=1)]
        | None
    ) = None
    """All values that may occur, as everybody knows them without the data; null for NULL."""
    multiple: bool = False
    """True if a person may be in several groups of the column (with suppress, one column)."""

    @property
    def listed(self) -> tuple[DataValue | None, ...] | None:
        """The values of the domain that the policy lists."""
        return self.domain or (self.hierarchy.values if isinstance(self.hierarchy, Order) else None)


def _by(given: object) -> object:
    if isinstance(given, Mapping):
        return {name: {} if of is None else of for name, of in given.items()}
    if isinstance(given, list | tuple) and all(isinstance(name, str) for name in given):
        if len({*given}) < len(given):
            raise fail("names a column twice")
        return {name: {} for name in given}
    return given


def _count(given: object) -> object:
    if given in ("persons", "rows"):
        return given
    said = "is not what can be counted"
    if isinstance(given, Mapping) or (isinstance(given, str) and "distinct" in given.lower()):
        said = "of distinct values shows single values"
    raise fail(said, allowed="persons, rows")


def _measure(given: object) -> object:
    for name in given if isinstance(given, Mapping) else ():
        if str(name).lower() in SINGLE_VALUES:
            said = "shows the values of single persons"
            raise fail(said, allowed="count, sum, ratio", hint="ratio: [SUM, COUNT] is a mean")
    return given


class Measure(OneOf):
    """A figure of every group."""

    ONE_OF = ("count", "sum", "ratio")

    count: Annotated[Literal["persons", "rows"], BeforeValidator(_count)] | None = None
    """The number of persons, or of rows."""
    sum: Text | None = None
    """The sum of a column."""
    ratio: Annotated[tuple[Text, Text], AsTuple] | None = None
    """One measure of this release divided by another."""
    nonnegative: bool = False
    """True if no value of the sum is negative, as everybody knows."""


class Depth(Options):
    """Margins of groups by few columns."""

    depth: Annotated[int, Field(ge=0, le=MOST_COLUMNS)]
    """The largest number of columns that a margin distinguishes."""


def _margins(given: object) -> object:
    if isinstance(given, list | tuple):
        return tuple(tuple(one) if isinstance(one, list | tuple) else one for one in given)
    if isinstance(given, Depth | Mapping) or given in ("all", "none"):
        return given
    raise fail("is not a choice of margins", allowed="all, none, [[a, b], [c]], {depth: 2}")


class Aggregate(Options):
    """The table of counts: its groups, its totals, its figures."""

    by: Annotated[
        FrozenMap[Text, By],
        BeforeValidator(_by),
        Field(min_length=1, max_length=MOST_COLUMNS),
        Shorthand({"type": "array", "items": {"type": "string"}}),
    ]
    """The columns that make groups, in order. No others are read, besides those of measures."""
    margins: Annotated[
        Literal["all", "none"] | tuple[tuple[Text, ...], ...] | Depth, BeforeValidator(_margins)
    ] = "all"
    """The totals: all, none, lists of columns, or those of at most `depth` columns."""
    measures: Annotated[
        FrozenMap[Text, Annotated[Measure, BeforeValidator(_measure)]], Field(min_length=1)
    ]
    """The figures of every group, by their names."""
    zeros: Literal["omit", "list"] = "omit"
    """Whether groups without persons are listed."""


class Dominance(Options):
    """A sum must not show the contribution of one to another."""

    p: Annotated[float, Field(gt=0)] | None = None
    """Every contribution stays open by at least p %."""
    n: Positive | None = None
    """The number of the largest contributions that are limited together."""
    k: Annotated[float, Field(gt=0, lt=100)] | None = None
    """They are at most k % of the sum."""


class Protection(Options):
    """The smallest group, and rules for sums."""

    minimum: Annotated[int, Field(ge=2, le=2**31)] | None = None
    """Groups of 1 to minimum - 1 persons are not shown to exist."""
    acknowledge: Literal["small_minimum"] | None = None
    """small_minimum: a minimum of 2, which protects groups of one only."""
    dominance: Dominance | None = None
    """The rule for every sum."""
    contributor: Text | None = None
    """The column of who contributes to sums; default: the person."""
    insiders: bool = False
    """True if a contributor who is alone in a group knows its sum."""
    groups: FrozenMap[Text, PositiveShare] = FrozenMap()
    """The largest share of one value of a column in a published group."""


class Rest(Options):
    """Small groups are left out of the table and of its totals, and counted together in one row."""

    list_hidden: bool = False
    """True if groups that are left out are listed, without figures."""
    limit: Share = 0.05
    """The largest share of persons left out; more fails the run."""


class Suppress(Options):
    """Figures stay true; those of small groups are hidden, and others so that none follows."""

    cost: Literal["log", "cells", "persons"] = "log"
    """What hiding a cell costs: the logarithm of its persons, the same for all, or its persons."""
    keep: Annotated[tuple[tuple[Text, ...], ...], BeforeValidator(_margins)] = ()
    """Margins that are never hidden, as lists of columns."""
    limit_s: Annotated[float, Field(ge=0)] = 60
    """Seconds for showing cells again and for the least cost; the protection has no limit."""


class Rounding(Options):
    """Small groups become 0 or the base, and totals are sums of these."""

    base: Annotated[int, Field(ge=2, le=2**31)] | None = None
    """The smallest count that is published; default: the minimum."""


TYPED = Refused("is for tables of rows: a table of counts has labels", "leave it out")
INPLACE = Refused("would replace rows by counts", "publish: {database: release.duckdb}")
RENAMED = Refused("is for tables of rows", "name the measures in aggregate.measures")


class Noise(Options):
    """Every group of the domain gets noise (discrete Laplace), and totals are sums of these."""

    epsilon: Annotated[float, Field(ge=LEAST_EPSILON, le=MOST_EPSILON)] | None = None
    """The privacy loss of a release; noise has the scale per_person / epsilon."""
    per_person: Positive = 1
    """The number of finest groups that a person may be in."""
    budget: Annotated[float, Field(ge=LEAST_EPSILON)] | None = None
    """What epsilon may add up to in the ledger; default: what an earlier policy states, or epsilon,
    which is one release."""


class CountsPublish(Publish):
    """The release: name, location and format."""

    name: Text = Field(default="", json_schema_extra=without_default)
    """Name of the published view; default: `<table>_counts`; required for a query."""
    cells: Annotated[Literal["text"], TYPED] = Field("text", exclude=True)
    bounds: Annotated[Literal["tight"], TYPED] = Field("tight", exclude=True)
    rename: Annotated[FrozenMap[Text, Text], RENAMED] = Field(FrozenMap(), exclude=True)
    replace_source: Annotated[bool, INPLACE] = Field(False, exclude=True)


OF_ROWS = Refused("is for tables of rows, and this policy has `aggregate`", "leave it out")


class AggregateFields(Document):
    """The fields of a policy of a table of counts, and what follows from them."""

    OTHERWISE: ClassVar[tuple[str, ...]] = ()

    engine: Literal["duckdb", "spark", "postgres"] = "duckdb"
    """The engine that does the work."""
    kind: Literal["anonymised"] | None = None
    """The kind of the release."""
    source: Source
    """The table that is counted."""
    person: Identity | None = None
    """The column, or several together, that identify the person of a row; without it a row is a
    person."""
    aggregate: Aggregate
    """The table of counts."""
    protect: Protection = Protection()
    """What the published figures must not show; dp does not need a minimum, and applies none."""
    method: Literal["rest", "suppress", "round", "dp"] = "rest"
    """How it is protected: rest leaves small groups out of the table and its totals, suppress hides
    figures, round makes small ones 0 or a base, dp adds noise to all."""
    rest: Rest = Rest()
    """Options of the method rest."""
    suppress: Suppress = Suppress()
    """Options of the method suppress."""
    round: Rounding = Rounding()
    """Options of the method round."""
    dp: Noise = Noise()
    """Options of the method dp."""
    ledger: LocalPath | None = None
    """A private database file that records releases."""
    publish: CountsPublish = CountsPublish()
    """The place and the name of the release."""
    context: Context | None = None
    """The recipients and what is known about them; printed, without effect on the run."""
    columns: Annotated[Any, OF_ROWS] = None
    privacy: Annotated[Any, OF_ROWS] = None
    algorithm: Annotated[Any, OF_ROWS] = None
    suppression_limit: Annotated[Any, OF_ROWS] = None
    key: Annotated[Any, OF_ROWS] = None
    preset: Annotated[Any, OF_ROWS] = None
    workload: Annotated[Any, OF_ROWS] = None
    republish: Annotated[Any, OF_ROWS] = None

    @property
    def release_kind(self) -> ReleaseKind:
        return ANONYMISED

    @property
    def by(self) -> Mapping[str, By]:
        """The columns that make groups, in order."""
        return self.aggregate.by

    @property
    def minimum(self) -> int:
        return self.protect.minimum or 0

    @property
    def epsilon(self) -> float | None:
        """The privacy loss, with the method dp."""
        return self.dp.epsilon if self.method == "dp" else None

    @property
    def lists_zeros(self) -> bool:
        """True if every group of the domain is listed."""
        return self.method == "dp" or (self.method == "round" and self.aggregate.zeros == "list")

    @property
    def weighed(self) -> tuple[str, ...]:
        """The measures that add up what persons contribute: sums, and rows beside persons."""
        beside = self.person is not None
        return tuple(
            name
            for name, of in self.aggregate.measures.items()
            if of.sum is not None or (of.count == "rows" and beside)
        )

    @property
    def has_finest(self) -> bool:
        """True if the finest groups are published."""
        chosen = self.aggregate.margins
        if isinstance(chosen, Depth):
            return chosen.depth >= len(self.by)
        return isinstance(chosen, str) or any({*self.by} == {*one} for one in chosen)

    @property
    def options(self) -> Any:
        """The options of the method."""
        return getattr(self, self.method)

    @property
    def rounding_base(self) -> int | None:
        """The base of rounding, with the method round."""
        return (self.round.base or self.minimum) if self.method == "round" else None

    @property
    def separated(self) -> Mapping[str, str]:
        """The further published tables: their names, by what they hold."""
        if self.method != "suppress":
            return {}
        return {WITNESS: f"{self.publish.name}__{WITNESS}"}

    @cached_property
    def measured(self) -> tuple[str, ...]:
        """The columns of the source that measures read, besides the person."""
        sums = (of.sum for of in self.aggregate.measures.values() if of.sum is not None)
        return tuple(dict.fromkeys(sums))

    def groupings(self, levels: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """The published groupings, by the level of every column; its number of levels is the total.

        The finest one is first.
        """
        names, chosen = tuple(self.by), self.aggregate.margins
        every = product(*(range(n + 1) for n in levels))
        return tuple(one for one in every if self._is_published(one, levels, names, chosen))

    def _is_published(
        self, one: tuple[int, ...], levels: tuple[int, ...], names: tuple[str, ...], chosen: Any
    ) -> bool:
        told = {name for name, at, n in zip(names, one, levels, strict=True) if at < n}
        if chosen == "all":
            return True
        if chosen == "none":
            return not any(one)
        if isinstance(chosen, Depth):
            return len(told) <= chosen.depth
        return any(told == {*margin} for margin in chosen)

    def _contradictions(self, broken: Broken = frozenset()) -> list[Problem]:
        whole = {part[0] for part in broken}
        checks = (
            (_minimum, {"protect"}),
            (_names, {"aggregate", "person", "protect"}),
            (_measures, {"aggregate", "person", "protect"}),
            (_margin_names, {"aggregate"}),
            (_levels, {"aggregate"}),
            (_place, {"publish", "source"}),
            (_of_rest, {"aggregate", "method"}),
            (_of_suppress, {"aggregate", "method", "suppress"}),
            (_of_round, {"aggregate", "method", "protect", "round"}),
            (_of_dp, {"method", "dp", "ledger", "publish"}),
            (_domains, {"aggregate", "method"}),
            (_multiple, {"aggregate", "method", "person", "ledger"}),
            (_of_others, {"method"}),
            (_of_ledger, {"aggregate", "method", "protect"}),
        )
        return [p for check, needs in checks if not needs & whole for p in check(self)]


def _at(*steps: object) -> str:
    return path_text(("aggregate", *steps))


def _minimum(policy: AggregateFields) -> Iterator[Problem]:
    if policy.protect.minimum is None:
        if policy.method != "dp":
            yield Problem("protect.minimum", "is missing", hint="protect: {minimum: 10}")
    elif policy.minimum < 3 and policy.protect.acknowledge is None:
        said = "is below 3: whoever is one of two persons of a group recognizes the other"
        hint = "protect: {minimum: 2, acknowledge: small_minimum}, if that is meant"
        yield Problem("protect.minimum", said, allowed="3 or more", hint=hint)
    if (rule := policy.protect.dominance) is not None:
        pair = (rule.n is None, rule.k is None)
        if (rule.p is None and any(pair)) or (rule.p is not None and not all(pair)):
            said = "needs one rule"
            yield Problem("protect.dominance", said, allowed="{p: 10} or {n: 2, k: 85}")
    elif policy.protect.insiders or policy.protect.contributor is not None:
        name = "insiders" if policy.protect.insiders else "contributor"
        said = "is about sums, and there is no rule for them"
        yield Problem(f"protect.{name}", said, hint="protect: {dominance: {p: 10}}")


def _names(policy: AggregateFields) -> Iterator[Problem]:
    by = {name.casefold(): name for name in policy.by}
    if len(by) < len(policy.by):
        yield Problem("aggregate.by", "names a column twice: upper and lower case are the same")
    taken = {STATUS, WITNESS, *by, *(f"{name}_level" for name in by)}
    for name, of in policy.aggregate.measures.items():
        if name.casefold() in taken:
            said = "is the name of another column of the release"
            yield Problem(_at("measures", name), said, hint="give the measure another name")
        if of.sum is not None and of.sum.casefold() in by:
            said = "is a column of aggregate.by as well"
            yield Problem(_at("measures", name, "sum"), said, hint="group by bands of a copy of it")
    if len({name.casefold() for name in policy.aggregate.measures}) < len(
        policy.aggregate.measures
    ):
        yield Problem("aggregate.measures", "has two names that differ only in case")
    for name in policy.by:
        if name.casefold() in (STATUS, WITNESS) or f"{name.casefold()}_level" in by:
            said = "has the name of a generated column"
            yield Problem(_at("by", name), said, hint="rename it in source.query")
    if policy.person is not None and policy.person.casefold() in by:
        said = "is the person: every group would be a single person"
        yield Problem(_at("by", by[policy.person.casefold()]), said, hint="leave it out")
    for name in policy.protect.groups:
        if name not in policy.by:
            said = "is not a column of aggregate.by"
            yield Problem(path_text(("protect", "groups", name)), said, ", ".join(policy.by))
    if policy.protect.groups and not policy.has_finest:
        said = "needs the finest groups, which the margins leave out"
        hint = f"add [{', '.join(policy.by)}] to aggregate.margins"
        yield Problem("protect.groups", said, hint=hint)


def _measures(policy: AggregateFields) -> Iterator[Problem]:
    measures = policy.aggregate.measures
    counts = [of.count for of in measures.values() if of.count is not None]
    if policy.person is not None and "persons" not in counts:
        said = "has no count of persons, by which groups are judged"
        yield Problem("aggregate.measures", said, hint="patients: {count: persons}")
    elif not counts:
        said = "has no count, by which groups are judged"
        yield Problem("aggregate.measures", said, hint="visits: {count: rows}")
    ruled = policy.protect.dominance is not None
    for name, of in measures.items():
        for part in of.ratio or ():
            if part not in measures or measures[part].ratio is not None:
                said = "is of a measure that is not released: a ratio with one part gives the other"
                allowed = ", ".join(n for n, m in measures.items() if m.ratio is None)
                yield Problem(
                    _at("measures", name, "ratio"), said, allowed, closest(part, measures)
                )
        if of.nonnegative and of.sum is None:
            yield Problem(_at("measures", name, "nonnegative"), "is for sums", hint="leave it out")
        if of.sum is not None and not of.nonnegative and policy.protect.contributor is not None:
            said = "may be negative, and what one contributes to two groups may cancel in a total"
            hint = "nonnegative: true, or leave protect.contributor out"
            yield Problem(_at("measures", name), said, hint=hint)
        if name in policy.weighed and not ruled:
            said = "is a sum over persons, and without a rule it may show what one of them adds"
            hint = "protect: {dominance: {p: 10}}, with the method rest or suppress"
            yield Problem(_at("measures", name), said, hint=hint)


def _margin_names(policy: AggregateFields) -> Iterator[Problem]:
    chosen = policy.aggregate.margins
    if not isinstance(chosen, tuple):
        return
    yield from _columns_of(policy, chosen, ("aggregate", "margins"))
    if not chosen:
        yield Problem(_at("margins"), "is empty", hint="margins: none, which keeps the groups")


def _columns_of(
    policy: AggregateFields, margins: Sequence[Sequence[str]], path: tuple[str, str]
) -> Iterator[Problem]:
    """Unknown and repeated columns of lists of columns."""
    for number, margin in enumerate(margins):
        at = path_text((*path, number))
        for name in margin:
            if name not in policy.by:
                said = "names a column that is not in aggregate.by"
                yield Problem(at, said, ", ".join(policy.by), closest(name, policy.by))
        if len({*margin}) < len(margin):
            yield Problem(at, "names a column twice")


def _levels(policy: AggregateFields) -> Iterator[Problem]:
    for name, of in policy.by.items():
        if of.bands is not None and of.hierarchy is not None:
            said = "has bands and a hierarchy"
            yield Problem(_at("by", name), said, hint="bands: [[0, 18, 65], [0, 65]] has levels")
        if of.hierarchy is not None and getattr(of.hierarchy, "nested", True) is False:
            said = "has levels that need not nest"
            yield Problem(_at("by", name, "hierarchy"), said, hint="leave nested out")


def _place(policy: AggregateFields) -> Iterator[Problem]:
    if not policy.publish.name:
        said = "is missing: the release of a query has no name of its own"
        yield Problem("publish.name", said, hint="publish: {name: visits_counts}")
    source = policy.source.parts
    beside = policy.publish.database is None
    if beside and source and source[-1].casefold() == policy.publish.name.casefold():
        yield Problem("publish.name", "is the source", hint="give the release another name")


def _of_rest(policy: AggregateFields) -> Iterator[Problem]:
    if policy.method == "rest":
        said = "would show which groups are left out: under rest, what is absent may be either"
        yield from _without_zeros(policy, said)


def _without_zeros(policy: AggregateFields, said: str) -> Iterator[Problem]:
    if policy.aggregate.zeros == "list":
        yield Problem("aggregate.zeros", said, allowed="omit")


def _domains(policy: AggregateFields) -> Iterator[Problem]:
    """Columns without a domain where all groups are listed, and domains that do not fit."""
    for name, of in policy.by.items():
        if of.domain is not None and of.bands is not None:
            said = "has bands, which are its domain"
            yield Problem(_at("by", name, "domain"), said, hint="leave it out")
        implied = of.bands is not None or isinstance(of.hierarchy, Taxonomy)
        if policy.lists_zeros and of.listed is None and not implied:
            said = "has no domain: which groups are listed would depend on the data"
            hint = "domain: [...], all values that may occur, or bands, or a hierarchy from a file"
            yield Problem(_at("by", name), said, hint=hint)


def _of_dp(policy: AggregateFields) -> Iterator[Problem]:
    if policy.method != "dp":
        return
    if policy.dp.epsilon is None:
        yield Problem("dp.epsilon", "is missing", hint="dp: {epsilon: 1}")
    if policy.dp.per_person > 1:
        said = "is above 1: a person in several groups is not counted yet"
        hint = "leave it out, and let source.query choose one row for every person"
        yield Problem("dp.per_person", said, allowed="1", hint=hint)
    if policy.dp.budget is not None and policy.dp.budget < (policy.dp.epsilon or 0):
        said = f"is below dp.epsilon, which is {policy.dp.epsilon:g}"
        yield Problem("dp.budget", said, hint=f"budget: {policy.dp.epsilon:g}")
    if policy.ledger is None:
        said = "is missing: dp adds up there what its releases spend"
        yield Problem("ledger", said, hint="ledger: private/ledger.duckdb")
    elif policy.publish.database is not None and policy.ledger == policy.publish.database:
        yield Problem("ledger", "is the same file as publish.database", hint="another file")


def _multiple(policy: AggregateFields) -> Iterator[Problem]:
    """A column whose groups share persons, and what does not go with it."""
    columns = [name for name, of in policy.by.items() if of.multiple]
    one_value = "let source.query choose one value for every person"
    if policy.method != "suppress":
        said = f"is not available with {policy.method}: its groups share persons"
        hint = f"method: suppress, or {one_value}"
        yield from (Problem(_at("by", name, "multiple"), said, hint=hint) for name in columns)
        return
    for place, name in enumerate(columns):
        path, of = _at("by", name, "multiple"), policy.by[name]
        if place:
            said = f"is a second such column, beside {columns[0]}"
            hint = f"{one_value}, or a column of yes and no for each of few values"
            yield Problem(path, said, hint=hint)
        if policy.person is None:
            said = "is about persons, and none is named"
            yield Problem(path, said, hint="person: patient_id")
        if of.hierarchy is not None or (of.bands is not None and len(of.bands) > 1):
            said = "has one level only"
            hint = "group by a coarser column, which source.query can make"
            yield Problem(path, said, hint=hint)
    if not columns:
        return
    at, others = [*policy.by].index(columns[0]), [n for n in policy.by if n != columns[0]]
    margins = {*policy.groupings((1,) * len(policy.by))}
    total = tuple(int(i == at) for i in range(len(policy.by)))
    if total not in margins and any(one[at] for one in margins):
        said = f"has totals over {columns[0]}, and lacks those of all other columns, which add up"
        yield Problem("aggregate.margins", said, hint=f"add [{', '.join(others)}]")
    for name, measure in policy.aggregate.measures.items():
        if measure.count != "persons":
            said = (
                f"is not available where groups share persons ({columns[0]}): persons are counted"
            )
            yield Problem(_at("measures", name), said, hint="leave it out")
    if policy.ledger is not None:
        said = f"does not compare tables in which groups share persons ({columns[0]})"
        yield Problem("ledger", said, hint="leave it out")


def _of_round(policy: AggregateFields) -> Iterator[Problem]:
    if policy.method != "round":
        return
    if policy.round.base is not None and policy.round.base < policy.minimum:
        said = f"is below the minimum {policy.minimum}"
        yield Problem("round.base", said, hint="leave it out: it is the minimum then")


def _of_suppress(policy: AggregateFields) -> Iterator[Problem]:
    if policy.method != "suppress":
        return
    said = "is not available yet with suppress: a group that is not listed is empty"
    yield from _without_zeros(policy, said)
    yield from _columns_of(policy, policy.suppress.keep, ("suppress", "keep"))
    if not policy.has_finest:
        said = "lacks the finest groups, which suppress lists"
        hint = f"add [{', '.join(policy.by)}], or method: rest"
        yield Problem("aggregate.margins", said, hint=hint)


def _of_others(policy: AggregateFields) -> Iterator[Problem]:
    for name in METHODS:
        given = getattr(policy, name)
        if name != policy.method and given != type(given)():
            said = f"is of another method than {policy.method}"
            yield Problem(name, said, hint="leave it out, or choose that method")


COMPARED = ("rest", "suppress")
"""Methods whose releases a ledger compares: their figures are true."""


def _of_ledger(policy: AggregateFields) -> Iterator[Problem]:
    if policy.ledger is None or policy.method == "dp":  # (which adds up there what it spends)
        return
    if policy.method not in COMPARED:
        said = f"does not compare releases of the method {policy.method}, whose figures are coarse"
        hint = f"method: {' or '.join(COMPARED)}; or leave it out, and publish one table only"
        yield Problem("ledger", said, hint=hint)
    beyond = [
        _at("measures", name)
        for name, of in policy.aggregate.measures.items()
        if of.count is None or (of.count == "rows" and policy.person is not None)
    ]
    beyond += ["protect.groups"] if policy.protect.groups else []
    for path in beyond:
        said = "is not compared by a ledger, which compares counts of persons"
        hint = "leave it out, or the ledger, and publish one table only"
        yield Problem(path, said, hint=hint)
