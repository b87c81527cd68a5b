"""The standards that have a page of evidence."""

from __future__ import annotations

from anonymizer.policy.safe_harbor import PRESET
from anonymizer.release.certificate import SAFE_HARBOR
from anonymizer.review.evidence import parts
from anonymizer.review.evidence.parts import UTILITY, Facts, Standard, limits, section

# EMA policy 0070 and Health Canada's public release of clinical information.
#
# Sources: European Medicines Agency, External guidance on the implementation of policy 0070
# (EMA/90915/2016), chapter 3, and the template of the anonymisation report, which Health Canada
# uses as well. Both take 0.09 as the largest acceptable risk of a public release.


AT_MOST = 0.09
"""A risk of 9 %: an equivalence class of eleven is above it, one of twelve is not."""

EMA = Standard(
    "ema",
    "Anonymisation report: EMA policy 0070, Health Canada PRCI",
    "European Medicines Agency, External guidance on the implementation of policy 0070"
    " (EMA/90915/2016), chapter 3, and its anonymisation report template, which Health Canada"
    " shares (Public Release of Clinical Information)",
    "The figures of one published table under the headings of the anonymisation report. Clinical"
    " reports are documents: what stands in their text is outside of this page.",
    (
        section(
            "Chapter 3, 3.1",
            "Context of data disclosure",
            parts.Ask("Who receives the data (a public release: anybody)", "recipients"),
            parts.Ask("What the data are used for", "purpose"),
            parts.Ask("What an adversary could know, with motive and capacity", "knowledge"),
            parts.Ask("Mitigating controls (a public release has none)", "controls"),
        ),
        section(
            "Report template",
            "Anonymisation methodology",
            parts.Quotes(parts.method),
            parts.Quotes(parts.guarantees),
            parts.ByHand("Why this methodology was chosen"),
        ),
        section(
            "Report template",
            "Identification of data variables",
            parts.Columns("Direct and indirect identifiers, and the technique applied to each"),
            parts.ByHand("That no other direct or indirect identifier is in the data"),
        ),
        section(
            "Report template",
            "Assessment of the risk of re-identification",
            parts.Figures(
                "Initial risk, of the source", parts.RISKS_BEFORE, without=parts.WITH_SOURCE
            ),
            parts.Figures("Residual risk, of the release", parts.RISKS),
            parts.Quotes(parts.observer),
            parts.Threshold("Largest residual risk against the threshold", parts.RISK, AT_MOST),
            parts.ByHand("Why the threshold suits this release; how the population was chosen"),
        ),
        section(
            "Chapter 3, 3.2.1",
            "Anonymisation criteria: singling out, linkability, inference",
            parts.Figures(
                "Singling out",
                (parts.Figure("Share of {unit} alone in their class", "risk.after.unique_share"),),
            ),
            parts.ByHand("Linkability: other releases or data sets on the same participants"),
            parts.Checks("Inference: rules on the values of a class", of=parts.on_values),
            parts.Quotes(parts.limits),
        ),
        section(
            "Report template",
            "Impact of the anonymisation on data utility",
            parts.Figures("Measures of the release", parts.UTILITY),
            parts.ByHand("What the anonymisation changes for the scientific use of the data"),
        ),
        section(
            "Report template",
            "Deviations from the guidance",
            parts.ByHand("Deviations and their reasons, or that there are none"),
        ),
        section(
            "Report template",
            "Confirmation",
            parts.Ask("Who answers for the release", "responsible"),
            parts.Says(
                "By signing, the signatory confirms that the page is accurate and complete."
            ),
            parts.ByHand("Name, position, date, signature"),
        ),
    ),
)


# Expert determination, 45 CFR 164.514(b)(1).
#
# Sources: the rule; Office for Civil Rights (HHS), Guidance Regarding Methods for De-
# identification
# of Protected Health Information in Accordance with the HIPAA Privacy Rule (2012). Neither sets a
# number for a risk that is very small.


