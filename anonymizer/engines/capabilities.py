"""The features that each engine supports. All others are refused before anything is read.

The table in docs/scale.md is generated from this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from anonymizer.algorithms.descriptor import Limit
from anonymizer.algorithms.registry import ALGORITHMS
from anonymizer.engines.base import EngineName
from anonymizer.engines.registry import engines
from anonymizer.errors import PolicyError, Problem
from anonymizer.policy import Policy
from anonymizer.policy.safe_harbor import applies
from anonymizer.privacy.guarantee import Guarantee
from anonymizer.privacy.of_policy.registry import GUARANTEES

EMBEDDED = "engine: duckdb"


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that a policy can use, its path, and the engines that lack it."""

    title: str
    """As the table of the docs names it."""
    uses: Callable[[Policy], Iterator[str]]
    """The paths of the policy that require it."""
    lacking: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Engine to why it is not there, and what to use instead."""

    @property
    def name(self) -> str:
        """The title without its markup."""
        return self.title.replace("&nbsp;", "").replace("`", "")

    def runs_on(self, engine: EngineName) -> bool:
        return self.missing(engine) is None

    def missing(self, engine: EngineName) -> tuple[str, str] | None:
        """Why an engine does not have it, and what to use instead; None where it does."""
        only = engines()[engine].only
        if only is not None and self.name not in only:
            return "it does not say that it has it", EMBEDDED
        return self.lacking.get(engine)


def refuse(policy: Policy, engine: EngineName) -> None:
    """Raises PolicyError with everything of the policy that the engine does not have."""
    problems = []
    for feature in FEATURES:
        missing = feature.missing(engine)
        if missing is None:
            continue
        reason, instead = missing
        said = f"is not available with the engine {engine}: {reason}"
        problems += [Problem(path, said, hint=instead) for path in feature.uses(policy)]
    if problems:
        raise PolicyError(problems)


def algorithm(name: str) -> Callable[[Policy], Iterator[str]]:
    """Policies that use this algorithm."""

    def uses(policy: Policy) -> Iterator[str]:
        if policy.algorithm.name == name:
            yield "algorithm.name"

    return uses


def limited(limit: Limit) -> Callable[[Policy], Iterator[str]]:
    """Policies whose algorithm has this option."""

    def uses(policy: Policy) -> Iterator[str]:
        if limit.asked_by(policy.algorithm):
            yield f"algorithm.{limit.option}"

    return uses


def guaranteed(guarantee: Guarantee) -> Callable[[Policy], Iterator[str]]:
    """Policies that require this guarantee, for the table or a column."""

    def uses(policy: Policy) -> Iterator[str]:
        if guarantee.holder == "privacy" and getattr(policy.privacy, guarantee.option) is not None:
            yield guarantee.field
        for column, said in policy.columns.items():
            if guarantee.holder == "protect" and getattr(said.protect, guarantee.option, None):
                yield f"columns.{column}.{guarantee.field}"

    return uses


def hierarchy(builder: str) -> Callable[[Policy], Iterator[str]]:
    """Policies with a hierarchy of this builder."""

    def uses(policy: Policy) -> Iterator[str]:
        for column, said in policy.columns.items():
            if said.hierarchy is not None and said.hierarchy.builder == builder:
                yield f"columns.{column}.hierarchy"

    return uses


def _person(policy: Policy) -> Iterator[str]:
    if policy.person is not None:
        yield "person"


def _typed(policy: Policy) -> Iterator[str]:
    if policy.publish.cells == "typed":
        yield "publish.cells"


def _file(policy: Policy) -> Iterator[str]:
    if policy.source.kind == "file":
        yield "source.file"


def _population_file(policy: Policy) -> Iterator[str]:
    for model, population in policy.privacy.populations.items():
        if population.file is not None:
            yield f"privacy.{model}.population"


def _query(policy: Policy) -> Iterator[str]:
    if policy.source.kind == "query":
        yield "source.query"


def _beside(policy: Policy) -> Iterator[str]:
    if policy.publish.database is None and not policy.publish.replace_source:
        yield "publish.database"


def _apart(policy: Policy) -> Iterator[str]:
    if policy.publish.database is not None:
        yield "publish.database"


def _replaced(policy: Policy) -> Iterator[str]:
    if policy.publish.replace_source:
        yield "publish.replace_source"


def _granted(policy: Policy) -> Iterator[str]:
    if policy.publish.grant_select is not None:
        yield "publish.grant_select"


def _masked(policy: Policy) -> Iterator[str]:
    for name in policy.masked:
        yield f"columns.{name}"


def _like(policy: Policy) -> Iterator[str]:
    for name, column in policy.columns.items():
        if column.format == "like":
            yield f"columns.{name}.format"


def _vault(policy: Policy) -> Iterator[str]:
    for name, column in policy.columns.items():
        if column.vault is not None:
            yield f"columns.{name}.vault"


def _zip3(policy: Policy) -> Iterator[str]:
    for name in policy.masked:
        if any(mask == "zip3" for mask, _ in policy.columns[name].masks):
            yield f"columns.{name}"


def _harbored(policy: Policy) -> Iterator[str]:
    if applies(policy):
        yield "preset"


def _sets(policy: Policy) -> Iterator[str]:
    if policy.privacy.quasi_sets is not None:
        yield "privacy.quasi_sets"


def _ledger(policy: Policy) -> Iterator[str]:
    if policy.ledger is not None:
        yield "ledger"


def _republished(policy: Policy) -> Iterator[str]:
    if policy.republish is not None:
        yield "republish"


def _lacking(
    engines: tuple[EngineName, ...], reason: str, instead: str = EMBEDDED
) -> dict[str, tuple[str, str]]:
    return dict.fromkeys(engines, (reason, instead))


ELSEWHERE: tuple[EngineName, ...] = ("postgres", "spark")


def _of_algorithms() -> Iterator[Feature]:
    for name, made in ALGORITHMS.items():
        yield Feature(f"algorithm `{name}`{made.note}", algorithm(name), made.lacking)
        for limit in made.limits:
            yield Feature(f"&nbsp;&nbsp;{limit.title}", limited(limit), limit.lacking)


def _of_guarantees() -> Iterator[Feature]:
    """Those that an algorithm of every engine works towards: others go with their algorithm."""
    everywhere = [made for made in ALGORITHMS.values() if not made.lacking]
    for guarantee in GUARANTEES:
        if any(made.works_towards(guarantee) for made in everywhere):
            title = f"`{guarantee.option}`"
            yield Feature(title, guaranteed(guarantee), guarantee.lacking)


FEATURES: tuple[Feature, ...] = (
    *_of_algorithms(),
    *_of_guarantees(),
    Feature("`person`", _person),
    *(
        Feature(f"hierarchy `{builder}`", hierarchy(builder))
        for builder in (
            "cardinality",
            "conventional",
            "divisor",
            "on_the_fly",
            "intervals",
            "date",
            "prefix",
            "suffix",
            "frequency",
            "order",
            "taxonomy",
        )
    ),
    Feature(
        "source: a file",
        _file,
        _lacking(
            ("postgres",),
            "a server reads its own tables",
            "load the file into a table, or engine: duckdb",
        ),
    ),
    Feature("source: a query", _query),
    Feature(
        "population: a file",
        _population_file,
        _lacking(
            ("postgres",),
            "a server reads its own tables",
            "load the file into a table, or engine: duckdb",
        ),
    ),
    Feature("release beside the source", _beside),
    Feature(
        "release in a place of its own",
        _apart,
        _lacking(
            ("postgres",),
            "a release stands in the source's database, where its view is a boundary",
            "leave publish.database out; anonymizer export copies a release elsewhere",
        ),
    ),
    Feature("cells `typed`", _typed),
    Feature(
        "`replace_source`",
        _replaced,
        _lacking(("spark",), "its tables cannot be replaced in a transaction", "publish a view"),
    ),
    Feature(
        "`grant_select`",
        _granted,
        _lacking(("duckdb", "spark"), "it has no roles", "engine: postgres"),
    ),
    Feature(
        "masks",
        _masked,
        _lacking(("spark",), "its functions are not known to give the same values"),
    ),
    Feature(
        "tokens of the format `like`",
        _like,
        _lacking(ELSEWHERE, "they are made by functions of lists", "format: hex, uuid or number"),
    ),
    Feature("`zip3`", _zip3, _lacking(ELSEWHERE, "its digits are judged on duckdb")),
    Feature(
        "`preset: safe_harbor`",
        _harbored,
        _lacking(ELSEWHERE, "its columns are judged by functions of duckdb"),
    ),
    Feature("`quasi_sets`", _sets, _lacking(ELSEWHERE, "they are judged by runs on duckdb")),
    Feature("`vault`", _vault, _lacking(ELSEWHERE, "it is kept by runs on duckdb")),
    Feature("ledger", _ledger, _lacking(("spark",), "it is kept by runs on duckdb and postgres")),
    Feature("`republish`", _republished, _lacking(("spark",), "it needs the ledger")),
)
