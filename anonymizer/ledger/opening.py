"""What a run finds where it opens its ledger: the key, and whether there were releases before."""

from __future__ import annotations

from pathlib import Path

from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import EngineError
from anonymizer.ledger.access import attached
from anonymizer.ledger.approvals import approvals_file
from anonymizer.ledger.entries import entries
from anonymizer.ledger.key import make_key, no_key, read_key
from anonymizer.ledger.listing import is_listed


def opened(home: DuckDBEngine, path: Path) -> tuple[str, tuple[str, ...]]:
    """The key of a ledger, made if there is neither ledger nor key, and warnings.

    Raises EngineError if the key of a ledger is missing.
    """
    known = read_key(path)
    if known is None:
        if path.exists():
            with attached(home, path):
                if entries(home) or is_listed(home):
                    raise EngineError(no_key(path))
        return make_key(path), ()
    with attached(home, path):
        begun = bool(entries(home)) or is_listed(home)
    if begun or approvals_file(path).exists():
        return known, ()
    return known, (
        f"the ledger {path.name} is new, and its key is not: if releases were recorded with this"
        " key, the ledger was removed or emptied since, and what they and the new one tell together"
        " was not counted",
    )
