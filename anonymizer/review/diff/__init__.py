"""The effect of a change of policy, without publishing: trial runs of both policies, compared."""

from anonymizer.review.diff.comparison import Comparison, compare
from anonymizer.review.diff.trial import Trial

__all__ = ["Comparison", "Trial", "compare"]
