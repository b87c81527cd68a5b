"""The result of a verification: one `Check` per condition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from anonymizer.contract.counts_layout import INTERVALS
from anonymizer.process.document import Block, Document, NotebookResult, Rows, facts, say
from anonymizer.process.text import many

RunSql = Callable[[str], list[tuple[Any, ...]]]
"""Executes one SQL text on a connection that sees the release, and fetches its rows."""

Origin = Literal["unknown", "policy", "signature"]
"""The evidence that a release is authentic: none, the policy that it was made with, or a
signature."""

Figure = float | int | Mapping[str, Any] | None

UNVERIFIED = "stated by the manifest and not judged, as the release does not show it"

UNITS = "units"
"""The check of the units in every class, by a column that the release does not show."""

OF_SOURCE = frozenset((*INTERVALS, UNITS)) | frozenset(
    f"source_{name}"
    for name in (
        *("rows", "link", "persons", "covers", "spanned", "bucket", "flags", "unflagged", "equal"),
        *("values", "links", "key_order", "mask_one_to_one", "mask_foreign", "mask_like"),
        *("mask_shift", "mask_coded", "mask_rounded", "mask_near", "mask_identifiers"),
        *("mask_untouched", "mask_zip3", "together", "cells", "hidden", "dominance"),
    )
)
"""Checks against the source, which are made once: nobody has the snapshot after the run."""


@dataclass(frozen=True, slots=True)
class Check:
    """One condition on a release, and the achieved figure."""

    name: str
    """The guarantee (`k_anonymity`, …) or the condition of form (`class_cells`, …)."""
    column: str | None
    """The source column it is about; None for the table."""
    required: Figure
    """The parameter, or a mapping of several; 0 for conditions of form."""
    achieved: Figure
    """The worst class or bucket; for conditions of form, how many break it."""
    passed: bool
    sql: str = field(repr=False)
    """Returns the classes or buckets (ids and sizes) that break the condition; it holds if there
    are none. Names no catalog, so that it runs under any alias."""
    failing: int = 0
    """Number of rows that `sql` returns."""

    @property
    def form(self) -> bool:
        """True if this is a condition of form, and no guarantee."""
        return self.required == 0

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def verdict(check: Check) -> str:
    """Return whether a check holds, in words."""
    return "holds" if check.passed else "DOES NOT HOLD"


def unverified_blocks(names: Iterable[str]) -> Iterator[Block]:
    """Statements of a manifest that verifying the release again does not show."""
    if listed := ", ".join(names):
        yield say(f"{UNVERIFIED}: {listed}")


def turns(named: Iterable[tuple[str, str | None]]) -> Iterator[tuple[str, str | None, int]]:
    """Number repeated names and columns of checks, in order: a column with a top and a bottom code
    has two checks of the same name.
    """
    seen: Counter[tuple[str, str | None]] = Counter()
    for name, column in named:
        yield name, column, seen[name, column]
        seen[name, column] += 1


@dataclass(frozen=True, slots=True)
class NotChecked:
    """A requirement that could not be judged, and about which nothing is claimed."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class Verification(NotebookResult):
    """All checks of one release."""

    passed: bool
    """True if every check that was made holds; it does not cover `not_checked`."""
    checks: tuple[Check, ...]
    not_checked: tuple[NotChecked, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    """For releases that were verified again: the kind of each, by its view as `schema.name`."""
    origin: Origin | None = None
    """For a release that was verified again: what shows who published it. None during a run."""

    others: tuple[str, ...] = ()
    """For releases that were verified again: others in the same file, which were not judged."""

    unverified: tuple[str, ...] = ()
    """For releases that were verified again: what their manifests state and the release does not
    show, such as figures of the source; it was not judged."""

    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"passed": self.passed}
        found |= {"origin": self.origin} if self.origin is not None else {}
        found |= {"kinds": dict(self.kinds)} if self.kinds else {}
        found |= {"others": list(self.others)} if self.others else {}
        found |= {"unverified": list(self.unverified)} if self.unverified else {}
        found["checks"] = [check.as_dict() for check in self.checks]
        left = [asdict(item) for item in self.not_checked]
        return {**found, "not_checked": left} if left else found

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def guarantees(self) -> tuple[Check, ...]:
        """The checks of guarantees."""
        return tuple(check for check in self.checks if not check.form)

    @property
    def form(self) -> tuple[Check, ...]:
        """The checks of form."""
        return tuple(check for check in self.checks if check.form)

    def blocks(self, *, source: bool = False) -> Iterator[Block]:
        """Each guarantee on a line; passed conditions of form (required: 0) only as a count.

        Failed checks come first. `source`: whether the checks include those against the source,
        which only a run can make.
        """
        shown = [c for c in self.checks if not (c.form and c.passed)]
        rows = tuple(
            (c.name, c.column or "-", c.required, c.achieved, verdict(c))
            for c in sorted(shown, key=lambda c: c.passed)
        )
        head = ("guarantee", "column", "required", "achieved", "")
        yield Rows("", head, rows) if rows else say("no guarantee is promised")
        if rest := len(self.checks) - len(shown):
            form = "of form and against the source" if source else "of form"
            yield say(f"and {many(rest, 'check')} {form} {'holds' if rest == 1 else 'hold'}")
        for item in self.not_checked:
            yield say(f"NOT CHECKED: {item.name} {item.reason}")
        yield from unverified_blocks(self.unverified)

    def _document(self) -> Document:
        said = "every check holds" if self.passed else "NOT EVERY CHECK HOLDS"
        others = facts((view, "in the same file, not judged") for view in self.others)
        top = (facts(self.kinds.items()), *self.blocks(source=self.origin is None), others)
        return Document(f"Verification: {said}", top)

    def __add__(self, other: Verification) -> Verification:
        left = (*self.not_checked, *other.not_checked)
        both = verification((*self.checks, *other.checks), left)
        return replace(both, unverified=tuple(sorted({*self.unverified, *other.unverified})))


def verification(
    checks: tuple[Check, ...], not_checked: tuple[NotChecked, ...] = ()
) -> Verification:
    """A verification that is passed if there are checks and every one holds."""
    passed = bool(checks) and all(check.passed for check in checks)
    return Verification(passed, checks, not_checked)
