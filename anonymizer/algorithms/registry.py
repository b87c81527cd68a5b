"""The registry of algorithms, and the guarantees that each of them supports."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from anonymizer.algorithms.descriptor import Algorithm
from anonymizer.errors import PolicyError, Problem, RegistryError
from anonymizer.guarantees.guarantee import Guarantee
from anonymizer.guarantees.requirements import OF_COLUMNS, OF_TABLE, required_guarantees
from anonymizer.policy import Lgb, Msb, Policy
from anonymizer.policy.algorithms import ALGORITHMS, OPTIONS
from anonymizer.policy.paths import column_path

# The registry of algorithms, discovered in the packages of `anonymizer.algorithms`.
#
# Importing this module raises `RegistryError` if some options have no algorithm, or several.


def _discover() -> tuple[Algorithm, ...]:
    """The algorithms of all packages, in the order of the policy's options."""
    found: list[Algorithm] = []
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if module.name not in ("descriptor", "registry"):
            values = vars(import_module(f"anonymizer.algorithms.{module.name}")).values()
            found += [value for value in values if isinstance(value, Algorithm)]
    check(found)
    return tuple(sorted(found, key=lambda algorithm: OPTIONS.index(algorithm.options)))


def check(algorithms: Sequence[Algorithm]) -> None:
    """Raises RegistryError unless exactly one package implements each algorithm of a policy."""
    made = [algorithm.options for algorithm in algorithms]
    found = [
        Problem(options.algorithm(), f"{made.count(options)} packages make this algorithm")
        for options in OPTIONS
        if made.count(options) != 1
    ]
    found += [Problem(o.__name__, "is no algorithm of a policy") for o in made if o not in OPTIONS]
    RegistryError.refuse(found)


BY_NAME = {algorithm.name: algorithm for algorithm in _discover()}


# The guarantees that each algorithm supports; others are refused before anything is read.


def refuse_unsupported(policy: Policy) -> None:
    """Raises PolicyError with every guarantee that the algorithm does not support."""
    problems = list(_problems(policy))
    PolicyError.refuse(problems)


def _problems(policy: Policy) -> Iterator[Problem]:
    name = policy.algorithm.name
    algorithm = BY_NAME[name]
    if policy.merge_person_rows and not algorithm.merges_persons:
        yield Problem(
            "merge_person_rows",
            f"is not available with {name}, whose classes are made of equal tuples",
            allowed=", ".join(sorted(a.name for a in BY_NAME.values() if a.merges_persons)),
            hint="make the rows of a person equal in source.query",
        )
    hint = "assess and verify judge it on any table; for a release choose another model"
    for guarantee, _ in required_guarantees(OF_TABLE, policy.privacy):
        if not algorithm.works_towards(guarantee):
            yield Problem(
                guarantee.field,
                f"is not a model that the algorithm {name} works towards",
                allowed=_options(algorithm, OF_TABLE),
                hint=_way_out(policy, guarantee) if guarantee.of_source else hint,
            )
    yield from _population_problems(policy)
    yield from _identity_problems(policy)
    for column in policy.protected:
        protect = policy.columns[column].protect
        assert protect is not None
        path = column_path(column, "protect")
        given = {g.option: g for g, _ in required_guarantees(OF_COLUMNS, protect)}
        for rule in sorted(option for option, g in given.items() if not algorithm.works_towards(g)):
            yield Problem(
                f"{path}.{rule}",
                f"is not a rule that the algorithm {name} works towards",
                allowed=_options(algorithm, OF_COLUMNS) or None,
                hint=_way_out(policy, given[rule]),
            )
        closeness = protect.t_closeness
        if closeness is not None and closeness.distance not in algorithm.distances:
            yield Problem(
                f"{path}.t_closeness.distance",
                f"{closeness.distance} is not available with the algorithm {name}",
                allowed=", ".join(sorted(algorithm.distances)),
            )
        if (
            closeness is not None
            and closeness.distance == "hierarchical"
            and policy.columns[column].hierarchy is None
        ):
            yield Problem(
                f"{path}.t_closeness.distance",
                "hierarchical needs a hierarchy of the column",
                hint="hierarchy: {file: diseases.csv}",
            )


def _way_out(policy: Policy, rule: Guarantee) -> str:
    """A hint for an unsupported rule of a column, which may come from a preset."""
    named = ", ".join(a.name for a in BY_NAME.values() if a.works_towards(rule))
    found = f"algorithms that do: {named}"
    if policy.preset is None:
        return found
    return f"{found}; or leave preset: {policy.preset} out, and state k_anonymity"


def _options(algorithm: Algorithm, guarantees: Sequence[Guarantee]) -> str:
    return ", ".join(sorted(g.option for g in guarantees if algorithm.works_towards(g)))


def _identity_problems(policy: Policy) -> Iterator[Problem]:
    """Problems with models of persons and values, which `lgb` supports only with some options."""
    algorithm = policy.algorithm
    models = [model for model in policy.privacy.identity_reserved if model != "ir_k"]
    if not isinstance(algorithm, Lgb) or not models:
        return
    if algorithm.by_seeds:
        yield Problem(
            "algorithm.generalization",
            f"ncp grows groups from seeds, which {models[0]} cannot be judged by",
            allowed="mdp, loss",
        )
    for column in policy.sensitive:
        if policy.columns[column].protect is not None:
            yield Problem(
                column_path(column, "protect"),
                f"deals the values into buckets, and {models[0]} is about those of a class",
                hint=f"leave protect out ({models[0]} protects the column), or the model",
            )


def _population_problems(policy: Policy) -> Iterator[Problem]:
    """Problems with populations: only one is allowed, and only without `republish`."""
    populations = policy.privacy.populations
    if populations and policy.continues:
        yield Problem(
            f"privacy.{min(populations)}",
            "is not available with republish",
            hint="leave republish out, or ask for k_anonymity",
        )
    for name, population in populations.items():
        first = next(iter(populations))
        if population != populations[first]:
            yield Problem(
                f"privacy.{name}.population",
                f"differs from privacy.{first}.population",
                hint="name one population for both models",
            )


# Determines the hierarchies whose nodes an algorithm publishes.


def publishes_nodes(policy: Policy, name: str, kind: str) -> bool:
    """Return whether the cells of a quasi-identifier are the nodes of its hierarchy.

    If classes are boxes, numbers and dates are published as the ranges of their classes.
    """
    options = policy.algorithm
    if policy.columns[name].hierarchy is None:
        return False
    if options.exact:
        return False
    return options.over_levels or kind == "categorical"


CODES = ", and numbers that are codes have them with kind: categorical"


def unused_hierarchies(policy: Policy, kinds: Mapping[str, str]) -> Iterator[str]:
    """A warning for every hierarchy that no cell uses; `kinds` of the quasi-identifiers by name."""
    others = ", ".join(name for name, options in ALGORITHMS.items() if options.over_levels)
    for name, kind in kinds.items():
        column = policy.columns.get(name)
        if column is None or column.role != "quasi" or column.hierarchy is None:
            continue
        if publishes_nodes(policy, name, kind):
            continue
        codes = ""
        if isinstance(policy.algorithm, Msb):
            why = "publishes quasi-identifiers as they are, but with `generalize`"
        else:
            why = (
                "publishes numbers and dates as the ranges of their classes, without the cuts, top"
                " and bottom of a hierarchy"
            )
            codes = CODES if kind == "numeric" else ""
        yield (
            f"{column_path(name, 'hierarchy')}: is not used: {policy.algorithm.name} {why};"
            f" {others} publish its nodes{codes}"
        )
