"""Everything that a report says, as data: HTML, Markdown and JSON are made of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from anonymizer.algorithms.prepare import Relation
from anonymizer.algorithms.remarks import remarks, repeats
from anonymizer.assess import Assessment, assess_opened
from anonymizer.assess.opening import Opened
from anonymizer.compile import ident, work
from anonymizer.errors import AnonymizerError
from anonymizer.execute import Executor
from anonymizer.measure.counts import CountError, staged_count_error
from anonymizer.measure.staging import QueryTables, stage
from anonymizer.policy import Policy
from anonymizer.population import population_steps
from anonymizer.release.beside import Beside, Published, open_beside, open_release, release_file
from anonymizer.release.honesty import certificate, known_attacks
from anonymizer.release.judge import judge
from anonymizer.release.layout import Layout
from anonymizer.release.source_checks import members_read
from anonymizer.report.distributions import Distribution, alone, compared
from anonymizer.report.words import column_sentences, guarantee_sentence
from anonymizer.report.workload import Answer, run_workload
from anonymizer.verify import Verification
from anonymizer.verify.columns import quasi
from anonymizer.verify.population import NEEDED, Members

NOT_SHOWN = "-- this statement lists values; the manifest of the release has it"
FLOOR = 5
"""Units below which nothing is shown, where the policy names no k."""
QUERIES = 40
PREDICATES = 2


@dataclass(frozen=True, slots=True)
class Report:
    """A release in figures and words. No identifier, no value that few hold, no row."""

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
    counts: CountError | None
    workload: tuple[Answer, ...]
    warnings: tuple[str, ...]
    attacks: tuple[str, ...] = field(default=())
    certificate: str = ""

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
            "run_id": self.manifest["run_id"],
            "created": self.manifest["created"],
            "algorithm": self.manifest["algorithm"],
            "reproducible": self.manifest["reproducible"],
            "passed": self.verification.passed,
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
            "query_error": self.counts.as_dict() if self.counts else None,
            "workload": [asdict(answer) for answer in self.workload],
            "certificate": self.certificate,
            "known_attacks": list(self.attacks),
            "manifest": self.manifest,
            "warnings": list(self.warnings),
            "shown_from": self.floor,
        }


def _risk(found: Assessment) -> dict[str, Any]:
    sizes = {n: v for n, v in asdict(found.sizes).items() if n != "classes_held"}
    return {**sizes, **found.risk.as_dict()}


def collect(
    policy: Policy, database: str | Path | None = None, source: str | Path | None = None
) -> Report:
    """Read and judge the release of `policy`, and compare it with its source where that is given.

    `database`: the release (default: publish.database). A source that is a file is found through
    the policy. Raises NothingToCheckError where there is no release.
    """
    path = release_file(policy, database, source)
    if source is None and not _source_at_hand(policy):
        with open_release(policy, path) as release:
            return _collected(policy, release)
    with open_beside(policy, path, source) as beside:
        return _collected(policy, beside)


def _source_at_hand(policy: Policy) -> bool:
    return policy.source.file is not None and policy.resolve(policy.source.file).is_file()


def floor_of(policy: Policy) -> int:
    """The fewest units that anything shown has to hold."""
    privacy = policy.privacy
    given = [privacy.k_anonymity, privacy.ir_k]
    given += [option.k for option in (privacy.alpha_k, privacy.ir_kl) if option is not None]
    return max([k for k in given if k is not None], default=FLOOR)


def _collected(policy: Policy, release: Published) -> Report:
    manifest = release.manifest
    floor = floor_of(policy)
    unit = "persons" if policy.person is not None else "rows"
    beside = release if isinstance(release, Beside) else None
    warnings = [*_warnings(policy, release), *_remarks(policy, release)]
    verification = _judged(policy, release)
    warnings += [f"not checked here: {n.name} {n.reason}" for n in verification.not_checked]
    counts: CountError | None = None
    workload: list[Answer] = []
    if beside is not None:
        tables = QueryTables(work)
        staged = stage(beside.run_sql, beside.view, release.layout, beside.originals, None, tables)
        by_column = {a.column.column: a for a in staged}
        shown = [
            compared(beside, c, by_column.get(c.column), floor) for c in release.layout.columns
        ]
        try:
            counts = staged_count_error(
                beside.run_sql, tables, staged, queries=QUERIES, predicates=PREDICATES, seed=1
            )
        except AnonymizerError as error:
            warnings += [str(problem) for problem in error.problems]
    else:
        shown = [alone(release, c, floor) for c in release.layout.columns]
    if policy.workload is not None and beside is not None:
        workload = run_workload(policy, beside)
    return Report(
        policy=policy,
        manifest=without_values(manifest.data),
        verification=_shown(verification),
        floor=floor,
        unit=unit,
        columns=tuple(column_sentences(policy, release.layout)),
        guarantees=tuple(guarantee_sentence(r, unit) for r in manifest.requirements),
        before=_before(policy, beside) if beside is not None else None,
        after=_after(policy, release),
        distributions=tuple(found for found in shown if found.bars),
        counts=counts,
        workload=tuple(workload),
        warnings=tuple(warnings),
        attacks=tuple(manifest.data.get("known_attacks") or known_attacks(policy)),
        certificate=certificate(),
    )


def without_values(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without the values that a guarantee may list (levels, paths, one value)."""
    found = deepcopy(dict(manifest))
    for requirement in found["requirements"]:
        for name in ("levels", "paths", "value"):
            requirement["parameters"].pop(name, None)
    for check in found["verification"]["checks"]:
        if _lists_values(check["name"], check["required"]):
            check["sql"] = NOT_SHOWN
    return found


