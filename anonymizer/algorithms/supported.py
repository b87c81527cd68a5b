"""The guarantees that each algorithm supports; others are refused before anything is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anonymizer.algorithms.descriptor import Algorithm
from anonymizer.algorithms.registry import ALGORITHMS
from anonymizer.errors import PolicyError, Problem
from anonymizer.policy import Lgb, Policy
from anonymizer.policy.paths import column_path
from anonymizer.privacy.guarantee import Guarantee
from anonymizer.privacy.of_policy.registry import OF_COLUMNS, OF_TABLE, asked


def refuse_unsupported(policy: Policy) -> None:
    """Raises PolicyError with every guarantee that the algorithm does not support."""
    problems = list(_problems(policy))
    PolicyError.refuse(problems)


def _problems(policy: Policy) -> Iterator[Problem]:
    name = policy.algorithm.name
    algorithm = ALGORITHMS[name]
    if policy.merge_person_rows and not algorithm.merges_persons:
        yield Problem(
            "merge_person_rows",
            f"is not available with {name}, whose classes are made of equal tuples",
            allowed=", ".join(sorted(a.name for a in ALGORITHMS.values() if a.merges_persons)),
            hint="make the rows of a person equal in source.query",
        )
    hint = "assess and verify judge it on any table; for a release choose another model"
    for guarantee, _ in asked(OF_TABLE, policy.privacy):
        if not algorithm.works_towards(guarantee):
            yield Problem(
                guarantee.field,
                f"is not a model that the algorithm {name} works towards",
                allowed=_allowed(algorithm, OF_TABLE),
                hint=hint,
            )
    yield from _population_problems(policy)
    yield from _identity_problems(policy)
    for column in policy.protected:
        protect = policy.columns[column].protect
        assert protect is not None
        path = column_path(column, "protect")
        given = {g.option: g for g, _ in asked(OF_COLUMNS, protect)}
        for rule in sorted(option for option, g in given.items() if not algorithm.works_towards(g)):
            yield Problem(
                f"{path}.{rule}",
                f"is not a rule that the algorithm {name} works towards",
                allowed=_allowed(algorithm, OF_COLUMNS) or None,
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
    named = ", ".join(a.name for a in ALGORITHMS.values() if a.works_towards(rule))
    found = f"algorithms that do: {named}"
    if policy.preset is None:
        return found
    return f"{found}; or leave preset: {policy.preset} out, and state k_anonymity"


def _allowed(algorithm: Algorithm, guarantees: Sequence[Guarantee]) -> str:
    return ", ".join(sorted(g.option for g in guarantees if algorithm.works_towards(g)))


def _identity_problems(policy: Policy) -> Iterator[Problem]:
    """Problems with models of persons and values, which `lgb` supports only with some options."""
    algorithm = policy.algorithm
    models = [model for model in policy.privacy.identity_reserved if model != "ir_k"]
    if not isinstance(algorithm, Lgb) or not models:
        return
    if algorithm.generalization == "ncp":
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
