"""The standards that have a page, one module each."""

from __future__ import annotations

from anonymizer.review.evidence.standard import Standard
from anonymizer.review.evidence.standards import ema, hipaa_expert, iso27559, safe_harbor, sp800_188

STANDARDS: dict[str, Standard] = {
    module.STANDARD.name: module.STANDARD
    for module in (hipaa_expert, ema, iso27559, sp800_188, safe_harbor)
}
"""Standards by name, as used in `report --as`."""
