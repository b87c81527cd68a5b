"""The registry of engines: their descriptions and modules, and which of them a run uses.

An engine is a subpackage with a description named `ENGINE` and the modules `source`
(`open_source`) and `script` (`script`, `copied_source`). It publishes with
`anonymizer.publish.<name>`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from anonymizer.engines.base import EngineName
from anonymizer.errors import PolicyError

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits
    from anonymizer.engines.session import Session, Workplace
    from anonymizer.policy import Policy


@dataclass(frozen=True, slots=True)
class EngineDescription:
    """Properties of an engine that are known before its library is imported."""

    name: str
    libraries: tuple[str, ...]
    """Packages whose connections or sessions belong to it."""
    addresses: tuple[str, ...] = ()
    """Prefixes of the addresses of its databases."""
    recursive: bool = True
    """Whether its SQL can keep the state of a partitioning in one recursive statement."""
    numeric_draws: bool = True
    """Whether draws are numbers in its SQL, instead of texts."""
    eras: bool = True
    """Whether it writes a date before the year 1 as a text cell can hold it."""
    longest_name: int | None = None
    """Number of bytes to which it truncates a name; None if it keeps names whole."""
    only: frozenset[str] | None = None
    """All features it has, by their names in `anonymizer.engines.capabilities`; None for an engine
    that has all except those listed there as lacking."""


@cache
def engines() -> Mapping[str, EngineDescription]:
    """Every engine by its name; DuckDB, the default, is first."""
    here = [str(Path(__file__).parent)]
    found = {}
    for module in pkgutil.iter_modules(here):
        if module.ispkg:
            description = import_module(f"anonymizer.engines.{module.name}").ENGINE
            assert isinstance(description, EngineDescription)
            found[description.name] = description
    return found


def open_source(
    engine: str, policy: Policy, database: Any, run: Workplace, limits: Limits
) -> AbstractContextManager[Session]:
    """Open the source of `policy` on an engine, with a place for work tables."""
    opened: AbstractContextManager[Session]
    opened = _part(engine, "source").open_source(policy, database, run, limits)
    return opened


def script_of(engine: str) -> ModuleType:
    """The module that writes plans as scripts for an engine.

    `script(plan, policy, database)` returns the text, and `copied_source(policy)` the table that
    the script reads if its plan was made from a copy. (DuckDB's script is written from an execution
    instead, by `anonymizer.run.scripts`.)
    """
    return _part(engine, "script")


def _part(engine: str, name: str) -> ModuleType:
    return import_module(f"anonymizer.engines.{engine}.{name}")


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
