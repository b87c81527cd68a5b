"""Collect the content of a report: read and verify a release, and compare it with its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from anonymizer.compile import work
from anonymizer.contract.checks import Verification
from anonymizer.contract.tables import Tables
from anonymizer.engines.base import Limits
from anonymizer.engines.execute import Executor
from anonymizer.errors import AnonymizerError, PolicyError
from anonymizer.measure.counts import Draws, ShownErrors, shown_errors
from anonymizer.measure.staging import QueryTables, stage
from anonymizer.measure.steps import enough
from anonymizer.measure.usefulness import little_left
from anonymizer.policy import Policy, single
from anonymizer.privacy.of_policy.registry import BY_NAME
from anonymizer.privacy.of_policy.sizes import least_class
from anonymizer.release.attestation import LISTS_VALUES
from anonymizer.release.certificate import known_attacks
from anonymizer.release.figures import refuse_other_figures
from anonymizer.release.judge import judge
from anonymizer.release.population import members_at_hand, population_steps
from anonymizer.release.tables import stated_certificate
from anonymizer.review.attack import attack
from anonymizer.review.attack.attacks import SHARE
from anonymizer.review.report.classes import after, before
from anonymizer.review.report.content import Report
from anonymizer.review.report.distributions import alone, compared
from anonymizer.review.report.words import NO_GUARANTEE, column_sentences, guarantee_sentence
from anonymizer.review.report.workload import Answer, run_workload
from anonymizer.review.scratch import unit_of
from anonymizer.review.with_source import Beside, Published, open_beside, open_release, release_file
from anonymizer.run.original_values import members_read
from anonymizer.run.remarks import remarks, repeats
from anonymizer.verification.population import Members

NOT_SHOWN = "-- this statement lists values; the manifest of the release has it"


FLOOR = 5
"""Fewest units of anything that is shown, if the policy has no k."""


QUERIES = 40


PREDICATES = 2


def collect(
    policy: Policy,
    database: str | Path | None = None,
    source: str | Path | None = None,
    *,
    attacks: bool = False,
    earlier: str | Path | None = None,
    share: float = SHARE,
    limits: Limits | None = None,
) -> Report:
    """Read and verify the release of `policy`, and compare it with its source if given.

    `database`: the release (default: publish.database). A source that is a file is found through
    the policy. `attacks`: run the attacks on a `share` of the source; `earlier`: also together with
    an earlier release. Raises NothingToCheckError if there is no release, PolicyError if attacks
    have no source.
    """
    single(policy, "report")
    path = release_file(policy, database, source)
    alone = source is None and not _source_at_hand(policy)
    if not attacks and earlier is None:
        attacked = None
    elif alone:
        hint = "anonymizer report POLICY --source DATABASE"
        raise PolicyError.at("--source", "is missing: attacks need the source", hint=hint)
    else:
        attacked = attack(policy, source, release=path, earlier=earlier, share=share, limits=limits)
    if alone:
        with open_release(policy, path, limits) as release:
            return _collected(policy, release)
    with open_beside(policy, path, source, limits) as beside:
        return replace(_collected(policy, beside), attacked=attacked)


def _source_at_hand(policy: Policy) -> bool:
    return policy.source.file is not None and policy.resolve(policy.source.file).is_file()


def floor_of(policy: Policy) -> int:
    """Fewest units of anything that is shown."""
    return least_class(policy, otherwise=FLOOR)


def _collected(policy: Policy, release: Published) -> Report:
    manifest = release.manifest
    floor = floor_of(policy)
    unit = unit_of(policy)
    beside = release if isinstance(release, Beside) else None
    warnings = [*_warnings(policy, release), *_remarks(policy, release)]
    verification = _judged(policy, release)
    if verification.passed:
        refuse_other_figures(release.engine, release.view, manifest, verification)
    warnings += [f"not checked here: {n.name} {n.reason}" for n in verification.not_checked]
    counts: ShownErrors | None = None
    workload: list[Answer] = []
    if beside is not None:
        tables = QueryTables(work)
        staged = stage(beside.run_sql, beside.view, release.layout, beside.originals, None, tables)
        by_column = {a.column.column: a for a in staged}
        shown = [
            compared(beside, c, by_column.get(c.column), floor) for c in release.layout.columns
        ]
        try:
            # (without classes no cell covers several values)
            if not release.layout.classless:
                draws = Draws(QUERIES, PREDICATES, 1, enough(floor), policy.person is not None)
                counts = shown_errors(beside.run_sql, tables, staged, draws)
        except AnonymizerError as error:
            warnings += [str(problem) for problem in error.problems]
    else:
        shown = [alone(release, c, floor) for c in release.layout.columns]
    if policy.workload is not None and beside is not None:
        workload = run_workload(policy, beside, enough(floor))
    return Report(
        policy=policy,
        manifest=without_values(manifest.data),
        verification=without_listed(verification),
        floor=floor,
        unit=unit,
        columns=tuple(column_sentences(policy, release.layout)),
        guarantees=tuple(guarantee_sentence(r, unit) for r in manifest.requirements)
        or (NO_GUARANTEE,),
        before=before(policy, beside) if beside is not None else None,
        after=after(release),
        distributions=tuple(found for found in shown if found.bars),
        counts=counts,
        workload=tuple(workload),
        warnings=tuple(warnings),
        attacks=tuple(manifest.data.get("known_attacks") or known_attacks(policy)),
        certificate=stated_certificate(manifest),
        little=little_left(manifest.data["measures"]),
    )


def without_values(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without the values that a guarantee may list (levels, paths, one value)."""
    found = deepcopy(dict(manifest))
    for requirement in found["requirements"]:
        for name in LISTS_VALUES:
            requirement["parameters"].pop(name, None)
    for check in found["verification"]["checks"]:
        if _lists_values(check["name"], check["required"]):
            check["sql"] = NOT_SHOWN
    return found


