"""The verdict of a report: does not hold; holds, but little is left; holds and is useful."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from anonymizer.contract.checks import Verification
from anonymizer.measure.usefulness import Little
from anonymizer.process.text import many
from anonymizer.review.attack import Attack

State = Literal["fails", "little", "useful"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One sentence at the top of the page, and the reasons for it."""

    state: State
    says: str
    reasons: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return self.state != "fails"


def verdict(
    verification: Verification,
    little: Sequence[Little],
    attacked: Attack | None,
    *,
    promised: bool = True,
) -> Verdict:
    """The verdict that follows from the checks, the attacks and the measures.

    `promised`: whether the policy has any guarantee.
    """
    failed = len(verification.failed)
    reasons = []
    if not verification.passed:
        of = many(len(verification.checks), "check")
        hold = "does not hold" if failed == 1 else "do not hold"
        reasons.append(f"{failed:,} of {of} {hold}")
    if attacked is not None and not attacked.alone_holds:
        reasons.append("an attack got beyond a bound that the release promises")
    broken = _together(attacked, holding=False)
    if reasons:
        says = "This release does not hold, and must not be used."
        return Verdict("fails", says, (*reasons, *broken))
    if broken:
        says = "This release does not hold beside the earlier one: whoever has both knows too much."
        return Verdict("fails", says, tuple(broken))
    form = len(verification.form)
    guarantees = many(len(verification.guarantees), "guarantee")
    said = f"{guarantees} and {many(form, 'condition')} of form hold"
    if not promised:
        holding = many(form, "condition of form holds", "conditions of form hold")
        said = f"This release promises no guarantee: it is personal data. {holding}."
        return Verdict("little", said)
    if verification.not_checked:
        said = f"all that were checked of them: {said}"
    said += ", judged again for this report from the rows of the release"
    exposed = tuple(_together(attacked, holding=True))
    if little:
        reasons = [str(found) for found in little]
        says = f"The release holds, but little is left: {said}."
        return Verdict("little", says, (*reasons, *exposed))
    return Verdict("useful", f"The release holds, and enough is left: {said}.", exposed)


def _together(attacked: Attack | None, *, holding: bool) -> list[str]:
    """Joint effects with an earlier release, where guarantees hold (or do not, by `holding`)."""
    if attacked is None:
        return []
    found = [s for x in attacked.intersection if x.holds for s in x.says(attacked.unit)]
    return [
        f"with the earlier release {said}" for said in (found if holding else attacked.broken())
    ]
