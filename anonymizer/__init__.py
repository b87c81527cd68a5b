"""Anonymize tables inside the database: a policy in, a verified release out.

>>> import anonymizer
>>> policy = anonymizer.Policy.load("policy.yml")
>>> release = anonymizer.run(policy, "warehouse.duckdb")
>>> rows, release = anonymizer.anonymize(frame, ["age", "zip"], {"ill": {"l_diversity": 3}}, k=5)
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anonymizer.api import (
        anonymize,
        assess,
        assess_counts,
        attack,
        certify,
        compare,
        init,
        report,
    )
    from anonymizer.errors import AnonymizerError
    from anonymizer.policy import AggregatePolicy, Policy, SchemaPolicy
    from anonymizer.release.published import Release
    from anonymizer.review.report import write_report
    from anonymizer.run.verbs import plan, run
    from anonymizer.run.verify import verify
    from anonymizer.version import __version__

__all__ = [
    "AggregatePolicy",
    "AnonymizerError",
    "Policy",
    "Release",
    "SchemaPolicy",
    "__version__",
    "anonymize",
    "assess",
    "assess_counts",
    "attack",
    "certify",
    "compare",
    "init",
    "plan",
    "report",
    "run",
    "verify",
    "write_report",
]

_OF_API = ("anonymize", "assess", "assess_counts", "attack", "certify", "compare", "init", "plan")
_HOMES = {
    **dict.fromkeys((*_OF_API, "report", "run", "verify"), "anonymizer.api"),
    "AnonymizerError": "anonymizer.errors",
    "Policy": "anonymizer.policy",
    "SchemaPolicy": "anonymizer.policy",
    "AggregatePolicy": "anonymizer.policy",
    "Release": "anonymizer.release.published",
    "__version__": "anonymizer.version",
    "write_report": "anonymizer.review.report",
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
    """List the names, with those imported on first use."""
    return sorted({name for name in globals() if name.startswith("__")} | {*__all__})


class _Package(ModuleType):
    """Keeps `plan` and `verify` functions: modules of those names do not take their place."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
