"""The generalization lattice: every way of publishing each quasi-identifier at one level.

A node is a tuple of levels. The hierarchies are packed into integers such that the classes of a
node are `packed & mask(node)`, and one node is coarser than another if and only if its mask is
contained in the other's. Shared by the algorithms that search levels of hierarchies.
"""
