"""What a policy promises, as requirements on its release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from anonymizer.policy import Msb, Policy
from anonymizer.policy.columns import Column
from anonymizer.policy.protect import Protect
from anonymizer.release.layout import Requirement

TABLE_SIZES = ("k_anonymity", "ir_k")
OF_POPULATION = ("k_map", "delta_presence")


def requirements_of(policy: Policy) -> tuple[Requirement, ...]:
    """Every guarantee of the policy, in its order: of the table, then column by column.

    A hierarchical distance still lacks the paths of its values: see `with_paths`.
    """
    return (*_of_table(policy), *_of_columns(policy), *_of_signatures(policy))


def _of_signatures(policy: Policy) -> Iterator[Requirement]:
    """Under m-invariance a class has m values or more, each once (Xiao and Tao 2007)."""
    if policy.republish is not None and policy.republish.m is not None:
        (column,) = policy.sensitive
        yield Requirement("m_unique", column, {"l": policy.republish.m})


def with_paths(requirement: Requirement, paths: Mapping[str, Any]) -> Requirement:
    """The requirement with the hierarchy that its distance needs.

    `paths` maps the text of a *published* value to its ancestors, parent first, root last, all
    equally many. Any label (or number) that tells nodes of one level apart will do.
    """
    return replace(requirement, parameters={**requirement.parameters, "paths": dict(paths)})


def with_paths_of(
    required: Iterable[Requirement], published: Iterable[Requirement]
) -> tuple[Requirement, ...]:
    """Requirements with the paths that the manifest of a release holds for the same distances."""
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
    privacy = policy.privacy
    if isinstance(policy.algorithm, Msb) and policy.algorithm.generalize is not None:
        # at least the k of the table, which the policy's own checks see to
        yield Requirement("k_anonymity", None, {"k": policy.algorithm.generalize.k})
        return
    for name in privacy.guarantees:
        value: Any = getattr(privacy, name)
        if name in TABLE_SIZES:
            yield Requirement(name, None, {"k": value})
            continue
        given = {"l": value} if isinstance(value, int) else _plain(value)
        if name in OF_POPULATION:
            yield Requirement(name, None, given)
            continue
        for column in policy.sensitive:
            terms = {**given, **_of_nulls(policy.columns[column])}
            if _in_buckets(policy, column):
                yield from _in_bucket_terms(name, column, terms)
            else:
                yield Requirement(name, column, terms)


def _in_bucket_terms(name: str, column: str, given: Mapping[str, Any]) -> Iterator[Requirement]:
    """Who a bucketized value belongs to is known up to its bucket, so shares are taken there."""
    if name != "alpha_k":
        yield Requirement(name, column, given)
        return
    yield Requirement("k_anonymity", None, {"k": given["k"]})
    rest = {part: value for part, value in given.items() if part != "k"}
    yield Requirement("alpha", column, rest, "bucket")


def _plain(options: Any) -> dict[str, Any]:
    return {name: value for name, value in options if value is not None and name != "population"}


def _in_buckets(policy: Policy, column: str) -> bool:
    return policy.algorithm.name == "lgb" and column in policy.protected


def _of_columns(policy: Policy) -> Iterator[Requirement]:
    for name in policy.protected:
        column = policy.columns[name]
        assert column.protect is not None
        scope: Literal["class", "bucket", "group"] = "class"
        if policy.algorithm.name == "msb":
            scope = "group"
        elif _in_buckets(policy, name):
            scope = "bucket"
        for rule, parameters in _rules(policy, column.protect):
            yield Requirement(rule, name, {**parameters, **_of_nulls(column)}, scope)


def _of_nulls(column: Column) -> dict[str, Any]:
    return {"null_as_value": True} if column.null_as_value else {}


def _rules(policy: Policy, protect: Protect) -> Iterator[tuple[str, dict[str, Any]]]:
    if protect.l_diversity is not None:
        yield "distinct_l", {"l": protect.l_diversity}
    if protect.entropy_l is not None:
        yield "entropy_l", {"l": protect.entropy_l}
    if protect.recursive_cl is not None:
        yield "recursive_cl", {"c": protect.recursive_cl.c, "l": protect.recursive_cl.l}
    if protect.t_closeness is not None:
        yield "t_closeness", _plain(protect.t_closeness)
    if protect.alpha is not None:
        yield "alpha", {"alpha": protect.alpha}
    if protect.beta_likeness is not None:
        yield "beta_likeness", {"beta": protect.beta_likeness}
    if protect.delta_disclosure is not None:
        yield "delta_disclosure", {"delta": protect.delta_disclosure}
    if protect.levels is not None:
        needed = {int(level): l for level, l in (policy.privacy.level_l or {}).items()}
        levels = {int(level): list(values) for level, values in protect.levels.items()}
        rule: dict[str, Any] = {"levels": levels, "level_l": needed}
        if protect.default_level is not None:
            rule["default_level"] = protect.default_level
        yield "level_l", rule
