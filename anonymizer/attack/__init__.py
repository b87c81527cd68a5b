"""Attacks that try: what somebody who knows quasi-identifiers gets out of a release."""

from anonymizer.attack.attacks import Attack, attack

__all__ = ["Attack", "attack"]
