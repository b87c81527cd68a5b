"""Expert determination, 45 CFR 164.514(b)(1).

Sources: the rule; Office for Civil Rights (HHS), Guidance Regarding Methods for De-identification
of Protected Health Information in Accordance with the HIPAA Privacy Rule (2012). Neither sets a
number for a risk that is very small.
"""

from __future__ import annotations

from anonymizer.review.evidence.library import (
    ATTACKED,
    RISK,
    RISKS,
    RISKS_BEFORE,
    UTILITY,
    guarantees,
    limits,
    method,
    observer,
)
from anonymizer.review.evidence.parts import (
    WITH_SOURCE,
    Acceptable,
    Ask,
    ByHand,
    Checks,
    Columns,
    Figures,
    Quotes,
    Says,
)
from anonymizer.review.evidence.standard import Standard, section

STANDARD = Standard(
    "hipaa-expert",
    "Expert determination: 45 CFR 164.514(b)(1)",
    "45 CFR 164.514(b)(1); Office for Civil Rights (HHS), Guidance Regarding Methods for"
    " De-identification of Protected Health Information (2012)",
    "Figures for the expert who makes the determination. The page determines nothing: that the risk"
    " is very small is for the expert to say, and to sign.",
    (
        section(
            "164.514(b)(1)",
            "A person with appropriate knowledge and experience",
            ByHand("The expert: name, knowledge and experience with such methods"),
        ),
        section(
            "164.514(b)(1)(i)",
            "The anticipated recipient",
            Ask("Who receives the information", "recipients"),
            Ask("What for", "purpose"),
            Ask("What binds the recipient", "controls"),
        ),
        section(
            "164.514(b)(1)(i)",
            "Alone or in combination with other reasonably available information",
            Quotes(observer),
            Ask("What else is reasonably available to the recipient", "knowledge"),
        ),
        section(
            "164.514(b)(1)(i)",
            "The risk is very small",
            Says("The rule sets no number for a risk that is very small."),
            Figures("Risk of the release", RISKS),
            Figures("Risk of the source", RISKS_BEFORE, without=WITH_SOURCE),
            Figures("Attacks that were tried", ATTACKED),
            Acceptable("The largest risk that the expert takes as very small", RISK),
            ByHand("The determination that the risk is very small, and how long it stands"),
        ),
        section(
            "164.514(b)(1)(ii)",
            "Methods of the analysis",
            Quotes(method),
            Quotes(guarantees),
            Columns("What every column is, and what happens to it"),
            ByHand(
                "By column, the principles of the guidance: replicability, data source"
                " availability, distinguishability"
            ),
        ),
        section(
            "164.514(b)(1)(ii)",
            "Results of the analysis",
            Checks("Guarantees required and achieved, judged again from the published rows"),
            Figures("What it cost", UTILITY),
            Quotes(limits),
        ),
        section(
            "164.514(b)(1)(ii)",
            "Documentation that justifies the determination",
            Ask("Who answers for the release at the covered entity", "responsible"),
            ByHand("The expert's name, date and signature"),
        ),
    ),
)
