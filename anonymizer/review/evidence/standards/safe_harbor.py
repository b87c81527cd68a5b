"""Safe Harbor, 45 CFR 164.514(b)(2): the eighteen identifiers, and actual knowledge.

Sources: the rule; Office for Civil Rights (HHS), Guidance Regarding Methods for De-identification
of Protected Health Information in Accordance with the HIPAA Privacy Rule (2012).
"""

from __future__ import annotations

from anonymizer.policy.safe_harbor import PRESET
from anonymizer.release.certificate import SAFE_HARBOR
from anonymizer.review.evidence import parts
from anonymizer.review.evidence.facts import Facts
from anonymizer.review.evidence.library import UTILITY, limits
from anonymizer.review.evidence.standard import Standard, section


def _of_another_kind(facts: Facts) -> str | None:
    if facts.report.safe_harbor:
        return None
    return f"is Safe Harbor, and the release was not made with preset: {PRESET}"


STANDARD = Standard(
    "safe-harbor",
    "Safe Harbor: 45 CFR 164.514(b)(2)",
    "45 CFR 164.514(b)(2) and (c); Office for Civil Rights (HHS), Guidance Regarding Methods for"
    " De-identification of Protected Health Information (2012)",
    "What was done with the eighteen identifiers. The second half of the rule, actual knowledge, is"
    " for the covered entity to say.",
    (
        section(
            "164.514(b)(2)(i)",
            "The identifiers of the individual, relatives, employers, or household members",
            parts.Says(SAFE_HARBOR),
            parts.Identifiers("(A) to (R), with the columns that hold them and what was done"),
            parts.Checks(
                "Published values that break a condition, judged again", of=parts.of_safe_harbor
            ),
            parts.ByHand("That every column holds what the policy states of it"),
        ),
        section(
            "164.514(b)(2)(i)",
            "Every column",
            parts.Columns("What every column is, and what happens to it"),
        ),
        section(
            "164.514(b)(2)(ii)",
            "No actual knowledge",
            parts.Ask("What the covered entity knows that recipients could know", "knowledge"),
            parts.ByHand(
                "That the covered entity has no actual knowledge that the information could be"
                " used, alone or with other information, to identify an individual"
            ),
        ),
        section(
            "164.514(c)",
            "Codes for re-identification",
            parts.Says(
                "No code is published that is derived from information about the individual:"
                " under this preset tokens are refused."
            ),
        ),
        section(
            "Beyond the rule",
            "Guarantees, cost and limits",
            parts.Checks("Guarantees required and achieved, judged again from the published rows"),
            parts.Figures("Measures of the release", UTILITY),
            parts.Quotes(limits),
        ),
        section(
            "Signature",
            "Who answers for it",
            parts.Ask("Who receives the information", "recipients"),
            parts.Ask("Who answers for the release", "responsible"),
            parts.ByHand("Name, position, date, signature"),
        ),
    ),
    refuses=_of_another_kind,
)
