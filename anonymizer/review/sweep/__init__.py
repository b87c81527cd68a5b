"""Runs of a policy over a grid of its options: risk against utility."""

from anonymizer.review.sweep.grid import Point, groups, varied
from anonymizer.review.sweep.run import sweep

__all__ = ["Point", "groups", "sweep", "varied"]
