"""The declaration of a question about a requirement, from which the verifier makes a statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

from anonymizer.contract.layout import Requirement

Direction = Literal["least", "greatest"]
"""Which judged group is the worst: the one with the smallest or with the largest figure."""
Scope = Literal["class", "bucket", "group"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A template of the verifier, and the parameters of a requirement that it is given."""

    template: str
    """`templates/verify/<template>.sql.j2`; may name a parameter: `t_closeness_{distance}`."""
    words: str | None = None
    """The check's name for readers of a report."""
    _: KW_ONLY
    of: Literal["values", "units", "tuples", "population"] = "values"
    """What it counts: a column's values in every group, the units of every class or of every
    published tuple, or the members of the population that match a tuple."""
    name: str = "{name}"
    """Name of the check; `{name}` is that of the guarantee."""
    worst: Direction | Mapping[str, Direction]
    """Which judged group is the worst, by the column `achieved` or by several columns."""
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
    """Whether it counts persons, so that the release has to identify persons."""

    @property
    def judged(self) -> frozenset[str]:
        """The parameters on which the answer depends."""
        bounds = (*self.upper.values(), *self.lower.values(), *self.logarithms.values())
        return frozenset((*self.given, *bounds, *self.constants, *self.defaults, *self.reads))

    def parameters(self, requirement: Requirement) -> dict[str, Any]:
        """The requirement's parameters, defaults filled in."""
        return {**self.defaults, **requirement.parameters}

    def required(self, parameters: Mapping[str, Any]) -> Any:
        """What the check shows as required: one figure, or several by name."""
        bounds = (*self.lower.values(), *self.upper.values(), *self.logarithms.values())
        names = (*bounds, *self.given, *self.constants)
        figures = {} if self.share is None else {"share": self.share}
        figures |= {name: parameters[name] for name in names}
        return figures if len(figures) > 1 else next(iter(figures.values()))
