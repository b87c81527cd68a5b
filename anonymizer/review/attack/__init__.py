"""Simulated attacks: what an attacker who knows quasi-identifiers learns from a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from anonymizer.compile import ident
from anonymizer.contract.layout import Layout, Originals, Requirement
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import EARLIER
from anonymizer.errors import NothingToCheckError, PolicyError, Problem
from anonymizer.guarantees.requirements import BY_NAME
from anonymizer.measure.proofs import RECORDS, k_of, proved_records
from anonymizer.policy import Policy
from anonymizer.release.consistency import refuse_changed
from anonymizer.release.integrity import changes_in_database
from anonymizer.release.manifest import read_manifest
from anonymizer.release.objects import Names
from anonymizer.release.opening import release_file
from anonymizer.review.attack.staging import (
    OF_ALL,
    TARGETS,
    TUPLES,
    Arena,
    Secret,
    arena,
    arena_of_same,
    in_both,
    match_everybody,
    redrawn,
)
from anonymizer.review.inputs import Beside, attached_release, open_beside

# Results of attacks, and the bounds that a release guarantees.


ROUNDING = 1e-6
"""Probabilities are rounded to nine digits."""


@dataclass(frozen=True, slots=True)
class Linking:
    """Finding the targets' rows (persons) by their quasi-identifiers."""

    targets: int
    not_found: int
    """Targets without a candidate row, because they were suppressed."""
    fewest_candidates: int | None
    mean_candidates: float | None
    success: float
    """Expected share of targets whose row is picked."""
    most: float
    """Largest probability for one target."""
    bound: float | None
    """1/k, if the release guarantees k."""
    beyond: int
    """Targets with fewer candidates than k."""

    @property
    def holds(self) -> bool:
        return self.bound is None or self.most <= self.bound + ROUNDING


@dataclass(frozen=True, slots=True)
class Inference:
    """Guessing a sensitive value of the targets."""

    column: str
    targets: int
    most_confident: float | None
    """Largest probability that an observer assigns to one value of one target."""
    success: float | None
    """Expected share of targets whose value is guessed correctly."""
    blind_success: float | None
    """The same without the targets' quasi-identifiers: always guessing the most frequent value."""
    bound: float | None
    """1/l or alpha, if the release guarantees it for single persons."""

    @property
    def holds(self) -> bool:
        if self.bound is None or self.most_confident is None:
            return True
        return self.most_confident <= self.bound + ROUNDING


@dataclass(frozen=True, slots=True)
class KnownValue:
    """Finding targets by quasi-identifiers and one sensitive value; no model guarantees k here."""

    column: str
    targets: int
    fewest_candidates: int | None
    success: float
    singled_out: int
    below_k: int


@dataclass(frozen=True, slots=True)
class Intersection:
    """Intersecting what two releases allow for a target, by one sensitive column.

    Targets are rows, or persons if the release numbers them. Targets whose own value is impossible
    in one of the releases are not in both and are not counted. The releases do not show whether the
    others are in both, so a target that is new in this release may be counted.
    """

    column: str
    targets: int
    values_now: float | None
    """Mean number of values that this release allows for a target."""
    values_left: float | None
    """Mean number of values that both releases allow."""
    exposed: int
    """Targets with several values by this release, and one by both."""
    below_l: int
    """Targets with fewer than l values left; fewer than two if no l is guaranteed."""
    fewest_left: int | None
    """Fewest candidates that both releases leave for a target."""
    below_k: int
    """Targets with fewer candidates left than both releases guarantee."""
    k: int | None
    """Candidates that both releases guarantee, if any."""
    l: int | None
    """Values that this release guarantees, if any."""

    @property
    def holds(self) -> bool:
        """True if the guarantees of each release hold for both together."""
        return (self.k is None or not self.below_k) and (self.l is None or not self.below_l)

    def says(self, unit: str) -> list[str]:
        """The effect of both releases together, in sentences; empty if they do no harm."""
        of = f"of {self.targets:,} {unit}"
        said = []
        if self.exposed:
            said.append(f"{self.exposed:,} {of} have one value of {self.column} left")
        if self.l is not None and self.below_l:
            said.append(f"{self.below_l:,} {of} have fewer than {self.l} values of {self.column}")
        if self.k is not None and self.below_k:
            said.append(
                f"{self.below_k:,} {of} are among fewer than {self.k}, at the worst"
                f" {self.fewest_left}, by {self.column}"
            )
        return said


