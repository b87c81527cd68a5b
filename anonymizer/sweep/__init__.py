"""A policy over a grid of its options: risk against utility."""

from anonymizer.sweep.grid import varied
from anonymizer.sweep.points import Point, groups
from anonymizer.sweep.run import sweep

__all__ = ["Point", "groups", "sweep", "varied"]
