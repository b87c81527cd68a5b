"""Simulated attacks on a release and its source: linking, a known value, an earlier release.

The attacker knows the release and the exact quasi-identifiers of some persons. Success is the
expected success of the best guess (every candidate row is equally likely, the values of a bucket by
their shares). Bounds are those that the release guarantees.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from anonymizer.contract.layout import Layout, Requirement
from anonymizer.contract.originals import Originals
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.catalogs import EARLIER
from anonymizer.errors import NothingToCheckError, PolicyError, Problem
from anonymizer.measure.proofs import RECORDS, k_of, proved_records
from anonymizer.policy import Policy, single
from anonymizer.privacy.of_policy.registry import BY_NAME
from anonymizer.release.manifest import read_manifest
from anonymizer.release.names import Names
from anonymizer.release.sealing import changes_in_database
from anonymizer.release.unchanged import refuse_changed
from anonymizer.review.attack.results import (
    Attack,
    Differences,
    Inference,
    Intersection,
    KnownValue,
    Linking,
)
from anonymizer.review.attack.staging import (
    OF_ALL,
    TARGETS,
    TUPLES,
    Arena,
    Secret,
    arena,
    arena_of_same,
    match_everybody,
)
from anonymizer.review.with_source import Beside, attached_release, open_beside, release_file

SHARE = 0.1
"""The share by default; where it draws nobody, all are attacked."""


def attack(
    policy: Policy,
    source: str | Path | None = None,
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
    single(policy, "attack")
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
    further = [before] if before is not None else []
    with open_beside(policy, path, source, limits, further, "--release") as beside:
        now, found = _attacked(beside, share, seed)
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
            both = min((n for n in (k, k_of(manifest.requirements)) if n is not None), default=None)
            old = arena_of_same(beside, view, manifest.layout, "earlier", now)
            intersection = tuple(_intersect(now, old, both, l))
            signed = all(
                any(r.name == "m_unique" for r in of)
                for of in (requirements, manifest.requirements)
            )
            differences = None if signed else _different(now, old, beside.originals, both, l)
            return replace(found, intersection=intersection, beside=True, differences=differences)


def attack_beside(beside: Beside, share: float) -> Attack:
    """Attack a release that is open with its source, without an earlier release."""
    return _attacked(beside, share, seed=0)[1]


def _attacked(beside: Beside, share: float, seed: int) -> tuple[Arena, Attack]:
    layout, requirements = beside.layout, beside.manifest.requirements
    now = arena(beside, beside.view, layout, "attack", share=share, seed=seed)
    k = k_of(requirements)
    linking = _link(now, k)
    if linking.targets == 0 and share == SHARE:  # of a small table, nobody was drawn by chance
        return _attacked(beside, 1.0, seed)
    if linking.targets == 0:
        raise NothingToCheckError.at(
            "--share", "draws no target", hint="raise it, or change --test-seed"
        )
    return now, Attack(
        view=str(beside.manifest.data.get("view", beside.view.name)),
        share=share,
        linking=linking,
        inference=tuple(_infer(now, s, layout, requirements) for s in now.secrets),
        known_value=tuple(_known(now, s, k) for s in now.secrets),
        intersection=(),
        unit="persons" if now.by_person else "rows",
        proved=proved_records(
            beside.run_sql, beside.view, layout, beside.originals, requirements
        ).get(RECORDS),
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
    """What one release shows and the other does not, by the values that both publish as they are.

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
