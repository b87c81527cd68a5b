"""The registry of engines, and the features that each of them supports."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from anonymizer.algorithms.descriptor import Limit
from anonymizer.algorithms.registry import BY_NAME
from anonymizer.engines.base import EngineName
from anonymizer.errors import PolicyError, Problem
from anonymizer.guarantees.guarantee import Guarantee
from anonymizer.guarantees.requirements import GUARANTEES
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.policy.columns import Column
from anonymizer.policy.paths import column_path, table_path
from anonymizer.policy.safe_harbor import applies

if TYPE_CHECKING:
    from anonymizer.compile import Table
    from anonymizer.compile.dialect import Dialect
    from anonymizer.engines.base import Engine, Limits
    from anonymizer.engines.session import Session, Workplace
    from anonymizer.source.profile import TableProfile
    from anonymizer.source.snapshot import Relation


# The registry of engines: their descriptions and modules, and which of them a run uses.
#
# An engine is a subpackage with a description named `ENGINE` and the modules `source`
# (`open_source`) and `dialect` (`DIALECT`). It publishes with `anonymizer.publish.<name>`.


@dataclass(frozen=True, slots=True)
class EngineDescription:
    """Properties of an engine that are known before its library is imported."""

    name: str
    libraries: tuple[str, ...]
    """Packages whose connections or sessions belong to it."""
    addresses: tuple[str, ...] = ()
    """Prefixes of the addresses of its databases."""
    only: frozenset[str] | None = None
    """All features it has, by their names in `anonymizer.engines.registry`; None for an engine
    that has all except those listed there as lacking."""


@cache
def engines() -> Mapping[str, EngineDescription]:
    """Every engine by its name; DuckDB, the default, is first."""
    here = [str(Path(__file__).parent)]
    found = {}
    for module in pkgutil.iter_modules(here):
        if module.ispkg:
            description = import_module(f"anonymizer.engines.{module.name}").ENGINE
            assert isinstance(description, EngineDescription)
            found[description.name] = description
    return found


def open_source(
    engine: str, policy: Policy, database: Any, run: Workplace, limits: Limits
) -> AbstractContextManager[Session]:
    """Open the source of `policy` on an engine, with a place for work tables."""
    opened: AbstractContextManager[Session]
    opened = _part(engine, "source").open_source(policy, database, run, limits)
    return opened


def further_source(policy: Policy, engine: Engine, queried: Table) -> tuple[Relation, TableProfile]:
    """The source of a further table, of a policy of several, with the profile of its columns.

    `queried`: the table for the rows of a query, which runs once.
    """
    found: tuple[Relation, TableProfile]
    found = _part(engine.name, "source").relation_of(policy, engine, queried)
    return found


def dialect_of(engine: str) -> Dialect:
    """The translation of statements to the SQL of an engine other than DuckDB."""
    made: Dialect = _part(engine, "dialect").DIALECT
    return made


def _part(engine: str, name: str) -> ModuleType:
    return import_module(f"anonymizer.engines.{engine}.{name}")


def engine_of_database(database: Any) -> EngineName | None:
    """The engine that a database belongs to; None if it cannot be inferred."""
    package = type(database).__module__.split(".", 1)[0]
    for name, engine in engines().items():
        addressed = isinstance(database, str) and database.startswith(engine.addresses)
        if package in engine.libraries or (engine.addresses and addressed):
            return name
    return None


def chosen_engine(policy: Policy | None, database: Any, asked: str | None = None) -> EngineName:
    """The engine to use. Raises PolicyError if the database belongs to another one."""
    names = tuple(engines())
    if asked is not None and asked not in names:
        raise PolicyError.at("--engine", f"{asked} is not an engine", allowed=", ".join(names))
    found = engine_of_database(database)
    stated = policy is not None and policy.engine != "duckdb"
    wanted = asked or (policy.engine if stated and policy else None) or found
    if wanted is None:
        return "duckdb"
    if found is not None and wanted != found:
        said = f"is a database of {found}, and the engine is {wanted}"
        raise PolicyError.at("--database", said, hint=f"engine: {found}")
    return wanted


# The features that each engine supports; policies with others are refused before anything is read.
#
# The table in docs/scale.md is generated from this module.


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
        """Explain a feature that an engine lacks, and what to use instead; None if it has it."""
        only = engines()[engine].only
        if only is not None and self.name not in only:
            return "it does not say that it has it", EMBEDDED
        return self.lacking.get(engine)


def refuse(policy: AnyPolicy, engine: EngineName) -> None:
    """Raises PolicyError listing every feature the policy uses and the engine lacks."""
    problems = []
    for feature in FEATURES:
        missing = feature.missing(engine)
        if missing is None:
            continue
        reason, instead = missing
        said = f"is not available with the engine {engine}: {reason}"
        problems += [Problem(path, said, hint=instead) for path in _paths(policy, feature)]
    PolicyError.refuse(problems)
    if policy.several and engine != "duckdb":
        PolicyError.refuse(_codes_of_children(policy))


def _paths(policy: AnyPolicy, feature: Feature) -> Iterator[str]:
    """Where a policy uses a feature: of all tables, or once for the release."""
    for prefix, single in policy.singles.items():
        for path in feature.uses(single):
            if path.startswith(("columns", "source")):
                yield prefix + path
            elif single == policy.lead:
                yield path


def _codes_of_children(policy: AnyPolicy) -> Iterator[Problem]:
    """Codes that are found in the rows of further tables: those who are left out count again."""
    for name, path, column in policy.described:
        further = policy.several and not path.startswith(f"{table_path(policy.person)}.")
        for mask, options in column.masks:
            if further and getattr(options, "at_least", None) is not None:
                said = f"of {name}, a column of a further table, is found on duckdb only"
                of_mask = path if options is column else f"{path}.{mask}"
                yield Problem(f"{of_mask}.at_least", said, hint="at: <the value>")


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


def with_limit(limit: Limit) -> Uses:
    """Policies whose algorithm has this option."""
    return option(f"algorithm.{limit.option}", lambda policy: limit.asked_by(policy.algorithm))


def with_guarantee(guarantee: Guarantee) -> Uses:
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
    for name, made in BY_NAME.items():
        yield Feature(f"algorithm `{name}`{made.note}", algorithm(name), made.lacking)
        for limit in made.limits:
            yield Feature(f"&nbsp;&nbsp;{limit.title}", with_limit(limit), limit.lacking)


def _of_guarantees() -> Iterator[Feature]:
    """Guarantees that an algorithm of all engines enforces; others depend on their algorithm."""
    everywhere = [made for made in BY_NAME.values() if not made.lacking]
    for guarantee in GUARANTEES:
        if any(made.works_towards(guarantee) for made in everywhere):
            title = f"`{guarantee.option}`"
            yield Feature(title, with_guarantee(guarantee), guarantee.lacking)


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
            "a release is in the source's database, where its view is a boundary",
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
    Feature("masks", of_columns(lambda column: column.masks)),
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
        # (what counts with noise spend is kept apart from the data of persons)
        option(
            "ledger",
            lambda policy: (
                policy.ledger is not None
                and (policy.counts is None or policy.counts.epsilon is None)
            ),
        ),
        _lacking(("spark",), "it is kept by runs on duckdb and postgres"),
    ),
    Feature(
        "`republish`",
        option("republish", lambda policy: policy.republish is not None),
        _lacking(("spark",), "it needs the ledger"),
    ),
)
