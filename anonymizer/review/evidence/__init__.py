"""A release's report in the words of a standard: its headings, its thresholds, and what is open.

A page of evidence has no figure of its own. It arranges those of the report under the clauses of a
standard, prints the policy's `context`, and marks what only a person can say.
"""

from anonymizer.review.evidence.content import Evidence, collect_evidence
from anonymizer.review.evidence.standards import STANDARDS

__all__ = ["STANDARDS", "Evidence", "collect_evidence"]
