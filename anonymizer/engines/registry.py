"""The registry of engines: their descriptions and modules.

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

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits
    from anonymizer.engines.session import Session, Workplace
    from anonymizer.policy import Policy


@dataclass(frozen=True, slots=True)
class EngineDescription:
    """What is known of an engine before its library is imported."""

    name: str
    libraries: tuple[str, ...]
    """Packages whose connections or sessions lead to it."""
    addresses: tuple[str, ...] = ()
    """How the address of one of its databases begins."""
    recursive: bool = True
    """Whether one recursive statement can carry the state of a partitioning in its SQL."""
    numeric_draws: bool = True
    """Whether draws are numbers in its SQL, and not texts."""
    only: frozenset[str] | None = None
    """All that it has, by the names of `anonymizer.engines.capabilities`; None for an engine that
    has everything but what is said there to be lacking."""


@cache
def engines() -> Mapping[str, EngineDescription]:
    """Every engine by its name: DuckDB, the default, first."""
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
    """The module that writes plans as scripts which run on an engine as they are.

    `script(plan, policy, database)` is the text, `copied_source(policy)` the table that a script
    reads whose plan was made from a copy. (DuckDB's is written from an execution instead, by
    `anonymizer.run.rehearsed`.)
    """
    return _part(engine, "script")


def _part(engine: str, name: str) -> ModuleType:
    return import_module(f"anonymizer.engines.{engine}.{name}")
