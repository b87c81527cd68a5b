"""What a policy can do about releases that tell too much together: only what it can have."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.compile import ident, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.ledger.entries import Entry
from anonymizer.ledger.facets import Facet
from anonymizer.ledger.tables import SIGNATURES
from anonymizer.policy import Policy
from anonymizer.policy.checks import crosscheck
from anonymizer.policy.publish import Republish
from anonymizer.privacy.of_policy.sizes import least_class

FORGET = "if the earlier release reached nobody, `anonymizer ledger forget`"
WAIT = (
    "wait, in source.query: leave new rows out and rows that have gone in, until enough of one"
    " class come or go"
)
KEEP = "publish nothing and keep the earlier release"


def ways_out(
    policy: Policy, earlier: int, *, m: int = 0, several: bool = False, absent: bool = False
) -> str:
    """The hint for releases that tell too much together.

    `earlier`: the number of earlier releases of these persons; `m`: that of `possible_m`;
    `several`: whether the release has several tables; `absent`: whether it is about persons who are
    not in all releases.
    """
    ways = [KEEP]
    if absent:
        ways.append(WAIT)
    continued = [] if several or earlier != 1 else _continued(policy, m)
    if continued:
        ways.append(f"republish: {' or '.join(continued)}")
    if not policy.continues:
        ways.append("coarser classes")
    if policy.ledger is not None:
        ways.append(f"or, {FORGET}")
    return "; ".join(ways)


def _continued(policy: Policy, m: int) -> list[str]:
    """The ways to continue one earlier release; later ones have split its classes."""
    if policy.continues or policy.privacy.populations:
        return []
    options = {"{append_only: true}": Republish(append_only=True)}
    if m:
        options = {f"{{m: {m}}}": Republish(m=m), **options}
    return [
        text
        for text, option in options.items()
        if not crosscheck(policy.model_copy(update={"republish": option}))
    ]


def possible_m(
    engine: DuckDBEngine, policy: Policy, facets: Sequence[Facet], earlier: Sequence[Entry]
) -> int:
    """The m with which m-invariant releases can continue an earlier one; 0 if none can.

    Its classes have to have m values, and m is at least k and l.
    """
    if len(earlier) != 1 or len(facets) != 1:
        return 0
    known = "len(list_distinct(list_filter(signature, lambda v: v is not null)))"
    fewest = engine.raw(
        f"select coalesce(min({known}), 0) from {ident(SIGNATURES)}"
        f" where release = {lit(earlier[0].release)} and facet = {lit(facets[0].column)}",
        "ledger",
    )[0][0]
    m = max(2, least_class(policy), facets[0].least)
    return m if fewest >= m else 0


def apart(policy: Policy, *, several: bool = False) -> str:
    """The hint for a column that tells persons apart in releases of different tables: what can be
    done about it, up to the last alternative.
    """
    alone = several or policy.engine != "duckdb"
    return f"role drop; {'' if alone else 'release the tables together (tables:); '}or"
