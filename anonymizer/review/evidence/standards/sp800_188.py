"""NIST SP 800-188, De-Identifying Government Datasets: Techniques and Governance (2023).

The publication sets no threshold of its own.
"""

from __future__ import annotations

from anonymizer.review.evidence import library, parts
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
            parts.Ask("Intended uses", "purpose"),
        ),
        section(
            "3.2",
            "Risks that arise from the release: probability of re-identification",
            parts.Quotes(library.observer),
            parts.Figures("Risk of the release", library.RISKS),
            parts.Figures("Risk of the source", library.RISKS_BEFORE, without=parts.WITH_SOURCE),
            parts.Acceptable("The largest probability that the agency accepts", library.RISK),
            parts.Ask("What could be known from elsewhere", "knowledge"),
        ),
        section(
            "3.2",
            "Risks that arise from the release: adverse impacts and remediation",
            parts.Ask("Adverse impacts on persons", "impact"),
            parts.ByHand("Remediation: what is done if re-identification happens"),
        ),
        section(
            "3.3",
            "Data life cycle",
            parts.Ask("Reviews after the release, and when it ends", "monitoring"),
        ),
        section(
            "3.4",
            "Data-sharing model",
            parts.Ask("Who receives the data, and how", "recipients"),
            parts.Ask("Agreements and controls", "controls"),
        ),
        section(
            "3.5",
            "The Five Safes",
            parts.ByHand("Safe projects, people, settings, data, outputs: the board's assessment"),
        ),
        section(
            "3.6",
            "Disclosure Review Board",
            parts.Ask("Who answers for the release", "responsible"),
            parts.Ask("Who was asked or told", "stakeholders"),
            parts.ByHand("The board's decision, date and signature"),
        ),
        section(
            "4.2", "Data survey", parts.Columns("Columns by their roles, and what happens to each")
        ),
        section(
            "4.3",
            "Removing identifiers and transforming quasi-identifiers",
            parts.Quotes(library.method),
            parts.Quotes(library.guarantees),
        ),
        section(
            "4.6",
            "Validating the de-identified dataset: usefulness",
            parts.Figures("Measures of the release", library.UTILITY),
        ),
        section(
            "4.6",
            "Validating the de-identified dataset: privacy protection",
            parts.Checks("Guarantees required and achieved, judged again from the published rows"),
            parts.Figures(
                "Re-identification tests on the release",
                library.ATTACKED,
                without="anonymizer report POLICY --source DATABASE --attack",
            ),
            parts.Quotes(library.limits),
        ),
    ),
)
