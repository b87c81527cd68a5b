"""Simulated attacks: what an attacker who knows quasi-identifiers learns from a release."""

from anonymizer.review.attack.attacks import attack
from anonymizer.review.attack.results import Attack

__all__ = ["Attack", "attack"]