HIPAA_EXPERT = Standard(
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
            parts.Quotes(parts.observer),
            parts.Ask("What else is reasonably available to the recipient", "knowledge"),
        ),
        section(
            "164.514(b)(1)(i)",
            "The risk is very small",
            parts.Says("The rule sets no number for a risk that is very small."),
            parts.Figures("Risk of the release", parts.RISKS),
            parts.Figures("Risk of the source", parts.RISKS_BEFORE, without=parts.WITH_SOURCE),
            parts.Figures("Attacks that were tried", parts.ATTACKED),
            parts.Acceptable("The largest risk that the expert takes as very small", parts.RISK),
            parts.ByHand("The determination that the risk is very small, and how long it stands"),
        ),
        section(
            "164.514(b)(1)(ii)",
            "Methods of the analysis",
            parts.Quotes(parts.method),
            parts.Quotes(parts.guarantees),
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
            parts.Figures("What it cost", parts.UTILITY),
            parts.Quotes(parts.limits),
        ),
        section(
            "164.514(b)(1)(ii)",
            "Documentation that justifies the determination",
            parts.Ask("Who answers for the release at the covered entity", "responsible"),
            parts.ByHand("The expert's name, date and signature"),
        ),
    ),
)


# ISO/IEC 27559:2022, Privacy enhancing data de-identification framework.
#
# Clause numbers and titles are those of its table of contents. It sets no threshold: what is
# acceptable follows from the context (clause 6) and is stated there.


ISO27559 = Standard(
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
            parts.Quotes(parts.observer),
            parts.Figures("Risk of the release", parts.RISKS),
        ),
        section(
            "7.3.3",
            "Attack modelling: population or sample-based attack",
            parts.Figures("Risk of the source", parts.RISKS_BEFORE, without=parts.WITH_SOURCE),
            parts.ByHand("Whether recipients may know that a person is in the data"),
        ),
        section(
            "7.3.4",
            "Attack modelling: data privacy models",
            parts.Quotes(parts.guarantees),
            parts.Checks("Required and achieved"),
        ),
        section(
            "8.2.2",
            "Quantifying identifiability",
            parts.Acceptable("The largest risk that the context accepts", parts.RISK),
        ),
        section(
            "8.2.3",
            "Adversarial testing",
            parts.Figures(
                "Attacks that were tried on the release",
                parts.ATTACKED,
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
            parts.Quotes(parts.method),
            parts.Figures("What it cost", parts.UTILITY),
        ),
        section("8.3.4", "Mitigation: re-evaluation", parts.Quotes(parts.limits)),
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


# Safe Harbor, 45 CFR 164.514(b)(2): the eighteen identifiers, and actual knowledge.
#
# Sources: the rule; Office for Civil Rights (HHS), Guidance Regarding Methods for De-
# identification
# of Protected Health Information in Accordance with the HIPAA Privacy Rule (2012).


def _of_another_kind(facts: Facts) -> str | None:
    if facts.report.safe_harbor:
        return None
    return f"is Safe Harbor, and the release was not made with preset: {PRESET}"


SAFE_HARBOR_STANDARD = Standard(
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


# NIST SP 800-188, De-Identifying Government Datasets: Techniques and Governance (2023).
#
# The publication sets no threshold of its own.


SP800_188 = Standard(
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
            parts.Quotes(parts.observer),
            parts.Figures("Risk of the release", parts.RISKS),
            parts.Figures("Risk of the source", parts.RISKS_BEFORE, without=parts.WITH_SOURCE),
            parts.Acceptable("The largest probability that the agency accepts", parts.RISK),
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
            parts.Quotes(parts.method),
            parts.Quotes(parts.guarantees),
        ),
        section(
            "4.6",
            "Validating the de-identified dataset: usefulness",
            parts.Figures("Measures of the release", parts.UTILITY),
        ),
        section(
            "4.6",
            "Validating the de-identified dataset: privacy protection",
            parts.Checks("Guarantees required and achieved, judged again from the published rows"),
            parts.Figures(
                "Re-identification tests on the release",
                parts.ATTACKED,
                without="anonymizer report POLICY --source DATABASE --attack",
            ),
            parts.Quotes(parts.limits),
        ),
    ),
)


# The standards that have a page, one module each.


STANDARDS: dict[str, Standard] = {
    standard.name: standard
    for standard in (HIPAA_EXPERT, EMA, ISO27559, SP800_188, SAFE_HARBOR_STANDARD)
}
"""Standards by name, as used in `report --as`."""
