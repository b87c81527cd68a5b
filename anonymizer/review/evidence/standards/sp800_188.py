"""NIST SP 800-188, De-Identifying Government Datasets: Techniques and Governance (2023).

The publication sets no threshold of its own.
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
)
from anonymizer.review.evidence.standard import Standard, section

STANDARD = Standard(
    "sp800-188",
    "De-identification under NIST SP 800-188",
    "NIST Special Publication 800-188, De-Identifying Government Datasets: Techniques and"
    " Governance (September 2023)",
    "The figures of one release for the review of a Disclosure Review Board.",
    (
        section(
            "3.1",
            "Goals and intended uses of de-identification",
            Ask("Intended uses", "purpose"),
        ),
        section(
            "3.2",
            "Risks that arise from the release: probability of re-identification",
            Quotes(observer),
            Figures("Risk of the release", RISKS),
            Figures("Risk of the source", RISKS_BEFORE, without=WITH_SOURCE),
            Acceptable("The largest probability that the agency accepts", RISK),
            Ask("What could be known from elsewhere", "knowledge"),
        ),
        section(
            "3.2",
            "Risks that arise from the release: adverse impacts and remediation",
            Ask("Adverse impacts on persons", "impact"),
            ByHand("Remediation: what is done if re-identification happens"),
        ),
        section(
            "3.3",
            "Data life cycle",
            Ask("Reviews after the release, and when it ends", "monitoring"),
        ),
        section(
            "3.4",
            "Data-sharing model",
            Ask("Who receives the data, and how", "recipients"),
            Ask("Agreements and controls", "controls"),
        ),
        section(
            "3.5",
            "The Five Safes",
            ByHand("Safe projects, people, settings, data, outputs: the board's assessment"),
        ),
        section(
            "3.6",
            "Disclosure Review Board",
            Ask("Who answers for the release", "responsible"),
            Ask("Who was asked or told", "stakeholders"),
            ByHand("The board's decision, date and signature"),
        ),
        section(
            "4.2",
            "Data survey",
            Columns("Columns by their roles, and what happens to each"),
        ),
        section(
            "4.3",
            "Removing identifiers and transforming quasi-identifiers",
            Quotes(method),
            Quotes(guarantees),
        ),
        section(
            "4.6",
            "Validating the de-identified dataset: usefulness",
            Figures("Measures of the release", UTILITY),
        ),
        section(
            "4.6",
            "Validating the de-identified dataset: privacy protection",
            Checks("Guarantees required and achieved, judged again from the published rows"),
            Figures(
                "Re-identification tests on the release",
                ATTACKED,
                without="anonymizer report POLICY --source DATABASE --attack",
            ),
            Quotes(limits),
        ),
    ),
)