@dataclass(frozen=True, slots=True)
class Differences:
    """Rows of one of two releases only: of those who left, joined or changed.

    Classes of the two are joined where somebody could be in both; such a part shows rows that the
    other release does not have.
    """

    columns: tuple[str, ...]
    """The columns whose values both releases publish as they are."""
    gone: int
    """Rows that the earlier release has and this one does not."""
    come: int
    """Rows that this release has and the earlier one does not."""
    below_k: int
    """Such rows of which there are fewer than k in their part."""
    fewest: int | None
    below_l: Mapping[str, int]
    """By column: such rows that show fewer values than this release guarantees."""
    k: int | None

    @property
    def holds(self) -> bool:
        """True if those who left or joined have the guarantees of the releases."""
        return not self.below_k and not any(self.below_l.values())

    def says(self) -> list[str]:
        """Describe what the differences show; empty if they do no harm."""
        of = f"of {self.gone + self.come:,} rows that one of the releases has"
        said = []
        if self.below_k:
            said.append(
                f"{self.below_k:,} {of} are read from the differences of classes, among fewer than"
                f" {self.k}, at the worst {self.fewest}"
            )
        said += [
            f"{n:,} {of} show too few values of {column} in the differences of classes"
            for column, n in self.below_l.items()
            if n
        ]
        return said


@dataclass(frozen=True, slots=True)
class Attack:
    """Results of the attacks."""

    view: str
    share: float
    linking: Linking
    inference: tuple[Inference, ...]
    known_value: tuple[KnownValue, ...]
    intersection: tuple[Intersection, ...]
    unit: str = "rows"
    proved: int | None = None
    """Complete records that the cells prove and fewer than k rows (persons) may share."""
    if_tight: int | None = None
    """The same for a reader who takes every cell for the smallest possible."""
    beside: bool = False
    """True if an earlier release was compared."""
    of_both: bool = False
    """True if a ledger has shown who is in both releases: only they are targets beside it."""
    other_source: bool = False
    """True if the source does not have as many rows as the release was made of."""
    differences: Differences | None = None
    """Values that classes of only one of the releases show; None if nothing that both
    publish as it is can differ, or if they keep signatures."""

    @property
    def holds(self) -> bool:
        """True if no attack exceeds a promised bound, including attacks with an earlier release."""
        return self.alone_holds and self.together_holds

    @property
    def together_holds(self) -> bool:
        """True if the guarantees of this release and of the earlier one hold for both together."""
        different = self.differences is None or self.differences.holds
        return different and all(found.holds for found in self.intersection)

    @property
    def alone_holds(self) -> bool:
        """True if no attack on this release alone exceeds a bound."""
        return self.linking.holds and all(found.holds for found in self.inference)

    @property
    def exposed(self) -> int:
        """Targets with one value left by both releases, in the worst column."""
        return max((found.exposed for found in self.intersection), default=0)

    @property
    def uncompared(self) -> bool:
        """True if an earlier release shares no sensitive column, or no target, with this one."""
        intersected = any(found.targets for found in self.intersection)
        return self.beside and not intersected and self.differences is None

    def together(self) -> list[str]:
        """The effect of this release and the earlier one together, in words."""
        said = [one for found in self.intersection for one in found.says(self.unit)]
        return said + (self.differences.says() if self.differences is not None else [])

    def broken(self) -> list[str]:
        """Describe what breaks a guarantee of this release and the earlier one together."""
        said = [s for x in self.intersection if not x.holds for s in x.says(self.unit)]
        different = self.differences
        return said + (different.says() if different is not None and not different.holds else [])

    def as_dict(self) -> dict[str, Any]:
        d = self.differences
        return {
            "view": self.view,
            "share": self.share,
            "holds": self.holds,
            "linking": {**asdict(self.linking), "holds": self.linking.holds},
            "inference": [{**asdict(i), "holds": i.holds} for i in self.inference],
            "known_value": [asdict(found) for found in self.known_value],
            "proved_records": self.proved,
            "proved_if_tight": self.if_tight,
            "intersection": [{**asdict(x), "holds": x.holds} for x in self.intersection],
            "differences": None if d is None else {**asdict(d), "holds": d.holds},
        }


# Simulated attacks on a release and its source: linking, a known value, an earlier release.
#
# The attacker knows the release and the exact quasi-identifiers of some persons. Success is the
# expected success of the best guess (every candidate row is equally likely, the values of a bucket
# by their shares). Bounds are those that the release guarantees.


