"""The content of the page as plain data, without rare values of the source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from anonymizer.algorithms.registry import ALGORITHMS
from anonymizer.explore.desk import Desk
from anonymizer.explore.edits import ROLES
from anonymizer.policy import Policy
from anonymizer.process.text import plain
from anonymizer.review.report.words import ROLES as ROLE_WORDS


def view(desk: Desk) -> dict[str, Any]:
    """Everything about the current state."""
    with desk.lock:
        state = desk.history.now
        found: dict[str, Any] = plain(
            {
                "version": desk.version,
                "title": desk.title,
                "file": desk.target.path.name,
                "saved": desk.target.found == state.text,
                "text": state.text,
                "show_rows": desk.show_rows,
                "roles": {name: ROLE_WORDS[name] for name in ROLES},
                "algorithms": {n: d.words for n, d in ALGORITHMS.items()},
                "columns": list(_columns(desk, state.policy)),
                "table": _table(state.policy),
                "history": [{"number": s.number, "label": s.label} for s in desk.history.states],
                "at": state.number,
                "sample": _outcome(state.outcomes.get("sample")),
                "whole": _outcome(state.outcomes.get("whole")),
                "before": _outcome(_before(desk)),
                "is_sample": desk.sample.sampled,
                "rows": desk.whole.rows,
                "progress": desk.progress,
                "stopped": desk.stopped,
                "busy": desk.busy,
                "details": dict(state.details),
                "frontier": state.frontier,
                "why": state.why,
                "defects": list(desk.defects),
            }
        )
        return found


def _outcome(outcome: Any) -> dict[str, Any] | None:
    return None if outcome is None else outcome.as_dict()


def _before(desk: Desk) -> Any:
    """The result for the previous state, on the same sample."""
    at = desk.history.at
    return desk.history.states[at - 1].outcomes.get("sample") if at > 0 else None


def _table(policy: Policy) -> dict[str, Any]:
    given = policy.to_dict()
    return {
        "k": policy.privacy.k_anonymity,
        "suppression_limit": policy.suppression_limit,
        "algorithm": given["algorithm"],
        "person": policy.person,
        "ledger": policy.ledger is not None,
    }


def _columns(desk: Desk, policy: Policy) -> Iterator[dict[str, Any]]:
    """Every column of the source, including those that the policy does not classify."""
    given = policy.to_dict()["columns"]
    for name, sql_type in desk.whole.session.profile.columns:
        described = given.get(name, {})
        drafted = desk.reasons.get(name, {})
        yield {
            "name": name,
            "type": sql_type,
            "role": described.get("role"),
            "hierarchy": described.get("hierarchy"),
            "protect": described.get("protect"),
            "semi": described.get("sensitive_when") is not None,
            "key": name in (policy.key, policy.person),
            "drafted": drafted.get("role"),
            "reason": drafted.get("reason"),
        }
