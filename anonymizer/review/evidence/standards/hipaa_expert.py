"""Expert determination, 45 CFR 164.514(b)(1).

Sources: the rule; Office for Civil Rights (HHS), Guidance Regarding Methods for De-identification
of Protected Health Information in Accordance with the HIPAA Privacy Rule (2012). Neither sets a
number for a risk that is very small.
"""

from __future__ import annotations

from anonymizer.review.evidence import library, parts
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
            parts.ByHand("The expert: name, knowledge and experience with such methods"),
        ),
        section(
            "164.514(b)(1)(i)",
            "The anticipated recipient",
            parts.Ask("Who receives the information", "recipients"),
            parts.Ask("What for", "purpose"),
            parts.Ask("What binds the recipient", "controls"),
        ),
        section(
            "164.514(b)(1)(i)",
            "Alone or in combination with other reasonably available information",
            parts.Quotes(library.observer),
            parts.Ask("What else is reasonably available to the recipient", "knowledge"),
        ),
        section(
            "164.514(b)(1)(i)",
            "The risk is very small",
            parts.Says("The rule sets no number for a risk that is very small."),
            parts.Figures("Risk of the release", library.RISKS),
            parts.Figures("Risk of the source", library.RISKS_BEFORE, without=parts.WITH_SOURCE),
            parts.Figures("Attacks that were tried", library.ATTACKED),
            parts.Acceptable("The largest risk that the expert takes as very small", library.RISK),
            parts.ByHand("The determination that the risk is very small, and how long it stands"),
        ),
        section(
            "164.514(b)(1)(ii)",
            "Methods of the analysis",
            parts.Quotes(library.method),
            parts.Quotes(library.guarantees),
            parts.Columns("What every column is, and what happens to it"),
            parts.ByHand(
                "By column, the principles of the guidance: replicability, data source"
                " availability, distinguishability"
            ),
        ),
        section(
            "164.514(b)(1)(ii)",
            "Results of the analysis",
            parts.Checks("Guarantees required and achieved, judged again from the published rows"),
            parts.Figures("What it cost", library.UTILITY),
            parts.Quotes(library.limits),
        ),
        section(
            "164.514(b)(1)(ii)",
            "Documentation that justifies the determination",
            parts.Ask("Who answers for the release at the covered entity", "responsible"),
            parts.ByHand("The expert's name, date and signature"),
        ),
    ),
)
