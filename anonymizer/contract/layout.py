"""The layout of a release: its columns, the requirements on them, and SQL that reads its cells."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, asdict, dataclass, field
from typing import Annotated, Any, Literal, Union

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    TypeAdapter,
    create_model,
    with_config,
)

from anonymizer.compile import Sql, Table, ident, sql
from anonymizer.compile.sql import WRITTEN
from anonymizer.contract import counts_layout
from anonymizer.errors import TemplateError
from anonymizer.policy.columns import Calendar, Identifier, Method
from anonymizer.policy.kinds import CLASSLESS
from anonymizer.policy.safe_harbor import KINDS, ZIP3

# The types of what a manifest from an untrusted source states of a column.


STRICT = counts_layout.STRICT
TYPE = re.compile(r"[A-Z][A-Z0-9_]*(\(\d+(, ?\d+)?\))?( WITH TIME ZONE)?\Z")


def only(good: Callable[[Any], object]) -> AfterValidator:
    """Annotation of a type: a condition on its values, which may raise a ValueError itself."""

    def checked(value: Any) -> Any:
        if not good(value):
            raise ValueError("is in no manifest")
        return value

    return AfterValidator(checked)


Above = Annotated[int, Field(gt=0)] | Annotated[float, Field(gt=0)]
Days = Annotated[int, Field(gt=0)]
Limit = Annotated[
    int | float | str, only(lambda one: type(one) is not str or dt.datetime.fromisoformat(one))
]
"""A number, or the text of a date."""
Between = Annotated[
    list[Limit], only(lambda ends: [type(one) is str for one in ends] in ([True] * 2, [False] * 2))
]
Area = Annotated[str, only(ZIP3.match)]
Format = Literal["hex", "uuid", "number", "like"]
_MASKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("token", {"format": (Format, ...), "lasting": (bool, False)}),
    ("shift", {"within": (Days, ...), "keep": (list[Literal["weekday", "order"]], [])}),
    ("top_code", {"at": (Limit, ...)}),
    ("top_code", {"at_least": (Days, ...)}),
    ("bottom_code", {"at": (Limit, ...)}),
    ("bottom_code", {"at_least": (Days, ...)}),
    ("round", {"to": (Above | Calendar, ...), "method": (Method, "nearest")}),
    ("noise", {"amount": (Above, ...), "between": (Between, [])}),
    ("noise", {"share": (Above, ...), "between": (Between, [])}),
    ("redact", {"patterns": (list[Identifier], [])}),
    ("zip3", {"population": (Literal["census 2000"], ...)}),
    ("zip3", {"population": (Literal["given"], ...), "restricted": (list[Area], ...)}),
    ("null", {}),
    ("constant", {"value": (bool | int | float | str, ...)}),
)
"""The forms of each mask: the type of an option, and `...` if it has to be there."""
_FORMS: Any = Union[
    *(
        create_model(name, __config__=STRICT, mask=(Literal[name], ...), **options)  # type: ignore[arg-type]
        for name, options in _MASKS
    )
]
_MASK: TypeAdapter[Any] = TypeAdapter(_FORMS)


# The layout of a release: its columns, and the requirements on them.
#
# Plain data that can be converted to JSON and back.


Role = Literal["quasi", "semi", "sensitive", "keep"]


KEYS = ("key", "links")
"""Fields of a layout that only a release of several tables has."""


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class PublishedColumn:
    """The form of one source column in the release, by the names of the release."""

    column: str
    """Name in the source."""
    role: Annotated[Role, BeforeValidator(lambda role: "quasi" if role == "event" else role)]
    """`semi`: a quasi-identifier some of whose cells are sensitive and in buckets."""
    kind: Literal["numeric", "categorical", "date"]
    sql_type: Annotated[str, only(TYPE.match)]
    """Type of the source column as published (an ENUM is VARCHAR)."""
    name: str | None = None
    """The column that holds the cell as text, the list of values, the node, or the value itself."""
    lo: str | None = None
    hi: str | None = None
    """Bounds (`cells: typed`, ordered kinds)."""
    nullable: str | None = None
    """`cells: typed`: whether the cell may be NULL."""
    value: str | None = None
    """`cells: typed`, semi-sensitive: the bucketized value."""
    bucket: str | None = None
    """Column of the bucket number, which is NULL if the cell is generalized."""
    hierarchy: bool = False
    """True if categories are published as nodes of a hierarchy instead of sets."""
    bottom: Limit | None = None
    top: Limit | None = None
    """Codes of a bottom- or top-coded column: beyond them its intervals are open and end with the
    type."""
    grid: Above | Calendar | Literal["two digits", "*"] | None = None
    """The step of the public grid on which the bounds of its intervals lie: one begins with the
    first value of a step, and ends with the last one of a step. `*` for categories, of which a cell
    shows one or all."""
    list_cells: bool = False
    """`cells: typed`, categories without hierarchy: `name` holds a list of values."""
    masks: tuple[Annotated[Mapping[str, Any], only(_MASK.validate_python)], ...] = field(
        default=(), hash=False
    )
    """The masks, with options, that were applied in order before values were published or
    generalized."""
    safe_harbor: Annotated[str, only(KINDS.__contains__)] | None = None
    """The one of Safe Harbor's eighteen identifiers that it contains, or `none`."""
    weight: Annotated[float, Field(gt=0)] | None = None
    """The weight of a quasi-identifier's loss, if weights differ."""
    like: str | None = None
    """The quasi-identifier that it follows from: rows with one cell of that have one cell of this,
    and its loss is not counted."""

    @property
    def is_plain(self) -> bool:
        """True if the rows have its values as they are."""
        coded = self.bottom is not None or self.top is not None
        changed = bool(self.masks) or coded or self.bucket is not None
        return self.role in ("keep", "sensitive") and not changed

    def as_dict(self) -> dict[str, Any]:
        """As in the manifest: masks, Safe Harbor's kind, weight and `like` only if set."""
        found = asdict(self)
        masks = [dict(mask) for mask in found.pop("masks")]
        for name in ("safe_harbor", "weight", "like"):
            if found[name] is None:
                del found[name]
        return {**found, "masks": masks} if masks else found

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PublishedColumn:
        return cls(**{**data, "masks": tuple(data.get("masks", ()))})


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class Requirement:
    """One guarantee that a release has to satisfy."""

    name: str
    """k_anonymity, distinct_l, entropy_l, recursive_cl, t_closeness, alpha, ..."""
    column: str | None
    """The source column that it protects; None for the table."""
    parameters: Mapping[str, Any]
    scope: Literal["class", "bucket", "group"] = "class"
    """Judged per class_id, per bucket of the column, or per group of an msb release."""


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class Layout:
    """The whole release: one view of rows, or (msb) a view and a table per sensitive column."""

    algorithm: str
    cells: Literal["text", "typed"]
    columns: tuple[PublishedColumn, ...]
    class_id: str | None = "class_id"
    person_id: str | None = None
    group_id: str | None = None
    """msb: the group number that joins the view with the sensitive tables."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """msb: sensitive source column -> name of its table."""
    key: str | None = None
    """Several tables: the column with the drawn number of the row."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Several tables: column with the number of a row of another table -> that table."""
    safe_harbor: int | None = None
    """For a release under Safe Harbor, the year for which ages are computed."""
    counts: counts_layout.Counts | None = None
    """For a table of counts, its form; its rows are no rows of persons then."""

    @property
    def of_persons(self) -> bool:
        """True if guarantees count persons: the policy names persons, or has several tables."""
        return self.person_id is not None or self.key is not None

    @property
    def classless(self) -> bool:
        """True if the algorithm makes neither classes nor groups, so that they may be missing."""
        return self.algorithm == CLASSLESS

    def as_dict(self) -> dict[str, Any]:
        """As in the manifest, without keys and links, which are listed with the tables."""
        found = {name: value for name, value in asdict(self).items() if name not in KEYS}
        for name in ("safe_harbor", "counts"):
            if found[name] is None:
                del found[name]
        return {**found, "columns": tuple(column.as_dict() for column in self.columns)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Layout:
        columns = tuple(PublishedColumn.from_dict(column) for column in data["columns"])
        counts = (
            counts_layout.Counts.from_dict(data["counts"])
            if data.get("counts") is not None
            else None
        )
        return cls(**{**data, "columns": columns, "counts": counts})


# SQL that reads the cells of a published column, from the layout of the release alone.


def type_sql(name: str) -> Sql:
    """The name of a plain SQL type as SQL. Raises TemplateError for anything else."""
    if not TYPE.match(name):
        raise TemplateError(f"the layout names a type that is not plain: {name[:40]}")
    return Sql(name)


def quasi(layout: Layout) -> tuple[PublishedColumn, ...]:
    """Columns with generalized cells, including semi-sensitive ones."""
    return tuple(column for column in layout.columns if column.role in ("quasi", "semi"))


def with_loss(layout: Layout) -> tuple[PublishedColumn, ...]:
    """Columns with generalized cells whose loss is counted."""
    return tuple(column for column in quasi(layout) if column.like is None)


def bucket_columns(layout: Layout) -> tuple[PublishedColumn, ...]:
    """Columns some or all of whose values are in buckets."""
    return tuple(column for column in layout.columns if column.bucket is not None)


def cell_parts(column: PublishedColumn) -> list[str]:
    """The published columns that make up the generalized cell."""
    parts = (column.name, column.lo, column.hi, column.nullable)
    return [part for part in parts if part is not None]


def flags(layout: Layout) -> list[Sql]:
    """For each semi-sensitive column, whether the cell is generalized."""
    return [
        sql("({bucket} is null)", bucket=column.bucket)
        for column in quasi(layout)
        if column.bucket is not None
    ]


def cells(layout: Layout) -> list[Sql]:
    """The generalized cells of the published tuple, with bucketized ones as NULL."""
    return [
        ident(part)
        if column.bucket is None
        else sql("case when {bucket} is null then {part} end", bucket=column.bucket, part=part)
        for column in quasi(layout)
        for part in cell_parts(column)
    ]


def column_names(layout: Layout) -> list[str]:
    """Every column of the view, in no particular order."""
    names = [layout.class_id, layout.person_id, layout.group_id, layout.key, *layout.links]
    for column in layout.columns:
        if column.column not in layout.tables:
            names += [*cell_parts(column), column.value, column.bucket]
    return [name for name in names if name is not None]


# The declaration of a question about a requirement, from which the verifier makes a statement.


Direction = Literal["least", "greatest"]
"""The worst group: the one with the smallest or with the largest figure."""
Scope = Literal["class", "bucket", "group"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A template of the verifier, and the parameters of a requirement that it is given."""

    template: str
    """A statement in `templates/verify`; may name a parameter: `t_closeness_{distance}`."""
    words: str | None = None
    """The check's name for readers of a report."""
    _: KW_ONLY
    of: Literal["values", "units", "tuples", "population", "source"] = "values"
    """The unit of counting: a column's values in every group, the units of every class or of every
    published tuple, the members of the population that match a tuple, or what the source has of the
    rows of a class."""
    name: str = "{name}"
    """Name of the check; `{name}` is that of the guarantee."""
    worst: Direction | Mapping[str, Direction]
    """The end at which a group is the worst, by the column `achieved` or by several columns."""
    given: tuple[str, ...] = ()
    """Parameters that are passed to the template unchanged."""
    upper: Mapping[str, str] = field(default_factory=dict)
    """Upper bounds, passed as exact fractions: the template's name -> the parameter."""
    lower: Mapping[str, str] = field(default_factory=dict)
    """The same for lower bounds."""
    logarithms: Mapping[str, str] = field(default_factory=dict)
    """The same for upper bounds of a logarithm, passed as the ratio that has it."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the template that do not depend on the requirement."""
    computed: Callable[[Requirement], Mapping[str, Any]] | None = None
    """Further arguments of the template, computed from the requirement."""
    reads: tuple[str, ...] = ()
    """The parameters that `computed` reads."""
    constants: tuple[str, ...] = ()
    """Required parameters that are not bounds, such as the distance of t-closeness."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that a requirement may leave out."""
    share: int | None = None
    """A bound that is the same for every requirement, shown as required."""
    scopes: tuple[Scope, ...] = ("class", "bucket", "group")
    """The groups for which this is asked."""
    persons: bool = False
    """True if it counts persons, so that the release has to identify persons."""
    statement: str | None = None
    """The text of the template, if it has no file."""

    def __post_init__(self) -> None:
        if self.statement is not None:
            WRITTEN[f"verify/{self.template}"] = self.statement

    @property
    def decisive_parameters(self) -> frozenset[str]:
        """The parameters on which the answer depends."""
        bounds = (*self.upper.values(), *self.lower.values(), *self.logarithms.values())
        return frozenset((*self.given, *bounds, *self.constants, *self.defaults, *self.reads))

    def parameters(self, requirement: Requirement) -> dict[str, Any]:
        """The requirement's parameters, defaults filled in."""
        return {**self.defaults, **requirement.parameters}

    def required(self, parameters: Mapping[str, Any]) -> Any:
        """The requirement that the check shows: one figure, or several by name."""
        bounds = (*self.lower.values(), *self.upper.values(), *self.logarithms.values())
        names = (*bounds, *self.given, *self.constants)
        figures = {} if self.share is None else {"share": self.share}
        figures |= {name: parameters[name] for name in names}
        return figures if len(figures) > 1 else next(iter(figures.values()))


# Values of a policy as text that SQL converts back to the same value.


def value_text(value: object) -> str:
    """`true` and `false` in SQL's spelling; any other value as Python writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


# The source in the form that verification reads.


@dataclass(frozen=True, slots=True)
class MaskedColumn:
    """A column whose values were masked when they were read, and its original values."""

    column: str
    """Name in the source."""
    sql_type: str
    """Type of the original values."""
    masked: Sql
    """Physical column with the masked values."""
    original: Sql
    """Physical column with the original values."""
    masks: tuple[Mapping[str, Any], ...]
    """The masks, as in a layout."""
    per: Sql | None = None
    """Physical column whose value is shared by rows that are shifted alike."""
    identifiers: tuple[tuple[Table | None, Sql], ...] = ()
    """Tables (None for this one) and physical columns with identifying values, which must not
    occur in texts."""
    apart: str = ""
    """A key shared by masks that map equally: kind and format, the column of `per`, the key, and
    the range."""

    @property
    def type(self) -> Sql:
        return type_sql(self.sql_type)


@dataclass(frozen=True, slots=True)
class Originals:
    """The source as it was read: one row per source row, including suppressed rows."""

    table: Table
    values: Mapping[str, str]
    """Source column -> physical column with its values."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """Semi-sensitive source column -> boolean column, true (or NULL) if the cell is sensitive."""
    nodes: Mapping[str, Table] = field(default_factory=dict)
    """Source column -> table (value, label): every value with itself and each ancestor."""
    person: str | None = None
    """Physical column that identifies the person of a row."""
    sets: frozenset[str] = frozenset()
    """Source columns whose nodes are sets that list their members."""
    leaves: Mapping[str, Table] = field(default_factory=dict)
    """Source column -> table (value, label) of all leaves that its hierarchy's file or table
    declares, each with every ancestor: the total of which losses are shares."""
    admitted: Mapping[str, Table] = field(default_factory=dict)
    """Source column -> table (lo, hi, first, last) of bounds that need not occur in published rows:
    they follow from the policy, or from the ends of the data `first` and `last`, if published.
    """
    distinct: Mapping[str, Table] = field(default_factory=dict)
    """Source column -> table (value) of its distinct values, if they are already known."""
    masked: tuple[MaskedColumn, ...] = ()
    """The columns whose values were masked, with their original values."""
    read: Table | None = None
    """The rows that were read, if `table` has others as well, which were never masked."""
    published: bool = False
    """True if `table` is the release itself, which does not show what nodes stand for."""
    row_ref: str = "row_ref"
    """Column of this table and of the staged rows that joins them."""
    units: Mapping[str, str] = field(default_factory=dict)
    """Source column that is not published, and has to differ in a class -> physical column."""
