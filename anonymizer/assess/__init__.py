"""How anonymous a table is as it is: privacy models, risk, and what singles people out."""

from anonymizer.assess.assessment import Assessment, assess, assess_opened

__all__ = ["Assessment", "assess", "assess_opened"]