def _judged(policy: Policy, release: Published) -> Verification:
    """Verify the release again, also against the population if its source is available."""
    population: Members | str
    if not isinstance(release, Beside):
        population = members_at_hand(policy, release.engine, release.layout)
    else:
        Executor(release.engine).run(population_steps(policy, release.session, release.roles))
        population = members_read(policy, release.roles, release.originals)
    requirements = release.manifest.requirements
    return judge(release.engine, release.view, release.layout, requirements, population)


def without_listed(verification: Verification, tables: Tables | None = None) -> Verification:
    """The checks, without the SQL of those that list values; of several tables also by what their
    requirements list.
    """
    asked = [(item, item.column) for item in (tables.required if tables is not None else ())]
    for one in tables.children if tables is not None else ():
        asked += [(item, f"{one.table}.{item.column}") for item in one.requirements]
    listed = {
        (f"{known}{item.name}", column)
        for item, column in asked
        for known in ("", "known_")
        if item.parameters.keys() & LISTS_VALUES
    }
    checks = (
        replace(c, sql=NOT_SHOWN)
        if _lists_values(c.name, c.required) or (c.name, c.column) in listed
        else c
        for c in verification.checks
    )
    return replace(verification, checks=tuple(checks))


def _lists_values(name: str, required: Any) -> bool:
    guarantee = BY_NAME.get(name)
    lists = guarantee.lists_values if guarantee is not None else None
    try:
        return lists is not None and lists(required)
    except (LookupError, TypeError):  # for a failed check, a manifest may contain anything
        return True


def _warnings(policy: Policy, release: Published) -> Iterator[str]:
    data = release.manifest.data
    if data.get("reproducible"):
        yield "made with a test seed: not for publication"
    if data.get("policy_digest") != policy.digest():
        yield "the policy has changed since the release was made: its words below are the new ones"
    if policy.publish.database is None:
        yield "the release stands in the file of the raw table, where a view protects nothing"


def _remarks(policy: Policy, release: Published) -> list[str]:
    """The warnings of a run, without counts of what is not published."""
    kinds = {c.column: c.kind for c in release.layout.columns if c.role in ("quasi", "semi")}
    notes = repeats(policy, release.session) if isinstance(release, Beside) else {}
    return remarks(policy, notes, kinds, counts=False)
