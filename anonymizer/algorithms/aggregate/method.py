"""The descriptor of a method, and the methods by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import TypeAlias, cast

from anonymizer.algorithms.aggregate.groups import Dimension
from anonymizer.algorithms.aggregate.sums import Summed
from anonymizer.compile import Table
from anonymizer.errors import PolicyError, Problem
from anonymizer.policy import AggregatePolicy
from anonymizer.policy.paths import path_text
from anonymizer.steps import Stage, Step

LATER = "is not available yet"


@dataclass(frozen=True, slots=True)
class CompiledCounts:
    """What a method does once the finest groups are counted."""

    stages: tuple[Stage, ...]
    """They end with the cells of the release in a work table."""
    cells: Table
    figures: Step
    """One row: finest groups, those left out, persons, those left out, cells. For the owner."""
    labels: Callable[[Dimension], Step]
    """The query for the published labels of a column, the finest first."""
    write: Callable[[Table], Step]
    """Writes the rows of the release."""
    words: Callable[[Mapping[str, int]], str]
    """Describes the figures of the search."""
    further: Mapping[str, Callable[[Table], Step]] = field(default_factory=dict)
    """Write the further published tables."""


Compile: TypeAlias = (
    "Callable[[AggregatePolicy, Sequence[Dimension], Sequence[Summed]], CompiledCounts]"
)


@dataclass(frozen=True, slots=True)
class Method:
    """A method that a policy can name."""

    name: str
    compiler: str
    """The compiling function as `module:function`, imported when it is needed."""
    words: str
    """Description for readers of a report."""
    attacks: tuple[str, ...]
    """What its releases do not promise."""
    sums: bool = False
    """True if it publishes sums over persons and their ratios."""
    groups: bool = False
    """True if it limits the share of one value in a group."""
    noise: bool = False
    """True if it draws noise: no run repeats it, and each spends of a budget."""

    def compile(
        self, policy: AggregatePolicy, found: Sequence[Dimension], sums: Sequence[Summed]
    ) -> CompiledCounts:
        compiler = cast("Compile", resolve_name(self.compiler))
        return compiler(policy, found, sums)


ZEROS = "zeros: that nobody is in a group may follow from what is published"
ABSENT = "zeros: a group that is not listed has no persons"
METHOD = (
    "method: a reader who knows how groups were chosen may infer more from the choice than from the"
    " figures"
)
ELSEWHERE = (
    "other tables: counts of the same persons that are published elsewhere, with other groups or"
    " totals, can be subtracted from these"
)
SEVERAL_PERSONS = "several persons: of a family of four, epsilon counts four times"
FURTHER = (
    "further releases: each of the same persons adds its epsilon, and exact counts of them that are"
    " published elsewhere are not covered"
)
NOISE = (
    "output: that it is differentially private follows from how it was made, and not from its"
    " figures; what is true of most persons shows, as it should"
)

METHODS: Mapping[str, Method] = {
    "rest": Method(
        "rest",
        "anonymizer.algorithms.aggregate.rest:compile_rest",
        "groups below the minimum are left out of the table and its totals, and their persons are"
        " counted together",
        (METHOD, ELSEWHERE, ZEROS),
        sums=True,
        groups=True,
    ),
    "suppress": Method(
        "suppress",
        "anonymizer.algorithms.aggregate.suppress:compile_suppress",
        "figures are true, and some are hidden: those of groups below the minimum, and others, so"
        " that no sum or difference gives them away; tables of whole numbers prove it",
        (METHOD, ELSEWHERE, ABSENT),
        sums=True,
    ),
    "round": Method(
        "round",
        "anonymizer.algorithms.aggregate.round:compile_round",
        "counts below a base become 0 or the base, and totals are sums of these",
        (METHOD, ELSEWHERE, ZEROS),
    ),
    "dp": Method(
        "dp",
        "anonymizer.algorithms.aggregate.dp:compile_dp",
        "every group of the domain gets noise (discrete Laplace), and totals are sums of these",
        (SEVERAL_PERSONS, FURTHER, NOISE),
        noise=True,
    ),
}


def method_of(policy: AggregatePolicy) -> Method:
    """The method of a policy. Raises PolicyError with everything that it does not offer."""
    method = METHODS[policy.method]
    PolicyError.refuse(_unsupported(policy, method))
    return method


def _unsupported(policy: AggregatePolicy, method: Method) -> Iterator[Problem]:
    said = f"{LATER} with {method.name}"
    for name, of in policy.aggregate.measures.items():
        weighed = of.count == "rows" and policy.person is not None
        if not method.sums and (of.sum is not None or of.ratio is not None or weighed):
            hint = "leave it out, and count persons"
            yield Problem(path_text(("aggregate", "measures", name)), said, hint=hint)
    if not method.sums and policy.protect.dominance is not None:
        yield Problem("protect.dominance", said, hint="leave it out, and publish no sums")
    if not method.groups and policy.protect.groups:
        yield Problem("protect.groups", said, hint="leave it out, and use coarser groups")
