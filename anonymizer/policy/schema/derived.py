"""Single-table policies derived from a policy of several tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias, cast

from anonymizer.errors import PolicyError
from anonymizer.policy.algorithms import FullDomain, Mondrian
from anonymizer.policy.columns import Column
from anonymizer.policy.hierarchies import Hierarchy
from anonymizer.policy.model import Policy, SchemaPolicy
from anonymizer.policy.paths import table_path
from anonymizer.policy.privacy import Privacy, Protect
from anonymizer.policy.publish import Publish, Republish
from anonymizer.policy.schema.fields import SchemaColumn, SchemaTable
from anonymizer.policy.values import FrozenMap

# A policy of one table or of several.


AnyPolicy: TypeAlias = Policy | SchemaPolicy


INSTEAD = {
    "compile": "plan lists the steps; in Python, plan(policy, database).sql() has their SQL",
    "plan --lattice": "name one of the tables in a policy of its own",
}
"""The verb for several tables in place of another."""


def load_policy(path: str | Path, preset: str | None = None) -> AnyPolicy:
    """Like `Policy.load`, which reads both kinds, but typed as both kinds."""
    return cast("AnyPolicy", Policy.load(path, preset))


def single(policy: AnyPolicy, verb: str) -> Policy:
    """The policy of one table. Raises PolicyError for several, which the verb does not support."""
    if isinstance(policy, SchemaPolicy):
        said = f"are several, and `{verb}` works on policies of one table"
        raise PolicyError.at("tables", said, hint=INSTEAD.get(verb))
    return policy


# Derives a single-table policy for each of several tables.


ROLES = {"key": "drop", "event": "quasi"}
"""Single-table roles for the roles that only several tables have."""


IDENTITY = tuple(
    f"privacy.{name}" for name in ("ir_k", "ir_kl", "ir_alpha_beta", "eir_l", "eir_alpha_beta")
)
"""Guarantees that distinguish persons from rows, which one row per person does not need."""


def persons_policy(policy: SchemaPolicy, *, identity: bool = False, lifted: bool = True) -> Policy:
    """The policy of the persons' table: one row each, with its key.

    `identity`: include the guarantees that distinguish persons from rows, which are judged
    separately; `lifted`: include the lifted columns of other tables.
    """
    algorithm = policy.algorithm.model_copy(update={"refine": 0, "strict": True})
    made = _single(policy, policy.person, policy.persons, algorithm)
    if not lifted:
        own = {n: c for n, c in made.columns.items() if n not in policy.lifted}
        made = made.model_copy(update={"columns": FrozenMap(own)})
    # (the ledger has one entry for all tables)
    again = Republish(new_population=True) if policy.republish is not None else None
    made = made.model_copy(update={"ledger": policy.ledger, "republish": again})
    if identity:
        return made
    without = {field.partition(".")[2]: None for field in IDENTITY}
    return made.model_copy(update={"privacy": made.privacy.model_copy(update=without)})


def lead_of(policy: AnyPolicy) -> Policy:
    """The policy of the view that names a release: for several tables, that of the persons."""
    return persons_policy(policy) if isinstance(policy, SchemaPolicy) else policy


def child_policy(policy: SchemaPolicy, name: str) -> Policy:
    """The policy of a further table; its events are quasi-identifiers on hierarchy levels."""
    return _single(policy, name, policy.tables[name], FullDomain(name="full_domain"))


def singles_of(policy: AnyPolicy) -> dict[str, Policy]:
    """The policies of all tables, by the prefix of their paths."""
    if not isinstance(policy, SchemaPolicy):
        return {"": policy}
    made = {policy.person: lead_of(policy)}
    made |= {name: child_policy(policy, name) for name in policy.children}
    return {f"{table_path(name)}.": single for name, single in made.items()}


def with_hierarchies(policy: Policy, added: dict[str, Hierarchy]) -> Policy:
    """The policy, with hierarchies added to columns without one."""
    columns = {
        name: column.model_copy(update={"hierarchy": added[name]}) if name in added else column
        for name, column in policy.columns.items()
    }
    return policy.model_copy(update={"columns": FrozenMap(columns)})


def _single(
    policy: SchemaPolicy, name: str, table: SchemaTable, algorithm: Mondrian | FullDomain
) -> Policy:
    columns = {n: _column(column) for n, column in policy.columns_of(name).items()}
    if name != policy.person:
        columns |= {n: Column.model_construct(role="drop") for n in table.lifted}
    publish = {field: getattr(policy.publish, field) for field in Publish.model_fields}
    made = Policy.model_construct(
        version=1,
        kind=policy.release_kind,
        engine=policy.engine,
        source=table.source,
        key=table.key,
        person=table.link[0] if table.link is not None else None,
        columns=FrozenMap(columns),
        privacy=Privacy.model_construct(**_fields(policy.privacy, Privacy)),
        suppression_limit=policy.suppression_limit,
        algorithm=algorithm,
        publish=Publish.model_construct(**{**publish, "name": policy.view(name)}),
    )
    made._base = policy.base
    return made


def _column(column: SchemaColumn) -> Column:
    fields = _fields(column, Column)
    fields["role"] = ROLES.get(column.role, column.role)
    if column.protect is not None:
        rules = _fields(column.protect, Protect)
        given = any(value is not None for value in rules.values())
        fields["protect"] = Protect.model_construct(**rules) if given else None
    return Column.model_construct(**fields)


def _fields(options: Any, form: type[Any]) -> dict[str, Any]:
    return {name: getattr(options, name) for name in form.model_fields}
