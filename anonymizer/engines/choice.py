"""Which engine a run uses: what the caller says, else what the database tells, else the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, get_args

from anonymizer.engines.base import EngineName
from anonymizer.errors import PolicyError, Problem

if TYPE_CHECKING:
    from anonymizer.policy import Policy

LIBRARIES: dict[str, EngineName] = {
    "psycopg": "postgres",
    "pyspark": "spark",
    "duckdb": "duckdb",
    "_duckdb": "duckdb",
}
"""The engine to which the connections of a library lead."""
ADDRESSES = ("postgresql://", "postgres://")


def told_by(database: Any) -> EngineName | None:
    """The engine that a database belongs to; None where it leaves that open."""
    if isinstance(database, str) and database.startswith(ADDRESSES):
        return "postgres"
    package = type(database).__module__.split(".", 1)[0]
    return LIBRARIES.get(package)


def chosen_engine(policy: Policy | None, database: Any, asked: str | None = None) -> EngineName:
    """The engine to use. Raises PolicyError where the database belongs to another one."""
    names = get_args(EngineName)
    if asked is not None and asked not in names:
        raise PolicyError(
            Problem("--engine", f"{asked} is not an engine", allowed=", ".join(names))
        )
    found = told_by(database)
    stated = policy is not None and policy.engine != "duckdb"
    wanted = cast(EngineName, asked or (policy.engine if stated and policy else None) or found)
    if wanted is None:
        return "duckdb"
    if found is not None and wanted != found:
        said = f"is a database of {found}, and the engine is {wanted}"
        raise PolicyError(Problem("--database", said, hint=f"engine: {found}"))
    return wanted
