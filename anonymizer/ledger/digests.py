"""Keyed digests, by which a ledger recognizes persons."""

from __future__ import annotations

from typing import Any

from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.ledger.carried import beside_server, hand_over
from anonymizer.ledger.facets import identity, marks
from anonymizer.ledger.history import HISTORY_TABLES, load_history
from anonymizer.ledger.key import bound, read_key
from anonymizer.ledger.tables import DIGESTS
from anonymizer.policy import Policy
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.steps import Step


def digests_step(policy: Policy, roles: Roles, profile: TableProfile) -> Step:
    """The step that computes digests for a continued series; the ledger's key is bound in it."""
    context = {**digested(policy, roles, profile), "digests": DIGESTS}
    return Step("digests of persons", "ledger/digests.sql.j2", context, binds=("ledger_key",))


def digested(policy: Policy, roles: Roles, profile: TableProfile) -> dict[str, Any]:
    """The parameters of the digests of persons."""
    return {
        "snapshot": SNAPSHOT,
        "identity": identity(policy, roles, profile),
        "marks": marks(policy, roles),
    }


def prepare_history(policy: Policy, engine: Engine) -> None:
    """For a run that continues earlier releases, load their history into scratch, and bind the key
    of the digests (a temporary one if there is no ledger yet).
    """
    if not policy.continues or policy.republish is None or policy.ledger is None:
        return
    path = policy.resolve(policy.ledger).resolve()
    if "ledger_key" not in engine.binds:
        engine.binds = {**engine.binds, "ledger_key": bound(read_key(path) or "")}
    column = policy.sensitive[0] if policy.republish.m else None
    if isinstance(engine, DuckDBEngine):
        load_history(engine, path, column)
        return
    with beside_server(engine, path) as home:
        load_history(home, path, column)
        hand_over(engine, home, HISTORY_TABLES)
