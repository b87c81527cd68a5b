"""EMA policy 0070 and Health Canada's public release of clinical information.

Sources: European Medicines Agency, External guidance on the implementation of policy 0070
(EMA/90915/2016), chapter 3, and the template of the anonymisation report, which Health Canada
uses as well. Both take 0.09 as the largest acceptable risk of a public release.
"""

from __future__ import annotations

from anonymizer.review.evidence import library, parts
from anonymizer.review.evidence.standard import Standard, section

AT_MOST = 0.09
"""A risk of 9 %: an equivalence class of eleven is above it, one of twelve is not."""

STANDARD = Standard(
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
            parts.Quotes(library.method),
            parts.Quotes(library.guarantees),
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
                "Initial risk, of the source", library.RISKS_BEFORE, without=parts.WITH_SOURCE
            ),
            parts.Figures("Residual risk, of the release", library.RISKS),
            parts.Quotes(library.observer),
            parts.Threshold("Largest residual risk against the threshold", library.RISK, AT_MOST),
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
            parts.Quotes(library.limits),
        ),
        section(
            "Report template",
            "Impact of the anonymisation on data utility",
            parts.Figures("Measures of the release", library.UTILITY),
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
