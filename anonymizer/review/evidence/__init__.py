"""A release's report arranged by a standard: its headings, its thresholds, and open questions.

A page of evidence contains only figures of the report. It arranges them under the clauses of a
standard, prints the policy's `context`, and marks what only a person can state.
"""

from anonymizer.review.evidence.page import Evidence, collect_evidence
from anonymizer.review.evidence.standards import STANDARDS

__all__ = ["STANDARDS", "Evidence", "collect_evidence"]
