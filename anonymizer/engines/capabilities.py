"""What works on which engine. The rest is refused before anything is read.

The table in docs/scale.md is made from this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from anonymizer.engines.base import EngineName
from anonymizer.errors import PolicyError, Problem
from anonymizer.policy import Policy

ENGINES: tuple[EngineName, ...] = ("duckdb", "postgres", "spark")
EMBEDDED = "engine: duckdb"


@dataclass(frozen=True, slots=True)
class Feature:
    """Something a policy can ask for, where it says so, and which engines have it not."""

    title: str
    """As the table of the docs names it."""
    uses: Callable[[Policy], Iterator[str]]
    """The paths of the policy that ask for it."""
    lacking: Mapping[EngineName, tuple[str, str]] = field(default_factory=dict)
    """Engine to why it is not there, and what to use instead."""

    def runs_on(self, engine: EngineName) -> bool:
        return engine not in self.lacking


def refuse(policy: Policy, engine: EngineName) -> None:
    """Raises PolicyError with everything of the policy that the engine does not have."""
    problems = []
    for feature in FEATURES:
        if feature.runs_on(engine):
            continue
        reason, instead = feature.lacking[engine]
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


def option(name: str, wanted: object) -> Callable[[Policy], Iterator[str]]:
    """Policies whose algorithm has this option at this value."""

    def uses(policy: Policy) -> Iterator[str]:
        if getattr(policy.algorithm, name, None) == wanted:
            yield f"algorithm.{name}"

    return uses


def _refined(policy: Policy) -> Iterator[str]:
    if getattr(policy.algorithm, "refine", 0):
        yield "algorithm.refine"


def model(name: str) -> Callable[[Policy], Iterator[str]]:
    """Policies that ask for this privacy model."""

    def uses(policy: Policy) -> Iterator[str]:
        if getattr(policy.privacy, name) is not None:
            yield f"privacy.{name}"

    return uses


def rule(name: str) -> Callable[[Policy], Iterator[str]]:
    """Policies that protect a column by this rule."""

    def uses(policy: Policy) -> Iterator[str]:
        for column, said in policy.columns.items():
            if said.protect is not None and getattr(said.protect, name) is not None:
                yield f"columns.{column}.protect.{name}"

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


def _ledger(policy: Policy) -> Iterator[str]:
    if policy.ledger is not None:
        yield "ledger"


def _republished(policy: Policy) -> Iterator[str]:
    if policy.republish is not None:
        yield "republish"


def _lacking(
    engines: tuple[EngineName, ...], reason: str, instead: str = EMBEDDED
) -> dict[EngineName, tuple[str, str]]:
    return dict.fromkeys(engines, (reason, instead))


ELSEWHERE: tuple[EngineName, ...] = ("postgres", "spark")
OTHERS = "algorithm: {name: mondrian}, or engine: duckdb"
SEARCH = "its search works on lists inside one statement"

FEATURES: tuple[Feature, ...] = (
    Feature("algorithm `mondrian`", algorithm("mondrian")),
    Feature("&nbsp;&nbsp;`loop: driven`", option("loop", "driven")),
    Feature(
        "&nbsp;&nbsp;`loop: recursive`",
        option("loop", "recursive"),
        _lacking(
            ("postgres",),
            "no recursive statement there keeps one row per key",
            "loop: auto, which gives the same classes",
        ),
    ),
    Feature(
        "&nbsp;&nbsp;`refine`",
        _refined,
        _lacking(ELSEWHERE, "its rounds take seconds each there", "leave refine out"),
    ),
    Feature("algorithm `lgb`, with buckets", algorithm("lgb")),
    Feature("algorithm `full_domain`", algorithm("full_domain")),
    *(
        Feature(f"algorithm `{name}`", algorithm(name), _lacking(ELSEWHERE, reason, OTHERS))
        for name, reason in (
            ("privacyfrost", "its search is one recursive statement with a key"),
            ("msb", "its groups are made by one recursive statement with a key"),
            ("danonyir", "its statements use lists and structs"),
            ("geneir", "its statements use lists and structs"),
        )
    ),
    *(
        Feature(f"`{name}`", rule(name))
        for name in (
            "l_diversity",
            "entropy_l",
            "recursive_cl",
            "t_closeness",
            "alpha",
            "beta_likeness",
            "delta_disclosure",
        )
    ),
    *(
        Feature(f"`{name}`", model(name))
        for name in ("k_anonymity", "alpha_k", "ir_k", "ir_kl", "ir_alpha_beta", "eir_alpha_beta")
    ),
    Feature("`eir_l`", model("eir_l"), _lacking(ELSEWHERE, SEARCH)),
    *(
        Feature(
            f"`{name}`",
            model(name),
            _lacking(ELSEWHERE, "its population is matched by a join that only duckdb has"),
        )
        for name in ("k_map", "delta_presence")
    ),
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
        _lacking(ELSEWHERE, "it replaces a table of a DuckDB database", "publish a view"),
    ),
    Feature(
        "`grant_select`",
        _granted,
        _lacking(("duckdb", "spark"), "it has no roles", "engine: postgres"),
    ),
    Feature("ledger", _ledger, _lacking(ELSEWHERE, "it is kept by runs on duckdb")),
    Feature("`republish`", _republished, _lacking(ELSEWHERE, "it needs the ledger")),
)
