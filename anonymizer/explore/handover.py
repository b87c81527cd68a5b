"""What the desk hands over: the report of a release, pages of evidence, and approvals.

They are those of the verbs `report` and `approve`. A report needs a release that the policy made;
an approval a ledger, and the policy as it is saved.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from importlib.util import find_spec
from typing import Any

from anonymizer.engines.base import Limits
from anonymizer.engines.session import Database
from anonymizer.errors import AnonymizerError, PolicyError, Problem
from anonymizer.policy import AnyPolicy
from anonymizer.policy.document import plain
from anonymizer.policy.publish import Context
from anonymizer.process.word_document import HINT
from anonymizer.release.opening import release_file
from anonymizer.review.approval import approve, ledger_of
from anonymizer.review.evidence import Standard, standards
from anonymizer.review.inputs import open_release
from anonymizer.review.report import collected, rendered_bytes

MEDIA = {
    "html": "text/html",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
MOST = 20
"""Papers that are kept; the oldest is dropped first."""


@dataclass(frozen=True, slots=True)
class Paper:
    """A document that can be opened or downloaded."""

    name: str
    media: str
    content: bytes

    @property
    def styles(self) -> list[str]:
        """The SHA-256 of its style sheets (base64), which its security policy permits."""
        found = STYLE.findall(self.content.decode()) if self.media == MEDIA["html"] else []
        return [b64encode(sha256(one.encode()).digest()).decode() for one in found]


@dataclass(slots=True)
class Handover:
    """The papers that were made, and what can be made of a policy."""

    database: Database
    limits: Limits | None = None
    papers: dict[str, Paper] = field(default_factory=dict)
    _release: tuple[object, str | None] = (None, None)
    """A release with a policy, and why it gives no report."""

    @property
    def _source(self) -> str | None:
        return None if self.database is None else str(self.database)

    def reasons(self, policy: AnyPolicy, *, saved: bool) -> dict[str, str | None]:
        """Why there can be no report, text document or approval; None where there can be."""
        return {
            "report": self._no_report(policy),
            "docx": None if find_spec("docx") is not None else f"needs python-docx: {HINT}",
            "approve": _no_approval(policy, saved=saved),
        }

    def _no_report(self, policy: AnyPolicy) -> str | None:
        """The release is opened, which compares the policies, once per change of either."""
        try:
            path = release_file(policy, None, self._source)
        except AnonymizerError as error:
            return f"there is no release: {error.problems[0]}"
        at = path.stat()
        key = (path, at.st_mtime_ns, at.st_size, policy.digest())
        if self._release[0] != key:
            self._release = key, None
            try:
                with open_release(policy, path, self.limits):
                    pass
            except AnonymizerError as error:
                first = error.problems[0]
                other = isinstance(error, PolicyError) or first.path == "policy"
                said = "the release is of another policy: run makes it anew"
                self._release = key, said if other else str(first)
        return self._release[1]

    def make(self, policy: AnyPolicy, form: str, name: str | None = None) -> str:
        """Make the report of the release, or the page of a standard, and return its file's name.

        A page that asks for figures of attacks has them made. Raises PolicyError for an unknown
        form or standard, NothingToCheckError without a release.
        """
        if form not in MEDIA:
            raise PolicyError.at("form", "is not offered", allowed=", ".join(MEDIA))
        standard = standards().get(name) if name is not None else None
        if name is not None and standard is None:
            raise PolicyError.at("standard", "is unknown", allowed=", ".join(standards()))
        refused = self._no_report(policy)
        if refused is not None:
            raise PolicyError.at("report", refused)
        attacks = standard is not None and standard.attacked and not policy.algorithm.classless
        options = {"attacks": attacks, "limits": self.limits}
        found = collected(policy, None, self._source, **options)
        file = f"{name or 'report'}.{form}"
        self.papers.pop(file, None)
        self.papers[file] = Paper(file, MEDIA[form], rendered_bytes(found, form, name))
        while len(self.papers) > MOST:
            del self.papers[next(iter(self.papers))]
        return file


def _no_approval(policy: AnyPolicy, *, saved: bool) -> str | None:
    if policy.ledger is None:
        return "the policy names no ledger beside which it could be kept"
    try:
        ledger_of(policy)
    except AnonymizerError as error:
        return str(error.problems[0])
    return None if saved else "save the policy first: the file is approved"


def approval(policy: AnyPolicy, given: Mapping[str, Any], *, saved: bool) -> str:
    """Record an approval of the saved policy: `by`, `until` (YYYY-MM-DD), `note`.

    Returns a sentence about it. Raises PolicyError for other texts, and where there can be none.
    """
    refused = _no_approval(policy, saved=saved)
    if refused is not None:
        raise PolicyError.at("approve", refused)
    by, until, note = (str(given.get(name, "")) for name in ("by", "until", "note"))
    try:
        last = date.fromisoformat(until)
    except ValueError:
        raise PolicyError([Problem("until", "is not a date", allowed="YYYY-MM-DD")]) from None
    made = approve(policy, by=by, until=last, note=note)
    return f"{made.by} accepts until {made.until} what {made.release} leaves open"


def evidence_fields(policy: AnyPolicy) -> list[dict[str, Any]]:
    """Every standard: its fields that the policy's context can fill in, and what they hold now."""
    context = plain(policy.context or Context())
    return [
        {
            "name": one.name,
            "title": one.title,
            "refused": _no_page(policy, one),
            "fields": [
                {"field": name, "says": says, "value": context.get(name)}
                for name, says in one.asked
            ],
        }
        for one in standards().values()
    ]


def _no_page(policy: AnyPolicy, standard: Standard) -> str | None:
    if standard.preset is None or policy.preset == standard.preset:
        return None
    return f"is for releases under preset: {standard.preset}"
