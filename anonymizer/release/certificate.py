"""The text of certificates: what is guaranteed, and which attacks the models do not prevent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.algorithms.registry import ALGORITHMS
from anonymizer.measure.words import least_sentence, linked_sentence, proved_sentence
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.policy.kinds import ANONYMISED, ReleaseKind
from anonymizer.release.masks import mask_attacks

CERTIFICATE = (
    "Syntactic guarantee under the stated knowledge; not differential privacy. It states how"
    " many rows, persons or values an observer who knows the quasi-identifiers cannot tell apart."
)

COUNTS_ROWS = "It counts rows: a person with several rows counts once for each of them."
COUNTS_PERSONS = "It counts persons, however many rows each of them has."

PERSONAL = (
    "Pseudonymised: this release is personal data. Its rows still belong to persons, and whoever"
    " holds a key of it, or other data about them, can find them; it is to be protected as such."
)
NO_GUARANTEE = (
    "No guarantee holds: nothing limits what an observer finds who knows some values of a person."
)
SAFE_HARBOR = (
    "Safe Harbor, 45 CFR 164.514(b)(2)(i): of the eighteen identifiers nothing is published but"
    " years, ages up to 89 and those above as one, and three digits of ZIP codes, in the columns"
    " that the policy states to hold them; the covered entity must also have no actual knowledge"
    " that what is left could identify a person (ii)."
)
LEAST = "Its information loss (NCP) is {least}."
LISTED = "Guarantees hold only where they are listed, and only for what they are about."

PRESENCE = (
    "presence: quasi-identifiers are published exactly, so an observer who knows those of a person"
    " sees whether the person is in the table; generalize: {k: 5} protects against that as well"
)


def certificate(
    kind: ReleaseKind = ANONYMISED,
    *,
    guaranteed: bool = True,
    persons: bool = False,
    safe_harbor: bool = False,
    measures: Mapping[str, Any] | None = None,
) -> str:
    """The sentences that accompany a release; those of a pseudonymised one say so first.

    `persons`: guarantees count persons instead of rows. `measures`: of the release; the loss is
    given as a multiple of the least possible one, if that is known, and counts of what is not
    promised.
    """
    measures = measures or {}
    more = [SAFE_HARBOR] if safe_harbor else []
    least = least_sentence(measures)
    more += [LEAST.format(least=least)] if least else []
    proved = proved_sentence(measures, "persons" if persons else "rows")
    more += [said for said in (proved, linked_sentence(measures)) if said]
    stated = f"{CERTIFICATE} {COUNTS_PERSONS if persons else COUNTS_ROWS}"
    if kind == ANONYMISED:
        return " ".join((stated, *more))
    said = (LISTED, stated) if guaranteed else (NO_GUARANTEE,)
    return " ".join((PERSONAL, *said, *more))


def known_attacks(policy: Policy) -> list[str]:
    """Known attacks that the release does not prevent."""
    presence = (PRESENCE,) if presence_disclosed(policy) else ()
    joins = [f"joining: {name} {joined_on(policy)}" for name in acknowledged(policy)]
    own = (*ALGORITHMS[policy.algorithm.name].attacks, *presence)
    return [*own, *joins, *mask_attacks(policy)]


def published_as_it_is(policy: Policy, column: str) -> bool:
    """Whether the values of a column are published unchanged and no guarantee covers them."""
    described = policy.columns[column]
    return described.role == "keep" or (described.role == "sensitive" and described.protect is None)


def acknowledged(policy: Policy) -> list[str]:
    """Columns that are published unchanged although they may identify persons."""
    return [
        name
        for name, column in policy.columns.items()
        if column.acknowledge_unique and published_as_it_is(policy, name)
    ]


def joined_on(policy: AnyPolicy) -> str:
    """The effect on a release of a column that identifies persons, in words."""
    said = (
        "is published as it is and acknowledged to tell persons apart: whoever has another table"
        " with it, or another release, joins the two person by person"
    )
    lost = ", and k and every other guarantee hold for neither any longer"
    return said if policy.algorithm.classless else said + lost


def presence_disclosed(policy: Policy) -> bool:
    """Whether quasi-identifiers are published exactly, which shows who is in the table."""
    return policy.algorithm.exact
