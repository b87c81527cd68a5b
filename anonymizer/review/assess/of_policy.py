"""Assessment of a policy's source before anonymization, with the roles of the policy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from anonymizer.engines.base import Limits
from anonymizer.engines.session import Database
from anonymizer.errors import PolicyError, Problem
from anonymizer.policy import AnyPolicy, SchemaPolicy
from anonymizer.policy.schema.either import together
from anonymizer.review.assess.assessment import Assessment, assess
from anonymizer.review.tables.assess import TablesAssessment, assess_tables

OPTIONS = {"combined": "combinations"}
"""Parameters whose command-line option has a different name."""


def assess_policy(
    policy: AnyPolicy, database: Database = None, *, limits: Limits | None = None, **options: Any
) -> Assessment | TablesAssessment:
    """Assess the table of a policy with its roles, or its tables together.

    `options`: those of `assess`, which override the policy's roles; none are allowed with several
    tables. Raises PolicyError for options and sources that are not supported.
    """
    together(policy, "assess")
    if isinstance(policy, SchemaPolicy):
        _refuse(options)
        return assess_tables(policy, database, limits=limits)
    source = policy.source
    if source.query is not None:
        said, hint = "is a query, and a table, view or file is assessed", "make a view of it"
        raise PolicyError.at("source.query", said, hint=hint)
    name = source.table or str(policy.resolve(source.file or "").resolve())
    roles = {"quasi": policy.quasi, "sensitive": policy.sensitive, "person": policy.person}
    found = assess(name, database, limits=limits, **{**roles, **options})
    return replace(found, table=source.table or source.file or name)


def _refuse(options: dict[str, Any]) -> None:
    in_policy = "the policy tells the person, the roles and k"
    PolicyError.refuse(
        Problem(
            f"--{OPTIONS.get(name, name)}",
            "does not go with a policy of several tables",
            hint=in_policy
            if name in ("quasi", "sensitive", "person", "require")
            else "leave it out, or assess one table: anonymizer assess TABLE",
        )
        for name in options
    )
