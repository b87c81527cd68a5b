"""Mondrian: multidimensional top-down partitioning (LeFevre et al. 2006), every class at once."""

from anonymizer.algorithms.mondrian.partition import MEMBERS, partition_stages

__all__ = ["MEMBERS", "partition_stages"]
