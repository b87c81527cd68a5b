"""The text of certificates: what is guaranteed, and which attacks the models do not prevent."""

from __future__ import annotations

from anonymizer.algorithms.registry import ALGORITHMS
from anonymizer.policy import Policy

CERTIFICATE = (
    "Syntactic guarantee under the stated knowledge; not differential privacy. It states how"
    " many rows, persons or values an observer who knows the quasi-identifiers cannot tell apart."
)

PRESENCE = (
    "presence: quasi-identifiers are published exactly, so an observer who knows those of a person"
    " sees whether the person is in the table; generalize: {k: 5} protects against that as well"
)


def certificate() -> str:
    """The sentence that accompanies every release."""
    return CERTIFICATE


def known_attacks(policy: Policy) -> list[str]:
    """Attacks on the model that the release does not stop."""
    presence = (PRESENCE,) if presence_disclosed(policy) else ()
    joins = [f"joining: {name} {joined_on()}" for name in acknowledged(policy)]
    return [*ALGORITHMS[policy.algorithm.name].attacks, *presence, *joins]


def published_as_it_is(policy: Policy, column: str) -> bool:
    """Whether the values of a column are published and no rule speaks of them."""
    described = policy.columns[column]
    return described.role == "keep" or (described.role == "sensitive" and described.protect is None)


def acknowledged(policy: Policy) -> list[str]:
    """Columns that are published as they are although they may identify persons."""
    return [
        name
        for name, column in policy.columns.items()
        if column.acknowledge_unique and published_as_it_is(policy, name)
    ]


def joined_on() -> str:
    """The effect on a release of a column that identifies persons, in words."""
    return (
        "is published as it is and acknowledged to tell persons apart: whoever has another table"
        " with it, or another release, joins the two person by person, and k and every other"
        " guarantee hold for neither any longer"
    )


def presence_disclosed(policy: Policy) -> bool:
    """Whether quasi-identifiers are published exactly, which shows who is in the table."""
    return policy.algorithm.exact
