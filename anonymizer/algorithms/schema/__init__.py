"""Releases of several tables: persons in classes, whose events are k^m-anonymous.

The persons' classes come from a tree of cuts as in mondrian, pruned by the total loss of
quasi-identifiers and events; events are generalized class by class.

Source: Terrovitis, Mamoulis, Kalnis (2008) for k^m-anonymity; Poulis et al. (2013) for its union
with k-anonymity of the relational part; Breiman et al. (1984) for the pruning.
"""
