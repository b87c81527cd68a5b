"""The features that each engine supports; policies with others are refused before anything is read.

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
from anonymizer.policy.columns import Column
from anonymizer.policy.paths import column_path
from anonymizer.policy.safe_harbor import applies
from anonymizer.privacy.guarantee import Guarantee
from anonymizer.privacy.of_policy.registry import GUARANTEES

EMBEDDED = "engine: duckdb"
Uses = Callable[[Policy], Iterator[str]]
"""The paths of a policy that use something."""


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that a policy can use, its path, and the engines that lack it."""

    title: str
    """The name of the feature in the table of the docs."""
    uses: Uses
    """The paths of the policy that require it."""
    lacking: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """For each engine that lacks it: why, and what to use instead."""

    @property
    def name(self) -> str:
        """The title without its markup."""
        return self.title.replace("&nbsp;", "").replace("`", "")

    def runs_on(self, engine: EngineName) -> bool:
        return self.missing(engine) is None

    def missing(self, engine: EngineName) -> tuple[str, str] | None:
        """Why an engine lacks the feature, and what to use instead; None if it has it."""
        only = engines()[engine].only
        if only is not None and self.name not in only:
            return "it does not say that it has it", EMBEDDED
        return self.lacking.get(engine)


def refuse(policy: Policy, engine: EngineName) -> None:
    """Raises PolicyError listing every feature the policy uses and the engine lacks."""
    problems = []
    for feature in FEATURES:
        missing = feature.missing(engine)
        if missing is None:
            continue
        reason, instead = missing
        said = f"is not available with the engine {engine}: {reason}"
        problems += [Problem(path, said, hint=instead) for path in feature.uses(policy)]
    PolicyError.refuse(problems)


def option(path: str, used: Callable[[Policy], bool]) -> Uses:
    """Policies that use the option of this path."""

    def uses(policy: Policy) -> Iterator[str]:
        if used(policy):
            yield path

    return uses


def of_columns(used: Callable[[Column], object], *option: str) -> Uses:
    """Policies with columns that use the option of this path."""

    def uses(policy: Policy) -> Iterator[str]:
        for name, column in policy.columns.items():
            if used(column):
                yield column_path(name, *option)

    return uses


def algorithm(name: str) -> Uses:
    """Policies that use this algorithm."""
    return option("algorithm.name", lambda policy: policy.algorithm.name == name)


def limited(limit: Limit) -> Uses:
    """Policies whose algorithm has this option."""
    return option(f"algorithm.{limit.option}", lambda policy: limit.asked_by(policy.algorithm))


def guaranteed(guarantee: Guarantee) -> Uses:
    """Policies that require this guarantee, for the table or a column."""

    def uses(policy: Policy) -> Iterator[str]:
        if guarantee.holder == "privacy" and getattr(policy.privacy, guarantee.option) is not None:
            yield guarantee.field
        for column, said in policy.columns.items():
            if guarantee.holder == "protect" and getattr(said.protect, guarantee.option, None):
                yield column_path(column, guarantee.holder, guarantee.option)

    return uses


def hierarchy(builder: str) -> Uses:
    """Policies with a hierarchy of this builder."""
    return of_columns(
        lambda column: column.hierarchy and column.hierarchy.builder == builder, "hierarchy"
    )


def _population_file(policy: Policy) -> Iterator[str]:
    for model, population in policy.privacy.populations.items():
        if population.file is not None:
            yield f"privacy.{model}.population"


def _lacking(
    engines: tuple[EngineName, ...], reason: str, instead: str = EMBEDDED
) -> dict[str, tuple[str, str]]:
    return dict.fromkeys(engines, (reason, instead))


ELSEWHERE: tuple[EngineName, ...] = ("postgres", "spark")
NO_FILES = _lacking(
    ("postgres",), "a server reads its own tables", "load the file into a table, or engine: duckdb"
)


def _of_algorithms() -> Iterator[Feature]:
    for name, made in ALGORITHMS.items():
        yield Feature(f"algorithm `{name}`{made.note}", algorithm(name), made.lacking)
        for limit in made.limits:
            yield Feature(f"&nbsp;&nbsp;{limit.title}", limited(limit), limit.lacking)


def _of_guarantees() -> Iterator[Feature]:
    """Guarantees that an algorithm of all engines enforces; others depend on their algorithm."""
    everywhere = [made for made in ALGORITHMS.values() if not made.lacking]
    for guarantee in GUARANTEES:
        if any(made.works_towards(guarantee) for made in everywhere):
            title = f"`{guarantee.option}`"
            yield Feature(title, guaranteed(guarantee), guarantee.lacking)


FEATURES: tuple[Feature, ...] = (
    *_of_algorithms(),
    *_of_guarantees(),
    Feature("`person`", option("person", lambda policy: policy.person is not None)),
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
        option("source.file", lambda policy: policy.source.kind == "file"),
        NO_FILES,
    ),
    Feature(
        "source: a query", option("source.query", lambda policy: policy.source.kind == "query")
    ),
    Feature("population: a file", _population_file, NO_FILES),
    Feature(
        "release beside the source",
        option(
            "publish.database",
            lambda policy: policy.publish.database is None and not policy.publish.replace_source,
        ),
    ),
    Feature(
        "release in a place of its own",
        option("publish.database", lambda policy: policy.publish.database is not None),
        _lacking(
            ("postgres",),
            "a release stands in the source's database, where its view is a boundary",
            "leave publish.database out; anonymizer export copies a release elsewhere",
        ),
    ),
    Feature(
        "cells `typed`", option("publish.cells", lambda policy: policy.publish.cells == "typed")
    ),
    Feature(
        "`replace_source`",
        option("publish.replace_source", lambda policy: policy.publish.replace_source),
        _lacking(("spark",), "its tables cannot be replaced in a transaction", "publish a view"),
    ),
    Feature(
        "`grant_select`",
        option("publish.grant_select", lambda policy: policy.publish.grant_select is not None),
        _lacking(("duckdb", "spark"), "it has no roles", "engine: postgres"),
    ),
    Feature(
        "masks",
        of_columns(lambda column: column.masks),
        _lacking(("spark",), "its functions are not known to give the same values"),
    ),
    Feature(
        "tokens of the format `like`",
        of_columns(lambda column: column.format == "like", "format"),
        _lacking(ELSEWHERE, "they are made by functions of lists", "format: hex, uuid or number"),
    ),
    Feature(
        "`zip3`",
        of_columns(lambda column: any(mask == "zip3" for mask, _ in column.masks)),
        _lacking(ELSEWHERE, "its digits are judged on duckdb"),
    ),
    Feature(
        "`preset: safe_harbor`",
        option("preset", applies),
        _lacking(ELSEWHERE, "its columns are judged by functions of duckdb"),
    ),
    Feature(
        "`vault`",
        of_columns(lambda column: column.vault is not None, "vault"),
        _lacking(ELSEWHERE, "it is kept by runs on duckdb"),
    ),
    Feature(
        "ledger",
        option("ledger", lambda policy: policy.ledger is not None),
        _lacking(("spark",), "it is kept by runs on duckdb and postgres"),
    ),
    Feature(
        "`republish`",
        option("republish", lambda policy: policy.republish is not None),
        _lacking(("spark",), "it needs the ledger"),
    ),
)
