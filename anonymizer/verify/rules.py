"""Guarantees: each requirement as questions that the release alone can answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from anonymizer.compile import Table
from anonymizer.errors import NothingToCheckError, Problem
from anonymizer.release.layout import Layout, PublishedColumn, Requirement
from anonymizer.verify.columns import cells, flags, type_sql
from anonymizer.verify.exact import upper_bound
from anonymizer.verify.form import unique_values
from anonymizer.verify.questions import Question, greatest, least

Groups = dict[str, Any]


def questions(view: Table, layout: Layout, requirement: Requirement) -> Iterator[Question]:
    """Everything that has to hold for one requirement.

    Raises `NothingToCheckError` for what the release alone cannot answer.
    """
    if requirement.name in ("k_anonymity", "ir_k"):
        yield from _sizes(view, layout, requirement)
        return
    build = RULES.get(requirement.name)
    if build is None:
        raise NothingToCheckError(
            Problem(
                f"privacy.{requirement.name}",
                "cannot be judged from the release alone",
                allowed=", ".join(("k_anonymity", "ir_k", *RULES)),
            )
        )
    column = next((c for c in layout.columns if c.column == requirement.column), None)
    if column is None:
        raise NothingToCheckError(
            Problem(f"privacy.{requirement.name}", "names no column that the release publishes")
        )
    groups = _groups(view, layout, requirement, column)
    yield build(requirement, groups)
    if requirement.name == "m_unique" or (
        requirement.scope == "bucket" and requirement.name == "distinct_l"
    ):
        yield unique_values(view, column, groups["group"])


def _sizes(view: Table, layout: Layout, requirement: Requirement) -> Iterator[Question]:
    person = layout.person_id
    if requirement.name == "ir_k" and person is None:
        raise NothingToCheckError(_no_person(requirement))
    k = requirement.parameters["k"]
    table = {"data": view, "group": layout.class_id, "person": person, "k": k}
    table["label"] = layout.class_id or "tuple"
    if layout.class_id is not None:
        yield Question(requirement.name, None, k, "verify/size.sql.j2", table, (least(),))
    tuples = {**table, "flags": flags(layout), "cells": cells(layout)}
    yield Question(f"{requirement.name}_tuples", None, k, "verify/tuples.sql.j2", tuples)


def _groups(
    view: Table, layout: Layout, requirement: Requirement, column: PublishedColumn
) -> Groups:
    """Where the groups of the requirement's scope and their values stand."""
    data, group, person = view, layout.class_id, layout.person_id
    if requirement.scope == "bucket":
        # at most one row per person and bucket is a condition of form, so rows count here
        group, person = column.bucket, None
    elif requirement.scope == "group":
        data = Table(layout.tables[column.column], view.schema, view.catalog)
        group, person = layout.group_id, None
    if group is None:
        where = {"class": "classes", "bucket": "buckets", "group": "groups"}[requirement.scope]
        raise NothingToCheckError(
            Problem(f"columns.{column.column}.protect", f"the release has no {where} to judge")
        )
    return {
        "data": data,
        "group": group,
        "label": group,
        "person": person,
        "column": column,
        "type": type_sql(column.sql_type),
        "nulls_count": bool(requirement.parameters.get("null_as_value", False)),
    }


def _no_person(requirement: Requirement) -> Problem:
    said = "counts persons, and the release does not tell them apart"
    return Problem(f"privacy.{requirement.name}", said)


def _distinct(r: Requirement, groups: Groups) -> Question:
    l = r.parameters["l"]
    if r.scope == "group":
        weights = {**groups, "levels": (), "default": l, "null_group": False}
        # the share of the commonest value times l may be 1 at most; l is what it leaves
        return Question(
            r.name,
            r.column,
            {"share": 1, "l": l},
            "verify/level_l.sql.j2",
            weights,
            (greatest(),),
            {"l": l},
        )
    parameters = {**groups, "l": l}
    return Question(r.name, r.column, l, "verify/distinct_l.sql.j2", parameters, (least(),))


def _entropy(r: Requirement, groups: Groups) -> Question:
    l = r.parameters["l"]
    parameters = {**groups, "l": l}
    return Question(r.name, r.column, l, "verify/entropy_l.sql.j2", parameters, (least(),))


def _recursive(r: Requirement, groups: Groups) -> Question:
    c, l = r.parameters["c"], r.parameters["l"]
    return Question(
        r.name,
        r.column,
        {"c": c, "l": l},
        "verify/recursive_cl.sql.j2",
        {**groups, "l": l, "bound": upper_bound(c)},
        (greatest(),),
        {"l": l},
    )


def _closeness(r: Requirement, groups: Groups) -> Question:
    t, distance = r.parameters["t"], r.parameters.get("distance", "equal")
    # NULL is a category of its own for every distance
    parameters = {**groups, "nulls_count": True, "bound": upper_bound(t)}
    if distance == "hierarchical":
        parameters |= _numbered_paths(r)
    template = f"verify/t_{distance}.sql.j2"
    required = {"t": t, "distance": distance}
    constants = {"distance": distance}
    return Question(r.name, r.column, required, template, parameters, (greatest(),), constants)


