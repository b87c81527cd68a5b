"""The guarantees of a policy, as requirements on its release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from anonymizer.contract.ask import Scope
from anonymizer.contract.layout import Requirement
from anonymizer.policy import Policy
from anonymizer.privacy.guarantee import Guarantee
from anonymizer.privacy.of_policy.registry import BY_NAME, OF_COLUMNS, asked, asked_of_table


def requirements_of(policy: Policy) -> tuple[Requirement, ...]:
    """Every guarantee of the policy, in its order: of the table, then column by column.

    A hierarchical distance still lacks the paths of its values: see `with_paths`.
    """
    return (*_of_table(policy), *_of_columns(policy), *_of_signatures(policy))


def with_paths(requirement: Requirement, paths: Mapping[str, Any]) -> Requirement:
    """The requirement with the hierarchy that its distance needs.

    `paths` maps the text of a *published* value to its ancestors, parent first, root last, all of
    the same length. Any label (or number) that distinguishes the nodes of one level is allowed.
    """
    return replace(requirement, parameters={**requirement.parameters, "paths": dict(paths)})


def with_paths_of(
    required: Iterable[Requirement], published: Iterable[Requirement]
) -> tuple[Requirement, ...]:
    """Requirements with the paths from a release's manifest, for the same distances."""
    paths = {
        (item.name, item.column): item.parameters["paths"]
        for item in published
        if "paths" in item.parameters
    }
    return tuple(
        with_paths(item, paths[item.name, item.column])
        if (item.name, item.column) in paths and item.parameters.get("distance") == "hierarchical"
        else item
        for item in required
    )


def _of_table(policy: Policy) -> Iterator[Requirement]:
    for guarantee, value in asked_of_table(policy):
        terms = guarantee.terms_of(value)
        if not guarantee.of_values:
            yield Requirement(guarantee.name, None, terms)
            continue
        for column in policy.sensitive:
            own = {**terms, **_of_nulls(policy, column)}
            if guarantee.in_buckets and _scope(policy, column) == "bucket":
                yield from _in_buckets(guarantee, column, own)
            else:
                yield Requirement(guarantee.name, column, own)


def _in_buckets(
    guarantee: Guarantee, column: str, terms: Mapping[str, Any]
) -> Iterator[Requirement]:
    """Requirements in buckets: an observer knows a person's bucketized value up to its bucket."""
    sizes = {part: value for part, value in terms.items() if part == "k"}
    shares = {part: value for part, value in terms.items() if part != "k"}
    for name in guarantee.in_buckets:
        if BY_NAME[name].of_values:
            yield Requirement(name, column, shares, "bucket")
        else:
            yield Requirement(name, None, sizes)


def _of_columns(policy: Policy) -> Iterator[Requirement]:
    for name in policy.protected:
        protect = policy.columns[name].protect
        for guarantee, value in asked(OF_COLUMNS, protect):
            terms = guarantee.terms_of(value)
            if guarantee.terms is not None:
                terms = dict(guarantee.terms(policy, protect))
            terms |= _of_nulls(policy, name)
            yield Requirement(guarantee.name, name, terms, _scope(policy, name))


def _of_signatures(policy: Policy) -> Iterator[Requirement]:
    """Under m-invariance a class has m or more values, each once (Xiao and Tao 2007)."""
    if policy.republish is not None and policy.republish.m is not None:
        (column,) = policy.sensitive
        guarantee = BY_NAME["m_unique"]
        yield Requirement(guarantee.name, column, guarantee.terms_of(policy.republish.m))


def _scope(policy: Policy, column: str) -> Scope:
    """Where the values of a column are published in a release."""
    return policy.algorithm.values_in if column in policy.protected else "class"


def _of_nulls(policy: Policy, column: str) -> dict[str, Any]:
    return {"null_as_value": True} if policy.columns[column].null_as_value else {}
