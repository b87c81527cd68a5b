"""Which guarantees each algorithm can work towards. The rest is refused before anything is read."""

from __future__ import annotations

from collections.abc import Iterator

from anonymizer.errors import PolicyError, Problem
from anonymizer.policy import Lgb, Policy

DIVERSITY = {"l_diversity", "entropy_l", "recursive_cl", "t_closeness", "alpha"}
RELATIVE = {"beta_likeness", "delta_disclosure"}
POPULATION = {"k_map", "delta_presence"}
IDENTITY = {"ir_k", "ir_kl", "ir_alpha_beta", "eir_l", "eir_alpha_beta"}

RULES: dict[str, set[str]] = {
    "msb": {"l_diversity", "levels"},
    "mondrian": DIVERSITY | RELATIVE,
    "lgb": DIVERSITY | RELATIVE,
    "full_domain": DIVERSITY | RELATIVE,
    "privacyfrost": DIVERSITY | RELATIVE,
    "danonyir": set(),
    "geneir": set(),
}
MODELS: dict[str, set[str]] = {
    "msb": {"k_anonymity"},
    "mondrian": {"k_anonymity", "alpha_k"} | IDENTITY | POPULATION,
    "lgb": {"k_anonymity"} | IDENTITY,
    "full_domain": {"k_anonymity", "alpha_k"},
    "privacyfrost": {"k_anonymity", "alpha_k"},
    "danonyir": IDENTITY | {"k_anonymity"},
    "geneir": IDENTITY | {"k_anonymity"},
}
DISTANCES: dict[str, set[str]] = {
    "msb": set(),
    "mondrian": {"equal", "ordered", "hierarchical"},
    "lgb": {"equal", "ordered"},
    "full_domain": {"equal", "ordered", "hierarchical"},
    "privacyfrost": {"equal", "ordered", "hierarchical"},
    "danonyir": set(),
    "geneir": set(),
}

MERGES_PERSONS = {"mondrian", "danonyir"}
"""Algorithms that take a person whose rows differ as one unit."""


def refuse_unsupported(policy: Policy) -> None:
    """Raises PolicyError with every guarantee that the algorithm cannot work towards."""
    problems = list(_problems(policy))
    if problems:
        raise PolicyError(problems)


def _problems(policy: Policy) -> Iterator[Problem]:
    name = policy.algorithm.name
    if name not in RULES:
        return
    if policy.merge_person_rows and name not in MERGES_PERSONS:
        yield Problem(
            "merge_person_rows",
            f"is not available with {name}, whose classes are made of equal tuples",
            allowed=", ".join(sorted(MERGES_PERSONS)),
            hint="make the rows of a person equal in source.query",
        )
    hint = "assess and verify judge it on any table; for a release choose another model"
    for model in policy.privacy.guarantees:
        if model not in MODELS[name]:
            yield Problem(
                f"privacy.{model}",
                f"is not a model that the algorithm {name} works towards",
                allowed=", ".join(sorted(MODELS[name])),
                hint=hint,
            )
    yield from _population_problems(policy)
    yield from _identity_problems(policy)
    for column in policy.protected:
        protect = policy.columns[column].protect
        assert protect is not None
        path = f"columns.{column}.protect"
        given = {rule for rule in DIVERSITY | RELATIVE | {"levels"} if getattr(protect, rule)}
        for rule in sorted(given - RULES[name]):
            yield Problem(
                f"{path}.{rule}",
                f"is not a rule that the algorithm {name} works towards",
                allowed=", ".join(sorted(RULES[name])),
            )
        closeness = protect.t_closeness
        if closeness is not None and closeness.distance not in DISTANCES[name]:
            yield Problem(
                f"{path}.t_closeness.distance",
                f"{closeness.distance} is not available with the algorithm {name}",
                allowed=", ".join(sorted(DISTANCES[name])),
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


def _identity_problems(policy: Policy) -> Iterator[Problem]:
    """Models of persons and their values need those in the classes, and cuts that judge them."""
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
                f"columns.{column}.protect",
                f"deals the values into buckets, and {models[0]} is about those of a class",
                hint=f"leave protect out ({models[0]} protects the column), or the model",
            )


def _population_problems(policy: Policy) -> Iterator[Problem]:
    """One population, of a table that is released once and cut by values."""
    privacy = policy.privacy
    named = sorted(POPULATION.intersection(privacy.guarantees))
    if named and policy.republish is not None:
        yield Problem(
            f"privacy.{named[0]}",
            "is not available with republish",
            hint="leave republish out, or ask for k_anonymity",
        )
    if (
        privacy.k_map is not None
        and privacy.delta_presence is not None
        and privacy.k_map.population != privacy.delta_presence.population
    ):
        yield Problem(
            "privacy.delta_presence.population",
            "differs from privacy.k_map.population",
            hint="name one population for both models",
        )