SHARE = 0.1
"""The share by default; where it draws nobody, all are attacked."""


def attack(
    policy: Policy,
    source: Any = None,
    *,
    release: str | Path | None = None,
    earlier: str | Path | None = None,
    share: float = SHARE,
    seed: int = 0,
    limits: Limits | None = None,
) -> Attack:
    """Attack the release of `policy` with the data of a `share` of the source's persons.

    `source`: the source's database (not needed if the policy names a file); `release`: default
    publish.database; `earlier`: the database of an earlier release of the same view. `seed` draws
    the targets. Raises NothingToCheckError if there is no release.
    """
    policy.one_table("attack")
    if policy.algorithm.classless:
        said = "none makes no row like another: anybody who knows enough of a row finds it"
        hint = "anonymizer assess tells how many rows are singled out"
        raise PolicyError.at("algorithm.name", said, hint=hint)
    if not 0 < share <= 1:
        raise PolicyError.at("--share", "is not a share", allowed="above 0, up to 1")
    path = release_file(policy, release, source, "--release")
    before = Path(earlier).resolve() if earlier is not None else None
    if before is not None and not before.is_file():
        raise NothingToCheckError.at("--earlier", f"there is no file {before.name}")
    ledger = policy.resolve(policy.ledger).resolve() if policy.ledger is not None else None
    further = [one for one in (before, ledger) if before is not None and one is not None]
    with open_beside(policy, path, source, limits, further, "--release") as beside:
        now, found = attack_beside(beside, share, seed)
        if before is None:
            return found
        requirements = beside.manifest.requirements
        k, l = k_of(requirements), _l(requirements)
        with attached_release(beside.session, before, "--earlier", EARLIER) as catalog:
            view = Names.of(policy, "").view(catalog)
            try:
                manifest = read_manifest(beside.engine, view)
            except NothingToCheckError as error:
                error.reword(lambda problem: replace(problem, path="--earlier"))
                raise
            changes = changes_in_database(beside.engine, view, manifest)
            refuse_changed(None, view, manifest, changes)
            _refuse_unknown(manifest.layout, beside.originals)
            runs = (beside.manifest.run_id, manifest.run_id)
            of_both = in_both(policy, beside, ledger, runs) if ledger is not None else None
            if of_both is not None:
                now = redrawn(now, of_both, found.share, seed)
            both = min((n for n in (k, k_of(manifest.requirements)) if n is not None), default=None)
            old = arena_of_same(beside, view, manifest.layout, "earlier", now)
            intersection = tuple(_intersect(now, old, both, l))
            signed = all(
                any(r.name == "m_unique" for r in of)
                for of in (requirements, manifest.requirements)
            )
            differences = None if signed else _different(now, old, beside.originals, both, l)
            return replace(
                found,
                intersection=intersection,
                beside=True,
                of_both=of_both is not None,
                differences=differences,
            )


def attack_beside(beside: Beside, share: float, seed: int = 0) -> tuple[Arena, Attack]:
    """Attack a release that is open with its source, without an earlier release."""
    layout, requirements = beside.layout, beside.manifest.requirements
    now = arena(beside, beside.view, layout, "attack", share=share, seed=seed)
    k = k_of(requirements)
    linking = _link(now, k)
    if linking.targets == 0 and share == SHARE:  # of a small table, nobody was drawn by chance
        return attack_beside(beside, 1.0, seed)
    if linking.targets == 0:
        raise NothingToCheckError.at(
            "--share", "draws no target", hint="raise it, or change --test-seed"
        )
    measures = beside.manifest.data["measures"]
    made_of = measures.get("rows", 0) + measures.get("suppressed", 0)
    counted = f"select count(*) from {ident(beside.originals.table)}"
    (there,) = beside.engine.raw(counted, "source")[0]
    proving = (beside.run_sql, beside.view, layout, beside.originals, requirements)
    return now, Attack(
        view=str(beside.manifest.data.get("view", beside.view.name)),
        share=share,
        linking=linking,
        inference=tuple(_infer(now, s, layout, requirements) for s in now.secrets),
        known_value=tuple(_known(now, s, k) for s in now.secrets),
        intersection=(),
        unit="persons" if now.by_person else "rows",
        proved=proved_records(*proving).get(RECORDS),
        if_tight=proved_records(*proving, if_tight=True).get(RECORDS),
        other_source="counterfeits" not in measures and there != made_of,
    )


