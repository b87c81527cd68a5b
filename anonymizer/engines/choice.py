"""The engine of a run: given by the caller, else by the database's type, else by the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonymizer.engines.base import EngineName
from anonymizer.engines.registry import engines
from anonymizer.errors import PolicyError

if TYPE_CHECKING:
    from anonymizer.policy import Policy


def told_by(database: Any) -> EngineName | None:
    """The engine that a database belongs to; None if it cannot be inferred."""
    package = type(database).__module__.split(".", 1)[0]
    for name, engine in engines().items():
        addressed = isinstance(database, str) and database.startswith(engine.addresses)
        if package in engine.libraries or (engine.addresses and addressed):
            return name
    return None


def chosen_engine(policy: Policy | None, database: Any, asked: str | None = None) -> EngineName:
    """The engine to use. Raises PolicyError if the database belongs to another one."""
    names = tuple(engines())
    if asked is not None and asked not in names:
        raise PolicyError.at("--engine", f"{asked} is not an engine", allowed=", ".join(names))
    found = told_by(database)
    stated = policy is not None and policy.engine != "duckdb"
    wanted = asked or (policy.engine if stated and policy else None) or found
    if wanted is None:
        return "duckdb"
    if found is not None and wanted != found:
        said = f"is a database of {found}, and the engine is {wanted}"
        raise PolicyError.at("--database", said, hint=f"engine: {found}")
    return wanted
