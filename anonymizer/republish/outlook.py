"""What the next release of a table that is followed would change, from counts alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from anonymizer.algorithms.core.encode import CODED
from anonymizer.compile import render
from anonymizer.engines.base import Engine
from anonymizer.guarantees.requirements import least_class
from anonymizer.ledger.store import DIGESTS, HISTORY, HISTORY_RELEASES
from anonymizer.policy import Policy
from anonymizer.policy.checks import crosscheck
from anonymizer.policy.publish import Republish
from anonymizer.republish.append import FAILING, STANDING, STAYING, divides

FREQUENT = 0.001
"""The share of the last release from which on it is said what leaving costs."""
SPANS = (1, 7, 30)
"""Releases of which one takes the place of all, in the choices."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to release a table that persons leave, and what leaving costs there."""

    choice: str
    withdrawal: float
    """Share of the rows that a release withdraws."""
    of_thirty: float
    """The shares of all releases in the time of thirty of today's, added up."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the next release would change of the last one of its view; counts of `unit`."""

    unit: str
    """`persons`, or `rows`, of which each is a person."""
    releases: int
    """Releases of the view so far."""
    last_release: int
    joiners: int
    """In the source, and in no release of the ledger."""
    joiners_now: int
    joiners_later: int
    reason: str
    """`too few` for a class, a `rule` that they break by themselves, or `wait`; else empty."""
    next_chance: int
    """After how many further releases those who wait are placed, if they are enough then."""
    longest_wait: int
    """How many releases the first of them has waited for, at most: so many have made no class."""
    leavers: int
    """In the last release, and not in the source."""
    along: int
    """In the source, with the same history as some who have gone: left out, to hide them. A run
    draws them anew, and may need some more or fewer."""
    for_values: int
    """Left out because values of their class have changed too much, or are NULL now."""
    still_out: int
    """Left out by an earlier release, and by the next one."""
    back: int
    """Not in the last release, and placed again."""
    withdrawal: float
    """Share of the last release that is withdrawn because of those who have gone."""
    frontier: tuple[Choice, ...] = ()
    """What other choices would cost, if leaving is frequent."""

    @property
    def left_out(self) -> int:
        """Of the source, left out by the next release, for whatever reason."""
        return self.along + self.joiners_later + self.for_values + self.still_out

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def outlook(policy: Policy, engine: Engine) -> Outlook | None:
    """The outlook of a policy with `follow`, whose stages up to its guards were executed.

    None if the ledger has no release of the view. One statement, which writes nothing.
    """
    assert policy.republish is not None
    parameters = {
        "coded": CODED,
        "digests": DIGESTS,
        "history": HISTORY,
        "history_releases": HISTORY_RELEASES,
        "staying": STAYING,
        "standing": STANDING,
        "failing": FAILING,
        "values": bool(policy.protected),
        "spans": SPANS,
        "divides": divides(policy),
        "k": least_class(policy),
    }
    rows = engine.execute(render("republish/outlook", parameters), "outlook")
    last, groups, leavers, along, for_values, still_out, back, *more = rows[0]
    joiners, joining, releases, since_placed, failing, *shares = more
    if not releases:
        return None
    wait = policy.republish.wait or 1
    others, why = joiners - joining, ""
    if others:
        few = others < least_class(policy)
        why = "wait" if releases % wait else "too few" if few else "rule" if failing else ""
    joiners_later = others if why else 0
    withdrawal = (leavers + along) / last if last else 0.0
    frequent = leavers and withdrawal > FREQUENT
    costs = choices(policy, leavers / last, last / groups, shares) if frequent else ()
    return Outlook(
        unit="persons" if policy.person is not None else "rows",
        releases=releases,
        last_release=last,
        joiners=joiners,
        joiners_now=joiners - joiners_later,
        joiners_later=joiners_later,
        reason=why,
        next_chance=wait - releases % wait if joiners_later else 0,
        longest_wait=since_placed if joiners_later else 0,
        leavers=leavers,
        along=along,
        for_values=for_values,
        still_out=still_out,
        back=back,
        withdrawal=withdrawal,
        frontier=tuple(costs),
    )


def choices(policy: Policy, rate: float, size: float, shares: list[Any]) -> Iterator[Choice]:
    """What a few choices cost where this share of the persons leaves with each release.

    `size`: persons of a group, on average; `shares`: what leaves if one release takes the place of
    each of `SPANS`. A group of k leaves as a whole, with the probability 1 - (1 - rate)^k.
    """
    k = least_class(policy)
    for span, share in zip(SPANS, map(float, shares), strict=True):
        said = f"one release instead of {span}" if span > 1 else f"as now, classes of {size:.1f}"
        yield Choice(said, share, share * SPANS[-1] / span)
    for least in (k, 2 * k):
        share = 1 - (1 - rate) ** least
        note = "the smallest that the policy allows" if least == k else ""
        yield Choice(f"classes of {least}", share, share * SPANS[-1], note)
    m = least_m(policy)
    if m:
        note = "counterfeits take the places; a series of its own"
        yield Choice(f"republish: {{m: {m}}}", 0.0, 0.0, note)


def least_m(policy: Policy) -> int:
    """The least m of m-invariant releases of this policy; 0 if it cannot have them."""
    least = (policy.columns[name].protect for name in policy.protected)
    m = max(2, least_class(policy), *(int(p.l_diversity or 0) for p in least if p is not None))
    option = policy.model_copy(update={"republish": Republish(m=m)})
    return 0 if crosscheck(option) else m
