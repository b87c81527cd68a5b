"""The release ledger: a private memory of who stood in which class of which release.

Two releases of one population can be intersected (Ganta et al. 2008). The ledger keeps, for every
release, a keyed digest of each person with the class or bucket that published it, so that a run
can tell what an observer of all releases would learn, and refuse before it publishes.
"""

from anonymizer.ledger.keeper import Keeper

__all__ = ["Keeper"]
