"""Every guarantee, discovered in the modules of `anonymizer.privacy`.

Every field of the policy that requires something must be handled by exactly one guarantee.
Otherwise importing this module raises `RegistryError`, so that no field is ignored silently.
"""

from __future__ import annotations

import pkgutil
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from anonymizer.errors import Problem, RegistryError
from anonymizer.policy import Policy
from anonymizer.policy.privacy import Privacy
from anonymizer.policy.protect import Protect
from anonymizer.privacy.guarantee import Guarantee

FIELDS = (
    *(f"protect.{name}" for name in Protect.model_fields),
    *(f"privacy.{name}" for name in Privacy.model_fields),
    "republish.m",
)
"""The fields of a policy that guarantee something, or are part of a guarantee."""


def _discovered() -> tuple[Guarantee, ...]:
    """The guarantees of all modules, in the order of their fields."""
    found: list[Guarantee] = []
    for module in pkgutil.iter_modules([str(Path(__file__).parents[1])]):
        if module.ispkg:
            continue
        held = import_module(f"anonymizer.privacy.{module.name}")
        found += getattr(held, "GUARANTEES", ())
        found += [held.GUARANTEE] if hasattr(held, "GUARANTEE") else []
    check(found, FIELDS)
    return tuple(sorted(found, key=lambda guarantee: FIELDS.index(guarantee.field)))


def check(guarantees: Sequence[Guarantee], fields: Sequence[str]) -> None:
    """Raises RegistryError unless each field has one guarantee, with questions and examples."""
    answered = Counter(field for g in guarantees for field in (g.field, *g.further))
    names = Counter(guarantee.name for guarantee in guarantees)
    found = [
        *((field, "no guarantee answers for it") for field in fields if not answered[field]),
        *((field, "several guarantees answer for it") for field, n in answered.items() if n > 1),
        *((field, "is no field of a policy") for field in answered if field not in fields),
        *((name, "is the name of several guarantees") for name, n in names.items() if n > 1),
        *((g.field, "asks the verifier nothing") for g in guarantees if not g.asks),
        *((g.field, "has no example to be judged by") for g in guarantees if not g.examples),
    ]
    RegistryError.refuse(Problem(path, said) for path, said in found)


GUARANTEES = _discovered()
BY_NAME = {guarantee.name: guarantee for guarantee in GUARANTEES}
OF_COLUMNS = tuple(g for g in GUARANTEES if g.holder == "protect")
OF_TABLE = tuple(g for g in GUARANTEES if g.holder == "privacy")


def asked(guarantees: Sequence[Guarantee], holder: Any) -> Iterator[tuple[Guarantee, Any]]:
    """The guarantees that a part of a policy requires, each with its field's value."""
    for guarantee in guarantees:
        value = getattr(holder, guarantee.option)
        if value is not None:
            yield guarantee, value


def asked_of_table(policy: Policy) -> list[tuple[Guarantee, Any]]:
    """The table's guarantees, those from the algorithm's options before the policy's."""
    own = policy.algorithm.promises
    found = dict(asked(OF_TABLE, policy.privacy)) | {BY_NAME[n]: value for n, value in own.items()}
    return list(found.items())
