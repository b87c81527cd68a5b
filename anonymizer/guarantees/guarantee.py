"""The descriptor of a guarantee: everything that the package needs to know about it.

The registry discovers every module of this package with a `GUARANTEE` (or `GUARANTEES`).
Requirements, rules, the verifier's questions, reports, `assess --require`, the engines that lack it
and the tables of the documentation are derived from it. The verifier's SQL is separate from the
rule's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel

from anonymizer.compile import Sql
from anonymizer.contract.layout import Ask, Requirement
from anonymizer.guarantees.rule import Rule, at_least, at_most
from anonymizer.policy.privacy import Privacy, Protect

Terms = Mapping[str, Any]
"""The parameters of a requirement."""
Family = Literal[
    "size", "protection", "share", "levels", "persons", "population", "signature", "units"
]
"""The rules that an algorithm must evaluate for a guarantee: units of classes; a column's own rules
over its histogram; the table's over the histograms of its columns; security levels; pairs of
persons and values; a population; signatures over several releases; a rule over the histogram of a
column that is not published."""


@dataclass(frozen=True, slots=True)
class RuleInput:
    """The inputs from which a guarantee creates its rules."""

    value: Any
    """The value of the guarantee's field."""
    column: str | None = None
    """The sensitive column; None for rules that do not depend on values."""
    null_as_value: bool = False
    height: int = 0
    """Levels of the column's hierarchy above the leaves."""
    declared: Sql | None = None
    """The code, in this column, of the one value that the guarantee names."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A name accepted by `assess --require`."""

    name: str
    parts: tuple[str, ...] = ("k",)
    """Parameters in the order in which they are written, as in `recursive_cl=4/2`."""
    aliases: tuple[str, ...] = ()
    fixed: Terms = dataclasses.field(default_factory=dict)
    """Parameters that the name fixes."""
    at_most: bool = False
    """For the table: whether the figure is an upper bound."""
    persons: bool = False
    """True if it counts persons."""

    def holds(self, achieved: float | None, bound: float) -> bool:
        """Return whether a figure of the table keeps to a bound."""
        if achieved is None:
            return False
        if self.at_most:
            return achieved <= float(at_most(bound))
        return achieved >= float(at_least(bound))


@dataclass(frozen=True, slots=True)
class Example:
    """A value of the field with two tiny tables: one holds the guarantee, one does not.

    `aab b.` are two classes of three and two rows; every letter is a sensitive value, a dot NULL.
    If a guarantee counts persons, the person of a row precedes its value: `1a2b 3a3b`; for a
    guarantee on a population, the members of a class follow it: `ab4 c3`.
    """

    value: Any
    holds: str
    fails: str
    terms: Terms = dataclasses.field(default_factory=dict)
    """Parameters of the requirement that are not in the field, such as a hierarchy's paths."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Guarantee:
    """One guarantee that a policy can ask for."""

    name: str
    """The name of its requirement and its check."""
    field: str
    """The policy's field: `protect.<field>` of a column, `privacy.<field>` of the table."""
    family: Family
    asks: tuple[Ask, ...]
    """The questions that the verifier asks."""
    rules: Callable[[RuleInput], Iterable[Rule]]
    """The rules that the search enforces: for a column, or for the table if no column is given;
    none if it holds by the way classes are formed."""
    docs: tuple[str, ...]
    """Its rows in the table of docs/models.md: the model, how a policy and `assess --require`
    request it, when it holds, and its unit."""
    examples: tuple[Example, ...]
    parameter: str = "k"
    """The requirement's parameter if the field has a single figure."""
    of_values: bool = True
    """True if it is required of every sensitive column instead of the table."""
    further: tuple[str, ...] = ()
    """Other fields of the policy that are parameters of this guarantee, which handles them."""
    terms: Callable[[Any, Any], Terms] | None = None
    """Computes parameters, with the `further` fields, from policy and the column's `protect`."""
    in_buckets: tuple[str, ...] = ()
    """The guarantees that replace it for a column whose values are published in buckets."""
    k: Callable[[Any], int] | None = None
    """The fewest units of a class that the field's value explicitly requires."""
    implied: Callable[[Any], int] | None = None
    """The fewest persons of a class that it implies."""
    bucket_size: Callable[[Any], int] | None = None
    """The fewest different values that satisfy it if each occurs once, and with fewer than which no
    class can: true of rules on shares, not of rules on counts. Without this, the rules judge every
    bucket."""
    chance: Callable[[Requirement], float | None] | None = None
    """The largest probability of one value that a requirement guarantees."""
    enhanced: tuple[str, tuple[str, ...]] | None = None
    """Its enhanced form, and the parameters that both share."""
    says: str | None = None
    """The guarantee in words; names parameters, `column`, `where` and `unit`."""
    flags: tuple[Flag, ...] = ()
    values: tuple[str, ...] = ()
    """Parameters that contain data values, which no report repeats."""
    lists_values: Callable[[Any], bool] | None = None
    """True if the SQL of a check lists data values, given its requirement."""
    lacking: Mapping[str, tuple[str, str]] = dataclasses.field(default_factory=dict)
    """By engine: why it is unavailable, and what to use instead."""

    @property
    def holder(self) -> str:
        """The part of the policy that contains the field."""
        return self.field.partition(".")[0]

    @property
    def option(self) -> str:
        """Name of the field in that part."""
        return self.field.partition(".")[2]

    @property
    def of_population(self) -> bool:
        """True if checking it requires a population."""
        return self.family == "population"

    @property
    def of_source(self) -> bool:
        """True if checking it requires the source, which only a run has."""
        return self.family == "units"

    def is_integer(self, parameter: str) -> bool:
        """Return whether the policy takes only whole numbers for a parameter."""
        model: Any = {"protect": Protect, "privacy": Privacy}[self.holder]
        types = set(_types(model.model_fields[self.option].annotation))
        for form in types:
            if isinstance(form, type) and issubclass(form, BaseModel):
                types = set(_types(form.model_fields[parameter].annotation))
        return int in types and float not in types

    def terms_of(self, value: Any) -> dict[str, Any]:
        """The requirement's parameters from the field's value."""
        if isinstance(value, BaseModel):
            return {n: v for n, v in value if v is not None and n != "population"}
        return {self.parameter: value}

    def sentence(self, requirement: Requirement, unit: str) -> str:
        """The sentence that states what a requirement guarantees."""
        told = {"column": requirement.column, "where": requirement.scope, "unit": unit}
        terms = self.asks[0].parameters(requirement)
        return self.name if self.says is None else self.says.format_map({**terms, **told})

    def asks_in(self, scope: str) -> tuple[Ask, ...]:
        """The questions for one kind of groups."""
        return tuple(ask for ask in self.asks if scope in ask.scopes)

    def unread(self, requirement: Requirement) -> frozenset[str]:
        """The parameters of a requirement on which the answer to no question depends."""
        read = {"null_as_value"} if self.of_values else set()
        asks = self.asks_in(requirement.scope)
        return frozenset(requirement.parameters) - read.union(
            *(ask.decisive_parameters for ask in asks)
        )


def _types(annotation: Any) -> Iterator[Any]:
    """The types that an annotation joins."""
    parts = get_args(annotation)
    if get_origin(annotation) is Annotated:
        parts = parts[:1]
    if not parts:
        yield annotation
    for part in parts:
        yield from _types(part)
