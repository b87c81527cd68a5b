"""The release ledger: a private record of the class of every person in every release.

Two releases of one population can be intersected (Ganta et al. 2008). The ledger stores, for every
release, a keyed digest of each person with the person's class or bucket, so that a run
can compute what an observer of all releases would learn, and refuse to publish.
"""

from anonymizer.ledger.protected_columns import Written
from anonymizer.ledger.session import LedgerSession

__all__ = ["LedgerSession", "Written"]
