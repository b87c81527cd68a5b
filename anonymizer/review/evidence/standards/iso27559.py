"""ISO/IEC 27559:2022, Privacy enhancing data de-identification framework.

Clause numbers and titles are those of its table of contents. It sets no threshold: what is
acceptable follows from the context (clause 6) and is stated there.
"""

from __future__ import annotations

from anonymizer.review.evidence import library, parts
from anonymizer.review.evidence.standard import Standard, section

STANDARD = Standard(
    "iso27559",
    "De-identification under ISO/IEC 27559:2022",
    "ISO/IEC 27559:2022, Information security, cybersecurity and privacy protection – Privacy"
    " enhancing data de-identification framework, first edition",
    "The figures of one release under the clauses of the framework. What the framework asks of an"
    " organization is left open where no policy can state it.",
    (
        section(
            "6.2.2",
            "Threat modelling: security and privacy practices",
            parts.Ask("Who receives the data", "recipients"),
            parts.Ask("What for", "purpose"),
            parts.Ask("Security and privacy practices that bind the recipients", "controls"),
        ),
        section(
            "6.2.3",
            "Threat modelling: motives and capacity to re-identify",
            parts.Ask("What recipients could know, and why they might look", "knowledge"),
        ),
        section(
            "6.3.2",
            "Transparency of actions and stakeholder engagement",
            parts.Ask("Who was asked or told", "stakeholders"),
        ),
        section(
            "6.3.3",
            "Privacy-related harms",
            parts.Ask("What it would do to a person to be found", "impact"),
        ),
        section(
            "7.2",
            "Data features",
            parts.Columns("Attributes by their types, and what happens to each"),
            parts.Figures(
                "Dataset properties",
                (
                    parts.Figure("Rows published", "measures.rows"),
                    parts.Figure("Persons published", "risk.after.persons"),
                ),
            ),
            parts.ByHand("Data principals: who the persons are, and of which population"),
        ),
        section(
            "7.3.2",
            "Attack modelling: maximum or average risk",
            parts.Quotes(library.observer),
            parts.Figures("Risk of the release", library.RISKS),
        ),
        section(
            "7.3.3",
            "Attack modelling: population or sample-based attack",
            parts.Figures("Risk of the source", library.RISKS_BEFORE, without=parts.WITH_SOURCE),
            parts.ByHand("Whether recipients may know that a person is in the data"),
        ),
        section(
            "7.3.4",
            "Attack modelling: data privacy models",
            parts.Quotes(library.guarantees),
            parts.Checks("Required and achieved"),
        ),
        section(
            "8.2.2",
            "Quantifying identifiability",
            parts.Acceptable("The largest risk that the context accepts", library.RISK),
        ),
        section(
            "8.2.3",
            "Adversarial testing",
            parts.Figures(
                "Attacks that were tried on the release",
                library.ATTACKED,
                without="anonymizer report POLICY --source DATABASE --attack",
            ),
            parts.ByHand("Tests by persons who had no part in the release"),
        ),
        section(
            "8.3.2",
            "Mitigation: reconfiguring the environment",
            parts.ByHand(
                "Changes of recipients, controls or access that followed from the figures"
            ),
        ),
        section(
            "8.3.3",
            "Mitigation: transforming the data",
            parts.Quotes(library.method),
            parts.Figures("What it cost", library.UTILITY),
        ),
        section("8.3.4", "Mitigation: re-evaluation", parts.Quotes(library.limits)),
        section(
            "9.2",
            "Governance before data are made available",
            parts.Ask("Roles and responsibilities", "responsible"),
            parts.ByHand("Principles, policies and procedures; who is told of the disclosure"),
        ),
        section(
            "9.3",
            "Governance after data are made available",
            parts.Ask("Monitoring of the data environment", "monitoring"),
        ),
        section(
            "9.4",
            "Mitigation in case of incident",
            parts.ByHand("What is done when somebody was found, by whom, and how soon"),
        ),
    ),
)
