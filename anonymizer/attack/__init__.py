"""Attacks that try: what somebody who knows quasi-identifiers gets out of a release."""

from anonymizer.attack.attacks import attack
from anonymizer.attack.results import Attack

__all__ = ["Attack", "attack"]
