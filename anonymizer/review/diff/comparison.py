"""Comparison of two policies: roles, options, guarantees, and the results of trial runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from anonymizer.engines.base import Limits
from anonymizer.engines.session import Database
from anonymizer.errors import Problem
from anonymizer.policy import Policy, single
from anonymizer.privacy.of_policy.requirements import requirements_of
from anonymizer.process.seed import Seed
from anonymizer.review.diff.trial import Trial, trial

APART = ("version", "columns", "privacy")
"""Parts of a policy that are compared on their own."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing under the old and under the new policy; None where it has none."""

    what: str
    old: Any
    new: Any

    @property
    def changed(self) -> bool:
        return bool(self.old != self.new)

    def as_dict(self) -> dict[str, Any]:
        return {"what": self.what, "old": self.old, "new": self.new, "changed": self.changed}


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changes, and what does not, from the old policy to the new one."""

    roles: tuple[Change, ...]
    """Of every column that either policy or the source has; None: not classified."""
    settings: tuple[Change, ...]
    """What differs elsewhere, by its path in the policy."""
    required: tuple[Change, ...]
    """Guarantees with their parameters."""
    achieved: tuple[Change, ...]
    """What a run reaches for each guarantee."""
    figures: tuple[Change, ...]
    """Rows, suppression, loss and risk."""
    losses: tuple[Change, ...]
    """Mean NCP of each quasi-identifying column."""
    unclassified: tuple[str, ...]
    """Columns of the source that neither policy classifies."""
    old: Trial
    new: Trial

    def as_dict(self) -> dict[str, Any]:
        parts = {
            name: [change.as_dict() for change in getattr(self, name)]
            for name in ("roles", "settings", "required", "achieved", "figures", "losses")
        }
        return {
            **parts,
            "unclassified": list(self.unclassified),
            **{
                name: {
                    "runs": found.runs,
                    "holds": found.holds,
                    "replaces": list(found.replaces),
                    "problems": [problem.as_dict() for problem in found.problems],
                }
                for name, found in (("old", self.old), ("new", self.new))
            },
        }

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What keeps the new policy from being taken."""
        lacking = tuple(
            Problem(
                f"columns.{name}",
                "is a column of the source that no policy classifies",
                allowed="identifier, quasi, sensitive, keep, drop",
                hint="give it a role in the new policy",
            )
            for name in self.unclassified
        )
        said = {f"columns.{name}" for name in self.unclassified}
        return lacking + tuple(p for p in self.new.problems if p.path not in said)


def compare(
    old: Policy,
    new: Policy,
    database: Database = None,
    *,
    seed: Seed | None = None,
    limits: Limits | None = None,
) -> Comparison:
    """Run both policies in scratch, with the same draws, and compare them. Nothing is written."""
    for policy in (old, new):
        single(policy, "diff")
    drawn = seed or Seed.fresh()
    before, after = (trial(policy, database, drawn, limits) for policy in (old, new))
    source = dict.fromkeys((*after.columns, *before.columns))
    return Comparison(
        roles=tuple(_roles(old, new, list(source))),
        settings=tuple(_settings(old, new)),
        required=tuple(_pairs(_required(old), _required(new))),
        achieved=tuple(_pairs(_achieved(before), _achieved(after))),
        figures=tuple(_pairs(before.figures, after.figures)),
        losses=tuple(_pairs(before.losses, after.losses)),
        unclassified=tuple(
            name for name in source if not (_classified(old, name) or _classified(new, name))
        ),
        old=before,
        new=after,
    )


def _pairs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys((*old, *new)):
        yield Change(name, old.get(name), new.get(name))


def _classified(policy: Policy, column: str) -> bool:
    return column.lower() in {name.lower() for name in policy.columns}


def _roles(old: Policy, new: Policy, source: list[str]) -> Iterator[Change]:
    sides = [{name.lower(): c.role for name, c in p.columns.items()} for p in (old, new)]
    named = {name.lower(): name for name in (*old.columns, *new.columns, *source)}
    for name in dict.fromkeys(name.lower() for name in (*new.columns, *old.columns, *source)):
        yield Change(named[name], sides[0].get(name), sides[1].get(name))


def _settings(old: Policy, new: Policy) -> Iterator[Change]:
    """Options that differ; what the other tables say (roles, guarantees) is left out."""
    flat = []
    for policy in (old, new):
        content = policy.to_dict()
        leaves = {
            path: value
            for name, part in content.items()
            if name not in APART
            for path, value in _leaves(part, name)
        }
        for name, column in content["columns"].items():
            rest = {key: value for key, value in column.items() if key not in ("role", "protect")}
            leaves |= dict(_leaves(rest, f"columns.{name}"))
        flat.append(leaves)
    for change in _pairs(*flat):
        if change.changed:
            yield change


def _leaves(part: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(part, Mapping):
        for name, value in part.items():
            yield from _leaves(value, f"{path}.{name}")
    else:
        yield path, part


def _guarantee(name: str, column: str | None) -> str:
    return f"{name} ({column})" if column else name


def _required(policy: Policy) -> dict[str, Any]:
    return {
        _guarantee(r.name, r.column): ", ".join(f"{key}={v}" for key, v in r.parameters.items())
        for r in requirements_of(policy)
    } | {"suppression limit": policy.suppression_limit}


def _achieved(found: Trial) -> dict[str, Any]:
    return {
        _guarantee(name, column): {"reaches": figure, "holds": passed}
        for (name, column), (figure, passed) in found.achieved.items()
    }
