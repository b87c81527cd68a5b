"""Approvals of policies, in a separate file: JSON lines, each with a code under the ledger's key.

A line that was written or changed without the key has a wrong code, and the whole file is refused.
Everyone who can read the key can write approvals, just as they can read the ledger.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any

from anonymizer.errors import EngineError, Problem
from anonymizer.ledger.store import code, key_file, make_key, no_key, read_key
from anonymizer.process.files import append, is_open_to_others, read_beside

PURPOSE = "approvals 1"
"""Derives the key of approvals from the ledger's key."""
RESTORE = "restore the file from a copy, or remove it and approve again"


@dataclass(frozen=True, slots=True)
class Approval:
    """The acceptance of a policy's remaining risks: by whom, and until when."""

    release: str
    """The view that the policy publishes."""
    policy: Mapping[str, Any]
    """The whole content of the policy."""
    policy_digest: str
    files: Mapping[str, str]
    """SHA-256 of the files that it reads besides the source, by their paths in the policy."""
    risks: tuple[str, ...]
    """The accepted risks."""
    by: str
    at: str
    until: str
    """The last day, as YYYY-MM-DD, in UTC."""
    note: str
    version: str
    """The version of this package."""

    def ended(self, today: date) -> bool:
        """Return whether its last day has passed."""
        return today > date.fromisoformat(self.until)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "risks": list(self.risks)}

    def summary(self) -> dict[str, Any]:
        """The approval without the content of the policy."""
        left_out = ("policy", "files")
        return {name: value for name, value in self.as_dict().items() if name not in left_out}


def approvals_file(ledger: Path) -> Path:
    """The path of a ledger's approvals."""
    return ledger.with_name(f"{ledger.name}.approvals")


def key_of(ledger: Path) -> str:
    """The key of a ledger; a new one if there is no ledger yet.

    Raises EngineError for a ledger without its key, and for a folder that does not exist.
    """
    known = read_key(ledger)
    if known is None and ledger.exists():
        raise EngineError(no_key(ledger))
    return known or make_key(ledger)


def remember(ledger: Path, approval: Approval) -> None:
    """Append an approval. Raises EngineError if the file is foreign or cannot be written."""
    key = key_of(ledger)
    all_approvals(ledger)
    # (as it will be read: in JSON all keys are text, and whole numbers sort differently)
    data = json.loads(json.dumps(approval.as_dict()))
    line = json.dumps({"approval": data, "mac": _code(key, data)}) + "\n"
    path = approvals_file(ledger)
    try:
        append(path, line.encode("ascii"))
    except OSError as error:
        said = f"{path.name} cannot be written: nothing was approved"
        hint = "look at free disk space and permissions"
        raise EngineError.at("ledger", said, hint=hint) from error


def all_approvals(ledger: Path) -> tuple[Approval, ...]:
    """Every approval, oldest first.

    Raises EngineError if one was written or changed without the key.
    """
    path = approvals_file(ledger)
    try:
        lines = read_beside(path, "ascii").splitlines()
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise EngineError(_altered(path, "cannot be read")) from error
    key = read_key(ledger)
    if key is None:
        said = f"is there, and the key {key_file(ledger).name} it was written under is not"
        raise EngineError(_altered(path, said))
    if is_open_to_others(key_file(ledger)):
        said = f"its key {key_file(ledger).name} can be read by others than its owner, who could"
        hint = f"chmod 600 {key_file(ledger).name}"
        raise EngineError.at("ledger", f"{said} approve", hint=hint)
    return tuple(_read(path, key, lines))


def _read(path: Path, key: str, lines: list[str]) -> Iterator[Approval]:
    for number, line in enumerate(lines, 1):
        try:
            found = json.loads(line)
            data, code = found["approval"], str(found["mac"])
            genuine = hmac.compare_digest(_code(key, data).encode(), code.encode())
        except (ValueError, KeyError, TypeError, RecursionError):
            genuine, data = False, {}
        if not genuine:
            said = f"line {number} was not written by anonymizer approve, or was changed"
            raise EngineError(_altered(path, said))
        if set(data) != {field.name for field in fields(Approval)}:
            raise EngineError(_altered(path, f"line {number} is of another version"))
        yield Approval(**{**data, "risks": tuple(data["risks"])})


def _code(key: str, data: Mapping[str, Any]) -> str:
    """HMAC-SHA256 of an approval as canonical JSON."""
    return code(key, PURPOSE, json.dumps(data, sort_keys=True, separators=(",", ":")))


def _altered(path: Path, said: str) -> Problem:
    return Problem("ledger", f"{path.name}: {said}", hint=RESTORE)