def _refuse_unknown(layout: Layout, originals: Originals) -> None:
    """An earlier release may have fewer columns than the policy; others cannot be compared."""
    PolicyError.refuse(
        Problem(
            "--earlier",
            f"publishes {column.column} as {column.role}, and the policy does not publish it",
            hint="attack with a policy that publishes it, on a release of that policy",
        )
        for column in layout.columns
        if column.role != "keep" and column.column not in originals.values
    )


def _link(now: Arena, k: int | None) -> Linking:
    (row,) = now.select("linking", tuples=TUPLES, k=k or 0)
    targets, lost, fewest, mean, success, beyond = row
    most = 1 / fewest if fewest else 0.0
    bound = 1 / k if k else None
    return Linking(targets, lost, fewest, _round(mean), _round(success) or 0.0, most, bound, beyond)


def _infer(
    now: Arena, secret: Secret, layout: Layout, requirements: Sequence[Requirement]
) -> Inference:
    (row,) = now.select(
        "inference",
        targets=TARGETS,
        tuples=TUPLES,
        beliefs=now.beliefs(secret),
        weights=now.weights(secret),
        value=secret.s,
    )
    bound = None if layout.person_id is not None else _bound(secret.column, requirements)
    targets, confident, success, blind = row
    return Inference(secret.column, targets, confident, _round(success), _round(blind), bound)


def _known(now: Arena, secret: Secret, k: int | None) -> KnownValue:
    (row,) = now.select(
        "known_value",
        targets=TARGETS,
        tuples=TUPLES,
        beliefs=now.beliefs(secret),
        value=secret.s,
        k=k or 0,
    )
    targets, fewest, success, alone, below = row
    return KnownValue(secret.column, targets, fewest, _round(success) or 0.0, alone, below)


def _intersect(now: Arena, old: Arena, k: int | None, l: dict[str, int]) -> Iterable[Intersection]:
    known = {secret.column: secret for secret in old.secrets}
    for secret in now.secrets:
        if secret.column in known:
            promised = l.get(secret.column)
            (row,) = now.select(
                "intersection",
                targets=TARGETS,
                tuples=TUPLES,
                beliefs=now.beliefs(secret),
                earlier=old.beliefs(known[secret.column]),
                earlier_candidates=old.name("candidates"),
                earlier_combos=old.name("combos"),
                value=secret.s,
                k=k or 0,
                l=promised or 2,
            )
            targets, values, left, exposed, below_l, fewest, below_k = row
            yield Intersection(
                column=secret.column,
                targets=targets,
                values_now=_round(values),
                values_left=_round(left),
                exposed=exposed,
                below_l=below_l,
                fewest_left=None if fewest is None else int(fewest),
                below_k=below_k,
                k=k,
                l=promised,
            )


def _different(
    now: Arena, old: Arena, originals: Originals, k: int | None, l: Mapping[str, int]
) -> Differences | None:
    """Rows that only one of the releases shows, by the values that both publish as they are.

    None if there are none.
    """
    columns = tuple(column for column in now.plain if column in old.plain)
    if not columns:
        return None
    candidates = match_everybody(now, old, originals)
    promised = [(at, c) for at, c in enumerate(columns, start=1) if c in l]
    (row,) = now.select(
        "differences",
        candidates=candidates,
        earlier_candidates=old.name(OF_ALL),
        earlier_combos=old.name("combos"),
        earlier_rows=old.name("query_rows"),
        earlier_attributes=[q.staged for q in old.quasi],
        shown=[(now.plain[c], old.plain[c]) for c in columns],
        least=[(at, l[c]) for at, c in promised],
        k=k or 0,
    )
    gone, come, below_k, fewest, *below_l = row
    found = dict(zip((c for _, c in promised), below_l, strict=True))
    return Differences(columns, gone, come, below_k, fewest, found, k)


def _round(figure: float | None) -> float | None:
    """Round to nine digits: beyond these, sums of shares vary between calls."""
    return None if figure is None else round(float(figure), 9)


def _l(requirements: Sequence[Requirement]) -> dict[str, int]:
    """The guaranteed l of every column."""
    return {
        r.column: int(r.parameters["l"])
        for r in requirements
        if r.column is not None and r.name == "distinct_l"
    }


def _bound(column: str, requirements: Sequence[Requirement]) -> float | None:
    """The guaranteed upper bound on the probability of one value."""
    promised = ((r, BY_NAME[r.name].chance) for r in requirements if r.column == column)
    bounds = [chance(r) for r, chance in promised if chance is not None]
    return min((bound for bound in bounds if bound is not None), default=None)
