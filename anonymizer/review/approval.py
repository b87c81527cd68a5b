"""Approvals: who accepts a policy's residual risks, and whether the policy is still the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from anonymizer.errors import AnonymizerError, PolicyError, Problem, no_file
from anonymizer.guarantees.requirements import least_class, requirements_of
from anonymizer.ledger import approvals
from anonymizer.ledger.approvals import Approval
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.policy.document import plain
from anonymizer.policy.kinds import PSEUDONYMISED
from anonymizer.policy.referenced_files import digest_of, read_files
from anonymizer.release.certificate import NO_GUARANTEE, PERSONAL, known_attacks
from anonymizer.release.objects import Names
from anonymizer.review.comparison import meaning, short_text
from anonymizer.review.observers import LINKED, ONE, OPEN, ROWS, TWO
from anonymizer.version import __version__

APPROVE = "anonymizer approve POLICY --by NAME --until DATE"
PLAIN = re.compile(r"[a-z_]{1,20}|\w+=[\d.]+(, \w+=[\d.]+)*")
"""A word of a policy (`quasi`, `lgb`), or parameters with numbers (`k=5`)."""


def approve(
    policy: AnyPolicy, *, by: str, until: date, note: str = "", ledger: str | None = None
) -> Approval:
    """Record next to the ledger that `by` accepts the residual risks of a policy until a day.

    `ledger`: used instead of the policy's ledger. Raises PolicyError for a policy without a ledger,
    a day in the past, or a missing file.
    """
    place = ledger_of(policy, ledger)
    now = datetime.now(UTC)
    if not by.strip():
        raise PolicyError.at("--by", "must not be blank")
    if until < now.date():
        raise PolicyError.at("--until", "is over", allowed=f"{now.date()} or later")
    made = Approval(
        release=_release(policy),
        policy=policy.to_dict(),
        policy_digest=policy.digest(),
        files=files_of(policy),
        risks=residual_risks(policy),
        by=by.strip(),
        at=now.isoformat(timespec="seconds"),
        until=until.isoformat(),
        note=note,
        version=__version__,
    )
    approvals.remember(place, made)
    return made


def required(
    policy: AnyPolicy, today: date | None = None, *, ledger: str | None = None
) -> Approval:
    """Return the approval under which a policy may run.

    `ledger`: used instead of the policy's ledger. Raises PolicyError if the policy was never
    approved, has changed since, or its approval has expired; EngineError if the approvals were not
    written with the ledger's key.
    """
    today = today or datetime.now(UTC).date()
    listed = approvals.all_approvals(ledger_of(policy, ledger))
    ours = [one for one in listed if one.release == _release(policy)]
    if not ours:
        said = f"is missing: nobody has approved {_release(policy)}"
        raise PolicyError.at("approval", said, hint=APPROVE)
    same = [one for one in ours if not _differences(one, policy)]
    standing = [one for one in same if not one.ended(today)]
    if standing:
        return max(standing, key=lambda one: one.until)
    if same:
        last = max(same, key=lambda one: one.until)
        said = f"by {last.by} ended on {last.until}"
        raise PolicyError.at("approval", said, hint=APPROVE)
    raise PolicyError(_differences(ours[-1], policy))


def residual_risks(policy: AnyPolicy) -> tuple[str, ...]:
    """Residual risks of a policy that holds: its risk bound, and attacks it does not stop."""
    lead = policy.lead
    found = [PERSONAL] if policy.release_kind == PSEUDONYMISED else []
    if not requirements_of(lead):
        found.append(NO_GUARANTEE)
    k = least_class(lead, otherwise=1)
    if k > 1:
        found.append(
            "linking: whoever knows the quasi-identifiers of a person finds the right row with a"
            f" chance of up to 1 in {k}"
        )
    return (*found, *_observers(policy), *known_attacks(policy))


def _observers(policy: AnyPolicy) -> Iterator[str]:
    """For several tables: observers who know a person's rows and are not covered by a guarantee."""
    known = policy.knows.events
    if policy.events:
        yield from (OPEN[who] for events, who in ((1, ONE), (2, TWO)) if known < events)
        if known and not policy.knows.joined:
            yield OPEN[LINKED[min(known, len(LINKED)) - 1]]
    if policy.children and not policy.knows.rows:
        yield OPEN[ROWS]


def files_of(policy: AnyPolicy) -> dict[str, str]:
    """SHA-256 of the hierarchies and populations that a policy reads from files, by their paths.

    Raises PolicyError if a file is missing.
    """
    found, problems = {}, []
    for path, file in read_files(policy).items():
        if file.is_file():
            found[path] = digest_of(file)
        else:
            problems.append(Problem(path, no_file(file)))
    PolicyError.refuse(problems)
    return found


def _differences(approval: Approval, policy: AnyPolicy) -> list[Problem]:
    """List how a policy differs from the approved one."""
    old = _approved(approval, policy)
    if old is None:
        said = f"was approved by {approval.by} in a form that this version does not read"
        return [Problem("approval", said, hint=APPROVE)]
    return list(_changes(approval, old, policy)) or [
        Problem("approval", f"does not cover this risk: {risk}", hint=APPROVE)
        for risk in residual_risks(policy)
        if risk not in approval.risks
    ]


def _changes(approval: Approval, old: AnyPolicy, new: AnyPolicy) -> Iterator[Problem]:
    since = f"when {approval.by} approved the policy on {approval.at[:10]}"
    changes = meaning(old, new)
    for change in changes:
        said = f"is not as it was {since}"
        if _plain(change.old) and _plain(change.new):
            said = f"was {short_text(change.old)} {since}, and is {short_text(change.new)}"
        yield Problem(change.what, said, hint=APPROVE)
    if not changes and (new.digest() != approval.policy_digest or _words(old) != _words(new)):
        said = f"is not as it was {since}, in the order of columns or in sets of them"
        yield Problem("policy", said, hint=APPROVE)
    files = files_of(new)
    for path in sorted({*files, *approval.files}):
        if files.get(path) != approval.files.get(path):
            yield Problem(path, f"has another content than {since}", hint=APPROVE)


def _plain(side: Any) -> bool:
    """Return whether an error may quote it: numbers and policy keywords only, no data values."""
    return not isinstance(side, str) or PLAIN.fullmatch(side) is not None


def _words(policy: AnyPolicy) -> dict[str, Any]:
    return plain(policy.context) if policy.context is not None else {}


def _approved(approval: Approval, policy: AnyPolicy) -> AnyPolicy | None:
    """The approved policy; None if this version cannot read it."""
    try:
        return Policy.model_validate(approval.policy, context={"base": policy.base})
    except AnonymizerError:
        return None


def _release(policy: AnyPolicy) -> str:
    return Names.of(policy, "").release


def ledger_of(policy: AnyPolicy, given: str | None = None) -> Path:
    """The ledger beside which approvals are kept: the policy's own, or a given one.

    Raises PolicyError if there is none, or if its folder does not exist.
    """
    if given is not None:
        where, path = "--approvals", Path(given)
    elif policy.ledger is not None:
        where, path = "ledger", policy.resolve(policy.ledger)
    else:
        said = "is missing: approvals are kept beside it"
        hint = "ledger: private/ledger.duckdb, or --approvals private/ledger.duckdb"
        raise PolicyError.at("ledger", said, hint=hint)
    if not path.parent.is_dir():
        hint = f"mkdir -p {path.parent}"
        raise PolicyError.at(where, "is in a folder that does not exist", hint=hint)
    return path.resolve()
