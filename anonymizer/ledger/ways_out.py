"""What a policy can do about releases that tell too much together: only what it can have."""

from __future__ import annotations

from collections.abc import Iterator

from anonymizer.policy import Policy
from anonymizer.policy.checks import crosscheck
from anonymizer.policy.publish import Republish

FORGET = "if the earlier release reached nobody, `anonymizer ledger forget`"
KEEP = "publish nothing and keep the earlier release"
SERIES = (("{m: 3}", Republish(m=3)), ("{append_only: true}", Republish(append_only=True)))


def ways_out(policy: Policy, earlier: int, *, several: bool = False, absent: bool = False) -> str:
    """The hint for releases that tell too much together.

    `earlier`: the number of earlier releases of these persons; `several`: whether the release has
    several tables; `absent`: whether it is about persons who are not in all releases.
    """
    last = [f"or, {FORGET}"] if policy.ledger is not None else []
    return "; ".join((*_ways(policy, earlier, several, absent), *last))


def _ways(policy: Policy, earlier: int, several: bool, absent: bool) -> Iterator[str]:
    yield KEEP
    if absent:
        yield (
            "wait, in source.query: leave new rows out and rows that have gone in, until enough of"
            " one class come or go"
        )
    continued = [] if several or earlier != 1 else _continued(policy)
    if continued:
        yield f"republish: {' or '.join(continued)}"
    yield "coarser classes"


def _continued(policy: Policy) -> list[str]:
    """The ways to continue one earlier release; later ones have split its classes."""
    if policy.continues or policy.privacy.populations:
        return []
    return [
        text
        for text, option in SERIES
        if not crosscheck(policy.model_copy(update={"republish": option}))
    ]


def apart(policy: Policy, *, several: bool = False) -> str:
    """The hint for a column that tells persons apart in releases of different tables: what can be
    done about it, up to the last alternative.
    """
    alone = several or policy.engine != "duckdb"
    return f"role drop; {'' if alone else 'release the tables together (tables:); '}or"
