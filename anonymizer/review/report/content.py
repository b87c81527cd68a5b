"""The content of a report as data, from which HTML, Markdown and JSON are rendered."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from anonymizer.contract.checks import Verification
from anonymizer.contract.layout import Layout
from anonymizer.measure.counts import ShownErrors
from anonymizer.measure.usefulness import Little
from anonymizer.policy import Policy
from anonymizer.policy.kinds import ReleaseKind
from anonymizer.release.manifest import Manifest
from anonymizer.review.assess import Assessment
from anonymizer.review.attack import Attack
from anonymizer.review.report.distributions import Distribution
from anonymizer.review.report.verdict import Verdict, verdict
from anonymizer.review.report.workload import Answer


@dataclass(frozen=True, slots=True)
class Report:
    """A release in figures and sentences, without identifiers, rare values or rows."""

    policy: Policy
    manifest: dict[str, Any]
    verification: Verification
    floor: int
    unit: str
    columns: tuple[dict[str, str], ...]
    guarantees: tuple[str, ...]
    before: Assessment | None
    after: Assessment
    distributions: tuple[Distribution, ...]
    counts: ShownErrors | None
    workload: tuple[Answer, ...]
    warnings: tuple[str, ...]
    attacks: tuple[str, ...] = field(default=())
    certificate: str = ""
    little: tuple[Little, ...] = ()
    """Properties of which little is left."""
    attacked: Attack | None = None
    """Results of attacks run for this report."""

    @property
    def verdict(self) -> Verdict:
        promised = bool(self.manifest["requirements"])
        return verdict(self.verification, self.little, self.attacked, promised=promised)

    @property
    def kind(self) -> ReleaseKind:
        return Manifest(self.manifest).kind

    @property
    def known(self) -> str:
        """The knowledge that the risk figures assume of the observer."""
        known = "published values" if self.layout.classless else "quasi-identifiers"
        return f"all {known} of a person"

    @property
    def safe_harbor(self) -> tuple[tuple[str, str, str], ...]:
        """Letter, words and treatment of the eighteen identifiers, if under Safe Harbor."""
        listed = self.manifest.get("safe_harbor") or ()
        return tuple(
            (
                one["letter"],
                one["identifier"],
                "; ".join(f"{of['column']}: {of['done']}" for of in one["columns"]) or one["done"],
            )
            for one in listed
        )

    @property
    def layout(self) -> Layout:
        return Layout.from_dict(self.manifest["layout"])

    @property
    def has_source(self) -> bool:
        return self.before is not None

    def as_dict(self) -> dict[str, Any]:
        """Plain data for programs."""
        return {
            "view": self.manifest["view"],
            "kind": self.kind,
            "run_id": self.manifest["run_id"],
            "created": self.manifest["created"],
            "algorithm": self.manifest["algorithm"],
            "reproducible": self.manifest["reproducible"],
            "passed": self.verification.passed,
            "verdict": asdict(self.verdict),
            "little_left": [asdict(found) for found in self.little],
            "attack": self.attacked.as_dict() if self.attacked else None,
            "policy": {"columns": list(self.columns), "guarantees": list(self.guarantees)},
            "verification": self.verification.as_dict(),
            "risk": {
                "before": _risk(self.before) if self.before else None,
                "after": _risk(self.after),
            },
            "class_sizes": {
                "before": self.before.size_bins if self.before else None,
                "after": self.after.size_bins,
            },
            "distributions": [asdict(found) for found in self.distributions],
            "measures": self.manifest["measures"],
            "query_error": asdict(self.counts) if self.counts else None,
            "workload": [asdict(answer) for answer in self.workload],
            **({"safe_harbor": self.manifest["safe_harbor"]} if self.safe_harbor else {}),
            "certificate": self.certificate,
            "known_attacks": list(self.attacks),
            "manifest": self.manifest,
            "warnings": list(self.warnings),
            "shown_from": self.floor,
        }


def _risk(found: Assessment) -> dict[str, Any]:
    sizes = {n: v for n, v in asdict(found.sizes).items() if n != "classes_held"}
    return {**sizes, **asdict(found.risk)}
