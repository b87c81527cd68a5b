"""The registry of algorithms, discovered in the packages of `anonymizer.algorithms`.

Importing this module raises `RegistryError` if some options have no algorithm, or several.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from anonymizer.algorithms.descriptor import Algorithm
from anonymizer.errors import Problem, RegistryError
from anonymizer.policy.algorithms import OPTIONS


def _discovered() -> tuple[Algorithm, ...]:
    """The algorithms of all packages, in the order of the policy's options."""
    found: list[Algorithm] = []
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if module.ispkg:
            held = import_module(f"anonymizer.algorithms.{module.name}")
            found += [held.ALGORITHM] if hasattr(held, "ALGORITHM") else []
    check(found)
    return tuple(sorted(found, key=lambda algorithm: OPTIONS.index(algorithm.options)))


def check(algorithms: Sequence[Algorithm]) -> None:
    """Raises RegistryError unless exactly one package implements each algorithm of a policy."""
    made = [algorithm.options for algorithm in algorithms]
    found = [
        Problem(options.algorithm(), f"{made.count(options)} packages make this algorithm")
        for options in OPTIONS
        if made.count(options) != 1
    ]
    found += [Problem(o.__name__, "is no algorithm of a policy") for o in made if o not in OPTIONS]
    RegistryError.refuse(found)


ALGORITHMS = {algorithm.name: algorithm for algorithm in _discovered()}
