"""Assessment of an existing table: privacy models, risk, identifying column combinations."""

from anonymizer.review.assess.assessment import Assessment, assess, assess_opened, assess_policy

__all__ = ["Assessment", "assess", "assess_opened", "assess_policy"]
