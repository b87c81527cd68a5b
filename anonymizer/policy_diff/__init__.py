"""What a change of policy does, before anything is written: both policies run aside, compared."""

from anonymizer.policy_diff.comparison import Comparison, compare
from anonymizer.policy_diff.trial import Trial

__all__ = ["Comparison", "Trial", "compare"]
