"""The descriptor of an algorithm, and the known attacks that its certificates name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import TYPE_CHECKING, TypeAlias, cast

from anonymizer.guarantees.guarantee import Guarantee
from anonymizer.policy import Policy
from anonymizer.policy.algorithms import AlgorithmOptions

if TYPE_CHECKING:
    from anonymizer.algorithms.core.compiled import Compiled
    from anonymizer.source.profile import TableProfile
    from anonymizer.source.roles import Roles


# Known attacks on the releases of some algorithms, as certificates describe them.
#
# `verify` compares them with those in the manifest: if the wording changes, older releases fail.


COMPOSITION = (
    "composition (Ganta et al. 2008): a second release of overlapping persons can be intersected"
)
DOWNCODING = (
    "downcoding (Cohen 2022): minimal generalizations can be refined from the release's own rules"
)
REFINEMENT = "combinatorial refinement (2025): local recoding can be narrowed without other data"
MINIMALITY = (
    "minimality (Wong et al. 2007): cuts that depend on sensitive values tell something of them"
)
DEFINETTI = (
    "deFinetti (Kifer 2009): a model of who has which value can be learned from bucketized data"
)
SKEWNESS = "skewness and similarity (Li et al. 2007): different values may be alike in meaning"
JOINING = (
    "joining: every column that is published as it is can be joined on, with another table or with"
    " what somebody knows"
)
SINGLING_OUT = (
    "singling out: no row is made like another, so that a few known values tell whose row it is"
)


# The descriptor of an algorithm: everything about it that the package needs, except its options.
#
# The package of an algorithm has an attribute `ALGORITHM`, which the registry discovers. What the
# policy layer needs (where values are published, whether hierarchies are needed) is in the class of
# the options.


Compiler: TypeAlias = "Callable[[Policy, TableProfile, Roles], Compiled]"
Lacking = Mapping[str, tuple[str, str]]
"""For each engine that lacks something: why, and what to use instead."""


@dataclass(frozen=True, slots=True)
class Limit:
    """An option that some engine lacks."""

    option: str
    value: object | None = None
    """The unsupported value; by default any non-empty value."""
    lacking: Lacking = field(default_factory=dict)
    neutral: tuple[object, ...] = ()
    """Values for which the engine does not need to support the option."""

    @property
    def title(self) -> str:
        """Its name in the table of the documentation."""
        return f"`{self.option}`" if self.value is None else f"`{self.option}: {self.value}`"

    def asked_by(self, options: AlgorithmOptions) -> bool:
        found = getattr(options, self.option, None)
        if self.value is None:
            return bool(found) and found not in self.neutral
        return found == self.value


PART_SIZE = Limit("part_size", neutral=("auto", "all"))
"""The option of algorithms that solve a large table in parts."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Algorithm:
    """One algorithm that a policy can name."""

    options: type[AlgorithmOptions]
    compiler: str
    """The compiling function as `module:function`, which is imported when it is needed."""
    towards: frozenset[str]
    """The guarantees that it enforces: their families, or the names of their fields."""
    distances: frozenset[str] = frozenset()
    """The distances of t-closeness that it supports."""
    merges_persons: bool = False
    """True if it treats a person whose rows differ as one unit."""
    words: str
    """Description for readers of a report."""
    attacks: tuple[str, ...]
    """Attacks that its releases do not stop."""
    note: str = ""
    """A note after its name in the table of engines."""
    lacking: Lacking = field(default_factory=dict)
    limits: tuple[Limit, ...] = ()

    @property
    def name(self) -> str:
        return self.options.algorithm()

    @property
    def compile(self) -> Compiler:
        """The function that compiles a policy and the description of its source."""
        return cast("Compiler", resolve_name(self.compiler))

    def works_towards(self, guarantee: Guarantee) -> bool:
        return not self.towards.isdisjoint((guarantee.family, guarantee.option))
