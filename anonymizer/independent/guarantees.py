"""The guarantees of a manifest, each judged by its definition in every group of rows.

Guarantees of classes are judged twice: per class number, and (`…_tuples`) per set of rows whose
published quasi-identifiers are equal, which is what a recipient sees.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from anonymizer.independent import closeness, diversity, persons
from anonymizer.independent.errors import UnreadableError
from anonymizer.independent.groups import Group, Record, grouped
from anonymizer.independent.layout import Column, Requirement
from anonymizer.independent.release import Release, Row
from anonymizer.independent.result import Check
from anonymizer.independent.rules import Figure, Rule, Terms

Model: TypeAlias = Callable[[Terms, Sequence[Group], str], Rule]
OF_TABLE: dict[str, Model] = {"k_anonymity": diversity.k_anonymity, "ir_k": diversity.k_anonymity}
OF_COLUMN: dict[str, Model] = {
    "distinct_l": diversity.distinct_l,
    "m_unique": diversity.distinct_l,
    "entropy_l": diversity.entropy_l,
    "recursive_cl": diversity.recursive_cl,
    "t_closeness": closeness.t_closeness,
    "alpha": diversity.alpha,
    "alpha_k": diversity.alpha_k,
    "beta_likeness": diversity.beta_likeness,
    "delta_disclosure": diversity.delta_disclosure,
    "level_l": diversity.level_l,
    "ir_kl": persons.ir_kl,
    "ir_alpha_beta": persons.ir_alpha_beta,
    "eir_l": persons.eir_l,
    "eir_alpha_beta": persons.eir_alpha_beta,
}
OF_PERSONS = ("ir_k", "ir_kl", "ir_alpha_beta", "eir_l", "eir_alpha_beta")


def judge_requirement(requirement: Requirement, release: Release) -> Iterator[Check]:
    """Every check of one requirement. Raises UnreadableError if it cannot be judged."""
    layout = release.layout
    model = OF_TABLE.get(requirement.name) or OF_COLUMN.get(requirement.name)
    if model is None:
        raise UnreadableError(f"manifest.requirements: {requirement.name!r} is not known")
    if requirement.name in OF_PERSONS and layout.person_id is None:
        raise UnreadableError(f"{requirement.name}: counts persons, whom the release does not tell")
    column = layout.column(requirement.column)
    if (column is None) != (requirement.name in OF_TABLE):
        raise UnreadableError(f"manifest.requirements: {requirement.name}: names no such column")
    if requirement.scope == "group" and requirement.name == "distinct_l":
        model = diversity.frequency_l
    for suffix, groups in groupings(requirement, release):
        sql_type = column.sql_type if column is not None else ""
        rule = model(Terms(requirement), groups, sql_type)
        yield _check(f"{requirement.name}{suffix}", requirement, rule, groups)
        if not suffix and _values_differ(requirement):
            own = diversity.unique(Terms(requirement), groups, sql_type)
            yield _check("bucket_unique", requirement, own, groups)


def _values_differ(requirement: Requirement) -> bool:
    """Whether values must differ in each group: buckets of l distinct values, and m-invariance."""
    in_bucket = requirement.scope == "bucket" and requirement.name == "distinct_l"
    return in_bucket or requirement.name == "m_unique"


def judge_among(
    requirement: Requirement, release: Release, left: Mapping[Hashable, Iterable[frozenset[int]]]
) -> Iterator[Check]:
    """Like `judge_requirement`, if only the persons in one of the sets in `left` remain of a class.

    A set of persons without any row is not a group of the column.
    """
    column = release.layout.column(requirement.column)
    model = OF_COLUMN.get(requirement.name)
    if column is None or model is None:
        raise UnreadableError(f"{requirement.name}: cannot be judged of some persons")
    for suffix, groups in groupings(requirement, release):
        rule = model(Terms(requirement), groups, column.sql_type)
        some = (
            Group(group.label, tuple(one for one in group.records if one[0] in persons))
            for group in groups
            for persons in left[group.label]
        )
        among = [group for group in some if group.records]
        yield _check(f"known_{requirement.name}{suffix}", requirement, rule, among)


def groupings(
    requirement: Requirement, release: Release
) -> Iterator[tuple[str, tuple[Group, ...]]]:
    """The groups of the requirement's scope, each with a suffix for the check's name."""
    layout = release.layout
    column = layout.column(requirement.column)
    if requirement.scope == "group":
        if column is None or column.column not in release.separate:
            raise UnreadableError(f"{requirement.name}: the release has no groups to judge")
        rows = enumerate(release.separate[column.column])
        yield "", grouped((one.group, (place, one.value)) for place, one in rows)
    elif requirement.scope == "bucket":
        if column is None or column.bucket is None:
            raise UnreadableError(f"{requirement.name}: the release has no buckets to judge")
        yield "", grouped(_in_buckets(release, column))
    else:
        if column is not None and (column.role == "semi" or column.column in release.separate):
            raise UnreadableError(f"{requirement.name}: its column has no value in every row")
        if layout.class_id is not None:
            yield "", grouped((row.class_id, record) for row, record in _records(release, column))
        elif requirement.name not in OF_TABLE:
            raise UnreadableError(f"{requirement.name}: the release has no classes to judge")
        yield "_tuples", grouped((row.tuple, record) for row, record in _records(release, column))


def _records(release: Release, column: Column | None) -> Iterator[tuple[Row, Record]]:
    for row in release.rows:
        value = None if column is None else row.values.get(column.column)
        yield row, (release.unit(row), value)


def _in_buckets(release: Release, column: Column) -> Iterator[tuple[Hashable, Record]]:
    for row in release.rows:
        bucket = row.buckets[column.column]
        if bucket is not None:
            yield bucket, (release.unit(row), row.values[column.column])


def _check(name: str, requirement: Requirement, rule: Rule, groups: Sequence[Group]) -> Check:
    found = [rule.judge(group) for group in groups]
    achieved: dict[str, Figure | None] = {
        figure: worst(one.achieved[figure] for one in found) if found else None
        for figure, worst in rule.worst.items()
    }
    failing = [one for one in found if not one.holds]
    return Check(
        name,
        requirement.column,
        rule.required,
        achieved,
        len(failing),
        sum(one.empty for one in failing),
        rule.reason,
    )
