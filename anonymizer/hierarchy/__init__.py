"""Generalization hierarchies as data: built, checked, exported and shown inside the database.

A hierarchy is a work table with one row per value and level (`stages` says which columns).
"""

from anonymizer.hierarchy.build import inputs, stages

__all__ = ["inputs", "stages"]
