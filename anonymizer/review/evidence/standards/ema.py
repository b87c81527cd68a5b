"""EMA policy 0070 and Health Canada's public release of clinical information.

Sources: European Medicines Agency, External guidance on the implementation of policy 0070
(EMA/90915/2016), chapter 3, and the template of the anonymisation report, which Health Canada
uses as well. Both take 0.09 as the largest acceptable risk of a public release.
"""

from __future__ import annotations

from anonymizer.review.evidence.library import (
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
    Ask,
    ByHand,
    Checks,
    Columns,
    Figure,
    Figures,
    Quotes,
    Says,
    Threshold,
    on_values,
)
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
            Ask("Who receives the data (a public release: anybody)", "recipients"),
            Ask("What the data are used for", "purpose"),
            Ask("What an adversary could know, with motive and capacity", "knowledge"),
            Ask("Mitigating controls (a public release has none)", "controls"),
        ),
        section(
            "Report template",
            "Anonymisation methodology",
            Quotes(method),
            Quotes(guarantees),
            ByHand("Why this methodology was chosen"),
        ),
        section(
            "Report template",
            "Identification of data variables",
            Columns("Direct and indirect identifiers, and the technique applied to each"),
            ByHand("That no other direct or indirect identifier is in the data"),
        ),
        section(
            "Report template",
            "Assessment of the risk of re-identification",
            Figures("Initial risk, of the source", RISKS_BEFORE, without=WITH_SOURCE),
            Figures("Residual risk, of the release", RISKS),
            Quotes(observer),
            Threshold("Largest residual risk against the threshold", RISK, AT_MOST),
            ByHand("Why the threshold suits this release; how the population was chosen"),
        ),
        section(
            "Chapter 3, 3.2.1",
            "Anonymisation criteria: singling out, linkability, inference",
            Figures(
                "Singling out",
                (Figure("Share of {unit} alone in their class", "risk.after.unique_share"),),
            ),
            ByHand("Linkability: other releases or data sets on the same participants"),
            Checks("Inference: rules on the values of a class", of=on_values),
            Quotes(limits),
        ),
        section(
            "Report template",
            "Impact of the anonymisation on data utility",
            Figures("Measures of the release", UTILITY),
            ByHand("What the anonymisation changes for the scientific use of the data"),
        ),
        section(
            "Report template",
            "Deviations from the guidance",
            ByHand("Deviations and their reasons, or that there are none"),
        ),
        section(
            "Report template",
            "Confirmation",
            Ask("Who answers for the release", "responsible"),
            Says("By signing, the signatory confirms that the page is accurate and complete."),
            ByHand("Name, position, date, signature"),
        ),
    ),
)