def _numbered_paths(r: Requirement) -> dict[str, Any]:
    """`paths`: published value (as text) to its ancestors, parent first, all equally many.

    The labels of the ancestors do not enter the statement, only numbers for them.
    """
    paths: Mapping[str, Any] | None = r.parameters.get("paths")
    lengths = {len(nodes) for nodes in (paths or {}).values()}
    if not paths or len(lengths) != 1 or 0 in lengths:
        raise NothingToCheckError(
            Problem(
                f"columns.{r.column}.protect.t_closeness",
                "the hierarchical distance needs the paths of the values, all of one length",
            )
        )
    labels = sorted({(i, str(node)) for nodes in paths.values() for i, node in enumerate(nodes)})
    number = {label: i for i, label in enumerate(labels)}
    listed = [
        (leaf, [number[i, str(node)] for i, node in enumerate(nodes)])
        for leaf, nodes in sorted(paths.items())
    ]
    return {"paths": listed, "height": lengths.pop()}


def _alpha(r: Requirement, groups: Groups) -> Question:
    alpha, k, only = r.parameters["alpha"], r.parameters.get("k"), r.parameters.get("value")
    parameters = {
        **groups,
        "bound": upper_bound(alpha),
        "k": k or 0,
        "only": None if only is None else value_text(only),
    }
    required = alpha if k is None else {"alpha": alpha, "k": k}
    parts = (greatest("alpha"),) if k is None else (greatest("alpha"), least("k"))
    return Question(r.name, r.column, required, "verify/alpha.sql.j2", parameters, parts)


def _beta(r: Requirement, groups: Groups) -> Question:
    beta = r.parameters["beta"]
    parameters = {**groups, "bound": upper_bound(beta)}
    return Question(
        r.name, r.column, beta, "verify/beta_likeness.sql.j2", parameters, (greatest(),)
    )


def _delta(r: Requirement, groups: Groups) -> Question:
    delta = r.parameters["delta"]
    parameters = {**groups, "delta": delta}
    template = "verify/delta_disclosure.sql.j2"
    return Question(r.name, r.column, delta, template, parameters, (greatest(),))


def _ir_kl(r: Requirement, groups: Groups) -> Question:
    _need_person(r, groups)
    required = {name: r.parameters[name] for name in ("k", "l")}
    parts = (least("k"), least("l"))
    return Question(
        r.name, r.column, required, "verify/ir_kl.sql.j2", {**groups, **required}, parts
    )


def _alpha_beta(r: Requirement, groups: Groups) -> Question:
    _need_person(r, groups)
    required = {name: r.parameters[name] for name in ("alpha", "beta")}
    bounds = {name: upper_bound(value) for name, value in required.items()}
    return Question(
        r.name,
        r.column,
        required,
        "verify/alpha_beta.sql.j2",
        {**groups, **bounds, "enhanced": r.name.startswith("eir")},
        (greatest("alpha"), greatest("beta")),
    )


def _eir_l(r: Requirement, groups: Groups) -> Question:
    _need_person(r, groups)
    l = r.parameters["l"]
    parameters = {**groups, "l": l}
    return Question(r.name, r.column, l, "verify/eir_l.sql.j2", parameters, (least(),))


def _need_person(r: Requirement, groups: Groups) -> None:
    if groups["person"] is None:
        raise NothingToCheckError(_no_person(r))


def _level_l(r: Requirement, groups: Groups) -> Question:
    needed = {int(level): l for level, l in r.parameters["level_l"].items()}
    default = r.parameters.get("default_level")
    parameters = {
        **groups,
        "levels": [
            (needed[int(level)], [value_text(value) for value in values])
            for level, values in r.parameters["levels"].items()
            if values
        ],
        "default": None if default is None else needed[int(default)],
        "null_group": True,
    }
    return Question(r.name, r.column, 1, "verify/level_l.sql.j2", parameters, (greatest(),))


def value_text(value: object) -> str:
    """A value of a policy as the text that SQL reads back as that value."""
    return str(value).lower() if isinstance(value, bool) else str(value)


RULES: dict[str, Callable[[Requirement, Groups], Question]] = {
    "m_unique": _distinct,
    "distinct_l": _distinct,
    "entropy_l": _entropy,
    "recursive_cl": _recursive,
    "t_closeness": _closeness,
    "alpha": _alpha,
    "alpha_k": _alpha,
    "beta_likeness": _beta,
    "delta_disclosure": _delta,
    "ir_kl": _ir_kl,
    "ir_alpha_beta": _alpha_beta,
    "eir_l": _eir_l,
    "eir_alpha_beta": _alpha_beta,
    "level_l": _level_l,
}
