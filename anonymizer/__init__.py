"""Anonymize tables inside the database: a policy in, a verified release out.

>>> import anonymizer
>>> policy = anonymizer.Policy.load("policy.yml")
>>> release = anonymizer.run(policy, "warehouse.duckdb")
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from anonymizer.api import plan, run, verify
    from anonymizer.errors import AnonymizerError
    from anonymizer.policy import Policy
    from anonymizer.release.release import Release

__all__ = ["AnonymizerError", "Policy", "Release", "__version__", "plan", "run", "verify"]

_HOMES = {
    "plan": "anonymizer.calling",
    "run": "anonymizer.calling",
    "verify": "anonymizer.calling",
    "AnonymizerError": "anonymizer.errors",
    "Policy": "anonymizer.policy",
    "Release": "anonymizer.release.release",
}


def __getattr__(name: str) -> Any:
    """Import on first use, so that `import anonymizer` stays fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'anonymizer' has no attribute '{name}'")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """What is there, and what is imported on first use."""
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Keeps `plan` and `verify` functions: modules of those names do not take their place."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
