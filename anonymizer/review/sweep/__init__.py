"""Runs of a policy over a grid of its options: risk against utility."""

from anonymizer.review.sweep.grid import varied
from anonymizer.review.sweep.points import Point, groups
from anonymizer.review.sweep.run import sweep

__all__ = ["Point", "groups", "sweep", "varied"]
