"""Releases of several tables: persons in classes, and the events of their rows k^m-anonymous.

The persons' classes come from a tree of cuts as mondrian makes it, pruned by the loss of
quasi-identifiers and events together; events are raised class by class.

Source: Terrovitis, Mamoulis, Kalnis (2008) for k^m-anonymity; Poulis et al. (2013) for its union
with k-anonymity of the relational part; Breiman et al. (1984) for the pruning.
"""