def _judged(policy: Policy, release: Published) -> Verification:
    """The release judged again; with its source at hand, in the population as well."""
    population: Members | str = NEEDED
    if isinstance(release, Beside):
        Executor(release.engine).run(population_steps(policy, release.session, release.roles))
        population = members_read(policy, release.roles, release.originals)
    requirements = release.manifest.requirements
    return judge(release.engine, release.view, release.layout, requirements, population)


def _shown(verification: Verification) -> Verification:
    """The checks, the SQL of those that list values left out."""
    checks = (
        replace(c, sql=NOT_SHOWN) if _lists_values(c.name, c.required) else c
        for c in verification.checks
    )
    return replace(verification, checks=tuple(checks))


def _lists_values(name: str, required: Any) -> bool:
    distance = required.get("distance") if isinstance(required, Mapping) else None
    return name in ("level_l", "alpha_k") or distance == "hierarchical"


def _warnings(policy: Policy, release: Published) -> Iterator[str]:
    data = release.manifest.data
    if data.get("reproducible"):
        yield "made with a test seed: not for publication"
    if data.get("policy_digest") != policy.digest():
        yield "the policy has changed since the release was made: its words below are the new ones"
    if policy.publish.database is None:
        yield "the release stands in the file of the raw table, where a view protects nothing"


def _remarks(policy: Policy, release: Published) -> list[str]:
    """What a run tells besides. Only the source says how often the values of a key repeat."""
    kinds = {c.column: c.kind for c in release.layout.columns if c.role in ("quasi", "semi")}
    notes = repeats(policy, release.session) if isinstance(release, Beside) else {}
    return remarks(policy, notes, kinds)


def _before(policy: Policy, beside: Beside) -> Assessment:
    session = beside.session
    opened = Opened(session.embedded, session.source, session.profile.columns)
    return assess_opened(
        opened,
        "source",
        quasi=policy.quasi,
        sensitive=policy.sensitive,
        person=policy.person,
        combined=2,
    )


def _after(policy: Policy, release: Published) -> Assessment:
    """Classes of the release; without class numbers (msb) those of equal published cells."""
    layout = release.layout
    described = tuple(release.engine.describe(ident(release.view).text, "release"))
    opened = Opened(release.engine, Relation(ident(release.view), release.view), described)
    names = [layout.class_id] if layout.class_id else [c.name for c in quasi(layout) if c.name]
    inside = [r.column for r in release.manifest.requirements if r.scope == "class"]
    judged = dict.fromkeys(
        c.name
        for c in layout.columns
        if c.role == "sensitive"
        and c.column in inside
        and c.name
        and c.bucket is None
        and c.column not in layout.tables
    )
    return assess_opened(
        opened,
        "release",
        quasi=[name for name in names if name],
        sensitive=[name for name in judged if name],
        person=layout.person_id,
        combined=0,
    )
